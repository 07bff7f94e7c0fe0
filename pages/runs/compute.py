"""Gathers the inputs of a RunSetup for attention_core, and computes its run."""

from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from attention_core import AttentionConfig, Trace, Weights
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.files.mask_readings import MaskReading
from attention_core.inputs.matrix_edits import chosen_array, drop_outside_cells
from attention_core.inputs.matrix_values import MatrixValue
from attention_core.mechanism.checks import all_finite
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.mechanism.plan import Plan, prepare, prepare_qkv, run_plan
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Step
from pages.runs.devices import AVAILABLE_DEVICES
from pages.runs.made_sentences import HandmadeHeads, LearnedTexts, ModelSentences, TranslatedSentences
from pages.runs.recorded_layer import RecordedLayer, find_recorded
from pages.runs.run_inputs import SEQUENCES, RunInputs, StartMatrix
from pages.runs.sentences import BIASES, PROJECTIONS, DictionarySentences
from pages.runs.tensor_inputs import (
    DrawnTensors,
    QkvMatrices,
    UploadedQkv,
    note_made_rows,
    prepare_drawn,
    prepare_uploaded,
    split_qkv,
)
from pages.runs.upload_store import UploadedArrays
from pages.runs.weight_matrices import (
    HeadSizes,
    apply_wiring,
    check_tanh_layer,
    put_learned_matrices,
    put_source_matrices,
)
from pages.setup.codec import check_link_length
from pages.setup.link_values import read_mask_answer
from pages.setup.resolve import ResolvedRun, config_of, resolve_run
from pages.setup.setup import CHOSEN_FIELDS, MAX_RUN_PAIRS, RunSetup, Setup

TYPED_MATRICES = ("x", "context", "q", "k", "v", *PROJECTIONS, *BIASES, *LEARNED_TENSORS)
VECTORS = [name for name, tensor in LEARNED_TENSORS.items() if len(tensor.dims) == 1]
# vectors, shown as one row with two axes; attention_core takes them with one axis
ONE_ROW_MATRICES = (*VECTORS, *BIASES)


# ---- the kind of input -----------------------------------------------------------------------------------------------
Sentences = DictionarySentences | HandmadeHeads | LearnedTexts | ModelSentences | TranslatedSentences
InputKind = Sentences | QkvMatrices | UploadedQkv | RecordedLayer | DrawnTensors


def input_kind_of(run: RunSetup, arrays: UploadedArrays | None = None) -> InputKind:
    """Returns the input of a run as an object whose class depends on the kind of input: sentences, q, k and v, a file
    or a listing.

    arrays: the arrays of its uploaded files.
    """
    choice = resolve_run(run)
    sentences = make_sentences(run, choice)
    match choice.mode:
        case "file":
            answers = {"mask": MaskReading("", run.polarity)} if run.polarity else {}
            return UploadedQkv(
                arrays or {},
                sentences,
                run.roles,
                run.axes,
                run.part,
                answers=answers | dict(map(read_mask_answer, run.mask_as)),
            )
        case "recorded":
            return find_recorded(run)
        case "qkv":
            return QkvMatrices(sentences)
        case "code":
            return DrawnTensors(sentences)
    return sentences


def make_sentences(run: RunSetup, choice: ResolvedRun) -> Sentences:
    """Returns the sentences of a run. Their class, such as ModelSentences, determines the vectors of the words."""
    lines, typed = [], []
    if run.more is not None and choice.mode == "sentence" and not choice.crossed:
        lines = [line for line in run.more.splitlines() if line.strip()]
    for name in ("x", "context"):
        if getattr(run, name) is not None:
            typed.append(name)
    common = {
        "example": EXAMPLES[run.example],
        "text": run.text,
        "context_text": run.context_text,
        "crossed": choice.crossed,
        "more": tuple(lines),
        "typed": frozenset(typed),
        "bare": "bare" in run.wiring,
        "seed": run.seed,
        "word_roles": run.word_roles,
        "by_character": run.cut == "characters",
    }
    if choice.built:
        return HandmadeHeads(**common, kinds=choice.built)
    if choice.model is not None:
        return ModelSentences(**common, model=choice.model, layer=choice.layer)
    if choice.translator is not None:
        return TranslatedSentences(**common, translator=choice.translator)
    if choice.network is not None:
        return LearnedTexts(**common, network=choice.network)
    return DictionarySentences(**common)


