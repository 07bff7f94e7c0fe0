"""Computes masks: which query may attend to which key. True = may attend, as in torch's scaled_dot_product_attention.

A mask is a function of (b, h, i, j) and its parameters that returns whether query i may attend to key j. The same
function is called with index tensors, and with the integers of one cell. The NumPy version builds the same matrix in
another way.

`query_offset` is the position of query 0 among the keys. With a causal mask it is the mask's offset, or S - T if none
is set (the last query is at the last key, as in decoding). Without a causal mask it is 0.

A new mask needs one section in this file, and an entry in MASKS that declares its parameters.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.parameters import KEY_COUNT, KEY_PLACE, Parameter, check_declared, names_of
from attention_core.record.expressions import Cell, Constant, Operand, product_cell
from attention_core.record.trace import Faces


def indices(scores: Float[Tensor, "B H T S"]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Returns the indices b, h, i and j, each along its own axis of (B, H, T, S), so that a predicate broadcasts only
    over what it uses.
    """
    b, h, i, j = (torch.arange(size, device=scores.device) for size in scores.shape)
    b = b.view(-1, 1, 1, 1)  # (B, 1, 1, 1)
    h = h.view(-1, 1, 1)  # (H, 1, 1)
    i = i.view(-1, 1)  # (T, 1)
    return b, h, i, j


def query_symbol(query_offset: int) -> str:
    """Returns the position of query i among the keys in LaTeX: i, or i+2 if query 0 is at position 2."""
    if query_offset == 0:
        return "i"
    return f"i{query_offset:+d}"


def truth_cell(value, comparison: str) -> Cell:
    """Returns the cell of a mask: 1 or 0, with the text of the comparison that decided it."""
    number = float(bool(value))
    return product_cell(Constant(number, comparison))


# ---- causal: no key after the query ----------------------------------------------------------------------------------
def causal(b, h, i, j, *, query_offset):
    return j <= i + query_offset


def causal_mask(scores: Float[Tensor, "B H T S"], *, query_offset: int) -> Bool[Tensor, "1 1 T S"]:
    allowed = causal(*indices(scores), query_offset=query_offset)
    return allowed[None, None]  # (T, S) -> (1, 1, T, S)


def causal_mask_numpy(scores, *, query_offset):
    T, S = scores.shape[-2:]
    allowed = np.tri(T, S, query_offset, dtype=bool)
    return allowed[None, None]


def causal_formula(scores, *, query_offset):
    return rf"j \le {query_symbol(query_offset)}"


def causal_cell(index, scores: Operand, *, query_offset) -> Cell:
    *_, i, j = index
    query = i + query_offset
    allowed = causal(*index, query_offset=query_offset)
    return truth_cell(allowed, f"{j} ≤ {query}")


CAUSAL = Faces(causal_mask, causal_mask_numpy, causal_formula, causal_cell)


# ---- local: keys at most `window` away, on both sides ----------------------------------------------------------------
def local(b, h, i, j, *, window, query_offset):
    return abs(i + query_offset - j) <= window


def local_mask(scores: Float[Tensor, "B H T S"], *, window: int, query_offset: int) -> Bool[Tensor, "1 1 T S"]:
    allowed = local(*indices(scores), window=window, query_offset=query_offset)
    return allowed[None, None]  # (T, S) -> (1, 1, T, S)


def local_mask_numpy(scores, *, window, query_offset):
    T, S = scores.shape[-2:]
    up_to_last = np.tri(T, S, query_offset + window, dtype=bool)
    before_first = np.tri(T, S, query_offset - window - 1, dtype=bool)
    allowed = up_to_last & ~before_first
    return allowed[None, None]


def local_formula(scores, *, window, query_offset):
    return rf"|{query_symbol(query_offset)} - j| \le {window}"


def local_cell(index, scores: Operand, *, window, query_offset) -> Cell:
    *_, i, j = index
    query = i + query_offset
    allowed = local(*index, window=window, query_offset=query_offset)
    return truth_cell(allowed, f"|{query} − {j}| ≤ {window}")


LOCAL = Faces(local_mask, local_mask_numpy, local_formula, local_cell)


# ---- sliding: the last `window` keys, the query's own position included (Beltagy et al. 2020, causal form) -----------
def sliding(b, h, i, j, *, window, query_offset):
    last = i + query_offset
    return (j <= last) & (j > last - window)


def sliding_mask(scores: Float[Tensor, "B H T S"], *, window: int, query_offset: int) -> Bool[Tensor, "1 1 T S"]:
    allowed = sliding(*indices(scores), window=window, query_offset=query_offset)
    return allowed[None, None]  # (T, S) -> (1, 1, T, S)


