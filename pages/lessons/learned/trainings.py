"""Runs trainings in background threads, each for one session; at most two run at a time in this process.

A training runs only while a page shows it. If the visitor leaves the page, closes it or loses the connection, the
training stops, and can be continued later.
"""

from collections.abc import Mapping
from threading import BoundedSemaphore, Lock, Thread
from time import monotonic

from attention_core.learned.training.snapshots import Network
from attention_core.learned.training.training import Training
from attention_core.record.errors import AttentionError
from pages.runs.network_store import remember_network

MAX_CONCURRENT_TRAININGS = 2  # most trainings at once: a third one would slow down the others and every page
TRAINING_SLOTS = BoundedSemaphore(MAX_CONCURRENT_TRAININGS)
LOOK_SECONDS = 60.0  # a training stops if no page has shown it for so many seconds; background tabs refresh rarely
SLOT_POLL_SECONDS = 0.2  # seconds between two attempts to start a waiting training


class RunningTraining:
    """A training and the thread in which it runs.

    state: "waiting" for one of the MAX_CONCURRENT_TRAININGS slots, "training", "stopped", "done", or "failed" because
    of the error in `failure`.
    """

    def __init__(self, training: Training):
        self.training = training
        self.state = "stopped"
        self.failure: AttentionError | None = None
        self.seconds = 0.0  # seconds for which the training has run so far
        self.wanted = False
        self.seen = monotonic()  # time (of a monotonic clock) at which a page last showed the training
        self.thread: Thread | None = None
        self.lock = Lock()  # held in start() and rests(), so that a start while the thread ends is not lost

    @property
    def busy(self) -> bool:
        """Whether the training is running, or waiting for one of the MAX_CONCURRENT_TRAININGS slots."""
        return self.state in ("waiting", "training")

    @property
    def saved(self) -> list[Network]:
        """The checkpoints that have been measured so far."""
        return [network for network in self.training.saved if network.measured]

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds until the end; None before the first step."""
        step = self.training.step
        last = self.training.course.saved[-1]
        if not step:
            return None
        return self.seconds / step * (last - step)

    def start(self) -> None:
        """Starts or continues the training in a thread; if the thread still runs, cancels a requested stop."""
        with self.lock:
            self.wanted = True
            self.look()
            if not self.busy:
                self.state = "waiting"
                self.thread = Thread(target=self.work, daemon=True)
                self.thread.start()

    def stop(self) -> None:
        """Stops the training after the current step."""
        self.wanted = False

    def look(self) -> None:
        """Records that a page shows the training now, so that the training may run for another LOOK_SECONDS."""
        self.seen = monotonic()

    def goes_on(self) -> bool:
        """Returns whether the training should continue: it was started, not stopped, and a page showed it within
        LOOK_SECONDS.
        """
        return self.wanted and monotonic() - self.seen < LOOK_SECONDS

    def rests(self) -> bool:
        """Returns whether the thread must end now, because the training is finished or should not continue.

        If the thread must end, the state becomes "done" or "stopped", so that a later start() starts another thread.
        """
        with self.lock:
            if self.goes_on() and not self.training.done:
                return False
            self.state = "done" if self.training.done else "stopped"
            return True

    def work(self) -> None:
        """The function of the training's thread: waits for one of the MAX_CONCURRENT_TRAININGS slots, then trains."""
        while not TRAINING_SLOTS.acquire(timeout=SLOT_POLL_SECONDS):
            if self.rests():
                return
        try:
            self.state = "training"
            self.train()
        except AttentionError as failure:
            self.state, self.failure = "failed", failure
        except Exception:  # every kind of error is stored here, because nothing else could report it
            self.state = "stopped"
            raise
        finally:
            TRAINING_SLOTS.release()

    def train(self) -> None:
        """Trains step by step, and measures each new checkpoint."""
        self.measure()
        while not self.rests():
            begun = monotonic()
            self.training.advance()
            self.seconds += monotonic() - begun
            self.measure()

    def measure(self) -> None:
        """Measures the last checkpoint and caches its network, unless this was done before."""
        network = self.training.saved[-1]
        if not network.measured:
            _ = network.figures  # measures the network, because the first access to this property does so
            remember_network(network)


def stop_trainings(running: Mapping[str, RunningTraining]) -> None:
    """Stops trainings; each training can be continued later."""
    for each in running.values():
        each.stop()
