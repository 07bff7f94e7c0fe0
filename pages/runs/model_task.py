"""Defines ModelTask: a request to the thread that runs pretrained models, with its stage, which can be stopped."""

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

Result = TypeVar("Result")
TellStage = Callable[[str], None]  # gets the name of each stage as it begins
STAGES = ("waits", "opens", "writes", "reads", "finds", "proves", "whole", "checks")  # in the order of their beginnings


class ModelTask(Generic[Result]):
    """A request to the thread that runs pretrained models.

    begin: queues the request and returns its future; gets the function that the thread calls as each stage begins.
    """

    def __init__(self, begin: Callable[[TellStage], Future[Result]]):
        self.stage, self.is_stopped = STAGES[0], False
        self.future = begin(self.tell)

    def tell(self, stage: str) -> None:
        """Notes the stage that begins. Raises CancelledError if the request was stopped, which ends it."""
        if self.is_stopped:
            raise CancelledError
        self.stage = stage

    def stop(self) -> None:
        """Ends the request: at once if it still waits, else before its next stage."""
        self.is_stopped = True
        self.future.cancel()

    @property
    def share(self) -> float:
        """How far the request has come, as a number from 0 to 1, by the number of its stages."""
        return (STAGES.index(self.stage) + 1) / (len(STAGES) + 1)
