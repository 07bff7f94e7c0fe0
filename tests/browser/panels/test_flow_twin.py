"""The twin in the browser against the golden files: every step that it knows, from the inputs alone."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend_qkv
from attention_core.drawing.flow_graph import FlowGraph, twin_steps
from tests.golden import loader
from tests.mechanism.test_golden import RUNS, case_of, fitted

TWIN = Path("pages/components/flow/twin.js").read_text("utf-8")
TOLERANCE = 1e-6
LONGEST = 64  # tokens
# Numbers go there and back as text: as values, Playwright would wrap each of a million by itself.
MAKE = """(sent) => {
    const [steps, values, wanted] = JSON.parse(sent);
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
def twin(chromium):
    page = chromium.new_page()
    page.add_script_tag(content=TWIN)
    yield lambda *sent: page.evaluate(MAKE, json.dumps(sent))
    page.close()


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


def test_what_the_twin_computes_is_what_the_golden_files_say(twin):
    compared: Counter[str] = Counter()
    for stem, route in RUNS:
        case = case_of(stem, route)
        trace = case.run()
        if is_small(trace):
            compared.update(compare(twin, trace, case.expected))
    assert compared["weights"] >= 20 and compared["head_outputs"] >= 20
    assert compared["scores"] >= 15 and compared["masked_scores"] >= 10 and compared["output"] >= 10
