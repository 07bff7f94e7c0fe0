"""The twin in the browser against the golden files: every step that it knows, from the inputs alone."""

import math
from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.drawing.flow import FlowGraph, twin_steps
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.parameters import names_of
from attention_core.mechanism.positions import ROPE_SCALINGS
from pages.components.modules import COMPONENTS_FOLDER
from tests.components.in_node import call_in_node
from tests.entries import number_choices
from tests.golden import loader
from tests.mechanism.test_golden import RUNS, case_of, fitted

TOLERANCE = 1e-6
LONGEST = 64  # tokens
# Numbers come back as text, which has names for infinities.
MAKE = """(steps, values, wanted) => {
    for (const [name, step] of Object.entries(steps)) {
        const count = step.shape.reduce((one, other) => one * other, 1);
        step.value = Float64Array.from(values[name] ?? new Array(count).fill(0), (number) => number ?? -Infinity);
    }
    const given = Object.fromEntries(Object.keys(values).map((name) => [name, steps[name].value]));
    const masks = Object.keys(steps).filter((name) => steps[name].operation?.reads.length === 0);
    const params = Object.fromEntries(masks.map((name) => [name, {}])); // each is made anew
    const { steps: made, waiting } = follow(steps, { values: given, params });
    const numbers = wanted.map((name) => [name, made[name].value.join(",")]);
    return [Object.fromEntries(numbers), [...waiting]];
}"""


@pytest.fixture(scope="module")
def twin():
    return partial(call_in_node, "flow/twin", MAKE)


def plain(value) -> list:
    """A tensor's numbers, one after the other; minus infinity as None, as JSON has no name for it."""
    return [None if number == -math.inf else number for number in value.double().reshape(-1).tolist()]


def numbers_of(text: str) -> torch.Tensor:
    """The numbers of a text in which commas part them, as the browser spells them: infinities and NaN too."""
    return torch.from_numpy(np.array(text.split(","), dtype=np.float64))


def is_small(trace: Trace) -> bool:
    return trace["weights"].dim() == 4 and max(trace.sizes()["T"], trace.sizes()["S"]) <= LONGEST


def compare(twin, trace: Trace, listed: dict) -> set[str]:
    """Compares every step that a file lists; gives those that the twin computed."""
    steps = twin_steps(FlowGraph(trace))
    given = {name: plain(trace[name]) for name, step in steps.items() if step["operation"] is None}
    whole = {name for name, data in listed.items() if not isinstance(data, dict)}  # of others the file has sums alone
    wanted = [name for name in steps if name in whole and name not in given]
    if not wanted:
        return set()
    made, waiting = twin(steps, given, wanted)
    computed = set(wanted) - set(waiting)
    for name in computed:
        expected = loader.tensor(listed[name]).double()
        value = fitted(numbers_of(made[name]).reshape(trace[name].shape), tuple(expected.shape))
        difference = (value - expected).abs()
        assert bool(((value == expected) | (difference <= TOLERANCE)).all()), name
    return computed


def test_the_twin_caps_scores_as_torch_does(twin, generator):
    q, k, v = (torch.randn(2, 3, length, 5, generator=generator, dtype=torch.float64) for length in (7, 11, 11))
    trace = attend_qkv(4 * q, k, v, config=AttentionConfig(modifiers=[("softcap", {"cap": 1.3})]))
    steps = twin_steps(FlowGraph(trace))
    made, waiting = twin(steps, {name: plain(trace[name]) for name in "qkv"}, ["capped_scores", "head_outputs"])
    assert waiting == []
    capped = 1.3 * torch.tanh(4 * q @ k.mT / 5**0.5 / 1.3)
    expected = {"capped_scores": capped, "head_outputs": torch.softmax(capped, -1) @ v}
    for name, numbers in expected.items():
        assert (numbers_of(made[name]) - numbers.flatten()).abs().max() < TOLERANCE, name


