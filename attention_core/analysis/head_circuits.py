"""Computes what the matrices of heads do without a sentence: QK and OV circuits, the part of x that a head reads.

The QK circuit is the score of each word for each other word. The OV circuit is how an attended word changes the logits
(Elhage et al. 2021, A Mathematical Framework for Transformer Circuits).
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_contributions import CONTRIBUTE
from attention_core.mechanism.attention import attend
from attention_core.mechanism.checks import shape_of
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.norms import CENTRE
from attention_core.mechanism.operations import PROJECT
from attention_core.mechanism.positions import factor_at_one_place
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand, product_cell
from attention_core.record.trace import Faces, Operation, Step, Trace
from attention_core.transformer.unembedding import MEET_ROWS

WRITTEN_DIMS = ("B", "H", "S", "D_out")
PUSHED_DIMS = ("B", "H", "S", "V")


# ---- the gain of the last norm: each column times its number ---------------------------------------------------------
def times_gain(written: Float[Tensor, "*axes D"], gain: Float[Tensor, " D"]) -> Float[Tensor, "*axes D"]:
    return written * gain


def times_gain_numpy(written, gain):
    return np.einsum("...m,m->...m", written, gain)


def times_gain_formula(written, gain):
    return rf"{written} \odot {gain}"


def times_gain_cell(index, written: Operand, gain: Operand) -> Cell:
    return product_cell(written[index], gain[index[-1]])


TIMES_GAIN = Faces(times_gain, times_gain_numpy, times_gain_formula, times_gain_cell)


# ---- the circuits ----------------------------------------------------------------------------------------------------
def head_circuit(
    x: Float[Tensor, "*B T D"],
    weights: Weights,
    config: AttentionConfig,
    key: Float[Tensor, "*B S D"] | None = None,
    value: Float[Tensor, "*B S D"] | None = None,
) -> Trace:
    r"""Run a layer's heads on single words, without masks and positions, to get their QK and OV circuits.

    The scores are those of two words at one place: there RoPE turns q and k alike, and of YaRN a factor is left.

    QK: $E W_q W_k^\top E^\top / \sqrt{d_k}$, the step `scaled_scores` (B, H, T, S). OV: $E W_v W_{o,h}$, the step
    `written` (B, H, S, D_out): what a head adds to the query's vector if its whole weight is on one word.

    x (T, D) or (B, T, D): the words' embedding rows. weights, config: those of the layer; a norm before the layer is
    applied. key, value: the inputs of keys and values if they are not x, such as the output of a head of an earlier
    layer (K-composition). For a later layer, this is the direct path from the embedding: the outputs of the layers
    before it are left out.

    Returns a Trace. Raises AttentionError (a ValueError) if there is no W_o, and if sizes do not fit. Source: Elhage et
    al. 2021, "QK and OV circuits".

    >>> heads = Weights(w_q=torch.eye(2), w_k=torch.eye(2), w_v=torch.eye(2), w_o=2 * torch.eye(2))
    >>> trace = head_circuit(torch.eye(2), heads, AttentionConfig(score="dot"))
    >>> trace["scaled_scores"][0, 0], trace["written"][0, 0]
    (tensor([[1., 0.],
            [0., 1.]]), tensor([[2., 0.],
            [0., 2.]]))
    """
    if weights.w_o is None:
        raise AttentionError("missing_weight", kind="head_circuit", weight="w_o")
    temperature = config.temperature / factor_at_one_place(config.positions)
    alone = replace(config, masks=(), positions=(), residual=False, temperature=temperature)
    trace = attend(x, key, value, weights=weights, config=alone)
    return trace.then(Operation("written", WRITTEN_DIMS, ("v", "w_o"), CONTRIBUTE))


def with_pushes(
    trace: Trace, table: Float[Tensor, "V D"], gain: Float[Tensor, " D"] | None = None, is_centred: bool = False
) -> Trace:
    r"""Add the step `writes` (B, H, S, V): how a head changes the logit of each word if its whole weight is on one
    word.

    $E W_v W_{o,h}\,\mathrm{diag}(g)\,U^\top$, before the division in the last norm. A LayerNorm takes the mean of
    $E W_v W_{o,h}$ away first; its shift belongs to no head.

    trace: a result of head_circuit. table (V, D): the unembedding, one row per word. gain (D): the gain of the last
    norm. is_centred: whether that norm is a LayerNorm. Returns a Trace. Raises AttentionError (a ValueError) if sizes
    do not fit. Source: Elhage et al. 2021, "QK and OV circuits".

    >>> heads = Weights(w_q=torch.eye(2), w_k=torch.eye(2), w_v=torch.eye(2), w_o=2 * torch.eye(2))
    >>> trace = head_circuit(torch.eye(2), heads, AttentionConfig(score="dot"))
    >>> with_pushes(trace, torch.tensor([[1.0, 1.0]]), torch.tensor([1.0, 3.0]))["writes"].flatten()
    tensor([2., 6.])
    """
    trace, written = holding_table(trace, table, "written"), "written"
    if is_centred:
        trace, written = trace.then(Operation("centred", WRITTEN_DIMS, ("written",), CENTRE)), "centred"
    if gain is None:
        return trace.then(Operation("writes", PUSHED_DIMS, (written, "table"), MEET_ROWS))
    if shape_of(gain) != (table.shape[1],):
        raise AttentionError("weight_shape", weight="g_last", axes=f"({table.shape[1]},)", shape=shape_of(gain))
    trace = replace(trace, steps={"g_last": Step("g_last", gain, ("D_out",)), **trace.steps})
    gained = Operation("gained", WRITTEN_DIMS, (written, "g_last"), TIMES_GAIN)
    return trace.then(gained, Operation("writes", PUSHED_DIMS, ("gained", "table"), MEET_ROWS))


def with_answers(trace: Trace, w_answers: Float[Tensor, "H d_v D"], table: Float[Tensor, "V D"]) -> Trace:
    r"""Add the step `answers` (B, H, S, V): the score of each word as an answer if a head's whole weight is on one
    word.

    $E W_v W_{a,h}\,U^\top$, for a model that computes each answer from a single head's output.

    trace: a result of head_circuit. w_answers (H, d_v, D): a readout matrix per head. table (V, D): one row per word.
    Returns a Trace. Raises AttentionError (a ValueError) if sizes do not fit.

    >>> heads = Weights(w_q=torch.eye(2), w_k=torch.eye(2), w_v=torch.eye(2), w_o=torch.eye(2))
    >>> trace = head_circuit(torch.eye(2), heads, AttentionConfig(score="dot"))
    >>> with_answers(trace, 5 * torch.eye(2)[None], torch.tensor([[1.0, 1.0]]))["answers"].flatten()
    tensor([5., 5.])
    """
    H, d_v = trace.sizes()["H"], trace["v"].shape[-1]
    if w_answers.dim() != 3 or shape_of(w_answers)[:2] != (H, d_v):
        raise AttentionError("weight_shape", weight="w_answers", axes=f"({H}, {d_v}, D)", shape=shape_of(w_answers))
    rows = w_answers.flatten(0, 1)  # (H, d_v, D) -> (H * d_v, D)
    trace = replace(trace, steps={"w_answers": Step("w_answers", rows, ("H·d_v", "D_out")), **trace.steps})
    trace = trace.then(Operation("answered", WRITTEN_DIMS, ("v", "w_answers"), CONTRIBUTE))
    trace = holding_table(trace, table, "answered")
    return trace.then(Operation("answers", PUSHED_DIMS, ("answered", "table"), MEET_ROWS))


def holding_table(trace: Trace, table: Float[Tensor, "V D"], read: str) -> Trace:
    """Return the run with the unembedding table as a further input.

    Raises AttentionError if the width of `table` differs from that of step `read`.
    """
    width = trace.step(read).shape[-1]
    if table.dim() != 2 or table.shape[1] != width:
        raise AttentionError("weight_shape", weight="table", axes=f"(V, {width})", shape=shape_of(table))
    return replace(trace, steps={"table": Step("table", table, ("V", "D_out")), **trace.steps})


def copying_score(written: Float[Tensor, "*heads V D"], rows: Float[Tensor, "V D"]) -> Float[Tensor, "*heads"]:
    r"""Measure whether heads copy: $\sum_i \mathrm{Re}\,\lambda_i / \sum_i |\lambda_i|$ of an OV circuit.

    The score is 1 if words raise their own logits and those of similar words, -1 if words lower these logits, and about
    0 if they do neither. The eigenvalues are those of the small D by D matrix `rows` transposed times `written`. The V
    by V matrix `written` times `rows` transposed has the same nonzero eigenvalues.

    written (..., V, D): what heads write for each single word, such as the step `written` of head_circuit. rows (V, D):
    the unembedding times the gain of the last norm. The score of a head that writes only zeros is NaN.

    Source: Elhage et al. 2021, "Copying / primitive in-context learning", "Detecting copying behavior".

    >>> copying_score(torch.tensor([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.0]]]), torch.eye(2))
    tensor([1., 0.])
    """
    turned = rows.mT @ written  # (D, V) x (..., V, D) -> (..., D, D)
    eigenvalues = torch.linalg.eigvals(turned)  # (..., D)
    return eigenvalues.real.sum(-1) / eigenvalues.abs().sum(-1)


# ---- the part of a vector that a head reads --------------------------------------------------------------------------
@dataclass(frozen=True)
class UnseenMove:
    """How far a head's q and k move if the part of x that the head does not read is removed.

    directions: how many of the D directions of x the head reads. taken: the largest absolute number that was removed
    from x. q, k: the largest absolute change of the head's q and of its k, which only rounding causes.
    """

    directions: int
    taken: float
    q: float
    k: float


def sight_of(w_q: Float[Tensor, "D d"], w_k: Float[Tensor, "D d"]) -> Float[Tensor, "D D"]:
    r"""Return the projection P onto the subspace of x that a head's queries and keys read: P W_q = W_q and P W_k = W_k.

    P = M M⁺ with M = [W_q W_k] and its pseudoinverse M⁺. The removed rest, x − x P, lies in the null space of both.

    w_q, w_k: the matrices of one head, in row convention. Source: Strang 2016, Introduction to Linear Algebra, sections
    4.2 and 7.4.

    >>> sight_of(torch.tensor([[2.0], [0.0]]), torch.tensor([[1.0], [0.0]])).round()
    tensor([[1., 0.],
            [0., 0.]])
    """
    both = torch.cat([w_q, w_k], dim=-1)  # (D, d) and (D, d) -> (D, 2d)
    return both @ torch.linalg.pinv(both)  # (D, 2d) x (2d, D) -> (D, D)


def head_matrices(trace: Trace, head: int) -> tuple[Float[Tensor, "D d"], Float[Tensor, "D d"]]:
    """Return the columns of W_q and of W_k that one head uses."""
    sizes = trace.sizes()
    group = head * sizes["H_kv"] // sizes["H"]
    w_q = trace["w_q"].unflatten(-1, (sizes["H"], -1))[:, head]  # (D, H·d_k) -> (D, d_k)
    w_k = trace["w_k"].unflatten(-1, (sizes["H_kv"], -1))[:, group]  # (D, H_kv·d_k) -> (D, d_k)
    return w_q, w_k


def seen_step(head: int) -> str:
    """Return the name of the step with the part of x that a head reads.

    >>> seen_step(0)
    'seen_1'
    """
    return f"seen_{head + 1}"


def with_sights(trace: Trace) -> Trace:
    """Add one step for each head, the part of x from which its q and k are computed: `seen_1`, `seen_2`, ..., each (B,
    T, D).

    trace: a self-attention run with x, w_q and w_k. Raises KeyError if one of these is missing.

    >>> from attention_core import AttentionConfig, Weights, attend
    >>> layer = Weights(w_q=torch.eye(2), w_k=torch.eye(2))
    >>> run = with_sights(attend(torch.tensor([[3.0, 4.0]]), weights=layer, config=AttentionConfig(heads=2)))
    >>> run["seen_2"].round()
    tensor([[[0., 4.]]])
    """
    steps = dict(trace.steps)
    seen = []
    for head in range(trace.sizes()["H"]):
        name = f"sight_{head + 1}"
        steps[name] = Step(name, sight_of(*head_matrices(trace, head)), ("D", "D_out"))
        seen.append(Operation(seen_step(head), ("B", "T", "D"), ("x", name), PROJECT))
    return replace(trace, steps=steps).then(*seen)


def take_unseen(sights: Trace, head: int) -> UnseenMove:
    """Remove from x the part that a head does not read, and measure how far the head's q and k move.

    They move by rounding errors alone. sights: a result of with_sights, which has the part of x that each head reads.

    >>> from attention_core import AttentionConfig, Weights, attend
    >>> layer = Weights(w_q=torch.eye(2), w_k=torch.eye(2))
    >>> run = attend(torch.tensor([[3.0, 4.0]]), weights=layer, config=AttentionConfig(heads=2))
    >>> move = take_unseen(with_sights(run), 1)
    >>> move.directions, move.taken, move.q < 1e-6, move.k < 1e-6
    (1, 3.0, True, True)
    """
    w_q, w_k = head_matrices(sights, head)
    unseen = sights["x"] - sights[seen_step(head)]  # (B, T, D)
    return UnseenMove(
        directions=round(sights[f"sight_{head + 1}"].trace().item()),
        taken=unseen.abs().max().item(),
        q=(unseen @ w_q).abs().max().item(),  # (B, T, D) x (D, d_k) -> (B, T, d_k)
        k=(unseen @ w_k).abs().max().item(),
    )
