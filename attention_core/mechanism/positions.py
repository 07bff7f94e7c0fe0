"""Where a token stands, told to attention in three ways: added to x, turned into q and k, or subtracted from scores.

`first_position` is where the first row stands: 0 for keys, `query_offset` for queries. `query_offset` is where query 0
stands among the keys: a causal mask's offset (S - T where none is set), and 0 without such a mask. In self-attention x
is one sequence, so sinusoids are added to its tokens from position 0 on.
A new position is one block here and its line in POSITIONS, which says where in a run it acts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.parameters import Parameter, check_declared, names_of
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand, product_cell
from attention_core.record.number_text import format_short, format_term
from attention_core.record.trace import Faces

Parameters = Mapping[str, object]  # of a position, by name


# ---- sinusoidal: a table added to x (Vaswani et al. 2017, section 3.5) -----------------------------------------------
def sinusoidal(x: Float[Tensor, "B T D"], *, base: float, first_position: int) -> Float[Tensor, "T D"]:
    T, D = x.shape[-2:]
    row = torch.arange(T, dtype=torch.float64, device=x.device)  # (T,)
    column = torch.arange(D, device=x.device)  # (D,)
    pair = (column // 2).double()  # (D,): columns 2i and 2i + 1 are pair i
    frequency = base ** (-2.0 * pair / D)  # (D,) in float64
    position = row[:, None] + first_position  # (T, 1)
    angle = position * frequency  # (T, D)
    is_sine = column % 2 == 0
    table = torch.where(is_sine, angle.sin(), angle.cos())
    return table.to(x.dtype)


def sinusoidal_numpy(x, *, base, first_position):
    T, D = x.shape[-2:]
    exponents = np.arange(0, D, 2) / D  # (ceil(D / 2),)
    wavelengths = np.power(base, exponents)
    positions = np.arange(first_position, first_position + T)
    angles = positions[:, None] / wavelengths  # (T, ceil(D / 2))
    cosines = np.cos(angles)
    table = np.zeros((T, D))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = cosines[:, : D // 2]
    return table


def sinusoidal_formula(x, *, base, first_position):
    angle = rf"\dfrac{{p}}{{{format_short(base)}^{{2i/D}}}}"  # a fraction, so that a phone shows all of the line
    return rf"\begin{{cases}} \sin {angle} & 2i \\[1em] \cos {angle} & 2i{{+}}1 \end{{cases}}"


def sinusoidal_cell(index, x: Operand, *, base, first_position) -> Cell:
    t, column = index
    D = x.shape[-1]
    pair = column // 2
    position = t + first_position
    frequency_text = f"{format_short(base)}^(−{2 * pair}/{D})"
    frequency = Constant(base ** (-2 * pair / D), frequency_text)
    angle = (Constant(position, str(position)), frequency)
    function = "cos" if column % 2 else "sin"
    return Cell((angle,), function)


SINUSOIDAL = Faces(sinusoidal, sinusoidal_numpy, sinusoidal_formula, sinusoidal_cell, sign="sin", motion="place")


def wavelengths(width: int, base: float = 10000.0) -> tuple[float, ...]:
    r"""After how many positions each pair of columns, a sine and a cosine, begins anew: $2\pi \cdot base^{2i/D}$.

    >>> [round(length, 1) for length in wavelengths(8)]
    [6.3, 62.8, 628.3, 6283.2]
    """
    pairs = range((width + 1) // 2)
    return tuple(2 * np.pi * base ** (2 * pair / width) for pair in pairs)


# ---- rope: pairs of q and k turned by an angle that grows with the position (Su et al. 2021, eq. 34) -----------------
def rope(x: Float[Tensor, "B H T d"], *, style: str, base: float, first_position: int) -> Float[Tensor, "B H T d"]:
    T, d = x.shape[-2:]
    row = torch.arange(T, dtype=torch.float64, device=x.device)  # (T,)
    pair = torch.arange(d // 2, dtype=torch.float64, device=x.device)  # (d/2,)
    frequency = base ** (-2.0 * pair / d)  # (d/2,)
    position = row[:, None] + first_position  # (T, 1)
    angle = position * frequency  # (T, d/2), in float64 whatever the precision of x
    cos = angle.cos().to(x.dtype)
    sin = angle.sin().to(x.dtype)
    if style == "half":  # number m is paired with number m + d/2 (Black et al. 2022, GPT-NeoX)
        a = x[..., : d // 2]  # (B, H, T, d/2)
        b = x[..., d // 2 :]
    else:  # interleaved: neighbours are paired
        a = x[..., 0::2]  # (B, H, T, d/2)
        b = x[..., 1::2]
    turned_a = a * cos - b * sin
    turned_b = a * sin + b * cos
    if style == "half":
        return torch.cat([turned_a, turned_b], dim=-1)  # (B, H, T, d)
    pairs = torch.stack([turned_a, turned_b], dim=-1)  # (B, H, T, d/2, 2)
    return pairs.flatten(-2)  # (B, H, T, d)


def rope_numpy(x, *, style, base, first_position):
    T, d = x.shape[-2:]
    position = np.arange(first_position, first_position + T)  # (T,)
    exponent = np.arange(0, d, 2) / d  # (d/2,)
    wavelength = np.power(base, exponent)
    turn = np.exp(1j * position[:, None] / wavelength)  # (T, d/2), on the unit circle
    if style == "half":
        points = x[..., : d // 2] + 1j * x[..., d // 2 :]
        turned = points * turn
        return np.concatenate([turned.real, turned.imag], axis=-1)
    points = x[..., 0::2] + 1j * x[..., 1::2]
    turned = points * turn
    pairs = np.stack([turned.real, turned.imag], axis=-1)  # (B, H, T, d/2, 2)
    return pairs.reshape(x.shape)  # (B, H, T, d)


def rope_formula(x, *, style, base, first_position):
    return rf"R_p\,{x}, \quad \theta_i = p\,/\,{format_short(base)}^{{2i/d_k}}"


def rope_cell(index, x: Operand, *, style, base, first_position) -> Cell:
    b, h, t, m = index
    d = x.shape[-1]
    pair = m % (d // 2) if style == "half" else m // 2
    left, right = pair_columns(pair, d, style)
    first = x[b, h, t, left]
    second = x[b, h, t, right]
    position = t + first_position
    angle = position * base ** (-2 * pair / d)
    angle_text = format_term(angle)
    cos = Constant(float(np.cos(angle)), f"cos {angle_text}")
    sin = Constant(float(np.sin(angle)), f"sin {angle_text}")
    if m == right:
        return Cell(((first, sin), (second, cos)))
    minus_one = Constant(-1.0, "−1")
    return Cell(((first, cos), (second, sin, minus_one)))


def pair_columns(pair: int, width: int, style: str) -> tuple[int, int]:
    """The two columns that RoPE turns together.

    >>> pair_columns(1, 6, "interleaved"), pair_columns(1, 6, "half")
    ((2, 3), (1, 4))
    """
    if style == "half":
        return pair, pair + width // 2
    return 2 * pair, 2 * pair + 1


ROPE = Faces(rope, rope_numpy, rope_formula, rope_cell, sign="R", motion="turn")
ROPE_STYLES = ("interleaved", "half")


def fit_rope(params: Parameters, heads: int, width: int) -> Parameters:
    """RoPE's parameters as they are. Raises AttentionError: even_width."""
    if width % 2:
        raise AttentionError("even_width", kind="RoPE", width=width)
    return params


