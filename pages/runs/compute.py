"""From a Setup to what the core takes, and the run."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from attention_core import AttentionConfig, Trace, Weights, attend
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.files.qkv_file import UploadedTensors
from attention_core.inputs.initial_matrices import recut_heads
from attention_core.inputs.matrix_edits import drop_outside_cells, from_places, to_short_text
from attention_core.mechanism.attention import prepare, prepare_qkv, run_plan
from attention_core.mechanism.checks import as_pairs, is_finite
from attention_core.mechanism.config import require_one_of
from attention_core.mechanism.operations import split_heads
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.qkv_plan import Plan
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Step
from attention_core.variants.kv_cache import decode
from pages.runs.random_parts import find_random_parts
from pages.runs.run_inputs import RunInputs, get_example_matrix, put_matrix, put_matrix_text
from pages.runs.token_vectors import gather_sequences, gather_words
from pages.runs.uploaded_inputs import UploadedArrays, gather_upload
from pages.runs.weight_matrices import (
    BIASES,
    PROJECTIONS,
    apply_wiring,
    count_matrix_heads,
    gather_projections,
    gather_score_weights,
    head_widths,
)
from pages.setup.setup import MAX_RUN_PAIRS, UNCHANGED, Setup, check_link_length, config_of, input_mode_of

AVAILABLE_DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
ONE_ROW_MATRICES = ("v_a", *BIASES)  # matrices of one row on the screen, of one axis in the core
WHAT_IF_FIELDS = ("scores", "weights")


def gather_inputs(setup: Setup, arrays: UploadedArrays | None = None) -> RunInputs:
    """All of a run's inputs. arrays: what the Setup's file holds. Raises AttentionError for what cannot be read."""
    example, material = EXAMPLES[setup.example], RunInputs()
    if input_mode_of(setup) == "file":
        gather_upload(material, setup, arrays or {})
        widths = (material.brought.q.shape[-1], material.brought.k.shape[-1])
    elif input_mode_of(setup) == "qkv":
        for name in "qkv":
            put_matrix(material, name, setup, get_example_matrix(example, name), example.origin)
        heads = config_of(setup).heads
        gather_words(material, setup, example)
        if example.q is None:
            note_random_words(material, setup)
        widths = (material.matrices["q"].shape[1] // heads, material.matrices["k"].shape[1] // heads)
    else:
        gather_sequences(material, setup, example)
        gather_projections(material, setup, example)
        widths = head_widths(material, setup)
    check_pairs(material, setup)
    gather_score_weights(material, setup, widths)
    if setup.allowed is not None:
        pairs = count_queries_and_keys(material)
        put_matrix_text(material, "allowed", drop_outside_cells(setup.allowed, pairs), np.ones(pairs), "typed")
    return material


def note_random_words(material: RunInputs, setup: Setup) -> None:
    """Notes which rows of q and of k are still those that the sentence's random vectors or matrices made."""
    try:
        sentence = gather_inputs(replace(setup, q=None, k=None, v=None))
    except AttentionError:  # it was taken over from another one, and is no sentence of its own
        return
    chance, matrices = find_random_parts(sentence, setup), apply_wiring(sentence.matrices, setup)
    for name, axis, source in (("q", "T", "x"), ("k", "S", "context" if sentence.crossed else "x")):
        given, made = material.matrices[name], projected(matrices, name, source)
        if made is not None and len(given) == len(made) and given.shape[1] <= made.shape[1]:
            drawn = range(len(made)) if chance.matrices else chance.tokens[axis]
            same = np.isclose(given, made[:, : given.shape[1]]).all(axis=1)
            material.random_rows[name] |= {row for row in drawn if same[row]}


def projected(matrices: dict[str, np.ndarray], name: str, source: str) -> np.ndarray | None:
    """q or k of a sequence, all heads side by side; None where the matrices do not fit each other."""
    x, weight, bias = matrices[source], matrices.get(f"w_{name}"), matrices.get(f"b_{name}")
    if weight is None:
        return x
    if x.shape[1] != len(weight) or (bias is not None and bias.shape[1] != weight.shape[1]):
        return None
    return x @ weight + (0.0 if bias is None else bias)


def check_pairs(material: RunInputs, setup: Setup) -> None:
    """Every run is kept with all its steps: there are only so many pairs of tokens."""
    sizes = {"B": max(len(material.batch), 1), "H": count_run_heads(material, setup)}
    T, S = count_queries_and_keys(material)
    if sizes["B"] * sizes["H"] * T * S > MAX_RUN_PAIRS:
        raise AttentionError("too_many_pairs", limit=MAX_RUN_PAIRS, T=T, S=S, **sizes)


def count_run_heads(material: RunInputs, setup: Setup) -> int:
    """How many heads a run has."""
    return config_of(setup).heads if material.brought is None else material.brought.q.shape[1]


