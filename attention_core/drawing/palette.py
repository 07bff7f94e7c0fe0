"""Colours: one a symbol, two pairs for numbers, told apart without them too; fills and inks worked out per cell."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Palette:
    """The colours of one theme. q blue, k orange, v green, x grey; signed maps magenta to charcoal; weights purple."""

    ground: str
    ink: str
    faint: str
    outline: str
    minus: str
    plus: str
    low: str
    high: str
    share: str
    q: str
    k: str
    v: str
    x: str

    def families(self) -> dict[str, str]:
        """The symbol colours, as formula.symbol takes them."""
        return {"q": self.q, "k": self.k, "v": self.v, "x": self.x}


LIGHT_PALETTE = Palette(
    ground="#ffffff",
    ink="#1f2328",
    faint="#d8dbe0",
    outline="#d97706",
    minus="#b5127e",
    plus="#343a42",
    low="#f4f0f9",
    high="#4c1d80",
    share="#7b3fb5",
    q="#0067a5",
    k="#b34700",
    v="#00735a",
    x="#5f6368",
)
DARK_PALETTE = Palette(
    ground="#14171c",
    ink="#eceff3",
    faint="#3a3f47",
    outline="#fbbf24",
    minus="#f25cb5",
    plus="#dfe3e8",
    low="#241d30",
    high="#c9a2ff",
    share="#c9a2ff",
    q="#6cb6ec",
    k="#ff9b57",
    v="#3fcba4",
    x="#aab0b8",
)


def colour_channels(colour: str) -> np.ndarray:
    """#rrggbb as three numbers."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)


def blend_colours(start: str, end: str, share: np.ndarray) -> np.ndarray:
    """Colours between two, (n,) shares -> (n, 3)."""
    return colour_channels(start) + (colour_channels(end) - colour_channels(start)) * share[:, None]


def to_hex_colours(colours: np.ndarray) -> list[str]:
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in colours.round().astype(int)]


def luminance(colours: np.ndarray) -> np.ndarray:
    """Relative luminance (WCAG 2.1) of (n, 3) colours."""
    linear = colours / 255
    linear = np.where(linear <= 0.03928, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def shade_cells(values: np.ndarray, largest: float, is_share: bool, palette: Palette) -> tuple[list[str], list[str]]:
    """Fill and ink of each cell: shares on [0, largest], signed numbers on [-largest, largest]."""
    values = np.nan_to_num(values, nan=0.0, posinf=largest, neginf=0.0)
    if is_share:
        colours = blend_colours(palette.low, palette.high, np.clip(values / largest, 0, 1))
    else:
        share = np.clip(np.abs(values) / (largest or 1.0), 0, 1)
        toward = np.where((values < 0)[:, None], colour_channels(palette.minus), colour_channels(palette.plus))
        colours = colour_channels(palette.ground) + (toward - colour_channels(palette.ground)) * (0.9 * share[:, None])
    return to_hex_colours(colours), readable_inks(colours)


def tint_cells(values: np.ndarray) -> tuple[list[str], list[str]]:
    """Fill and ink of cells whose number is a colour itself: black at 1, grey at 0, white at -1, in any theme."""
    colours = blend_colours("#ffffff", "#000000", (np.clip(np.nan_to_num(values, nan=0.0), -1, 1) + 1) / 2)
    return to_hex_colours(colours), readable_inks(colours)


def readable_inks(colours: np.ndarray) -> list[str]:
    """White or black, whichever is read better on each of (n, 3) colours: one of both has a contrast of 4.5."""
    bright = luminance(colours)
    return np.where(1.05 / (bright + 0.05) > (bright + 0.05) / 0.05, "#ffffff", "#000000").tolist()
