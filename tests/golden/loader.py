"""From a golden file to a call of attend or attend_qkv: the only adapter between the two.

It does no arithmetic. It picks, reshapes, adds axes, and draws what a recipe names; `null` becomes minus infinity and
"NaN" becomes NaN. README.md beside it says how the files are written. A file is read in one of two routes: "named"
takes the masks by their names, "matrix" takes the file's own matrix as `allowed`.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.mechanism.masks import MASKS
from attention_core.variants.convolution import kernel_band

FOLDER = Path(__file__).parent
STORIES = FOLDER / "stories.json"
RECIPE = "numpy.random.RandomState(seed).randn(*shape) * factor"
LAW_NAMES = {"uniform on {-1,+1}^d, independent q and k": "signs"}
MASK_NAMES = {
    "causal": "causal",
    "local": "local",
    "sliding": "sliding",
    "sliding_causal": "sliding",
    "padding": "padding",
    "sparse_global": "local_global",
}


class UnknownKind(ValueError):
    """A golden file says something that no call here expresses."""


@dataclass(frozen=True, eq=False)
class Case:
    """A golden file as a call, and every step that must come out of it."""

    name: str
    entrance: Callable[..., Trace]
    tensors: tuple[Tensor, ...]
    expected: dict[str, object]
    weights: Weights = field(default_factory=Weights)
    config: AttentionConfig = field(default_factory=AttentionConfig)
    allowed: Tensor | None = None
    keep: Tensor | None = None
    replacement: Tensor | None = None

    def run(self, **changes) -> Trace:
        """The call, with anything changed: `case.run(tensors=(x,))`."""
        case = replace(self, **changes)
        return case.entrance(
            *case.tensors,
            weights=case.weights,
            config=case.config,
            allowed=case.allowed,
            keep=case.keep,
            replacement=case.replacement,
        )

    def configured(self, **changes) -> AttentionConfig:
        """The file's config with some choices changed."""
        return replace(self.config, **changes)


# ---- reading ---------------------------------------------------------------------------------------------------------
def golden_files() -> list[Path]:
    """Every golden file there is, so that a new one is picked up by itself."""
    return sorted(path for path in FOLDER.glob("*.json") if path != STORIES)


def read(path: Path) -> dict:
    """A golden file as it is written."""
    return json.loads(path.read_text(encoding="utf-8"))


def stories() -> dict[str, dict]:
    """The examples that tell a story, each in the form of a golden file."""
    return {name: as_golden(name, story) for name, story in read(STORIES)["examples"].items()}


def as_golden(name: str, story: dict) -> dict:
    """A story under the names that golden files use; its `scaled` stands before the mask."""
    inputs = {key.lower(): value for key, value in story.items() if key.startswith(("W_", "b_"))}
    inputs |= {"x_q": story["X"], "x_kv": story["context"]} if "context" in story else {"x": story["X"]}
    options = {"scoring": story["score"], "mask_kind": story["mask"], "heads": story["heads"]}
    expected = {"scaled_scores" if step == "scaled" else step: value for step, value in story["expected"].items()}
    return {"name": name, "inputs": {**inputs, "options": options}, "expected": expected}


def number(entry: object) -> object:
    """One entry: null is minus infinity, a text such as "NaN" names its number."""
    if entry is None:
        return -math.inf
    return float(entry) if isinstance(entry, str) else entry


def entries(data: object) -> object:
    """Nested lists with every entry a number."""
    return [entries(part) for part in data] if isinstance(data, list) else number(data)


def tensor(data: object) -> Tensor:
    """Nested lists as a float64 tensor, truth values as a boolean one; a drawn tensor as it is."""
    if isinstance(data, Tensor):
        return data
    array = np.array(entries(data))
    return torch.from_numpy(array if array.dtype == bool else array.astype(np.float64))


def draw(recipe: dict) -> dict[str, Tensor]:
    """The tensors that a recipe names, in its order."""
    if not recipe["generator"].startswith(RECIPE):
        raise UnknownKind(f"recipes are {RECIPE!r}: got {recipe['generator']!r}")
    random = np.random.RandomState(recipe["seed"])
    return {
        each["name"]: torch.from_numpy(random.randn(*each["shape"]) * each.get("factor", 1)) for each in recipe["draws"]
    }


def given_of(file: dict) -> dict[str, object]:
    """All that the file gives, drawn or listed, the options beside the tensors."""
    inputs = file.get("inputs", {})
    drawn = draw(inputs["recipe"]) if "recipe" in inputs else {}
    return {**drawn, **inputs.get("options", {}), **inputs}


