"""Splits the output of attention into what each head adds, computes it without one head, and compares the weights of
two heads.

concat(heads) W_o = sum over h of head_h W_o,h, where W_o,h is the block of rows of W_o that head h uses (Elhage et al.
2021, A Mathematical Framework for Transformer Circuits, "attention heads are independent and additive"). The bias b_o
belongs to no head.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.trace import Faces, Operation, Trace


# ---- contribute: each head through its own rows of W_o ---------------------------------------------------------------
def contribute(
    head_outputs: Float[Tensor, "B H_kv T d_v"], w_o: Float[Tensor, "H*d_v D_out"]
) -> Float[Tensor, "B H T D_out"]:
    d_v = head_outputs.shape[-1]
    blocks = w_o.unflatten(0, (-1, d_v))  # (H * d_v, D_out) -> (H, d_v, D_out): d_v rows per head
    group = len(blocks) // head_outputs.shape[1]
    own = head_outputs.repeat_interleave(group, dim=1)  # (B, H_kv, T, d_v) -> (B, H, T, d_v)
    return own @ blocks  # (B, H, T, d_v) x (H, d_v, D_out) -> (B, H, T, D_out)


def contribute_numpy(head_outputs, w_o):
    shared, d_v = head_outputs.shape[1], head_outputs.shape[-1]
    blocks = w_o.reshape(shared, -1, d_v, w_o.shape[-1])  # (H_kv, heads of a group, d_v, D_out)
    grouped = np.einsum("bktm,kgmn->bkgtn", head_outputs, blocks)
    return grouped.reshape(len(grouped), -1, *grouped.shape[3:])


def contribute_formula(head_outputs, w_o):
    return rf"{head_outputs}_h\,\mathrm{{rows}}_h({w_o})"


def contribute_cell(index, head_outputs: Operand, w_o: Operand) -> Cell:
    b, h, t, n = index
    d_v = head_outputs.shape[-1]
    first_row = h * d_v
    group = w_o.shape[0] // (d_v * head_outputs.shape[1])
    terms = []
    for m in range(d_v):
        weight = w_o[first_row + m, n]
        terms.append((head_outputs[b, h // group, t, m], weight))
    return Cell(tuple(terms))


CONTRIBUTE = Faces(contribute, contribute_numpy, contribute_formula, contribute_cell)


# ---- place: without W_o each head fills its own columns of the output ------------------------------------------------
def place_head(head_outputs: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B H T H*d_v"]:
    H = head_outputs.shape[1]
    same = torch.eye(H, dtype=torch.bool, device=head_outputs.device)  # (H, H)
    own = same.view(H, 1, H, 1)
    placed = torch.where(own, head_outputs.unsqueeze(3), 0.0)  # (B, H, T, H, d_v)
    return placed.flatten(3)  # (B, H, T, H, d_v) -> (B, H, T, H * d_v)


def place_head_numpy(head_outputs):
    B, H, T, d_v = head_outputs.shape
    placed = np.zeros((B, H, T, H * d_v))
    for h in range(H):
        first = h * d_v
        placed[:, h, :, first : first + d_v] = head_outputs[:, h]
    return placed


def place_head_formula(head_outputs):
    return rf"\mathrm{{columns}}_h({head_outputs}_h)"


def place_head_cell(index, head_outputs: Operand) -> Cell:
    b, h, t, n = index
    owner, m = divmod(n, head_outputs.shape[-1])
    number = Constant(0.0)
    if owner == h:
        number = head_outputs[b, h, t, m]
    return Cell(((number,),))


PLACE_HEAD = Faces(place_head, place_head_numpy, place_head_formula, place_head_cell)


# ---- leave out: the output less what one head adds; the bias stays ---------------------------------------------------
def leave_out(
    output: Float[Tensor, "B T D_out"], contributions: Float[Tensor, "B H T D_out"], *, head: int
) -> Float[Tensor, "B T D_out"]:
    return output - contributions[:, head]


def leave_out_numpy(output, contributions, *, head):
    bias = output - contributions.sum(1)  # (B, T, D_out): the bias b_o
    return np.delete(contributions, head, axis=1).sum(1) + bias


def leave_out_formula(output, contributions, *, head):
    return rf"{output} - {contributions}_{{h = {head}}}"


def leave_out_cell(index, output: Operand, contributions: Operand, *, head) -> Cell:
    b, t, n = index
    minus_one = Constant(-1.0, "−1")
    contribution = contributions[b, head, t, n]
    return Cell(((output[index],), (contribution, minus_one)))


LEAVE_OUT = Faces(leave_out, leave_out_numpy, leave_out_formula, leave_out_cell)


# ---- alike: 1 less the total variation distance of two heads' weights, for each query --------------------------------
def compare_heads(weights: Float[Tensor, "B H T S"]) -> Float[Tensor, "B T H H"]:
    rows = weights.transpose(1, 2)  # (B, T, H, S)
    heads = range(rows.shape[2])
    apart = [(rows - rows[:, :, h, None]).abs().sum(-1) for h in heads]  # each (B, T, H): distances to head h
    distances = torch.stack(apart, dim=-1)  # (B, T, H, H)
    return 1 - distances / 2


def compare_heads_numpy(weights):
    rows = np.swapaxes(weights, 1, 2)  # (B, T, H, S)
    one = rows[:, :, :, None]  # (B, T, H, 1, S)
    other = rows[:, :, None]  # (B, T, 1, H, S)
    both = np.minimum(one, other)  # (B, T, H, H, S): minima, because |a - b| = a + b - 2 min(a, b)
    shared = both.sum(-1)  # (B, T, H, H)
    totals = one.sum(-1) + other.sum(-1)
    return 1 + shared - totals / 2


def compare_heads_formula(weights):
    return rf"1 - \tfrac{{1}}{{2}} \textstyle\sum_S |{weights}_h - {weights}_g|"


def compare_heads_cell(index, weights: Operand) -> Cell:
    b, t, h, g = index
    pairs = []
    for s in range(weights.shape[-1]):
        one = weights[b, h, t, s]
        other = weights[b, g, t, s]
        pairs.append((one, other))
    return Cell(tuple(pairs), function="alike")


COMPARE_HEADS = Faces(compare_heads, compare_heads_numpy, compare_heads_formula, compare_heads_cell)


# ---- mean over the queries -------------------------------------------------------------------------------------------
def mean_of_queries(rows: Float[Tensor, "B T H H"]) -> Float[Tensor, "B H H"]:
    return rows.mean(1)


def mean_of_queries_numpy(rows):
    return rows.sum(1) / rows.shape[1]


def mean_of_queries_formula(rows):
    return rf"\tfrac{{1}}{{T}} \textstyle\sum_T {rows}"


def mean_of_queries_cell(index, rows: Operand) -> Cell:
    b, h, g = index
    T = rows.shape[1]
    share = Constant(1 / T, f"1/{T}")
    terms = []
    for t in range(T):
        cell = (b, t, h, g)
        terms.append((rows[cell], share))
    return Cell(tuple(terms))


MEAN_OF_QUERIES = Faces(mean_of_queries, mean_of_queries_numpy, mean_of_queries_formula, mean_of_queries_cell)


# ---- appended to a run -----------------------------------------------------------------------------------------------
def with_contributions(trace: Trace) -> Trace:
    r"""Add the step `contributions` (B, H, T, D_out) to a run: what each head adds to the output.

    $\mathrm{concat}(Z) W_o = \sum_h Z_h W_{o,h}$; the contributions of all heads and the bias b_o sum to the output.
    Without W_o a contribution has the head's output in the columns of that head, and 0 in all others.

    trace: any run. Source: Vaswani et al. 2017, section 3.2.2, split into blocks as in Elhage et al. 2021.

    >>> from attention_core import Weights, attend_qkv
    >>> v = torch.tensor([[[[3.0]], [[5.0]]]])  # (B, H, S, d_v): one key, two heads
    >>> trace = attend_qkv(v, v, v, weights=Weights(w_o=torch.tensor([[10.0], [-1.0]])))
    >>> with_contributions(trace)["contributions"].flatten(), trace["output"].flatten()
    (tensor([30., -5.]), tensor([25.]))
    """
    if "contributions" in trace:
        return trace
    B, T, width = trace.step("output").dims
    dims = (B, "H", T, width)
    heads = trace.step("concat").operation.reads  # the steps with the heads' outputs, after an output gate
    if "w_o" in trace:
        operation = Operation("contributions", dims, (*heads, "w_o"), CONTRIBUTE)
    else:
        operation = Operation("contributions", dims, heads, PLACE_HEAD)
    return trace.then(operation)


def without_head(trace: Trace, head: int) -> Trace:
    """Add two steps to a run: `contributions`, and `without_head`, the output with one head ablated.

    The head's contribution is subtracted from the output. The bias b_o and the weights of the other heads stay as they
    are, because nothing is trained again (Michel, Levy, Neubig 2019, Are Sixteen Heads Really Better than One?, section
    2.3).

    trace: any run. head: the index of the ablated head, from 0 to H - 1. Raises AttentionError (a ValueError) for
    another index.

    >>> from attention_core import attend_qkv
    >>> v = torch.tensor([[[[3.0]], [[5.0]]]])
    >>> without_head(attend_qkv(v, v, v), head=1)["without_head"]
    tensor([[[3., 0.]]])
    """
    heads = range(trace.sizes()["H"])
    if head not in heads:
        choices = ", ".join(map(str, heads))
        raise AttentionError("unknown_choice", name="head", choices=choices, given=head)
    operation = Operation(
        "without_head",
        dims=trace.step("output").dims,
        reads=("output", "contributions"),
        faces=LEAVE_OUT,
        params={"head": head},
    )
    return with_contributions(trace).then(operation)


def with_likeness(trace: Trace) -> Trace:
    r"""Add two steps to a run: `row_likeness` (B, T, H, H'), and `likeness` (B, H, H'), its mean over the queries.

    The likeness of two heads for a query is $1 - \frac12 \sum_s |a_s - b_s|$ of their rows of weights. Since rows sum
    to 1, this is $\sum_s \min(a_s, b_s)$, the attention that both heads give to the same keys. The likeness is 1 if the
    heads have the same weights, and 0 if no key gets weight from both. Two rows without an allowed key count as equal.
    Clark et al. 2019 (What Does BERT Look At?, section 6) compare heads by the Jensen-Shannon divergence; this distance
    needs no logarithm.

    trace: any run; the mean includes the queries of padding. Source: the total variation distance, as in Levin, Peres,
    Wilmer 2009, Markov Chains and Mixing Times, proposition 4.2.

    >>> from attention_core import attend_qkv
    >>> q = torch.zeros(1, 2, 1, 1)  # two heads, one query
    >>> given = torch.tensor([[[[0.75, 0.25]], [[0.25, 0.75]]]])
    >>> with_likeness(attend_qkv(q, q.expand(1, 2, 2, 1), q.expand(1, 2, 2, 1), replacement=given))["likeness"]
    tensor([[[1.0000, 0.5000],
             [0.5000, 1.0000]]])
    """
    rows = Operation(
        "row_likeness",
        dims=("B", "T", "H", "H'"),
        reads=("weights",),
        faces=COMPARE_HEADS,
    )
    means = Operation(
        "likeness",
        dims=("B", "H", "H'"),
        reads=("row_likeness",),
        faces=MEAN_OF_QUERIES,
    )
    return trace.then(rows, means)


def find_carried(trace: Trace, column: int) -> Float[Tensor, "B H S"]:
    """Return what each word's value adds to one output column through each head if its weight is 1: v W_o,h.

    Multiplied by the weights and summed over words and heads, this gives that column without a bias. Only for runs with
    W_o.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> find_carried(attend(torch.eye(2), weights=Weights(w_o=torch.tensor([[1.0], [3.0]]))), 0)
    tensor([[[1., 3.]]])
    """
    return contribute(trace["v"], trace["w_o"])[..., column]  # (B, H, S, D_out) -> (B, H, S)
