"""Layers drawn at random: what of attention is chosen, and numbers for it. A seed is a layer.

With what is wanted of it a layer has that, and all else by chance: so each group of choices has its layer, however many
choices the tables have (draw_layers_of).
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch

from attention_core import AttentionConfig, Weights, attend, attend_qkv
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import Parameter
from attention_core.mechanism.positions import POSITIONS, ROPE_SCALINGS
from attention_core.mechanism.scores import SCORES
from attention_core.record.trace import Trace
from tests.entries import fitting_number

HEADS = {f"{H} heads, {KV}": (H, KV) for H, KV in [(1, 1), (2, 1), (2, 2), (3, 1), (4, 2), (6, 3)]}
FROM_INPUT = {"layer_norm_before", "rms_norm_before", "latent", "gate", "sinusoidal", "learned", "decoupled_rope"}
ADDS_TO_SCORES = {"alibi", "t5", "clipped", "relative_keys", "decoupled_rope", "bias"}
ENTRANCES = ["self", "self", "cross", "cross with values", "qkv"]
POSITIVE = {name for name, normaliser in NORMALISERS.items() if normaliser.needs_positive}
BELOW_ZERO = {name for name, score in SCORES.items() if not score.is_positive}


@dataclass(frozen=True, eq=False)
class DrawnLayer:
    """What attention_by_loops takes, and the same for attend or attend_qkv. name: what it was drawn from."""

    name: str
    inputs: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]
    config: dict
    pairs: dict
    features: frozenset[str]

    def run(self) -> Trace:
        """The layer by attend, or by attend_qkv."""
        entrance = attend_qkv if "q" in self.inputs else attend
        tensors = [torch.as_tensor(array) for array in self.inputs.values()]
        weights = Weights(**{name: torch.as_tensor(array) for name, array in self.weights.items()})
        pairs = {name: as_tensors(given) for name, given in self.pairs.items()}
        return entrance(*tensors, weights=weights, config=AttentionConfig(**self.config), **pairs)


def as_tensors(given: np.ndarray | dict) -> torch.Tensor | dict:
    """An array as a tensor, and so each of a dict."""
    if isinstance(given, dict):
        return {name: torch.as_tensor(array) for name, array in given.items()}
    return torch.as_tensor(given)


class Draw:
    """One layer, drawn from a seed, that has what is wanted of it."""

    def __init__(self, seed: int, wanted: frozenset[str] = frozenset()):
        self.name = f"seed {seed}, {sorted(wanted)} wanted"
        self.wanted = wanted
        self.chosen = set(wanted)
        self.chance = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.weights: dict[str, np.ndarray] = {}

    def one_of(self, *choices):
        return self.chance.choice(choices)

    def happens(self, share: float = 0.4) -> bool:
        return self.chance.random() < share

    def choose(self, choices: Iterable[str]) -> str:
        """The wanted one of a kind, else one that goes together with all that is chosen."""
        fitting = [name for name in choices if go_together(self.chosen | {name})]
        assert fitting, f"none of {sorted({*choices})} goes together with {sorted(self.chosen)}"
        name = self.one_of(*fitting)
        self.chosen.add(name)
        return name

    def choose_some(self, choices: Iterable[str], share: float) -> list[str]:
        """Those wanted, and others by chance that go together with all that is chosen."""
        return [name for name in choices if self.has(name, share)]

    def has(self, name: str, share: float = 0.4) -> bool:
        """Whether the layer has what it may have or not."""
        happens = self.happens(share) and go_together(self.chosen | {name})
        self.chosen |= {name} if happens else set()
        return happens or name in self.wanted

    def array(self, *shape: int) -> np.ndarray:
        return self.numbers.normal(size=shape)

    def learn(self, name: str, *shape: int) -> None:
        self.weights[name] = self.array(*shape) * 0.6

    def layer(self) -> DrawnLayer:
        entrance = self.choose(ENTRANCES)
        normaliser = self.choose(NORMALISERS)
        score = self.choose(SCORES)
        modifiers = self.choose_some(MODIFIERS, 0.4)
        positions = self.choose_some(POSITIONS, 0.3)
        masks = self.choose_some(MASKS, 0.25)
        has_offset = self.happens(0.3) and "learned" not in positions
        H, KV = HEADS[self.choose(HEADS)]
        B, T, S = self.one_of(1, 2), self.one_of(1, 2, 3, 4), self.one_of(2, 3, 5)
        if entrance == "self":
            S = T
        if "learned" in positions:
            T, S = sorted((T, S))
        given = {"self": ["x"], "cross": ["query", "key"], "cross with values": ["query", "key", "value"]}
        maps = 2 if "differential" in modifiers else 1
        width = self.one_of(2, 4, 6) if "rope" in positions else self.one_of(1, 2, 3, 5)
        widths = {"q": width * maps, "k": width * maps, "v": self.one_of(1, 3, 7)}
        if not SCORES[score].equal_widths:
            widths["k"] = maps * (self.one_of(2, 4) if "rope" in positions else self.one_of(1, 2, 3))
        is_bare = entrance == "self" and H == KV and not {"latent"} & {*modifiers} and self.happens(0.3)
        if is_bare:
            widths["v"] = widths["k"] = widths["q"]
        inputs = {}
        if entrance == "qkv":
            inputs = {
                role: self.array(B, H if role == "q" else KV, T if role == "q" else S, widths[role]) for role in "qkv"
            }
        else:
            D = H * widths["q"] if is_bare else self.one_of(2, 5, 7)
            D_kv = D if entrance == "self" or "learned" in positions else self.one_of(3, 4, 11)
            D_value = D_kv if "latent" in modifiers or "learned" in positions else self.one_of(2, 6)
            rows = {"x": (T, D), "query": (T, D), "key": (S, D_kv), "value": (S, D_value)}
            inputs = {name: self.array(B, *rows[name]) for name in given[entrance]}
        self.config = {
            "score": score,
            "scale": self.choose_scale(normaliser),
            "temperature": self.one_of(1.7, 0.6) if self.has("temperature", 0.5) else 1.0,
            "heads": H,
            "kv_heads": KV,
            "normaliser": (normaliser, self.fit(NORMALISERS[normaliser].parameters, B, S)),
            "dropout": 0.3 if self.has("dropout", 0.3) else None,
            "residual": self.has("residual"),
        }
        output = self.learn_projections(entrance, inputs, widths, is_bare)
        sizes = {
            "H": H,
            "H_kv": KV,
            "D": next(iter(inputs.values())).shape[-1],
            "d_q": widths["q"] // maps,
            "places": 16,
        }
        sizes |= {"d_k": widths["k"] // maps, "d_v": widths["v"], "D_out": output}
        sizes["D_kv"] = inputs["key" if "key" in inputs else next(iter(inputs))].shape[-1]
        self.config["modifiers"] = [(name, self.choose_modifier(name, sizes)) for name in modifiers]
        self.config["positions"] = [(name, self.choose_position(name, sizes)) for name in positions]
        offset = self.one_of(0, 1, 2, -1) if has_offset else None
        self.config["masks"] = [(name, self.fit_mask(name, B, S, offset)) for name in masks]
        self.learn_for(score, normaliser, sizes)
        pairs = self.choose_pairs(B, H, T, S, normaliser in POSITIVE)
        features = {entrance, normaliser, score, f"{H} heads, {KV}", *modifiers, *positions, *masks, *pairs}
        features |= {name for name in ("residual", "dropout", "scale", "replace") if self.config[name] is not None}
        features -= set() if self.config["residual"] else {"residual"}
        features |= {"temperature"} if self.config["temperature"] != 1 else set()
        features |= {f"what_if {name}" for name in pairs.get("what_if", {})} - {"what_if"}
        features |= {"a bias"} if "b_q" in self.weights else set()
        scalings = {params["scaling"] for name, params in self.config["positions"] if "scaling" in params}
        features |= {f"scaled: {name}" for name in scalings - {"none"}}
        features = frozenset(features - {"what_if", "keep"})
        return DrawnLayer(self.name, inputs, self.weights, self.config, pairs, features)

    def learn_projections(self, entrance: str, inputs: dict, widths: dict, is_bare: bool) -> int:
        """The projections; how wide the output is."""
        H, KV = self.config["heads"], self.config["kv_heads"]
        D = next(iter(inputs.values())).shape[-1]
        self.d_c = self.one_of(2, 3, 5)
        has_bias = self.happens()
        if entrance != "qkv" and not is_bare:
            key = "key" if "key" in inputs else next(iter(inputs))
            sources = {"q": next(iter(inputs)), "k": key, "v": "value" if "value" in inputs else key}
            for role, source in sources.items():
                heads = H if role == "q" else KV
                self.sources = sources
                self.rows = {role: inputs[source].shape[-1] for role, source in sources.items()}
                self.learn(f"w_{role}", self.rows[role], heads * widths[role])
                if has_bias:
                    self.learn(f"b_{role}", heads * widths[role])
        is_square = H * widths["v"] == D
        if self.config["residual"] and not is_square:
            self.learn("w_o", H * widths["v"], D)
        elif self.happens():
            self.learn("w_o", H * widths["v"], D if self.config["residual"] else self.one_of(2, 5))
        if "w_o" not in self.weights:
            return H * widths["v"]
        if has_bias:
            self.learn("b_o", self.weights["w_o"].shape[1])
        return self.weights["w_o"].shape[1]

    def choose_modifier(self, name: str, sizes: dict) -> dict:
        """Its parameters; what it learns is drawn."""
        eps = {"eps": self.one_of(1e-6, 1e-2)}
        match name:
            case "layer_norm_before" | "rms_norm_before" | "rms_norm_output" | "layer_norm_after" | "rms_norm_after":
                kind, place = name.split("_")[0], name.split("_")[2]
                width = sizes["D"] if place == "before" else sizes["D_out"]
                self.learn(f"g_{kind}_{place}", width)
                if kind == "layer":
                    self.learn(f"b_{kind}_{place}", width)
                return eps
            case "latent":
                self.learn("w_dkv", sizes["D_kv"], self.d_c)
                self.learn("g_latent", self.d_c)
                for role in "kv":
                    self.learn(f"w_{role}", self.d_c, self.weights[f"w_{role}"].shape[1])
                return eps
            case "differential":
                own = self.one_of(2, 3)
                for vector in ("lam_q1", "lam_k1", "lam_q2", "lam_k2"):
                    self.learn(vector, *((sizes["H"], own) if self.happens() else (own,)))
                self.learn("g_heads", sizes["d_v"])
                return {"lam_init": self.one_of(0.2, 0.8), **eps}
            case "qk_norm":
                self.learn("g_q", sizes["d_q"])
                self.learn("g_k", sizes["d_k"])
                return eps
            case "qk_norm_all":
                self.learn("g_q_all", sizes["H"] * sizes["d_q"])
                self.learn("g_k_all", sizes["H_kv"] * sizes["d_k"])
                return eps
            case "qk_layer_norm":
                for role in "qk":
                    self.learn(f"g_{role}_layer", sizes[f"d_{role}"])
                    self.learn(f"b_{role}_layer", sizes[f"d_{role}"])
                return eps
            case "softcap":
                return {"cap": self.one_of(0.7, 2.0)}
            case "gate":
                self.learn("w_gate", sizes["D"], sizes["H"] * sizes["d_v"])
                return {}
        raise AssertionError(f"what {name} takes must stand here")

    def choose_position(self, name: str, sizes: dict) -> dict:
        """Its parameters; what it learns is drawn."""
        match name:
            case "sinusoidal":
                return {"base": self.one_of(10.0, 10000.0)}
            case "learned":
                self.learn("w_places", sizes["places"], sizes["D"])
                return {}
            case "rope":
                return self.choose_rope()
            case "decoupled_rope":
                width = self.one_of(2, 4)
                self.learn("w_kr", sizes["D_kv"], width)
                self.learn("w_qr", sizes["D"], sizes["H"] * width)
                return self.choose_rope()
            case "alibi":
                slopes = [round(self.chance.random(), 3) for _ in range(sizes["H"])]
                return {"slopes": self.one_of(None, tuple(slopes))}
            case "t5":
                direction = self.one_of("both", "past")
                self.learn("w_buckets", 8 if direction == "both" else 6, sizes["H"])
                return {"direction": direction, "farthest": self.one_of(5, 9)}
            case "clipped":
                self.learn("w_clipped", self.one_of(1, 3, 5), sizes["H"])
                return {}
            case "relative_keys":
                self.learn("w_rk", self.one_of(1, 3, 5), sizes["d_q"])
                return {}
        raise AssertionError(f"what {name} takes must stand here")

    def choose_rope(self) -> dict:
        columns = self.one_of(None, 2)
        return {
            "style": self.one_of("interleaved", "half"),
            "base": self.one_of(10.0, 10000.0),
            "scaling": self.one_of("none", *ROPE_SCALINGS),
            "factor": self.one_of(1.0, 2.5, 8.0),
            "trained": self.one_of(8, 100, 4096),
            "mscale": self.one_of(1.0, 0.7),
            "mscale_all_dim": self.one_of(0.0, 0.7),
            "columns": columns,
            "pair_factors": self.one_of(None, (-0.7,)) if columns == 2 else None,
        }

    def choose_scale(self, normaliser: str) -> float | None:
        if not self.has("scale"):
            return None
        return 0.7 if normaliser in POSITIVE else self.one_of(0.7, -0.3)

    def fit(self, parameters: Iterable[Parameter], B: int, S: int) -> dict:
        """Numbers that fit what is declared."""
        return {each.name: fitting_number(each, B, S, self.chance.choice) for each in parameters}

    def fit_mask(self, name: str, B: int, S: int, offset: int | None) -> dict:
        numbers = self.fit(MASKS[name].parameters, B, S)
        return {**numbers, "offset": offset} if offset is not None and MASKS[name].is_causal else numbers

    def learn_for(self, score: str, normaliser: str, sizes: dict) -> None:
        """What a score and a normaliser declare that they learn, for all heads or for each its own."""
        own = self.one_of(2, 3)
        for tensor in (*SCORES[score].weights, *NORMALISERS[normaliser].weights):
            lead = (sizes["H"],) if tensor.by_head and self.happens() else ()
            self.learn(tensor.name, *lead, *tensor.shape(defaultdict(lambda: own, sizes)))

    def choose_pairs(self, B: int, H: int, T: int, S: int, is_positive: bool) -> dict:
        pairs = {}
        shape = self.one_of((T, S), (B, H, T, S), (B, 1, T, S))
        if self.has("allowed", 0.3):
            pairs["allowed"] = self.numbers.random(shape) < 0.7
        if self.has("bias", 0.3):
            pairs["bias"] = self.array(*self.one_of((T, S), (1, S), (B, H, T, S), (1, H, T, S), (B, 1, 1, S)))
        if self.config["dropout"]:
            pairs["keep"] = self.numbers.random((B, H, T, S)) < 0.7
        what = next((name for name in REPLACING if self.has(name, 0.2)), "nothing")
        self.config["replace"] = "uniform" if what == "replace" else None
        what_if = {}
        if what == "replacement":
            pairs["replacement"] = self.array(*shape)
        if what == "what_if weights":
            what_if["weights"] = self.some(shape)
        if self.has("what_if scores", 0.2):
            what_if["scores"] = abs(self.some(shape)) if is_positive else self.some(shape)
        return {**pairs, "what_if": what_if} if what_if else pairs

    def some(self, shape: tuple[int, ...]) -> np.ndarray:
        """Numbers, and NaN where the computed one stays."""
        return np.where(self.numbers.random(shape) < 0.4, self.array(*shape), np.nan)


def draw_layer(seed: int, wanted: frozenset[str] = frozenset()) -> DrawnLayer:
    """The layer of a seed, with all that is wanted of it, such as a mask and a position by their names."""
    return Draw(seed, wanted).layer()


def draw_layers_of(groups: Iterable[frozenset[str]], seeds: range) -> Iterator[DrawnLayer]:
    """A layer for each seed, and more where the groups need them: each group is together in one layer at least."""
    missing, seed = sorted(groups, key=sorted), seeds.start
    while missing or seed < seeds.stop:
        wanted = missing[0] if missing else frozenset()
        layer = draw_layer(seed, wanted)
        assert wanted <= layer.features, f"{layer.name}: it has {sorted(layer.features)}"
        yield layer
        missing = [group for group in missing if not group <= layer.features]
        seed += 1


# ---- what goes together ----------------------------------------------------------------------------------------------
REPLACING = ("replace", "replacement", "what_if weights")
KINDS = [
    {*ENTRANCES},
    {*NORMALISERS},
    {*SCORES},
    {*HEADS},
    *({name} for name in (*MODIFIERS, *POSITIONS, *MASKS)),
    {"residual"}, {"dropout"}, {"scale"}, {"temperature"}, {"allowed"}, {"bias"}, {"what_if scores"},
    {*REPLACING},
]  # fmt: skip
APART = [
    ({"qkv"}, FROM_INPUT | {"residual"}),
    (POSITIVE, ADDS_TO_SCORES | BELOW_ZERO),
]  # what no layer has both of


def all_groups(count: int) -> set[frozenset[str]]:
    """All pairs, or triples, of what a layer may have of different kinds."""
    names = sorted(set().union(*KINDS))
    return {frozenset(group) for group in combinations(names, count) if go_together(set(group))}


def go_together(group: set[str]) -> bool:
    """Whether a layer may have all of these."""
    one_of_a_kind = all(len(kind & group) <= 1 for kind in KINDS)
    return one_of_a_kind and not any(one & group and other & group for one, other in APART)