def test_the_twin_lets_a_sink_take_its_part_as_torch_does(twin, generator):
    q, k, v = (torch.randn(2, 3, length, 5, generator=generator, dtype=torch.float64) for length in (7, 11, 11))
    sinks = torch.tensor([-1.5, 0.0, 2.5], dtype=torch.float64)
    config = AttentionConfig(normaliser="sinks", masks=[("causal", {"offset": -1})])
    trace = attend_qkv(q, k, v, weights=Weights(sinks=sinks), config=config)
    steps = twin_steps(FlowGraph(trace))
    given = {name: plain(trace[name]) for name in ("q", "k", "v", "sinks")}
    made, waiting = twin(steps, given, ["weights", "head_outputs"])
    assert waiting == []
    scores = (q @ k.mT / 5**0.5).masked_fill(~torch.ones(7, 11).tril(-1).bool(), -torch.inf)
    longer = torch.cat([scores, sinks[:, None, None].expand(2, 3, 7, 1)], -1)
    weights = torch.softmax(longer, -1)[..., :-1]
    for name, numbers in {"weights": weights, "head_outputs": weights @ v}.items():
        assert (numbers_of(made[name]) - numbers.flatten()).abs().max() < TOLERANCE, name


def followed(twin, trace: Trace, wanted: list[str]) -> dict[str, torch.Tensor]:
    """Steps as the twin makes them of the inputs alone."""
    steps = twin_steps(FlowGraph(trace))
    given = {name: plain(trace[name]) for name, step in steps.items() if step["operation"] is None}
    made, waiting = twin(steps, given, wanted)
    assert waiting == []
    return {name: numbers_of(made[name]).reshape(trace[name].shape) for name in wanted}


def random_qkv(generator, width: int = 4) -> list[torch.Tensor]:
    shapes = (2, 3, 7, width), (2, 3, 11, width), (2, 3, 11, 5)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("style", ["interleaved", "half"])
@pytest.mark.parametrize("scaling", ROPE_SCALINGS)
@pytest.mark.parametrize("width", [4, 7])  # of 7 columns the first 4 are rotated, each pair by its own factor
def test_the_twin_turns_queries_and_keys(style, scaling, width, twin, generator):
    """The pairs' frequencies as their papers have them: Chen et al. 2023, Peng et al. 2023, Llama 3.1's code."""
    q, k, v = random_qkv(generator, width)
    params = {"style": style, "base": 50.0, "scaling": scaling, "factor": 4.0, "trained": 20}
    params |= {"mscale": 0.7, "mscale_all_dim": 0.5, "columns": None if width == 4 else 4}
    own = (1.0, 1.0) if width == 4 else (-1.0, 0.3)
    params["pair_factors"] = None if width == 4 else own
    trace = attend_qkv(q, k, v, config=AttentionConfig(positions=[("rope", params)], masks=["causal"]))
    found = followed(twin, trace, ["q", "k"])
    plain_two = [1.0, 50**-0.5]
    turns = [20 * f / (2 * math.pi) for f in plain_two]  # in the trained length: 3.2 and 0.45
    index = 2 * math.log(20 / (2 * math.pi)) / math.log(50)  # the pair, of two, that turns once: 0.59
    between = {
        "yarn": [1.0, 0.0],  # from pair 0 to pair 1
        "yarn_unrounded": [1.0, 1 - min(1 / index, 1)],
        "yarn_turns": [(turns[0] - 1) / 31, 0.0],
        "llama3": [(turns[0] - 1) / 3, 0.0],
    }
    frequencies = {
        "none": plain_two,
        "linear": [f / 4 for f in plain_two],
        "ntk": [1.0, (50 * 4 ** (4 / 2)) ** -0.5],
        **{
            name: [(1 - part) * f / 4 + part * f for f, part in zip(plain_two, kept, strict=True)]
            for name, kept in between.items()
        },
    }[scaling]
    length = 1.0
    if scaling.startswith("yarn"):
        length = (0.07 * math.log(4) + 1) / (0.05 * math.log(4) + 1)
    for name, x, first in (("q", q, 4), ("k", k, 0)):
        for pair, frequency in enumerate(frequencies):
            left, right = (pair, pair + 2) if style == "half" else (2 * pair, 2 * pair + 1)
            angle = (torch.arange(x.shape[2]) + first).double() * frequency * own[pair]
            spun = torch.complex(x[..., left], x[..., right]) * torch.polar(torch.full_like(angle, length), angle)
            assert (found[name][..., left] - spun.real).abs().max() < TOLERANCE
            assert (found[name][..., right] - spun.imag).abs().max() < TOLERANCE
        assert torch.equal(found[name][..., 4:], x[..., 4:])


