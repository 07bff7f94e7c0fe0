"""Every golden file through attend or attend_qkv: every step it states, and what it says besides.

A new file in tests/golden is picked up by itself. One that no single call expresses is known by what it
states, and stands in LESSONS.
"""

import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, attend_qkv
from attention_core.analysis.across_layers import path_lengths
from attention_core.analysis.blocked_scores import with_empty_row_policy
from attention_core.analysis.dot_product_moments import exact_moments
from attention_core.analysis.head_contributions import with_contributions, without_head
from attention_core.analysis.score_bounds import additive_bound, cosine_ceiling
from attention_core.analysis.softmax_steps import NAIVE_SOFTMAX, with_jacobian
from attention_core.explanation.facts import PairsFact, count_allowed_pairs
from attention_core.mechanism.positions import wavelengths
from attention_core.mechanism.scores import root_scale
from attention_core.variants.cost import attention_cost, count_cost
from attention_core.variants.decoding_work import total_work
from attention_core.variants.encoder_cost import one_step_reach, path_length, receptive_field
from attention_core.variants.encoders import Encoder
from attention_core.variants.kv_cache import decode
from attention_core.verification.mask_conventions import measure_mask_damage, with_inverted_mask, with_misplaced_mask
from tests.golden import loader
from tests.golden.loader import Case

TOLERANCE = 1e-10
SUM_TOLERANCE = 1e-9  # for the sums over big tensors

UNCHECKED_EXTRAS = {
    "note": "prose",
    "max_abs_error": "digits of another machine's rounding; test_bounds says the band that must hold",
}

FILES = {path.stem: loader.read(path) for path in loader.golden_files()}
OF_A_LAW = [stem for stem, file in FILES.items() if file["inputs"].keys() == {"law", "d_k"}]  # test_variance_of_dot
OF_COST = [stem for stem, file in FILES.items() if "score_madds" in file.get("expected", {})]  # test_cost
OF_PATHS = [stem for stem, file in FILES.items() if "rnn_steps" in file.get("expected", {})]  # test_path_length
LESSONS = [*OF_A_LAW, *OF_COST, *OF_PATHS]
ONE_RUN = {stem: file for stem, file in FILES.items() if stem not in LESSONS}
RUNS = [(stem, route) for stem, file in ONE_RUN.items() for route in loader.routes(file)]
STORIES = loader.stories()


def case_of(stem: str, route: str = "named") -> Case:
    return loader.load(FILES[stem], route)


