"""Functions that tests call in a worker process; importing them imports nothing else."""

import os
import sys
import time
from pathlib import Path


def list_modules() -> list[str]:
    """The packages that the process has imported."""
    return sorted({name.partition(".")[0] for name in sys.modules})


def tell_priority() -> tuple[int, int]:
    """The process, and how nice it is."""
    return os.getpid(), os.getpriority(os.PRIO_PROCESS, 0)


def refuse(given: object) -> None:
    """Raises a ValueError."""
    raise ValueError(given)


def fail() -> None:
    """Raises what no caller expects."""
    raise KeyError("nothing of this name")


def die(left: Path) -> str:
    """Ends its process at the first call, and answers at the next one."""
    if not left.exists():
        left.touch()
        os._exit(3)
    return "alive"


def die_always() -> None:
    """Ends its process."""
    os._exit(3)


def sleep() -> None:
    """Takes longer than any test waits."""
    time.sleep(600)