# ---- which call ------------------------------------------------------------------------------------------------------
def routes(file: dict) -> list[str]:
    """How the file says its mask: by name, as a matrix of truth values, as one of 0 and minus infinity."""
    given = file.get("inputs", {})
    options = given.get("options", {})
    matrices = ["matrix"] if options.get("mask") is not None else []
    matrices += ["additive"] if "additive_mask" in given else []
    return (["named"] if known_masks(given | options) or not matrices else []) + matrices


def load(file: dict, route: str = "named") -> Case:
    """The file's call. Raises UnknownKind, with a sentence, for what no call expresses."""
    given = given_of(file)
    for names, kind in SPECIAL.items():
        if names <= given.keys() | file.get("expected", {}).keys():
            return kind(file["name"], given, file["expected"])
    return attention(file["name"], given, file["expected"], route)


def attention(name: str, given: dict, expected: dict, route: str) -> Case:
    """The usual file: inputs, options, and the steps."""
    refuse_unknown(name, given)
    entrance, tensors = call_of(name, given)
    B, H, T, S = sizes(entrance, tensors, given)
    start = query_start(name, given, T, S)
    named = masks_of(given, B, T, S, start) if known_masks(given) else []
    positions = positions_of(given)
    matrix = matrix_of(given, route, B, H)
    if matrix is not None and not (positions and (start or T != S)):  # a causal mask says where queries stand
        named = []
    if matrix is None and not known_masks(given):
        raise UnknownKind(f"{name}: mask_kind {given['mask_kind']!r} is neither known by name nor given as a matrix")
    dropout = given.get("dropout_p", given.get("dropout")) or None
    config = AttentionConfig(
        score=given.get("scoring", "scaled_dot"),
        scale=given.get("scale"),
        temperature=given.get("temperature") or 1.0,
        heads=H,
        kv_heads=given.get("kv_heads"),
        masks=named,
        positions=positions,
        dropout=dropout,
        replace="uniform" if given.get("weights_override") == "uniform" else None,
    )
    if shifted_alike(given):  # keys start at 0 here: the turned q and k differ, all that follows does not
        expected = {step: value for step, value in expected.items() if step not in ("q", "k")}
    return Case(
        name,
        entrance,
        tensors,
        expected,
        Weights(**{each.name: tensor(given[each.name]) for each in fields(Weights) if each.name in given}),
        config,
        matrix,
        as_pairs(tensor(given["keep"]).bool(), B, H, given) if dropout and "keep" in given else None,
        replacement_of(given, B, H),
    )


def refuse_unknown(name: str, given: dict) -> None:
    """The few values that would change the numbers and that no choice here expresses."""
    if given.get("bias") not in (None, "none", "alibi"):
        raise UnknownKind(f"{name}: bias must be 'alibi': got {given['bias']!r}")
    if given.get("fully_masked_row", "zero") != "zero":
        raise UnknownKind(f"{name}: a fully masked row gives zeros: got {given['fully_masked_row']!r}")


def call_of(name: str, given: dict) -> tuple[Callable[..., Trace], tuple[Tensor, ...]]:
    """The entrance and its tensors: projected q, k, v for attend_qkv, the inputs before them for attend."""
    projected = ("q_before" if "q_before" in given else "q", "k_before" if "k_before" in given else "k", "v")
    inputs = [pick(given, *names) for names in (("x_q", "x", "Q"), ("x_kv", "x_k", "K"), ("x_v", "V"))]
    from_input = inputs[0] is not None and ("w_q" in given or given.get("projections") == "identity")
    if all(each in given for each in projected) and not from_input:
        heads = given.get("heads", 1)
        kv_heads = given.get("kv_heads") or heads
        return attend_qkv, tuple(
            as_heads(tensor(given[each]), count)
            for each, count in zip(projected, (heads, kv_heads, kv_heads), strict=True)
        )
    if inputs[0] is None:
        raise UnknownKind(f"{name}: neither q, k, v nor x nor x_q nor Q, K, V are given: {', '.join(given)}")
    return attend, tuple(each for each in inputs if each is not None)


def pick(given: dict, *names: str) -> Tensor | None:
    """The first of these that is given."""
    return next((tensor(given[name]) for name in names if name in given), None)


def as_heads(projected: Tensor, heads: int) -> Tensor:
    """Three axes mean (B, T, d) where there is one head, (H, T, d) otherwise."""
    if projected.dim() != 3:
        return projected
    return projected.unsqueeze(1) if heads == 1 else projected.unsqueeze(0)