def count_queries_and_keys(material: RunInputs) -> tuple[int, int]:
    """How many queries and keys there are, in a batch those of the longest sentence."""
    whole = material.at(0)
    return len(whole.queries), len(whole.keys)


def make_size_changes(setup: Setup, **sizes: int | None) -> dict[str, object]:
    """The changes that give other sizes, and with them what becomes of the matrices that somebody typed: each head that
    stays keeps the columns that still fit."""
    before, after = gather_inputs(setup), replace(setup, **sizes)
    read = [name for name in PROJECTIONS + BIASES if name in before.matrices]
    typed = [name for name in read if getattr(setup, name) not in (None, UNCHANGED)]
    fresh = gather_inputs(replace(after, **dict.fromkeys(typed)))
    changes: dict[str, object] = dict(sizes)
    for name in typed:
        base, matrix = fresh.bases.get(name), before.matrices[name]
        if base is None or base.shape == matrix.shape or name == "b_o":
            continue
        turned = name == "w_o"
        old, new = (matrix.T, base.T) if turned else (matrix, base)
        count = count_matrix_heads(name, after)
        if old.shape[1] % count_matrix_heads(name, setup) or new.shape[1] % count or len(old) != len(new):
            continue
        kept = recut_heads(old, count_matrix_heads(name, setup), (count, new.shape[1] // count), new)
        changes[name] = to_short_text(kept.T if turned else kept, base, name)
    return changes


# ---- the run ---------------------------------------------------------------------------------------------------------
def compute_run(setup: Setup, arrays: UploadedArrays | None = None) -> tuple[Trace, RunInputs]:
    """The Trace of a Setup, on the CPU, its axes labelled, and all that went in. Raises AttentionError for whatever the
    core refuses."""
    material, inputs, plan = prepare_run(setup, arrays)
    with torch.inference_mode():
        trace = run_plan(inputs, plan)
    whole = material.at(0)
    columns = label_feature_axes(setup, material, trace)
    told = trace.on_cpu().labelled(T=whole.queries, S=whole.keys, **columns)
    return replace(told, chance=find_random_parts(whole, setup)), material


def check(setup: Setup, arrays: UploadedArrays | None = None) -> None:
    """Raises AttentionError where compute would, and computes nothing."""
    prepare_run(setup, arrays)


def prepare_run(setup: Setup, arrays: UploadedArrays | None) -> tuple[RunInputs, dict[str, Step], Plan]:
    """All that goes into a run, the inputs as steps, and the plan. Raises AttentionError."""
    require_one_of("device", setup.device, AVAILABLE_DEVICES)
    material, config = gather_inputs(setup, arrays), config_of(setup)
    check_link_length(setup)
    given, weights, pairs = make_run_tensors(material, setup)
    with torch.inference_mode():
        if material.brought is not None:
            return material, *prepare_brought(material.brought, setup, weights, pairs)
        if "q" in given:
            return material, *prepare_qkv(*split_qkv(given, config), weights, config, pairs)
        x, context = given["x"], given.get("context")
        if material.batch:
            x, config = make_batch_tensor(material, setup), add_padding_mask(config, material)
        return material, *prepare(x, context, None, weights, config, pairs)


def make_run_tensors(material: RunInputs, setup: Setup) -> tuple[dict[str, Tensor], Weights, PairInputs]:
    """What a run is given: its inputs, its weights, and what is chosen about pairs of tokens."""
    tensors = {
        name: to_setup_tensor(name, matrix, setup) for name, matrix in apply_wiring(material.matrices, setup).items()
    }
    pairs = PairInputs(allowed=tensors.pop("allowed", None), what_if=read_chosen_numbers(setup, material))
    given = {name: tensors.pop(name) for name in ("x", "context", "q", "k", "v") if name in tensors}
    return given, Weights(**tensors), pairs


def run_sentences_alone(setup: Setup) -> list[Trace]:
    """The sentences of a batch computed one by one, nothing filled up and nothing hidden."""
    material, config = gather_inputs(setup), config_of(setup)
    _, weights, pairs = make_run_tensors(material, setup)
    alone = []
    with torch.inference_mode():
        for b, each in enumerate(material.batch):
            n = len(each.words)
            allowed = None if pairs.allowed is None else pairs.allowed[:n, :n]
            what_if = {name: numbers[b : b + 1, :, :n, :n] for name, numbers in pairs.what_if.items()}
            x = to_setup_tensor("x", each.x, setup)
            own = config_for_length(config, n)
            alone.append(attend(x, weights=weights, config=own, allowed=allowed, what_if=what_if).on_cpu())
    return alone


def run_decoding(setup: Setup) -> list[Trace]:
    """The words of a causal run one after the other, with a cache: a Trace a word, as decoding.decode gives them."""
    material, config = gather_inputs(setup), config_of(setup)
    given, weights, _ = make_run_tensors(material, setup)
    words = material.queries
    with torch.inference_mode():
        steps = [step.on_cpu() for step in decode(given["x"], weights=weights, config=config)]
    seen = [step["k"].shape[2] for step in steps]
    return [
        step.labelled(T=words[t : t + 1], S=words[t + 1 - seen[t] : t + 1], **label_feature_axes(setup, material, step))
        for t, step in enumerate(steps)
    ]


def config_for_length(config: AttentionConfig, length: int) -> AttentionConfig:
    """The choices for a sentence of a batch alone: nothing is padding, and global tokens are those that it has."""
    masks = []
    for name, params in config.masks:
        tokens = tuple(token for token in params.get("global_tokens", ()) if token < length)
        if name != "padding":
            masks.append((name, {**params, "global_tokens": tokens} if "global_tokens" in params else params))
    return replace(config, masks=tuple(masks))


def prepare_brought(
    brought: UploadedTensors, setup: Setup, weights: Weights, pairs: PairInputs
) -> tuple[dict[str, Step], Plan]:
    """What a run of tensors from a file is given; the numbers of heads are theirs."""
    dtype = getattr(torch, setup.dtype)
    q, k, v = (tensor.to(setup.device, dtype) for tensor in (brought.q, brought.k, brought.v))
    if brought.allowed is not None:
        scores = (*q.shape[:3], k.shape[2])
        own, painted = as_pairs("mask", brought.allowed, scores).to(setup.device), pairs.allowed
        pairs = replace(pairs, allowed=own if painted is None else own & painted)
    config = replace(config_of(setup), heads=1, kv_heads=None, residual=False)
    return prepare_qkv(q, k, v, weights, config, pairs)


def make_batch_tensor(material: RunInputs, setup: Setup) -> Tensor:
    """The sentences of a batch, filled up to the longest: (B, T, D)."""
    length = max(len(each.words) for each in material.batch)
    return torch.stack(
        [to_setup_tensor("x", each.padded(length).x, setup) for each in material.batch]
    )  # B times (T, D)


def add_padding_mask(config: AttentionConfig, material: RunInputs) -> AttentionConfig:
    """The choices with a mask that hides what the sentences of a batch were filled up with."""
    lengths = tuple(len(each.words) for each in material.batch)
    others = tuple(mask for mask in config.masks if mask[0] != "padding")
    return replace(config, masks=(*others, ("padding", {"lengths": lengths})))


def read_chosen_numbers(setup: Setup, material: RunInputs) -> dict[str, Tensor]:
    """The scores and weights that somebody chose in the place of computed ones."""
    shape = (max(len(material.batch), 1), count_run_heads(material, setup), *count_queries_and_keys(material))
    texts = {name: getattr(setup, name) for name in WHAT_IF_FIELDS}
    numbers = {name: from_places(text, shape, name) for name, text in texts.items() if text}
    some = {name: array for name, array in numbers.items() if not np.isnan(array).all()}
    dtype = getattr(torch, setup.dtype)
    return {name: torch.from_numpy(array).to(setup.device, dtype) for name, array in some.items()}


def label_feature_axes(setup: Setup, material: RunInputs, trace: Trace) -> dict[str, tuple[str, ...]]:
    """What the columns of x and of the output stand for, where they are as the example or the built heads made them."""
    dims, sizes = material.dims, trace.sizes()
    named = {"D": True, "D_out": setup.w_o is None}
    return {dim: dims for dim, known in named.items() if known and dims and sizes.get(dim) == len(dims)}


def split_qkv(given: dict[str, Tensor], config: AttentionConfig) -> list[Tensor]:
    """q, k and v as they were typed are one head; with more heads their columns are cut into heads."""
    if config.heads == 1:
        return [given[name] for name in "qkv"]
    cut = []
    for name in "qkv":
        matrix, heads = given[name], config.heads if name == "q" else config.kv_heads or config.heads
        if matrix.shape[1] % heads:
            raise AttentionError("heads_split", name=name, width=matrix.shape[1], heads=heads)
        cut.append(split_heads(matrix[None], heads=heads))  # (1, T, H d) -> (1, H, T, d)
    return cut


def to_setup_tensor(name: str, matrix: np.ndarray, setup: Setup) -> Tensor:
    """A matrix in the chosen precision on the chosen device; vectors have one axis, a mask is boolean."""
    tensor = torch.from_numpy(np.ascontiguousarray(matrix)).to(setup.device)
    if name == "allowed":
        return tensor != 0
    rounded = tensor.to(getattr(torch, setup.dtype))
    if rounded is not tensor and not is_finite(rounded) and rounded.isinf().any():
        row, column = rounded.isinf().nonzero()[0].tolist()
        place = {"name": name, "row": row + 1, "column": column + 1, "given": format_exact(matrix[row, column])}
        limit = format_exact(torch.finfo(rounded.dtype).max)
        raise AttentionError("precision_limit", limit=limit, dtype=setup.dtype, **place)
    return rounded[0] if name in ONE_ROW_MATRICES else rounded
