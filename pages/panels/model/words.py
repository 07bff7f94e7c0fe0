"""Draws the panel of the next word: a decoder continues a text and shows its KV cache; an encoder fills a blank.

A recorded model does so by reading its text again: longer, or with its mask in place of a token.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention_core.learned.language.batches import MASK
from attention_core.learned.language.read_model import ReadModel, find_model
from attention_core.learned.language.reading import MAX_MODEL_WORDS, run_model
from attention_core.learned.language.readout import with_returned_words, with_word_choices
from attention_core.learned.language.writing import SENTENCE_ENDS, blank_word, drawn_number, pick_word
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed
from attention_core.transformer.stack import UNEMBEDDING, Stack
from attention_core.variants.cached_model import CachedRun, run_cached, write_sentence, write_word
from attention_core.variants.decoding_work import total_work
from pages.components import make_component, pack_bytes
from pages.components.messages import PART_CELL, Anything, Maybe, OneOf, Place
from pages.panels.model import OWN, Panel, ShownRuns, Table, make_table, predicts_words
from pages.panels.model_guess import tell_sign
from pages.panels.model_look import BlockView, make_view, open_sent, show_open_number
from pages.panels.model_rail import words_of_model
from pages.panels.recorded_text import ask_for_text, find_source
from pages.panels.setup_controls import show_refusal, try_made_change
from pages.panels.word_choices import WORD_CHOICES, describe_cuts, describe_temperature, take_word_choices
from pages.runs.checkpoint_store import WantedText
from pages.runs.model_runs import model_of, model_sentences_of, model_vocabulary
from pages.session import setup_state
from pages.session.fragments import redraw, select_and_redraw
from pages.session.labels import current_palette
from pages.session.view import ScreenState
from pages.setup.codec import check_link_length, check_link_values
from pages.setup.model_fields import WORD_CHOICE_ENDS, WORD_SEEDS, find_written, write_writing
from pages.setup.resolve import word_choices_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

MOST_LIKELY = 10  # most predicted words to show
BUTTONS = ("word", "sentence", "back", "again", "take")
RECORDED_BUTTONS = ("word", "back", "again")
MASKED_BUTTONS = ("show",)
CATEGORY = re.compile("<.+>")  # matches a token that stands for a category of words, such as <thing>
words_component = make_component(
    "model/words",
    '<div class="writing"></div>',
    sends={
        "opened": PART_CELL,
        "picked": Place("vocabulary"),
        "place": Place("words"),
        "done": OneOf((*BUTTONS, *MASKED_BUTTONS)),
        "choices": {
            "word_temperature": Maybe(Anything()),
            "top_k": Maybe(Anything()),
            "top_p": Maybe(Anything()),
            "word_seed": Maybe(Anything()),
        },
    },
)


@dataclass(frozen=True)
class Writing:
    """A text that a decoder continues.

    run: the name of the model, and the words of the sentence on the screen. given: how many of these words are the
    prompt, START included. written: the words generated after the prompt.
    """

    run: tuple[str, tuple[str, ...]]
    given: int
    written: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The text so far: START, the prompt and the generated words."""
        return (*self.run[1][: self.given], *self.written)


def current_writing(screen: ScreenState) -> Writing:
    """Returns the text that the decoder continues: the prompt and the generated words.

    If no word is generated yet, the text is the sentence up to the selected word.
    """
    run = (model_sentences_of(screen.setup.run).model, words_of_model(screen))
    text = screen.setup.view.written
    found = None if text is None else find_written(text, run[1], model_vocabulary(run[0]))
    if found is not None:
        return Writing(run, *found)
    return Writing(run, min(screen.selection.query + 1, len(run[1])))


def draw_words(screen: ScreenState) -> None:
    """Draws the text that a decoder continues; or, for an encoder, the sentence in which it fills a blank.

    A recorded decoder continues its text by reading it again, if it is still open.
    """
    model = model_of(screen.setup.run)
    if not model.reads_all and not model.causal:
        show_hidden(screen)
    elif not model.reads_all:
        show_next_word(screen)
    elif model.causal:
        show_writing(screen)
    else:
        show_blank(screen)


