"""What is heavy is imported once, beside the server, which answers from the first moment on."""

import gc


def warm() -> None:
    """Imports what every page needs and builds the chart's specification, out of the garbage collector's sight: with
    torch imported a full collection takes 75 ms, after gc.freeze() next to nothing.
    """
    gc.disable()
    try:
        import torch

        from attention_core.charts import specification
        from pages.shared import editors, header, layer_controls, looking, mask_controls  # noqa: F401

        torch.set_num_threads(2)
        specification()
        gc.freeze()
    finally:
        gc.enable()
