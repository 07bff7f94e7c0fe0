"""Calls functions in a few worker processes, so that visitors take turns, and ends processes that nobody uses."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import Condition, Timer
from time import monotonic
from typing import TypeVar

from attention_core.record.errors import AttentionError
from pages.workers.worker import MAX_CALL_SECONDS, Worker, WorkerEnded

MAX_WORKERS = 2  # most worker processes, for all visitors together
IDLE_SECONDS = 60.0  # free worker processes are ended if none was used for so long
LOOK_SECONDS = 0.5  # seconds between two checks whether a waiting visitor is still there
TRIES = 2  # a call is tried twice, because a process may be ended from outside
Result = TypeVar("Result")


class GivenUp(Exception):
    """Raised if a visitor has left while the visitor's call was waiting."""


@dataclass(frozen=True, eq=False)
class Place:
    """The place of a call in the queue. number: how many calls were queued before it since the server started."""

    visitor: str
    number: int


class WorkerQueue:
    """The worker processes of a server, and the calls that wait for one.

    The next call is that of the visitor with the fewest running calls; among several such visitors, of the one who was
    served longest ago; of one visitor, the earliest call. So one visitor's calls, however many, delay another visitor
    by at most one call.
    """

    def __init__(
        self,
        most: int = MAX_WORKERS,
        idle_seconds: float = IDLE_SECONDS,
        start: Callable[[], Worker] = Worker,
    ):
        self.most, self.idle_seconds, self.start = most, idle_seconds, start
        self.changed = Condition()  # lock, held while one of the following attributes is read or changed
        self.free: list[Worker] = []
        self.running: Counter[str] = Counter()  # visitor -> number of running calls
        self.waiting: list[Place] = []
        self.served: dict[str, int] = {}  # visitor with a running or waiting call -> number of the visitor's last turn
        self.places, self.turns = count(1), count(1)
        self.used = 0.0  # time at which a worker process was used last
        self.timer: Timer | None = None

    def call(
        self,
        function: Callable[[], Result],
        visitor: str = "",
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Result:
        """Calls a function in a worker process when it is the visitor's turn, and returns its result.

        function: see Worker.call; it may be called twice. is_wanted: a function called while the call waits; if it
        returns False, the call is given up. Raises the function's errors; GivenUp; AttentionError (worker_ended) if the
        process ended at each try.
        """
        self.wait_for_turn(visitor, is_wanted)
        try:
            for _ in range(TRIES):
                try:
                    return self.call_once(function)
                except WorkerEnded:
                    continue
            raise AttentionError("worker_ended", limit=MAX_CALL_SECONDS)
        finally:
            self.end_turn(visitor)

    def count(self) -> int:
        """Returns the number of calls that wait or run."""
        with self.changed:
            return len(self.waiting) + self.running.total()

    def call_once(self, function: Callable[[], Result]) -> Result:
        """Calls a function in a free worker process or a new one; the process is kept for the next call unless it has
        ended.
        """
        with self.changed:
            worker = self.free.pop() if self.free else None
        worker = worker or self.start()
        try:
            result = worker.call(function)
        except WorkerEnded:
            worker.end()
            raise
        except Exception:
            self.keep(worker)
            raise
        self.keep(worker)
        return result

    def keep(self, worker: Worker) -> None:
        """Keeps a worker process for the next call."""
        with self.changed:
            self.free.append(worker)
            self.used = monotonic()
            if self.timer is None:
                self.look_in(self.idle_seconds)

    def look_in(self, seconds: float) -> None:
        """Schedules end_idle to run after some seconds; the caller must hold the lock `changed`."""
        self.timer = Timer(seconds, self.end_idle)
        self.timer.daemon = True
        self.timer.start()

    def end_idle(self) -> None:
        """Ends the free worker processes if none was used for `idle_seconds`."""
        with self.changed:
            rest = self.used + self.idle_seconds - monotonic()
            if rest > 0:
                self.look_in(rest)
                return
            self.timer = None
            ended, self.free = self.free, []
        for worker in ended:
            worker.end()

    # ---- turns -------------------------------------------------------------------------------------------------------
    def wait_for_turn(self, visitor: str, is_wanted: Callable[[], bool]) -> None:
        """Waits until it is a visitor's turn to call a function. Raises GivenUp."""
        place = Place(visitor, next(self.places))
        with self.changed:
            self.waiting.append(place)
            try:
                while self.running.total() >= self.most or self.find_next() is not place:
                    if not is_wanted():
                        raise GivenUp
                    self.changed.wait(LOOK_SECONDS)
                self.running[visitor] += 1
                self.served[visitor] = next(self.turns)
            finally:
                self.waiting.remove(place)
                self.forget(visitor)
                self.changed.notify_all()

    def find_next(self) -> Place:
        """Returns the place in the queue whose turn is next."""

        def rank(place: Place) -> tuple[int, int, int]:
            return self.running[place.visitor], self.served.get(place.visitor, 0), place.number

        return min(self.waiting, key=rank)

    def end_turn(self, visitor: str) -> None:
        """Ends a visitor's turn, so that the next call in the queue begins."""
        with self.changed:
            self.running[visitor] -= 1
            self.forget(visitor)
            self.changed.notify_all()

    def forget(self, visitor: str) -> None:
        """Removes a visitor without calls from the records; the caller must hold the lock `changed`."""
        if not self.running[visitor] and all(place.visitor != visitor for place in self.waiting):
            del self.running[visitor]
            self.served.pop(visitor, None)


WORKERS = WorkerQueue()
