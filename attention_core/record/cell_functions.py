"""Defines the functions of a cell's terms, such as sum and softmax; each computes the cell's value and writes its text.

The value is computed from the numbers of the terms; the text consists of their operands (cell_text). A new function
needs one section here and a line in CELL_FUNCTIONS. A mechanism's module may define a CellFunction that only its cells
use.
"""

import math
from collections.abc import Callable, Sequence

from attention_core.record.cell_text import (
    Numbers,
    Part,
    Written,
    distances_text,
    exp_of_difference_text,
    product_text,
    rest_text,
    split_largest,
    sum_text,
)
from attention_core.record.expressions import (
    Cell,
    CellFunction,
    Ref,
    Term,
    exp_or_infinity,
    factor_value,
    multiply_factors,
    sum_rounded_once,
)
from attention_core.record.number_text import format_or_scientific

MIN_VECTOR_LENGTH = 1e-8  # shorter vectors count as this long, so that the zero vector has cosine 0
READABLE_SCORES = (-3.0, 14.0)  # a softmax text shows its sum only if the largest score is in this range


def function_of(cell: Cell) -> CellFunction:
    """Return the CellFunction of a cell; a name is looked up in CELL_FUNCTIONS."""
    return CELL_FUNCTIONS[cell.function] if isinstance(cell.function, str) else cell.function


def evaluate(cell: Cell, lookup: Callable[[Ref], float]) -> float:
    """Compute a cell's number in double precision. lookup: a function that returns an operand's number.

    >>> from attention_core.record.expressions import Constant
    >>> cell = Cell(((Ref("q", (0,)), Constant(2.0)), (Constant(1.0),)))
    >>> evaluate(cell, {Ref("q", (0,)): 3.0}.__getitem__)
    7.0
    """
    value = function_of(cell).value(numbers_of(cell, lookup))
    return value if cell.times is None else cell.times.value * value


def write_cell(cell: Cell, lookup: Callable[[Ref], float]) -> list[Part]:
    """Return the parts of the text that writes out a cell's arithmetic. lookup: a function that returns an operand's
    number.

    >>> from attention_core.record.expressions import Constant
    >>> write_cell(Cell(((Constant(2.0),),), function="exp"), {}.__getitem__)
    ['exp(', Written(factor=Constant(value=2.0, text=''), bracket=False), ')']
    """
    text = function_of(cell).text(cell.terms, numbers_of(cell, lookup))
    return text if cell.times is None else [Written(cell.times), " × ", *text]


def numbers_of(cell: Cell, lookup: Callable[[Ref], float]) -> Numbers:
    """Return the number of every factor of every term. lookup: a function that returns an operand's number."""
    return [[factor_value(factor, lookup) for factor in term] for term in cell.terms]


# ---- sum: all terms, added -------------------------------------------------------------------------------------------
def sum_value(numbers):
    return sum_rounded_once([multiply_factors(term) for term in numbers])


# ---- tanh, sin, cos, exp, sigmoid: of the sum ------------------------------------------------------------------------
def function_of_sum(name: str, function: Callable[[float], float]) -> CellFunction:
    """Return a CellFunction that applies `function` to the sum of the terms: name(a × b + c × d + ...)."""

    def value(numbers):
        return function(sum_value(numbers))

    def text(terms, numbers):
        return [f"{name}(", *sum_text(terms, numbers), ")"]

    return CellFunction(value, text)


def sigmoid(number: float) -> float:
    """Return 1 / (1 + exp(-number)), computed with an exponential of at most 1, which cannot overflow."""
    power = math.exp(-abs(number))
    share = 1 / (1 + power)
    return share if number >= 0 else power * share


def minus_log(number: float) -> float:
    """Return -ln(number), or infinity for 0."""
    return -math.log(number) if number > 0 else math.inf


# ---- exp_below: exp of how far the first term lies below the largest of all the others, which are the row ------------
def exp_below_value(numbers):
    chosen, *row = map(multiply_factors, numbers)
    return exp_or_infinity(chosen - max(row))


def exp_below_text(terms, numbers):
    (chosen,), *row = terms
    _, *scores = map(multiply_factors, numbers)
    position = scores.index(max(scores))
    (largest,) = row[position]
    return exp_of_difference_text(chosen, largest)


