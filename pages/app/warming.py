"""What is heavy is imported once, beside the server, which answers from the first moment on; visitors' scripts wait.

Altair looks into a pandas that it finds imported, also where another thread is still importing it.
"""

import gc
from collections.abc import Callable
from importlib import import_module
from threading import Event, Thread

from pages.site.catalog import PAGES_FOLDER

SCRIPTS = {"page", "router"}

WARM = Event()
WARM.set()  # until somebody begins there is nothing to wait for: a test runs the router alone


def begin() -> None:
    """Begins to warm up, beside the server."""
    WARM.clear()
    Thread(target=warm, name="warming", daemon=True).start()


def wait() -> None:
    """Returns when all that was begun is imported."""
    WARM.wait()


def warm() -> None:
    """Imports what every page needs and builds the chart's specification, out of the garbage collector's sight: with
    torch imported a full collection takes 75 ms, after gc.freeze() next to nothing.

    Scripts begin before the specification is there: meanwhile a browser draws the first controls.
    """
    gc.disable()
    try:
        specification = import_all()
        WARM.set()
        specification()
        gc.freeze()
    finally:
        WARM.set()  # also where an import failed: a script then says so
        gc.enable()


def import_all() -> Callable[[], dict]:
    """Imports all that the pages need; gives what builds the chart's specification."""
    import torch

    from attention_core.drawing.specifications import cell_specification

    torch.set_num_threads(2)
    import_module("torch.utils.serialization.config")  # torch imports it when it reads the first tensor from a cache
    for name in module_names():
        import_module(name)
    return cell_specification


def module_names() -> list[str]:
    """List every module of the pages but the scripts, which draw when they are imported.

    Files are listed, not packages: the folder of a lesson has no __init__.py."""
    files = sorted(path for path in PAGES_FOLDER.rglob("*.py") if path.stem not in SCRIPTS)
    names = [".".join(path.relative_to(PAGES_FOLDER.parent).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]
