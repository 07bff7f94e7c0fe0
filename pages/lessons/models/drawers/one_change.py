"""The lesson on today's models, drawer "one": what does one change alone do?"""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.differences import find_moves
from attention_core.record.number_text import format_or_scientific
from pages.lessons.models.pairs import Side, link_to_both, make_side_map, name_part
from pages.lessons.pictures import show_side_by_side
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import choose_option
from pages.site.words import say

FIELDS_OF_PARTS = {  # of a Setup
    "positions": "positions",
    "heads": "kv_heads",
    "masks": "masks",
    "score": "score",
    "modifiers": "modifiers",
    "normaliser": "normaliser",
}


def show_one_change(old: Side, new: Side) -> None:
    """Shows the older layer with one part of the newer one: how far that alone moves weights and output."""
    parts = [part for part in FIELDS_OF_PARTS if take_part(old, new, part).setup != old.setup]
    if not parts:
        st.markdown(say("lessons.models.no_change"))
        return
    part = choose_option("part", parts, words=name_part)
    changed = take_part(old, new, part)
    moved = find_moves(changed.trace, old.trace)
    figures = {}
    for step in ("weights", "output"):
        figures[step] = format_or_scientific(moved[step].size) if step in moved else "0"
    show_sentence("lessons.models.one_change", part=name_part(part), old=old.model.name, new=new.model.name, **figures)
    title = say("lessons.models.with_part", model=old.model.name, part=name_part(part))
    show_side_by_side(make_side_map(replace(old, part="before")), make_side_map(changed, title))
    link_to_both(old, changed, "one")


def take_part(old: Side, new: Side, part: str) -> Side:
    """The older layer with one part of the newer one."""
    field = FIELDS_OF_PARTS[part]
    setup = replace(old.setup, **{field: getattr(new.setup, field)})
    return replace(old, part="after", setup=setup)
