"""Words with their probabilities, as bars."""

from collections.abc import Sequence

from attention_core.record.number_text import format_percent
from pages import components
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.site.words import say


def show_word_shares(shares: Sequence[tuple[str, float]], key: str) -> None:
    """Shows words, the likeliest first, each with its probability and a bar as long."""
    rows = []
    for word, share in shares:
        said = say("train.percent", much=format_percent(share))
        rows.append({"word": word, "share": share, "said": said})
    show_moving(components.word_shares, data={"rows": rows, "colour": current_palette().share}, key=key)
