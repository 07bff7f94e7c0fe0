"""Draws the lesson on the decoder: for each word, self-attention, cross-attention, and the prediction of the next word.

The decoder is that of a trained translator.
"""

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.drawing.decoder_threads import DecoderRow, decoder_threads
from attention_core.drawing.specifications import Picture
from attention_core.record.number_text import format_percent
from attention_core.transformer.stack import UNEMBEDDING
from pages import components
from pages.lessons.decoder.drawers import LESSON
from pages.lessons.decoder.translated import ROW_CHOICE, Written, choose_written
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_run
from pages.lessons.prompts import predict
from pages.lessons.sentences import show_answer
from pages.panels.gloss import show_gloss
from pages.panels.lesson_choices import store_choice
from pages.panels.model_look import open_sent, show_open_number
from pages.session.collected import collect_still, collected, show_moving
from pages.session.labels import current_palette, whole_share
from pages.site.words import escape_markdown, say

GUESSES = ("all", "before", "none")


# ---- the still picture of the decoder's lesson: a generated word's threads, and the next word ------------------------
def draw_threads(written: Written, data: dict) -> Picture:
    """Returns the selected word's self-attention, cross-attention and next words as a still picture for files."""
    place = (0, written.head, written.row)
    own, cross = (written.stack[f"{written.layer}.{kind}"]["weights"][place] for kind in ("attention", "cross"))
    row = DecoderRow(
        titles=tuple(data["text"][title] for title in ("target", "source", "next")),
        target=written.target,
        source=written.source,
        row=written.row,
        own=own.numpy(),  # (T,)
        cross=cross.numpy(),  # (S,)
        shares=[(each["word"], each["share"]) for each in data["next"][written.row]],
        write=whole_share,
    )
    return decoder_threads(row, current_palette())


# ---- the moving picture of the decoder's lesson: self-attention, cross-attention and next word of each row -----------
THREADS_KEY = "decoder_threads"
MOST_NEXT = 5  # most predicted next words to list, the likeliest first
ROW_STAGES = ("attention", "cross", "writes")


def show_threads(written: Written) -> None:
    """Shows the animated picture of the decoder, and below it the arithmetic of the number that the visitor opened."""
    data = make_threads_data(written)
    first = len(ROW_STAGES) * written.row
    collected().facts += map(escape_markdown, data["told"][first:][: len(ROW_STAGES)])
    collect_still(lambda: draw_threads(written, data), data["text"]["alt"])
    show_moving(
        components.model_decoder,
        data=components.pack_bytes(data),
        key=THREADS_KEY,
        given={"rows": len(written.target)},
        on_row=lambda row: store_choice(ROW_CHOICE, row),
        on_opened=lambda cell: open_sent(written.view(), cell),
    )
    show_open_number(written.view(), written.view)


def make_threads_data(written: Written) -> dict[str, object]:
    """Returns the data of the decoder's animated component, for all generated words."""
    own, cross = (written.stack[f"{written.layer}.{kind}"] for kind in ("attention", "cross"))
    following = list_next_words(written)
    return {
        "run": " ".join((*written.source, *written.target)),
        "source": written.source,
        "target": written.target,
        "layer": written.layer,
        "head": written.head,
        "row": written.row,
        "next": following,
        "told": tell_stages(written, own, cross, following),
        "palette": vars(current_palette()),
        "text": {name: say(f"lessons.decoder.picture.{name}") for name in ("target", "source", "next", "alt")}
        | {"label": say("walk.label"), "play": say("walk.play"), "pause": say("walk.pause")},
        "own": pack_weights(own, written.head),
        "cross": pack_weights(cross, written.head),
    }


def pack_weights(trace: Trace, head: int) -> bytes:
    """Packs the weights of a head as float32 bytes, row by row, one row per generated word."""
    return np.ascontiguousarray(trace["weights"][0, head].numpy(), dtype=np.float32).tobytes()


def list_next_words(written: Written) -> list[list[dict]]:
    """Returns the MOST_NEXT likeliest next words of each row, with their probabilities."""
    trace = written.stack[UNEMBEDDING]
    shares, numbers = trace["probabilities"][0].topk(MOST_NEXT)  # both (T, MOST_NEXT), the likeliest word first
    rows = []
    for row_shares, row_numbers in zip(shares.tolist(), numbers.tolist(), strict=True):
        words = [trace.labels["V"][number] for number in row_numbers]
        rows.append([{"word": word, "share": share} for word, share in zip(words, row_shares, strict=True)])
    return rows


def tell_stages(written: Written, own: Trace, cross: Trace, following: list[list[dict]]) -> list[str]:
    """Returns the sentences about the animation: for each generated word in order, one sentence per stage.

    The stages are self-attention, cross-attention and the next word. own, cross: the runs of self-attention and
    cross-attention. following: for each generated word, the likeliest next words.
    """
    told = []
    for row, words in enumerate(following):
        looks = {"attention": look_of(own, written, row, written.target)}
        looks["cross"] = look_of(cross, written, row, written.source)
        looks["writes"] = (words[0]["word"], words[0]["share"])
        for stage in ROW_STAGES:
            word, share = looks[stage]
            values = {"row": written.target[row], "word": word, "percent": format_percent(share)}
            told.append(say(f"lessons.decoder.told.{stage}", **values))
    return told


def look_of(trace: Trace, written: Written, row: int, words: tuple[str, ...]) -> tuple[str, float]:
    """Returns the word to which a generated word attends most in the selected head, and the weight of this word."""
    weight, at = trace["weights"][0, written.head, row].max(-1)
    return words[int(at)], float(weight)


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        written = choose_written()
    answers = [say(f"lessons.decoder.guess_{name}") for name in GUESSES]
    known = predict(answers, {GUESSES.index("before")})
    if known:
        show_answer("lessons.decoder.fact")
    show_threads(written)
    coming = [each["word"] for each in list_next_words(written)[written.row]]
    show_gloss((*written.source, *written.target, *coming))
    st.caption(say("lessons.decoder.how"))
    show_lesson_run(written.shown(), place)
    draw_drawers(LESSON, written)
