"""The proof of a run: green for every choice there is, red for every fault, and it changes nothing.

The inputs are eighths, which every dtype holds exactly, so that all dtypes are proven against the same numbers.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.analysis import softmax_steps
from attention_core.analysis.softmax_steps import NAIVE_SOFTMAX, STABLE_SOFTMAX, with_cross_entropy, with_jacobian
from attention_core.mechanism import masks, modifiers, normalisers, operations, positions, scores
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.plan import run_plan
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.trace import Faces
from attention_core.variants import kv_cache
from attention_core.variants.kv_cache import decode
from attention_core.verification.proof import Proof, ProofCheck, check_step, prove
from tests.entries import adds_table, fit_widths, key_rows, learned_shapes, mask_choice, score_for

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]  # in the order of their digits
B, T, S, A, D_OUT = 2, 4, 6, 3, 5
WIDTHS = (7, 11, 13)  # of query, key and value
D_K, D_V = 8, 3


def eighths(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Whole numbers of eighths from -1 to 1, the same for the same shape."""
    generator = torch.Generator().manual_seed(math.prod(shape))
    return (torch.randint(-8, 9, shape, generator=generator).double() / 8).to(dtype)


# ---- the runs --------------------------------------------------------------------------------------------------------
ALLOWED = torch.tensor([[1, 0, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0], [1, 1, 1, 0, 1, 1], [0, 1, 0, 0, 0, 0]]).bool()
PER_HEAD = eighths(B, 4, T, S) < 0.3

MASK_CHOICES = {
    "none": [],
    "causal": ["causal"],
    "causal, offset": [("causal", {"offset": -1})],  # query 0 may attend to nothing
    "local": [("local", {"window": 1})],
    "sliding": [("sliding", {"window": 2})],
    **{name: [mask_choice(name, padding={"lengths": (3, 0)})] for name in MASKS if name not in ("causal", "sliding")},
    "local_global": [("local_global", {"window": 0, "global_tokens": (0, 3)})],
    "several": ["causal", ("padding", {"lengths": (4, 2)}), ("local", {"window": 2})],
    "custom": [],
    "custom, per head": ["causal"],
}
POSITION_CHOICES = {
    **{name: [name] for name in POSITIONS},
    "none": [],
    "sinusoidal": ["sinusoidal"],
    "rope": ["rope"],
    "rope, halves": [("rope", {"style": "half", "base": 50.0})],
    "alibi": ["alibi"],
    "all": [*POSITIONS],
}
LAYOUTS = [  # query heads, key/value heads, sequences, biases, output projection
    {"heads": 1, "kv_heads": 1, "inputs": 1, "biases": True, "w_o": True},
    {"heads": 4, "kv_heads": 4, "inputs": 2, "biases": False, "w_o": True},
    {"heads": 4, "kv_heads": 2, "inputs": 3, "biases": True, "w_o": True},
    {"heads": 4, "kv_heads": 1, "inputs": 3, "biases": True, "w_o": False},
]
ENDINGS = {
    "uniform": {"replace": "uniform"},
    "replacement": {"replacement": True},
    "dropout": {"dropout": 0.5},
    "uniform, dropout": {"replace": "uniform", "dropout": 0.25},
    "replacement, dropout": {"replacement": True, "dropout": 0.25},
}


