"""Measures how much of what a head writes is read by a head of a later layer: Q-, K- and V-composition (Elhage et al.
2021, A Mathematical Framework for Transformer Circuits).
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import shape_of
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.plan import run_plan
from attention_core.record.cell_functions import function_of_sum
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace

COMPOSITIONS = ("q", "k", "v")  # the inputs of a head to which an earlier head may add
EARLIER = "earlier"  # axis of the earlier heads
LATER = "later"  # axis of the later head, of length 1: it broadcasts to all earlier heads
Heads = tuple[Weights, AttentionConfig]  # the matrices of a layer's heads, and their numbers


# ---- the product of two matrices, of which one may be transposed -----------------------------------------------------
def multiply(one: Float[Tensor, "E a b"], other: Float[Tensor, "#E c d"], *, turned: str) -> Float[Tensor, "E e f"]:
    one = one.mT if turned == "first" else one
    other = other.mT if turned == "second" else other
    return one @ other


def multiply_numpy(one, other, *, turned):
    letters = {"": "...ij,...jk->...ik", "first": "...ji,...jk->...ik", "second": "...ij,...kj->...ik"}
    return np.einsum(letters[turned], one, other)


def multiply_formula(one, other, *, turned):
    top = r"^{\top}"
    return rf"{one}{top if turned == 'first' else ''}\,{other}{top if turned == 'second' else ''}"


def multiply_cell(index, one: Operand, other: Operand, *, turned) -> Cell:
    head, i, k = index
    terms = []
    inner = one.shape[-2] if turned == "first" else one.shape[-1]
    for j in range(inner):
        left = (j, i) if turned == "first" else (i, j)
        right = (k, j) if turned == "second" else (j, k)
        factor = one[(head, *left)]
        terms.append((factor, other[(head, *right)]))
    return Cell(tuple(terms))


MULTIPLY = Faces(multiply, multiply_numpy, multiply_formula, multiply_cell, sign="·")


# ---- the size of a matrix product: the root of the sum of its squared numbers ----------------------------------------
def root_of_products(one: Float[Tensor, "E a b"], other: Float[Tensor, "E a b"]) -> Float[Tensor, " E"]:
    return (one * other).sum((-2, -1)).clamp(min=0).sqrt()


def root_of_products_numpy(one, other):
    return np.sqrt(np.maximum(np.einsum("...ij,...ij->...", one, other), 0))


def root_of_products_formula(one, other):
    return rf"\sqrt{{\textstyle\sum_{{ij}} ({one})_{{ij}}\,({other})_{{ij}}}}"


ROOT = function_of_sum("√", lambda total: math.sqrt(max(total, 0.0)))


def root_of_products_cell(index, one: Operand, other: Operand) -> Cell:
    rows, columns = one.shape[-2:]
    terms = []
    for i in range(rows):
        for j in range(columns):
            place = (*index, i, j)
            terms.append((one[place], other[place]))
    return Cell(tuple(terms), ROOT)


ROOT_OF_PRODUCTS = Faces(root_of_products, root_of_products_numpy, root_of_products_formula, root_of_products_cell)


# ---- the score: the size of the product of both heads' matrices, as a share of its upper bound -----------------------
def share_of_sizes(
    met: Float[Tensor, " E"], written: Float[Tensor, " E"], read: Float[Tensor, "1"]
) -> Float[Tensor, " E"]:
    return met / (written * read)


def share_of_sizes_numpy(met, written, read):
    size = np.multiply(written, read)
    return np.where(size == 0, np.nan, met / np.where(size == 0, 1, size))


def share_of_sizes_formula(met, written, read):
    return rf"\frac{{{met}}}{{{written} \cdot {read}}}"


def share_of_sizes_cell(index, met: Operand, written: Operand, read: Operand) -> Cell:
    return Cell(((met[index],), (written[index], read[index])), "quotient")


SHARE_OF_SIZES = Faces(share_of_sizes, share_of_sizes_numpy, share_of_sizes_formula, share_of_sizes_cell)


# ---- one head of a later layer ---------------------------------------------------------------------------------------
def compose(earlier: Sequence[Heads], later: Heads, head: int) -> dict[str, Trace]:
    r"""Measure how much of what each earlier head writes reaches the queries, keys and values of a later head.

    For queries the step `composition` is $\lVert W_{ov} W_{qk} \rVert_F / (\lVert W_{ov} \rVert_F \lVert W_{qk}
    \rVert_F)$ with the earlier head's $W_{ov} = W_v W_o$ and the later head's $W_{qk} = W_q W_k^\top$; for keys
    $W_{qk}^\top$ replaces $W_{qk}$, and for values the later head's $W_{ov}$ does. A score is between 0 and 1, for
    random matrices about $1/\sqrt D$. Norms, RoPE and biases are left out.

    No D by D matrix is computed: $\lVert A B \rVert_F^2$ is the sum of the products of the numbers of $A^\top A$ and $B
    B^\top$.

    earlier: weights and config of each earlier layer, in order; later: those of the later layer. head: the later head,
    from 0.

    Returns {"q", "k", "v"}: a Trace each, whose step `composition` is (earlier,), all heads of the first layer first.
    Raises AttentionError (a ValueError): missing_weight, weight_shape.

    >>> one = torch.eye(2)
    >>> copies = Weights(w_q=one, w_k=one, w_v=torch.tensor([[1.0, 0], [0, 0]]), w_o=one)
    >>> asks = Weights(w_q=one, w_k=torch.tensor([[1.0, 0], [0, 0]]), w_v=one, w_o=one)
    >>> traces = compose([(copies, AttentionConfig())], (asks, AttentionConfig()), head=0)
    >>> {name: trace["composition"].item() for name, trace in traces.items()}["q"]
    1.0
    """
    check_layers([*earlier, later])
    return read_written(write_heads(earlier), later, head)


def write_heads(earlier: Sequence[Heads]) -> Trace:
    """Return the part of a composition that is the same for all later heads: the size of what each earlier head writes.

    earlier: see compose.
    """
    written = [(cut_values(*each), cut_rows(each[0].w_o, each[1].heads)) for each in earlier]
    w_v, w_o = (torch.cat(matrices) for matrices in zip(*written, strict=True))
    inputs = {"w_v": Step("w_v", w_v, (EARLIER, "D", "d_v")), "w_o": Step("w_o", w_o, (EARLIER, "d_v", "D"))}
    plan = [
        Operation("value_products", (EARLIER, "d_v", "d_v"), ("w_v", "w_v"), MULTIPLY, {"turned": "first"}),
        Operation("output_products", (EARLIER, "d_v", "d_v"), ("w_o", "w_o"), MULTIPLY, {"turned": "second"}),
        Operation("written_size", (EARLIER,), ("value_products", "output_products"), ROOT_OF_PRODUCTS),
    ]
    return run_plan(inputs, plan)


def read_written(written: Trace, later: Heads, head: int) -> dict[str, Trace]:
    """Return the runs with the composition scores of earlier heads with each input of a later head; see compose.

    written: the result of write_heads.
    """
    weights, config = later
    group = config.heads // (config.kv_heads or config.heads)
    w_q = cut_columns(weights.w_q, config.heads)[head]
    w_k = cut_columns(weights.w_k, config.heads // group)[head // group]
    read = {
        "q": {"w_q": w_q, "w_k": w_k},
        "k": {"w_k": w_k, "w_q": w_q},
        "v": {"later_w_v": cut_values(*later)[head], "later_w_o": cut_rows(weights.w_o, config.heads)[head]},
    }
    return {name: run_composition(written, read[name]) for name in COMPOSITIONS}


def run_composition(written: Trace, read: dict[str, Tensor]) -> Trace:
    """Return the run with the composition scores of earlier heads with one input of a later head.

    written: the result of write_heads. read: the two matrices of the later head by name, the one that reads x first;
    the second is (D, d_k), or W_o.
    """
    first, second = read
    is_output = second == "later_w_o"
    width, inner = ("d_v", "d_v") if is_output else ("d_k", "d_k")
    dims = {first: (LATER, "D", width), second: (LATER, inner, "D") if is_output else (LATER, "D", inner)}
    inputs = {name: written.steps[name] for name in ("w_v", "w_o")}
    inputs |= {name: Step(name, matrix[None], dims[name]) for name, matrix in read.items()}
    rows = {"turned": "second" if is_output else "first"}  # so that the product has the inner width
    plan = [
        Operation("first_products", (LATER, width, width), (first, first), MULTIPLY, {"turned": "first"}),
        Operation("second_products", (LATER, inner, inner), (second, second), MULTIPLY, rows),
        Operation("read_size", (LATER,), ("first_products", "second_products"), ROOT_OF_PRODUCTS),
        Operation("between", (EARLIER, "d_v", width), ("w_o", first), MULTIPLY, {"turned": ""}),
        Operation("written_between", (EARLIER, "d_v", width), ("value_products", "between"), MULTIPLY, {"turned": ""}),
        Operation("between_read", (EARLIER, "d_v", width), ("between", "second_products"), MULTIPLY, {"turned": ""}),
        Operation("met_size", (EARLIER,), ("written_between", "between_read"), ROOT_OF_PRODUCTS),
        Operation("composition", (EARLIER,), ("met_size", "written_size", "read_size"), SHARE_OF_SIZES),
    ]
    return run_plan({**inputs, **written.steps}, plan)


def composition_scores(
    first: Weights, second: Weights, heads: int, kv_heads: int | None = None
) -> dict[str, Float[Tensor, "H_later H_earlier"]]:
    """Measure how strongly each head of a later layer reads the output of each head of an earlier layer; see compose.

    first, second: weights of the earlier and the later layer. heads: the number of heads of each layer. kv_heads: that
    of the heads of keys and values, if query heads share them.

    Returns {"q", "k", "v"}: matrices with a row for each later head, a column for each earlier one. Raises
    AttentionError (a ValueError) for a matrix that is missing, or that does not fit D and the heads. Source: Elhage et
    al. 2021, "Composition scores" in "Two-layer attention-only Transformers".

    >>> one, none = torch.eye(2), torch.zeros(2, 2)
    >>> copies = Weights(w_q=one, w_k=one, w_v=torch.tensor([[1.0, 0], [0, 0]]), w_o=one)
    >>> asks = Weights(w_q=one, w_k=torch.tensor([[1.0, 0], [0, 0]]), w_v=one, w_o=one)
    >>> {name: round(float(score), 2) for name, score in composition_scores(copies, asks, heads=1).items()}
    {'q': 1.0, 'k': 1.0, 'v': 0.71}
    """
    config = AttentionConfig(heads=heads, kv_heads=kv_heads)
    layers = [(first, config), (second, config)]
    check_layers(layers)
    written = write_heads(layers[:1])
    traces = [read_written(written, layers[1], head) for head in range(heads)]
    return {name: torch.stack([trace[name]["composition"] for trace in traces]) for name in COMPOSITIONS}


# ---- the matrices of single heads ------------------------------------------------------------------------------------
def cut_columns(matrix: Float[Tensor, "D H*d"], heads: int) -> Float[Tensor, "H D d"]:
    """Return, for each head, its columns of a matrix."""
    return matrix.unflatten(-1, (heads, -1)).movedim(-2, 0)


def cut_rows(matrix: Float[Tensor, "H*d D"], heads: int) -> Float[Tensor, "H d D"]:
    """Return, for each head, its rows of a matrix."""
    return matrix.unflatten(0, (heads, -1))


def cut_values(weights: Weights, config: AttentionConfig) -> Float[Tensor, "H D d_v"]:
    """Return, for each query head, the columns of W_v that it reads; heads of a group share them."""
    own = config.kv_heads or config.heads
    return cut_columns(weights.w_v, own).repeat_interleave(config.heads // own, 0)


def check_layers(layers: Sequence[Heads]) -> None:
    """Check the four matrices of each layer; see check_head_matrices."""
    for weights, config in layers:
        check_head_matrices(weights, config.heads, config.kv_heads or config.heads)


def check_head_matrices(weights: Weights, heads: int, kv_heads: int) -> None:
    """Check that the four matrices fit each other, and the heads. Raises AttentionError: missing_weight,
    weight_shape.
    """
    given = weights.given()
    for name in ("w_q", "w_k", "w_v", "w_o"):
        if name not in given:
            raise AttentionError("missing_weight", kind="composition_scores", weight=name)
    D, width = shape_of(given["w_q"])
    d_k, d_v = width // heads, len(given["w_o"]) // heads
    shapes = {"w_q": (D, heads * d_k), "w_k": (D, kv_heads * d_k)}
    shapes |= {"w_v": (D, kv_heads * d_v), "w_o": (heads * d_v, D)}
    for name, shape in shapes.items():
        if shape_of(given[name]) != shape or heads % kv_heads:
            raise AttentionError("weight_shape", weight=name, axes=str(shape), shape=shape_of(given[name]))
