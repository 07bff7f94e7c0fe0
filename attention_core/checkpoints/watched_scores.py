"""Finds how the scores of a recorded softmax were computed: factor · q kᵀ + bias, and which pairs may attend."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.checkpoints.call import BLOCKED_BELOW, AttentionCall
from attention_core.checkpoints.watched_run import PRODUCTS, SAME_NUMBERS, Computed, Mixing, OperationWatch
from attention_core.record.errors import AttentionError

CHANGES_OF_SCORES = SAME_NUMBERS | {
    *("mul", "mul_", "div", "div_", "add", "add_", "sub", "sub_", "rsub", "tanh", "clamp", "clamp_min", "maximum"),
    *("masked_fill", "masked_fill_", "where", "gather", "index", "index_put", "index_put_"),
}
CUTS = ("view", "_unsafe_view", "reshape", "_reshape_alias")  # operations that may split an axis into two
ENDS_OF_MAP = ("mm", "addmm", "select", "split", "split_with_sizes")  # a linear map or a part of it
MOST_OPERATIONS = 60  # most operations between the product q kᵀ and the softmax
MOST_SOURCES = 30  # most operations that are traced back in search of a product


@dataclass(eq=False)
class ReadScores:
    """The scores of a softmax, traced back through its operations: factor · (result of an earlier operation) + added,
    where allowed.

    layer: the name of the module that ran the softmax. added, allowed: tensors in the shape of the softmax; None if
    nothing is added or blocked. by_query: a further factor per query, (..., T, 1), such as the temperature of a head,
    or None. cap: the bound of a soft cap, cap · tanh(scores / cap), or None.
    """

    layer: str
    shape: torch.Size
    factor: float = 1.0
    added: Tensor | None = None
    allowed: Tensor | None = None
    by_query: Tensor | None = None
    cap: float | None = None

    def add(self, term: Tensor, factor: float, like: Tensor) -> None:
        """Add a term times a factor to the scores' added part; the term broadcasts to `like`, the operation's
        result."""
        term = (term.double() * factor).expand(like.shape)
        if term.numel() != self.shape.numel():
            raise AttentionError("scores_shape", layer=self.layer, expected=tuple(self.shape), shape=tuple(term.shape))
        term = term.reshape(self.shape)
        if self.by_query is not None:
            term = term * self.by_query
        if bool(term.any()):
            self.require_no_cap()
        self.added = term if self.added is None else self.added + term

    def block_except(self, where: Tensor, like: Tensor) -> None:
        """Limit the scores to the pairs that may attend; the mask broadcasts to `like`, the operation's result."""
        self.require_no_cap()
        where = where.expand(like.shape).reshape(self.shape)
        self.allowed = where if self.allowed is None else self.allowed & where

    def multiply(self, by_query: Tensor, like: Tensor) -> None:
        """Multiply the scores by one number per query, which broadcasts to `like`, the operation's result."""
        by_query = by_query.double().expand(*like.shape[:-1], 1)
        by_query = by_query.reshape(*self.shape[:-1], 1)
        self.by_query = by_query if self.by_query is None else self.by_query * by_query

    def bend(self) -> None:
        """Record a tanh in the computation of the scores (a soft cap), whose cap is the factor so far. Raises
        AttentionError.
        """
        self.require_no_cap()
        if self.by_query is not None or self.factor <= 0:
            raise AttentionError("scores_go_through", layer=self.layer, operation="tanh")
        self.cap = self.factor  # the factor on x in c · tanh(x) is the cap c, because it is written c · tanh((c x) / c)

    def require_no_cap(self) -> None:
        """Raise AttentionError if a tanh follows the operation, because scores can then no longer be written as a
        scaled sum."""
        if self.cap is not None:
            raise AttentionError("scores_go_through", layer=self.layer, operation="tanh")

    def is_product(self, computed: Computed) -> bool:
        """Return whether an operation is a product of two tensors that the run computed, such as q kᵀ, and not a linear
        map.
        """
        if computed.name in ("bmm", "baddbmm"):
            return True
        is_flat = computed.name == "mm" and len(self.shape) == 2
        return is_flat and was_computed(computed.source(0)) and was_computed(computed.source(1))


# ---- from the softmax back to the product ----------------------------------------------------------------------------
def read_scores(softmax: Computed) -> tuple[ReadScores, Computed]:
    """Trace a softmax back to the product of q and k; return how its scores were computed, and the product. Raises
    AttentionError."""
    scores, computed = ReadScores(softmax.module, softmax.arguments[0].shape), softmax.source()
    for _ in range(MOST_OPERATIONS):
        if computed is None:
            break
        if scores.is_product(computed):
            return scores, computed
        computed = read_change(computed, scores)
    raise AttentionError("scores_of_no_product", layer=scores.layer)