def layer(
    score: str = "scaled_dot",
    mask: str = "none",
    position: str = "none",
    dtype: torch.dtype = torch.float64,
    *,
    heads: int = 4,
    kv_heads: int = 2,
    inputs: int = 3,
    biases: bool = True,
    w_o: bool = True,
    replacement: bool = False,
    bias: torch.Tensor | None = None,
    what_if: dict | None = None,
    **choices,
) -> Trace:
    """Attention from the input on, with whatever is asked for."""
    config = AttentionConfig(
        score,
        heads=heads,
        kv_heads=kv_heads,
        masks=MASK_CHOICES[mask],
        positions=POSITION_CHOICES[position],
        **choices,
    )
    if config.modifiers_at("sources"):  # k and v are made of one latent
        inputs = min(inputs, 2)
    keys = T if inputs == 1 else S
    widths = fit_widths(config, WIDTHS)
    given = [eighths(B, length, width, dtype=dtype) for length, width in zip((T, S, S), widths, strict=True)][:inputs]
    columns = {"q": heads * D_K, "k": kv_heads * D_K, "v": kv_heads * D_V}
    rows = {role: widths[min(i, inputs - 1)] for i, role in enumerate("qkv")}
    shapes = learned_shapes(
        config, D_K, D_K, own=A, apart=True, wide=(widths[0], D_V, rows["k"]), D_out=D_OUT if w_o else None
    )
    rows |= {role: key_rows(config, shapes, rows[role]) for role in "kv"}
    shapes |= {f"w_{role}": (rows[role], columns[role]) for role in "qkv"}
    shapes |= {f"b_{role}": (columns[role],) for role in "qkv"} if biases else {}
    shapes |= {"w_o": (heads * D_V, D_OUT)} if w_o else {}
    shapes |= {"b_o": (D_OUT,)} if w_o and biases else {}
    own_mask = {"custom": ALLOWED[:, :keys], "custom, per head": PER_HEAD[:, :heads, :, :keys]}.get(mask)
    return attend(
        *given,
        weights=Weights(**{name: eighths(*shape, dtype=dtype) for name, shape in shapes.items()}),
        config=config,
        allowed=own_mask,
        bias=bias,
        replacement=eighths(B, heads, T, keys, dtype=dtype) if replacement else None,
        what_if=what_if,
    )


RUNS: dict[str, Callable[[], Trace]] = {
    **{f"score {name}": lambda name=name: layer(name, biases=False) for name in SCORES},
    **{f"mask {name}": lambda name=name: layer(mask=name) for name in MASK_CHOICES},
    **{f"position {name}": lambda name=name: layer("additive", "causal", name) for name in POSITION_CHOICES},
    **{f"ending {name}": lambda name=name: layer(mask="custom", **ENDINGS[name]) for name in ENDINGS},
    **{f"modifier {name}": lambda name=name: layer(mask="custom", modifiers=[name]) for name in MODIFIERS},
    **{
        f"normaliser {name}": lambda name=name: layer(score_for(name), "custom", normaliser=name)
        for name in NORMALISERS
    },
    "what if": lambda: layer("additive", "causal", what_if={"scores": eighths(T, S), "weights": eighths(T, S)}),
    "uniform, no mask": lambda: layer(replace="uniform"),
    "bias": lambda: layer("additive", "causal", bias=eighths(B, 1, T, S)),
    "bias, all positions": lambda: layer("additive", "causal", "all", bias=eighths(T, S)),
    "bias, two maps": lambda: layer(heads=2, bias=eighths(T, S), modifiers=["differential", "softcap"]),
    "no output projection": lambda: layer(inputs=1, w_o=False),
    "exponentials": lambda: layer(mask="custom").then(
        *NAIVE_SOFTMAX, *STABLE_SOFTMAX
    ),  # its empty row is 0 / 0 in both forms
    "jacobian": lambda: with_jacobian(layer(mask="custom")),
    "cross-entropy": lambda: with_cross_entropy(layer(), right=1),
    "heads given": lambda: attend_qkv(eighths(4, 5), eighths(6, 5), eighths(6, 3), allowed=ALLOWED),
    "decoding": lambda: [*decode(eighths(T, 7), weights=Weights(w_k=eighths(7, 7), w_v=eighths(7, 7)))][-1],
}
every_run = pytest.mark.parametrize("name", RUNS)


def test_the_runs_show_every_choice_and_every_operation():
    """Whatever is added to the core must be added here."""
    named = [entry if isinstance(entry, str) else entry[0] for each in MASK_CHOICES.values() for entry in each]
    assert set(named) == set(MASKS)
    named = [entry if isinstance(entry, str) else entry[0] for each in POSITION_CHOICES.values() for entry in each]
    assert set(named) == set(POSITIONS)
    modules = (operations, scores, masks, positions, modifiers, normalisers, softmax_steps, kv_cache)
    there = {name: value for module in modules for name, value in vars(module).items() if isinstance(value, Faces)}
    used = {step.operation.faces for build in RUNS.values() for step in build().computed().values()}
    assert [name for name, faces in there.items() if faces not in used] == []