# ---- a recorded decoder, after each word of its text -----------------------------------------------------------------
def show_next_word(screen: ScreenState) -> None:
    """Draws the recorded text and the likeliest words after the selected one; after the last word of the text, a click
    on a likely word makes the model continue the text.
    """
    words, at = words_of_model(screen), min(screen.selection.query, len(words_of_model(screen)) - 1)
    view = view_words(screen, words[: at + 1], words[: at + 1])
    wanted = find_source(screen.setup.run).wanted
    is_last = at == len(words) - 1
    st.markdown(f"#### {say('words.title.decoder', word=escape_markdown(words[at]))}")
    st.caption(say("words.recorded" if is_last else "words.recorded_before"))
    first_written = len(words) - len(wanted.written)
    kinds = ["typed"] * first_written + ["written"] * len(wanted.written)
    kinds[at + 1 :] = ["later"] * (len(words) - at - 1)
    tiles = [{"word": word, "kind": kind} for word, kind in zip(words, kinds, strict=True)]
    offered = RECORDED_BUTTONS if wanted.written else RECORDED_BUTTONS[:1]
    show_words(
        view,
        lambda: view_words(screen, words[: at + 1], words[: at + 1]),
        pack_words(screen.setup, view, tiles, None, offered if is_last else ()),
        len(tiles),
        on_picked=lambda number: write_behind(wanted, number) if is_last else None,
        on_done=lambda what: do_recorded(screen, wanted, what) if what in offered and is_last else None,
        on_place=lambda place: select_and_redraw(token=place),
    )


def do_recorded(screen: ScreenState, wanted: WantedText, what: str) -> None:
    """Lets a recorded decoder read a changed text after a click on a button below the text.

    what: "word" to append the next word, "back" to remove the last one, "again" to remove all appended words.
    """
    if what == "word":
        words = words_of_model(screen)
        shares = view_words(screen, words, words).stack[UNEMBEDDING]["probabilities"][0, -1]
        write_behind(wanted, pick_word(shares, screen.setup.view.word_seed, len(wanted.written)))
    else:
        ask_for_text(replace(wanted, written=wanted.written[:-1] if what == "back" else ()), at_end=True)


def write_behind(wanted: WantedText, number: int) -> None:
    """Lets a recorded decoder read its text with a word appended. number: the word's index in the vocabulary."""
    ask_for_text(replace(wanted, written=(*wanted.written, number)), at_end=True)


# ---- a recorded encoder, at each token of its text -------------------------------------------------------------------
def show_hidden(screen: ScreenState) -> None:
    """Draws the recorded text and the likeliest words at the mask, or at the selected word without one; a click on a
    token lets the model read its text with the mask there.
    """
    words, wanted = words_of_model(screen), find_source(screen.setup.run).wanted
    view = view_hidden(screen)
    at = view.at
    is_masked = wanted.masked is not None
    title = say("words.title.masked") if is_masked else say("words.title.as_read", word=escape_markdown(words[at]))
    st.markdown(f"#### {title}")
    st.caption(say("words.masked" if is_masked else "words.unmasked"))
    kinds = ["blank" if place == wanted.masked else "typed" for place in range(len(words))]
    tiles = [{"word": word, "kind": kind} for word, kind in zip(words, kinds, strict=True)]
    offered = MASKED_BUTTONS if is_masked else ()
    show_words(
        view,
        lambda: view_hidden(screen),
        pack_words(screen.setup, view, tiles, None, offered),
        len(tiles),
        on_picked=lambda number: None,
        on_done=lambda what: ask_for_text(replace(wanted, masked=None), token=at) if what in offered else None,
        on_place=lambda place: ask_for_text(replace(wanted, masked=place), token=place),
    )