def sliding_mask_numpy(scores, *, window, query_offset):
    T, S = scores.shape[-2:]
    up_to_last = np.tri(T, S, query_offset, dtype=bool)
    before_first = np.tri(T, S, query_offset - window, dtype=bool)
    allowed = np.logical_xor(up_to_last, before_first)
    return allowed[None, None]


def sliding_formula(scores, *, window, query_offset):
    i = query_symbol(query_offset)
    return rf"{i} - {window} < j \le {i}"


def sliding_cell(index, scores: Operand, *, window, query_offset) -> Cell:
    *_, i, j = index
    query = i + query_offset
    allowed = sliding(*index, window=window, query_offset=query_offset)
    return truth_cell(allowed, f"{query - window} < {j} ≤ {query}")


SLIDING = Faces(sliding_mask, sliding_mask_numpy, sliding_formula, sliding_cell)


# ---- dilated: `window` keys to each side, `dilation` apart (Beltagy et al. 2020, section 3.1) ------------------------
def dilated(b, h, i, j, *, window, dilation, query_offset):
    distance = abs(i + query_offset - j)
    return (distance <= window * dilation) & (distance % dilation == 0)


def dilated_mask(
    scores: Float[Tensor, "B H T S"], *, window: int, dilation: int, query_offset: int
) -> Bool[Tensor, "1 1 T S"]:
    allowed = dilated(*indices(scores), window=window, dilation=dilation, query_offset=query_offset)
    return allowed[None, None]  # (T, S) -> (1, 1, T, S)


