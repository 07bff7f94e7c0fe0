"""The twin in the browser against the golden files: every step that it knows, from the inputs alone."""

import json
import math
from pathlib import Path

import pytest

from attention_core.drawing.flow_graph import FlowGraph, twin_steps
from tests.golden import loader
from tests.mechanism.test_golden import RUNS, case_of, fitted

TWIN = Path("pages/components/flow/twin.js").read_text("utf-8")
TOLERANCE = 1e-6
LONGEST = 64  # tokens
MAKE = """([steps, values]) => {
    for (const [name, step] of Object.entries(steps)) {
        const count = step.shape.reduce((one, other) => one * other, 1);
        step.value = Float64Array.from(values[name] ?? new Array(count).fill(0), (number) => number ?? -Infinity);
    }
    const given = Object.fromEntries(Object.keys(values).map((name) => [name, steps[name].value]));
    const masks = Object.keys(steps).filter((name) => steps[name].operation?.reads.length === 0);
    const params = Object.fromEntries(masks.map((name) => [name, {}])); // each is made anew
    const { steps: made, waiting } = follow(steps, { values: given, params });
    const plain = (step) => Array.from(step.value, (number) => (number === -Infinity ? null : number));
    const numbers = Object.entries(made).map(([name, step]) => [name, plain(step)]);
    return [Object.fromEntries(numbers), [...waiting]];
}"""


@pytest.fixture(scope="module")
def twin(chromium):
    page = chromium.new_page()
    page.add_script_tag(content=TWIN)
    yield lambda steps, values: page.evaluate(MAKE, [steps, values])
    page.close()


def plain(value) -> list:
    """A tensor's numbers, one after the other; minus infinity as None, as JSON has no name for it."""
    return [None if number == -math.inf else number for number in value.double().reshape(-1).tolist()]


def is_small(stem: str) -> bool:
    trace = case_of(stem).run()
    return trace["weights"].dim() == 4 and max(trace.sizes()["T"], trace.sizes()["S"]) <= LONGEST


def compare(twin, case) -> set[str]:
    """Compares every step that the file lists; gives those that the twin computed."""
    trace = case.run()
    steps = json.loads(json.dumps(twin_steps(FlowGraph(trace))))
    given = {name: plain(trace[name]) for name, step in steps.items() if step["operation"] is None}
    made, waiting = twin(steps, given)
    compared = set()
    for name, data in case.expected.items():
        if name not in trace or name in given or name in waiting or isinstance(data, dict):
            continue
        expected = loader.tensor(data).double()
        shape = tuple(expected.shape)
        value = loader.tensor(made[name]).double().reshape(trace[name].shape)
        difference = (fitted(value, shape) - expected).abs()
        same = fitted(value, shape) == expected
        assert bool((same | (difference <= TOLERANCE)).all()), name
        compared.add(name)
    return compared


def test_what_the_twin_computes_is_what_the_golden_files_say(twin):
    compared: dict[str, int] = {}
    for stem, route in RUNS:
        if not is_small(stem):
            continue
        for name in compare(twin, case_of(stem, route)):
            compared[name] = compared.get(name, 0) + 1
    assert compared["weights"] >= 20 and compared["head_outputs"] >= 20
    assert compared["scores"] >= 15 and compared["masked_scores"] >= 10 and compared["output"] >= 10
