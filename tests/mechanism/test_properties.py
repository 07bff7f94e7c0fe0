"""What holds for every run: random choices and tensors, nothing to look up.

Hypothesis draws the choices, the same ones in every run of the tests; a seed draws the numbers.
"""

import copy
import pickle
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from torch import Tensor

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.mechanism.masks import MASKS, Mask
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.cell_functions import evaluate
from tests.entries import adds_table, fit_widths, fitting_number, learned_shapes, score_shapes

TOLERANCE = 1e-12  # of the step's largest magnitude

HEADS = [(1, 1), (2, 2), (2, 1), (3, 3), (4, 2)]  # query heads, key/value heads
A = 3  # the tanh layer's width
WAYS = {
    "none": [],
    "sinusoidal": ["sinusoidal"],
    "rope": ["rope"],
    "rope_half": [("rope", {"style": "half", "base": 50.0})],
    "alibi": ["alibi"],
    "all": [*POSITIONS],
}


@dataclass(frozen=True, eq=False)
class Call:
    """One call of attend or attend_qkv, not yet made."""

    entrance: Callable[..., Trace]
    tensors: tuple[Tensor, ...]
    arguments: dict[str, object]

    def run(self) -> Trace:
        return self.entrance(*self.tensors, **self.arguments)


# ---- drawing a call --------------------------------------------------------------------------------------------------
def mask_choices(draw, B: int, S: int, offsets: tuple[int, ...]) -> list:
    """Any of the masks together, each at most once, the causal ones with one offset."""
    offset = draw(st.sampled_from([None, None, *offsets]))
    chosen = draw(st.lists(st.sampled_from(sorted(MASKS)), unique=True, max_size=2))
    return [(name, mask_parameters(draw, MASKS[name], B, S, offset)) for name in chosen]


def mask_parameters(draw, mask: Mask, B: int, S: int, offset: int | None) -> dict[str, object]:
    """Small numbers that fit a mask's declaration."""
    params = {each.name: fitting_number(each, B, S, lambda of: draw(st.sampled_from(of))) for each in mask.parameters}
    return params | ({"offset": offset} if mask.is_causal else {})


def score_weights(score: str, d_q: int, d_k: int, leading: tuple[int, ...], random: Callable) -> dict[str, Tensor]:
    return {name: random(*leading, *shape) for name, shape in score_shapes(score, d_q, d_k, own=A).items()}


def way_weights(way: str, d_q: int, d_k: int, H: int, random: Callable, wide: tuple[int, ...]) -> dict[str, Tensor]:
    """What ways to tell positions learn."""
    shapes = learned_shapes(AttentionConfig(heads=H, positions=WAYS[way]), d_q, d_k, wide=wide)
    return {name: random(*shape) for name, shape in shapes.items()}