# ---- alibi: a score loses `slope` for every step of distance (Press et al. 2022, section 3) --------------------------
def alibi(scores: Float[Tensor, "B H T S"], *, slopes: tuple[float, ...], query_offset: int) -> Float[Tensor, "H T S"]:
    T, S = scores.shape[-2:]
    query = torch.arange(T, device=scores.device) + query_offset  # (T,)
    key = torch.arange(S, device=scores.device)  # (S,)
    distance = (query[:, None] - key).abs()  # (T, S)
    slope = torch.tensor(slopes, dtype=scores.dtype, device=scores.device)  # (H,)
    return -slope[:, None, None] * distance  # (H, 1, 1) x (T, S) -> (H, T, S)


def alibi_numpy(scores, *, slopes, query_offset):
    T, S = scores.shape[-2:]
    queries = np.arange(query_offset, query_offset + T)
    keys = np.arange(S)
    distances = np.abs(np.subtract.outer(queries, keys))  # (T, S)
    return np.multiply.outer(-np.asarray(slopes), distances)  # (H, T, S)


def alibi_formula(scores, *, slopes, query_offset):
    if query_offset == 0:
        return r"-m_h\,|i - j|"
    return rf"-m_h\,|i{query_offset:+d} - j|"


def alibi_cell(index, scores: Operand, *, slopes, query_offset) -> Cell:
    h, t, s = index
    query = t + query_offset
    factor = -slopes[h]
    slope = Constant(factor, format_term(factor))
    distance = Constant(abs(query - s), f"|{query} − {s}|")
    return product_cell(slope, distance)


