"""Draws the accordions of the lesson on tokens, and the picture on its page."""

from collections import Counter
from collections.abc import Sequence
from functools import reduce

import streamlit as st

from attention_core.drawing.specifications import Picture
from attention_core.drawing.tiles import TokenRow, token_rows
from attention_core.learned.grammar import vocabulary
from attention_core.learned.grammar.cut_words import match_longest
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.shipped import load_model, load_recipe
from attention_core.learned.pieces.byte_pairs import (
    BEGIN,
    Merge,
    Pieces,
    count_pairs,
    growing_pieces,
    join,
    learn_merges,
    locate,
    split_runs,
)
from attention_core.learned.pieces.shipped import LENGTH_MERGES, load_pieces, measure_lengths
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed, format_grouped
from pages import components
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson
from pages.lessons.sentences import show_sentence
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_options, pick_place, slide, text_box
from pages.panels.markdown_table import make_table
from pages.runs.made_sentences import ModelSentences
from pages.runs.model_runs import model_sentences_of
from pages.session.collected import collect_still, collected, show_moving
from pages.session.labels import current_palette
from pages.setup.link_values import read_link_count
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, get_text_template, say

# ---- the picture of the lesson on tokens: one text as words, as growing pieces, and as characters --------------------
PIECES_KEY = "tokens"
SPACE_SIGN = "␣"  # replaces the space before a word in a displayed subword token


def show_cut_text(kind: ModelSentences) -> None:
    """Shows a sentence split into words, subword tokens and characters.

    kind: the sentence with the model that reads it.
    """
    data = make_tokens_data(kind)
    collected().facts += tell_rows(data)
    collect_still(lambda: draw_rows(data), say("lessons.tokens.alt", text=data["original"]))
    show_moving(
        components.tokens,
        data=data,
        key=PIECES_KEY,
        given={"merges": data["most"] + 1},
        on_merges=lambda merges: store_choice("merges", merges),
    )


# ---- the picture in files --------------------------------------------------------------------------------------------
def find_rows(data: dict) -> list[dict]:
    """Returns the rows of words, subword tokens and characters; subword tokens are those after the selected merges.

    data: the data that was sent to the browser.
    """
    words, pieces, characters = data["rows"]
    stage = [stage for stage in data["stages"] if stage["merges"] <= data["merges"]][-1]
    size = format_grouped(data["unmerged"] + data["merges"])
    note = say("lessons.tokens.picture.note", count=len(stage["tokens"]), size=size)
    return [words, pieces | {"note": note, "tokens": stage["tokens"]}, characters]


def tell_rows(data: dict) -> list[str]:
    """Returns the rows of words, subword tokens and characters as Markdown for exports, each with its name and token
    count.
    """
    told = []
    for row in find_rows(data):
        shown = " · ".join(token["shown"] for token in row["tokens"])
        told.append(f"{row['name']} ({len(row['tokens'])}): {escape_markdown(shown)}")
    return told


def draw_rows(data: dict) -> Picture:
    """Draws the rows of words, subword tokens and characters as a static picture for exported files."""
    rows = []
    for row in find_rows(data):
        unknown = [place for place, token in enumerate(row["tokens"]) if not token["known"]]
        rows.append(TokenRow(row["name"], row["note"], [token["shown"] for token in row["tokens"]], unknown))
    return token_rows(rows, current_palette())


# ---- the data of the picture -----------------------------------------------------------------------------------------
def make_tokens_data(kind: ModelSentences) -> dict:
    """Returns the data from which the browser draws a split sentence: text, rows of words, tokens and characters, and
    labels.
    """
    _, *words = kind.own_words()
    text = kind.spell(tuple(words))
    table = load_pieces(load_recipe(kind.model).language)
    most = len(table.merges)
    stages = []
    for merges, pieces in growing_pieces(text, table.merges, table.characters):
        stages.append({"merges": merges, "tokens": describe_pieces(text, pieces)})
    pieces_row = {"name": say("lessons.tokens.row_pieces"), "note": "", "tokens": []}  # the browser fills in the tokens
    return {
        "original": text,
        "rows": [describe_words(kind, text, words), pieces_row, describe_characters(text)],
        "stages": stages,
        "learned": [[show_piece(merge.left), show_piece(merge.right)] for merge in table.merges],
        "unmerged": table.size - most,
        "most": most,
        "merges": min(get_choice("merges", most, read_link_count), most),
        "label": {name: get_text_template(f"lessons.tokens.picture.{name}") for name in PICTURE_LABELS},
        "palette": vars(current_palette()),
    }


