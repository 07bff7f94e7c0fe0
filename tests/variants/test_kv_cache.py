"""Decoding with a cache: every step is a row of the full causal pass, and what is counted is what the steps did."""

import pickle

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, code, explain, prove
from attention_core.explanation.formula import formula
from attention_core.explanation.layout import panel
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.scores import SCORES
from attention_core.record.cell_functions import evaluate
from attention_core.variants.decoding_work import (
    cache_bytes,
    cache_states,
    causal_pairs,
    kv_bytes,
    latent_bytes,
    total_work,
    work_of_step,
)
from attention_core.variants.kv_cache import decode, first_key, gap_to_full, kept_steps
from tests.entries import key_rows, learned_shapes

B, T, D, D_OUT, A = 2, 7, 11, 13, 17
HEADS, KV_HEADS, D_K, D_V = 6, 3, 4, 5  # d_k is even, because RoPE turns pairs

CONFIGS = {
    "causal": {},
    "causal, offset 0": {"masks": [("causal", {"offset": 0})]},
    "one head": {"heads": 1, "kv_heads": 1},
    "multi-query": {"kv_heads": 1},
    "rope": {"positions": ["rope"]},
    "rope, halves": {"positions": [("rope", {"style": "half", "base": 50.0})]},
    "alibi": {"positions": ["alibi"]},
    "sinusoidal": {"positions": ["sinusoidal"]},
    "all positions, residual": {"positions": ["sinusoidal", "rope", "alibi"], "residual": True},
    "sliding": {"masks": [("sliding", {"window": 3})]},
    "sliding of 1": {"masks": [("sliding", {"window": 1})], "positions": ["rope"]},
    "sliding of all": {"masks": [("sliding", {"window": T})]},
    "sliding, all positions": {
        "masks": [("sliding", {"window": 3})],
        "positions": ["sinusoidal", "rope", "alibi"],
    },
    "sliding and padding": {"masks": [("sliding", {"window": 3}), ("padding", {"lengths": (T, 2)})]},
    "causal and padding": {"masks": ["causal", ("padding", {"lengths": (5, 3)})]},
    "causal and local": {"masks": ["causal", ("local", {"window": 2})]},
    "causal and global": {"masks": ["causal", ("local_global", {"window": 1, "global_tokens": (1, 4)})]},
    "sliding and global": {
        "masks": [("sliding", {"window": 3}), ("local_global", {"window": 1, "global_tokens": (1, 5)})]
    },
    "uniform": {"replace": "uniform"},
    **{f"score {name}": {"score": name} for name in SCORES},
    **{f"modifier {name}": {"modifiers": [name]} for name in MODIFIERS},
    "latent, decoupled": {"modifiers": ["latent"], "positions": ["decoupled_rope"]},
    "latent, turned, sliding": {
        "modifiers": ["latent"],
        "positions": ["rope", "decoupled_rope", "sinusoidal"],
        "masks": [("sliding", {"window": 3})],
    },
    "two maps, turned": {"modifiers": ["differential"], "positions": ["rope"]},
    "normaliser sinks": {"normaliser": "sinks"},
    "normaliser sigmoid": {"normaliser": ("sigmoid", {"bias": -1.5})},
}


