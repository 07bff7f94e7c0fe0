"""Trainings in the background: each is one visitor's own; two at a time in this process, and only while somebody looks.

Whoever leaves the page, closes it or loses the connection looks no more: the training stops, and can go on later.
"""

from collections.abc import Mapping
from threading import BoundedSemaphore, Lock, Thread
from time import monotonic

from attention_core.learned.training.snapshots import Network
from attention_core.learned.training.training import Training
from attention_core.record.errors import AttentionError
from pages.runs.network_store import remember_network

MAX_CONCURRENT_TRAININGS = 2  # trainings; a third would make all of them slow, and every page with them
TRAINING_SLOTS = BoundedSemaphore(MAX_CONCURRENT_TRAININGS)
LOOK_SECONDS = 60.0  # seconds that a look lasts; a page in a tab behind others, or on a busy machine, looks less often
SLOT_POLL_SECONDS = 0.2  # seconds between two looks at whether there is room


class RunningTraining:
    """One training and the thread that it runs in.

    state: "waiting" for room, "training", "stopped", "done" or "failed", then with `failure`."""

    def __init__(self, training: Training):
        self.training = training
        self.state = "stopped"
        self.failure: AttentionError | None = None
        self.seconds = 0.0  # that were spent training
        self.wanted = False
        self.seen = monotonic()  # when somebody last looked at it
        self.thread: Thread | None = None
        self.lock = Lock()  # held by who begins and by the thread that ends: so no start is lost between them

    @property
    def busy(self) -> bool:
        """Whether it waits or trains."""
        return self.state in ("waiting", "training")

    @property
    def saved(self) -> list[Network]:
        """The networks that were kept and measured so far."""
        return [network for network in self.training.saved if network.measured]

    @property
    def seconds_left(self) -> float | None:
        """How long it will take at the pace so far; None before the first step."""
        step = self.training.step
        last = self.training.course.saved[-1]
        if not step:
            return None
        return self.seconds / step * (last - step)

    def start(self) -> None:
        """Begins, or goes on where it was stopped; where it was told to stop and has not, it just goes on."""
        with self.lock:
            self.wanted = True
            self.look()
            if not self.busy:
                self.state = "waiting"
                self.thread = Thread(target=self.work, daemon=True)
                self.thread.start()

    def stop(self) -> None:
        """Stops after the step that it is at."""
        self.wanted = False

    def look(self) -> None:
        """Somebody looks at it, and it goes on a while."""
        self.seen = monotonic()

    def goes_on(self) -> bool:
        """Whether somebody wants it, and looks."""
        return self.wanted and monotonic() - self.seen < LOOK_SECONDS

    def rests(self) -> bool:
        """Whether the thread has nothing to do any more. Then it must end: a later start begins another one."""
        with self.lock:
            if self.goes_on() and not self.training.done:
                return False
            self.state = "done" if self.training.done else "stopped"
            return True

    def work(self) -> None:
        """What the thread does."""
        while not TRAINING_SLOTS.acquire(timeout=SLOT_POLL_SECONDS):
            if self.rests():
                return
        try:
            self.state = "training"
            self.train()
        except AttentionError as failure:
            self.state, self.failure = "failed", failure
        except Exception:  # what nobody expected is told by the thread
            self.state = "stopped"
            raise
        finally:
            TRAINING_SLOTS.release()

    def train(self) -> None:
        """Step after step; what is kept is measured at once."""
        self.measure()
        while not self.rests():
            begun = monotonic()
            self.training.advance()
            self.seconds += monotonic() - begun
            self.measure()

    def measure(self) -> None:
        """The figures of the last network that was kept, for all who ask later."""
        network = self.training.saved[-1]
        if not network.measured:
            _ = network.figures  # measured where it is asked for
            remember_network(network)


def stop_trainings(running: Mapping[str, RunningTraining]) -> None:
    """Stops trainings; each can go on later."""
    for each in running.values():
        each.stop()
