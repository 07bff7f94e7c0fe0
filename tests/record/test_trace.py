"""Steps behind a run: what `then` adds, what it leaves alone, what it refuses."""

import pickle

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, attend_qkv
from attention_core.mechanism.operations import ADD, PASS_ON
from attention_core.record.trace import Operation

TWICE = Operation("twice", ("B", "H", "T", "S"), ("scores", "scores"), ADD)
FOUR_TIMES = Operation("four_times", ("B", "H", "T", "S"), ("twice", "twice"), ADD)


def small() -> Trace:
    """Three queries of width 2 and five keys; every score is the key's number, 1 to 5."""
    q, k = torch.tensor([[1.0, 0.0]] * 3), torch.tensor([[float(n), 7.0] for n in range(1, 6)])
    return attend_qkv(q, k, k, config=AttentionConfig(score="dot")).labelled(S=tuple("abcde"))


def test_each_operation_reads_the_steps_before_it():
    trace = small()
    longer = trace.then(TWICE, FOUR_TIMES)
    assert [*longer.steps] == [*trace.steps, "twice", "four_times"]
    assert longer["twice"][0, 0].tolist() == [[2, 4, 6, 8, 10]] * 3
    assert longer["four_times"][0, 0].tolist() == [[4, 8, 12, 16, 20]] * 3
    assert longer.step("twice").operation is TWICE
    assert longer.step("twice").dims == TWICE.dims


def test_one_by_one_is_all_at_once():
    apart, together = small().then(TWICE).then(FOUR_TIMES), small().then(TWICE, FOUR_TIMES)
    assert [*apart.steps] == [*together.steps]
    assert torch.equal(apart["four_times"], together["four_times"])


def test_the_run_itself_stays_as_it_is():
    trace = small()
    names, values = [*trace.steps], {name: step.value.clone() for name, step in trace.steps.items()}
    longer = trace.then(TWICE)
    assert [*trace.steps] == names
    assert all(torch.equal(trace[name], value) for name, value in values.items())
    assert all(longer.step(name) is step for name, step in trace.steps.items())
    assert longer.labels == trace.labels == {"S": tuple("abcde")}


def test_what_is_added_is_a_step_like_any_other():
    longer = pickle.loads(pickle.dumps(small().then(TWICE)))  # noqa: S301
    given = longer.reapply("twice", scores=torch.ones(1, 1, 3, 5))
    assert (given == 2).all()
    assert longer.frame("twice")["S_label"].tolist() == [*"abcde"] * 3


def test_nothing_more_is_the_same_run():
    assert [*small().then().steps] == [*small().steps]


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(AttentionError, match="scores is there") as error:
        small().then(Operation("scores", ("B", "H", "T", "S"), ("weights",), PASS_ON))
    assert (error.value.code, error.value.values) == ("step_twice", {"name": "scores"})
    with pytest.raises(AttentionError, match="twice is there"):
        small().then(TWICE, TWICE)


def test_what_is_read_must_be_there():
    with pytest.raises(KeyError, match="twice"):
        small().then(FOUR_TIMES)
