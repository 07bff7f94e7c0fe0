"""Inputs that are tensors instead of sentences: q, k and v, typed or from files, or sampled by a code listing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from attention_core import AttentionConfig, Weights
from attention_core.inputs.files.mask_readings import MaskReading
from attention_core.inputs.files.qkv_file import (
    UploadedTensors,
    UploadPart,
    cut_upload_part,
    guess_array_roles,
    largest_upload_part,
    read_roles,
)
from attention_core.inputs.tokenizer import MAX_TOKENS
from attention_core.mechanism.checks import as_pairs
from attention_core.mechanism.operations import split_heads
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.plan import Plan, prepare, prepare_qkv, run_plan
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step
from pages.runs.run_inputs import SEQUENCES, RunInputs, StartMatrix, label_rows
from pages.runs.sentences import BIASES, PROJECTIONS, DictionarySentences, to_matrix
from pages.runs.upload_store import UploadedArrays
from pages.runs.weight_matrices import HeadSizes, apply_wiring, project_sequence
from pages.setup.setup import AXIS_ORDERS, MAX_RUN_PAIRS, MAX_SHOWN_HEADS

ROUNDED_BIAS = 1e-3  # two biases count as equal up to this relative and absolute difference


@dataclass(frozen=True)
class QkvMatrices:
    """The matrices q, k and v: typed by the visitor, or the example's own.

    sentences: the object with the words and the score weights of the run.
    """

    sentences: DictionarySentences

    def gather(self, inputs: RunInputs) -> None:
        """Puts q, k and v, and the words of both axes, into the inputs of a run.

        If there are more or fewer words than rows, the rows are named by numbers.
        """
        example = self.sentences.example
        for name in "qkv":
            numbers = to_matrix(getattr(example, name))
            start = StartMatrix(numbers, example.origin)
            inputs.put(name, start)
        q = inputs.matrices["q"]
        k = inputs.matrices["k"]
        queries, keys = self.known_words()
        inputs.queries = label_rows(q, queries)
        inputs.keys = inputs.queries
        inputs.crossed = self.sentences.crossed or len(k) != len(q)
        if inputs.crossed:
            inputs.keys = label_rows(k, keys)

    def known_words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the words of the queries, and the words of the keys, from the typed sentences or from the example."""
        sentences = self.sentences
        example = sentences.example
        if example.q is not None:
            return example.tokens, example.context_tokens or ()
        queries = sentences.own_words()
        shipped_keys = example.context_tokens or queries
        keys = sentences.typed_or_shipped(sentences.context_text, shipped_keys)
        return queries, keys

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns {name: weight} of the score function's weights that a network learned."""
        return self.sentences.score_weights()


@dataclass(frozen=True, eq=False)
class UploadedQkv:
    """Tensors q, k and v from files.

    arrays: the contents of the files. sentences: the object with the score weights. roles: which array is q, k, v or
    the mask, as role and index of the array: "q:0". axes: the order of the arrays' axes. part: the indices of the shown
    part of the tensors. answers: for each mask, by its role, the meaning of its axes and values.
    """

    arrays: UploadedArrays
    sentences: DictionarySentences
    roles: tuple[str, ...] = ()
    axes: str | None = None
    part: tuple[int, ...] | None = None
    answers: Mapping[str, MaskReading] = field(default_factory=dict)

    def roles_by_name(self) -> dict[str, str]:
        """Returns {role ("q", "k", "v" or a mask): name of its array}: as chosen, or else guessed from the names of the
        arrays.
        """
        names = [*self.arrays]
        if not self.roles:
            return guess_array_roles(self.arrays)
        chosen = {}
        for text in self.roles:
            role, number = text.split(":")
            if int(number) < len(names):
                chosen[role] = names[int(number)]
        return chosen

    def tensors(self) -> UploadedTensors:
        """Returns all uploaded tensors, by their roles, with the axes in the chosen order.

        Raises AttentionError if an array is missing, if the readings of a mask are ambiguous, or if shapes do not fit.
        """
        axes = AXIS_ORDERS.get(self.axes)
        return read_roles(self.arrays, self.roles_by_name(), axes, self.answers)

    def part_of(self, uploaded: UploadedTensors) -> UploadPart:
        """Returns the shown part of the tensors: the chosen part, or else the largest part that may be shown."""
        if self.part is None or len(self.part) != 7:
            return largest_upload_part(uploaded, MAX_SHOWN_HEADS, MAX_TOKENS, MAX_RUN_PAIRS)
        batch, head, heads, query, queries, key, keys = self.part
        return UploadPart(
            batch,
            heads=(head, heads),
            queries=(query, queries),
            keys=(key, keys),
        )

    def of_whole_sequence(self) -> "UploadedQkv":
        """Returns this input with all heads, queries and keys of the uploaded sequence of which a part is shown."""
        whole = self.tensors()
        (_, H, T, _), (_, _, S, _) = whole.q.shape, whole.k.shape
        return replace(self, part=(self.part_of(whole).batch, 0, H, 0, T, 0, S))

    def shown_tensors(self) -> UploadedTensors:
        """Returns the shown part of the tensors."""
        whole = self.tensors()
        return cut_upload_part(whole, self.part_of(whole))

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns {name: weight} of the score function's weights that a network learned."""
        return self.sentences.score_weights()

    def gather(self, inputs: RunInputs) -> None:
        """Puts the shown part of the uploaded tensors into the inputs of a run.

        Queries and keys are named by their positions in the file, from 1. Raises AttentionError as tensors() does.
        """
        whole = self.tensors()
        part = self.part_of(whole)
        looked_at = cut_upload_part(whole, part)
        inputs.brought = looked_at
        inputs.left_out = set(whole.given) > set(looked_at.given)
        inputs.queries = number_from(*part.queries)
        inputs.keys = number_from(*part.keys)
        inputs.crossed = inputs.queries != inputs.keys
        for name in "qkv":
            inputs.origins[name] = "brought"


