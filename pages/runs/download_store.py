"""Keeps the tasks of the Hugging Face hub (questions and downloads) for all sessions: one for each model, and only a
few at a time.
"""

from collections import OrderedDict
from threading import Lock

from attention_core.checkpoints.hub_download import HubTask
from attention_core.checkpoints.hub_model import HubModel
from attention_core.record.errors import AttentionError

MAX_RUNNING = 2
MAX_KEPT = 50  # most tasks that are kept; finished ones are removed first


class DownloadStore:
    """Holds the latest task for each model of the hub."""

    def __init__(self):
        self.tasks: OrderedDict[HubModel, HubTask] = OrderedDict()
        self.lock = Lock()

    def find(self, model: HubModel) -> HubTask | None:
        """Returns the latest task of a model; None if there is none."""
        with self.lock:
            return self.tasks.get(model)

    def begin(self, model: HubModel, fetch: bool) -> HubTask:
        """Starts a task that asks the hub about a model, or downloads it; returns the model's task if one is running.

        Raises AttentionError (hub_busy) if MAX_RUNNING tasks run already.
        """
        with self.lock:
            kept = self.tasks.get(model)
            if kept is not None and kept.is_running:
                return kept
            if sum(task.is_running for task in self.tasks.values()) >= MAX_RUNNING:
                raise AttentionError("hub_busy", limit=MAX_RUNNING)
            task = self.tasks[model] = HubTask(model, fetch)
            self.tasks.move_to_end(model)
            ended = [name for name, other in self.tasks.items() if not other.is_running]
            for name in ended[: max(0, len(self.tasks) - MAX_KEPT)]:
                del self.tasks[name]
            return task


DOWNLOADS = DownloadStore()
