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

from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.number_text import format_short, format_term
from attention_core.record.trace import Faces


# ---- sinusoidal: a table added to x (Vaswani et al. 2017, section 3.5) -----------------------------------------------
def sinusoidal(x: Float[Tensor, "B T D"], *, base: float, first_position: int) -> Float[Tensor, "T D"]:
    T, D = x.shape[-2:]
    position = torch.arange(T, dtype=torch.float64, device=x.device)[:, None] + first_position  # (T, 1)
    column = torch.arange(D, device=x.device)  # (D,)
    frequency = base ** (-2.0 * (column // 2).double() / D)  # (D,) in float64: columns 2i and 2i + 1 share one
    angle = position * frequency  # (T, D)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).to(x.dtype)


def sinusoidal_numpy(x, *, base, first_position):
    T, D = x.shape[-2:]
    table = np.zeros((T, D))
    wavelengths = np.power(base, np.arange(0, D, 2) / D)  # (ceil(D / 2),)
    angles = np.arange(first_position, first_position + T)[:, None] / wavelengths
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles)[:, : D // 2]
    return table


def sinusoidal_formula(x, *, base, first_position):
    angle = rf"\dfrac{{p}}{{{format_short(base)}^{{2i/D}}}}"  # a fraction, so that a phone shows all of the line
    return rf"\begin{{cases}} \sin {angle} & 2i \\[1em] \cos {angle} & 2i{{+}}1 \end{{cases}}"


def sinusoidal_cell(index, x: Operand, *, base, first_position) -> Cell:
    t, column = index
    D, pair = x.shape[-1], column // 2
    frequency = Constant(base ** (-2 * pair / D), f"{format_short(base)}^(−{2 * pair}/{D})")
    return Cell(
        ((Constant(t + first_position, str(t + first_position)), frequency),), function="cos" if column % 2 else "sin"
    )


SINUSOIDAL = Faces(sinusoidal, sinusoidal_numpy, sinusoidal_formula, sinusoidal_cell)


def wavelengths(width: int, base: float = 10000.0) -> tuple[float, ...]:
    r"""After how many positions each pair of columns, a sine and a cosine, begins anew: $2\pi \cdot base^{2i/D}$.

    >>> [round(length, 1) for length in wavelengths(8)]
    [6.3, 62.8, 628.3, 6283.2]
    """
    return tuple(2 * np.pi * base ** (2 * pair / width) for pair in range((width + 1) // 2))


# ---- rope: pairs of q and k turned by an angle that grows with the position (Su et al. 2021, eq. 34) -----------------
def rope(x: Float[Tensor, "B H T d"], *, style: str, base: float, first_position: int) -> Float[Tensor, "B H T d"]:
    T, d = x.shape[-2:]
    position = torch.arange(T, dtype=torch.float64, device=x.device)[:, None] + first_position  # (T, 1)
    pair = torch.arange(d // 2, dtype=torch.float64, device=x.device)  # (d/2,)
    angle = position * base ** (-2.0 * pair / d)  # (T, d/2), in float64 whatever the precision of x
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    if style == "half":  # number m is paired with number m + d/2 (Black et al. 2022, GPT-NeoX)
        a, b = x[..., : d // 2], x[..., d // 2 :]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (B, H, T, d)
    a, b = x[..., 0::2], x[..., 1::2]  # interleaved: neighbours are paired
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)  # (B, H, T, d/2, 2) -> (B, H, T, d)


def rope_numpy(x, *, style, base, first_position):
    T, d = x.shape[-2:]
    position = np.arange(first_position, first_position + T)[:, None]  # (T, 1)
    wavelength = np.power(base, np.arange(0, d, 2) / d)  # (d/2,)
    turn = np.exp(1j * position / wavelength)  # (T, d/2), on the unit circle
    if style == "half":
        turned = (x[..., : d // 2] + 1j * x[..., d // 2 :]) * turn
        return np.concatenate([turned.real, turned.imag], axis=-1)
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * turn
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)  # (B, H, T, d/2, 2) -> (B, H, T, d)


def rope_formula(x, *, style, base, first_position):
    return rf"R_p\,{x}, \quad \theta_i = p\,/\,{format_short(base)}^{{2i/d_k}}"


def rope_cell(index, x: Operand, *, style, base, first_position) -> Cell:
    b, h, t, m = index
    d = x.shape[-1]
    pair, second = (m % (d // 2), m >= d // 2) if style == "half" else (m // 2, m % 2 == 1)
    left, right = pair_columns(pair, d, style)
    angle = (t + first_position) * base ** (-2 * pair / d)
    cos, sin = (
        Constant(float(np.cos(angle)), f"cos {format_term(angle)}"),
        Constant(float(np.sin(angle)), f"sin {format_term(angle)}"),
    )
    if second:
        return Cell(((x[b, h, t, left], sin), (x[b, h, t, right], cos)))
    return Cell(((x[b, h, t, left], cos), (x[b, h, t, right], sin, Constant(-1.0, "−1"))))


def pair_columns(pair: int, width: int, style: str) -> tuple[int, int]:
    """The two columns that RoPE turns together.

    >>> pair_columns(1, 6, "interleaved"), pair_columns(1, 6, "half")
    ((2, 3), (1, 4))
    """
    return (pair, pair + width // 2) if style == "half" else (2 * pair, 2 * pair + 1)


ROPE = Faces(rope, rope_numpy, rope_formula, rope_cell)
ROPE_STYLES = ("interleaved", "half")


def fit_rope(params: Mapping[str, object], heads: int, width: int) -> Mapping[str, object]:
    """RoPE's parameters as they are. Raises AttentionError: even_width."""
    if width % 2:
        raise AttentionError("even_width", kind="RoPE", width=width)
    return params


# ---- alibi: a score loses `slope` for every step of distance (Press et al. 2022, section 3) --------------------------
def alibi(scores: Float[Tensor, "B H T S"], *, slopes: tuple[float, ...], query_offset: int) -> Float[Tensor, "H T S"]:
    T, S = scores.shape[-2:]
    query = torch.arange(T, device=scores.device)[:, None] + query_offset  # (T, 1)
    key = torch.arange(S, device=scores.device)  # (S,)
    slope = torch.tensor(slopes, dtype=scores.dtype, device=scores.device)[:, None, None]  # (H, 1, 1)
    return -slope * (query - key).abs()  # (H, T, S)


def alibi_numpy(scores, *, slopes, query_offset):
    T, S = scores.shape[-2:]
    distance = np.abs(np.subtract.outer(np.arange(query_offset, query_offset + T), np.arange(S)))
    return np.multiply.outer(-np.asarray(slopes), distance)


def alibi_formula(scores, *, slopes, query_offset):
    return r"-m_h\,|i - j|" if query_offset == 0 else rf"-m_h\,|i{query_offset:+d} - j|"


def alibi_cell(index, scores: Operand, *, slopes, query_offset) -> Cell:
    h, t, s = index
    distance = abs(t + query_offset - s)
    return Cell(((Constant(-slopes[h], format_term(-slopes[h])), Constant(distance, f"|{t + query_offset} − {s}|")),))


ALIBI = Faces(alibi, alibi_numpy, alibi_formula, alibi_cell)


def alibi_slopes(heads: int) -> tuple[float, ...]:
    """One slope a head: 2^(-8/H), 2^(-16/H), ...; where H is no power of two, the missing ones are every other slope of
    twice the next lower power (Press et al. 2022, the authors' published code).

    >>> alibi_slopes(4)
    (0.25, 0.0625, 0.015625, 0.00390625)
    >>> alibi_slopes(3)
    (0.0625, 0.00390625, 0.25)
    """
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * (h + 1) / power) for h in range(power)]
    between = [2.0 ** (-8 * (h + 1) / (2 * power)) for h in range(0, 2 * power, 2)]
    return tuple(slopes + between[: heads - power])


def fit_alibi(params: Mapping[str, object], heads: int, width: int) -> Mapping[str, object]:
    """ALiBi's slopes, one a head: the published ones where none are given. Raises AttentionError: slopes_count."""
    given = params["slopes"]
    slopes = alibi_slopes(heads) if given is None else given
    if len(slopes) != heads:
        raise AttentionError("slopes_count", heads=heads, given=len(slopes))
    return {"slopes": slopes}


# ---- the table -------------------------------------------------------------------------------------------------------
PLACES = ("input", "heads", "bias")  # a table added to x; q and k changed in every head; a table added to the scores


def fit_any(params: Mapping[str, object], heads: int, width: int) -> Mapping[str, object]:
    """The parameters as they are: they fit every run."""
    return params


@dataclass(frozen=True)
class Position:
    """A way to tell positions.

    faces: they read what stands at the place, and take `first_position` (`query_offset` for a bias) besides their
    parameters. place: one of PLACES. defaults: its parameters. fit: gives the parameters for a run with this number of
    heads and this width (of x where the place is the input); it works out those that are None and refuses those that
    do not fit.

    Raises AttentionError (a ValueError) for a place that there is not.
    """

    faces: Faces
    place: str
    defaults: Mapping[str, object]
    fit: Callable[[Mapping[str, object], int, int], Mapping[str, object]] = fit_any

    def __post_init__(self):
        if self.place not in PLACES:
            raise AttentionError("unknown_choice", name="place", choices=", ".join(PLACES), given=repr(self.place))


POSITIONS = {
    "sinusoidal": Position(SINUSOIDAL, "input", {"base": 10000.0}),
    "rope": Position(ROPE, "heads", {"style": "interleaved", "base": 10000.0}, fit_rope),
    "alibi": Position(ALIBI, "bias", {"slopes": None}, fit_alibi),
}