def sentences_of(run: RunSetup) -> Sentences:
    """Returns the sentences of a run, whatever its kind of input."""
    return make_sentences(run, resolve_run(run))


def spell_tokens(tokens: tuple[str, ...], run: RunSetup) -> str:
    """Returns a text that the run's input splits into exactly the given tokens."""
    return sentences_of(run).spell(tokens)


def tokens_of(text: str, run: RunSetup) -> tuple[str, ...]:
    """Returns the tokens of a text, split as the sentences of this run are."""
    return sentences_of(run).tokens_of(text)


# ---- what goes in ----------------------------------------------------------------------------------------------------
def gather_inputs(run: RunSetup, arrays: UploadedArrays | None = None) -> RunInputs:
    """Returns all inputs of a run: words, matrices and their origins. Raises AttentionError if an input cannot be read.

    arrays: the arrays of the uploaded file that the run names.
    """
    kind, config = input_kind_of(run, arrays), config_of(run)
    return gather_for_kind(kind, run, config)


def gather_for_kind(kind: InputKind, run: RunSetup, config: AttentionConfig) -> RunInputs:
    """Returns all inputs of a run; matrices that the visitor typed replace those of its kind of input."""
    inputs = RunInputs(typed=list_typed_matrices(run))
    sizes = make_head_sizes(run, config)
    match kind:
        case UploadedQkv():
            kind.gather(inputs)
        case QkvMatrices():
            kind.gather(inputs)
            note_sentence_rows(inputs, run, config)
        case _:
            kind.gather(inputs)
            if "x" in inputs.matrices:
                key_width = put_source_matrices(inputs, config, run.seed, kind.score_weights())
                sizes = replace(sizes, key_width=key_width)
            kind.put_projections(inputs, sizes)
    B, H, T, S = checked_run_sizes(inputs, config)
    learned = kind.score_weights()
    put_learned_matrices(inputs, learned, sizes, run.wiring, with_heads_of_file(config, inputs))
    pairs = {"B": B, "H": H, "T": T, "S": S}
    check_tanh_layer(inputs, SCORES[config.score], pairs, getattr(torch, run.dtype))
    if run.allowed is not None:
        inputs.typed["allowed"] = drop_outside_cells(run.allowed, (T, S))
        inputs.put("allowed", StartMatrix(np.ones((T, S)), "typed"))
    return inputs


def list_typed_matrices(run: RunSetup) -> dict[str, MatrixValue]:
    """Returns {name: value} of the matrices that the visitor typed."""
    values = {name: getattr(run, name) for name in TYPED_MATRICES}
    return {name: value for name, value in values.items() if value is not None}


def with_heads_of_file(config: AttentionConfig, inputs: RunInputs) -> AttentionConfig:
    """Returns a config with the number of heads of the tensors from a file; unchanged for any other input."""
    if inputs.brought is None:
        return config
    return replace(config, heads=inputs.brought.q.shape[1], kv_heads=None)


def weigh_whole_file(kind: UploadedQkv, run: RunSetup, config: AttentionConfig) -> Weights:
    """Returns the weights of a run with all heads, queries and keys of a file, such as the table of T5's buckets.

    The run itself may be too large to be shown.
    """
    whole = RunInputs(typed=list_typed_matrices(run))
    kind.of_whole_sequence().gather(whole)
    sizes = make_head_sizes(run, config)
    put_learned_matrices(whole, kind.score_weights(), sizes, run.wiring, with_heads_of_file(config, whole))
    weights = {name: matrix for name, matrix in whole.matrices.items() if name not in SEQUENCES}
    return Weights(**{name: to_setup_tensor(name, matrix, run) for name, matrix in weights.items()})


def note_sentence_rows(inputs: RunInputs, run: RunSetup, config: AttentionConfig) -> None:
    """Records which rows of typed q and k still equal rows computed from a sentence's random vectors or matrices."""
    if EXAMPLES[run.example].q is not None:
        return
    try:
        sentence = gather_inputs(replace(run, q=None, k=None, v=None))
    except AttentionError:  # the typed q and k do not fit the sentence
        return
    note_made_rows(inputs, sentence, run.wiring, config)