def read_factors(product: Computed, scores: ReadScores) -> tuple[Tensor, Tensor]:
    """Return q and k, the factors of the scores' product, divided by a common factor; record a tensor that baddbmm
    adds.

    If both were multiplied by the same number, as by the fourth root of 1/d_k in torch's attention, they are divided by
    it in float64, and the factor of the scores is multiplied by its square.
    """
    *added, q, k = product.arguments
    beta = float(product.named.get("beta", 1))
    if added and beta:  # with beta = 0 torch ignores the added tensor, which may be uninitialised
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
    """Record what one operation changed in the scores, and return the operation before it. Raises AttentionError."""
    name = computed.name.removesuffix("_")
    if computed.name in SAME_NUMBERS or name in ("maximum", "clamp", "clamp_min"):  # a lower limit
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
    if name == "index_put":
        return read_replaced(computed, scores)
    if name == "tanh":
        scores.bend()
        return computed.source()
    raise AttentionError("scores_go_through", layer=scores.layer, operation=name)


def read_factor(computed: Computed, scores: ReadScores, is_division: bool) -> Computed | None:
    """Record a factor on the scores; if it is a tensor of zeros and ones, record it as a mask that blocks at 0, as in
    GPT."""
    place = 0 if leads_to_product(computed.source(0), scores) else 1
    other = computed.arguments[1 - place]
    factor = read_number(other)
    if factor is None and not is_division and isinstance(other, Tensor) and bool(((other == 0) | (other == 1)).all()):
        scores.block_except(other != 0, computed.result)
        return computed.source(place)
    if isinstance(other, Tensor) and other.dim() and other.shape[-1] == 1 and not (is_division and place == 1):
        scores.multiply(1 / other.double() if is_division else other, computed.result)
        return computed.source(place)
    if factor is None or (is_division and place == 1):
        shape = tuple(other.shape) if isinstance(other, Tensor) else ()
        raise AttentionError("scores_go_through", layer=scores.layer, operation=f"{computed.name} {shape}")
    scores.factor *= 1 / factor if is_division else factor
    return computed.source(place)


def read_sum(computed: Computed, scores: ReadScores, is_difference: bool) -> Computed | None:
    """Record the number or tensor that an addition or a subtraction adds to the scores."""
    place = next((n for n in (0, 1) if leads_to_product(computed.source(n), scores)), None)
    if place is None:
        raise AttentionError("scores_of_no_product", layer=scores.layer)
    other = computed.arguments[1 - place]
    alpha = float(computed.named.get("alpha", 1))
    sign = -alpha if is_difference else alpha  # alpha is torch's factor on the second operand
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
    """Record a torch.where that keeps the scores of some pairs and blocks the others by a low number."""
    where, *choices = computed.arguments
    for place in (1, 2):
        if leads_to_product(computed.source(place), scores):
            require_low(choices[2 - place], scores.layer)
            scores.block_except(where if place == 1 else ~where, computed.result)
            return computed.source(place)
    raise AttentionError("scores_go_through", layer=scores.layer, operation="where")


def read_replaced(computed: Computed, scores: ReadScores) -> Computed | None:
    """Record that some scores were replaced by a low number, as in scores[..., mask] = -inf."""
    _, places, number = computed.arguments[:3]
    require_low(number, scores.layer)
    kept = torch.ones(computed.result.shape, dtype=torch.bool, device=computed.result.device)
    kept[tuple(slice(None) if place is None else place for place in places)] = False
    scores.block_except(kept, computed.result)
    return computed.source()


def require_low(value: object, layer: str) -> None:
    """Raise AttentionError unless a number that replaces scores is low enough to block them."""
    number = float(value.max()) if isinstance(value, Tensor) else read_number(value)
    if number is None or number > BLOCKED_BELOW:
        raise AttentionError("scores_replaced", layer=layer, given=number)


def read_number(value: object) -> float | None:
    """Return a Python number, or the single number of a tensor; None for anything else."""
    if isinstance(value, Tensor):
        return float(value) if value.numel() == 1 and value.is_floating_point() else None
    return float(value) if isinstance(value, int | float) else None


def leads_to_product(computed: Computed | None, scores: ReadScores, steps: int = MOST_SOURCES) -> bool:
    """Return whether a tensor comes from a product of two tensors through operations that scores may pass through."""
    if computed is None or steps == 0:
        return False
    if scores.is_product(computed):
        return True
    sources = computed.made_by.values() if computed.name in CHANGES_OF_SCORES else ()
    return any(leads_to_product(source, scores, steps - 1) for source in sources)


def was_computed(computed: Computed | None) -> bool:
    """Return whether the run computed a tensor, which is not just a reshaped parameter, such as the weights of a linear
    map.
    """
    while computed is not None and computed.name in SAME_NUMBERS:
        computed = computed.source()
    return computed is not None