@st.composite
def calls(draw, score: str, way: str) -> Call:
    """A call of either entrance with everything that can be chosen."""
    B, T, S = draw(st.integers(1, 2)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    H, KV = draw(st.sampled_from(HEADS))
    d_k, d_v = draw(st.sampled_from([2, 4])), draw(st.integers(1, 3))
    d_q = draw(st.sampled_from([2, 4])) if not SCORES[score].equal_widths else d_k
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))

    def random(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    from_input = way in ("sinusoidal", "all") or draw(st.booleans())
    inputs = draw(st.integers(1, 3))  # x; query and key; query, key and value
    D, *others = fit_widths(AttentionConfig(positions=WAYS[way]), (5, 6, 7))
    has_table = adds_table(AttentionConfig(positions=WAYS[way]))  # of no place before 0
    S = max(S, T) if has_table else S
    weights = score_weights(score, d_q, d_k, (H,) if draw(st.booleans()) else (), random)
    weights |= way_weights(way, d_q, d_k, H, random, (D, d_v, D if inputs == 1 else others[0]))
    if from_input:
        widths = {"q": H * d_q, "k": KV * d_k, "v": KV * d_v}
        S = T if inputs == 1 else S
        tensors = [random(B, T, D), random(B, S, others[0]), random(B, S, others[1])][:inputs]
        for number, (role, width) in enumerate(widths.items()):
            weights[f"w_{role}"] = random(tensors[min(number, inputs - 1)].shape[-1], width)
            if draw(st.booleans()):
                weights[f"b_{role}"] = random(width)
    else:
        tensors = [random(B, H, T, d_q), random(B, KV, S, d_k), random(B, KV, S, d_v)]
        tensors[1][:, :, 0] *= draw(st.integers(0, 1))  # sometimes a key of zeros, which has no direction
    residual = from_input and draw(st.booleans())
    if residual or draw(st.booleans()):
        width = 5 if residual else 3
        weights["w_o"] = random(H * d_v, width)
        if draw(st.booleans()):
            weights["b_o"] = random(width)

    allowed_shape = draw(st.sampled_from([None, None, (T, S), (B, H, T, S), (B, 1, 1, S)]))
    allowed = None if allowed_shape is None else random(*allowed_shape) < 0.4
    if allowed is not None and draw(st.booleans()):
        allowed[..., 0, :] = False  # a query that may attend to nothing
    replaced = draw(st.sampled_from([None, None, None, "uniform", "given"]))
    config = AttentionConfig(
        score,
        scale=draw(st.sampled_from([None, None, 0.7])),
        temperature=draw(st.sampled_from([1.0, 1.0, 1.6])),
        heads=H,
        kv_heads=KV,
        masks=mask_choices(draw, B, S, (0, 2) if has_table else (-1, 0, 2)),
        positions=WAYS[way],
        dropout=draw(st.sampled_from([None, None, 0.4])),
        replace="uniform" if replaced == "uniform" else None,
        residual=residual,
    )
    arguments = {"weights": Weights(**weights), "config": config, "allowed": allowed}
    chosen = draw(st.sets(st.sampled_from(["scores"] if replaced else ["scores", "weights"])))
    arguments["what_if"] = {
        name: torch.where(random(T, S) < 0.5, random(B, H, T, S), torch.nan) for name in sorted(chosen)
    }
    if replaced == "given":
        arguments["replacement"] = random(B, H, T, S)
    return Call(attend if from_input else attend_qkv, tuple(tensors), arguments)


def for_every_choice(examples: int) -> Callable:
    """The check as a test for every score and every way to tell positions, each with random calls of its own."""

    def as_test(check: Callable[[Call], None]) -> Callable[..., None]:
        @pytest.mark.parametrize("score", SCORES)
        @pytest.mark.parametrize("way", WAYS)
        def test(score, way):
            own = zlib.crc32(f"{check.__name__} {score} {way}".encode())  # else all would draw the same choices
            seed(own)(settings(max_examples=examples)(given(calls(score, way))(check)))()

        test.__doc__ = check.__doc__
        return test

    return as_test


def every_choice(test):
    """The test for every score and every way to tell positions."""
    return pytest.mark.parametrize("score", SCORES)(pytest.mark.parametrize("way", WAYS)(test))


def features(call: Call) -> set[object]:
    """What was chosen in a call, apart from its score and its positions."""
    config, weights = call.arguments["config"], call.arguments["weights"].given()
    allowed = call.arguments["allowed"]
    return {
        *(name for name, _ in config.masks),
        (call.entrance, len(call.tensors)),
        *weights.keys() & {"b_q", "b_k", "b_v", "w_o", "b_o"},
        f"allowed has {'no' if allowed is None else allowed.dim()} axes",
        f"dropout {config.dropout}",
        "replacement" if "replacement" in call.arguments else f"replace {config.replace}",
        *(f"what if {name}" for name in call.arguments["what_if"]),
        "residual" if config.residual else "no residual",
        "grouped" if config.kv_heads != config.heads else "not grouped",
    }


FEATURES = {
    *MASKS,
    *((attend, inputs) for inputs in (1, 2, 3)),
    (attend_qkv, 3),
    *("b_q", "b_k", "b_v", "w_o", "b_o"),
    *(f"allowed has {axes} axes" for axes in ("no", 2, 4)),
    *("dropout None", "dropout 0.4", "replace None", "replace uniform", "replacement", "grouped", "not grouped"),
    *("what if scores", "what if weights", "residual", "no residual"),
}


def test_every_choice_there_is_is_drawn():
    seen = set()

    def collect(call):
        seen.update(features(call))

    for score in SCORES:
        seed(zlib.crc32(score.encode()))(settings(max_examples=12)(given(calls(score, "none"))(collect)))()
    assert seen == FEATURES
    assert {entry if isinstance(entry, str) else entry[0] for way in WAYS.values() for entry in way} == set(POSITIONS)


# ---- comparing -------------------------------------------------------------------------------------------------------
def assert_close(name: str, left: np.ndarray, right: np.ndarray) -> None:
    """Equal infinities, and the rest within the tolerance of the largest magnitude."""
    left, right = (np.asarray(each, dtype=np.float64) for each in (left, right))
    assert left.shape == right.shape, name
    finite = np.isfinite(right)
    np.testing.assert_array_equal(np.where(finite, 0.0, left), np.where(finite, 0.0, right), err_msg=name)
    largest = np.abs(right[finite]).max(initial=1e-300)
    off = np.abs(left[finite] - right[finite]).max(initial=0.0)
    assert off <= TOLERANCE * largest, f"{name} is off by {off:.3g}"


def arrays_of(trace: Trace) -> dict[str, np.ndarray]:
    return {name: step.value.numpy().copy() for name, step in trace.steps.items()}


# ---- every step ------------------------------------------------------------------------------------------------------
@for_every_choice(examples=6)
def test_every_cell_follows_from_its_operands(call):
    trace = call.run()
    arrays, shapes = arrays_of(trace), trace.shapes()
    for name, step in trace.computed().items():
        cells = np.empty(shapes[name])
        for index in np.ndindex(shapes[name]):
            cell = step.operation.cell(index, shapes)
            cells[index] = evaluate(cell, lambda ref: arrays[ref.step][ref.index])
        assert_close(name, cells, arrays[name])


@for_every_choice(examples=8)
def test_numpy_twin_of_every_step(call):
    trace = call.run()
    arrays = arrays_of(trace)
    for name, step in trace.computed().items():
        twin = step.operation.apply_numpy(arrays)
        assert np.asarray(twin).dtype.kind == arrays[name].dtype.kind, name
        assert_close(name, twin, arrays[name])
        assert_close(name, step.operation.apply({each: trace[each] for each in step.operation.reads}), arrays[name])


@for_every_choice(examples=4)
def test_every_axis_has_one_size(call):
    """A letter means one size in a run; only a mask may have 1 where it broadcasts."""
    trace = call.run()
    found: dict[str, set[int]] = {}
    for step in trace.steps.values():
        assert len(step.dims) == step.value.dim() == len(set(step.dims)), step.name
        for dim, size in zip(step.dims, step.value.shape, strict=True):
            if not (step.value.dtype == torch.bool and size == 1):
                found.setdefault(dim, set()).add(size)
    assert {dim: sizes for dim, sizes in found.items() if len(sizes) > 1} == {}


@for_every_choice(examples=6)
def test_blocked_weights_are_zero_and_rows_sum_to_one_or_zero(call):
    trace = call.run()
    blocked = trace["masked_scores"].isneginf()
    if "allowed" in trace:
        assert torch.equal(blocked, ~trace["allowed"].expand_as(blocked))
    else:
        assert not blocked.any()
    own = "replacement" in trace or "chosen_weights" in trace
    names = {"computed_weights"} if own else {"computed_weights", "weights"}
    for name in names & trace.steps.keys():
        assert (trace[name][blocked] == 0).all()
        sums = trace[name].sum(-1)
        assert_close(f"the row sums of {name}", sums, (~blocked).any(-1).double())


@for_every_choice(examples=6)
def test_gradients_flow_and_are_finite(call):
    weights = {name: w.clone().requires_grad_() for name, w in call.arguments["weights"].given().items()}
    tensors = tuple(tensor.clone().requires_grad_() for tensor in call.tensors)
    trace = Call(call.entrance, tensors, {**call.arguments, "weights": Weights(**weights)}).run()
    leaves = [*tensors, *weights.values()]
    gradients = torch.autograd.grad(trace["output"].square().sum(), leaves, allow_unused=True)
    assert all(gradient is None or gradient.isfinite().all() for gradient in gradients)
    replaced = "computed_weights" in trace
    for leaf, gradient in zip(leaves, gradients, strict=True):
        through_values_only = replaced and all(leaf is not given for given in (tensors[-1], weights.get("w_v")))
        assert gradient is not None or through_values_only or "chosen_scores" in trace
    if (trace["head_outputs"] != 0).any() and not call.arguments["config"].residual:
        assert gradients[len(tensors) - 1].abs().max() > 0  # whatever stands last delivers the values


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("empty", [False, True], ids=["full", "empty_row"])
def test_gradients_are_the_slopes(score, empty, generator):
    """Against finite differences."""
    shapes = [(2, 4, 3, 2), (2, 2, 5, 2), (2, 2, 5, 3)]
    q, k, v = (torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True) for shape in shapes)
    learned = score_weights(
        score, 2, 2, (4,), lambda *size: torch.randn(size, generator=generator, dtype=torch.float64)
    )
    names = [*learned]
    allowed = torch.rand(3, 5, generator=generator) < 0.7
    allowed[1] &= not empty

    def output(q, k, v, *weights):
        given_weights = Weights(**dict(zip(names, weights, strict=True)))
        config = AttentionConfig(score, positions=["rope", "alibi"])
        return attend_qkv(q, k, v, weights=given_weights, config=config, allowed=allowed)["output"]

    assert torch.autograd.gradcheck(output, (q, k, v, *(w.requires_grad_() for w in learned.values())), fast_mode=True)