def make_head_sizes(run: RunSetup, config: AttentionConfig) -> HeadSizes:
    """Returns the numbers of heads and the head widths that the visitor chose for a run."""
    return HeadSizes(
        heads=config.heads,
        kv_heads=config.kv_heads,
        d_k=run.d_k,
        d_v=run.d_v,
        tied="tied" in run.wiring,
        seed=run.seed,
    )


# ---- sizes -----------------------------------------------------------------------------------------------------------
def checked_run_sizes(inputs: RunInputs, config: AttentionConfig) -> tuple[int, int, int, int]:
    """Returns the sizes (B, H, T, S) of a run. Raises AttentionError (too_many_pairs) if they are too large."""
    B = max(len(inputs.batch), 1)
    H = config.heads
    for tensor in inputs.drawn.values():
        B = len(tensor)
    if inputs.brought is not None:
        _, H, _, _ = inputs.brought.q.shape
    T, S = count_queries_and_keys(inputs)
    pairs = B * H * T * S
    if pairs > MAX_RUN_PAIRS:
        raise AttentionError(
            "too_many_pairs",
            limit=MAX_RUN_PAIRS,
            B=B,
            H=H,
            T=T,
            S=S,
        )
    return B, H, T, S


def count_queries_and_keys(inputs: RunInputs) -> tuple[int, int]:
    """Returns the numbers of queries and of keys; for a batch, those of its longest sentence."""
    if inputs.batch:
        lengths = [len(sentence.words) for sentence in inputs.batch]
        longest = max(lengths)
        return longest, longest
    return len(inputs.queries), len(inputs.keys)


# ---- the run ---------------------------------------------------------------------------------------------------------
def compute_run(run: RunSetup, arrays: UploadedArrays | None = None) -> tuple[Trace, RunInputs]:
    """Returns the Trace of a run, on the CPU and with labelled axes, and its inputs.

    Raises every AttentionError of attention_core.
    """
    inputs, steps, plan = prepare_run(run, arrays)
    with torch.inference_mode():
        trace = run_plan(steps, plan)
    first = inputs.at(0)
    columns = label_feature_axes(run, inputs, trace)
    labelled = trace.on_cpu().labelled(
        T=first.queries,
        S=first.keys,
        **columns,
    )
    chance = first.random_parts("tied" in run.wiring)
    return replace(labelled, chance=chance), inputs


def check(run: RunSetup, arrays: UploadedArrays | None = None) -> None:
    """Raises AttentionError if compute_run would raise it while it prepares the run; computes nothing."""
    prepare_run(run, arrays)


def prepare_run(run: RunSetup, arrays: UploadedArrays | None) -> tuple[RunInputs, dict[str, Step], Plan]:
    """Returns the inputs of a run, these inputs as steps, and the plan (the operations to compute). Raises
    AttentionError.
    """
    require_one_of("device", run.device, AVAILABLE_DEVICES)
    kind, config = input_kind_of(run, arrays), config_of(run)
    inputs = gather_for_kind(kind, run, config)
    check_link_length(Setup(run))
    given, weights, pairs = make_run_tensors(inputs, run, config)
    dtype = getattr(torch, run.dtype)
    if isinstance(kind, RecordedLayer):
        pairs = kind.add_pairs(pairs)
    with torch.inference_mode():
        match kind:
            case UploadedQkv():
                steps, plan = prepare_uploaded(
                    inputs.brought,
                    kind,
                    run.device,
                    dtype,
                    weights,
                    config,
                    pairs,
                    partial(weigh_whole_file, kind, run, config),
                )
            case DrawnTensors():
                steps, plan = prepare_drawn(
                    inputs.drawn,
                    run.device,
                    dtype,
                    weights,
                    config,
                    pairs,
                )
            case QkvMatrices():
                q, k, v = split_qkv(given, config)
                steps, plan = prepare_qkv(q, k, v, weights, config, pairs)
            case _:
                x, context, value = given["x"], given.get("context"), given.get("value")
                if inputs.batch:
                    x = make_batch_tensor("x", inputs, run)
                    value = None if value is None else make_batch_tensor("value", inputs, run)
                    config = add_padding_mask(config, inputs)
                steps, plan = prepare(x, context, value, weights, config, pairs)
    return inputs, steps, plan


