"""A worker process: it returns what the function returns here, passes errors on, is nice, and ends with its server."""

import os
from functools import partial

import pytest
import vl_convert

from attention_core.record.errors import AttentionError
from pages.workers import worker as worker_module
from pages.workers.program import NICENESS
from pages.workers.queue import WorkerQueue
from pages.workers.worker import Worker, WorkerEnded
from tests.workers import called

LONG = 60  # seconds: a process that has not ended by then does not
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="37" height="11"><text x="2" y="9">Anna 狗</text></svg>'
SPEC = {
    "mark": "rect",
    "data": {"values": [{"x": "Anna", "y": 0.25}, {"x": "it", "y": 0.75}]},
    "encoding": {"x": {"field": "x"}, "y": {"field": "y", "type": "quantitative"}},
}
VEGA = {"vl_version": "6.4", "allowed_base_urls": []}


@pytest.fixture(scope="module")
def worker():
    """One process for the tests that leave it alive."""
    started = Worker()
    yield started
    started.end()


def test_it_draws_what_is_drawn_here_bit_for_bit(worker):
    draw = partial(vl_convert.svg_to_png, SVG, scale=3.0)
    assert worker.call(draw) == draw()
    write = partial(vl_convert.vegalite_to_svg, SPEC, **VEGA)
    assert worker.call(write) == write()


def test_it_imports_what_a_function_needs_and_neither_torch_nor_streamlit(worker):
    modules = worker.call(called.list_modules)
    assert "tests" in modules and not {"torch", "streamlit", "attention_core", "altair"} & set(modules)


def test_it_is_another_process_with_a_lower_priority(worker):
    own, (pid, niceness) = os.getpriority(os.PRIO_PROCESS, 0), worker.call(called.tell_priority)
    assert pid == worker.process.pid != os.getpid() and niceness == min(own + NICENESS, 19)


def test_errors_come_here_and_it_serves_on(worker):
    with pytest.raises(ValueError, match="seven"):
        worker.call(partial(called.refuse, "seven"))
    with pytest.raises(RuntimeError, match="nothing of this name"):
        worker.call(called.fail)
    assert worker.call(partial(sorted, (3, 1, 2))) == [1, 2, 3]


def test_it_ends_when_the_server_closes_the_connection():
    worker = Worker()
    worker.connection.close()
    assert worker.process.wait(LONG) == 0


def test_who_does_not_have_the_key_is_not_served(monkeypatch):
    keys = iter([b"the key of the program", b"another one"])
    monkeypatch.setattr(worker_module.os, "urandom", lambda size: next(keys))
    connect = worker_module.Client
    monkeypatch.setattr(worker_module, "Client", lambda address, authkey: connect(address, authkey=next(keys)))
    with pytest.raises(WorkerEnded):
        Worker()


def test_a_call_that_takes_too_long_ends_with_its_process(monkeypatch):
    monkeypatch.setattr(worker_module, "MAX_CALL_SECONDS", 0.1)
    worker = Worker()
    with pytest.raises(WorkerEnded):
        worker.call(called.sleep)
    worker.end()
    assert worker.process.poll() is not None


def test_a_process_that_died_is_replaced_once_and_then_a_sentence_says_so(tmp_path):
    queue = WorkerQueue()
    assert queue.call(partial(called.die, tmp_path / "left")) == "alive"
    with pytest.raises(AttentionError, match="it has ended; the next try starts another one"):
        queue.call(called.die_always)
    assert queue.call(partial(max, 2, 3)) == 3
    assert len(queue.free) == 1 and not queue.running and not queue.waiting
    queue.free[0].end()


def test_a_process_that_cannot_start_is_a_sentence_too(monkeypatch, tmp_path):
    monkeypatch.setattr(worker_module, "PROGRAM", tmp_path / "missing.py")
    with pytest.raises(AttentionError, match="it has ended"):
        WorkerQueue().call(called.list_modules)
