"""Imports the heavy modules once in a thread, while the server already answers; the scripts of visitors wait for the
imports.

They must wait: Altair uses pandas as soon as pandas is in sys.modules, even if another thread is still importing it.
"""

import gc
from collections.abc import Callable
from importlib import import_module
from threading import Event, Thread

from pages.site.catalog import PAGES_FOLDER

SCRIPTS = {"page", "router"}

WARM = Event()
WARM.set()  # nothing to wait for unless begin() is called: a test runs the router alone


def begin() -> None:
    """Starts the imports in a daemon thread."""
    WARM.clear()
    Thread(target=warm, name="warming", daemon=True).start()


def wait() -> None:
    """Blocks until the imports that begin() started have ended."""
    WARM.wait()


def warm() -> None:
    """Imports what every page needs and builds the chart specification, without the garbage collector: with torch
    imported a full collection takes 75 ms, after gc.freeze() next to nothing.

    Scripts start before the specification is built: meanwhile a browser draws the first controls.
    """
    gc.disable()
    try:
        specification = import_all()
        WARM.set()
        specification()
        gc.freeze()
    finally:
        WARM.set()  # also if an import failed: a script then raises the error
        gc.enable()


def import_all() -> Callable[[], dict]:
    """Imports all modules that the pages need, and returns the function that builds the chart specification."""
    import torch

    from attention_core.drawing.specifications import cell_specification

    torch.set_num_threads(2)
    import_module("torch.utils.serialization.config")  # torch imports it when it reads the first tensor from a cache
    for name in module_names():
        import_module(name)
    return cell_specification


def module_names() -> list[str]:
    """Lists every module of the pages except the scripts, which draw when they are imported.

    Files are listed, not packages: the folder of a lesson has no __init__.py."""
    files = sorted(path for path in PAGES_FOLDER.rglob("*.py") if path.stem not in SCRIPTS)
    names = [".".join(path.relative_to(PAGES_FOLDER.parent).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]
