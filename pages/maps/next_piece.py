"""Shows the pieces (subword tokens) that an opened model predicts after its text, and lets the model append them."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core.checkpoints.next_pieces import Candidate, Writing, end_numbers, list_candidates
from attention_core.checkpoints.pieces import Pieces
from pages.lessons.frame import show_refusal
from pages.maps.model_folder import FOLDER, open_model, read_model_text
from pages.panels.lesson_choices import get_choice
from pages.panels.link_controls import choose_option, choose_whole_number, slide
from pages.panels.markdown_table import make_table
from pages.runs.checkpoint_store import RecordedText
from pages.session.labels import share_in_tenths
from pages.site.words import escape_markdown, say

CHOSEN, SEED, TEMPERATURE = "chosen", "seed", "temperature"  # link keys
LIKELIEST, DRAWN = "likeliest", "drawn"
TEMPERATURES = (0.2, 0.5, 0.7, 1.0, 1.5, 2.0)
CANDIDATES = 8
COUNTS = (1, 8)  # how many pieces each button appends


def show_next(text: RecordedText) -> None:
    """Shows the text, the likeliest next pieces with their probabilities, and the buttons that let the model go on."""
    pieces = text.inputs.pieces if text.inputs.begun is None else text.inputs.begun
    if pieces.written:
        st.markdown(mark_written(pieces))
        st.caption(say("lessons.maps.next.legend"))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = choose_option(CHOSEN, (LIKELIEST, DRAWN))
        seed, temperature = None, 1.0
        if chosen == DRAWN:
            seed = choose_whole_number(SEED, 1, width=130)
            temperature = slide(TEMPERATURE, TEMPERATURES, 1.0, width=260)
    written = text.wanted.written
    ended = bool(written) and written[-1] in end_numbers(text.opened)
    wanted, how = text.wanted, None
    with st.container(horizontal=True, gap="small"):
        for count in COUNTS:
            label = say("lessons.maps.next.write", count=count)
            if st.button(label, key=f"maps_write_{count}", icon=":material/edit:", disabled=ended):
                how = Writing(count, seed, temperature)
        if written and st.button(say("lessons.maps.next.back"), key="maps_unwrite", icon=":material/undo:"):
            wanted = replace(wanted, written=())
    if how is not None or wanted is not text.wanted:
        with show_refusal():
            open_model(get_choice(FOLDER, "", read_model_text), wanted, how)
    if ended:
        st.caption(say("lessons.maps.next.ended"))
    found = list_candidates(text.opened, text.maps.recording.logits, CANDIDATES, temperature)
    st.markdown(make_candidate_table(say("lessons.maps.next.piece"), found, temperature))
    st.caption(say("lessons.maps.next.from_logits"))


def mark_written(pieces: Pieces) -> str:
    """Returns the text in Markdown; the pieces that the model has generated are bold."""
    first = pieces.pieces[-pieces.written]
    text = pieces.texts[first.text]
    begin = first.span[0]
    before, written = escape_markdown(text[:begin].rstrip()), escape_markdown(text[begin:].strip())
    blank = " " if text[begin : begin + 1].isspace() or text[:begin].endswith(" ") else ""
    return f"{before}{blank}**{written}**" if written else before


def make_candidate_table(piece: str, found: Sequence[Candidate], temperature: float = 1) -> str:
    """Returns the table of the likeliest pieces; piece: the title of their column.

    At a temperature other than 1, it also has the probabilities of sampling.
    """
    heading = [piece, say("lessons.maps.next.share")]
    rows = [[escape_markdown(each.shown), share_in_tenths(each.share)] for each in found]
    if temperature != 1:
        heading.append(say("lessons.maps.next.drawn", temperature=f"{temperature:g}"))
        rows = [[*row, share_in_tenths(each.drawn)] for row, each in zip(rows, found, strict=True)]
    return make_table(heading, rows)