def number_from(first: int, count: int) -> tuple[str, ...]:
    """Returns `count` consecutive numbers as texts, the names of positions that are counted from 1.

    first: the index, from 0, of the first position.
    """
    places = range(first + 1, first + count + 1)
    return tuple(map(str, places))


# ---- origins ---------------------------------------------------------------------------------------------------------
def note_made_rows(inputs: RunInputs, sentence: RunInputs, wiring: tuple[str, ...], config: AttentionConfig) -> None:
    """Records which rows of q and k are random, because they equal rows computed from random vectors or matrices.

    inputs: the inputs with typed q and k. sentence: the inputs with the vectors and matrices.
    """
    chance = sentence.random_parts("tied" in wiring)
    matrices = apply_wiring(sentence.matrices, wiring, config)
    sources = {"q": "x", "k": "context" if sentence.crossed else "x"}
    for name, axis in (("q", "T"), ("k", "S")):
        given = inputs.matrices[name]
        made = project_sequence(matrices, name, sources[name])
        if made is None:
            continue
        rows, width = given.shape
        made_rows, made_width = made.shape
        if rows != made_rows or width > made_width:
            continue
        is_close = np.isclose(given, made[:, :width])  # (T, d)
        is_same = is_close.all(axis=1)  # (T,)
        drawn = chance.tokens[axis]
        if chance.matrices:
            drawn = range(rows)
        same_rows = {row for row in drawn if is_same[row]}
        inputs.random_rows[name] |= same_rows


# ---- the run ---------------------------------------------------------------------------------------------------------
def split_qkv(given: dict[str, Tensor], config: AttentionConfig) -> list[Tensor]:
    """Returns typed q, k and v, with their columns split into heads if there are several heads.

    With a single head, the matrices are unchanged. Raises AttentionError: heads_split.
    """
    if config.heads == 1:
        return [given[name] for name in "qkv"]
    kv_heads = config.kv_heads or config.heads
    cut = []
    for name, heads in (("q", config.heads), ("k", kv_heads), ("v", kv_heads)):
        matrix = given[name]
        _, width = matrix.shape
        if width % heads:
            raise AttentionError(
                "heads_split",
                name=name,
                width=width,
                heads=heads,
            )
        cut.append(split_heads(matrix[None], heads=heads))  # (1, T, H d) -> (1, H, T, d)
    return cut


def prepare_uploaded(
    uploaded: UploadedTensors,
    kind: UploadedQkv,
    device: str,
    dtype: torch.dtype,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
    weigh_whole: Callable[[], Weights],
) -> tuple[dict[str, Step], Plan]:
    """Returns the input steps and the plan of a run with tensors from a file, which determine the counts of heads.

    uploaded: the shown part of the tensors. kind: the input with all uploaded tensors. pairs: the tensors about pairs;
    their mask is combined with the mask from the file. weigh_whole: a function that returns the weights of a run with
    all of the file, whose learned tables may have a column for each head. The file's bias is added to the scores. If
    the chosen position encoding adds the same bias to the whole file, as for a file exported from such a run, the bias
    is added only once: by the position encoding for the whole file, and from the file for a part, because a position
    encoding would number the heads, queries and keys of a part anew.
    """
    q = uploaded.q.to(device, dtype)
    k = uploaded.k.to(device, dtype)
    v = uploaded.v.to(device, dtype)
    if uploaded.allowed is not None:
        B, H, T, _ = q.shape
        _, _, S, _ = k.shape
        allowed = as_pairs("mask", uploaded.allowed, (B, H, T, S))
        allowed = allowed.to(device)
        if pairs.allowed is not None:
            allowed = allowed & pairs.allowed
        pairs = replace(pairs, allowed=allowed)
    config = replace(
        config,
        heads=1,
        kv_heads=None,
        residual=False,
    )
    if uploaded.bias is None:
        return prepare_qkv(q, k, v, weights, config, pairs)
    of_positions = config.positions_at("bias")
    whole = kind.of_whole_sequence().shown_tensors() if of_positions else uploaded
    is_same = bool(of_positions) and is_bias_of_positions(whole, device, dtype, weigh_whole(), config)
    if is_same and (uploaded.q.shape, uploaded.k.shape) == (whole.q.shape, whole.k.shape):
        return prepare_qkv(q, k, v, weights, config, pairs)
    if is_same:
        config = replace(config, positions=[each for each in config.positions if each[0] not in of_positions])
        weights = replace(weights, **{tensor.name: None for name in of_positions for tensor in POSITIONS[name].weights})
    pairs = replace(pairs, bias=uploaded.bias.to(device, dtype))
    return prepare_qkv(q, k, v, weights, config, pairs)