PICTURE_LABELS = ("note", "slider", "told", "none", "play", "pause")


def describe_words(kind: ModelSentences, text: str, words: list[str]) -> dict:
    """Returns the data of the row of words for the browser; a word outside the model's vocabulary is marked as
    unknown.
    """
    in_table = vocabulary(load_recipe(kind.model).language)
    tokens = []
    for word, (first, last) in zip(words, locate(text, words), strict=True):
        is_known = word in in_table
        said = word if is_known else say("lessons.tokens.said_unknown", word=word)
        tokens.append({"shown": word, "said": said, "first": first, "last": last, "known": is_known})
    note = say(
        "lessons.tokens.note_words",
        count=len(words),
        size=format_grouped(len(in_table)),
        unknown=sum(not token["known"] for token in tokens),
    )
    return {"name": say("lessons.tokens.row_words"), "note": note, "tokens": tokens}


def describe_characters(text: str) -> dict:
    """Returns the component data of the row of characters."""
    characters = [character for character in text if not character.isspace()]
    tokens = []
    for character, (first, last) in zip(characters, locate(text, characters), strict=True):
        tokens.append({"shown": character, "said": character, "first": first, "last": last, "known": True})
    note = say("lessons.tokens.note_characters", count=len(characters), kinds=len(set(characters)))
    return {"name": say("lessons.tokens.row_characters"), "note": note, "tokens": tokens}


def describe_pieces(text: str, pieces: tuple[str, ...]) -> list[dict]:
    """Returns the component data of the subword tokens, each with the range of characters that it covers."""
    described = []
    for piece, (first, last) in zip(pieces, locate(text, pieces), strict=True):
        shown = show_piece(piece)
        described.append({"shown": shown, "said": shown, "first": first, "last": last, "known": True})
    return described


def show_piece(piece: str) -> str:
    """Returns a subword token as shown, with SPACE_SIGN in place of the space before a word."""
    return piece.replace(BEGIN, SPACE_SIGN)