def view_hidden(screen: ScreenState) -> BlockView:
    """Returns what a recorded encoder predicts for its masked token, or for the selected token if none is masked.

    The logits are those that the model returned if no linear map computes them.
    """
    words, model = words_of_model(screen), model_of(screen.setup.run)
    masked = find_source(screen.setup.run).wanted.masked
    at = min(screen.selection.query, len(words) - 1) if masked is None else masked
    if predicts_words(model):
        return view_words(screen, words, words, at)
    choices = word_choices_of(screen.setup.view)
    stack = with_returned_words(model.name, run_model(model.name, words), choices)
    return make_view(model.name, words, stack.labelled(words, vocabulary=model.vocabulary), at)


# ---- a decoder continues the text ------------------------------------------------------------------------------------
def show_writing(screen: ScreenState) -> None:
    """Draws the text so far, the likeliest next words and the KV cache."""
    writing = current_writing(screen)
    view = view_words(screen, writing.words, writing.words)
    st.markdown(f"#### {say('words.title.decoder', word=escape_markdown(writing.words[-1]))}")
    st.caption(" ".join(describe_writing(screen, writing, view)))
    show_word_sign(screen)
    typed = [{"word": word, "kind": "typed"} for word in writing.words[: writing.given]]
    written = [{"word": word, "kind": "written"} for word in writing.written]
    left = () if writing.written else writing.run[1][writing.given :]
    later = [{"word": word, "kind": "later"} for word in left]
    run = run_cached(view.name, view.tokens)
    show_words(
        view,
        lambda: view_words(screen, writing.words, writing.words),
        pack_words(screen.setup, view, [*typed, *written, *later], run),
        len([*typed, *written, *later]),
        on_picked=lambda number: write_picked(writing, number),
        on_done=lambda what: do_sent(screen, writing, what),
        on_place=lambda place: end_at(writing, place),
    )


def show_words(view: BlockView, find: Callable[[], BlockView], data: bytes, word_count: int, **acts: Callable) -> None:
    """Draws the picture of the words, then error messages and the arithmetic of the opened number.

    view: the run that predicts a word. find: a function that returns this run again after a click. data: the picture's
    data. word_count: the number of words in the text. acts: {event of the picture: its handler}.
    """
    words_component(
        data=data,
        key="words",
        given={"vocabulary": len(model_vocabulary(view.name)), "words": word_count},
        on_choices=take_word_choices,
        on_opened=lambda cell: open_sent(find(), cell),
        **acts,
    )
    show_refusal(WORD_CHOICES)
    show_refusal("text")
    show_open_number(view, find)


def view_next_word(screen: ScreenState) -> BlockView | None:
    """Returns the run that predicts the next word, or for an encoder the blanked word.

    Returns None if the sentence has no word to replace by a blank.
    """
    model = model_of(screen.setup.run)
    if not model.causal:
        return view_blank(screen) if model.reads_all else view_hidden(screen)
    words = current_writing(screen).words
    return view_words(screen, words, words)


def view_words(screen: ScreenState, words: tuple[str, ...], labels: tuple[str, ...], at: int = -1) -> BlockView:
    """Runs the model on words, and returns the run as a BlockView of the word at one position.

    labels: the labels of the run's token axes. at: the position of that word, whose prediction is shown.
    """
    kind = model_sentences_of(screen.setup.run)
    tokens = kind.read(words)
    stack = run_model(kind.model, tokens).labelled(labels, vocabulary=model_vocabulary(kind.model))
    stack = with_word_choices(kind.model, stack, word_choices_of(screen.setup.view))
    return make_view(kind.model, tokens, stack, at % len(words))


