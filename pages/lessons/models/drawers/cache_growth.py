"""The lesson on today's models, drawer "cache": what does a long text cost?"""

from attention_core.record.number_text import format_grouped
from pages.lessons.models.cache_sizes import TEXT_LENGTHS, show_cache_chart, tell_cache
from pages.lessons.models.pairs import Side
from pages.panels.live_choice import find_live_choice, show_live_choice
from pages.panels.live_frames import tell_live


def show_cache_growth(old: Side, new: Side) -> None:
    """Shows the bytes of keys and values of both models against the number of tokens, and says them at one."""
    tokens = find_live_choice("tokens", TEXT_LENGTHS, 1024, format_grouped)
    show_live_choice(tokens, width=420)
    told = [" ".join(tell_cache(side.model, length) for side in (old, new)) for length in TEXT_LENGTHS]
    tell_live(tokens, "models_kept", told)
    show_cache_chart(tokens, {"x": old.model, "share": new.model})