# ---- fall: exp of the first term less the second; 0 if the first is minus infinity -----------------------------------
def fall_value(numbers):
    one, other = map(multiply_factors, numbers)
    if one == -math.inf:
        return 0.0
    return exp_or_infinity(one - other)


def fall_text(terms, numbers):
    (one,), (other,) = terms
    return exp_of_difference_text(one, other)


# ---- max: the largest term -------------------------------------------------------------------------------------------
def max_value(numbers):
    return max(map(multiply_factors, numbers))


def max_text(terms, numbers):
    """Return the text max(a, b, ...); of many terms only the largest are shown.

    The largest terms are found by exp(term), because split_largest ranks by magnitude and a term may be negative.
    """
    powers = [exp_or_infinity(number) for (number,) in numbers]
    shown, gathered = split_largest(powers)
    parts: list[Part] = []
    for i in shown:
        opening = ", " if parts else "max("
        parts.append(opening)
        parts += product_text(terms[i])
    closing = ", ...)" if gathered else ")"
    return [*parts, closing]


# ---- softmax: exp of the first term over the sum of exp of all the others, which are the row; a blocked row gives 0 --
def softmax_value(numbers):
    chosen, *row = map(multiply_factors, numbers)
    top = max(row)
    if top == -math.inf:
        return 0.0
    powers = [math.exp(score - top) for score in row]
    return math.exp(chosen - top) / math.fsum(powers)


def softmax_text(terms, numbers):
    """Return the text exp(a) / (exp(a) + exp(b) + ...) = power / sum.

    The part after the equals sign is left out if its numbers are too large or too small to read.
    """
    (chosen,), *row = terms
    _, *scores = (score for (score,) in numbers)
    top = max(scores)
    if top == -math.inf:
        return ["Σ exp(−∞) = 0 ⇒ 0"]
    powers = [math.exp(score - top) for score in scores]  # each power is at most exp(0) = 1, so none overflows
    position = row.index((chosen,))
    shown, gathered = split_largest(powers, always=position)
    parts: list[Part] = ["exp(", Written(chosen), ") / ("]
    for i in shown:
        parts.append("exp(" if i == shown[0] else " + exp(")
        parts += product_text(row[i])
        parts.append(")")
    rest = [exp_or_infinity(scores[i]) for i in gathered]
    parts += rest_text(rest)
    parts.append(")" + readable_softmax(numbers))
    return parts


def readable_softmax(numbers: Numbers) -> str:
    """Return the text "= power / sum" that follows a softmax, or "" if its largest score is outside READABLE_SCORES."""
    (chosen,), *row = numbers
    scores = [score for (score,) in row]
    lowest, highest = READABLE_SCORES
    if not lowest < max(scores) < highest:
        return ""
    power = math.exp(chosen)
    total = math.fsum(map(math.exp, scores))
    power_text = format_or_scientific(power)
    total_text = format_or_scientific(total)
    return f" = {power_text} / {total_text}"


# ---- quotient: the first term over the sum of all the others; inf / inf and 0 / 0 are not a number -------------------
def quotient_value(numbers):
    chosen, *row = map(multiply_factors, numbers)
    whole = sum_rounded_once(row)
    if whole == 0:
        return math.nan
    return chosen / whole


def quotient_text(terms, numbers):
    """Return the text a / (a + b + ...)."""
    chosen, *row = terms
    _, *row_numbers = numbers
    whole = sum_text(row, row_numbers)
    return [*product_text(chosen), " / (", *whole, ")"]


# ---- share: the first term over the sum of all the others, 0 if that sum is 0 ----------------------------------------
def share_value(numbers):
    chosen, *row = map(multiply_factors, numbers)
    if not any(row):
        return 0.0
    return chosen / math.fsum(row)


def share_text(terms, numbers):
    """Return the text a / (a + b + ...), or 0 if the sum is 0."""
    _, *row = terms
    _, *row_numbers = numbers
    if any(map(multiply_factors, row_numbers)):
        return quotient_text(terms, numbers)
    return [*sum_text(row, row_numbers), " = 0 ⇒ 0"]


# ---- round: the first term, with the second as the number of decimals, a half away from 0 ----------------------------
def round_value(numbers):
    value, digits = map(multiply_factors, numbers)
    unit = 10.0**digits
    whole_units = math.floor(abs(value) * unit + 0.5)
    return math.copysign(whole_units / unit, value)


