"""The lesson on cross-attention, drawer "patches": words and a picture?"""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.image_patches import patch_picture
from pages.export.page_links import link_to_workbench
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import show_picture
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, picture_texts_for, selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_patches(_: Setup) -> None:
    """Shows how words ask the patches of a picture, whose colours are their vectors."""
    left, middle, right = st.columns((1, 2, 1))
    with left:
        setup = sentence_box(pick_example("picture", "zh_picture", zh="zh_picture", name="looks"), "asking")
    with middle:
        setup = sentence_box(setup, "picture", "context_text")
    trace = trace_for(setup)
    names = list_place_names(trace, "T")
    with right:
        query = pick_place("colour", names, selection_of(trace, setup).query)
    setup = replace(setup, token=query)
    selection = selection_of(trace, setup)
    st.markdown(f"**{fact_sentence(trace, selection)}**")
    titles = [say(f"lessons.cross.picture_{part}", word=names[query]) for part in ("keys", "weights", "output")]
    picture = patch_picture(
        trace,
        (selection.batch, selection.head, selection.query),
        picture_texts_for(trace),
        current_palette(),
        titles,
        get_opened_ref("patches", trace),
    )
    show_picture("patches", picture, {"": trace}, titles[1])
    show_sentence("lessons.cross.patches")
    link_to_workbench(setup, "patches")