def make_run_tensors(
    inputs: RunInputs, run: RunSetup, config: AttentionConfig
) -> tuple[dict[str, Tensor], Weights, PairInputs]:
    """Returns the input tensors of a run, its weights, and the tensors for pairs of tokens.

    The tensors for pairs are the mask, and the scores and weights that the visitor set.
    """
    matrices = inputs.matrices
    if run.wiring:
        matrices = apply_wiring(matrices, run.wiring, config)
    given, weights, allowed = {}, {}, None
    for name, matrix in matrices.items():
        tensor = to_setup_tensor(name, matrix, run)
        if name == "allowed":
            allowed = tensor
        elif name in SEQUENCES:
            given[name] = tensor
        else:
            weights[name] = tensor
    sizes = checked_run_sizes(inputs, config)
    pairs = PairInputs(allowed=allowed, what_if=read_chosen_numbers(run, sizes))
    return given, Weights(**weights), pairs


def make_batch_tensor(name: str, inputs: RunInputs, run: RunSetup) -> Tensor:
    """Returns the sentences of a batch, padded to the length of the longest, as (B, T, D).

    name: "x" or "value".
    """
    length, _ = count_queries_and_keys(inputs)
    tensors = []
    for sentence in inputs.batch:
        numbers = getattr(sentence.padded(length), name)  # (T, D)
        tensors.append(to_setup_tensor(name, numbers, run))
    return torch.stack(tensors)  # B times (T, D) -> (B, T, D)


def add_padding_mask(config: AttentionConfig, inputs: RunInputs) -> AttentionConfig:
    """Returns the AttentionConfig with a padding mask for the sentences of a batch."""
    lengths = tuple(len(sentence.words) for sentence in inputs.batch)
    masks = []
    for name, params in config.masks:
        if name != "padding":
            masks.append((name, params))
    masks.append(("padding", {"lengths": lengths}))
    return replace(config, masks=tuple(masks))


def read_chosen_numbers(run: RunSetup, sizes: tuple[int, int, int, int]) -> dict[str, Tensor]:
    """Returns the scores and weights that the visitor set in place of computed ones, as {name: (B, H, T, S)}."""
    dtype = getattr(torch, run.dtype)
    chosen = {}
    for name in CHOSEN_FIELDS:
        value = getattr(run, name)
        if value is None:
            continue
        numbers = chosen_array(value, sizes, name)  # (B, H, T, S)
        if not np.isnan(numbers).all():
            chosen[name] = torch.from_numpy(numbers).to(run.device, dtype)
    return chosen


def label_feature_axes(run: RunSetup, inputs: RunInputs, trace: Trace) -> dict[str, tuple[str, ...]]:
    """Returns the names of the feature columns of x and of the output, as {axis: names}.

    An axis is omitted if its width is not the width of the example or of the built heads.
    """
    names = inputs.dims
    if not names:
        return {}
    sizes = trace.sizes()
    labels = {}
    if sizes.get("D") == len(names):
        labels["D"] = names
    if run.w_o is None and sizes.get("D_out") == len(names):
        labels["D_out"] = names
    return labels


def to_setup_tensor(name: str, matrix: np.ndarray, run: RunSetup) -> Tensor:
    """Returns a matrix in the chosen precision on the chosen device; a vector gets one axis, a mask becomes boolean."""
    tensor = torch.from_numpy(np.ascontiguousarray(matrix)).to(run.device)
    if name == "allowed":
        return tensor != 0
    rounded = tensor.to(getattr(torch, run.dtype))
    has_overflowed = rounded is not tensor and not all_finite(rounded) and rounded.isinf().any()
    if has_overflowed:
        row, column = rounded.isinf().nonzero()[0].tolist()
        raise AttentionError(
            "precision_limit",
            limit=format_exact(torch.finfo(rounded.dtype).max),
            dtype=run.dtype,
            name=name,
            row=row + 1,
            column=column + 1,
            given=format_exact(matrix[row, column]),
        )
    return rounded[0] if name in ONE_ROW_MATRICES else rounded
