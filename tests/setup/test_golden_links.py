"""Links that were written down open to the same run, and are written back as the same text, in every later version.

golden_links.json holds, for each link: the link written back from its Setup, the keys that could not be read, and
either the code of the refusal or the run: its steps with their shapes, and sum(x[i] cos(i + 1)) of three of them.
"""

import json
import urllib.parse
from pathlib import Path

import pytest
import torch

from attention_core.record.errors import AttentionError
from pages.runs.compute import compute_run
from pages.setup.codec import setup_from_link, setup_to_link

LINKS = json.loads((Path(__file__).with_name("golden_links.json")).read_text())
TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}  # relative


def weighted_sum(value):
    """A sum in which every place counts differently, so that two numbers that change places are seen."""
    numbers = torch.nan_to_num(value.double().flatten(), nan=0.0, posinf=0.0, neginf=0.0)
    return numbers @ torch.arange(1, len(numbers) + 1, dtype=torch.float64).cos()


@pytest.mark.parametrize("golden", LINKS, ids=[golden["link"][:60] for golden in LINKS])
def test_a_link_of_today_opens_to_the_same_run(golden):
    setup, refused = setup_from_link(dict(urllib.parse.parse_qsl(golden["link"], keep_blank_values=True)))
    assert [key for key, _ in refused] == golden.get("unread", [])
    assert urllib.parse.urlencode(setup_to_link(setup)) == golden["written"]
    if "error" in golden:
        with pytest.raises(AttentionError) as raised:
            compute_run(setup.run)
        assert raised.value.code == golden["error"]
        return
    trace, _ = compute_run(setup.run)
    shapes = [f"{name}({','.join(map(str, step.value.shape))})" for name, step in trace.steps.items()]
    assert " ".join(shapes) == golden["steps"]
    for name, expected in golden["sums"].items():
        tolerance = TOLERANCES[trace[name].dtype]
        assert float(weighted_sum(trace[name])) == pytest.approx(expected, rel=tolerance, abs=tolerance), name
