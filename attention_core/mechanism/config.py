"""Defines AttentionConfig, the choices of a run, and Weights, its learned matrices; both are plain data."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, make_dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

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
GivenChoices = Iterable[str | Choice]  # what a config takes for a tuple of Choice: a name alone has no parameters


class HasParameters(Protocol):
    """Protocol of an entry in a table of mechanisms, such as MASKS: the entry declares the parameters of its
    mechanism.
    """

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


@dataclass(frozen=True, eq=False, repr=False)
class Params(Mapping[str, object]):
    """The parameters of a chosen mechanism, such as a mask; used like a dict, but immutable and hashable.

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
        return hash(frozenset(self.pairs))  # equal Params may list their pairs in different orders

    def __repr__(self) -> str:
        return repr(dict(self.pairs))


@dataclass(frozen=True)
class AttentionConfig:
    """The choices of one run.

    score: one of SCORES. scale: the factor on the scores; None is the score's default (1/sqrt(d_k) for scaled_dot, else
    1). temperature: the scaled scores are divided by it. heads: the number of query heads. kv_heads: the number of
    key/value heads; None means one per query head. masks: (name, params) pairs from MASKS, combined with "and"; causal
    and sliding take `offset`, the position of query 0 (None: S - T). positions: (name, params) pairs from POSITIONS.
    modifiers: (name, params) pairs from MODIFIERS, which act in the order of that table. normaliser: a name or a (name,
    params) pair from NORMALISERS, which turns masked scores into weights. dropout: the probability of dropping a
    weight, sampled with dropout_seed.

    replace: "uniform" uses uniform weights instead of the computed ones. In differential attention, uniform or given
    weights replace the difference of the two maps, not each map. residual: adds a last step, x + output.

    A name alone means (name, {}). Configs are immutable, and equal configs have equal hashes. Raises AttentionError (a
    ValueError) for an unknown choice or a number out of range.

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
    normaliser: Choice = "softmax"  # type: ignore[assignment] # a name, as __init__ takes it
    dropout: float | None = None
    dropout_seed: int = 0
    replace: str | None = None
    residual: bool = False

    if TYPE_CHECKING:  # the fields are tuples of Choice, but names are taken as well

        def __init__(
            self,
            score: str = "scaled_dot",
            scale: float | None = None,
            temperature: float = 1.0,
            heads: int = 1,
            kv_heads: int | None = None,
            masks: GivenChoices = (),
            positions: GivenChoices = (),
            modifiers: GivenChoices = (),
            normaliser: str | Choice = "softmax",
            dropout: float | None = None,
            dropout_seed: int = 0,
            replace: str | None = None,
            residual: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
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
        """Checks that no score can be negative, if this is required by the normaliser."""
        normaliser, _ = self.normaliser
        if not NORMALISERS[normaliser].needs_positive:
            return
        is_scaled_below = self.scale is not None and self.scale < 0
        has_bias = self.positions_at("scores") or self.positions_at("bias")
        if not SCORES[self.score].is_positive or is_scaled_below or has_bias:
            raise AttentionError("needs_positive", kind=normaliser)

    def positions_at(self, place: str) -> dict[str, Mapping[str, object]]:
        """Returns {name: parameters} of the chosen position encodings that act at a place of the run, a key of
        PLACES.
        """
        found = {}
        for name, params in self.positions:
            if POSITIONS[name].place == place:
                found[name] = params
        return found

    def modifiers_at(self, place: str) -> dict[str, Mapping[str, object]]:
        """Returns {name: parameters} of the chosen modifiers that act at a place of the run, in the order of
        MODIFIERS.
        """
        return modifiers_at(place, self.modifiers)

    @property
    def maps(self) -> int:
        """The number of attention maps per head. Each map is computed from a separate part of the columns of q and
        k.
        """
        return 2 if self.modifiers_at("maps") else 1

    def learned(self) -> dict[str, tuple[LearnedTensor, ...]]:
        """Returns the learned tensors of the chosen mechanisms, by mechanism name; projections are not included."""
        normaliser, _ = self.normaliser
        learned = {self.score: SCORES[self.score].weights, normaliser: NORMALISERS[normaliser].weights}
        for name, _ in self.modifiers:
            learned[name] = MODIFIERS[name].weights
        for name, _ in self.positions:
            learned[name] = POSITIONS[name].weights
        return learned


@dataclass(frozen=True, eq=False)
class ProjectionWeights:
    """The matrices and biases that project to q, k, v and the output; any attention layer may have them."""

    w_q: Float[Tensor, "D H*d_k"] | None = None
    w_k: Float[Tensor, "D H_kv*d_k"] | None = None
    w_v: Float[Tensor, "D H_kv*d_v"] | None = None
    w_o: Float[Tensor, "H*d_v D_out"] | None = None
    b_q: Float[Tensor, " H*d_k"] | None = None
    b_k: Float[Tensor, " H_kv*d_k"] | None = None
    b_v: Float[Tensor, " H_kv*d_v"] | None = None
    b_o: Float[Tensor, " D_out"] | None = None


def list_learned() -> list[tuple[str, LearnedTensor]]:
    """Returns the learned tensors of all mechanisms except the projections, each with its mechanism's name."""
    learned = []
    for table in (SCORES, NORMALISERS, MODIFIERS, POSITIONS):
        for owner, entry in table.items():
            learned += [(owner, tensor) for tensor in entry.weights]
    return learned


