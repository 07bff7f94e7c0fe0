"""Defines ModelTask: a request to the thread that runs pretrained models; the request has a current stage, and can be
stopped.
"""

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

Result = TypeVar("Result")
TellStage = Callable[[str], None]  # function that gets the name of each stage as the stage begins
STAGES = ("waits", "opens", "writes", "reads", "finds", "proves", "whole", "checks")  # stages of a request, in order


class ModelTask(Generic[Result]):
    """A request to the thread that runs pretrained models.

    begin: a function that queues the request and returns its future; its argument is called as each stage begins.
    """

    def __init__(self, begin: Callable[[TellStage], Future[Result]]):
        self.stage, self.is_stopped = STAGES[0], False
        self.future = begin(self.tell)

    def tell(self, stage: str) -> None:
        """Records the stage that begins. Raises CancelledError, which ends the request, if the request was stopped."""
        if self.is_stopped:
            raise CancelledError
        self.stage = stage

    def stop(self) -> None:
        """Ends the request: at once if it is still waiting, else before its next stage."""
        self.is_stopped = True
        self.future.cancel()

    @property
    def share(self) -> float:
        """The progress of the request, from 0 to 1: the share of the stages that have begun."""
        return (STAGES.index(self.stage) + 1) / (len(STAGES) + 1)
