"""Words with their probabilities, as bars."""

from collections.abc import Sequence

from pages import components
from pages.session.collected import show_moving
from pages.session.labels import current_palette, written_share


def show_word_shares(shares: Sequence[tuple[str, float]], key: str) -> None:
    """Shows words, the likeliest first, each with its probability and a bar of that length."""
    rows = [{"word": word, "share": share, "said": written_share(share)} for word, share in shares]
    show_moving(components.word_shares, data={"rows": rows, "colour": current_palette().share}, key=key)
