"""Attention in plain loops over pairs of words, from the papers alone: it shares nothing with the plan of a run.

`attention_by_loops` says what attend and attend_qkv must give for a drawn layer (tests/mechanism/drawn_layers.py).
Arrays are NumPy's, in float64. Every function is about one row, one pair or one head; the loops stand at the end.
"""

import math

import numpy as np

from tests.mechanism.mask_pairs import may_attend, query_place

Array = np.ndarray


# ---- norms -----------------------------------------------------------------------------------------------------------
def rms_norm(row: Array, gain: Array, eps: float) -> Array:
    return np.array(
        [x * g / math.sqrt(sum(y * y for y in row) / len(row) + eps) for x, g in zip(row, gain, strict=True)]
    )


def layer_norm(row: Array, gain: Array, shift: Array, eps: float) -> Array:
    mean = sum(row) / len(row)
    return rms_norm(row - mean, gain, eps) + shift


def each_row(change, x: Array) -> Array:
    """Every vector along the last axis changed."""
    rows = [change(row) for row in x.reshape(-1, x.shape[-1])]
    return np.array(rows).reshape(*x.shape[:-1], -1)


# ---- positions -------------------------------------------------------------------------------------------------------
def sinusoid(place: int, width: int, base: float) -> Array:
    angles = [place / base ** (2 * (column // 2) / width) for column in range(width)]
    return np.array([math.cos(angle) if column % 2 else math.sin(angle) for column, angle in enumerate(angles)])


def yarn_pair(turns: float, width: int, base: float, trained: int) -> float:
    """The pair, not a whole number, that turns around so often in the trained length."""
    return width / 2 * math.log(trained / (2 * math.pi * turns)) / math.log(base)


def rope_angle(pair: int, width: int, chosen: dict) -> float:
    """By how much a pair is turned for each place."""
    base, factor, trained = (chosen[name] for name in ("base", "factor", "trained"))
    kind = chosen["scaling"]
    plain = base ** (-2 * pair / width)
    if kind == "none":
        return plain
    if kind == "linear":
        return plain / factor
    if kind == "ntk":
        larger = base * factor ** (width / (width - 2)) if width > 2 else base
        return larger ** (-2 * pair / width)
    turns = trained * plain / (2 * math.pi)
    if kind in ("llama3", "yarn_turns"):
        most = 4 if kind == "llama3" else 32
        kept = min(max((turns - 1) / (most - 1), 0), 1)
    else:
        first, last = (yarn_pair(turns, width, base, trained) for turns in (32, 1))
        if kind == "yarn":
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, width - 1)
        last = last + 0.001 if first == last else last
        kept = 1 - min(max((pair - first) / (last - first), 0), 1)
    return kept * plain + (1 - kept) * plain / factor


def yarn_factors(chosen: dict) -> tuple[float, float]:
    """By what YaRN makes q and k longer, and by what it multiplies the scores' scale, as DeepSeek's code has it."""
    if not chosen["scaling"].startswith("yarn") or chosen["factor"] <= 1:
        return 1.0, 1.0
    own, everywhere = (0.1 * chosen[name] * math.log(chosen["factor"]) + 1 for name in ("mscale", "mscale_all_dim"))
    return own / everywhere, everywhere**2


def turn(row: Array, place: int, chosen: dict) -> Array:
    width = chosen["columns"] or len(row)
    longer, _ = yarn_factors(chosen)
    turned = row.copy()
    for pair in range(width // 2):
        one, other = (pair, pair + width // 2) if chosen["style"] == "half" else (2 * pair, 2 * pair + 1)
        angle = place * rope_angle(pair, width, chosen) * (chosen["pair_factors"] or [1.0] * width)[pair]
        turned[one] = longer * (row[one] * math.cos(angle) - row[other] * math.sin(angle))
        turned[other] = longer * (row[one] * math.sin(angle) + row[other] * math.cos(angle))
    return turned


def turn_rows(x: Array, first: int, chosen: dict) -> Array:
    """(..., L, d): row t stands at place first + t."""
    turned = x.copy()
    for index in np.ndindex(x.shape[:-1]):
        turned[index] = turn(x[index], first + index[-1], chosen)
    return turned


def press_slopes(heads: int) -> list[float]:
    """The published slopes of ALiBi: of 3 heads those of 2, and the first of 4."""
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return slopes + [2 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(heads - power)]


def t5_bucket(distance: int, buckets: int, direction: str, farthest: int) -> int:
    """Raffel et al.'s own code: distance is the key's place less the query's."""
    bucket = 0
    if direction == "both":
        buckets //= 2
        bucket = buckets if distance > 0 else 0
        away = abs(distance)
    else:
        away = -min(distance, 0)
    exact = buckets // 2
    if away < exact:
        return bucket + away
    large = exact + int(math.log(away / exact) / math.log(farthest / exact) * (buckets - exact))
    return bucket + min(large, buckets - 1)


def clip(distance: int, rows: int) -> int:
    most = (rows - 1) // 2
    return max(-most, min(most, distance)) + most


# ---- scores and what makes weights of them ---------------------------------------------------------------------------
def of_head(tensor: Array, axes: int, h: int) -> Array:
    """A head's own, where each has its own."""
    return tensor if tensor.ndim == axes else tensor[h]


def score(kind: str, q: Array, k: Array, weights: dict, h: int) -> float:
    match kind:
        case "dot" | "scaled_dot":
            return float(q @ k)
        case "cosine":
            return float(q @ k) / (max(math.sqrt(q @ q), 1e-8) * max(math.sqrt(k @ k), 1e-8))
        case "general":
            return float(q @ of_head(weights["w_a"], 2, h) @ k)
        case "additive":
            hidden = np.tanh(q @ of_head(weights["w_aq"], 2, h) + k @ of_head(weights["w_ak"], 2, h))
            return float(of_head(weights["v_a"], 1, h) @ hidden)
        case "linear":
            return sum(elu_plus_one(x) * elu_plus_one(y) for x, y in zip(q, k, strict=True))
    raise AssertionError(f"what {kind} is must stand in score of tests/mechanism/attention_loops.py")


SCALED_SCORES = ("scaled_dot", "linear")  # those divided by the root of d_k


def elu_plus_one(x: float) -> float:
    return x + 1 if x > 0 else math.exp(x)


def normalise(kind: str, chosen: dict, scores: list[float], allowed: list[bool], weights: dict, h: int) -> list[float]:
    """The weights of a row of head h. chosen: the normaliser's numbers. weights: what the layer learns, by name."""
    seen = [s for s, may in zip(scores, allowed, strict=True) if may]
    match kind:
        case "softmax":
            total = sum(math.exp(s - max(seen)) for s in seen)
            return [math.exp(s - max(seen)) / total if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
        case "sinks":
            sink = float(weights["sinks"][h])
            top = max([*seen, sink])
            total = sum(math.exp(s - top) for s in [*seen, sink])
            return [math.exp(s - top) / total if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
        case "sigmoid":
            bias = chosen["bias"]
            return [1 / (1 + math.exp(-s - bias)) if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
        case "share":
            return [s / sum(seen) if may else 0.0 for s, may in zip(scores, allowed, strict=True)]
    raise AssertionError(f"what {kind} makes of scores must stand in normalise of tests/mechanism/attention_loops.py")


# ---- the layer -------------------------------------------------------------------------------------------------------
def attention_by_loops(inputs: dict, weights: dict, config: dict, pairs: dict) -> dict[str, Array]:
    """What a layer gives: its weights (those that mix), its heads' outputs, its output, and its last step.

    inputs: x, or query, key and perhaps value, each (B, L, D); or q, k and v, each (B, H, L, d). weights: by name.
    config: AttentionConfig's arguments, with lists of (name, parameters). pairs: allowed, bias, keep, replacement,
    what_if.
    """
    modifiers, positions = dict(config["modifiers"]), dict(config["positions"])
    H, KV = config["heads"], config["kv_heads"]
    T = next(iter(inputs.values())).shape[-2]
    S = inputs["v" if "v" in inputs else "key" if "key" in inputs else "x"].shape[-2]
    at = query_place(config["masks"], T, S)
    made_of = {}
    if "q" in inputs:
        q, k, v = (inputs[role] for role in "qkv")
    else:
        made_of = change_inputs(inputs, weights, modifiers, positions, at)
        q, k, v = (project(role, made_of[role], weights, H if role == "q" else KV) for role in "qkv")
    maps = 2 if "differential" in modifiers else 1
    halves = [
        (make_heads(q, "q", half, maps, at, weights, modifiers, positions),
         make_heads(k, "k", half, maps, 0, weights, modifiers, positions))
        for half in range(maps)
    ]  # fmt: skip
    allowed = all_allowed(config, pairs, (len(q), H, T, S), at)
    first, *second = (
        weigh(half, *both, made_of, allowed, at, weights, config, pairs) for half, both in enumerate(halves)
    )
    mixing = first
    if second:
        lam = [
            math.exp(of_head(weights["lam_q1"], 1, h) @ of_head(weights["lam_k1"], 1, h))
            - math.exp(of_head(weights["lam_q2"], 1, h) @ of_head(weights["lam_k2"], 1, h))
            + modifiers["differential"]["lam_init"]
            for h in range(H)
        ]
        mixing = np.array([[first[b, h] - lam[h] * second[0][b, h] for h in range(H)] for b in range(len(q))])
    mixing = replace_weights(mixing, allowed, config, pairs)
    found = {"weights": mixing}
    if config["dropout"]:
        mixing = np.where(np.broadcast_to(pairs["keep"], mixing.shape), mixing / (1 - config["dropout"]), 0.0)
    heads = np.array([[mixing[b, h] @ v[b, h * KV // H] for h in range(H)] for b in range(len(q))])
    found["head_outputs"] = heads
    if "differential" in modifiers:
        chosen = modifiers["differential"]
        normed = each_row(lambda row: rms_norm(row, weights["g_heads"], chosen["eps"]), heads)
        heads = normed * (1 - chosen["lam_init"])
    if "gate" in modifiers:
        opened = made_of["q"] @ weights["w_gate"]
        heads = heads / (1 + np.exp(-cut(opened, H)))
    output = np.concatenate([heads[:, h] for h in range(H)], axis=-1)
    if "w_o" in weights:
        output = output @ weights["w_o"] + weights.get("b_o", 0.0)
    found["output"] = output
    if "rms_norm_output" in modifiers:
        gain, eps = weights["g_rms_output"], modifiers["rms_norm_output"]["eps"]
        output = each_row(lambda row: rms_norm(row, gain, eps), output)
    if config["residual"]:
        output = made_of["stream"] + output
    if "layer_norm_after" in modifiers:
        gain, shift, eps = weights["g_layer_after"], weights["b_layer_after"], modifiers["layer_norm_after"]["eps"]
        output = each_row(lambda row: layer_norm(row, gain, shift, eps), output)
    if "rms_norm_after" in modifiers:
        output = each_row(lambda row: rms_norm(row, weights["g_rms_after"], modifiers["rms_norm_after"]["eps"]), output)
    return {**found, "last": output}


def change_inputs(inputs: dict, weights: dict, modifiers: dict, positions: dict, at: int) -> dict[str, Array]:
    """What q, k and v are projected from, by their names; `stream`, what a residual adds to; `k_source`, the keys'
    input before a latent."""
    placed = {}
    for name, x in inputs.items():
        first = at if name == "query" else 0
        placed[name] = x.copy()
        for b, t in np.ndindex(x.shape[:2]):
            if "sinusoidal" in positions:
                placed[name][b, t] += sinusoid(first + t, x.shape[-1], positions["sinusoidal"]["base"])
            if "learned" in positions:
                placed[name][b, t] += weights["w_places"][first + t]
    query = next(iter(inputs))
    normed = placed[query]
    if "layer_norm_before" in modifiers:
        gain, shift, eps = weights["g_layer_before"], weights["b_layer_before"], modifiers["layer_norm_before"]["eps"]
        normed = each_row(lambda row: layer_norm(row, gain, shift, eps), normed)
    if "rms_norm_before" in modifiers:
        normed = each_row(
            lambda row: rms_norm(row, weights["g_rms_before"], modifiers["rms_norm_before"]["eps"]), normed
        )
    key = "key" if "key" in inputs else query
    value = "value" if "value" in inputs else key
    sources = {"q": normed, "k": placed[key], "v": placed[value]}
    for role, name in (("k", key), ("v", value)):
        if name == query:
            sources[role] = normed
    found = {**sources, "stream": placed[query], "k_source": sources["k"]}
    if "latent" in modifiers:
        for role in "kv":
            compressed = sources[role] @ weights["w_dkv"]
            found[role] = each_row(
                lambda row: rms_norm(row, weights["g_latent"], modifiers["latent"]["eps"]), compressed
            )
    return found


def cut(x: Array, heads: int) -> Array:
    """(B, L, heads * d) as (B, heads, L, d): head h has the h-th block of columns."""
    width = x.shape[-1] // heads
    return np.stack([x[:, :, h * width : (h + 1) * width] for h in range(heads)], axis=1)


def project(role: str, x: Array, weights: dict, heads: int) -> Array:
    if f"w_{role}" in weights:
        x = x @ weights[f"w_{role}"] + weights.get(f"b_{role}", 0.0)
    return cut(x, heads)


def make_heads(
    x: Array, role: str, half: int, maps: int, first: int, weights: dict, modifiers: dict, positions: dict
) -> Array:
    """q or k of one of the maps: its half of the columns, normed, turned."""
    width = x.shape[-1] // maps
    x = x[..., half * width : (half + 1) * width]
    if "qk_norm" in modifiers:
        x = each_row(lambda row: rms_norm(row, weights[f"g_{role}"], modifiers["qk_norm"]["eps"]), x)
    if "qk_norm_all" in modifiers:
        x = norm_all_heads(x, weights[f"g_{role}_all"], modifiers["qk_norm_all"]["eps"])
    if "qk_layer_norm" in modifiers:
        gain, shift, eps = weights[f"g_{role}_layer"], weights[f"b_{role}_layer"], modifiers["qk_layer_norm"]["eps"]
        x = each_row(lambda row: layer_norm(row, gain, shift, eps), x)
    if "rope" in positions:
        x = turn_rows(x, first, positions["rope"])
    return x


def norm_all_heads(x: Array, gain: Array, eps: float) -> Array:
    """The heads of a token side by side, normed as one vector."""
    B, H, L, d = x.shape
    normed = np.empty_like(x)
    for b, t in np.ndindex(B, L):
        row = rms_norm(np.concatenate([x[b, h, t] for h in range(H)]), gain, eps)
        for h in range(H):
            normed[b, h, t] = row[h * d : (h + 1) * d]
    return normed


def all_allowed(config: dict, pairs: dict, sizes: tuple[int, ...], at: int) -> Array:
    allowed = np.ones(sizes, dtype=bool)
    given = np.broadcast_to(pairs.get("allowed", True), sizes)
    for b, h, t, s in np.ndindex(sizes):
        allowed[b, h, t, s] = given[b, h, t, s] and may_attend(config["masks"], b, h, t + at, s)
    return allowed


def weigh(
    half: int, q: Array, k: Array, made_of: dict, allowed: Array, at: int, weights: dict, config: dict, pairs: dict
) -> Array:
    """One map of weights, pair by pair."""
    modifiers, positions = dict(config["modifiers"]), dict(config["positions"])
    B, H, T, _ = q.shape
    KV, S, d_k = k.shape[1:]
    compared, scale_of_yarn = d_k, 1.0
    if "decoupled_rope" in positions:
        chosen = positions["decoupled_rope"]
        turned_q = turn_rows(cut(made_of["q"] @ weights["w_qr"], H), at, chosen)
        turned_k = turn_rows(made_of["k_source"] @ weights["w_kr"], 0, chosen)
        compared += turned_k.shape[-1]
    for name in ("rope", "decoupled_rope"):
        if name in positions:
            scale_of_yarn *= yarn_factors(positions[name])[1]
    factor = 1 / math.sqrt(compared) if config["score"] in SCALED_SCORES else 1.0
    factor = factor if config["scale"] is None else config["scale"]
    chosen_scores = pairs.get("what_if", {}).get("scores") if half == 0 else None
    kind, params = config["normaliser"]
    found = np.zeros((B, H, T, S))
    for b, h, t in np.ndindex(B, H, T):
        row = []
        for s in range(S):
            distance = s - t - at
            number = score(config["score"], q[b, h, t], k[b, h * KV // H, s], weights, h)
            if chosen_scores is not None and not math.isnan(np.broadcast_to(chosen_scores, found.shape)[b, h, t, s]):
                number = float(np.broadcast_to(chosen_scores, found.shape)[b, h, t, s])
            if "relative_keys" in positions:
                number += q[b, h, t] @ weights["w_rk"][clip(distance, len(weights["w_rk"]))]
            if "decoupled_rope" in positions:
                number += turned_q[b, h, t] @ turned_k[b, s]
            number *= factor * scale_of_yarn / config["temperature"]
            if "softcap" in modifiers:
                number = modifiers["softcap"]["cap"] * math.tanh(number / modifiers["softcap"]["cap"])
            if "alibi" in positions:
                slopes = positions["alibi"]["slopes"] or press_slopes(H)
                number -= slopes[h] * abs(distance)
            if "t5" in positions:
                table, t5 = weights["w_buckets"], positions["t5"]
                number += table[t5_bucket(distance, len(table), t5["direction"], t5["farthest"]), h]
            if "clipped" in positions:
                number += weights["w_clipped"][clip(distance, len(weights["w_clipped"])), h]
            if "bias" in pairs:
                number += np.broadcast_to(pairs["bias"], found.shape)[b, h, t, s]
            row.append(float(number))
        found[b, h, t] = normalise(kind, params, row, [*allowed[b, h, t]], weights, h)
    return found


def replace_weights(computed: Array, allowed: Array, config: dict, pairs: dict) -> Array:
    """Other weights in the place of those that mix."""
    if config["replace"] == "uniform":
        return allowed / np.maximum(allowed.sum(-1, keepdims=True), 1)
    if "replacement" in pairs:
        return np.broadcast_to(pairs["replacement"], computed.shape)
    chosen = pairs.get("what_if", {}).get("weights")
    if chosen is None:
        return computed
    chosen = np.broadcast_to(chosen, computed.shape)
    return np.where(np.isnan(chosen), computed, chosen)
