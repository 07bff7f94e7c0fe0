"""The lesson on positions: the words under RoPE, in either of the two ways in which its pairs are chosen."""

from dataclasses import replace

from pages.setup.setup import Setup

ROTATION_STYLES = ("rope", "rope_half")


def with_rope(setup: Setup, style: str) -> Setup:
    """The words alone, head 2 four numbers wide, with RoPE."""
    return replace(setup, wiring=("bare",), d_k=4, head=1, positions=(style,))