# ---- nothing is changed, and a run can be kept -----------------------------------------------------------------------
@for_every_choice(examples=4)
def test_nothing_is_changed(call):
    before = copy.deepcopy((call.tensors, call.arguments))
    trace = call.run()
    arrays = arrays_of(trace)
    for step in trace.computed().values():
        step.operation.apply({each: trace[each] for each in step.operation.reads})
        step.operation.apply_numpy({each: trace[each].numpy() for each in step.operation.reads})
        step.operation.cell((0,) * len(step.dims), trace.shapes())
        step.operation.formula(str)
        step.window()
    trace.frame("weights")
    pickle.dumps(trace)
    again = arrays_of(call.run())  # the same call gives the same bits
    for name, array in arrays_of(trace).items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)
        np.testing.assert_array_equal(again[name], arrays[name], err_msg=name)
    tensors, arguments = before
    assert all(map(torch.equal, call.tensors, tensors))
    assert call.arguments["config"] == arguments["config"]
    for name, weight in arguments["weights"].given().items():
        assert torch.equal(weight, getattr(call.arguments["weights"], name))
    for name in ("allowed", "replacement"):
        given_now, given_then = call.arguments.get(name), arguments.get(name)
        assert given_now is given_then or torch.equal(given_now, given_then)
    for name, numbers in arguments["what_if"].items():
        assert torch.equal(call.arguments["what_if"][name].nan_to_num(7.0), numbers.nan_to_num(7.0))