# ---- comparing -------------------------------------------------------------------------------------------------------
def largest_difference(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest distance between two tensors; equal infinities and NaN beside NaN count as 0."""
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    return torch.where(same, 0.0, (actual - expected).abs().nan_to_num(math.inf)).max().item()


def fitted(value: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """A step in a file's shape, which lacks the axes of length 1 (or repeats what broadcasts)."""
    full, wanted = [[size for size in each if size != 1] for each in (value.shape, shape)]
    if full == wanted:
        return value.reshape(shape)
    return value.reshape(full).broadcast_to(shape)  # such as a mask that is the same for all heads


def assert_value(name: str, value: torch.Tensor, data: object) -> None:
    """A step is what the file lists, or has the sums it lists."""
    if isinstance(data, dict):
        assert_checksums(name, fitted(value, tuple(data["shape"])), data)
        return
    expected = loader.tensor(data)
    actual = fitted(value, tuple(expected.shape)).to(expected.dtype)
    if expected.dtype == torch.bool:
        assert torch.equal(actual, expected), f"{name} differs at {(actual != expected).nonzero().tolist()}"
        return
    assert torch.equal(actual.isneginf(), expected.isneginf()), f"{name} is blocked in other places"
    off = largest_difference(actual, expected)
    assert off <= TOLERANCE, f"{name} is off by {off}"


def assert_checksums(name: str, value: torch.Tensor, stated: dict) -> None:
    """Sums, extremes and a few cells of a big step; null is minus infinity."""
    flat = value.flatten()
    order = torch.arange(1, len(flat) + 1, dtype=torch.float64) / len(flat)
    found = {
        "sum": flat.sum(),
        "sum_of_squares": (flat**2).sum(),
        "max": flat.max(),
        "min": flat.min(),
        "order_checksum": (flat * order).sum(),
    }
    for key, number in found.items():
        if key in stated:
            assert largest_difference(number, loader.tensor(stated[key])) <= SUM_TOLERANCE, f"{key} of {name}"
    for cell in stated["cells"]:
        assert largest_difference(value[tuple(cell["index"])], loader.tensor(cell["value"])) <= TOLERANCE, (name, cell)


def step_of(trace: Trace, name: str, expected: object) -> torch.Tensor:
    """The value that a file means by a name: a step, or a row's sum, or the output of every head apart."""
    if name in ("row_sums", "dropped_row_sums"):
        return trace["weights" if name == "row_sums" else "dropped_weights"].sum(-1)
    if name == "output" and not isinstance(expected, dict) and loader.tensor(expected).dim() == 4:
        return trace["head_outputs"]  # the file stops before concat
    assert name in trace, f"the file states {name!r}, which is neither a step nor known here"
    return trace[name]


def assert_steps(trace: Trace, expected: dict) -> None:
    """Every step that the file states, and zeros exactly where it blocks."""
    for name, data in expected.items():
        if name == "scale_value":
            assert trace.step("scaled_scores").operation.params["factor"] == pytest.approx(data, abs=TOLERANCE)
        else:
            assert_value(name, step_of(trace, name, data), data)
    softmax = trace["computed_weights" if "computed_weights" in trace else "weights"]
    assert (softmax[trace["masked_scores"].isneginf()] == 0).all()


@pytest.mark.parametrize(("stem", "route"), RUNS, ids=["-".join(run) for run in RUNS])
def test_every_step(stem, route):
    case = case_of(stem, route)
    assert_steps(case.run(), case.expected)


@pytest.mark.parametrize("name", STORIES)
def test_every_story(name):
    case = loader.load(STORIES[name])
    assert_steps(case.run(), case.expected)


@pytest.mark.parametrize("stem", [stem for stem, file in FILES.items() if "recipe" in file["inputs"]])
def test_recipe_draws_what_the_file_lists(stem):
    drawn = loader.draw(FILES[stem]["inputs"]["recipe"])
    for name, data in {**FILES[stem]["expected"], **FILES[stem]["inputs"]}.items():
        if name in drawn:
            assert_value(name, drawn[name], data)


@pytest.mark.parametrize("stem", LESSONS)
def test_lesson_is_no_single_run(stem):
    with pytest.raises(loader.UnknownKind):
        loader.load(FILES[stem])


# ---- what a file says besides its steps ------------------------------------------------------------------------------
def check_seed_states(case, stated, file):
    """The source's own numbers are wrong, and ours are not those."""
    trace = case.run()
    for step in ("scores", "weights", "output"):
        printed = loader.tensor(stated[step])
        assert largest_difference(fitted(trace[step], tuple(printed.shape)), printed) > 0.1


def check_wrong_convention(case, stated, file):
    """A matrix in which True means blocked, read as ours, gives the complement; the nonzero = keep one fits.

    A row left with no key is even there, filled with -1e9 throughout, and 0 here.
    """
    blocked, kept = (
        loader.tensor(file["inputs"][f"mask_for_{seed}"]).bool().unsqueeze(1)  # (B, T, S) -> (B, 1, T, S)
        for seed in ("seed001", "seed000")
    )
    assert_steps(case.run(allowed=kept), case.expected)
    complement, even = (
        with_inverted_mask(case.run(allowed=kept)),
        with_empty_row_policy(case.run(allowed=torch.zeros_like(kept)), "filled"),
    )
    assert torch.equal(complement["allowed"], blocked)
    empty = ~blocked.any(-1)[:, 0]  # (B, T)
    assert empty.any()
    for step, data in stated.items():
        rows, filled = (fitted(trace[step], loader.tensor(data).shape) for trace in (complement, even))
        assert (rows[empty] == 0).all()
        assert_value(step, torch.where(empty[..., None], filled, rows), data)


def check_scaled(case, stated, file):
    """The same with the default scale."""
    assert_steps(case.run(config=case.configured(score="scaled_dot", scale=None)), stated)


def check_bound(case, stated, file):
    """What no score or weight can exceed."""
    trace = case.run()
    if "abs_score_max" in stated:
        bound = additive_bound(case.weights.v_a).item()
        assert bound == pytest.approx(stated["abs_score_max"], abs=TOLERANCE)
        assert trace["scores"].abs().max() <= bound
    if "max_weight" in stated:
        ceiling = cosine_ceiling(trace.sizes()["S"], case.config.temperature)
        assert ceiling == pytest.approx(stated["max_weight"], abs=TOLERANCE)
        assert trace["weights"].max() <= ceiling
    assert stated.keys() <= {"abs_score_max", "max_weight"}


def check_parameters(case, stated, file):
    """Numbers of learned numbers; shared: one matrix stands for all three."""
    sizes = {name: tensor.numel() for name, tensor in case.weights.given().items()}
    matrices = sum(size for name, size in sizes.items() if name.startswith("w_"))
    counted = {"with_bias": sum(sizes.values()), "without_bias": matrices, "separate": matrices, "shared": sizes["w_q"]}
    assert stated == {name: counted[name] for name in stated}
    if "shared" in stated:
        assert torch.equal(case.weights.w_q, case.weights.w_k)
        assert torch.equal(case.weights.w_q, case.weights.w_v)


def check_item_alone(case, stated, file):
    """The shorter sequence by itself, unpadded: its real rows in the batch are the same."""
    length = file["inputs"]["lengths"][1]
    alone = case.run(tensors=(case.tensors[0][1, :length],), config=case.configured(masks=()), allowed=None)
    assert_steps(alone, stated)
    assert_value("output", case.run()["output"][1, :length], stated["output"])


def check_alternatives(case, stated, file):
    """What others do with a row that may attend to nothing; here it is 0, exactly."""
    row, here = int(case.allowed.any(-1).int().argmin()), case.run()  # the only one without a key
    assert (here["weights"][..., row, :] == 0).all()
    assert (here["output"][..., row, :] == 0).all()
    assert_value("weights", case.run(allowed=None)["weights"][..., row, :], stated[f"unmasked_row{row}_weights"])
    plain, filled = with_empty_row_policy(here, "plain"), with_empty_row_policy(here, "filled")
    for step in ("weights", "output"):
        assert_value(step, plain[step][..., row, :], stated["naive_neg_inf"][f"{step}_row{row}"])
        assert_value(step, filled[step][..., row, :], stated["fill_minus_1e9"][f"{step}_row{row}"])
        assert_near(
            with_empty_row_policy(here, "added")[step][0, ..., row, :],
            stated["add_minus_1e9_float64"],
            f"{step}_row{row}",
        )
    others = [other for other in range(case.allowed.shape[0]) if other != row]
    apart = largest_difference(filled["weights"][..., others, :], here["weights"][..., others, :])
    assert apart == pytest.approx(stated["fill_minus_1e9"]["other_rows_max_abs_diff"], abs=TOLERANCE)
    swallowed = with_empty_row_policy(here, "added", torch.float32)["weights"][0, ..., row, :]
    assert swallowed.dtype == torch.float32
    assert_near(swallowed.double(), stated["add_minus_1e9_float32"], f"weights_row{row}")


def assert_near(value: torch.Tensor, stated: dict, name: str) -> None:
    """Within the tolerance that the file gives."""
    expected = loader.tensor(stated[name])
    assert largest_difference(value.reshape(expected.shape), expected) <= stated["tolerance"]


def check_naive(case, stated, file):
    """Where the naive softmax gives NaN, this one gives numbers."""
    trace = case.run().then(*NAIVE_SOFTMAX)
    assert loader.tensor(stated["weights_row0"]).isnan().any()
    assert largest_difference(trace["naive_weights"][0, 0, 0], loader.tensor(stated["weights_row0"])) == 0
    assert trace["weights"].isfinite().all()


def check_precision(case, stated, file):
    """The rounding of float32 and float16 lies in its band."""
    exact = case.run()["output"]
    off = {}
    for dtype in (torch.float32, torch.float16):
        output = case.run(tensors=tuple(tensor.to(dtype) for tensor in case.tensors))["output"]
        assert output.dtype == dtype
        off[dtype] = (output.double() - exact).abs().max().item()
    low, high = stated["float16_output_between"]
    assert 0 < off[torch.float32] <= stated["float32_output"]
    assert low <= off[torch.float16] <= high


def check_head_alone(case, stated, file):
    """Each head through its own block of W_o's rows, without the bias."""
    parts = with_contributions(case.run())["contributions"]  # (B, H, T, D_out)
    assert parts.shape[1] == len(stated) == case.config.heads
    for head, expected in enumerate(stated):
        assert_value("contributions", parts[:, head], expected)
        assert_value(
            "without_head", without_head(case.run(), head)["without_head"] + parts[:, head], file["sum_plus_bias"]
        )


def check_sum_of_heads(case, stated, file):
    """All heads' parts and the bias once are the output."""
    assert_value("output", case.run()["output"], stated)
    assert_value("sum", with_contributions(case.run())["contributions"].sum(1) + case.weights.b_o, stated)


def check_permuted(case, stated, file):
    """Permuting the input permutes the output, and nothing else happens."""
    assert_value("output", permuted(case, file)["output"], stated["output"])
    assert moved_by_permuting(case, file) < 1e-12
    assert stated["equals_permuted_output"]


def permuted(case, file, **changes):
    return case.run(tensors=(case.tensors[0][file["inputs"]["permutation"]],), **changes)


def moved_by_permuting(case, file, **changes) -> float:
    """How far the permuted input's output is from the output permuted."""
    output = case.run(**changes)["output"][:, file["inputs"]["permutation"]]
    return largest_difference(permuted(case, file, **changes)["output"], output)


def check_permuted_with_positions(case, stated, file):
    """Positions added to the input break the equivariance by this much."""
    moved = moved_by_permuting(case, file, config=case.configured(positions=["sinusoidal"]))
    assert moved == pytest.approx(stated, abs=TOLERANCE)


def check_permuted_with_causal(case, stated, file):
    """A causal mask breaks it by this much."""
    moved = moved_by_permuting(case, file, config=case.configured(masks=["causal"]))
    assert moved == pytest.approx(stated, abs=TOLERANCE)


def check_learned(case, stated, file):
    """The output with the softmax's own weights."""
    assert_value("output", case.run(config=case.configured(replace=None))["output"], stated)


def check_relative_change(case, stated, file):
    """How far even weights move the output, relative to its length."""
    learned = case.run(config=case.configured(replace=None))["output"]
    change = (case.run()["output"] - learned).norm() / learned.norm()
    assert change.item() == pytest.approx(stated, abs=TOLERANCE)


def check_cache_ratio(case, stated, file):
    """Keys kept, against one key a query head."""
    trace = case.run()
    assert trace["k"].shape[1] == stated * trace["q"].shape[1]


def check_shifted(case, stated, file):
    """Seven tokens put before all others shift every position by 7."""
    longer = tuple(torch.nn.functional.pad(tensor, (0, 0, 7, 0)) for tensor in case.tensors)
    trace = case.run(tensors=longer, allowed=None)
    assert_value("scores", trace["scores"][..., 7:, 7:], stated)
    assert largest_difference(trace["q"][..., 7:, :], case.run()["q"]) > 0.1


def check_norm(case, stated, file):
    """A rotation keeps lengths."""
    trace = case.run()
    for role in "qk":
        before, after = trace[f"{role}_heads"].norm(dim=-1), trace[role].norm(dim=-1)
        assert largest_difference(before, after) < 1e-12
    assert stated


def with_cache(case: Case) -> list[Trace]:
    """Decoding: token after token asks, and the cache answers."""
    (x,) = case.tensors
    return list(decode(x, weights=case.weights, config=case.config))


def without_cache(case: Case) -> list[Trace]:
    """The same, all tokens so far projected once more at every step."""
    (x,) = case.tensors
    return [case.run(tensors=(x[t : t + 1], x[: t + 1])) for t in range(len(x))]


def check_decoding(case, stated, file):
    """Every token's step, and the same row of the full causal pass."""
    output = case.run()["output"]
    for step, trace in zip(stated, with_cache(case), strict=True):
        assert trace["k"].shape[-2] == step["cache_len"]
        for name in ("q", "scaled_scores", "weights", "head_outputs", "output"):
            assert_value(name, trace[name], step[name])
        for name in ("k", "v"):
            assert_value(f"{name}_new", trace[name][..., -1:, :], step[f"{name}_new"])
        assert largest_difference(trace["output"][0, 0], output[0, step["t"]]) < 1e-12


def check_decoding_agrees(case, stated, file):
    """Step by step or at once: the same to the last digits, here as there."""
    for traces in (with_cache(case), without_cache(case)):
        rows = torch.cat([trace["output"] for trace in traces], dim=1)
        assert largest_difference(rows, case.run()["output"]) < 1e-12
    assert stated < 1e-12


def check_projections(case, stated, file):
    """Keys projected: one a token with a cache, all so far in every step without."""
    projected = {
        "with_cache": sum(trace["k_projected"].shape[1] for trace in with_cache(case)),
        "without_cache": sum(trace["k_projected"].shape[1] for trace in without_cache(case)),
    }
    assert stated == projected
    T = len(case.tensors[0])
    assert stated == {"with_cache": total_work(T).keys, "without_cache": total_work(T, cached=False).keys}


def check_no_leak(case, stated, file):
    """Later tokens changed: the earlier rows do not move by one bit."""
    original = case.run(tensors=(loader.tensor(file["inputs"]["x_original"]),))["output"][0, : len(stated)]
    assert_value("output", original, stated)
    assert torch.equal(original, case.run()["output"][0, : len(stated)])


def check_leak(case, stated, file):
    """Without the mask they move by this much."""
    rows = len(file["original_output_rows_0_3"])
    config = case.configured(masks=())
    original = case.run(tensors=(loader.tensor(file["inputs"]["x_original"]),), config=config)["output"]
    moved = largest_difference(original[0, :rows], case.run(config=config)["output"][0, :rows])
    assert moved == pytest.approx(stated, abs=TOLERANCE)


CHECKS = {
    "seed_states": check_seed_states,
    "wrong_if_seed000_mask_given_to_seed001": check_wrong_convention,
    "also_scaled": check_scaled,
    "bound": check_bound,
    "parameters": check_parameters,
    "item1_alone": check_item_alone,
    "alternatives": check_alternatives,
    "naive": check_naive,
    "test_bounds": check_precision,
    "per_head_contribution": check_head_alone,
    "sum_plus_bias": check_sum_of_heads,
    "permuted_input": check_permuted,
    "with_pe_max_abs_diff": check_permuted_with_positions,
    "with_causal_max_abs_diff": check_permuted_with_causal,
    "learned_output": check_learned,
    "relative_change": check_relative_change,
    "kv_cache_ratio": check_cache_ratio,
    "shifted_by_7_scores": check_shifted,
    "norm_preserved": check_norm,
    "steps": check_decoding,
    "max_abs_diff": check_decoding_agrees,
    "kv_projections": check_projections,
    "original_output_rows_0_3": check_no_leak,
    "unmasked_change_rows_0_3": check_leak,
}
EXTRAS = [(stem, extra) for stem, file in ONE_RUN.items() for extra in CHECKS if extra in file]


@pytest.mark.parametrize(("stem", "extra"), EXTRAS, ids=["-".join(each) for each in EXTRAS])
def test_extra(stem, extra):
    CHECKS[extra](case_of(stem), FILES[stem][extra], FILES[stem])


def test_every_extra_of_the_fifty_is_checked():
    shipped = [file for stem, file in FILES.items() if stem[:1] == "s" and stem[1:3].isdigit() and stem < "s51"]
    usual = {"name", "description", "source", "conventions", "inputs", "expected"}
    assert {extra for file in shipped for extra in file} - usual == CHECKS.keys() | UNCHECKED_EXTRAS.keys()


# ---- files about one part, and what they state of it -----------------------------------------------------------------
def test_softmax_of_100_numbers():
    case, stated = case_of("s07_seed001_softmax_100"), FILES["s07_seed001_softmax_100"]["expected"]
    weights = case.run()["weights"].flatten()
    assert weights.argmax() == stated["argmax"]
    assert weights.sum().item() == pytest.approx(stated["sum"], abs=TOLERANCE)
    assert -(weights * weights.log()).sum().item() == pytest.approx(stated["entropy_nats"], abs=TOLERANCE)
    q, k, v = case.tensors
    shifted = case.run(tensors=(q, k + 1000, v))["weights"].flatten()
    assert_value("weights", shifted[:3], stated["shift_by_1000_softmax_first3"])


@pytest.mark.parametrize("stem", ["s19_simplified_self_attention_dot", "s20_simplified_self_attention_cosine"])
def test_no_projection_is_q_k_v_all_x(stem):
    case = case_of(stem)
    projected = tuple(loader.tensor(FILES[stem]["inputs"][role]) for role in "qkv")
    assert case.entrance is attend
    assert_steps(attend_qkv(*projected, config=case.config), case.expected)
    identity = torch.eye(projected[0].shape[-1], dtype=torch.float64)
    assert_steps(case.run(weights=Weights(w_q=identity, w_k=identity, w_v=identity)), case.expected)


def test_first_of_three_queries_is_the_one_query():
    one, three = case_of("s05_seed001_one_query_five_keys"), case_of("s06_seed001_three_queries_five_keys")
    trace = three.run()
    for step in ("scores", "weights", "output"):
        assert_value(step, trace[step][..., :1, :], one.expected[step])


def test_position_table():
    stated = FILES["s45_sinusoidal_pe_T6_d8"]["expected"]
    table = case_of("s45_sinusoidal_pe_T6_d8").run()["sinusoidal_x"]
    assert wavelengths(table.shape[-1]) == pytest.approx(stated["wavelengths"], abs=TOLERANCE)
    norms = (table**2).sum(-1)
    assert_value("row norms", norms, [stated["row_norm_squared"]] * len(norms))
    for pair, product in stated["dot_depends_on_distance"].items():
        i, j = (int(each.removeprefix("pe")) for each in pair.split("."))
        assert (table[i] @ table[j]).item() == pytest.approx(product, abs=TOLERANCE)


def test_mask_with_its_heads_axis_in_the_wrong_place():
    case, file = case_of("s48_mask_2d_unsqueeze_trap"), FILES["s48_mask_2d_unsqueeze_trap"]
    intended, applied = (
        loader.tensor(file["expected"][f"mask_per_head_{each}"]).bool() for each in ("intended", "as_applied")
    )
    right = case.run()
    wrong = with_misplaced_mask(right)
    for trace, pattern in ((right, intended), (wrong, applied)):
        assert torch.equal(trace["weights"] > 0, pattern.expand_as(trace["weights"]))  # (B, H, T, T)
    assert measure_mask_damage(wrong, right).pairs == 2 * (
        (1 + 2) + (1 + 1) + (2 + 1)
    )  # two sentences; by head, then query
    with pytest.raises(AttentionError, match=r"could be \(B, T, S\) or \(H, T, S\)"):
        case.run(allowed=case.allowed.unsqueeze(1))
    by_name = case.run(allowed=None, config=AttentionConfig(masks=["causal"]))
    assert_value("allowed", by_name["allowed"], file["expected"]["mask_per_head_intended"])


def test_saturated_softmax_and_its_jacobian():
    stated = FILES["s37_softmax_saturation_jacobian"]["expected"]
    case = case_of("s37_softmax_saturation_jacobian")
    q, k, v = case.tensors
    for score, name in (("dot", "raw"), ("scaled_dot", "scaled")):
        config = AttentionConfig(score=score)

        def weights_of(logits, config=config):
            keys = torch.cat([logits[:, None], k[:, 1:]], dim=1)  # the logits are the keys' first entries
            return attend_qkv(q, keys, v, config=config)["weights"].flatten()

        logits = k[:, 0]
        assert_value(f"p_{name}", weights_of(logits), stated[f"p_{name}"])
        assert weights_of(logits).max().item() == pytest.approx(stated[f"max_p_{name}"], abs=TOLERANCE)
        jacobian = torch.autograd.functional.jacobian(weights_of, logits)
        jacobian = jacobian / attend_qkv(q, k, v, config=config).step("scaled_scores").operation.params["factor"]
        assert_value(f"jacobian_{name}", jacobian, stated[f"jacobian_{name}"])
        shown = with_jacobian(attend_qkv(q, k, v, config=config))["jacobian"][0, 0, 0]
        assert_value(f"jacobian_{name}", shown, stated[f"jacobian_{name}"])
        for each in (jacobian, shown):
            assert each.norm().item() == pytest.approx(stated[f"frobenius_{name}"], abs=TOLERANCE)


def test_rows_of_a_convolution():
    stated = FILES["s49_cnn_as_fixed_attention"]["expected"]
    assert_value("row_sums", case_of("s49_cnn_as_fixed_attention").run()["weights"].sum(-1), stated["row_sums"])


def signs(width: int) -> torch.Tensor:
    """All vectors of +1 and -1 of this width."""
    return torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * width).view(-1, width)