def round_text(terms, numbers):
    (value,), (digits,) = terms
    return ["round(", Written(value), ", ", Written(digits), ")"]


# ---- slope: the first term times what is left of the second without the third ----------------------------------------
def slope_value(numbers):
    weight, one, other = map(multiply_factors, numbers)
    return weight * (one - other)


def slope_text(terms, numbers):
    """Return the text of a softmax's derivative: a × (1 − a) for a weight and its own score, a × (0 − b) for another
    score.
    """
    (weight,), (one,), (other,) = terms
    return [Written(weight), " × (", Written(one), " − ", Written(other), ")"]


# ---- alike: 1 less half the sum of |a - b|, where each term is a pair a, b -------------------------------------------
def pair_distances(numbers: Numbers) -> list[float]:
    """Return the distance |a - b| of each pair."""
    return [abs(one - other) for one, other in numbers]


def alike_value(numbers):
    return 1 - math.fsum(pair_distances(numbers)) / 2


def alike_text(terms, numbers):
    """Return the text 1 − (|a − b| + |c − d| + ...) / 2; of many distances, the smallest are a subtotal."""
    distances = pair_distances(numbers)
    shown, gathered = split_largest(distances)
    shown_terms = [terms[i] for i in shown]
    pairs = distances_text(shown_terms, between=" + ")
    rest = rest_text([distances[i] for i in gathered])
    return ["1 − (", *pairs, *rest, ") / 2"]


# ---- farthest: the largest |a - b|, where each term is a pair a, b ---------------------------------------------------
def farthest_value(numbers):
    return max(pair_distances(numbers))


def farthest_text(terms, numbers):
    """Return the text max(|a − b|, |c − d|, ...); of many distances only the largest are shown."""
    shown, gathered = split_largest(pair_distances(numbers))
    shown_terms = [terms[i] for i in shown]
    closing = ", ...)" if gathered else ")"
    return ["max(", *distances_text(shown_terms, between=", "), closing]


# ---- select: the first term if the second (a truth value) holds, else the third, or minus infinity -------------------
def select_value(numbers):
    value, condition, *other = map(multiply_factors, numbers)
    if condition:
        return value
    if other:
        return other[0]
    return -math.inf


def select_text(terms, numbers):
    """Return the text of a mask's cell: the score if the pair is allowed, else what replaces it, such as −∞."""
    score, (allowed,), *other = terms
    _, (is_allowed,), *_ = numbers
    result: list[Part] = ["−∞"]
    if is_allowed:
        result = product_text(score)
    elif other:
        result = product_text(*other)
    return [
        "allowed = ",
        Written(allowed),
        " ⇒ ",
        *result,
    ]


# ---- choose: the second term if the third (a truth value) holds, else the first --------------------------------------
def choose_value(numbers):
    value, chosen, condition = map(multiply_factors, numbers)
    return chosen if condition else value


def choose_text(terms, numbers):
    """Return the text of a replaced number: the visitor's number if there is one, else the computed one."""
    value, chosen, (condition,) = terms
    *_, (is_chosen,) = numbers
    result = chosen if is_chosen else value
    return ["chosen: ", Written(condition), " ⇒ ", *product_text(result)]


# ---- cosine: the sum of the products over the lengths of two vectors, the first factors and the second factors -------
def cosine_lengths(numbers: Numbers) -> list[float]:
    """Return the lengths of the two vectors of a cosine, each at least MIN_VECTOR_LENGTH."""
    vectors = zip(*numbers, strict=True)
    return [max(math.hypot(*vector), MIN_VECTOR_LENGTH) for vector in vectors]


def cosine_value(numbers):
    left, right = cosine_lengths(numbers)
    return sum_value(numbers) / (left * right)


def cosine_text(terms, numbers):
    """Return the text of a cosine: the dot product divided by both lengths."""
    left, right = map(length_text, cosine_lengths(numbers))
    return ["(", *sum_text(terms, numbers), f") / ({left} × {right})"]


def length_text(length: float) -> str:
    """Return a vector's length as text; the minimum MIN_VECTOR_LENGTH is shown as that constant."""
    if length > MIN_VECTOR_LENGTH:
        return format_or_scientific(length)
    return f"{MIN_VECTOR_LENGTH:g}"