LEARNED_TENSORS = {tensor.name: tensor for _, tensor in list_learned()}
OWNERS = {tensor.name: owner for owner, tensor in list_learned()}

if TYPE_CHECKING:

    class FurtherWeights(ProjectionWeights):
        """What a checker of types sees: the tensors of LEARNED_TENSORS have names that only a run knows."""

        def __init__(
            self,
            w_q: Tensor | None = None,
            w_k: Tensor | None = None,
            w_v: Tensor | None = None,
            w_o: Tensor | None = None,
            b_q: Tensor | None = None,
            b_k: Tensor | None = None,
            b_v: Tensor | None = None,
            b_o: Tensor | None = None,
            **learned: Tensor | None,
        ) -> None: ...

        def __getattr__(self, name: str) -> Tensor | None: ...

else:
    FurtherWeights = make_dataclass(
        "FurtherWeights",
        [(name, Tensor | None, None) for name in LEARNED_TENSORS],
        bases=(ProjectionWeights,),
        frozen=True,
        eq=False,
    )


class Weights(FurtherWeights):
    """The learned tensors in row convention, `x @ w + b` with w (d_in, d_out); None if absent.

    w_q (D, H d_k), w_k (D, H_kv d_k), w_v (D, H_kv d_v), w_o (H d_v, D_out), a bias b_* for each, and the tensors that
    mechanisms declare. Among these are w_a (d_q, d_k) for the general score, and w_aq (d_q, A), w_ak (d_k, A), v_a (A)
    for the additive score. Each is shared by all heads, or has a leading axis H. For a torch.nn.Linear use
    `linear.weight.T`.

    >>> import torch
    >>> list(Weights(w_q=torch.eye(2), b_q=torch.zeros(2)).given())
    ['w_q', 'b_q']
    """

    def given(self) -> dict[str, Tensor]:
        """Returns the tensors that are not None, by name."""
        return {name: tensor for name, tensor in vars(self).items() if tensor is not None}


# ---- checks of choices -----------------------------------------------------------------------------------------------
def kv_choices(heads: int) -> tuple[int, ...]:
    """Returns the possible counts of key/value heads for `heads` query heads, the largest first.

    Each key/value head serves the same count of query heads.

    >>> kv_choices(6)
    (6, 3, 2, 1)
    """
    counts = range(require_positive("heads", heads), 0, -1)
    return tuple(count for count in counts if heads % count == 0)


def parse_choices(kind: str, given: object) -> list[Choice]:
    """Returns an argument of AttentionConfig, such as masks, as a list of (name, params) pairs.

    given: a name, or a list of names and pairs. kind: the name of the argument, for errors.
    """
    if isinstance(given, str):
        given = (given,)
    if not isinstance(given, tuple | list):
        raise AttentionError("choice_form", kind=kind, given=repr(given))
    return [parse_choice(kind, entry) for entry in given]


def parse_choice(kind: str, entry: object) -> Choice:
    """Returns an entry, which is a name or a name with its parameters, as a pair (name, params)."""
    match entry:
        case str(name) | (str(name),):
            return name, {}
        case (str(name), Mapping() as params):
            return name, dict(params)
    raise AttentionError("choice_form", kind=kind, given=repr(entry))


def check_listed_choices(kind: str, given: object, check: Callable[[Choice], Choice]) -> tuple[Choice, ...]:
    """Returns an argument of AttentionConfig, such as masks, as a list of checked (name, params) pairs. Raises
    AttentionError if a name occurs twice.
    """
    choices = [check(choice) for choice in parse_choices(kind, given)]
    names = [name for name, _ in choices]
    for name in names:
        if names.count(name) > 1:
            raise AttentionError("chosen_twice", kind=name)
    return tuple(choices)


def check_mask_choice(choice: Choice) -> Choice:
    """Returns a mask's name and parameters, after the checks that need no sizes of the run."""
    name, params = choice
    require_one_of("mask", name, tuple(MASKS))
    mask = MASKS[name]
    others = ("offset",) if mask.is_causal else ()
    checked = check_parameters(name, params, mask.parameters, others)
    if params.get("offset") is not None:
        require_whole("offset", params["offset"])
    return name, Params(tuple({**params, **checked}.items()))


def check_choice(kind: str, table: Mapping[str, HasParameters], choice: Choice) -> Choice:
    """Returns the name of a table's entry and its checked parameters; missing parameters get their defaults."""
    name, params = choice
    require_one_of(kind, name, tuple(table))
    checked = check_parameters(name, params, table[name].parameters)
    return name, Params(tuple(checked.items()))


# ---- the config of a part of a run -----------------------------------------------------------------------------------
def config_for_keys_from(config: AttentionConfig, first: int) -> AttentionConfig:
    """Returns the config for a run with only the keys from `first` on, renumbered from 0.

    Mask parameters that count keys or name a key's position are decreased. Query 0 is at `query_offset - first` among
    these keys.

    >>> config_for_keys_from(AttentionConfig(masks=[("padding", {"lengths": (5, 2)})]), 3).masks
    (('padding', {'lengths': (2, 0)}),)
    """
    masks: list[Choice] = []
    for name, params in config.masks:
        moved = dict(params)
        for parameter in MASKS[name].parameters:
            moved[parameter.name] = parameter.for_keys_from(params[parameter.name], first)
        masks.append((name, moved))
    return replace(config, masks=tuple(masks))