# ---- masks: every one that the twin knows, with every small number ---------------------------------------------------
TWIN = (COMPONENTS_FOLDER / "flow" / "twin.js").read_text(encoding="utf-8")
KNOWN_MASKS = [name for name, mask in MASKS.items() if f"\n  {mask.faces.torch.__name__}:" in TWIN]
LENGTHS = [(5, 7), (7, 5)]  # queries and keys; with more queries than keys a causal mask leaves rows empty


def small_numbers(name: str) -> list[dict]:
    """All small numbers that fit a mask's parameters, one for each."""
    parameters = MASKS[name].parameters
    choices = [[(n,) if each.several else n for n in number_choices(each, 5)] for each in parameters]
    return [dict(zip(names_of(parameters), numbers, strict=True)) for numbers in product(*choices)]


def masked_runs(name: str) -> list[Trace]:
    """Runs with a mask alone, and with the queries two places farther on."""
    chosen = [[(name, numbers)] for numbers in small_numbers(name)]
    farther = [("causal", {"offset": 2})]
    beside = [farther if name == "causal" else [*farther, *masks] for masks in chosen]
    inputs = [[torch.zeros(length, 1) for length in (T, S, S)] for T, S in LENGTHS]
    return [attend_qkv(*qkv, config=AttentionConfig(masks=masks)) for masks in (*chosen, *beside) for qkv in inputs]


@pytest.mark.parametrize("name", KNOWN_MASKS)
def test_the_twin_blocks_the_pairs_that_the_core_blocks(name):
    runs, given = masked_runs(name), []
    for trace in runs:
        steps = twin_steps(FlowGraph(trace))
        values = {each: plain(trace[each]) for each, step in steps.items() if step["operation"] is None}
        given.append([steps, values, [each for each in trace.steps if each.startswith("allowed")]])
    answers = call_in_node("flow/twin", f"(runs) => runs.map((run) => ({MAKE})(...run))", given)
    for trace, (made, waiting) in zip(runs, answers, strict=True):
        assert made and not waiting
        for step, numbers in made.items():
            expected = trace[step].double().flatten()
            assert torch.equal(numbers_of(numbers), expected), (trace.step(step).operation.params, step)


def test_the_twin_knows_the_masks_of_one_operation():
    assert {"causal", "local", "sliding", "dilated", "local_global"} <= {*KNOWN_MASKS}


def test_the_twin_adds_the_row_of_each_place(twin, generator):
    query, key, table = (
        torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((5, 3), (7, 3), (11, 3))
    )
    config = AttentionConfig(masks=["causal"], positions=["learned"])
    found = followed(twin, attend(query, key, weights=Weights(w_places=table), config=config), ["weights"])["weights"]
    scores = (query + table[2:7]) @ (key + table[:7]).mT / 3**0.5
    blocked = ~torch.ones(5, 7).tril(2).bool()
    expected = torch.softmax(scores.masked_fill(blocked, -torch.inf), -1)
    assert (found - expected).abs().max() < TOLERANCE


def test_the_twin_lowers_scores_by_distance_and_passes_each_through_a_sigmoid(twin, generator):
    q, k, v = random_qkv(generator)
    config = AttentionConfig(
        positions=[("alibi", {"slopes": (0.5, 0.25, 1.5)})], normaliser=("sigmoid", {"bias": -1.5}), masks=["causal"]
    )
    found = followed(twin, attend_qkv(q, k, v, config=config), ["head_outputs"])["head_outputs"]
    place, key = torch.arange(7)[:, None] + 4, torch.arange(11)
    bias = -torch.tensor([0.5, 0.25, 1.5], dtype=torch.float64)[:, None, None] * (place - key).abs()
    weights = torch.sigmoid(q @ k.mT / 2 + bias - 1.5) * (key <= place)
    assert (found - weights @ v).abs().max() < TOLERANCE


@pytest.mark.parametrize("shape", [(7, 11), (1, 3, 1, 11), (1, 3, 7, 11)], ids=str)
@pytest.mark.parametrize("positions", [[], ["alibi"]], ids=["alone", "beside ALiBi"])
def test_the_twin_adds_a_given_bias(twin, generator, shape, positions):
    q, k, v = random_qkv(generator)
    bias = torch.randn(shape, generator=generator, dtype=torch.float64)
    trace = attend_qkv(q, k, v, config=AttentionConfig(positions=positions), bias=bias)
    found = followed(twin, trace, ["head_outputs"])["head_outputs"]
    slopes = torch.tensor([2**-4, 2**-8, 2**-2], dtype=torch.float64)[:, None, None] * len(positions)
    lowered = slopes * (torch.arange(11) - torch.arange(7)[:, None]).abs()
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=(bias - lowered).expand(*q.shape[:2], 7, 11))
    assert (found - expected).abs().max() < TOLERANCE


