"""Imports the heavy modules once in a thread, while the server already answers.

The scripts of visitors wait for the imports to end. Altair uses pandas as soon as pandas is in sys.modules, even if
another thread is still importing it.
"""

import gc
from collections.abc import Callable
from importlib import import_module
from threading import Event, Thread

from pages.site.catalog import PAGES_FOLDER

SCRIPTS = {"page", "router"}

WARM = Event()
WARM.set()  # scripts wait only if begin() was called, so that a test can run the router alone


def begin() -> None:
    """Start the imports in a daemon thread."""
    WARM.clear()
    Thread(target=warm, name="warming", daemon=True).start()


def wait() -> None:
    """Block until the imports that begin() started have ended; scripts of visitors call this first."""
    WARM.wait()


def warm() -> None:
    """Import what every page needs, and build the chart specification, with the garbage collector switched off.

    With torch imported, a full garbage collection takes 75 ms; after gc.freeze() it takes almost no time. Scripts start
    before the specification is built, so a browser draws the first controls meanwhile.
    """
    gc.disable()
    try:
        specification = import_all()
        WARM.set()
        specification()
        gc.freeze()
    finally:
        WARM.set()  # set even if an import failed, so that a script then raises the error
        gc.enable()


def import_all() -> Callable[[], dict]:
    """Import all modules that the pages need; return the function that builds the chart specification."""
    import torch

    from attention_core.drawing.specifications import cell_specification

    torch.set_num_threads(2)
    import_module("torch.utils.serialization.config")  # torch would import it at the first tensor from a cache
    for name in module_names():
        import_module(name)
    return cell_specification


def module_names() -> list[str]:
    """Return the names of the pages' modules, except the scripts, which draw when they are imported.

    The function lists files instead of packages, because the folder of a lesson has no __init__.py.
    """
    files = sorted(path for path in PAGES_FOLDER.rglob("*.py") if path.stem not in SCRIPTS)
    names = [".".join(path.relative_to(PAGES_FOLDER.parent).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]