@for_every_choice(examples=4)
def test_a_trace_pickles(call):
    trace = call.run()
    trace = trace.labelled(T=("it",) * trace.sizes()["T"])
    kept = pickle.loads(pickle.dumps(trace))  # noqa: S301 - our own bytes
    assert kept.labels == trace.labels
    assert [*kept.steps] == [*trace.steps]
    for name, step in trace.steps.items():
        again = kept.step(name)
        assert torch.equal(again.value, step.value)
        assert again.dims == step.dims
        if step.operation is not None:
            assert again.operation.faces == step.operation.faces  # the very functions
            assert again.operation.params == step.operation.params
            reads = {each: kept[each] for each in again.operation.reads}
            assert torch.equal(again.operation.apply(reads), step.value)


# ---- what attention does not depend on -------------------------------------------------------------------------------
def heads_of_tensors(score: str, number: int, T: int, S: int) -> tuple[list[Tensor], Weights, Tensor]:
    """q, k, v of a grouped run, the score's weights, and what each head is allowed."""
    generator = torch.Generator().manual_seed(number)

    def random(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    d_k = 5 if score in ("general", "additive") else 3
    tensors = [random(2, 4, T, 3), random(2, 2, S, d_k), random(2, 2, S, 7)]
    allowed = torch.rand(2, 4, T, S, generator=generator) < 0.7
    return tensors, Weights(**score_weights(score, 3, d_k, (), random)), allowed


@pytest.mark.parametrize("score", SCORES)
@settings(max_examples=10)
@given(number=st.integers(0, 999), order=st.permutations(range(7)))
def test_order_of_keys_with_their_values_changes_nothing(score, number, order):
    (q, k, v), weights, allowed = heads_of_tensors(score, number, 5, 7)
    config = AttentionConfig(score)
    before = attend_qkv(q, k, v, weights=weights, config=config, allowed=allowed)
    after = attend_qkv(
        q, k[:, :, order], v[:, :, order], weights=weights, config=config, allowed=allowed[..., list(order)]
    )
    assert_close("weights", after["weights"], before["weights"][..., list(order)])
    assert_close("output", after["output"], before["output"])


@pytest.mark.parametrize("score", SCORES)
@settings(max_examples=10)
@given(number=st.integers(0, 999), order=st.permutations(range(5)))
def test_order_of_queries_is_the_order_of_outputs(score, number, order):
    (q, k, v), weights, allowed = heads_of_tensors(score, number, 5, 7)
    config = AttentionConfig(score)
    before = attend_qkv(q, k, v, weights=weights, config=config, allowed=allowed)
    after = attend_qkv(q[:, :, order], k, v, weights=weights, config=config, allowed=allowed[:, :, list(order)])
    assert_close("output", after["output"], before["output"][:, list(order)])


def layer(score: str, way: str, number: int, D: int = 6) -> tuple[Weights, Callable[..., Tensor]]:
    """Weights of a layer with four heads on two, and the numbers that come after."""
    generator = torch.Generator().manual_seed(number)

    def random(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    weights = {"w_q": random(D, 8), "w_k": random(D, 4), "w_v": random(D, 6), "w_o": random(12, D)}
    biases = {"b_q": random(8), "b_k": random(4), "b_v": random(6), "b_o": random(D)}
    learned = score_weights(score, 2, 2, (), random) | way_weights(way, 2, 2, 4, random, (D, 3))
    return Weights(**weights, **biases, **learned), random


@every_choice
@pytest.mark.parametrize("mask", ["causal", ("sliding", {"window": 2})], ids=["causal", "sliding"])
@settings(max_examples=4)
@given(number=st.integers(0, 999), changed=st.integers(1, 5))
def test_causal_outputs_do_not_see_later_tokens(score, way, mask, number, changed):
    """Not by one bit."""
    weights, random = layer(score, way, number)
    config = AttentionConfig(score, heads=4, kv_heads=2, masks=[mask], positions=WAYS[way])
    x = random(2, 6, 6)
    other = x.clone()
    other[:, changed:] = 100 * random(2, 6 - changed, 6)
    before, after = (attend(each, weights=weights, config=config) for each in (x, other))
    assert torch.equal(before["output"][:, :changed], after["output"][:, :changed])
    assert torch.equal(before["weights"][:, :, :changed], after["weights"][:, :, :changed])
    assert not torch.equal(before["output"], after["output"])


@every_choice
@settings(max_examples=4)
@given(number=st.integers(0, 999))
def test_decoding_one_by_one_is_the_full_causal_pass(score, way, number):
    """The last query of a growing text stands at S - 1, whatever tells positions."""
    weights, random = layer(score, way, number)
    config = AttentionConfig(score, heads=4, kv_heads=2, masks=["causal"], positions=WAYS[way])
    x = random(2, 5, 6)
    full = attend(x, weights=weights, config=config)
    for t in range(5):
        step = attend(x[:, t : t + 1], x[:, : t + 1], weights=weights, config=config)
        assert_close("output", step["output"][:, 0], full["output"][:, t])


@every_choice
@settings(max_examples=4)
@given(number=st.integers(0, 999), lengths=st.tuples(st.integers(1, 5), st.integers(1, 5)), causal=st.booleans())
def test_a_padded_batch_is_its_sequences_one_by_one(score, way, number, lengths, causal):
    weights, random = layer(score, way, number)
    masks = ["causal"] if causal else []
    alone = AttentionConfig(score, heads=4, kv_heads=2, masks=masks, positions=WAYS[way])
    batched = AttentionConfig(
        score, heads=4, kv_heads=2, masks=[*masks, ("padding", {"lengths": lengths})], positions=WAYS[way]
    )
    x = random(2, 5, 6)
    batch = attend(x, weights=weights, config=batched)
    for sequence, length in enumerate(lengths):
        one = attend(x[sequence, :length], weights=weights, config=alone)
        assert_close("output", batch["output"][sequence, :length], one["output"][0])
        assert_close("weights", batch["weights"][sequence, :, :length, :length], one["weights"][0])


@pytest.mark.parametrize("style", ["interleaved", "half"])
@settings(max_examples=10)
@given(number=st.integers(0, 999), shift=st.integers(1, 50))
def test_rope_scores_depend_on_distance_alone(style, number, shift):
    """Tokens before all others shift every position; the scores between the others stay."""
    generator = torch.Generator().manual_seed(number)
    q, k = (torch.randn(4, 6, generator=generator, dtype=torch.float64) for _ in "qk")
    config = AttentionConfig(positions=[("rope", {"style": style})])
    before = torch.ones(shift, 6, dtype=torch.float64)
    later_q, later_k = torch.cat([before, q]), torch.cat([before, k])
    scores = attend_qkv(q, k, k, config=config)["scores"]
    later = attend_qkv(later_q, later_k, later_k, config=config)["scores"]
    assert_close("scores", later[..., shift:, shift:], scores)
