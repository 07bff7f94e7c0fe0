"""Defines the colours of the light and the dark theme, and computes a cell's fill colour and text colour ("ink")."""

from dataclasses import dataclass, replace

import numpy as np

from attention_core.record.trace import Trace

LUMINANCE_OF_CHANNELS = np.array([0.2126, 0.7152, 0.0722])  # weights of red, green and blue, by WCAG 2.1
STRONGEST_SIGNED_SHARE = 0.9  # the largest magnitude gets this share of the end colour


@dataclass(frozen=True)
class Palette:
    """The colours of one theme.

    q, k, v, x: the colours of these symbols: blue, orange, green and grey. minus, plus: the ends of the scale of signed
    numbers, magenta and charcoal. low, high: the ends of the scale of weights, pale and dark purple. share: the colour
    of a bar that shows a weight.
    """

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
        """Return the colours of the symbols q, k, v and x, as the dictionary {symbol: colour} that formula.symbol
        expects.
        """
        return {"q": self.q, "k": self.k, "v": self.v, "x": self.x}

    def without_meaning(self) -> "Palette":
        """Return this palette with grey instead of coloured numbers, for runs whose matrices are random and so without
        meaning.

        Each grey is paler than the ends of the coloured scales.

        >>> grey = LIGHT_PALETTE.without_meaning()
        >>> grey.high == grey.share == LIGHT_PALETTE.x, grey.q == LIGHT_PALETTE.q
        (True, True)
        """
        pale = blend_colours(self.ground, self.x, np.array([0.06, 0.4]))
        low, minus = to_hex_colours(pale)
        return replace(self, low=low, high=self.x, share=self.x, plus=self.x, minus=minus)


def palette_for(trace: Trace, palette: Palette) -> Palette:
    """Return `palette` for a run, with its number colours replaced by greys if the run's weights come from random
    matrices.
    """
    return palette.without_meaning() if trace.chance.matrices else palette


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
    """Return the red, green and blue of a colour such as #0067a5, each from 0 to 255."""
    return np.array(list(bytes.fromhex(colour[1:])), dtype=float)


def blend_colours(start: str, end: str, share: np.ndarray) -> np.ndarray:
    """Blend two hex colours, and return the red, green and blue of each mixture, (n, 3).

    share: (n,), the share of `end` in each mixture: 0 gives `start`, 1 gives `end`.
    """
    first, last = colour_channels(start), colour_channels(end)
    return first + (last - first) * share[:, None]  # (3,) x (n, 1) -> (n, 3)


def to_hex_colours(colours: np.ndarray) -> list[str]:
    """Convert channels (n, 3) to hex colours such as #0067a5."""
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in colours.round().astype(int)]


def luminance(colours: np.ndarray) -> np.ndarray:
    """Return the relative luminance (WCAG 2.1) of (n, 3) colours, from 0 for black to 1 for white."""
    channels = colours / 255
    dark = channels / 12.92
    bright = ((channels + 0.055) / 1.055) ** 2.4
    linear = np.where(channels <= 0.03928, dark, bright)
    return linear @ LUMINANCE_OF_CHANNELS  # (n, 3) x (3,) -> (n,)


def shade_cells(values: np.ndarray, largest: float, is_share: bool, palette: Palette) -> tuple[list[str], list[str]]:
    """Return the fill and text colours of cells: of weights from 0 to `largest` if is_share, else of signed numbers
    from -largest to largest.
    """
    finite = np.nan_to_num(values, nan=0.0, posinf=largest, neginf=0.0)
    if is_share:
        colours = blend_colours(palette.low, palette.high, np.clip(finite / largest, 0, 1))
    else:
        colours = signed_colours(finite / (largest or 1.0), palette)
    return to_hex_colours(colours), readable_inks(colours)


def signed_colours(shares: np.ndarray, palette: Palette) -> np.ndarray:
    """Return the colours of numbers from -1 to 1 on the two-sided scale; 0 has the background's colour: (n,) -> (n,
    3)."""
    ground = colour_channels(palette.ground)  # (3,)
    minus = colour_channels(palette.minus)
    plus = colour_channels(palette.plus)
    is_minus = shares < 0
    strongest = np.where(is_minus[:, None], minus, plus)  # (n, 3)
    magnitudes = np.clip(np.abs(shares), 0, 1)
    strength = STRONGEST_SIGNED_SHARE * magnitudes
    return ground + (strongest - ground) * strength[:, None]  # (n, 3)


def tint_cells(values: np.ndarray) -> tuple[list[str], list[str]]:
    """Return the fill and text colours of cells whose number is a grey level: black at 1, grey at 0, white at -1.

    Both themes have these colours.
    """
    known = np.nan_to_num(values, nan=0.0)
    signed = np.clip(known, -1, 1)
    darkness = (signed + 1) / 2
    colours = blend_colours("#ffffff", "#000000", darkness)
    return to_hex_colours(colours), readable_inks(colours)


def readable_inks(colours: np.ndarray) -> list[str]:
    """Return white or black for each of (n, 3) background colours, whichever has more contrast (at least 4.5)."""
    light = luminance(colours) + 0.05
    contrast_of_white = 1.05 / light
    contrast_of_black = light / 0.05
    return np.where(contrast_of_white > contrast_of_black, "#ffffff", "#000000").tolist()