def sizes(entrance: Callable[..., Trace], tensors: tuple[Tensor, ...], given: dict) -> tuple[int, int, int, int]:
    """B, H, T and S."""
    query, key = tensors[0], tensors[min(1, len(tensors) - 1)]
    B = query.shape[0] if query.dim() > 2 else 1
    H = given.get("heads", 1) if entrance is attend or query.dim() != 4 else query.shape[1]
    return B, H, query.shape[-2], key.shape[-2]


# ---- masks -----------------------------------------------------------------------------------------------------------
def mask_parts(given: dict) -> list[str]:
    """The masks that a kind such as "causal+padding" combines."""
    kind = given.get("mask_kind") or "none"
    return [] if kind == "none" else kind.split("+")


def known_masks(given: dict) -> bool:
    """Every mask has its name here, and its parameters are given."""
    parts = mask_parts(given)
    return all(part in MASK_NAMES and all(need in given for need in MASKS[MASK_NAMES[part]].needs) for part in parts)


def masks_of(given: dict, B: int, T: int, S: int, start: int | None) -> list[tuple[str, dict]]:
    """The masks by name with their parameters."""
    masks = []
    for part in mask_parts(given):
        name = MASK_NAMES[part]
        params = {need: given[need] for need in MASKS[name].needs}
        if isinstance(params.get("lengths"), int):
            params["lengths"] = [params["lengths"]]
        if MASKS[name].is_causal:
            params["offset"] = causal_offset(given, T, S) if start is None else start
        masks.append((name, params))
    if start and not any(MASKS[name].is_causal for name, _ in masks):
        masks.append(("causal", {"offset": start}))  # it blocks nothing (see query_start), it only places the queries
    return masks


def causal_offset(given: dict, T: int, S: int) -> int | None:
    """Where query 0 stands among the keys: the last key that its row allows; None (S - T) where no row says it."""
    if given.get("offset") is not None:
        return given["offset"]
    mask = tensor(given.get("mask") or [[]])
    if mask.shape[-2:] != (T, S):
        return None
    first_rows = mask.bool().view(-1, T, S)[:, 0]  # (every sequence or head, S)
    last = max((key for _, key in first_rows.nonzero().tolist()), default=None)
    lengths = given.get("lengths", S) if "padding" in mask_parts(given) else S
    real = range(max(lengths) if isinstance(lengths, list) else lengths)
    padded = len(real) < S and last == real[-1]  # the row ends where the padding begins, and tells nothing
    return None if padded or (T == S and last == 0) else last


def matrix_of(given: dict, route: str, B: int, H: int) -> Tensor | None:
    """The mask as `allowed`, where the route or a kind without a name asks for the matrix."""
    if route == "additive":
        additive = tensor(given["additive_mask"])
        if not ((additive == 0) | additive.isneginf()).all():
            raise UnknownKind("an additive mask must hold 0 and null only")
        return as_pairs(additive == 0, B, H, given)
    if given.get("mask") is None or (route == "named" and known_masks(given)):
        return None
    return as_pairs(tensor(given["mask"]).bool(), B, H, given)


def as_pairs(matrix: Tensor, B: int, H: int, given: dict) -> Tensor:
    """(T, S) as it is; (B, T, S) or (H, T, S) as four axes, told apart by the other shapes."""
    if matrix.dim() != 3:
        return matrix
    per_sequence = len(matrix) == B and (B != H or "lengths" in given)
    if not per_sequence and len(matrix) not in (1, H):
        raise UnknownKind(f"a mask of shape {tuple(matrix.shape)} fits neither B = {B} nor H = {H}")
    return matrix.unsqueeze(1) if per_sequence else matrix.unsqueeze(0)


def replacement_of(given: dict, B: int, H: int) -> Tensor | None:
    """Weights that the file puts in the place of the softmax's."""
    override = given.get("weights_override")
    if isinstance(override, str) and override != "uniform":
        raise UnknownKind(f"weights_override must be 'uniform' or a matrix: got {override!r}")
    return as_pairs(tensor(override), B, H, given) if isinstance(override, list) else None


# ---- positions -------------------------------------------------------------------------------------------------------
def positions_of(given: dict) -> list[tuple[str, dict]]:
    """RoPE where a style is given, ALiBi where it is the bias."""
    positions = []
    if "style" in given:
        positions.append(("rope", {"style": given["style"], "base": given.get("base", 10000)}))
    if given.get("bias") == "alibi":
        positions.append(("alibi", {"slopes": given.get("slopes")}))
    return positions