def dilated_mask_numpy(scores, *, window, dilation, query_offset):
    T, S = scores.shape[-2:]
    reach = min(window, (T + S + abs(query_offset)) // dilation)  # larger distances lie outside the matrix
    allowed = np.zeros((T, S), dtype=bool)
    for step in range(-reach, reach + 1):
        diagonal = np.eye(T, S, query_offset + step * dilation, dtype=bool)
        allowed = allowed | diagonal
    return allowed[None, None]


def dilated_formula(scores, *, window, dilation, query_offset):
    distances = list_distances(window, dilation, r"\ldots")
    return rf"|{query_symbol(query_offset)} - j| \in \{{{distances}\}}"


def dilated_cell(index, scores: Operand, *, window, dilation, query_offset) -> Cell:
    *_, i, j = index
    query = i + query_offset
    allowed = dilated(*index, window=window, dilation=dilation, query_offset=query_offset)
    return truth_cell(allowed, f"|{query} − {j}| in {{{list_distances(window, dilation, '…')}}}")


def list_distances(window: int, dilation: int, more: str) -> str:
    """Returns the distances that a dilated window allows, as text.

    If there are many distances, only the first two and the last are listed, with `more` between them.

    >>> list_distances(2, 3, "…"), list_distances(9, 3, "…")
    ('0, 3, 6', '0, 3, …, 27')
    """
    if window <= MAX_LISTED_DISTANCES:
        return ", ".join(str(step * dilation) for step in range(window + 1))
    return f"0, {dilation}, {more}, {window * dilation}"


MAX_LISTED_DISTANCES = 3
DILATED = Faces(dilated_mask, dilated_mask_numpy, dilated_formula, dilated_cell)


# ---- padding: only the real tokens of each sequence, `lengths` of them -----------------------------------------------
def padding(b, h, i, j, *, lengths):
    return j < lengths[b]


def padding_mask(scores: Float[Tensor, "B H T S"], *, lengths: tuple[int, ...]) -> Bool[Tensor, "B 1 1 S"]:
    lengths = torch.tensor(lengths, device=scores.device)  # (B,)
    return padding(*indices(scores), lengths=lengths)


def padding_mask_numpy(scores, *, lengths):
    B, _, _, S = scores.shape
    real = np.zeros((B, 1, 1, S), dtype=bool)
    for sequence, length in enumerate(lengths):
        real[sequence, ..., :length] = True
    return real


def padding_formula(scores, *, lengths):
    return r"j < \mathrm{length}_b"


def padding_cell(index, scores: Operand, *, lengths) -> Cell:
    b, *_, j = index
    allowed = padding(*index, lengths=lengths)
    return truth_cell(allowed, f"{j} < {lengths[b]}")


PADDING = Faces(padding_mask, padding_mask_numpy, padding_formula, padding_cell)


# ---- local plus global: near keys, and tokens that attend to all and are attended by all (Beltagy et al. 2020) -------
def local_global(b, h, i, j, *, window, global_tokens, query_offset):
    query = i + query_offset
    allowed = abs(query - j) <= window
    for token in global_tokens:
        allowed = allowed | (query == token) | (j == token)
    return allowed


def local_global_mask(
    scores: Float[Tensor, "B H T S"], *, window: int, global_tokens: tuple[int, ...], query_offset: int
) -> Bool[Tensor, "1 1 T S"]:
    allowed = local_global(*indices(scores), window=window, global_tokens=global_tokens, query_offset=query_offset)
    return allowed[None, None]  # (T, S) -> (1, 1, T, S)


def local_global_mask_numpy(scores, *, window, global_tokens, query_offset):
    allowed = local_mask_numpy(scores, window=window, query_offset=query_offset).copy()
    T, S = scores.shape[-2:]
    for token in global_tokens:
        row = token - query_offset
        if 0 <= row < T:
            allowed[..., row, :] = True
        if 0 <= token < S:  # a token at S or later is only a query, not a key
            allowed[..., token] = True
    return allowed


def local_global_formula(scores, *, window, global_tokens, query_offset):
    near = local_formula(scores, window=window, query_offset=query_offset)
    tokens = ", ".join(map(str, global_tokens))
    return near + rf" \;\lor\; i \in \{{{tokens}\}} \;\lor\; j \in \{{{tokens}\}}"


def local_global_cell(index, scores: Operand, *, window, global_tokens, query_offset) -> Cell:
    *_, i, j = index
    allowed = local_global(
        *index,
        window=window,
        global_tokens=global_tokens,
        query_offset=query_offset,
    )
    query = i + query_offset
    tokens = ", ".join(map(str, global_tokens))
    near = f"|{query} − {j}| ≤ {window}"
    return truth_cell(allowed, f"{near}, or {query} or {j} in {{{tokens}}}")


LOCAL_GLOBAL = Faces(local_global_mask, local_global_mask_numpy, local_global_formula, local_global_cell)


# ---- several masks at once: all must allow ---------------------------------------------------------------------------
def all_allow(first: Bool[Tensor, "#B #H #T S"], *others: Bool[Tensor, "#B #H #T S"]) -> Bool[Tensor, "#B #H T S"]:
    for other in others:
        first = first & other
    return first


def all_allow_numpy(*masks):
    same_shape = np.broadcast_arrays(*masks)
    return np.logical_and.reduce(same_shape)


def all_allow_formula(*masks):
    return r" \land ".join(masks)


def all_allow_cell(index, *masks: Operand) -> Cell:
    marks = [mask[index] for mask in masks]
    return product_cell(*marks)


ALL_ALLOW = Faces(all_allow, all_allow_numpy, all_allow_formula, all_allow_cell)


# ---- the other convention, for teaching ------------------------------------------------------------------------------
def to_mha_mask(allowed: Bool[Tensor, "*axes"]) -> Bool[Tensor, "*axes"]:
    """Returns the mask for torch.nn.MultiheadAttention, in which True means blocked.

    allowed: boolean, in the shape to be passed, (T, S) or (B H, T, S). Source: torch's documentation of
    MultiheadAttention, `attn_mask`.

    >>> to_mha_mask(torch.tensor([[True, False]]))
    tensor([[False,  True]])
    """
    return ~allowed


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Mask:
    """An entry of MASKS: the functions that compute a mask, and the declarations of its parameters.

    faces: its implementations in PyTorch, in NumPy, as a formula and as one cell. is_causal: whether it limits queries
    to earlier keys, so that its offset is the run's query_offset. uses_position: whether its implementations take
    `query_offset`.

    Raises ValueError if the parameters are not the keyword arguments of its torch function.
    """

    faces: Faces
    parameters: tuple[Parameter, ...] = ()
    is_causal: bool = False
    uses_position: bool = True

    def __post_init__(self):
        place = ("query_offset",) if self.uses_position else ()
        check_declared(self.faces.torch, (*self.needs, *place))

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the mask's parameters."""
        return names_of(self.parameters)


WINDOW = Parameter("window", least=0, start=1)
OWN_WINDOW = Parameter("window", least=1, start=1)  # window size, which counts the query's own position
LENGTHS = Parameter("lengths", several=True, start=(), moves=KEY_COUNT)
DILATION = Parameter("dilation", least=1, start=2)
GLOBAL_TOKENS = Parameter("global_tokens", several=True, start=(0,), moves=KEY_PLACE)

MASKS = {
    "causal": Mask(CAUSAL, is_causal=True),
    "local": Mask(LOCAL, (WINDOW,)),
    "sliding": Mask(SLIDING, (OWN_WINDOW,), is_causal=True),
    "dilated": Mask(DILATED, (WINDOW, DILATION)),
    "padding": Mask(PADDING, (LENGTHS,), uses_position=False),
    "local_global": Mask(LOCAL_GLOBAL, (WINDOW, GLOBAL_TOKENS)),
}