# ---- green -----------------------------------------------------------------------------------------------------------
def assert_proven(trace: Trace, what: object) -> Proof:
    """All steps checked, all checks far below the limit."""
    proof = prove(trace)
    assert proof.passed, (what, proof.failed)
    assert proof.failed is None
    assert proof.worst == max(check.difference for check in proof.checks) <= 1e-13, what
    assert proof.overflow is None
    assert [check.step for check in proof.checks if check.witness == "numpy"] == [*trace.computed()]
    exact = trace["output"].dtype == torch.float64
    shown = [name for name, step in trace.computed().items() if exact or step.value.dtype == torch.bool]
    assert [check.step for check in proof.checks if check.witness == "shown"] == shown, what
    return proof


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("position", POSITION_CHOICES)
def test_every_choice_is_proven(score, position):
    """Every mask with every way to tell positions; the layouts take turns, so that every mask meets every layout."""
    for number, mask in enumerate(MASK_CHOICES, [*POSITION_CHOICES].index(position)):
        layout = LAYOUTS[number % len(LAYOUTS)]
        if mask == "causal, offset" and adds_table(AttentionConfig(positions=POSITION_CHOICES[position])):
            layout = LAYOUTS[0]  # one text, whose places begin at 0: before it a table has no row
        assert_proven(layer(score, mask, position, **layout), (mask, layout))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_proven(score, dtype):
    for mask, position in zip(MASK_CHOICES, [*POSITION_CHOICES] * 2, strict=False):
        assert_proven(layer(score, mask, position, dtype), (mask, position))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_way_to_change_the_weights_is_proven(score, ending):
    for number, mask in enumerate(MASK_CHOICES):
        dtype = DTYPES[number % len(DTYPES)]
        assert_proven(layer(score, mask, dtype=dtype, **ENDINGS[ending]), (mask, dtype))


# ---- rounding --------------------------------------------------------------------------------------------------------
THIRD = {  # how far each dtype's nearest number is from 1/3, in thirds, from its binary digits 0.010101...
    torch.float32: 1 / 2**25,
    torch.float16: 1 / 2**12,
    torch.bfloat16: 1 / 2**9,
}


@pytest.mark.parametrize("dtype", THIRD, ids=str)
def test_rounding_of_a_third(dtype):
    """Three equal scores: every weight is the nearest that the dtype has to 1/3."""
    proof = prove(attend_qkv(*(torch.zeros(3, 1, dtype=dtype) for _ in "qkv")))
    assert proof.passed
    assert proof.rounding["weights"] == pytest.approx(THIRD[dtype], rel=1e-6)
    assert proof.rounding["scores"] == 0.0


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("mask", ["none", "custom", "causal"])
def test_rounding_grows_as_digits_are_taken_away(score, mask):
    figures = [prove(layer(score, mask, "alibi", dtype)).rounding for dtype in DTYPES]
    assert figures[0]["output"] <= 1e-14
    for more, fewer in pairwise(figures):
        assert more.keys() == fewer.keys() == {*layer(score, mask, "alibi").computed()} - {"allowed"}
        assert more["output"] < fewer["output"] < math.inf


# ---- the witnesses ---------------------------------------------------------------------------------------------------
def square(dtype: torch.dtype = torch.float64, *, leave_out: str = "", cross: bool = False, **given) -> Trace:
    """Two heads of width 4 in a model of width 8, which torch's own layer has too."""
    shapes = {"w_q": (8, 8), "w_k": (8, 8), "w_v": (8, 8), "w_o": (8, 8), "b_q": (8,), "b_k": (8,), "b_o": (8,)}
    shapes |= {"w_k": (5, 8), "w_v": (3, 8)} if cross else {}
    shapes |= given.pop("shapes", {})
    arguments = {name: given.pop(name) for name in ("allowed", "bias", "replacement", "what_if") if name in given}
    weights = {name: eighths(*shape, dtype=dtype) for name, shape in shapes.items() if name not in leave_out.split()}
    inputs = [(4, 8), (6, 5), (6, 3)] if cross else [(4, shapes["w_q"][0])]
    inputs = [eighths(*shape, dtype=dtype) for shape in inputs]
    return attend(*inputs, weights=Weights(**weights), config=AttentionConfig(**{"heads": 2} | given), **arguments)