def starts(given: dict) -> tuple[list[int] | None, list[int] | None]:
    """The positions of the queries and of the keys, where the file gives them."""
    both = given.get("positions")
    return (
        given.get("q_positions", given.get("positions_q", both)),
        given.get("k_positions", given.get("positions_k", both)),
    )


def shifted_alike(given: dict) -> bool:
    """Queries and keys start at one position other than 0."""
    queries, keys = starts(given)
    return bool(queries and keys and queries[0] == keys[0] != 0)


def query_start(name: str, given: dict, T: int, S: int) -> int | None:
    """The position of query 0 where the keys start at 0; None where the file leaves it to the mask."""
    queries, keys = starts(given)
    if not queries or not keys:
        return None
    queries, keys = queries[-T:], keys[:S]  # one list for both: the queries are the last ones
    for each in (queries, keys):
        if [*map(int, each)] != [*range(int(each[0]), int(each[-1]) + 1)]:
            raise UnknownKind(f"{name}: positions must be consecutive: got {each}")
    if queries == keys:
        return None
    if keys[0] != 0:
        raise UnknownKind(f"{name}: keys start at position 0: got {keys}")
    causal = any(MASKS[MASK_NAMES[part]].is_causal for part in mask_parts(given) if part in MASK_NAMES)
    if queries[0] != 0 and not causal and int(queries[0]) + 1 < S:
        raise UnknownKind(f"{name}: without a causal mask queries start at 0 or after the last key: got {queries}")
    return int(queries[0])


# ---- files that show one part of attention ---------------------------------------------------------------------------
def softmax_alone(name: str, given: dict, expected: dict) -> Case:
    """The softmax of n numbers: they are the scores of one query, whose only entry is 1."""
    numbers = tensor(given["x"]).view(-1, 1)  # (n, 1)
    config = AttentionConfig(score="dot")
    steps = {"scores": [expected["x"]], "weights": [expected["softmax"]]}
    return Case(name, attend_qkv, (torch.ones(1, 1, dtype=torch.float64), numbers, numbers), steps, config=config)


def saturation(name: str, given: dict, expected: dict) -> Case:
    """Logits as the scores of one query of width d_k, of whose entries only the first is not 0."""
    logits = tensor(given["logits"])  # (n,)
    q, k = torch.zeros(1, given["d_k"]).double(), torch.zeros(len(logits), given["d_k"]).double()
    q[0, 0], k[:, 0] = 1.0, logits
    steps = {"scores": [given["logits"]], "weights": [expected["p_scaled"]]}
    return Case(name, attend_qkv, (q, k, torch.eye(len(logits)).double()), steps)


def position_table(name: str, given: dict, expected: dict) -> Case:
    """The sinusoidal table: what is added to an input of zeros."""
    config = AttentionConfig(positions=[("sinusoidal", {"base": given["base"]})])
    steps = {"sinusoidal_x": expected["pe"], "positioned_x": expected["pe"]}
    return Case(name, attend, (torch.zeros(given["T"], given["d"]).double(),), steps, config=config)


def mask_rank(name: str, given: dict, expected: dict) -> Case:
    """One (T, T) mask for every sequence and head."""
    q = torch.zeros(given["B"], given["h"], given["T"], 1).double()
    allowed = tensor(given["mask_2d"]).bool()
    return Case(name, attend_qkv, (q, q, q), {"allowed": expected["mask_per_head_intended"]}, allowed=allowed)


def convolution(name: str, given: dict, expected: dict) -> Case:
    """A kernel as a fixed band of weights in the place of the softmax's."""
    v = tensor(given["v"])
    q = torch.zeros(len(v), 1).double()
    steps = {step: expected[step] for step in ("weights", "output")}
    return Case(name, attend_qkv, (q, q, v), steps, replacement=kernel_band(tensor(given["kernel"]), len(v)))


def law(file: dict) -> str:
    """The law that a file's q and k are drawn from."""
    given = file["inputs"]["law"]
    if given not in LAW_NAMES:
        raise UnknownKind(f"{file['name']}: no such law here: {given}")
    return LAW_NAMES[given]


SPECIAL = {
    frozenset({"x", "softmax"}): softmax_alone,
    frozenset({"logits", "p_scaled"}): saturation,
    frozenset({"T", "d", "pe"}): position_table,
    frozenset({"mask_2d", "mask_per_head_intended"}): mask_rank,
    frozenset({"kernel", "v", "weights"}): convolution,
}
