"""AttentionConfig, the choices of a run, and Weights, its learned matrices. Both are plain data."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, make_dataclass, replace
from functools import partial
from typing import Protocol

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS, modifiers_at
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import Parameter, check_parameters
from attention_core.mechanism.plain_checks import require_finite, require_one_of, require_positive, require_whole
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError

Choice = tuple[str, Mapping[str, object]]  # (name of a mechanism, its parameters)


class HasParameters(Protocol):
    """An entry of a table of mechanisms."""

    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Params(Mapping[str, object]):
    """The parameters of a choice: read, printed and compared like a dict, but immutable and hashable.

    >>> params = Params((("window", 2),))
    >>> params["window"], params == {"window": 2}, params
    (2, True, {'window': 2})
    """

    pairs: tuple[tuple[str, object], ...]

    def __getitem__(self, name: str) -> object:
        return dict(self.pairs)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.pairs))

    def __len__(self) -> int:
        return len(self.pairs)

    def __hash__(self) -> int:
        return hash(frozenset(self.pairs))  # in any order, as they are compared

    def __repr__(self) -> str:
        return repr(dict(self.pairs))


@dataclass(frozen=True)
class AttentionConfig:
    """The choices of one run.

    score: one of SCORES. scale: the factor on the scores; None is the score's default (1/sqrt(d_k) for scaled_dot,
    else 1). temperature: divides the scaled scores. heads, kv_heads: query heads, and key/value heads (None: as many).
    masks: (name, params) pairs from MASKS, combined with "and"; causal and sliding take `offset`, the position of query
    0 (None: S - T). positions: (name, params) pairs from POSITIONS. modifiers: (name, params) pairs from MODIFIERS,
    which act in the order of that table. normaliser: a name or pair from NORMALISERS, which turns masked scores into
    weights. dropout: the probability of dropping a weight, sampled with dropout_seed.
    replace: "uniform" uses even weights instead of the computed ones; like given weights, they replace the difference
    of two maps (differential), not each map. residual: one more step, x + output.
    A name alone means (name, {}). Immutable; equal configs have equal hashes.

    Raises AttentionError (a ValueError) for a choice that does not exist or a number out of range.

    >>> AttentionConfig(heads=2, masks=["causal"]).masks
    (('causal', {}),)
    """

    score: str = "scaled_dot"
    scale: float | None = None
    temperature: float = 1.0
    heads: int = 1
    kv_heads: int | None = None
    masks: tuple[Choice, ...] = ()
    positions: tuple[Choice, ...] = ()
    modifiers: tuple[Choice, ...] = ()
    normaliser: Choice = "softmax"
    dropout: float | None = None
    dropout_seed: int = 0
    replace: str | None = None
    residual: bool = False

    def __post_init__(self):
        require_one_of("score", self.score, tuple(SCORES))
        if self.replace is not None:
            require_one_of("replace", self.replace, ("uniform",))
        if self.scale is not None:
            require_finite("scale", self.scale)
        require_finite("temperature", self.temperature)
        if self.temperature <= 0:
            raise AttentionError("positive_number", name="temperature", given=self.temperature)
        if self.dropout is not None:
            require_finite("dropout", self.dropout)
            if not 0 <= self.dropout < 1:
                raise AttentionError("probability", name="dropout", given=self.dropout)
        require_whole("dropout_seed", self.dropout_seed)
        require_positive("heads", self.heads)
        if self.kv_heads is not None:
            require_positive("kv_heads", self.kv_heads)
            if self.heads % self.kv_heads:
                raise AttentionError("heads_groups", heads=self.heads, kv_heads=self.kv_heads)
        masks = check_listed_choices("masks", self.masks, check_mask_choice)
        positions = check_listed_choices("positions", self.positions, partial(check_choice, "position", POSITIONS))
        object.__setattr__(self, "masks", masks)
        modifiers = check_listed_choices("modifiers", self.modifiers, partial(check_choice, "modifier", MODIFIERS))
        normaliser = check_choice("normaliser", NORMALISERS, parse_choice("normaliser", self.normaliser))
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "modifiers", modifiers)
        object.__setattr__(self, "normaliser", normaliser)
        self.check_positive_scores()

    def check_positive_scores(self) -> None:
        """Checks that no score can be below 0, if the normaliser needs that."""
        normaliser, _ = self.normaliser
        if not NORMALISERS[normaliser].needs_positive:
            return
        is_scaled_below = self.scale is not None and self.scale < 0
        has_bias = self.positions_at("scores") or self.positions_at("bias")
        if not SCORES[self.score].is_positive or is_scaled_below or has_bias:
            raise AttentionError("needs_positive", kind=normaliser)

    def positions_at(self, place: str) -> dict[str, Mapping[str, object]]:
        """The chosen positions that act at a place, one of PLACES: their parameters by name."""
        found = {}
        for name, params in self.positions:
            if POSITIONS[name].place == place:
                found[name] = params
        return found

    def modifiers_at(self, place: str) -> dict[str, Mapping[str, object]]:
        """The chosen modifiers that act at a place, in the order of MODIFIERS: their parameters by name."""
        return modifiers_at(place, self.modifiers)

    @property
    def maps(self) -> int:
        """The number of weight maps per head, each from its part of q's and k's columns."""
        return 2 if self.modifiers_at("maps") else 1

    def learned(self) -> dict[str, tuple[LearnedTensor, ...]]:
        """The learned tensors of the chosen mechanisms, without the projections, by mechanism name."""
        normaliser, _ = self.normaliser
        learned = {self.score: SCORES[self.score].weights, normaliser: NORMALISERS[normaliser].weights}
        for name, _ in self.modifiers:
            learned[name] = MODIFIERS[name].weights
        for name, _ in self.positions:
            learned[name] = POSITIONS[name].weights
        return learned


@dataclass(frozen=True, eq=False)
class ProjectionWeights:
    """The weights and biases of the projections, which any layer may have."""

    w_q: Float[Tensor, "D H*d_k"] | None = None
    w_k: Float[Tensor, "D H_kv*d_k"] | None = None
    w_v: Float[Tensor, "D H_kv*d_v"] | None = None
    w_o: Float[Tensor, "H*d_v D_out"] | None = None
    b_q: Float[Tensor, " H*d_k"] | None = None
    b_k: Float[Tensor, " H_kv*d_k"] | None = None
    b_v: Float[Tensor, " H_kv*d_v"] | None = None
    b_o: Float[Tensor, " D_out"] | None = None


def list_learned() -> list[tuple[str, LearnedTensor]]:
    """The learned tensors of all mechanisms, without the projections, each with the name of its mechanism."""
    learned = []
    for table in (SCORES, NORMALISERS, MODIFIERS, POSITIONS):
        for owner, entry in table.items():
            learned += [(owner, tensor) for tensor in entry.weights]
    return learned


LEARNED_TENSORS = {tensor.name: tensor for _, tensor in list_learned()}
OWNERS = {tensor.name: owner for owner, tensor in list_learned()}

FurtherWeights = make_dataclass(
    "FurtherWeights",
    [(name, Tensor | None, None) for name in LEARNED_TENSORS],
    bases=(ProjectionWeights,),
    frozen=True,
    eq=False,
)


class Weights(FurtherWeights):
    """The learned tensors in row convention, `x @ w + b` with w (d_in, d_out); None if absent.

    w_q (D, H d_k), w_k (D, H_kv d_k), w_v (D, H_kv d_v), w_o (H d_v, D_out), a bias b_* for each, and what the
    mechanisms declare: for the general score w_a (d_q, d_k); for the additive score w_aq (d_q, A), w_ak (d_k, A), v_a
    (A): shared by all heads, or with a leading axis H. For a torch.nn.Linear use `linear.weight.T`.

    >>> import torch
    >>> list(Weights(w_q=torch.eye(2), b_q=torch.zeros(2)).given())
    ['w_q', 'b_q']
    """

    def given(self) -> dict[str, Tensor]:
        """The tensors that are not None, by name."""
        return {name: tensor for name, tensor in vars(self).items() if tensor is not None}


# ---- checks of choices -----------------------------------------------------------------------------------------------
def kv_choices(heads: int) -> tuple[int, ...]:
    """The numbers of key/value heads that `heads` query heads can share evenly, the largest first.

    >>> kv_choices(6)
    (6, 3, 2, 1)
    """
    counts = range(require_positive("heads", heads), 0, -1)
    return tuple(count for count in counts if heads % count == 0)


def parse_choices(kind: str, given: object) -> list[Choice]:
    """The (name, params) pairs of an argument such as masks: one name, or a list of names and pairs."""
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, tuple | list):
        raise AttentionError("choice_form", kind=kind, given=repr(given))
    return [parse_choice(kind, entry) for entry in given]


def parse_choice(kind: str, entry: object) -> Choice:
    """A name, or a name with its parameters, as a pair (name, params)."""
    match entry:
        case str(name) | (str(name),):
            return name, {}
        case (str(name), Mapping() as params):
            return name, dict(params)
    raise AttentionError("choice_form", kind=kind, given=repr(entry))


def check_listed_choices(kind: str, given: object, check: Callable[[Choice], Choice]) -> tuple[Choice, ...]:
    """The checked (name, params) pairs of an argument such as masks; no name may occur twice."""
    choices = [check(choice) for choice in parse_choices(kind, given)]
    names = [name for name, _ in choices]
    for name in names:
        if names.count(name) > 1:
            raise AttentionError("chosen_twice", kind=name)
    return tuple(choices)


def check_mask_choice(choice: Choice) -> Choice:
    """A mask's name and parameters, checked as far as possible before the sizes are known."""
    name, params = choice
    require_one_of("mask", name, tuple(MASKS))
    mask = MASKS[name]
    others = ("offset",) if mask.is_causal else ()
    checked = check_parameters(name, params, mask.parameters, others)
    if params.get("offset") is not None:
        require_whole("offset", params["offset"])
    return name, Params(tuple({**params, **checked}.items()))


def check_choice(kind: str, table: Mapping[str, HasParameters], choice: Choice) -> Choice:
    """A name of a table with all its parameters, checked, defaults filled in."""
    name, params = choice
    require_one_of(kind, name, tuple(table))
    checked = check_parameters(name, params, table[name].parameters)
    return name, Params(tuple(checked.items()))


# ---- the config of a part of a run -----------------------------------------------------------------------------------
def config_for_keys_from(config: AttentionConfig, first: int) -> AttentionConfig:
    """The config for a run with only the keys from `first` on, renumbered 0, 1, ...

    Mask parameters that count keys are shifted. Query 0 is at `query_offset - first` among these keys.

    >>> config_for_keys_from(AttentionConfig(masks=[("padding", {"lengths": (5, 2)})]), 3).masks
    (('padding', {'lengths': (2, 0)}),)
    """
    masks = []
    for name, params in config.masks:
        moved = dict(params)
        for parameter in MASKS[name].parameters:
            moved[parameter.name] = parameter.for_keys_from(params[parameter.name], first)
        masks.append((name, moved))
    return replace(config, masks=masks)
