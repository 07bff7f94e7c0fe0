"""Defines the position encodings, which are added to x, rotate q and k, or are added to the scores.

`first_position` is the position of the first row: 0 for keys, `query_offset` for queries. `query_offset` is the
position of query 0 among the keys: a causal mask's offset (S - T if none is set), and 0 without such a mask. In
self-attention, x has the queries and the keys, so that its positions count from 0. A new encoding needs one block of
code here, or in relative_positions.py if its distances have learned numbers, and its entry in POSITIONS, which declares
its place in a run.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.latent import DECOUPLED, W_KR, W_QR, fit_decoupled
from attention_core.mechanism.learned_tensors import LearnedTensor, check_wired
from attention_core.mechanism.operations import PROJECT, SPLIT
from attention_core.mechanism.parameters import (
    Parameter,
    check_declared,
    check_operands,
    check_same_names,
    keyword_names,
    names_of,
)
from attention_core.mechanism.plain_checks import check_rotation, require_one_of
from attention_core.mechanism.plan_steps import (
    GIVEN_BY_RUN,
    INPUT,
    INPUTS,
    KEY_INPUT,
    LAST_STEP,
    PlanStep,
    check_all_read,
)
from attention_core.mechanism.relative_positions import (
    CLIPPED_BIAS,
    DIRECTION,
    FARTHEST,
    RELATIVE_KEYS,
    T5_BIAS,
    W_BUCKETS,
    W_CLIPPED,
    W_RK,
    distances,
    fit_clipped,
    fit_relative_keys,
    fit_t5,
)
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand, product_cell
from attention_core.record.number_text import format_short, format_term
from attention_core.record.trace import Faces, Operation

Parameters = Mapping[str, object]  # name of a position encoding's parameter -> its value
PositionSizes = Mapping[str, int]  # letter of an axis -> size of the axis, in a run or in a learned tensor


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
    angle = rf"\dfrac{{p}}{{{format_short(base)}^{{2i/D}}}}"  # written as a fraction, which fits a phone's screen
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
    r"""Return the wavelength in positions of each pair of columns (a sine and a cosine): $2\pi \cdot base^{2i/D}$.

    >>> [round(length, 1) for length in wavelengths(8)]
    [6.3, 62.8, 628.3, 6283.2]
    """
    pairs = range((width + 1) // 2)
    return tuple(2 * np.pi * base ** (2 * pair / width) for pair in pairs)


# ---- learned: a table with a vector for each place, added to x (Gehring et al. 2017, section 3.1) --------------------
def place_vectors(
    x: Float[Tensor, "B T D"], w_places: Float[Tensor, "N D"], *, first_position: int
) -> Float[Tensor, "T D"]:
    T = x.shape[-2]
    return w_places[first_position : first_position + T]  # (N, D) -> (T, D)


def place_vectors_numpy(x, w_places, *, first_position):
    T = x.shape[-2]
    is_chosen = np.eye(T, len(w_places), first_position)  # (T, N): one-hot rows that select rows of the table
    return is_chosen @ w_places


def place_vectors_formula(x, w_places, *, first_position):
    return rf"{w_places}[p]"


def place_vectors_cell(index, x: Operand, w_places: Operand, *, first_position) -> Cell:
    t, column = index
    return product_cell(w_places[t + first_position, column])


def fit_places(params: Parameters, sizes: PositionSizes) -> Parameters:
    """Return the parameters of learned positions unchanged, if the table has a row for every position.

    Raises AttentionError: few_places, if the table has fewer rows than there are positions.
    """
    rows, first = sizes["N"], sizes["first"]
    last = first + sizes["length"] - 1
    if first < 0 or last >= rows:
        raise AttentionError("few_places", rows=rows, first=first, last=last)
    return params


PLACE_VECTORS = Faces(
    place_vectors, place_vectors_numpy, place_vectors_formula, place_vectors_cell, sign="P", motion="place"
)


def sinusoid_rows(rows: int, columns: int) -> np.ndarray:
    """Return initial learned positions: sinusoids, which do about as well (Vaswani et al. 2017, section 3.5)."""
    return sinusoidal_numpy(np.zeros((rows, columns)), base=10000.0, first_position=0)


W_PLACES = LearnedTensor("w_places", ("N", "D"), "P", start=sinusoid_rows)


# ---- rope: pairs of q and k turned by an angle that grows with the position (Su et al. 2021, eq. 34) -----------------
def rope(
    x: Float[Tensor, "*axes T d"],
    *,
    style: str,
    base: float,
    scaling: str,
    factor: float,
    trained: int,
    mscale: float,
    mscale_all_dim: float,
    columns: int | None,
    pair_factors: tuple[float, ...] | None,
    first_position: int,
) -> Float[Tensor, "*axes T d"]:
    T, d = x.shape[-2:]
    r = d if columns is None else columns  # RoPE rotates only the first r columns
    x, unchanged = x[..., :r], x[..., r:]  # (B, H, T, r), (B, H, T, d - r)
    row = torch.arange(T, dtype=torch.float64, device=x.device)  # (T,)
    shared = (r, base, scaling, factor, trained, pair_factors)
    frequencies = [rope_frequency(pair, *shared) for pair in range(r // 2)]
    frequency = torch.tensor(frequencies, dtype=torch.float64, device=x.device)  # (r/2,)
    position = row[:, None] + first_position  # (T, 1)
    angle = position * frequency  # (T, r/2): float64, as angles lose digits in the precision of x
    length = rope_length(scaling, factor, mscale, mscale_all_dim)
    cos = (length * angle.cos()).to(x.dtype)
    sin = (length * angle.sin()).to(x.dtype)
    if style == "half":  # column m is rotated with column m + r/2 (Black et al. 2022, GPT-NeoX)
        a = x[..., : r // 2]  # (B, H, T, r/2)
        b = x[..., r // 2 :]
    else:  # interleaved: each even column is rotated with the next column
        a = x[..., 0::2]  # (B, H, T, r/2)
        b = x[..., 1::2]
    turned_a = a * cos - b * sin
    turned_b = a * sin + b * cos
    if style == "half":
        return torch.cat([turned_a, turned_b, unchanged], dim=-1)  # (B, H, T, d)
    pairs = torch.stack([turned_a, turned_b], dim=-1)  # (B, H, T, r/2, 2)
    return torch.cat([pairs.flatten(-2), unchanged], dim=-1)  # (B, H, T, d)


def rope_numpy(
    x, *, style, base, scaling, factor, trained, mscale, mscale_all_dim, columns, pair_factors, first_position
):
    T, d = x.shape[-2:]
    r = d if columns is None else columns  # RoPE rotates only the first r columns
    position = np.arange(first_position, first_position + T)  # (T,)
    exponent = np.arange(0, r, 2) / r  # (r/2,)
    if scaling == "ntk" and r > 2:
        base = base * np.exp(np.log(factor) * r / (r - 2))
    turns_in = np.power(base, exponent)  # (r/2,): the number of positions that rotate a pair by one radian
    length = 1.0
    if scaling == "linear":
        turns_in = turns_in * factor
    turned = trained / (2 * np.pi * turns_in)  # number of full turns of a pair within the training length
    if scaling in TURNS:
        kept = np.interp(turned, TURNS[scaling], (0.0, 1.0))
        turns_in = 1 / ((1 - kept) / (turns_in * factor) + kept / turns_in)
    if scaling in RAMPS:
        first, last = yarn_ramp(r, base, trained, RAMPS[scaling])
        kept = np.clip((last - np.arange(r // 2)) / (last - first), 0.0, 1.0)
        turns_in = 1 / ((1 - kept) / (turns_in * factor) + kept / turns_in)
    if scaling in YARNS and factor > 1:
        tenth = np.log(factor) / 10
        length = (1 + mscale * tenth) / (1 + mscale_all_dim * tenth)
    frequency = 1 / turns_in
    if pair_factors is not None:
        frequency = frequency * np.asarray(pair_factors)
    turn = length * np.exp(1j * position[:, None] * frequency)  # (T, r/2): the rotations as complex numbers
    turned_x = np.array(x)  # (B, H, T, d)
    if style == "half":
        points = x[..., : r // 2] + 1j * x[..., r // 2 : r]
        points = points * turn
        turned_x[..., : r // 2] = points.real
        turned_x[..., r // 2 : r] = points.imag
        return turned_x
    points = x[..., 0:r:2] + 1j * x[..., 1:r:2]
    points = points * turn
    turned_x[..., 0:r:2] = points.real
    turned_x[..., 1:r:2] = points.imag
    return turned_x


def rope_formula(
    x, *, style, base, scaling, factor, trained, mscale, mscale_all_dim, columns, pair_factors, first_position
):
    number = format_short(base)
    r = "d_k" if columns is None else str(columns)
    angle = rf"p\,/\,{number}^{{2i/{r}}}"
    s = format_short(factor)
    if scaling == "linear":
        angle = rf"p\,/\,({s} \cdot {number}^{{2i/{r}}})"
    if scaling == "ntk":
        angle = rf"p\,/\,({number} \cdot {s}^{{{r}/({r} - 2)}})^{{2i/{r}}}"
    if scaling in TURNS or scaling in RAMPS:
        name = scaling.replace("_", r"\ ")
        angle = rf"p \cdot \mathrm{{{name}}}_{{{s},\,{trained}}}({number}^{{-2i/{r}}})"
    if pair_factors is not None:
        angle = rf"f_i\,{angle}"
    if columns is None:
        return rf"R_p\,{x}, \quad \theta_i = {angle}"
    return rf"[\,R_p\,{x}_{{:\,{r}}},\ {x}_{{{r}\,:}}\,], \quad \theta_i = {angle}"


def rope_frequency(
    pair: int,
    width: int,
    base: float,
    scaling: str,
    factor: float,
    trained: int,
    pair_factors: tuple[float, ...] | None = None,
) -> float:
    """Return the angle in radians by which RoPE rotates a pair from one position to the next.

    scaling: "none"; "linear" divides every angle by the factor (Chen et al. 2023, section 2.3); "ntk" enlarges the
    base, so that the angle of the slowest pair is divided by the factor and that of the fastest stays (Peng et al.
    2023, section 3.1; for a text of L words transformers' "dynamic" of a factor f is this with f L / trained - (f -
    1)).

    "yarn" keeps the angle of pairs with 32 or more full turns in the `trained` length, divides that of pairs with at
    most one turn by the factor, and interpolates between them by the index of the pair; the first and the last index
    are rounded outwards, as in the code of its authors, of DeepSeek-V2 and of transformers. "yarn_unrounded" does not
    round them (gpt-oss's code). "yarn_turns" interpolates by the number of turns (Peng et al. 2023, section 3.2).
    "llama3" does so, too, and keeps the angle from 4 turns on (Grattafiori et al. 2024, Llama 3.1's published code).

    pair_factors: a number for each pair, by which its angle is multiplied, besides the scaling; None for 1. LongRoPE
    divides each angle by a number of its own (Ding et al. 2024, section 3.1); -1 rotates in the other direction, and 0
    not at all.

    >>> [round(rope_frequency(pair, 4, 10000.0, "ntk", 4.0, 1), 5) for pair in range(2)]
    [1.0, 0.0025]
    >>> rope_frequency(1, 4, 10000.0, "none", 1.0, 1, pair_factors=(1.0, -0.5))
    -0.005
    """
    if pair_factors is not None:
        return pair_factors[pair] * rope_frequency(pair, width, base, scaling, factor, trained)
    if scaling == "ntk" and width > 2:
        base = base * factor ** (width / (width - 2))
    frequency = base ** (-2 * pair / width)
    if scaling == "linear":
        return frequency / factor
    if scaling in TURNS:
        kept = kept_by_turns(frequency, trained, TURNS[scaling])
        return (1 - kept) * frequency / factor + kept * frequency
    if scaling in RAMPS:
        first, last = yarn_ramp(width, base, trained, RAMPS[scaling])
        divided = min(max((pair - first) / (last - first), 0.0), 1.0)
        return (1 - divided) * frequency + divided * frequency / factor
    return frequency


def kept_by_turns(frequency: float, trained: int, limits: tuple[float, float]) -> float:
    """Return the part of a pair's angle that a scaling by turns keeps, from 0 to 1; it divides the rest by the factor.

    It keeps all from limits[1] full turns in the training length on, and nothing up to limits[0].

    >>> kept_by_turns(1.0, 1000, (1.0, 4.0)), kept_by_turns(0.001, 1000, (1.0, 4.0))
    (1.0, 0.0)
    """
    fewest, most = limits
    turned = trained * frequency / (2 * math.pi)
    return min(max((turned - fewest) / (most - fewest), 0.0), 1.0)


def yarn_ramp(width: int, base: float, trained: int, is_rounded: bool) -> tuple[float, float]:
    """Return the indices of the two pairs between which YaRN interpolates: those with 32 full turns and with one in the
    training length. As find_correction_range in the authors' published code.

    >>> yarn_ramp(64, 10000.0, 2048, True)
    (8, 21)
    """
    if base == 1:  # with base 1, all pairs rotate equally fast
        return (0.0, width - 1.0) if trained < 2 * math.pi else (width - 1.0, float(width))
    fewest, most = YARN_TURNS
    first, last = (pair_that_turns(turns, width, base, trained) for turns in (most, fewest))
    if is_rounded:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, width - 1)
    return (first, last) if first != last else (first, last + 0.001)


def pair_that_turns(turns: float, width: int, base: float, trained: int) -> float:
    """Return the index, seldom a whole number, of the pair with this many full turns in the trained length."""
    slowdown = trained / (turns * 2 * math.pi)
    return width * math.log(slowdown) / (2 * math.log(base))


def rope_length(scaling: str, factor: float, mscale: float, mscale_all_dim: float) -> float:
    """Return the factor on q and on k: YaRN's growth (Peng et al. 2023, section 3.4), divided by the part of it that
    multiplies the scores instead (DeepSeek-V2's published code).
    """
    if scaling not in YARNS:
        return 1.0
    return yarn_growth(factor, mscale) / yarn_growth(factor, mscale_all_dim)


def rope_sharpness(params: Parameters) -> float:
    """Return a further factor on the scaled scores: for YaRN the square of its growth by mscale_all_dim, else 1.

    The growth is squared because it applies to q and to k (DeepSeek-V2's published code).
    """
    return yarn_growth(params["factor"], params["mscale_all_dim"]) ** 2 if params["scaling"] in YARNS else 1.0


def factor_at_one_place(positions: Iterable[tuple[str, Parameters]]) -> float:
    """Return the factor by which RoPE multiplies the scores of a query and a key at the same place: that of YaRN, else
    1.

    >>> factor_at_one_place([("rope", {"scaling": "none", "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.0})])
    1.0
    """
    total = 1.0
    for name, params in positions:
        if name == "rope":
            own = [params[key] for key in ("scaling", "factor", "mscale", "mscale_all_dim")]
            total *= rope_length(*own) ** 2 * rope_sharpness(params)
    return total


def yarn_growth(factor: float, mscale: float) -> float:
    """Return YaRN's growth of q and k, 0.1 m ln s + 1 with s the factor; 1 if the length is not extended.

    >>> round(yarn_growth(40.0, 0.707) ** 2, 4)
    1.5896
    """
    return 0.1 * mscale * math.log(factor) + 1 if factor > 1 else 1.0


def rope_cell(
    index,
    x: Operand,
    *,
    style,
    base,
    scaling,
    factor,
    trained,
    mscale,
    mscale_all_dim,
    columns,
    pair_factors,
    first_position,
) -> Cell:
    *row, m = index
    t = row[-1]
    r = x.shape[-1] if columns is None else columns
    if m >= r:
        return product_cell(x[index])
    pair = m % (r // 2) if style == "half" else m // 2
    left, right = pair_columns(pair, r, style)
    first = x[(*row, left)]
    second = x[(*row, right)]
    position = t + first_position
    angle = position * rope_frequency(pair, r, base, scaling, factor, trained, pair_factors)
    length = rope_length(scaling, factor, mscale, mscale_all_dim)
    longer = "" if length == 1 else f"{format_term(length)} "
    angle_text = format_term(angle)
    cos = Constant(length * math.cos(angle), f"{longer}cos {angle_text}")
    sin = Constant(length * math.sin(angle), f"{longer}sin {angle_text}")
    if m == right:
        return Cell(((first, sin), (second, cos)))
    minus_one = Constant(-1.0, "−1")
    return Cell(((first, cos), (second, sin, minus_one)))


def pair_columns(pair: int, width: int, style: str) -> tuple[int, int]:
    """Return the two columns that RoPE rotates together as a pair.

    style: "interleaved" or "half".

    >>> pair_columns(1, 6, "interleaved"), pair_columns(1, 6, "half")
    ((2, 3), (1, 4))
    """
    if style == "half":
        return pair, pair + width // 2
    return 2 * pair, 2 * pair + 1


ROPE = Faces(rope, rope_numpy, rope_formula, rope_cell, sign="R", motion="turn")
ROPE_STYLES = ("interleaved", "half")
ROPE_SCALINGS = ("none", "linear", "ntk", "yarn", "llama3", "yarn_unrounded", "yarn_turns")
# Numbers of full turns in the training length between which YaRN interpolates (alpha, beta in Peng et al. 2023).
YARN_TURNS = (1.0, 32.0)
TURNS = {"yarn_turns": YARN_TURNS, "llama3": (1.0, 4.0)}
RAMPS = {"yarn": True, "yarn_unrounded": False}  # whether YaRN rounds the indices between which it interpolates
YARNS = ("yarn", "yarn_unrounded", "yarn_turns")


def fit_rope(params: Parameters, sizes: PositionSizes) -> Parameters:
    """Return RoPE's parameters unchanged, after checks. Raises AttentionError: see check_rotation."""
    check_rotation(params, sizes["width"])
    return params


# ---- alibi: a score loses `slope` for every step of distance (Press et al. 2022, section 3) --------------------------
def alibi(scores: Float[Tensor, "B H T S"], *, slopes: tuple[float, ...], query_offset: int) -> Float[Tensor, "H T S"]:
    distance = distances(scores, query_offset).abs()  # (T, S)
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
    """Return ALiBi's slopes, one per head: 2^(-8/H), 2^(-16/H), ...

    If H is no power of two, the first slopes are those for the next lower power of two, followed by every other slope
    for twice that power (Press et al. 2022, the authors' published code).

    >>> alibi_slopes(4)
    (0.25, 0.0625, 0.015625, 0.00390625)
    >>> alibi_slopes(3)
    (0.0625, 0.00390625, 0.25)
    """
    power = 1 << (heads.bit_length() - 1)  # the largest power of two that is at most `heads`
    slopes = geometric_slopes(power)
    between = geometric_slopes(2 * power)[0::2]
    missing = heads - power
    return (*slopes, *between[:missing])


def geometric_slopes(count: int) -> list[float]:
    """Return the slopes 2^(-8/n), 2^(-16/n), ..., 2^(-8) for n = count."""
    return [2.0 ** (-8 * number / count) for number in range(1, count + 1)]


def fit_alibi(params: Parameters, sizes: PositionSizes) -> Parameters:
    """Return ALiBi's slopes, one per head: the given slopes, else the published ones.

    Raises AttentionError: slopes_count.
    """
    given, heads = params["slopes"], sizes["H"]
    slopes = alibi_slopes(heads) if given is None else given
    if len(slopes) != heads:
        raise AttentionError("slopes_count", heads=heads, given=len(slopes))
    return {"slopes": slopes}


# ---- the table -------------------------------------------------------------------------------------------------------
# Place of a run where a position encoding acts -> the argument with the position of the first row.
PLACES = {"input": "first_position", "heads": "first_position", "scores": "query_offset", "bias": "query_offset"}


def fit_any(params: Parameters, sizes: PositionSizes) -> Parameters:
    """Return the parameters of a position encoding unchanged, because they fit every run."""
    return params


def sharpen_nothing(params: Parameters) -> float:
    """Return the factor 1 on the scaled scores, for an encoding that does not change the temperature."""
    return 1.0


@dataclass(frozen=True)
class Position:
    """An entry of POSITIONS: how a position encoding is computed, and at which place of a run.

    faces: its functions. They read the step at the place, `reads`, and the learned tensors, and take `first_position`
    (`query_offset` for scores and a bias) besides the parameters. place: a key of PLACES. fit: a function of the
    parameters and the run's sizes that returns the parameters for this run. It replaces parameters that are None by
    values for the run, and raises AttentionError for parameters that do not fit. The sizes are H heads, the width of x
    or of k, the length (of x, or of q or k in the heads; for scores the number of keys), the position of the first row,
    and for scores T and the query_offset. weights: its learned tensors. reads: further steps that it reads. steps:
    operations on the inputs before the scores; those of queries have an axis T, and they take the parameters. compares:
    the letter of an axis, besides d_k, over which queries and keys are multiplied; the scale counts it. sharpens: a
    function of the parameters that returns a further factor on the scaled scores, which acts as a lower temperature.

    Raises AttentionError (a ValueError) for an unknown place, and ValueError if the parameters or the tensors are not
    those that its torch function takes.
    """

    faces: Faces
    place: str
    parameters: tuple[Parameter, ...] = ()
    fit: Callable[[Parameters, PositionSizes], Parameters] = fit_any
    weights: tuple[LearnedTensor, ...] = ()
    reads: tuple[str, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    compares: str = ""
    sharpens: Callable[[Parameters], float] = sharpen_nothing

    def __post_init__(self):
        require_one_of("place", self.place, tuple(PLACES))
        declared = names_of(self.parameters)
        if self.steps:
            taken = {name for step in self.steps for name in keyword_names(step.faces.torch)}
            check_same_names("a position", sorted(taken - set(GIVEN_BY_RUN)), sorted(declared))
        check_declared(self.faces.torch, () if self.steps else (*declared, PLACES[self.place]))
        check_operands(self.faces.torch, self.operands)
        operations = [step.operation("", (), dict.fromkeys((*declared, *GIVEN_BY_RUN))) for step in self.steps]
        last = Operation("last", (), (LAST_STEP, *self.operands), self.faces)
        check_wired([*operations, last], (LAST_STEP, "q", "k", *INPUTS), self.weights)
        check_all_read([*operations, last])

    @property
    def operands(self) -> tuple[str, ...]:
        """The names of the encoding's operands besides the step that it changes."""
        read_before = {name for step in self.steps for name in step.reads}
        return (*self.reads, *(name for name in names_of(self.weights) if name not in read_before))

    @property
    def reads_input(self) -> bool:
        """Whether the encoding reads the inputs of q and k, and not only the steps computed from them."""
        return self.place == "input" or any(read in INPUTS for step in self.steps for read in step.reads)

    @property
    def key_steps(self) -> tuple[str, ...]:
        """The encoding's steps that are computed from the input and have one row per key; a decoder caches them."""
        made_of_input = {*INPUTS}
        for step in self.steps:
            if made_of_input & {*step.reads}:
                made_of_input.add(step.output)
        rows = [step.output for step in self.steps if "S" in step.dims and step.output in made_of_input]
        return tuple(name for name in rows if name in self.reads)


BASES = (10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LENGTHS = (8, 32, 128, 512, 2048, 4096)
BASE = Parameter("base", is_whole=False, is_positive=True, usual=10000.0, swept=BASES)
STYLE = Parameter("style", words=ROPE_STYLES, usual="interleaved")
SCALING = Parameter("scaling", words=ROPE_SCALINGS, usual="none")
FACTOR = Parameter("factor", is_whole=False, is_positive=True, usual=1.0, beside="scaling", swept=FACTORS)
TRAINED = Parameter("trained", least=1, usual=4096, beside="scaling", swept=LENGTHS)  # context length of the training
MSCALES = (0.0, 0.5, 0.707, 1.0)
GROWTH = Parameter("mscale", least=0, is_whole=False, usual=1.0, beside="scaling", is_added=True, swept=MSCALES)
ON_SCALE = replace(GROWTH, name="mscale_all_dim", usual=0.0)  # the part of YaRN's growth that multiplies the scores
COLUMNS = Parameter("columns", least=1, usual=None, is_added=True)  # rotated columns; None: all
# By what each pair's angle is multiplied, besides the scaling; None: by 1
PAIR_FACTORS = Parameter("pair_factors", is_whole=False, several=True, usual=None, is_added=True)
ROPE_PARAMETERS = (STYLE, BASE, SCALING, FACTOR, TRAINED, GROWTH, ON_SCALE, COLUMNS, PAIR_FACTORS)
SLOPES = Parameter("slopes", is_whole=False, several=True, usual=None)

POSITIONS = {
    "sinusoidal": Position(SINUSOIDAL, "input", (BASE,)),
    "learned": Position(PLACE_VECTORS, "input", (), fit_places, (W_PLACES,)),
    "rope": Position(ROPE, "heads", ROPE_PARAMETERS, fit_rope, sharpens=rope_sharpness),
    "alibi": Position(ALIBI, "bias", (SLOPES,), fit_alibi),
    "t5": Position(T5_BIAS, "bias", (DIRECTION, FARTHEST), fit_t5, (W_BUCKETS,)),
    "clipped": Position(CLIPPED_BIAS, "bias", (), fit_clipped, (W_CLIPPED,)),
    "relative_keys": Position(RELATIVE_KEYS, "scores", (), fit_relative_keys, (W_RK,), ("q",)),
    "decoupled_rope": Position(
        DECOUPLED,
        "scores",
        ROPE_PARAMETERS,
        fit_decoupled,
        (W_KR, W_QR),
        reads=("q_r", "k_r"),
        steps=(
            PlanStep("q_r_projected", PROJECT, (INPUT, "w_qr"), ("B", "T", "H·d_r")),
            PlanStep("q_r_heads", SPLIT, ("q_r_projected",), ("B", "H", "T", "d_r")),
            PlanStep("q_r", ROPE, ("q_r_heads",), ("B", "H", "T", "d_r")),
            PlanStep("k_r_projected", PROJECT, (KEY_INPUT, "w_kr"), ("B", "S", "d_r")),
            PlanStep("k_r", ROPE, ("k_r_projected",), ("B", "S", "d_r")),
        ),
        compares="d_r",
        sharpens=rope_sharpness,
    ),
}