ALIBI = Faces(alibi, alibi_numpy, alibi_formula, alibi_cell, sign="−m·|i−j|", motion="distance")


def alibi_slopes(heads: int) -> tuple[float, ...]:
    """One slope a head: 2^(-8/H), 2^(-16/H), ...; where H is no power of two, the missing ones are every other slope of
    twice the next lower power (Press et al. 2022, the authors' published code).

    >>> alibi_slopes(4)
    (0.25, 0.0625, 0.015625, 0.00390625)
    >>> alibi_slopes(3)
    (0.0625, 0.00390625, 0.25)
    """
    power = 1 << (heads.bit_length() - 1)  # the largest power of two that is not more than `heads`
    slopes = geometric_slopes(power)
    between = geometric_slopes(2 * power)[0::2]
    missing = heads - power
    return (*slopes, *between[:missing])


def geometric_slopes(count: int) -> list[float]:
    """2^(-8/n), 2^(-16/n), ..., 2^(-8), where n is how many they are."""
    return [2.0 ** (-8 * number / count) for number in range(1, count + 1)]


def fit_alibi(params: Parameters, heads: int, width: int) -> Parameters:
    """ALiBi's slopes, one a head: the published ones where none are given. Raises AttentionError: slopes_count."""
    given = params["slopes"]
    slopes = alibi_slopes(heads) if given is None else given
    if len(slopes) != heads:
        raise AttentionError("slopes_count", heads=heads, given=len(slopes))
    return {"slopes": slopes}


# ---- the table -------------------------------------------------------------------------------------------------------
# A table added to x; q and k changed in every head; a table added to the scores: and by which name each is told where
# the first row stands.
PLACES = {"input": "first_position", "heads": "first_position", "bias": "query_offset"}


def fit_any(params: Parameters, heads: int, width: int) -> Parameters:
    """The parameters as they are: they fit every run."""
    return params


@dataclass(frozen=True)
class Position:
    """A way to tell positions.

    faces: they read what stands at the place, and take `first_position` (`query_offset` for a bias) besides their
    parameters. place: one of PLACES. fit: gives the parameters for a run with this number of heads and this width (of x
    where the place is the input); it works out those that are None and refuses those that do not fit.

    Raises AttentionError (a ValueError) for a place that there is not, and ValueError where the parameters are not
    those that its torch function takes by keyword.
    """

    faces: Faces
    place: str
    parameters: tuple[Parameter, ...] = ()
    fit: Callable[[Parameters, int, int], Parameters] = fit_any

    def __post_init__(self):
        require_one_of("place", self.place, tuple(PLACES))
        check_declared(self.faces.torch, (*names_of(self.parameters), PLACES[self.place]))


BASE = Parameter("base", is_whole=False, is_positive=True, usual=10000.0)
STYLE = Parameter("style", words=ROPE_STYLES, usual="interleaved")
SLOPES = Parameter("slopes", is_whole=False, several=True, usual=None)

POSITIONS = {
    "sinusoidal": Position(SINUSOIDAL, "input", (BASE,)),
    "rope": Position(ROPE, "heads", (STYLE, BASE), fit_rope),
    "alibi": Position(ALIBI, "bias", (SLOPES,), fit_alibi),
}