def describe_writing(screen: ScreenState, writing: Writing, view: BlockView) -> list[str]:
    """Returns sentences on the generated text: how exact the cache is, and whether the text is complete.

    The first says how far the logits computed with the cache are from those of the whole run; the text is complete if a
    sentence has ended or the maximum length is reached.
    """
    row = run_cached(view.name, view.tokens).stack[UNEMBEDDING]["logits"][0, 0]
    apart = float((row - view.stack[UNEMBEDDING]["logits"][0, view.at]).abs().max())
    told = [say("words.about", apart=f"{apart:.0e}")]
    if is_full(writing):
        told.append(say("words.full", limit=MAX_MODEL_WORDS))
    elif writing.words[-1] in SENTENCE_ENDS:
        told.append(say("words.ended"))
    if screen.setup.view.word_seed is not None and not is_full(writing):
        told.append(describe_draw(screen.setup, writing))
    return told


def show_word_sign(screen: ScreenState) -> None:
    """Shows a warning beside the predicted words that they are guesses, because the general warning is far above on the
    page.
    """
    sign = tell_sign(screen.setup, words_of_model(screen), of_words=True)
    if sign:
        st.caption(sign)


def describe_draw(setup: Setup, writing: Writing) -> str:
    """Returns the text on the random number that the seed yields for the next word, and on the word sampled with this
    number.
    """
    (word,) = write_on(setup, writing, "word")
    number = drawn_number(setup.view.word_seed, len(writing.written))
    return say("words.draw", seed=setup.view.word_seed, number=format_fixed(number), word=escape_markdown(word))


def is_full(writing: Writing) -> bool:
    """Returns whether the text has MAX_MODEL_WORDS words besides START; the model cannot read more."""
    return len(writing.words) > MAX_MODEL_WORDS


def keep_writing(writing: Writing) -> None:
    """Stores the text in the Setup; if it is too long for a link, stores the error instead."""
    text = write_writing(writing.words[: writing.given], writing.written)
    try:
        check_link_values({"written": text})
        check_link_length(setup_state.current_setup().with_fields(written=text))
    except AttentionError as error:
        setup_state.workbench().refuse(WORD_CHOICES, error)
    else:
        setup_state.workbench().forget_refusals(WORD_CHOICES)
        setup_state.choose_view(written=text)
    redraw()


def write_picked(writing: Writing, number: int) -> None:
    """Adds a clicked predicted word to the text, unless the text has the maximum length.

    number: the word's index in the vocabulary.
    """
    words = model_vocabulary(writing.run[0])
    if not is_full(writing):
        keep_writing(replace(writing, written=(*writing.written, words[number])))


def do_sent(screen: ScreenState, writing: Writing, what: str) -> None:
    """Changes the text after a click on one of the buttons below it.

    what: the button: "word" or "sentence" to generate a word or a sentence, "back" to remove the last word, "again" to
    remove all generated words, "take" to use the text as the sentence.
    """
    match what:
        case "word" | "sentence" if not is_full(writing):
            keep_writing(replace(writing, written=(*writing.written, *write_on(screen.setup, writing, what))))
        case "back":
            end_at(writing, len(writing.words) - 2)
        case "again":
            keep_writing(replace(writing, written=()))
        case "take":
            try_made_change("text", lambda: sentence_change(screen, writing.words))


def write_on(setup: Setup, writing: Writing, what: str) -> tuple[str, ...]:
    """Returns the words that the model generates next: one word, or all up to the end of the sentence.

    what: "word" for one word, "sentence" for all.
    """
    tokens = model_sentences_of(setup.run).read(writing.words)
    arguments = (writing.run[0], tokens, word_choices_of(setup.view), setup.view.word_seed, len(writing.written))
    return (write_word(*arguments),) if what == "word" else write_sentence(*arguments)


def end_at(writing: Writing, place: int) -> None:
    """Cuts the text after a clicked generated word; if the word is part of the prompt, selects the word instead.

    place: the position of the word.
    """
    shown = writing.words if writing.written else writing.run[1]
    if writing.given <= place < len(writing.words):
        keep_writing(replace(writing, written=writing.written[: place + 1 - writing.given]))
    elif place in range(len(shown)):
        look = setup_state.choose_view if writing.written else setup_state.look_at
        look(token=place, written=None)
        redraw()