# ---- the whole call --------------------------------------------------------------------------------------------------
def read_watched(watched: OperationWatch, batch: int) -> tuple[list[AttentionCall], list[AttentionError]]:
    """Return the attention calls of a recorded run in order, and the reasons why its other softmaxes are no attention.

    A softmax over the result of a linear map, such as that of a router or of logits, is ignored; so is a softmax with
    two axes that is no attention. batch: the number of texts of the run.
    """
    calls, missing = [], []
    for mixing in watched.attention:
        if isinstance(mixing, Computed):
            calls.append(read_fused(mixing))
            continue
        try:
            calls.append(read_mixing(mixing, batch))
        except AttentionError as reason:
            if mixing.softmax.result.dim() > 2:  # with two axes, it may be a router of experts
                missing.append(reason)
    for softmax in watched.unmixed():
        if softmax.result.dim() > 2 and not is_of_linear(softmax.source()):
            shape = tuple(softmax.result.shape)
            missing.append(AttentionError("softmax_mixes_nothing", layer=softmax.module, shape=shape))
    return calls, missing


def is_of_linear(computed: Computed | None) -> bool:
    """Return whether a tensor is the result of a linear map, possibly reshaped."""
    for _ in range(MOST_SOURCES):
        if computed is None or computed.name not in SAME_NUMBERS:
            break
        computed = computed.source()
    return computed is not None and computed.name in ("mm", "addmm")


def read_mixing(mixing: Mixing, batch: int) -> AttentionCall:
    """Return the AttentionCall of a softmax that mixes values. Raises AttentionError."""
    scores, product = read_scores(mixing.softmax)
    heads = find_heads(product)
    q, k = read_factors(product, scores)
    weights, values, output = read_mixed(mixing)
    sizes = find_batch(weights.shape, scores, batch, heads)

    def split(tensor: Tensor) -> Tensor:
        return tensor.reshape(*sizes, *tensor.shape[-2:])

    parts = (scores.allowed, scores.added, scores.by_query)
    allowed, added, by_query = (None if part is None else split(part) for part in parts)
    q = split(q) if by_query is None else split(q) * by_query
    k, v = join_equal_heads(split(k), split(values))
    return AttentionCall(
        name=mixing.softmax.module,
        q=q,
        k=k,
        v=v,
        output=split(output).transpose(1, 2),
        weights=split(weights),
        mask=allowed,
        scale=scores.factor,
        bias=added,
        cap=scores.cap,
        way="watched",
    )


def read_fused(computed: Computed) -> AttentionCall:
    """Return the AttentionCall of torch's fused attention, which computes no weights to compare."""
    q, k, v, *rest = computed.arguments
    mask = computed.named.get("attn_mask")
    if True in rest[1:]:  # is_causal
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril()
    k, v = join_equal_heads(k, v)
    return AttentionCall(
        name=computed.module,
        q=q,
        k=k,
        v=v,
        output=computed.result.transpose(1, 2),
        mask=mask,
        scale=computed.named.get("scale"),
        way="watched",
    )


def read_mixed(mixing: Mixing) -> tuple[Tensor, Tensor, Tensor]:
    """Return the weights, the values and their product, which may be computed as (vᵀ aᵀ)ᵀ."""
    product, place = mixing.product, mixing.operand
    first, second = (product.arguments[operand] for operand in PRODUCTS[product.name])
    weights, values = product.arguments[place], second
    if weights is second:
        return second.mT, first.mT, product.result.mT
    return weights, values, product.result


def find_heads(product: Computed) -> int | None:
    """Return the number of heads into which q was split before the scores' product; None if no operation shows the
    number.
    """
    place = len(product.arguments) - 2
    width, computed = product.arguments[place].shape[-1], product.source(place)
    while computed is not None and (computed.name in SAME_NUMBERS or computed.name in ("mul", "div")):
        before = computed.arguments[0].shape
        if computed.name in CUTS and before[-1:] != computed.result.shape[-1:]:
            return before[-1] // width if before[-1] % width == 0 else None
        computed = computed.source()
    return 1 if computed is not None and computed.name in ENDS_OF_MAP else None


def find_batch(weights: torch.Size, scores: ReadScores, batch: int, heads: int | None) -> tuple[int, int]:
    """Return (B, H) of the weights of a product, whose leading axis may be B·H. Raises AttentionError.

    heads: the number of heads, or None. batch: the number of texts, which is used if `heads` is None.
    """
    rows = weights[0] if len(weights) >= 3 else 1
    if len(scores.shape) == 4:
        B, H = scores.shape[:2]
    else:
        B, H = (rows // heads, heads) if heads else (batch, rows // batch)
    if rows != B * H:
        given = {"weights": tuple(weights), "scores": tuple(scores.shape)}
        raise AttentionError("heads_unknown", layer=scores.layer, **given)
    return B, H


def join_equal_heads(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values with one head for each group of equal neighbouring heads, which grouped-query attention
    repeats."""
    H = k.shape[1]
    for heads in (count for count in range(1, H) if H % count == 0):
        few = [tensor[:, :: H // heads] for tensor in (k, v)]
        repeated = [tensor.repeat_interleave(H // heads, 1) for tensor in few]
        if torch.equal(repeated[0], k) and torch.equal(repeated[1], v):
            return few[0], few[1]
    return k, v
