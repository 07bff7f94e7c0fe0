"""What is heavy is imported once, beside the server, which answers from the first moment on."""

import gc


def warm() -> None:
    """Imports what every page needs and builds the chart's specification, out of the garbage collector's sight: with
    torch imported a full collection takes 75 ms, after gc.freeze() next to nothing.
    """
    gc.disable()
    try:
        import torch

        from attention_core.drawing.charts import cell_specification
        from pages.workbench import (
            header,  # noqa: F401
            layer_controls,  # noqa: F401
            mask_controls,  # noqa: F401
            matrix_editors,  # noqa: F401
            screen,  # noqa: F401
        )

        torch.set_num_threads(2)
        cell_specification()
        gc.freeze()
    finally:
        gc.enable()