# ---- tables of the lesson on tokens, in Markdown ---------------------------------------------------------------------
def draw_table(lines: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Returns a Markdown table.

    lines: (name, cells) with equally many cells; the name is the key of the line's title.
    """
    rows = []
    for name, cells in lines:
        title = say(f"lessons.tokens.line_{name}")
        rows.append([f"**{title}**", *[escape_markdown(cell).replace("|", "\\|") for cell in cells]])
    head, *others = rows
    return make_table(head, others)


# ---- drawer "merges": how are the pieces chosen? ---------------------------------------------------------------------
SMALL_TEXT = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
MOST_RUNS, MOST_MERGES, SHOWN_PAIRS = 40, 10, 6  # most words, most merges, and most rows in the table of pairs


def show_merges(_: Setup) -> None:
    """Shows the pairs of adjacent tokens in a small text with their counts, and the pair that is merged next."""
    text = text_box("small", SMALL_TEXT, check_small_text)
    runs = Counter(split_runs(text))
    merges = learn_merges(runs, MOST_MERGES)
    if not merges:
        st.info(say("lessons.tokens.no_pair"))
        return
    step = slide("step_of", range(len(merges)), 0)
    cut = {run: cut_run(run, merges[:step]) for run in runs}
    pairs = count_pairs(cut, runs)
    merge = merges[step]
    tied = sum(often == merge.count for often in pairs.values())
    show_sentence(
        f"lessons.tokens.merge{'_tied' if tied > 1 else ''}",
        step=step,
        left=escape_markdown(show_piece(merge.left)),
        right=escape_markdown(show_piece(merge.right)),
        count=merge.count,
        tied=tied,
    )
    ordered = sorted(pairs.items(), key=lambda each: (-each[1], each[0]))[:SHOWN_PAIRS]
    names = [f"{show_piece(left)} + {show_piece(right)}" for (left, right), _ in ordered]
    st.markdown(draw_table([("pair", names), ("often", [str(often) for _, often in ordered])]))
    st.markdown(draw_table([("run", [" · ".join(map(show_piece, pieces)) for pieces in cut.values()])]))


def cut_run(run: str, merges: list[Merge]) -> Pieces:
    """Returns the subword tokens of one run of characters after the given merges."""
    return reduce(join, merges, tuple(run))


def check_small_text(text: str) -> None:
    """Raises AttentionError for a text without words, or with too many words."""
    count = len(split_runs(text))
    if not count:
        raise AttentionError("no_tokens")
    if count > MOST_RUNS:
        raise AttentionError("too_many_tokens", limit=MOST_RUNS, given=count)


# ---- drawer "vectors": how does a token become numbers? --------------------------------------------------------------
SHOWN_NUMBERS = 8  # numbers of a word's vector that are shown


def show_vectors(setup: Setup) -> None:
    """Shows a word's index in the vocabulary, and its vector, which is a row of the embedding table."""
    kind = model_sentences_of(setup.run)
    language = load_recipe(kind.model).language
    read = kind.read(kind.own_words())
    place = pick_place("token", list(kind.own_words()), 1)
    number = word_numbers(language)[read[place]]
    row = load_model(kind.model).words[number]
    show_sentence(
        "lessons.tokens.vector",
        token=escape_markdown(read[place]),
        number=format_grouped(number),
        size=format_grouped(len(vocabulary(language))),
        width=len(row),
        shown=SHOWN_NUMBERS,
    )
    numbers = [format_fixed(value) for value in row[:SHOWN_NUMBERS].tolist()]
    columns = [str(column) for column in range(1, len(numbers) + 1)]
    st.markdown(draw_table([("column", columns), ("row", numbers)]))
    link_to_workbench(setup, "vectors")


# ---- drawer "chinese": where does a Chinese word end? ----------------------------------------------------------------
AMBIGUOUS = "研究生命起源"  # ambiguous text: "to study the origin of life" or "a research student's life, origin"
OFFERED_WORDS = {"study": "研究", "student": "研究生", "life": "生命", "origin": "起源"}


def show_chinese_cuts(_: Setup) -> None:
    """Shows a Chinese text split by longest match in a dictionary that the visitor selects, and by characters."""
    names = choose_options("dictionary", tuple(OFFERED_WORDS), tuple(OFFERED_WORDS))
    words = frozenset(OFFERED_WORDS[name] for name in names)
    cuts = {
        "longest": match_longest(AMBIGUOUS, words),
        "without": match_longest(AMBIGUOUS, words.difference([OFFERED_WORDS["student"]])),
        "character": tuple(AMBIGUOUS),
    }
    show_sentence("lessons.tokens.chinese", text=AMBIGUOUS)
    for name, tokens in cuts.items():
        st.markdown(draw_table([(name, tokens)]))


# ---- drawer "lengths": what is the benefit of a large vocabulary? ----------------------------------------------------
def show_lengths(setup: Setup) -> None:
    """Shows, for several numbers of merges, the number of tokens and of pairs in a sentence, and the embedding table's
    size.
    """
    language = load_recipe(model_sentences_of(setup.run).model).language
    rows = measure_lengths(language)
    first, last = rows[0], rows[-1]
    show_sentence(
        "lessons.tokens.lengths",
        characters=format_fixed(first.length, 0),
        pieces=format_fixed(last.length, 0),
        times=format_fixed(first.pairs / last.pairs, 1),
        more=format_grouped(last.vectors - first.vectors),
    )
    columns = {
        "merges": [format_grouped(merges) for merges in LENGTH_MERGES],
        "length": [format_fixed(row.length, 1) for row in rows],
        "pairs": [format_grouped(round(row.pairs)) for row in rows],
        "size": [format_grouped(row.size) for row in rows],
        "vectors": [format_grouped(row.vectors) for row in rows],
    }
    st.markdown(draw_table(list(columns.items())))


LESSON = Lesson(
    "tokens",
    drawers={
        "merges": show_merges,
        "vectors": show_vectors,
        "chinese": show_chinese_cuts,
        "lengths": show_lengths,
    },
)
