"""Source is parsed right though other threads parse, too."""

import gc
import inspect
import sys
import threading

import pytest

from attention_core.mechanism import plan
from attention_core.record.python_source import parse_source


@pytest.fixture
def restless():
    """Collects garbage all the time, and lets another thread in whenever it does."""
    before, interval = gc.get_threshold(), sys.getswitchinterval()

    def let_others_in(phase, info):
        for _ in range(300):
            pass

    gc.callbacks.append(let_others_in)
    gc.set_threshold(50)
    sys.setswitchinterval(1e-6)
    yield
    gc.callbacks.remove(let_others_in)
    gc.set_threshold(*before)
    sys.setswitchinterval(interval)


@pytest.mark.slow
def test_eight_threads_parse_beside_each_other(restless):
    source, errors = inspect.getsource(plan), []

    def session():
        try:
            for _ in range(20):
                parse_source(source)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=session) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