COVERED = {
    "plain": {},
    "no bias": {"leave_out": "b_q b_k b_o"},
    "cross": {"cross": True},
    "cross, masked": {"cross": True, "masks": ["causal"]},
    "causal": {"masks": ["causal"]},
    "own mask": {"allowed": torch.eye(4).bool()},
    "sinusoidal": {"positions": ["sinusoidal"]},
    "alibi": {"positions": ["alibi"]},
    "own bias": {"bias": eighths(4, 4)},
    "own bias, masked": {"bias": eighths(1, 2, 4, 4), "masks": ["causal"]},
    "own bias, alibi": {"bias": eighths(4, 4), "positions": ["alibi"]},
    "the same scale": {"score": "dot", "scale": 0.5},
    "float16": {"dtype": torch.float16},
}
ONLY_THE_HEADS = {
    "no output projection": {"leave_out": "w_o b_o"},
    "no projection of v": {"leave_out": "w_v"},
    "another score": {"score": "cosine"},
    "no scale": {"score": "dot"},
    "own scale": {"scale": 0.3},
    "temperature": {"temperature": 2.0},
    "rope": {"positions": ["rope"]},
    "grouped heads": {"kv_heads": 1, "shapes": {"w_k": (8, 4), "w_v": (8, 4), "b_k": (4,)}},
    "narrow values": {"shapes": {"w_v": (8, 6), "w_o": (6, 8)}},
    "other width out": {"shapes": {"w_o": (8, 5), "b_o": (5,)}},
    "other width in": {"shapes": {"w_q": (7, 8), "w_k": (7, 8), "w_v": (7, 8)}},
    "an empty row": {"masks": [("causal", {"offset": -1})]},
    "chosen scores": {"what_if": {"scores": torch.full((4, 4), 0.25, dtype=torch.float64)}},
}
NOT_AT_ALL = {
    "uniform": {"replace": "uniform"},
    "replacement": {"replacement": torch.full((4, 4), 0.25, dtype=torch.float64)},
    "dropout": {"dropout": 0.5},
    "chosen weights": {"what_if": {"weights": torch.full((4, 4), 0.25, dtype=torch.float64)}},
}
WITNESSES = [
    *((name, choices, {"sdpa", "mha"}) for name, choices in COVERED.items()),
    *((name, choices, {"sdpa"}) for name, choices in ONLY_THE_HEADS.items()),
    *((name, choices, set()) for name, choices in NOT_AT_ALL.items()),
]


@pytest.mark.parametrize(("name", "choices", "expected"), WITNESSES, ids=[name for name, *_ in WITNESSES])
def test_torch_is_a_witness_wherever_it_has_such_a_function(name, choices, expected):
    proof = prove(square(**choices))
    assert proof.passed
    assert {check.witness for check in proof.checks} & {"sdpa", "mha"} == expected


@pytest.mark.parametrize("name", ["score dot", "score cosine", "score general", "score additive", "heads given"])
def test_torch_checks_the_heads_of_every_score(name):
    assert [check.step for check in prove(RUNS[name]()).checks if check.witness == "sdpa"] == ["head_outputs"]


# ---- red: a face that is wrong ---------------------------------------------------------------------------------------
def spoiled(value):
    """A copy with one number off by a millionth of itself, or with one boolean flipped."""
    array = np.array(value.detach().numpy() if isinstance(value, torch.Tensor) else value)
    if array.dtype == bool:
        where = tuple(size - 1 for size in array.shape)
        array[where] = not array[where]
    else:
        magnitudes = np.where(np.isfinite(array), np.abs(array), 0.0)
        array[np.unravel_index(magnitudes.argmax(), array.shape)] *= 1 + 1e-6
    return torch.from_numpy(array) if isinstance(value, torch.Tensor) else array


def with_faults(trace: Trace, name: str, *kinds: str) -> Trace:
    """The run with a wrong torch or numpy face at one step, its shown values as they were."""

    def wrong(face: Callable) -> Callable:
        return lambda *operands, **params: spoiled(face(*operands, **params))

    step = trace.step(name)
    faces = replace(step.operation.faces, **{kind: wrong(getattr(step.operation.faces, kind)) for kind in kinds})
    return with_step(trace, name, operation=replace(step.operation, faces=faces))


def with_step(trace: Trace, name: str, **changes) -> Trace:
    """The run with one step changed."""
    return replace(trace, steps={**trace.steps, name: replace(trace.step(name), **changes)})