@pytest.mark.parametrize("stem", OF_A_LAW)
def test_variance_of_dot(stem):
    """In closed form, and by every q beside every k."""
    stated, law = FILES[stem]["expected"], loader.law(FILES[stem])
    for row in stated["rows"]:
        d_k = row["d_k"]
        scores, same = exact_moments(law, "independent", d_k), exact_moments(law, "same", d_k)
        scaled = scores.scaled(root_scale(d_k))
        assert scores.mean == row["mean"]
        assert scores.variance == pytest.approx(row["var_dot"], abs=TOLERANCE)
        assert scaled.variance == pytest.approx(row["var_scaled"], abs=TOLERANCE)
        vectors = signs(d_k)
        trace = attend_qkv(vectors, vectors, vectors)
        assert trace["scores"].numel() == row["pairs"]
        assert trace["scores"].max().item() == row["max"]
        for step, moments in (("scores", scores), ("scaled_scores", scaled)):
            assert trace[step].mean().item() == pytest.approx(moments.mean, abs=TOLERANCE)
            assert trace[step].var(correction=0).item() == pytest.approx(moments.variance, abs=TOLERANCE)
        assert stated["q_equals_k"]["mean"] == "d_k"
        assert same.mean == d_k
        assert same.variance == stated["q_equals_k"]["variance"]
        assert (trace["scores"][0, 0].diagonal() == d_k).all()