# ---- elu_plus_one: the term plus 1 if it is above 0, else exp of it --------------------------------------------------
def elu_plus_one_value(numbers):
    ((number,),) = numbers
    return number + 1 if number > 0 else math.exp(number)


def elu_plus_one_text(terms, numbers):
    """Return the text of elu(a) + 1: a + 1 for a positive number, else exp(a)."""
    ((factor,),) = terms
    ((number,),) = numbers
    return [Written(factor), " + 1"] if number > 0 else ["exp(", Written(factor), ")"]


# ---- relu, gelu, silu: of one number x: max(0, x), x Φ(x) with the normal distribution's Φ, x σ(x) -------------------
def relu_value(numbers):
    return max(0.0, sum_value(numbers))


def relu_text(terms, numbers):
    ((factor,),) = terms
    return ["max(0, ", Written(factor), ")"]


def gelu_value(numbers):
    number = sum_value(numbers)
    return number * math.erfc(-number / math.sqrt(2)) / 2


def gelu_tanh_value(numbers):
    number = sum_value(numbers)
    inside = math.sqrt(2 / math.pi) * (number + 0.044715 * number**3)
    return number * (1 + math.tanh(inside)) / 2


def gelu_tanh_text(terms, numbers):
    """Return the text of the approximation x × (1 + tanh(√(2/π) × (x + 0.044715 × x³))) / 2."""
    ((factor,),) = terms
    x = Written(factor)
    return [x, " × (1 + tanh(√(2/π) × (", x, " + 0.044715 × (", x, ")³))) / 2"]


def relu_squared_value(numbers):
    return relu_value(numbers) ** 2


def relu_squared_text(terms, numbers):
    return [*relu_text(terms, numbers), "²"]


def silu_value(numbers):
    number = sum_value(numbers)
    return number * sigmoid(number)


def times_share_text(share: str) -> Callable[[Sequence[Term], Numbers], list[Part]]:
    """Return the text function of x × share(x).

    share: the name of the function `share`, such as sigmoid.
    """

    def text(terms, numbers):
        ((factor,),) = terms
        return [Written(factor), f" × {share}(", Written(factor), ")"]

    return text


# ---- times_tanh: the first term times tanh of the second -------------------------------------------------------------
def times_tanh_value(numbers):
    share, inside = map(multiply_factors, numbers)
    return share * math.tanh(inside)


def times_tanh_text(terms, numbers):
    """Return the text a × tanh(b)."""
    share, inside = terms
    return [*product_text(share), " × tanh(", *product_text(inside), ")"]


# ---- over_rms: the first term over the root of the second and the mean of all the others -----------------------------
def over_rms_value(numbers):
    chosen, *root = numbers
    return multiply_factors(chosen) / rms_value(root)


def over_rms_text(terms, numbers):
    """Return the text x × g / √((a × a + b × b + ...) / d + eps)."""
    chosen, *root = terms
    return [*product_text(chosen), " / ", *rms_text(root, numbers[1:])]


# ---- rms: the root of the first term and the mean of all the others --------------------------------------------------
def rms_value(numbers):
    eps, *squares = map(multiply_factors, numbers)
    return math.sqrt(math.fsum(squares) / len(squares) + eps)


def rms_text(terms, numbers):
    """Return the text √((a × a + b × b + ...) / d + eps)."""
    (eps,), *squares = terms
    return ["√((", *sum_text(squares, numbers[1:]), f") / {len(squares)} + ", Written(eps), ")"]


# ---- over_rms_plus: the first term, and the second over the root of the third and the mean of all the others ---------
def over_rms_plus_value(numbers):
    shift, *normed = numbers
    return over_rms_value(normed) + multiply_factors(shift)


def over_rms_plus_text(terms, numbers):
    """Return the text x × g / √((a × a + b × b + ...) / d + eps) + s."""
    shift, *normed = terms
    return [*over_rms_text(normed, numbers[1:]), " + ", *product_text(shift, bracket=True)]


# ---- top_k: the first term if fewer terms of the row than the second are larger, else minus infinity -----------------
def top_k_value(numbers):
    chosen, most, *row = map(multiply_factors, numbers)
    return chosen if count_larger(chosen, row) < most else -math.inf