def sentence_change(screen: ScreenState, words: tuple[str, ...]) -> dict:
    """Returns the Setup fields that replace the sentence (in a batch, the selected one) and select its last word.

    Raises AttentionError: category_word, or no_tokens if START is the only word.
    """
    for word in words[1:]:
        if CATEGORY.fullmatch(word):
            raise AttentionError("category_word", token=word)
    text = model_sentences_of(screen.setup.run).spell(words)
    model_sentences_of(screen.setup.run).tokens_of(text)
    change = {"token": len(words) - 1, "cell": None}
    number = screen.selection.batch
    if number == 0:
        return {**change, "text": text}
    lines = [line for line in screen.setup.run.more.splitlines() if line.strip()]
    return {**change, "more": "\n".join((*lines[: number - 1], text, *lines[number:]))}


# ---- an encoder fills a blank ----------------------------------------------------------------------------------------
def show_blank(screen: ScreenState) -> None:
    """Draws the sentence with a blank in place of one word, and the likeliest words for the blank."""
    words, view = words_of_model(screen), view_blank(screen)
    if view is None:
        st.caption(say("words.nothing"))
        return
    at = view.at

    def select_to_blank(place: int) -> None:
        if 0 < place < len(words):
            select_and_redraw(token=place)

    st.markdown(f"#### {say('words.title.encoder', word=escape_markdown(words[at]))}")
    st.caption(say("words.blank"))
    show_word_sign(screen)
    kinds = {0: "start", at: "blank"}
    tiles = [{"word": word, "kind": kinds.get(place, "typed")} for place, word in enumerate(words)]
    show_words(
        view,
        lambda: view_blank(screen),
        pack_words(screen.setup, view, tiles, None),
        len(tiles),
        on_picked=lambda number: fill_blank(screen, at, number),
        on_place=select_to_blank,
    )


def view_blank(screen: ScreenState) -> BlockView | None:
    """Returns the run on the sentence with a blank in place of the selected word; None if no word can be replaced."""
    words = words_of_model(screen)
    if len(words) < 2:
        return None
    at = max(1, min(screen.selection.query, len(words) - 1))
    blanked = blank_word(words, at)
    return view_words(screen, blanked, blanked, at)


def fill_blank(screen: ScreenState, at: int, number: int) -> None:
    """Called with a clicked prediction: puts the word in place of the blank.

    at: the position of the blank. number: the index of the predicted word in the vocabulary.
    """
    known, words = model_vocabulary(model_sentences_of(screen.setup.run).model), words_of_model(screen)
    if known[number] != MASK:
        filled = (*words[:at], known[number], *words[at + 1 :])
        try_made_change("text", lambda: {**sentence_change(screen, filled), "token": at})


# ---- the data of the component ---------------------------------------------------------------------------------------
def pack_words(
    setup: Setup, view: BlockView, tiles: list[dict], run: CachedRun | None, offered: tuple[str, ...] = ()
) -> bytes:
    """Returns the data of the picture of the words as bytes: words, likeliest words, controls, texts and logits.

    tiles: the words of the text. run: the run with a KV cache; None for an encoder, and for a recorded model. offered:
    the buttons to show if there is no such run.
    """
    logits = view.stack[UNEMBEDDING]["logits"][0, view.at]
    model = find_model(view.name)
    form = "decoder" if model.causal else "encoder"
    tiles_form = form if model.reads_all or not model.causal else "recorded"
    is_filled = model.reads_all or (model.causal and bool(offered))
    picks, buttons = form if is_filled else "recorded", BUTTONS if run else offered
    data = {
        "tiles": tiles,
        "words": make_word_rows(view),
        "sliders": {"temperature": describe_temperature(setup), **describe_cuts(setup)},
        "seed": describe_seed(setup),
        "cache": None if run is None else describe_cache(run, view.tokens),
        "palette": vars(current_palette()),
        "text": {
            "tiles": say(f"words.tiles.{tiles_form}"),
            "bars": say(f"words.bars.{form}"),
            "pick": say(f"words.pick.{picks}", word="{word}"),
            "cut": say("words.cut"),
            "buttons": {name: say(f"words.button.{name}") for name in buttons},
        },
    }
    return pack_bytes({**data, "numbers": logits.numpy().astype(np.float32).tobytes()})