def test_uncorrelated_components_are_not_enough():
    stated = FILES["s36_variance_of_dot_exact"]["expected"]["uncorrelated_not_independent"]
    root = 2**0.5
    outcomes = [(0.0, 0.0)] * 4 + [(a, b) for a in (root, -root) for b in (root, -root)]  # all equally likely
    q, k = torch.tensor(outcomes, dtype=torch.float64).T[..., None]  # each (8, 1)
    products = attend_qkv(q, k, k)["scores"][0, 0].diagonal()
    found = [q.mean(), q.var(correction=0), k.var(correction=0), products.mean(), products.var(correction=0)]
    names = ["mean_q", "var_q", "var_k", "cov_qk", "var_of_product"]
    assert_value("moments", torch.stack(found), [stated[name] for name in names])
    assert exact_moments("signs", "silent", 1).mean == stated["cov_qk"]
    assert exact_moments("signs", "silent", 1).variance == stated["var_of_product"]


def cost_run(d: int, heads: int, T: int, S: int) -> Trace:
    square = torch.eye(d, dtype=torch.float64)
    query, key = (torch.ones(length, d, dtype=torch.float64) for length in (T, S))
    weights = Weights(w_q=square, w_k=square, w_v=square, w_o=square)
    return attend(query, key, weights=weights, config=AttentionConfig(heads=heads))