def numbers(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def config_of(name: str) -> AttentionConfig:
    return AttentionConfig(**{"heads": HEADS, "kv_heads": KV_HEADS, "masks": ["causal"], **CONFIGS[name]})


def weights_for(config: AttentionConfig) -> Weights:
    queries, keys = config.heads, config.kv_heads
    width = D if config.residual else D_OUT
    shapes = learned_shapes(config, D_K, D_K, own=A, wide=(D, D_V), D_out=width)
    rows = key_rows(config, shapes, D)
    shapes |= {"w_q": (D, queries * D_K), "w_k": (rows, keys * D_K), "w_v": (rows, keys * D_V)}
    shapes |= {"b_q": (queries * D_K,), "b_k": (keys * D_K,), "b_v": (keys * D_V,)}
    shapes |= {"w_o": (queries * D_V, width), "b_o": (width,)}
    return Weights(**{name: numbers(*shape, seed=3 + n) / 3 for n, (name, shape) in enumerate(shapes.items())})


def both(name: str) -> tuple[list[Trace], Trace]:
    """Token by token, and all at once."""
    config, x = config_of(name), numbers(B, T, D, seed=2)
    weights = weights_for(config)
    return list(decode(x, weights=weights, config=config)), attend(x, weights=weights, config=config)


every_config = pytest.mark.parametrize("name", CONFIGS)


# ---- the numbers -----------------------------------------------------------------------------------------------------
def assert_same(name: str, found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12, msg=lambda text: f"{name}: {text}")


@every_config
def test_every_step_is_a_row_of_the_full_pass(name):
    found, full = both(name)
    window = dict(config_of(name).masks).get("sliding", {}).get("window")
    assert len(found) == T
    for t, trace in enumerate(found):
        first = first_key(t, window)
        for step in ("q_projected", "concat", "output", "residual", "positioned_x"):
            assert (step in trace) == (step in full)
            if step in full:
                assert_same(step, trace[step], full[step][:, t : t + 1])
        for step in ("q", "head_outputs"):
            assert_same(step, trace[step], full[step][:, :, t : t + 1])
        for step in ("k", "v"):
            assert_same(step, trace[step], full[step][:, :, first : t + 1])
        for step in ("scaled_scores", "masked_scores", "weights"):
            assert_same(step, trace[step], full[step][:, :, t : t + 1, first : t + 1])
        assert (full["weights"][:, :, t, :first] == 0).all()
        assert (full["weights"][:, :, t, t + 1 :] == 0).all()


@every_config
def test_the_gap_to_the_full_pass_is_the_largest_difference_of_any_step(name):
    found, full = both(name)
    for step in ("weights", "head_outputs", "output", "k", "v", "scaled_scores"):
        assert gap_to_full(found, full, step) < 1e-12
    step = found[3].step("weights")
    step.value[1, -1, 0, 0] += 0.25
    assert gap_to_full(found, full, "weights") == pytest.approx(0.25, abs=1e-12)
    assert gap_to_full(found, full, "output") < 1e-12


def test_without_a_cache_every_step_projects_all_keys_so_far():
    for tokens in (1, 7, 256):
        assert total_work(tokens, cached=False).keys == sum(range(1, tokens + 1))


def test_one_sentence_without_weights_is_causal_attention_over_itself():
    x = numbers(5, 3, seed=1)
    full = attend(x, config=AttentionConfig(masks=["causal"]))["output"]
    assert_same("output", torch.cat([step["output"] for step in decode(x)], dim=1), full)


@every_config
def test_a_step_projects_one_token_and_keeps_what_there_was(name):
    found, _ = both(name)
    before = None
    for t, trace in enumerate(found):
        kept = kept_steps(trace.steps)
        assert trace["q_projected"].shape[1] == 1
        if "v" in kept:  # else keys and values are made of all latents
            assert trace["k_projected"].shape[1] == trace["v_projected"].shape[1] == 1
        assert trace["q"].shape[2] == trace["weights"].shape[2] == trace["output"].shape[1] == 1
        for role in kept:
            assert (f"{role}_cache" in trace) == (role in trace and trace["k"].shape[2] > 1)
            if f"{role}_cache" in trace:
                rows = trace[f"{role}_cache"].shape[-2]
                assert torch.equal(trace[f"{role}_cache"], before[role][..., -rows:, :])  # bit for bit
                assert torch.equal(trace[role], torch.cat([trace[f"{role}_cache"], trace[f"{role}_new"]], dim=-2))
        before = trace
        assert (
            trace["k"].shape[2]
            == work_of_step(t, window=dict(config_of(name).masks).get("sliding", {}).get("window")).scores
        )


def test_what_comes_later_is_never_looked_at():
    config = config_of("all positions, residual")
    x, weights = numbers(B, T, D, seed=2), weights_for(config)
    other = x.clone()
    other[:, 4:] = 1000.0
    one, changed = (list(decode(tokens, weights=weights, config=config)) for tokens in (x, other))
    for t in range(4):
        assert all(torch.equal(one[t][name], changed[t][name]) for name in one[t].steps)
    assert not torch.equal(one[4]["output"], changed[4]["output"])


# ---- a step is a run like any other ----------------------------------------------------------------------------------
@every_config
def test_every_step_is_proven_and_every_cell_follows_from_its_operands(name):
    found, _ = both(name)
    for trace in (found[0], found[1], found[-1]):
        proof = prove(trace)
        assert proof.passed, proof.failed
        assert proof.worst < 1e-13
    shapes = trace.shapes()
    for step in ("k", "v", "scores", "q"):
        operation = trace.step(step).operation
        for index in np.ndindex(shapes[step]):
            number = evaluate(operation.cell(index, shapes), lambda ref: trace[ref.step][ref.index].item())
            assert number == pytest.approx(trace[step][index].item(), abs=1e-12)


def test_torchs_layer_is_a_witness_of_the_first_step_alone():
    """From the second on it would have to be given a cache, which it does not take."""
    weights = Weights(**{name: numbers(6, 6, seed=n) for n, name in enumerate(("w_q", "w_k", "w_v", "w_o"))})
    config = AttentionConfig(heads=3, masks=["causal"])
    proofs = [prove(trace) for trace in decode(numbers(3, 6, seed=9), weights=weights, config=config)]
    assert all(proof.passed for proof in proofs)
    assert ["mha" in {check.witness for check in proof.checks} for proof in proofs] == [True, False, False]
    assert all("sdpa" in {check.witness for check in proof.checks} for proof in proofs)


def small_step() -> Trace:
    """The second token of two: keys (1, 2) and (3, 4), of which the first was kept."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    return list(decode(x, weights=Weights(w_k=torch.eye(2, dtype=torch.float64))))[1]


def test_a_key_leads_to_the_cache_or_to_the_token():
    trace = small_step()
    assert explain(trace, "k", (0, 0, 0, 1)).text == "2.00 = 2.00"
    assert [piece.ref.step for piece in explain(trace, "k", (0, 0, 0, 1)).pieces if piece.ref] == ["k_cache"]
    assert [piece.ref.step for piece in explain(trace, "k", (0, 0, 1, 1)).pieces if piece.ref] == ["k_new"]
    assert explain(trace, "k_cache", (0, 0, 0, 1)).cell is None
    assert explain(trace, "k_projected", (0, 0, 1)).text == "3.00 × 0.00 + 4.00 × 1.00 = 4.00"


def test_axes_and_words_of_a_step():
    trace = small_step()
    assert trace.step("k").dims == trace.step("k_cache").dims == ("B", "H_kv", "S", "d_k")
    assert trace.step("k_new").dims == ("B", "H_kv", "T", "d_k")
    assert trace.step("k_projected").dims == ("B", "T", "H_kv·d_k")
    labelled = trace.labelled(T=("barked",), S=("it", "barked"))
    assert set(labelled.frame("k_cache")["S_label"]) == {"it"}
    assert set(labelled.frame("k_new")["T_label"]) == {"barked"}
    assert panel(trace, "k_cache").rows == "S"  # its one key is no mask that stands for all


def test_a_step_can_be_written_down_and_kept():
    trace = small_step()
    assert formula(trace, "k", colours={}) == (r"K = [\,\mathrm{k\_cache}\,;\;\mathrm{k\_new}\,]")
    for language in ("torch", "numpy"):
        names: dict = {}
        exec(code(trace, language), names)
        np.testing.assert_allclose(np.asarray(names["k"]), trace["k"].numpy(), rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.asarray(names["output"]), trace["output"].numpy(), rtol=0, atol=1e-12)
    again = pickle.loads(pickle.dumps(trace))  # noqa: S301
    assert all(torch.equal(again[name], trace[name]) for name in trace.steps)


# ---- what is counted -------------------------------------------------------------------------------------------------
def test_projections_at_a_length_of_256():
    assert total_work(256).keys == 256
    assert total_work(256, cached=False).keys == 32_896 == 256 * 257 // 2
    assert total_work(256).scores == 32_896
    assert total_work(256, cached=False).scores == 256 * 257 * 258 // 6


@pytest.mark.parametrize("window", [None, 1, 3, T, 19])
def test_the_counts_are_what_the_runs_did(window):
    mask = "causal" if window is None else ("sliding", {"window": window})
    x, config = numbers(T, D, seed=4), AttentionConfig(masks=[mask])
    for t, trace in enumerate(decode(x, config=config)):
        kept = trace["k_cache"].shape[2] if "k_cache" in trace else 0
        found = (trace["k_new" if kept else "k"].shape[2], trace["q"].shape[2], trace["scores"].numel(), kept)
        counted = work_of_step(t, window=window)
        assert found == (counted.keys, counted.queries, counted.scores, counted.read)
        assert trace["allowed"].all()

        again = attend(x[: t + 1], config=config)  # without a cache: the whole prefix
        found = (again["k"].shape[2], again["q"].shape[2], int(again["allowed"].sum()), 0)
        counted = work_of_step(t, cached=False, window=window)
        assert found == (counted.keys, counted.queries, counted.scores, counted.read)
    assert causal_pairs(T, window) == int(again["allowed"].sum()) == total_work(T, window=window).scores


def test_states_by_hand():
    letters = {"computed": "c", "kept": "k", "again": "a", "unneeded": "u", "absent": "."}

    def drawn(*args, **choices):
        return [" ".join(letters[each] for each in row) for row in cache_states(*args, **choices)]

    assert drawn(4) == ["c . . .", "k c . .", "k k c .", "k k k c"]
    assert drawn(4, "v", cached=False) == ["c . . .", "a c . .", "a a c .", "a a a c"]
    assert drawn(4, "q") == ["c . . .", "u c . .", "u u c .", "u u u c"]
    assert drawn(4, window=2) == ["c . . .", "k c . .", "u k c .", "u u k c"]
    assert drawn(4, "q", cached=False, window=2) == ["c . . .", "a c . .", "a a c .", "a a a c"]


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("window", [None, 1, 3, 19])
def test_states_and_counts_agree(cached, window):
    counted = total_work(T, cached=cached, window=window)
    keys, queries = (
        [state for row in cache_states(T, role, cached=cached, window=window) for state in row] for role in "kq"
    )
    assert counted.keys == keys.count("computed") + keys.count("again")
    assert counted.queries == queries.count("computed") + queries.count("again")
    assert counted.read == keys.count("kept")


# ---- bytes -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("kv_heads", [6, 3, 1])
@pytest.mark.parametrize("window", [None, 3])
def test_the_closed_form_is_what_the_tensors_take(dtype, kv_heads, window):
    mask = "causal" if window is None else ("sliding", {"window": window})
    config = AttentionConfig(heads=HEADS, kv_heads=kv_heads, masks=[mask])
    sizes = {"w_q": HEADS * D_K, "w_k": kv_heads * D_K, "w_v": kv_heads * D_V}
    weights = Weights(**{name: numbers(D, width, seed=5).to(dtype) for name, width in sizes.items()})
    for t, trace in enumerate(decode(numbers(B, T, D, seed=6).to(dtype), weights=weights, config=config)):
        real = sum(trace[role].element_size() * trace[role].numel() for role in "kv")
        assert kv_bytes(trace) == real
        assert real == cache_bytes(t + 1, kv_heads=kv_heads, d_k=D_K, d_v=D_V, dtype=dtype, batch=B, window=window)


def test_a_latent_is_all_that_is_kept():
    config = config_of("latent, decoupled")
    for t, trace in enumerate(decode(numbers(B, T, D, seed=6), weights=weights_for(config), config=config)):
        sizes = trace.sizes()
        closed = latent_bytes(t + 1, d_c=sizes["d_c"], d_r=sizes["d_r"], dtype=torch.float64, batch=B)
        given = [trace[name].nbytes for name in trace.inputs() if name.endswith("_cache")]
        made = [trace[name].nbytes for name in ("latent_x_new", "k_r_new") if name in trace]
        assert kv_bytes(trace) == closed
        assert sum(given) + sum(made) == (closed if t else 0)


def test_bytes_by_hand():
    llama = {"layers": 32, "d_k": 128, "d_v": 128, "dtype": torch.float16}  # 4,096 tokens: 2 GiB, of 8 heads a quarter
    assert cache_bytes(4096, kv_heads=32, **llama) == 2 * 32 * 32 * 128 * 4096 * 2 == 2 * 2**30
    assert cache_bytes(4096, kv_heads=8, **llama) == 2**29
    assert cache_bytes(4096, kv_heads=8, window=1024, **llama) == 2**27
    assert cache_bytes(100, kv_heads=8, window=1024, **llama) == cache_bytes(100, kv_heads=8, **llama)


# ---- what is refused -------------------------------------------------------------------------------------------------
REFUSED = {
    "no mask": ("decoding_not_causal", {"config": AttentionConfig()}),
    "local alone": ("decoding_not_causal", {"config": AttentionConfig(masks=[("local", {"window": 1})])}),
    "offset": ("decoding_not_causal", {"config": AttentionConfig(masks=[("causal", {"offset": 1})])}),
    "dropout": ("decoding_drops", {"config": AttentionConfig(masks=["causal"], dropout=0.5)}),
    "lengths": ("lengths_count", {"config": AttentionConfig(masks=["causal", ("padding", {"lengths": (1, 2)})])}),
    "width": ("projection_width", {"weights": Weights(w_q=torch.eye(2))}),
    "w_o": ("projection_width", {"weights": Weights(w_o=torch.eye(2))}),
    "w_a": ("unowned_weight", {"weights": Weights(w_a=torch.eye(3))}),
    "no config": ("not_a_class", {"config": {"heads": 1}}),
    "four axes": ("rank", {"x": torch.ones(1, 1, 5, 3)}),
    "infinite": ("not_finite", {"x": torch.full((5, 3), torch.inf)}),
}


@pytest.mark.parametrize(("error", "call"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_refused_at_once(error, call):
    with pytest.raises(AttentionError) as caught:
        decode(**{"x": torch.ones(5, 3), **call})  # before a step is asked for
    assert caught.value.code == error


@pytest.mark.parametrize(
    ("error", "call"),
    [
        ("positive_integer", lambda: total_work(0)),
        ("positive_integer", lambda: total_work(True)),
        ("positive_integer", lambda: total_work(3, window=0)),
        ("positive_integer", lambda: total_work(3, cached=False, window=0)),
        ("not_negative", lambda: work_of_step(-1)),
        ("positive_integer", lambda: cache_states(0)),
        ("unknown_choice", lambda: cache_states(3, "x")),
        ("positive_integer", lambda: cache_bytes(3, kv_heads=0, d_k=1, d_v=1, dtype=torch.float16)),
        ("positive_integer", lambda: cache_bytes(3, kv_heads=1, d_k=1, d_v=1, dtype=torch.float16, window=0)),
    ],
)
def test_counts_of_nothing_are_refused(error, call):
    with pytest.raises(AttentionError) as caught:
        call()
    assert caught.value.code == error
