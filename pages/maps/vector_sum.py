"""Shows the last vector of a token in an opened model as the sum of what the layers added, and a logit as a sum in the
same way (direct logit attribution).
"""

import streamlit as st

from attention_core.checkpoints.stream_sum import LayerSum
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.number_text import format_fixed
from pages.panels.link_controls import pick_place
from pages.panels.markdown_table import NUMBERS, WORDS, make_table
from pages.runs.checkpoint_store import STORE, RecordedText
from pages.session.labels import share_in_tenths
from pages.site.words import escape_markdown, say

PLACE, WORD = "place", "word"  # link keys
OFFERED_WORDS = 8  # number of likeliest words among which the visitor chooses the word whose logit is split
TABLE_HEIGHT_PX = 420


def show_vector_sum(text: RecordedText) -> None:
    """Shows the choice of a token and a word, the table of the parts, and whether their sum closes.

    Raises AttentionError with the reason why the model's last vectors are not such a sum.
    """
    with st.spinner(say("lessons.maps.sum.finds")):
        found = STORE.find_sum(text).result()
    pieces = text.inputs.further_shown or text.inputs.shown
    labels = [f"{place} · {printable_token(piece)}" for place, piece in enumerate(pieces, 1)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        place = pick_place(PLACE, labels, len(labels) - 1, width=200)
        word = None if found.words is None else pick_word(text, place)
    st.markdown(tell_closing(found))
    with st.container(height=TABLE_HEIGHT_PX):
        st.markdown(make_part_table(found, text, place, word))
    st.caption(say("lessons.maps.sum.about"))
    if word is None:
        key = "no_logits" if text.maps.recording.logits is None else "other_logits"
        st.caption(say(f"lessons.maps.sum.{key}"))


def pick_word(text: RecordedText, place: int) -> int:
    """Shows a choice of the likeliest words after a token; returns the chosen word's row in the vocabulary."""
    likeliest = text.maps.recording.logits[0, place].topk(OFFERED_WORDS).indices.tolist()
    labels = [printable_token(text.opened.tokenizer.show(number)) for number in likeliest]
    return likeliest[pick_place(WORD, labels, 0, width=200)]


def tell_closing(found: LayerSum) -> str:
    """Returns the sentence that says whether the sum equals the model's own vectors, and within which error bound."""
    key = "closes" if found.passed else "open"
    figures = {"apart": f"{found.apart:.1e}", "bound": f"{found.bound:.1e}"}
    return say(f"lessons.maps.sum.{key}", count=len(found.labels), **figures)


def make_part_table(found: LayerSum, text: RecordedText, place: int, word: int | None) -> str:
    """Returns the table of the parts: for each part, the length of its vector, its share of the sum, and what it adds
    to the logit of a word.

    The first row has the sums.
    """
    names = [escape_markdown(printable_token(label)) for label in found.labels]
    rows = [
        [name, format_fixed(length), share_in_tenths(share)]
        for name, length, share in zip(names, found.lengths(place), found.shares(place), strict=True)
    ]
    heading = [say(f"lessons.maps.sum.column.{name}") for name in ("part", "length", "share")]
    total = [say("lessons.maps.sum.total"), format_fixed(float(found.end[0, place].norm())), share_in_tenths(1.0)]
    if word is None:
        return make_table(heading, [total, *rows], [WORDS, NUMBERS, NUMBERS])
    pushes = found.pushes(place, word)
    if len(pushes) > len(rows):
        rows.append([say("lessons.maps.sum.bias"), "", ""])
    rows = [[*row, format_fixed(push)] for row, push in zip(rows, pushes, strict=True)]
    total.append(format_fixed(float(text.maps.recording.logits[0, place, word])))
    heading.append(say("lessons.maps.sum.column.push", word=escape_markdown(text.opened.tokenizer.show(word))))
    return make_table(heading, [total, *rows], [WORDS, *[NUMBERS] * 3])
