"""What the entries of a table need, for the tests that run all there are: a new one is among them by itself."""

from collections import defaultdict
from collections.abc import Callable

from attention_core import AttentionConfig
from attention_core.mechanism.learned_tensors import add_own_sizes
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import KEY_COUNT, Parameter
from attention_core.mechanism.positions import POSITIONS

PLACES = 64  # rows of a table with one for each place: more than any run here has
OWN_SIZE = 5  # of a letter that is a mechanism's alone
Shapes = dict[str, tuple[int, ...]]


def learned_shapes(
    config: AttentionConfig,
    d_q: int,
    d_k: int,
    H: int | None = None,
    own: int = OWN_SIZE,
    apart: bool = False,
    wide: tuple[int, ...] = (OWN_SIZE, OWN_SIZE),
    D_out: int | None = None,
) -> Shapes:
    """What the chosen mechanisms learn, by name. d_q, d_k: the widths of q and k in a head, for all its maps together.

    H: the heads, where the config does not say them. apart: whether each head has its own of every other tensor that
    may be shared. wide: the width of the input, of v in a head,
    and of what k is made of, where that is another. D_out: the width of the output, where a matrix says it.
    """
    H = H or config.heads
    D, d_v, D_kv = (*wide, wide[0])[:3]
    maps = config.maps
    widths = {"D": D, "D_kv": D_kv, "d_q": d_q // maps, "d_k": d_k // maps, "d_v": d_v}
    run_sizes = {
        **widths,
        "H": H,
        "H_kv": config.kv_heads or H,
        "H·d_v": H * d_v,
        "N": PLACES,
        "D_out": D_out or H * d_v,
    }
    shapes = {}
    for declared in config.learned().values():
        for place, tensor in enumerate(declared):
            sizes = defaultdict(lambda: own, run_sizes | tensor.own_sizes)
            is_apart = apart and tensor.by_head and place % 2 == 0
            shapes[tensor.name] = (H, *tensor.shape(sizes)) if is_apart else tensor.shape(sizes)
    return shapes


def adds_table(config: AttentionConfig) -> bool:
    """Whether a learned table is added to each input: all are as wide as it is, and no place is before its first."""
    chosen = [POSITIONS[name] for name, _ in config.positions]
    return any("D" in tensor.dims for each in chosen if each.place == "input" for tensor in each.weights)


def fit_widths(config: AttentionConfig, widths: tuple[int, ...]) -> tuple[int, ...]:
    """How wide the inputs are: as wide as the first one, where a table is added to each."""
    return (widths[0],) * len(widths) if adds_table(config) else widths


def key_rows(config: AttentionConfig, learned: Shapes, width: int) -> int:
    """How many rows W_k and W_v have. learned: as learned_shapes gives it. width: of the input of keys and values."""
    for name in config.modifiers_at("sources"):
        modifier = MODIFIERS[name]
        width = add_own_sizes(modifier.weights, learned, {"D_kv": width})[modifier.steps["sources"][-1].dims[-1]]
    return width


def score_shapes(score: str, d_q: int, d_k: int, H: int | None = None, own: int = OWN_SIZE) -> Shapes:
    """What a score learns. H: the heads, of which each has its own of every other tensor; None: all share."""
    return learned_shapes(AttentionConfig(score), d_q, d_k, H, own, apart=H is not None)


def fitting_number(parameter: Parameter, sequences: int, keys: int, choose: Callable[[list], object]) -> object:
    """What a parameter may be, a small number or a word, in a run of so many sequences and keys.

    choose: picks one of several.
    """
    choices = number_choices(parameter, keys)
    if not parameter.several:
        return choose(choices)
    return tuple(choose(choices) for _ in range(sequences if parameter.moves == KEY_COUNT else 1))


def number_choices(parameter: Parameter, keys: int) -> list:
    """The words, the keys, the numbers of keys, the first whole numbers, or those that show what it does."""
    if parameter.words:
        return list(parameter.words)
    if parameter.moves:
        return list(range(keys + (parameter.moves == KEY_COUNT)))
    if parameter.is_whole:
        least = parameter.least or 0
        return [least, least + 1, least + 2]
    return [*parameter.swept] or [0.3, 1.7]


def mask_choice(name: str, **special: dict) -> tuple[str, dict]:
    """A mask with its numbers. special: of those masks for which what a page begins with does not do."""
    return name, special.get(name) or {parameter.name: parameter.start for parameter in MASKS[name].parameters}


def every_mask(**special: dict) -> list[tuple[str, dict]]:
    """All masks with their numbers."""
    return [mask_choice(name, **special) for name in MASKS]


def score_for(normaliser: str) -> str:
    """A score that goes with a normaliser."""
    return "linear" if NORMALISERS[normaliser].needs_positive else "scaled_dot"