@every_run
@pytest.mark.parametrize("kind", ["torch", "numpy"])
def test_a_wrong_face_turns_the_proof_red_at_its_step(name, kind):
    trace = RUNS[name]()
    for step in trace.computed():
        proof = prove(with_faults(trace, step, kind))
        assert not proof.passed
        assert (proof.failed.step, proof.failed.witness) == (step, "numpy")
        assert proof.failed.difference == pytest.approx(1e-6, rel=1e-3) or proof.failed.difference == 1.0


@pytest.mark.parametrize("step", [name for name in square().computed() if name != "q_projected"])
def test_a_misunderstanding_that_both_faces_share_is_seen_by_torch(step):
    """The same fault in both: all shown numbers agree with it, and only torch's own attention does not."""
    trace = with_faults(square(), step, "torch", "numpy")
    proof = prove(run_plan(trace.inputs(), [each.operation for each in trace.computed().values()]))
    assert not proof.passed
    assert {check.witness for check in proof.checks if not check.passed} <= {"torch", "sdpa", "mha", "rows"}
    assert proof.worst < 1e-4  # a small fault, not an accident


def test_weights_that_do_not_sum_to_one_are_seen_without_torch():
    trace = with_faults(layer(dropout=0.5), "weights", "torch", "numpy")
    proof = prove(run_plan(trace.inputs(), [each.operation for each in trace.computed().values()]))
    assert [(check.step, check.witness) for check in proof.checks if not check.passed] == [("weights", "rows")]


# ---- red: a number on the screen that is wrong -----------------------------------------------------------------------
@every_run
def test_a_wrong_number_on_the_screen_turns_the_proof_red(name):
    trace = RUNS[name]()
    for step in trace.computed():
        proof = prove(with_step(trace, step, value=spoiled(trace[step])))
        assert not proof.passed
        assert (proof.failed.step, proof.failed.witness) == (step, "shown")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_wrong_mask_on_the_screen_turns_the_proof_red_in_every_dtype(dtype):
    trace = layer(mask="several", dtype=dtype)
    for step in ("allowed_causal", "allowed_padding", "allowed_local", "allowed"):
        proof = prove(with_step(trace, step, value=spoiled(trace[step])))
        assert (proof.failed.step, proof.failed.witness) == (step, "shown")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "ending", [{}, {"replace": "uniform"}, {"dropout": 0.5}], ids=["softmax", "uniform", "dropout"]
)
def test_the_smallest_leak_through_a_mask_turns_the_proof_red(dtype, ending):
    trace = layer(mask="custom", dtype=dtype, **ending)
    for step in {"computed_weights", "weights", "dropped_weights"} & trace.steps.keys():
        leaking = trace[step].clone()
        leaking[1, 3, 2, 3] = 1e-30  # ALLOWED is 0 there
        proof = prove(with_step(trace, step, value=leaking))
        assert (proof.failed.step, proof.failed.witness) == (step, "blocked")
        assert proof.failed.difference == pytest.approx(1e-30, rel=1e-2)


def test_weights_of_ones_own_may_stand_in_blocked_cells():
    trace = layer(mask="custom", replacement=True)
    assert trace["weights"][1, 3, 2, 3] != 0
    assert prove(trace).passed


def test_the_first_failure_is_the_first_step_that_fails():
    """Whichever witness saw it."""
    trace = square()
    both = with_faults(with_step(trace, "q", value=spoiled(trace["q"])), "output", "torch")
    assert (prove(both).failed.step, prove(both).failed.witness) == ("q", "shown")


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ([1.0, 2.0], [[1.0, 2.0]]),
        ([1.0, -math.inf], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, -math.inf]),
        ([1.0, math.inf], [1.0, -math.inf]),
        ([1.0, math.nan], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, math.nan]),
        ([1.0, math.nan], [1.0, math.inf]),
        ([1.0, 2.0 + 3e-10], [1.0, 2.0]),
        ([1.0, 0.0], [0.0, 0.0]),
    ],
)
def test_what_is_not_the_same(value, other):
    assert not check_step("scores", "numpy", np.array(value), np.array(other)).passed


def test_what_is_the_same_to_the_largest_magnitude():
    """2e-11 of 2 is 1e-11."""
    check = check_step("scores", "numpy", np.array([1e-11, 2.0 + 2e-11, -math.inf]), np.array([0.0, 2.0, -math.inf]))
    assert check == ProofCheck("scores", "numpy", pytest.approx(1e-11, rel=1e-3), True)


