"""Imports the heavy modules once in a thread, while the server already answers; scripts of visitors wait for its end.

They must wait because Altair uses pandas as soon as pandas is in sys.modules, even while another thread imports it.
"""

import gc
from collections.abc import Callable
from importlib import import_module
from threading import Event, Thread

from pages.site.catalog import PAGES_FOLDER

SCRIPTS = {"page", "router"}

WARM = Event()
WARM.set()  # set at first, so that scripts wait only after begin(); a test can then run the router alone
DONE = Event()  # set once the whole warm-up has succeeded, so that visitors can be sent to this process


def begin() -> None:
    """Starts the imports in a daemon thread."""
    WARM.clear()
    Thread(target=warm, name="warming", daemon=True).start()


def wait() -> None:
    """Blocks until the imports that begin() started have ended; scripts of visitors call this first."""
    WARM.wait()


def warm() -> None:
    """Imports what every page needs, and builds the chart specification, with the garbage collector switched off.

    With torch imported, a full garbage collection takes 75 ms; after gc.freeze() almost none. Visitors' scripts may
    start before the specification is built, so that the browser draws the first controls meanwhile.
    """
    gc.disable()
    try:
        specification = import_all()
        WARM.set()
        specification()
        gc.freeze()
        DONE.set()
    finally:
        WARM.set()  # set even after a failed import, so that the visitor's script runs and raises the import error
        gc.enable()


def import_all() -> Callable[[], dict]:
    """Imports all modules that the pages need, and lets worker processes draw the pictures of files; returns the
    function that builds the chart specification.
    """
    import torch

    from attention_core.drawing.specifications import cell_specification

    torch.set_num_threads(2)
    import_module("torch.utils.serialization.config")  # else torch imports this at the first read of a cache
    for name in module_names():
        import_module(name)
    from attention_core.documents.picture_files import draw_by
    from pages.export.worker_drawing import draw_in_worker

    draw_by(draw_in_worker)
    return cell_specification


def module_names() -> list[str]:
    """Returns the names of the modules in pages, except the page scripts, which draw when they are imported.

    The names come from files, not from packages, because the folder of a lesson has no __init__.py.
    """
    files = sorted(path for path in PAGES_FOLDER.rglob("*.py") if path.stem not in SCRIPTS)
    names = [".".join(path.relative_to(PAGES_FOLDER.parent).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]