def is_bias_of_positions(
    whole: UploadedTensors, device: str, dtype: torch.dtype, weights: Weights, config: AttentionConfig
) -> bool:
    """Returns whether the chosen positions of a run add the bias of a file, up to rounding in half precision."""
    config = replace(config, masks=[])  # masks are left out, because no bias depends on them
    q, k, v = (tensor.to(device, dtype) for tensor in (whole.q, whole.k, whole.v))
    try:
        steps, plan = prepare_qkv(q, k, v, weights, config, PairInputs())
    except AttentionError:  # the position encodings do not fit all heads of the file
        return False
    place = next(i for i, operation in enumerate(plan) if operation.output == "bias")
    own = run_plan(steps, plan[: place + 1])["bias"]
    return torch.allclose(own.to(whole.bias), whole.bias, rtol=ROUNDED_BIAS, atol=ROUNDED_BIAS)


@dataclass(frozen=True)
class DrawnTensors:
    """The tensors that the code listing of an example samples.

    sentences: the object with the listing's example and the score weights.
    """

    sentences: DictionarySentences

    def gather(self, inputs: RunInputs) -> None:
        """Samples the tensors of the listing and puts them into the inputs of a run.

        The first sequence of each tensor is also put as a matrix.
        """
        example = self.sentences.example
        inputs.queries = example.tokens
        inputs.keys = example.context_tokens or example.tokens
        inputs.crossed = example.context_tokens is not None
        inputs.word_origins = ("random",) * len(inputs.queries)
        inputs.key_origins = ("random",) * len(inputs.keys)
        for name in (*SEQUENCES, "allowed"):
            listed = getattr(example, name)
            if listed is not None:
                inputs.drawn[name] = listed.draw()
        for name in SEQUENCES:
            if name in inputs.drawn:
                inputs.matrices[name] = inputs.bases[name] = to_matrix(getattr(example, name))
                inputs.origins[name] = "drawn"

    def put_projections(self, inputs: RunInputs, sizes: HeadSizes) -> None:
        """Puts the layer's matrices into the inputs of a run: the typed matrices, or else those that the listing
        samples.

        If q, k and v are sampled, no matrix is put.
        """
        if "q" in inputs.drawn:
            return
        self.sentences.put_projections(inputs, sizes)
        for name in PROJECTIONS + BIASES:
            if inputs.origins.get(name) == "random":
                inputs.origins[name] = "drawn"

    def score_weights(self) -> dict[str, np.ndarray]:
        """Returns {name: weight} of the score function's weights that a network learned."""
        return self.sentences.score_weights()


def prepare_drawn(
    drawn: dict[str, Tensor],
    device: str,
    dtype: torch.dtype,
    weights: Weights,
    config: AttentionConfig,
    pairs: PairInputs,
) -> tuple[dict[str, Step], Plan]:
    """Returns the input steps and the plan of a run with tensors that a code listing samples.

    drawn: the sampled tensors, by name. If q, k and v are sampled, they determine the counts of heads.
    """
    given = {name: tensor.to(device, dtype) for name, tensor in drawn.items() if name in SEQUENCES}
    first = next(iter(given.values()))
    config = pad_every_sequence(config, len(first))
    allowed = drawn.get("allowed")
    if allowed is not None:
        allowed = allowed.to(device)
        if pairs.allowed is not None:
            allowed = allowed & pairs.allowed
        pairs = replace(pairs, allowed=allowed)
    if "q" in given:
        config = replace(config, heads=1, kv_heads=None, residual=False)
        return prepare_qkv(given["q"], given["k"], given["v"], weights, config, pairs)
    return prepare(given["x"], given.get("context"), given.get("value"), weights, config, pairs)


def pad_every_sequence(config: AttentionConfig, count: int) -> AttentionConfig:
    """Returns the config; if its padding mask has a single length, this length is repeated for each of `count`
    sequences.
    """
    masks = []
    for name, params in config.masks:
        lengths = params.get("lengths", ())
        masks.append((name, {"lengths": lengths * count} if len(lengths) == 1 else params))
    return replace(config, masks=tuple(masks))