def make_word_rows(view: BlockView) -> list[dict]:
    """Returns the likeliest words, each with its probability and with the cell of the run that has this probability."""
    trace = view.stack[UNEMBEDDING]
    likeliest = trace["logits"][0, view.at].topk(MOST_LIKELY).indices.tolist()
    shares = trace["probabilities"][0, view.at]
    words = model_vocabulary(view.name)
    return [
        {
            "word": words[number],
            "number": number,
            "share": float(shares[number]),
            "cell": {"part": UNEMBEDDING, "step": "probabilities", "index": [0, view.at, number]},
        }
        for number in likeliest
    ]


def describe_seed(setup: Setup) -> dict:
    """Returns the data of the control that chooses between the likeliest next word and a sampled one, with a seed."""
    texts = {name: say(f"words.seed.{name}") for name in ("label", "likeliest", "drawn", "seed")}
    return {"value": setup.view.word_seed, "ends": WORD_SEEDS, **texts}


def describe_cache(run: CachedRun, words: tuple[str, ...]) -> dict:
    """Returns the data of the KV cache: a row per layer, a column per word, the size, and how many queries it saved."""
    nbytes = run.nbytes
    rows, without = total_work(run.count).queries, total_work(run.count, cached=False).queries
    return {
        "columns": words,
        "layers": [say("model.layer", layer=part.partition(".")[0]) for part in nbytes],
        "title": say("words.cache.title", kilobytes=f"{sum(nbytes.values()) / 1000:.1f}"),
        "rows": say("words.cache.rows", rows=rows, without=without),
    }


# ---- proof, files and record -----------------------------------------------------------------------------------------
def list_runs(screen: ScreenState) -> ShownRuns | None:
    """Returns the runs to prove: the run that predicts the next word, computed as a whole and with a cache.

    For an encoder, the run to prove is the one with a blank; returns None if there is no word to replace by a blank.
    """
    choices = tuple(getattr(screen.setup.view, name) for name in WORD_CHOICE_ENDS)
    model = model_of(screen.setup.run)
    if not model.causal and not model.reads_all:
        return ShownRuns((choices, screen.selection.query), lambda: {OWN: view_hidden(screen).stack})
    if not model.causal:
        at, is_empty = screen.selection.query, len(words_of_model(screen)) < 2
        return None if is_empty else ShownRuns((choices, at), lambda: {OWN: view_blank(screen).stack})
    writing = current_writing(screen)

    def find() -> dict[str, Stack]:
        view = view_words(screen, writing.words, writing.words)
        if not model.reads_all:
            return {OWN: view.stack}
        return {OWN: view.stack, "cached": run_cached(view.name, view.tokens).stack}

    return ShownRuns((choices, writing.words), find)


def list_tables(screen: ScreenState) -> Iterator[Table]:
    """Yields the table to export: the probability of each word of the vocabulary as the next word, or in the blank."""
    view = view_next_word(screen)
    if view is not None:
        shares = view.stack[UNEMBEDDING]["probabilities"][0, view.at]  # (B, T, V) -> (V,)
        yield make_table("next_word", shares, V=model_vocabulary(view.name))


def find_lack(model: ReadModel) -> str | None:
    """Returns what a model lacks for the panel: "logits", or for a masked model "mask"; None if it lacks nothing."""
    if model.causal:
        return None if predicts_words(model) else "logits"
    if not model.vocabulary:
        return "logits"
    return None if model.fills_masks else "mask"


PANEL = Panel(
    place=3,
    depends_on=("word_temperature", "top_k", "top_p", "word_seed", "written"),
    draw=draw_words,
    runs=list_runs,
    tables=list_tables,
    predicts_words=True,
    find_lack=find_lack,
)
