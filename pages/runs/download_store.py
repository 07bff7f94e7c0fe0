"""Keeps the questions to the hub and the downloads from it, for all sessions: one a model, few at a time."""

from collections import OrderedDict
from threading import Lock

from attention_core.checkpoints.hub_download import HubTask
from attention_core.checkpoints.hub_model import HubModel
from attention_core.record.errors import AttentionError

MAX_RUNNING = 2
MAX_KEPT = 50  # tasks, of which those that have ended are forgotten first


class DownloadStore:
    """The latest task of each model."""

    def __init__(self):
        self.tasks: OrderedDict[HubModel, HubTask] = OrderedDict()
        self.lock = Lock()

    def find(self, model: HubModel) -> HubTask | None:
        """Returns the latest task of a model; None if there is none."""
        with self.lock:
            return self.tasks.get(model)

    def begin(self, model: HubModel, fetch: bool) -> HubTask:
        """Asks the hub about a model, or fetches it, unless that is being done. Raises AttentionError: hub_busy."""
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