def test_where_all_should_be_zero_the_difference_itself_counts():
    check = check_step("scores", "numpy", np.array([0.0, -0.5]), np.zeros(2))
    assert check == ProofCheck("scores", "numpy", 0.5, False)


def test_what_is_no_number_by_both_faces_is_the_same():
    values = np.array([1.0, math.nan, math.inf, -math.inf])
    assert check_step("naive_weights", "numpy", values, values.copy()) == ProofCheck(
        "naive_weights", "numpy", 0.0, True
    )


# ---- numbers that a precision cannot hold ----------------------------------------------------------------------------
def given(q: list[float], k: list[float], dtype: torch.dtype = torch.float16, **choices) -> Trace:
    """Queries and keys of width 1: a score is a plain product."""
    q, k = (torch.tensor(column, dtype=dtype)[:, None] for column in (q, k))
    return attend_qkv(q, k, k, config=AttentionConfig("dot", **choices))


@pytest.mark.parametrize(
    ("trace", "cell", "is_lost"),
    [
        (given([1, 300], [1, 200, 300]), ("scores", (0, 0, 1, 2)), True),  # 300 x 300 = 90,000 > 65,504
        (given([1, 300], [1, 200, -300]), ("scores", (0, 0, 1, 2)), False),  # a weight of 0 all the same
        (given([300, 1], [1, 200, 300], masks=["causal"]), ("scores", (0, 0, 0, 2)), False),  # blocked
        (given([1, 300], [200, 218], scale=2.0), ("scaled_scores", (0, 0, 1, 0)), True),  # 120,000; 218 x 300 = 65,400
        (given([1, 300], [1, 200, 300], torch.bfloat16), None, False),
        (given([1, 300], [1, 200, 218]), None, False),
        (given([1, 300], [1, 200, 218], masks=["causal"]), None, False),  # minus infinity by the mask's doing
    ],
)
def test_the_first_number_too_large_for_a_precision_is_named(trace, cell, is_lost):
    """And where outputs are lost by it, the proof fails at its step."""
    proof = prove(trace)
    assert proof.overflow == cell
    assert proof.passed is not is_lost
    if is_lost:
        assert [(check.step, check.witness) for check in proof.checks if not check.passed] == [(cell[0], "held")]
    assert all(map(math.isfinite, proof.rounding.values()))


def test_a_mask_hides_only_its_own_infinities():
    """Row 1 overflows to minus infinity in a cell that is allowed."""
    trace = given([1, -300], [300, 1], masks=[("local", {"window": 1})])
    trace = with_step(trace, "scores", value=torch.zeros(1, 1, 2, 2))
    trace = with_step(trace, "scaled_scores", value=torch.zeros(1, 1, 2, 2))
    assert prove(trace).overflow == ("masked_scores", (0, 0, 1, 0))


def test_numbers_too_large_for_float64_are_named_and_not_proven():
    proof = prove(given([1, 1e200], [1, 1e200], torch.float64))
    assert proof.overflow == ("scores", (0, 0, 1, 1))
    assert (proof.failed.step, proof.failed.witness) == ("weights", "rows")  # by both faces NaN, and no shares of 1


# ---- nothing is changed ----------------------------------------------------------------------------------------------
def contents(trace: Trace) -> list[tuple]:
    """Every step's bytes and how they lie in memory."""
    return [
        (name, step.value.detach().contiguous().view(torch.uint8).numpy().tobytes(), step.value.stride(), step.dims)
        for name, step in trace.steps.items()
    ]


@every_run
def test_a_proof_changes_nothing_in_the_run(name):
    trace = RUNS[name]()
    before = contents(trace)
    proof = prove(trace)
    assert contents(trace) == before
    assert prove(trace) == proof


def test_a_run_that_learns_is_proven_and_goes_on_learning():
    q, k, v = (eighths(3, 5).requires_grad_() for _ in "qkv")
    trace = attend_qkv(q, k, v)
    assert prove(trace).passed
    trace["output"].sum().backward()
    assert v.grad is not None


@every_run
def test_torchs_own_randomness_is_left_alone(name):
    state = torch.get_rng_state()
    prove(RUNS[name]())
    assert torch.equal(torch.get_rng_state(), state)
