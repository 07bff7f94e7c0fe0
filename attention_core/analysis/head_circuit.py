"""The QK and OV circuits of heads: what they would do with single words, whatever the sentence.

QK is the score of each word for each other, and OV how an attended word changes the logits (Elhage et al. 2021, A
Mathematical Framework for Transformer Circuits).
"""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_contributions import CONTRIBUTE
from attention_core.mechanism.attention import attend
from attention_core.mechanism.checks import shape_of
from attention_core.mechanism.config import AttentionConfig, Weights
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
    r"""Run a layer's heads on single words, without masks and positions.

    QK: $E W_q W_k^\top E^\top / \sqrt{d_k}$, the step `scaled_scores` (B, H, T, S). OV: $E W_v W_{o,h}$, the step
    `written` (B, H, S, D_out): what a head that attends to one word alone adds to the vector of the query.

    x (T, D) or (B, T, D): the words' own vectors, a row of the embedding each. weights, config: of the layer; its norm
    before is kept. key, value: the inputs of keys and values if not x, such as what a head of an earlier layer has
    written (K-composition). What layers in between would add is left out: for a later layer this is the direct path
    alone.

    Returns a Trace. Raises AttentionError (a ValueError) if heads share their values, if there is no W_o, and if sizes
    do not fit. Source: Elhage et al. 2021, "QK and OV circuits".

    >>> heads = Weights(w_q=torch.eye(2), w_k=torch.eye(2), w_v=torch.eye(2), w_o=2 * torch.eye(2))
    >>> trace = head_circuit(torch.eye(2), heads, AttentionConfig(score="dot"))
    >>> trace["scaled_scores"][0, 0], trace["written"][0, 0]
    (tensor([[1., 0.],
            [0., 1.]]), tensor([[2., 0.],
            [0., 2.]]))
    """
    if weights.w_o is None:
        raise AttentionError("missing_weight", kind="head_circuit", weight="w_o")
    if config.kv_heads not in (None, config.heads):
        raise AttentionError("unknown_choice", name="kv_heads", choices=config.heads, given=config.kv_heads)
    alone = replace(config, masks=(), positions=(), residual=False)
    trace = attend(x, key, value, weights=weights, config=alone)
    return trace.then(Operation("written", WRITTEN_DIMS, ("v", "w_o"), CONTRIBUTE))


def with_pushes(trace: Trace, table: Float[Tensor, "V D"], gain: Float[Tensor, " D"] | None = None) -> Trace:
    r"""Add the step `writes` (B, H, S, V): how a head that attends to one word alone changes the logit of each word.

    $E W_v W_{o,h}\,\mathrm{diag}(g)\,U^\top$, before the last norm divides.

    trace: of head_circuit. table (V, D): the unembedding, a row for each word. gain (D): of the last norm. Returns a
    Trace. Raises AttentionError (a ValueError) if sizes do not fit. Source: Elhage et al. 2021,
    "QK and OV circuits".

    >>> heads = Weights(w_q=torch.eye(2), w_k=torch.eye(2), w_v=torch.eye(2), w_o=2 * torch.eye(2))
    >>> trace = head_circuit(torch.eye(2), heads, AttentionConfig(score="dot"))
    >>> with_pushes(trace, torch.tensor([[1.0, 1.0]]), torch.tensor([1.0, 3.0]))["writes"].flatten()
    tensor([2., 6.])
    """
    trace = holding_table(trace, table, "written")
    if gain is None:
        return trace.then(Operation("writes", PUSHED_DIMS, ("written", "table"), MEET_ROWS))
    if shape_of(gain) != (table.shape[1],):
        raise AttentionError("weight_shape", weight="g_last", axes=f"({table.shape[1]},)", shape=shape_of(gain))
    trace = replace(trace, steps={"g_last": Step("g_last", gain, ("D_out",)), **trace.steps})
    gained = Operation("gained", WRITTEN_DIMS, ("written", "g_last"), TIMES_GAIN)
    return trace.then(gained, Operation("writes", PUSHED_DIMS, ("gained", "table"), MEET_ROWS))


def with_answers(trace: Trace, w_answers: Float[Tensor, "H d_v D"], table: Float[Tensor, "V D"]) -> Trace:
    r"""Add the step `answers` (B, H, S, V): the score of each word as the answer of a head that attends to one word.

    $E W_v W_{a,h}\,U^\top$, for a model whose answers are read out of one head each.

    trace: of head_circuit. w_answers (H, d_v, D): a matrix for each head. table (V, D): a row for each word. Returns a
    Trace. Raises AttentionError (a ValueError) if sizes do not fit.

    >>> heads = Weights(w_q=torch.eye(2), w_k=torch.eye(2), w_v=torch.eye(2), w_o=torch.eye(2))
    >>> trace = head_circuit(torch.eye(2), heads, AttentionConfig(score="dot"))
    >>> with_answers(trace, 5 * torch.eye(2)[None], torch.tensor([[1.0, 1.0]]))["answers"].flatten()
    tensor([5., 5.])
    """
    _, H, _, d_v = trace.step("v").shape
    if w_answers.dim() != 3 or shape_of(w_answers)[:2] != (H, d_v):
        raise AttentionError("weight_shape", weight="w_answers", axes=f"({H}, {d_v}, D)", shape=shape_of(w_answers))
    rows = w_answers.flatten(0, 1)  # (H, d_v, D) -> (H * d_v, D)
    trace = replace(trace, steps={"w_answers": Step("w_answers", rows, ("H·d_v", "D_out")), **trace.steps})
    trace = trace.then(Operation("answered", WRITTEN_DIMS, ("v", "w_answers"), CONTRIBUTE))
    trace = holding_table(trace, table, "answered")
    return trace.then(Operation("answers", PUSHED_DIMS, ("answered", "table"), MEET_ROWS))


def holding_table(trace: Trace, table: Float[Tensor, "V D"], read: str) -> Trace:
    """The run with the unembedding as a further input. Raises AttentionError if step `read` has another width."""
    width = trace.step(read).shape[-1]
    if table.dim() != 2 or table.shape[1] != width:
        raise AttentionError("weight_shape", weight="table", axes=f"(V, {width})", shape=shape_of(table))
    return replace(trace, steps={"table": Step("table", table, ("V", "D_out")), **trace.steps})


def copying_score(written: Float[Tensor, "*heads V D"], rows: Float[Tensor, "V D"]) -> Float[Tensor, "*heads"]:
    r"""Measure whether heads copy: $\sum_i \mathrm{Re}\,\lambda_i / \sum_i |\lambda_i|$ of an OV circuit.

    It is 1 if words raise their own logits and those of similar words, -1 if they lower them, and about 0 if neither.
    The V by V matrix `written` times `rows` transposed has the same eigenvalues as the D by D matrix `rows` transposed
    times `written`, and zeros.

    written (..., V, D): what heads write for each single word, such as the step `written` of head_circuit. rows (V, D):
    the unembedding times the gain of the last norm. Heads that write nothing have NaN.

    Source: Elhage et al. 2021, "Copying / primitive in-context learning", "Detecting copying behavior".

    >>> copying_score(torch.tensor([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [-1.0, 0.0]]]), torch.eye(2))
    tensor([1., 0.])
    """
    turned = rows.mT @ written  # (D, V) x (..., V, D) -> (..., D, D)
    eigenvalues = torch.linalg.eigvals(turned)  # (..., D)
    return eigenvalues.real.sum(-1) / eigenvalues.abs().sum(-1)