def test_the_twin_divides_features_by_their_sum(twin, generator):
    q, k, v = random_qkv(generator)
    config = AttentionConfig("linear", normaliser="share", masks=[("causal", {"offset": -1})])
    found = followed(twin, attend_qkv(q, k, v, config=config), ["head_outputs"])["head_outputs"]
    scores = (F.elu(q) + 1) @ (F.elu(k) + 1).mT * (torch.arange(11) <= torch.arange(7)[:, None] - 1)
    sums = scores.sum(-1, keepdim=True)
    assert (found - scores / sums.where(sums > 0, 1.0) @ v).abs().max() < TOLERANCE


def test_the_twin_subtracts_a_second_map(twin, generator):
    q, k, v = random_qkv(generator, 6)
    vectors = {f"lam_{role}{half}": torch.rand(2, generator=generator).double() for role in "qk" for half in (1, 2)}
    gain = torch.linspace(0.5, 2, 5, dtype=torch.float64)
    config = AttentionConfig(modifiers=[("differential", {"lam_init": 0.3, "eps": 0.1})])
    trace = attend_qkv(q, k, v, weights=Weights(**vectors, g_heads=gain), config=config)
    found = followed(twin, trace, ["shrunk_outputs"])["shrunk_outputs"]
    first, second = (vectors[f"lam_q{half}"].dot(vectors[f"lam_k{half}"]).exp() for half in (1, 2))
    one, other = (F.scaled_dot_product_attention(q[..., part], k[..., part], v) for part in (slice(3), slice(3, 6)))
    expected = 0.7 * F.rms_norm(one - (first - second + 0.3) * other, (5,), gain, 0.1)
    assert (found - expected).abs().max() < TOLERANCE


def test_the_twin_makes_keys_and_values_of_a_latent(twin, generator):
    x = torch.randn(1, 5, 7, generator=generator, dtype=torch.float64)
    shapes = {
        "w_q": (7, 6),
        "w_k": (4, 6),
        "w_v": (4, 6),
        "w_dkv": (7, 4),
        "g_latent": (4,),
        "w_qr": (7, 4),
        "w_kr": (7, 2),
    }
    w = {name: torch.randn(*shape, generator=generator, dtype=torch.float64) / 2 for name, shape in shapes.items()}
    config = AttentionConfig(heads=2, modifiers=[("latent", {"eps": 0.1})], positions=["sinusoidal", "decoupled_rope"])
    found = followed(twin, attend(x, weights=Weights(**w), config=config), ["head_outputs"])["head_outputs"]
    place = torch.arange(5, dtype=torch.float64)
    columns = [(torch.sin, torch.cos)[c % 2](place / 10000 ** (2 * (c // 2) / 7)) for c in range(7)]
    x = x + torch.stack(columns, -1)
    latent = F.rms_norm(x @ w["w_dkv"], (4,), w["g_latent"], 0.1)
    spin = torch.polar(torch.ones(5, dtype=torch.float64), place)

    def heads(name, source):
        return torch.stack((source @ w[name]).chunk(2, -1), 1)

    def turned(pairs):
        return torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * spin)

    q = torch.cat([heads("w_q", x), turned(heads("w_qr", x))], -1)
    k = torch.cat([heads("w_k", latent), turned(x @ w["w_kr"])[:, None].expand(-1, 2, -1, -1)], -1)
    expected = F.scaled_dot_product_attention(q, k, heads("w_v", latent))
    assert (found - expected).abs().max() < TOLERANCE


def test_what_the_twin_computes_is_what_the_golden_files_say(twin):
    compared: Counter[str] = Counter()
    for stem, route in RUNS:
        case = case_of(stem, route)
        trace = case.run()
        if is_small(trace):
            compared.update(compare(twin, trace, case.expected))
    assert compared["weights"] >= 20 and compared["head_outputs"] >= 20
    assert compared["scores"] >= 15 and compared["masked_scores"] >= 10 and compared["output"] >= 10
