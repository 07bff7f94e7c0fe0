"""Reads back how the scores of a watched softmax were made: factor · q kᵀ + bias, and which pairs may attend."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.checkpoints.call import BLOCKED_BELOW, AttentionCall
from attention_core.checkpoints.watched_run import PRODUCTS, SAME_NUMBERS, Computed, Mixing, OperationWatch
from attention_core.record.errors import AttentionError

CHANGES_OF_SCORES = SAME_NUMBERS | {
    *("mul", "mul_", "div", "div_", "add", "add_", "sub", "sub_", "rsub", "tanh", "clamp", "clamp_min", "maximum"),
    *("masked_fill", "masked_fill_", "where", "gather", "index"),
}
MOST_OPERATIONS = 60  # between the product of q and k and the softmax
MOST_SOURCES = 30  # how far back a product is looked for


@dataclass(eq=False)
class ReadScores:
    """The scores of a softmax as far as they are read back: factor · (what is not yet read) + added, where allowed.

    layer: the name of the module of the softmax. added, allowed: in the shape of the softmax; None if nothing is added
    or blocked.
    """

    layer: str
    shape: torch.Size
    factor: float = 1.0
    added: Tensor | None = None
    allowed: Tensor | None = None

    def add(self, term: Tensor, factor: float, like: Tensor) -> None:
        """Note that a term times a factor is added to the scores, in an operation whose result is `like`."""
        term = (term.double() * factor).expand(like.shape)
        if term.numel() != self.shape.numel():
            raise AttentionError("scores_shape", layer=self.layer, expected=tuple(self.shape), shape=tuple(term.shape))
        term = term.reshape(self.shape)
        self.added = term if self.added is None else self.added + term

    def block_except(self, where: Tensor, like: Tensor) -> None:
        """Note that only some pairs may attend, by an operation whose result is `like`."""
        where = where.expand(like.shape).reshape(self.shape)
        self.allowed = where if self.allowed is None else self.allowed & where


# ---- from the softmax back to the product ----------------------------------------------------------------------------
def read_scores(softmax: Computed) -> tuple[ReadScores, Computed]:
    """Return how the scores of a softmax were made, and the product of q and k. Raises AttentionError."""
    scores, computed = ReadScores(softmax.module, softmax.arguments[0].shape), softmax.source()
    for _ in range(MOST_OPERATIONS):
        if computed is None:
            break
        if computed.name in ("bmm", "baddbmm"):
            return scores, computed
        computed = read_change(computed, scores)
    raise AttentionError("scores_of_no_product", layer=scores.layer)


def read_factors(product: Computed, scores: ReadScores) -> tuple[Tensor, Tensor]:
    """Return the q and k of the product of the scores; baddbmm adds a tensor to it.

    If both were multiplied by one number, as torch's own attention does with the fourth root of 1/d_k, they are
    returned without it, in float64, and the scores have its square as a factor.
    """
    *added, q, k = product.arguments
    beta = float(product.named.get("beta", 1))
    if added and beta:  # with 0, what is added may be uninitialised
        scores.add(added[0], scores.factor * beta, product.result)
    scores.factor *= float(product.named.get("alpha", 1))
    factors = [find_factor(product.source(len(added) + place)) for place in (0, 1)]
    if factors[0] not in (None, 0.0) and factors[0] == factors[1]:
        scores.factor *= factors[0] ** 2
        q, k = q.double() / factors[0], k.double() / factors[0]
    return q, k.mT


def find_factor(computed: Computed | None) -> float | None:
    """Return the number by which a tensor was multiplied before changes of its shape; None if there is none."""
    while computed is not None and computed.name in SAME_NUMBERS:
        computed = computed.source()
    return read_number(computed.arguments[1]) if computed is not None and computed.name == "mul" else None


def read_change(computed: Computed, scores: ReadScores) -> Computed | None:
    """Note what one operation did to the scores; return the operation before it. Raises AttentionError."""
    name = computed.name.removesuffix("_")
    if computed.name in SAME_NUMBERS or name in ("maximum", "clamp", "clamp_min"):  # not below the lowest number
        return computed.source()
    if name in ("mul", "div"):
        return read_factor(computed, scores, is_division=name == "div")
    if name in ("add", "sub"):
        return read_sum(computed, scores, is_difference=name == "sub")
    if name == "masked_fill":
        require_low(computed.arguments[2], scores.layer)
        scores.block_except(~computed.arguments[1], computed.result)
        return computed.source()
    if name == "where":
        return read_choice(computed, scores)
    raise AttentionError("scores_go_through", layer=scores.layer, operation=name)


def read_factor(computed: Computed, scores: ReadScores, is_division: bool) -> Computed | None:
    """Note a factor on the scores; a tensor of 0 and 1 blocks where it is 0, as in GPT."""
    place = 0 if leads_to_product(computed.source(0)) else 1
    other = computed.arguments[1 - place]
    factor = read_number(other)
    if factor is None and not is_division and isinstance(other, Tensor) and bool(((other == 0) | (other == 1)).all()):
        scores.block_except(other != 0, computed.result)
        return computed.source(place)
    if factor is None or (is_division and place == 1):
        shape = tuple(other.shape) if isinstance(other, Tensor) else ()
        raise AttentionError("scores_go_through", layer=scores.layer, operation=f"{computed.name} {shape}")
    scores.factor *= 1 / factor if is_division else factor
    return computed.source(place)


def read_sum(computed: Computed, scores: ReadScores, is_difference: bool) -> Computed | None:
    """Note what is added to the scores."""
    place = next((n for n in (0, 1) if leads_to_product(computed.source(n))), None)
    if place is None:
        raise AttentionError("scores_of_no_product", layer=scores.layer)
    other = computed.arguments[1 - place]
    alpha = float(computed.named.get("alpha", 1))
    sign = -alpha if is_difference else alpha  # of the second operand
    factor = scores.factor
    if place == 0:
        factor *= sign
    if isinstance(other, Tensor):
        scores.add(other, factor, computed.result)
    elif other:
        scores.add(torch.full((1,), float(other)), factor, computed.result)
    if place == 1:
        scores.factor *= sign
    return computed.source(place)


def read_choice(computed: Computed, scores: ReadScores) -> Computed | None:
    """Note that torch.where keeps some scores and puts a low number in the place of the others."""
    where, *choices = computed.arguments
    for place in (1, 2):
        if leads_to_product(computed.source(place)):
            require_low(choices[2 - place], scores.layer)
            scores.block_except(where if place == 1 else ~where, computed.result)
            return computed.source(place)
    raise AttentionError("scores_go_through", layer=scores.layer, operation="where")


def require_low(value: object, layer: str) -> None:
    """Raise AttentionError unless a number that replaces scores blocks them."""
    number = float(value.max()) if isinstance(value, Tensor) else read_number(value)
    if number is None or number > BLOCKED_BELOW:
        raise AttentionError("scores_replaced", layer=layer, given=number)


def read_number(value: object) -> float | None:
    """Return a number, or the only one of a tensor; None for anything else."""
    if isinstance(value, Tensor):
        return float(value) if value.numel() == 1 and value.is_floating_point() else None
    return float(value) if isinstance(value, int | float) else None


def leads_to_product(computed: Computed | None, steps: int = MOST_SOURCES) -> bool:
    """Return whether a tensor was made from a product of two tensors by operations that scores go through."""
    if computed is None or steps == 0:
        return False
    if computed.name in ("bmm", "baddbmm"):
        return True
    sources = computed.made_by.values() if computed.name in CHANGES_OF_SCORES else ()
    return any(leads_to_product(source, steps - 1) for source in sources)


# ---- the whole call --------------------------------------------------------------------------------------------------
def read_watched(watched: OperationWatch, batch: int) -> tuple[list[AttentionCall], list[AttentionError]]:
    """Return the attention calls of a watched run, in order, and why other softmaxes are none.

    A softmax over the result of a linear map, such as that of a router or of logits, is not looked at. batch: the
    number of texts of the run.
    """
    calls, missing = [], []
    for mixing in watched.mixings:
        try:
            calls.append(read_mixing(mixing, batch))
        except AttentionError as reason:
            missing.append(reason)
    for softmax in watched.unmixed():
        if not is_of_linear(softmax.source()):
            shape = tuple(softmax.result.shape)
            missing.append(AttentionError("softmax_mixes_nothing", layer=softmax.module, shape=shape))
    return calls, missing


def is_of_linear(computed: Computed | None) -> bool:
    """Return whether a tensor is, but for its shape, the result of a linear map."""
    for _ in range(MOST_SOURCES):
        if computed is None or computed.name not in SAME_NUMBERS:
            break
        computed = computed.source()
    return computed is not None and computed.name in ("mm", "addmm")


def read_mixing(mixing: Mixing, batch: int) -> AttentionCall:
    """Return one call. Raises AttentionError."""
    scores, product = read_scores(mixing.softmax)
    q, k = read_factors(product, scores)
    weights, values, output = read_mixed(mixing)
    sizes = find_batch(weights.shape, scores, batch)

    def split(tensor: Tensor) -> Tensor:
        return tensor.reshape(*sizes, *tensor.shape[-2:])

    allowed, added = (None if given is None else split(given) for given in (scores.allowed, scores.added))
    k, v = join_equal_heads(split(k), split(values))
    return AttentionCall(
        name=mixing.softmax.module,
        q=split(q),
        k=k,
        v=v,
        output=split(output).transpose(1, 2),
        weights=split(weights),
        mask=allowed,
        scale=scores.factor,
        bias=added,
        way="watched",
    )


def read_mixed(mixing: Mixing) -> tuple[Tensor, Tensor, Tensor]:
    """Return the weights, the values and the product; of a product (vᵀ aᵀ)ᵀ likewise."""
    product, place = mixing.product, mixing.operand
    first, second = (product.arguments[operand] for operand in PRODUCTS[product.name])
    weights, values = product.arguments[place], second
    if weights is second:
        return second.mT, first.mT, product.result.mT
    return weights, values, product.result


def find_batch(weights: torch.Size, scores: ReadScores, batch: int) -> tuple[int, int]:
    """Return (B, H) of the weights of a product, whose leading axis may be B·H. Raises AttentionError."""
    rows = weights[0] if len(weights) >= 3 else 1
    B, H = scores.shape[:2] if len(scores.shape) == 4 else (batch, rows // batch)
    if rows != B * H:
        given = {"weights": tuple(weights), "scores": tuple(scores.shape)}
        raise AttentionError("heads_unknown", layer=scores.layer, **given)
    return B, H


def join_equal_heads(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values with one head for each group of neighbouring heads that are equal."""
    H = k.shape[1]
    for heads in (count for count in range(1, H) if H % count == 0):
        few = [tensor[:, :: H // heads] for tensor in (k, v)]
        repeated = [tensor.repeat_interleave(H // heads, 1) for tensor in few]
        if torch.equal(repeated[0], k) and torch.equal(repeated[1], v):
            return few[0], few[1]
    return k, v
