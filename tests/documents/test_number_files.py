"""A run's numbers as files: read back by pandas, NumPy and json, they are those of the run, bit for bit."""

import io
import json
import math

import numpy as np
import pandas as pd
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, attend
from attention_core.documents.number_files import MAX_NUMBERS_BY_KIND, csv_text, json_text, npz_bytes
from attention_core.documents.provenance import Provenance
from attention_core.inputs.files.contents import read_contents
from attention_core.record.trace import Step, Trace
from tests.explanation.test_scripts import DTYPES, RUNS, numbers, trace_of

IMPRINT = Provenance(
    "Wörter, 词, “signs”", "https://attention.example.edu/?ex=en_it&mask=causal", ("Random: x, from seed 3.",)
)
ODD = (0.1, -0.0, 1e-310, 1.7976931348623157e308, math.pi, -math.inf, math.inf, math.nan)


def odd(dtype=torch.float64):
    """Every kind of number that there is, and truth values."""
    value = torch.tensor([ODD, ODD[::-1]], dtype=torch.float64).to(dtype)
    steps = {"x": Step("x", value, ("T", "D")), "allowed": Step("allowed", value > 0, ("T", "D"))}
    return Trace(steps, {"T": ("=1+1", 'the, "the"\n'), "D": tuple(map(str, range(8)))})


def same(one, other):
    """Equal, minus infinity, NaN, the sign of zero and the type included."""
    one, other = (
        np.where(each != each, np.array(np.nan).astype(each.dtype), each) for each in (one, other)
    )  # of any payload
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def in_numpy(value):
    value = value.detach()
    return (value.float() if value.dtype == torch.bfloat16 else value).numpy()


def from_json(values):
    return np.array([float(v.replace("Infinity", "inf")) if isinstance(v, str) else v for v in flat(values)])


def flat(values):
    for value in values:
        yield from flat(value) if isinstance(value, list) else (value,)


@pytest.mark.parametrize("name", [name for name in RUNS if not name.startswith("large")])
def test_every_step_of_every_run_comes_back_from_npz_and_json(name):
    trace = trace_of(name)
    arrays = np.load(io.BytesIO(npz_bytes(trace, IMPRINT)))
    told = json.loads(json_text(trace, IMPRINT), parse_constant=pytest.fail)
    assert [*arrays] == ["about", *trace.steps] == ["about", *(step["name"] for step in told["steps"])]
    dims = json.loads(bytes(arrays["about"]))["dims"]
    for step, (found, made) in zip(told["steps"], trace.steps.items(), strict=True):
        value = in_numpy(made.value)
        assert same(arrays[found], value), found
        expected = value if value.dtype == bool else value.astype(np.float64)
        assert same(from_json(step["values"]).astype(expected.dtype).reshape(step["shape"]), expected), found
        assert step["dims"] == dims[found] == list(made.dims)
        assert step["given"] == (made.operation is None)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_infinities_nan_and_truth_values_survive(dtype):
    trace = odd(dtype)
    arrays = np.load(io.BytesIO(npz_bytes(trace, IMPRINT)))
    assert same(arrays["x"], in_numpy(trace["x"])) and same(arrays["allowed"], trace["allowed"].numpy())
    x, allowed = json.loads(json_text(trace, IMPRINT))["steps"]
    assert same(from_json(x["values"]).reshape(2, 8), trace["x"].double().numpy())
    assert allowed["values"] == trace["allowed"].tolist()
    for step in ("x", "allowed"):
        table = pd.read_csv(io.StringIO(csv_text(trace, step, IMPRINT)), skiprows=3)
        expected = trace[step].reshape(-1)
        assert same(table["value"].to_numpy(), (expected if step == "allowed" else expected.double()).numpy())


def test_a_csv_says_which_cell_each_number_is_and_where_it_is_from():
    text = csv_text(odd(), "x", IMPRINT)
    lines = text.splitlines()
    assert lines[:3] == [f"# {IMPRINT.title}", f"# {IMPRINT.link}", "# Random: x, from seed 3."]
    table = pd.read_csv(io.StringIO(text), skiprows=3)
    assert table[["T", "D"]].to_numpy().tolist() == [[t, d] for t in range(2) for d in range(8)]
    assert [*table["T_label"][::8]] == ["'=1+1", 'the, "the"\n']  # which no spreadsheet calculates
    assert json.loads(json_text(odd(), IMPRINT))["about"]["labels"]["T"] == ["=1+1", 'the, "the"\n']


@pytest.mark.parametrize("sign", "=+-@\t\r＝")
def test_no_word_becomes_a_formula_of_a_spreadsheet(sign):
    trace = Trace({"x": Step("x", torch.zeros(1, 1), ("T", "D"))}, {"T": (sign + "cmd()",)})
    assert csv_text(trace, "x", IMPRINT).splitlines()[4].split(",")[2].lstrip('"').startswith("'" + sign.strip())


def test_an_npz_is_a_file_that_the_app_reads():
    trace = trace_of("small")
    arrays = read_contents("run.npz", npz_bytes(trace, IMPRINT)).arrays
    assert same(arrays["weights"], trace["weights"].numpy())


def test_what_is_beyond_the_bound_is_refused_before_anything_is_made():
    trace = attend(numbers(512, 1).expand(512, 8), config=AttentionConfig(heads=8))  # 8 heads of 512 tokens
    for kind, make in (("NPZ", npz_bytes), ("JSON", json_text)):
        with pytest.raises(
            AttentionError, match=f"a {kind} file may hold at most {MAX_NUMBERS_BY_KIND[kind]:,} numbers"
        ):
            make(trace, IMPRINT)
    with pytest.raises(AttentionError, match=r"a CSV file may hold at most 250,000 numbers: these are 2,097,152"):
        csv_text(trace, "weights", IMPRINT)
    assert "value" in csv_text(trace, "x", IMPRINT)
