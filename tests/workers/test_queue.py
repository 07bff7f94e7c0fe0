"""The queue of worker processes: few at a time, visitors in turn, who leaves gives the place up, idle ones end."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from pages.workers import queue as queue_module
from pages.workers.queue import GivenUp, WorkerQueue

LONG = 60  # seconds: what has not come by then does not


class Standing:
    """A worker without a process, which calls each function here."""

    def __init__(self):
        self.is_ended = Event()

    def call(self, function):
        return function()

    def end(self):
        self.is_ended.set()


@pytest.fixture
def threads():
    with ThreadPoolExecutor(16) as executor:
        yield executor


def wait_until(condition):
    """Waits for a condition; a thread that is to bring it about is running."""
    event = Event()
    for _ in range(LONG * 100):
        if condition():
            return
        event.wait(0.01)
    pytest.fail("the condition does not come")


def make_queue(most, **settings):
    return WorkerQueue(most, start=Standing, **settings)


def begin(queue, threads, visitor, function, is_wanted=lambda: True):
    """Calls a function in a thread, and returns when the call stands in the queue."""
    before = queue.waiting[:], queue.running.total()
    future = threads.submit(queue.call, function, visitor, is_wanted)
    wait_until(lambda: (queue.waiting, queue.running.total()) != before or future.done())
    return future


def test_visitors_take_turns_however_many_calls_one_of_them_has(threads):
    queue, opened, order = make_queue(1), Event(), []
    first = begin(queue, threads, "one", lambda: opened.wait(LONG))
    waiting = [begin(queue, threads, "one", lambda number=number: order.append(("one", number))) for number in range(3)]
    waiting += [
        begin(queue, threads, "other", lambda number=number: order.append(("other", number))) for number in range(2)
    ]
    waiting += [begin(queue, threads, "third", lambda: order.append(("third", 0)))]
    opened.set()
    assert first.result(LONG) and [each.result(LONG) for each in waiting] == [None] * 6
    assert order == [("other", 0), ("third", 0), ("one", 0), ("other", 1), ("one", 1), ("one", 2)]


def test_a_second_visitor_gets_the_second_worker_before_the_first_one_gets_two(threads):
    queue, opened, order = make_queue(2), Event(), []

    def work(name):
        order.append(name)
        assert opened.wait(LONG)

    holds = [begin(queue, threads, "holds", lambda: opened.wait(LONG)) for _ in range(2)]
    one = begin(queue, threads, "one", lambda: work("one 1"))
    more = begin(queue, threads, "one", lambda: work("one 2"))
    other = begin(queue, threads, "other", lambda: work("other"))
    opened.set()
    for each in (*holds, one, more, other):
        each.result(LONG)
    assert order.index("other") < order.index("one 2")


def test_never_more_at_a_time_than_there_may_be(threads):
    queue, opened, running, most = make_queue(3), Event(), [], []

    def work():
        running.append(1)
        most.append(len(running))
        assert opened.wait(LONG)
        running.pop()

    calls = [begin(queue, threads, f"visitor {number % 5}", work) for number in range(13)]
    wait_until(lambda: len(running) == 3)
    assert len(queue.waiting) == 10 and queue.count() == 13
    opened.set()
    for each in calls:
        each.result(LONG)
    assert max(most) == 3 and len(queue.free) == 3
    assert not queue.running and not queue.waiting and not queue.served


def test_who_leaves_gives_the_place_up_and_the_next_one_comes(threads):
    queue, opened, left = make_queue(1), Event(), Event()
    holds = begin(queue, threads, "one", lambda: opened.wait(LONG))
    gone = begin(queue, threads, "gone", lambda: pytest.fail("was called"), lambda: not left.is_set())
    stays = begin(queue, threads, "stays", lambda: "served")
    left.set()
    with pytest.raises(GivenUp):
        gone.result(LONG)
    opened.set()
    assert holds.result(LONG) and stays.result(LONG) == "served"
    assert not queue.running and not queue.waiting and not queue.served


def test_an_error_of_a_function_ends_its_turn_and_keeps_the_worker():
    started = []
    queue = WorkerQueue(1, start=lambda: started.append(Standing()) or started[-1])
    with pytest.raises(ValueError, match="twelve"):
        queue.call(lambda: int("twelve"))
    assert queue.call(lambda: 5) == 5 and queue.free == started and len(started) == 1


def test_a_worker_is_used_again_and_ended_when_idle(threads):
    queue = make_queue(1, idle_seconds=0.05)
    queue.call(lambda: None)
    (worker,) = queue.free
    opened = Event()
    again = begin(queue, threads, "one", lambda: opened.wait(LONG))
    wait_until(lambda: queue.timer is None)  # the time has passed while it works
    assert not worker.is_ended.is_set()
    opened.set()
    assert again.result(LONG)
    assert worker.is_ended.wait(LONG) and queue.free == []
    assert queue.call(lambda: 7) == 7


def test_a_worker_that_was_used_is_idle_from_its_last_use_on(monkeypatch):
    now, queue = [1000.0], make_queue(1, idle_seconds=70.0)
    monkeypatch.setattr(queue_module, "monotonic", lambda: now[0])
    queue.call(lambda: None)
    (worker,) = queue.free
    for now[0], rest in ((1069.0, 1.0), (1069.5, 0.5)):
        queue.timer.cancel()
        queue.end_idle()
        assert queue.timer.interval == rest and queue.free == [worker]
    queue.call(lambda: None)  # at 1069.5
    now[0] = 1139.0
    queue.timer.cancel()
    queue.end_idle()
    assert queue.timer.interval == 0.5 and not worker.is_ended.is_set()
    now[0] = 1139.5
    queue.timer.cancel()
    queue.end_idle()
    assert queue.timer is None and queue.free == [] and worker.is_ended.is_set()
