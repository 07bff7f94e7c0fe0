"""A run that stays on its device: only the steps that somebody looks at are copied, each once."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, explain, prove
from attention_core.record.trace import CopiedStep
from pages.runs import cache, compute
from pages.setup.setup import Setup, make_setup
from tests.device.stand_in import AWAY, NAME, Away, reads_noted, send

T, D, H, WIDTH = 7, 5, 2, 6


def run(move) -> Trace:
    generator = torch.Generator().manual_seed(0)
    shapes = {"w_q": (D, WIDTH), "w_k": (D, WIDTH), "w_v": (D, WIDTH), "w_o": (WIDTH, D)}
    weights = {name: move(torch.randn(shape, generator=generator)) for name, shape in shapes.items()}
    x = move(torch.randn(T, D, generator=generator))
    return attend(x, weights=Weights(**weights), config=AttentionConfig(heads=H, masks=["causal"]))


@pytest.fixture
def here() -> Trace:
    return run(lambda tensor: tensor)


@pytest.fixture
def copied() -> Trace:
    with reads_noted():
        return run(send).on_cpu()


def copied_names(trace: Trace) -> set[str]:
    """The steps that lie on the CPU by now."""
    return {name for name, step in trace.steps.items() if step.stored.is_cpu}


LOOKS = {
    "its axes": (lambda trace: (trace.sizes(), trace.shapes(), trace.holds("scores", (0, 0, 0, 0))), set()),
    "the formats of its numbers": (lambda trace: [step.dtype for step in trace.steps.values()], set()),
    "words on its axes": (lambda trace: trace.labelled(T=tuple("abcdefg")), set()),
    "other numbers in a step": (lambda trace: trace.holding({"q": torch.zeros(1, H, T, 3)}), set()),
    "a step": (lambda trace: trace["weights"], {"weights"}),
    "a part of it": (lambda trace: trace.step("weights").window(H=1), {"weights"}),
    "a table": (lambda trace: trace.frame("scores"), {"scores"}),
    "a cell": (lambda trace: explain(trace, "scores", (0, 1, 2, 0)), {"scores", "q", "k"}),
    "a cell of an input": (lambda trace: explain(trace, "x", (0, 2, 0)), {"x"}),
    "a step anew": (lambda trace: trace.reapply("weights", masked_scores=torch.zeros(1, H, T, T)), {"masked_scores"}),
    "a further step": (lambda trace: trace.then(), set()),
}


@pytest.mark.parametrize("name", LOOKS)
def test_only_what_is_looked_at_is_copied_and_once(name, copied):
    look, expected = LOOKS[name]
    with reads_noted() as reads:
        look(copied)
        look(copied)
        assert copied_names(copied) == expected
        assert len(reads) == len(expected)


def test_a_proof_copies_every_step_once_and_reads_no_single_number(copied, here):
    with reads_noted() as reads:
        proof = prove(copied)
    assert len(reads) == len(copied.steps)
    assert proof == prove(here)


def test_a_run_that_was_not_moved_is_proven_and_explained_too(here):
    with reads_noted() as reads:
        there = run(send)
        reads.clear()
        assert explain(there, "output", (0, 2, 1)).text == explain(here, "output", (0, 2, 1)).text
        assert len(reads) == len({"output", "concat", "w_o"})
        assert prove(there) == prove(here)


def test_a_copy_has_the_same_numbers_and_the_run_keeps_its_own(copied, here):
    with reads_noted():
        for name, step in copied.steps.items():
            assert (step.shape, step.dtype) == (here.step(name).shape, here.step(name).dtype)
            assert torch.equal(step.value, here[name])
            assert step.elsewhere.device == AWAY


def test_other_numbers_take_the_place_of_a_copy(copied):
    changed = copied.holding({"scores": torch.ones(1, H, T, T)})
    assert changed["scores"].sum() == H * T * T
    assert copied_names(changed) == {"scores"}


def test_a_run_of_the_cpu_is_what_it_was(here):
    assert here.on_cpu().steps == here.steps


def test_a_pickle_holds_the_copies(copied, here):
    with reads_noted():
        found = pickle.loads(pickle.dumps(copied))  # noqa: S301
    assert copied_names(found) == set(here.steps)
    assert all(torch.equal(found[name], here[name]) for name in here.steps)


def test_threads_that_look_at_once_find_the_same_numbers(copied, here):
    def look(_: int) -> torch.Tensor:
        with reads_noted():
            return copied["output"]

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(look, range(8)))
    assert all(torch.equal(each, here["output"]) for each in found)


# ---- in the app ------------------------------------------------------------------------------------------------------
@pytest.fixture
def there(monkeypatch) -> Setup:
    """A Setup that computes on the device."""
    monkeypatch.setattr(compute, "AVAILABLE_DEVICES", ("cpu", NAME))
    return make_setup(device=NAME)


def test_a_setup_is_computed_there_and_nothing_is_copied(there):
    with reads_noted():
        trace, _ = compute.compute_run(there.run)
    assert all(isinstance(step, CopiedStep) and isinstance(step.stored, Away) for step in trace.steps.values())


def test_sessions_share_what_was_copied(there):
    cache.latest_run.clear()
    with reads_noted() as reads:
        first, _ = cache.latest_run(there.run, None)
        first["weights"]
        before = len(reads)
        again, _ = cache.latest_run(there.run, None)
        assert torch.equal(again["weights"], compute.compute_run(Setup().run)[0]["weights"])
    assert len(reads) == before
    assert copied_names(again) == {"weights"}
    cache.latest_run.clear()