def count_larger(chosen: float, row: Sequence[float]) -> int:
    """Return how many numbers in a row are larger than `chosen`."""
    return sum(number > chosen for number in row)


def top_k_text(terms, numbers):
    """Return the text of top-k, such as #(> a) = 3 < 5 ⇒ a: 3 numbers are larger than a, fewer than 5, so a stays."""
    number, most, *row = map(multiply_factors, numbers)
    (chosen,), (limit,), *_ = terms
    larger = count_larger(number, row)
    parts = ["#(> ", Written(chosen), f") = {larger} "]
    if larger < most:
        return [*parts, "< ", Written(limit), " ⇒ ", Written(chosen)]
    return [*parts, "≥ ", Written(limit), " ⇒ −∞"]


# ---- top_p: the first term if the softmax of all larger ones of the row is below the second, else minus infinity -----
def share_of_larger(numbers: Numbers) -> float:
    """Return the total softmax probability of the numbers that are larger than the first term, the cell's own
    number."""
    chosen, _, *row = map(multiply_factors, numbers)
    top = max(row)
    powers = [math.exp(number - top) for number in row]
    larger = [power for power, number in zip(powers, row, strict=True) if number > chosen]
    return math.fsum(larger) / math.fsum(powers)


def top_p_value(numbers):
    (chosen,), (share,), *_ = numbers
    return chosen if share_of_larger(numbers) < share else -math.inf


def top_p_text(terms, numbers):
    """Return the text of top-p, such as Σ softmax(> a) = 0.40 < 0.90 ⇒ a.

    The numbers larger than a have the share 0.40, less than 0.90, so a stays.
    """
    (chosen,), (share,), *_ = terms
    _, (most,), *_ = numbers
    larger = share_of_larger(numbers)
    parts = ["Σ softmax(> ", Written(chosen), f") = {format_or_scientific(larger)} "]
    if larger < most:
        return [*parts, "< ", Written(share), " ⇒ ", Written(chosen)]
    return [*parts, "≥ ", Written(share), " ⇒ −∞"]


# ---- the table -------------------------------------------------------------------------------------------------------
CELL_FUNCTIONS = {
    "sum": CellFunction(sum_value, sum_text),
    "tanh": function_of_sum("tanh", math.tanh),
    "sin": function_of_sum("sin", math.sin),
    "cos": function_of_sum("cos", math.cos),
    "exp": function_of_sum("exp", exp_or_infinity),
    "sigmoid": function_of_sum("σ", sigmoid),
    "minus_ln": function_of_sum("−ln", minus_log),
    "exp_below": CellFunction(exp_below_value, exp_below_text),
    "fall": CellFunction(fall_value, fall_text),
    "max": CellFunction(max_value, max_text),
    "softmax": CellFunction(softmax_value, softmax_text),
    "quotient": CellFunction(quotient_value, quotient_text),
    "share": CellFunction(share_value, share_text),
    "round": CellFunction(round_value, round_text),
    "slope": CellFunction(slope_value, slope_text),
    "alike": CellFunction(alike_value, alike_text),
    "farthest": CellFunction(farthest_value, farthest_text),
    "select": CellFunction(select_value, select_text),
    "choose": CellFunction(choose_value, choose_text),
    "cosine": CellFunction(cosine_value, cosine_text),
    "elu_plus_one": CellFunction(elu_plus_one_value, elu_plus_one_text),
    "relu": CellFunction(relu_value, relu_text),
    "gelu": CellFunction(gelu_value, times_share_text("Φ")),
    "gelu_tanh": CellFunction(gelu_tanh_value, gelu_tanh_text),
    "relu_squared": CellFunction(relu_squared_value, relu_squared_text),
    "silu": CellFunction(silu_value, times_share_text("σ")),
    "times_tanh": CellFunction(times_tanh_value, times_tanh_text),
    "rms": CellFunction(rms_value, rms_text),
    "over_rms": CellFunction(over_rms_value, over_rms_text),
    "over_rms_plus": CellFunction(over_rms_plus_value, over_rms_plus_text),
    "top_k": CellFunction(top_k_value, top_k_text),
    "top_p": CellFunction(top_p_value, top_p_text),
}
