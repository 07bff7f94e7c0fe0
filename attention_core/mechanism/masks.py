"""Who may attend to whom. True = may attend, as in torch's scaled_dot_product_attention.

A mask is a predicate on (b, h, i, j) and its parameters; i is the query's position, j the key's. The same predicate
runs on whole index tensors and on one cell's whole numbers; the NumPy twin builds the same matrix another way.
`query_offset` is where query 0 stands among the keys: under a causal mask its offset (S - T where none is set: lower
right, as in decoding), else 0.
A new mask is one block here and its line in MASKS, which declares its parameters.
"""

import inspect
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.trace import Faces


def indices(scores: Float[Tensor, "B H T S"]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """b, h, i and j, each along its own axis of (B, H, T, S), so that a predicate broadcasts only where it looks."""
    b, h, i, j = (torch.arange(size, device=scores.device) for size in scores.shape)
    return b.view(-1, 1, 1, 1), h.view(-1, 1, 1), i.view(-1, 1), j  # (B, 1, 1, 1), (H, 1, 1), (T, 1), (S,)


def truth_cell(value, text: str) -> Cell:
    """The cell of a mask: 1 or 0, with the comparison that decided it."""
    return Cell(((Constant(float(bool(value)), text),),))


# ---- causal: no key after the query ----------------------------------------------------------------------------------
def causal(b, h, i, j, *, query_offset):
    return j <= i + query_offset


def causal_mask(scores: Float[Tensor, "B H T S"], *, query_offset: int) -> Bool[Tensor, "1 1 T S"]:
    return causal(*indices(scores), query_offset=query_offset)[None, None]


def causal_mask_numpy(scores, *, query_offset):
    return np.tri(*scores.shape[-2:], query_offset, dtype=bool)[None, None]


def causal_formula(scores, *, query_offset):
    return rf"j \le i{query_offset:+d}" if query_offset else r"j \le i"


def causal_cell(index, scores: Operand, *, query_offset) -> Cell:
    *_, i, j = index
    return truth_cell(causal(*index, query_offset=query_offset), f"{j} ≤ {i + query_offset}")


CAUSAL = Faces(causal_mask, causal_mask_numpy, causal_formula, causal_cell)


# ---- local: keys at most `window` away, on both sides ----------------------------------------------------------------
def local(b, h, i, j, *, window, query_offset):
    return abs(i + query_offset - j) <= window


def local_mask(scores: Float[Tensor, "B H T S"], *, window: int, query_offset: int) -> Bool[Tensor, "1 1 T S"]:
    return local(*indices(scores), window=window, query_offset=query_offset)[None, None]


def local_mask_numpy(scores, *, window, query_offset):
    T, S = scores.shape[-2:]
    return (np.tri(T, S, query_offset + window, dtype=bool) & ~np.tri(T, S, query_offset - window - 1, dtype=bool))[
        None, None
    ]


def local_formula(scores, *, window, query_offset):
    return rf"|i{query_offset:+d} - j| \le {window}" if query_offset else rf"|i - j| \le {window}"


def local_cell(index, scores: Operand, *, window, query_offset) -> Cell:
    *_, i, j = index
    return truth_cell(local(*index, window=window, query_offset=query_offset), f"|{i + query_offset} − {j}| ≤ {window}")


LOCAL = Faces(local_mask, local_mask_numpy, local_formula, local_cell)


# ---- sliding: the last `window` keys, the query's own position included (Beltagy et al. 2020, causal form) -----------
def sliding(b, h, i, j, *, window, query_offset):
    return (j <= i + query_offset) & (j > i + query_offset - window)


def sliding_mask(scores: Float[Tensor, "B H T S"], *, window: int, query_offset: int) -> Bool[Tensor, "1 1 T S"]:
    return sliding(*indices(scores), window=window, query_offset=query_offset)[None, None]


def sliding_mask_numpy(scores, *, window, query_offset):
    T, S = scores.shape[-2:]
    return np.logical_xor(np.tri(T, S, query_offset, dtype=bool), np.tri(T, S, query_offset - window, dtype=bool))[
        None, None
    ]


def sliding_formula(scores, *, window, query_offset):
    i = f"i{query_offset:+d}" if query_offset else "i"
    return rf"{i} - {window} < j \le {i}"


def sliding_cell(index, scores: Operand, *, window, query_offset) -> Cell:
    *_, i, j = index
    return truth_cell(
        sliding(*index, window=window, query_offset=query_offset),
        f"{i + query_offset - window} < {j} ≤ {i + query_offset}",
    )


SLIDING = Faces(sliding_mask, sliding_mask_numpy, sliding_formula, sliding_cell)


# ---- padding: only the real tokens of each sequence, `lengths` of them -----------------------------------------------
def padding(b, h, i, j, *, lengths):
    return j < lengths[b]


def padding_mask(scores: Float[Tensor, "B H T S"], *, lengths: tuple[int, ...]) -> Bool[Tensor, "B 1 1 S"]:
    return padding(*indices(scores), lengths=torch.tensor(lengths, device=scores.device))


def padding_mask_numpy(scores, *, lengths):
    real = np.zeros((scores.shape[0], 1, 1, scores.shape[-1]), dtype=bool)
    for sequence, length in enumerate(lengths):
        real[sequence, ..., :length] = True
    return real


def padding_formula(scores, *, lengths):
    return r"j < \mathrm{length}_b"


def padding_cell(index, scores: Operand, *, lengths) -> Cell:
    b, *_, j = index
    return truth_cell(padding(*index, lengths=lengths), f"{j} < {lengths[b]}")


PADDING = Faces(padding_mask, padding_mask_numpy, padding_formula, padding_cell)


# ---- local plus global: near keys, and tokens that attend to all and are attended by all (Beltagy et al. 2020) -------
def local_global(b, h, i, j, *, window, global_tokens, query_offset):
    allowed = abs(i + query_offset - j) <= window
    for token in global_tokens:
        allowed = allowed | (i + query_offset == token) | (j == token)
    return allowed


def local_global_mask(
    scores: Float[Tensor, "B H T S"], *, window: int, global_tokens: tuple[int, ...], query_offset: int
) -> Bool[Tensor, "1 1 T S"]:
    return local_global(*indices(scores), window=window, global_tokens=global_tokens, query_offset=query_offset)[
        None, None
    ]


def local_global_mask_numpy(scores, *, window, global_tokens, query_offset):
    allowed = local_mask_numpy(scores, window=window, query_offset=query_offset).copy()
    for token in global_tokens:
        if token >= 0:
            allowed[..., token : token + 1] = True  # none where only a query stands there
        if 0 <= token - query_offset < scores.shape[-2]:
            allowed[..., token - query_offset, :] = True
    return allowed


def local_global_formula(scores, *, window, global_tokens, query_offset):
    tokens = ", ".join(map(str, global_tokens))
    return (
        local_formula(scores, window=window, query_offset=query_offset)
        + rf" \;\lor\; i \in \{{{tokens}\}} \;\lor\; j \in \{{{tokens}\}}"
    )


def local_global_cell(index, scores: Operand, *, window, global_tokens, query_offset) -> Cell:
    *_, i, j = index
    value = local_global(*index, window=window, global_tokens=global_tokens, query_offset=query_offset)
    tokens = ", ".join(map(str, global_tokens))
    return truth_cell(value, f"|{i + query_offset} − {j}| ≤ {window}, or {i + query_offset} or {j} in {{{tokens}}}")


LOCAL_GLOBAL = Faces(local_global_mask, local_global_mask_numpy, local_global_formula, local_global_cell)


# ---- several masks at once: all must allow ---------------------------------------------------------------------------
def all_allow(first: Bool[Tensor, "#B #H #T S"], *others: Bool[Tensor, "#B #H #T S"]) -> Bool[Tensor, "#B #H T S"]:
    for other in others:
        first = first & other
    return first


def all_allow_numpy(*masks):
    return np.logical_and.reduce(np.broadcast_arrays(*masks))


def all_allow_formula(*masks):
    return r" \land ".join(masks)


def all_allow_cell(index, *masks: Operand) -> Cell:
    return Cell((tuple(mask[index] for mask in masks),))


ALL_ALLOW = Faces(all_allow, all_allow_numpy, all_allow_formula, all_allow_cell)


# ---- the other convention, where it is taught ------------------------------------------------------------------------
def to_mha_mask(allowed: Bool[Tensor, "*axes"]) -> Bool[Tensor, "*axes"]:
    """torch.nn.MultiheadAttention's mask from ours: there True means blocked.

    allowed: boolean, any shape that is to be handed over, (T, S) or (B H, T, S). Source: the `attn_mask` of torch's
    documentation of MultiheadAttention.

    >>> to_mha_mask(torch.tensor([[True, False]]))
    tensor([[False,  True]])
    """
    return ~allowed


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Parameter:
    """A whole number that a mask takes, or several of them.

    least: 0 or 1, below which none may be; None where only the sizes of a run say what fits (plan.check_mask_sizes).
    several: a tuple or a list of them.
    """

    name: str
    least: int | None = None
    several: bool = False

    def __post_init__(self):
        if self.least not in (None, 0, 1):
            raise ValueError(f"the least value of {self.name} must be None, 0 or 1: got {self.least!r}")


@dataclass(frozen=True)
class Mask:
    """A mask by name.

    faces: what it computes. parameters: those it needs. is_causal: whether it sets the run's query offset.
    uses_position: whether its faces take `query_offset`.

    Raises ValueError where the parameters are not those that its torch function takes by keyword.
    """

    faces: Faces
    parameters: tuple[Parameter, ...] = ()
    is_causal: bool = False
    uses_position: bool = True

    def __post_init__(self):
        arguments = inspect.signature(self.faces.torch).parameters.values()
        taken = sorted(each.name for each in arguments if each.kind is inspect.Parameter.KEYWORD_ONLY)
        declared = sorted((*self.needs, *(["query_offset"] if self.uses_position else [])))
        if declared != taken:
            name, takes = self.faces.torch.__name__, ", ".join(taken)
            raise ValueError(f"{name} takes {takes}: declared are {', '.join(declared)}")

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(parameter.name for parameter in self.parameters)


WINDOW = Parameter("window", least=0)
OWN_WINDOW = Parameter("window", least=1)  # the query's own position is one of them
LENGTHS = Parameter("lengths", several=True)
GLOBAL_TOKENS = Parameter("global_tokens", several=True)

MASKS = {
    "causal": Mask(CAUSAL, is_causal=True),
    "local": Mask(LOCAL, (WINDOW,)),
    "sliding": Mask(SLIDING, (OWN_WINDOW,), is_causal=True),
    "padding": Mask(PADDING, (LENGTHS,), uses_position=False),
    "local_global": Mask(LOCAL_GLOBAL, (WINDOW, GLOBAL_TOKENS)),
}