@pytest.mark.parametrize("stem", OF_COST)
def test_cost(stem):
    """In closed form, and counted on a run."""
    file = FILES[stem]
    stated, T, S = file["expected"], file["inputs"]["T"], file["inputs"]["S"]
    for d, by_heads in stated["parameters_no_bias"].items():
        for heads, parameters in by_heads.items():
            closed = attention_cost(T=T, S=S, D=int(d), H=int(heads))
            assert closed == count_cost(cost_run(int(d), int(heads), T, S))
            assert closed.totals()["parameters"] == parameters
            assert closed.stored["weights"] == stated["weights_entries"][heads]
            if d in stated["score_madds"]:
                assert closed.multiply_adds["scores"] == stated["score_madds"][d][heads]
    local = stated["local_window_pairs"]
    x = torch.zeros(local["T"], 1)
    trace = attend_qkv(x, x, x, config=AttentionConfig(masks=[("local", {"window": local["w"]})]))
    assert count_allowed_pairs(trace) == PairsFact(local["kept"], local["full"])


@pytest.mark.parametrize("stem", OF_PATHS)
def test_path_length(stem):
    """In closed form, and by a search in a sequence long enough."""
    inputs, stated = FILES[stem]["inputs"], FILES[stem]["expected"]
    named = {"rnn": "rnn_steps", "cnn": "cnn_layers", "attention": "attention_layers"}
    for kind, name in named.items():
        encoder = Encoder(kind, both=True, window=inputs["kernel"])
        searched = path_lengths(one_step_reach(encoder, max(inputs["distances"]) + 1))
        assert [path_length(encoder, distance) for distance in inputs["distances"]] == stated[name]
        assert [searched[distance, 0].item() for distance in inputs["distances"]] == stated[name]
    encoder = Encoder("cnn", both=True, window=inputs["kernel"])
    for layers, field in stated["cnn_receptive_field_after_layers"].items():
        middle = path_lengths(one_step_reach(encoder, field + 2))[field // 2 + 1]  # one more on either side
        assert receptive_field(encoder, int(layers)) == (middle <= int(layers)).sum() == field
