"""The lesson on the scale: the widths d_k that its charts have, and the axis along which d_k grows."""

from attention_core.drawing.axes import Axis

SCALE_WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def width_axis() -> Axis:
    """The axis along which d_k grows, on a logarithmic scale."""
    return Axis(
        "d_k",
        SCALE_WIDTHS[0],
        SCALE_WIDTHS[-1],
        log=True,
        values=SCALE_WIDTHS[::2],
    )
