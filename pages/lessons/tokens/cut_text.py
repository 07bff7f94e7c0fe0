"""The picture of the lesson on tokens: one text as words, as pieces that grow, and as characters."""

from attention_core.drawing.specifications import Picture
from attention_core.drawing.token_rows import TokenRow, token_rows
from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.shipped import load_recipe
from attention_core.learned.pieces.byte_pairs import BEGIN, growing_pieces, locate
from attention_core.learned.pieces.shipped import PieceTable, load_pieces
from attention_core.record.number_text import format_grouped
from pages import components
from pages.panels.lesson_choices import get_choice, store_choice
from pages.runs.model_sentences import ModelSentences
from pages.session.collected import collect_still, collected, show_moving
from pages.session.labels import current_palette
from pages.setup.link_values import read_link_count
from pages.site.words import escape_markdown, get_text_template, say

KEY = "tokens"
SPACE_SIGN = "␣"  # how the space before a word is shown in a piece


def show_cut_text(kind: ModelSentences) -> None:
    """Shows a sentence cut in three ways. kind: of the model that reads it."""
    data = make_tokens_data(kind)
    collected().facts += tell_rows(data)
    collect_still(lambda: draw_rows(data), say("lessons.tokens.alt", text=data["original"]))
    show_moving(
        components.tokens,
        data=data,
        key=KEY,
        given={"merges": data["most"] + 1},
        on_merges=lambda merges: store_choice("merges", merges),
    )


# ---- for a file ------------------------------------------------------------------------------------------------------
def find_rows(data: dict) -> list[dict]:
    """The three rows, the pieces at the merges that are looked at."""
    words, pieces, characters = data["rows"]
    stage = [stage for stage in data["stages"] if stage["merges"] <= data["merges"]][-1]
    size = format_grouped(data["unmerged"] + data["merges"])
    note = say("lessons.tokens.picture.note", count=len(stage["tokens"]), size=size)
    return [words, pieces | {"note": note, "tokens": stage["tokens"]}, characters]


def tell_rows(data: dict) -> list[str]:
    """What stands over the three rows, and what is in them."""
    told = []
    for row in find_rows(data):
        shown = " · ".join(token["shown"] for token in row["tokens"])
        told.append(f"{row['name']} ({len(row['tokens'])}): {escape_markdown(shown)}")
    return told


def draw_rows(data: dict) -> Picture:
    """The three rows as a picture that stands."""
    rows = []
    for row in find_rows(data):
        unknown = [place for place, token in enumerate(row["tokens"]) if not token["known"]]
        rows.append(TokenRow(row["name"], row["note"], [token["shown"] for token in row["tokens"]], unknown))
    return token_rows(rows, current_palette())


# ---- what is drawn ---------------------------------------------------------------------------------------------------
def find_table(kind: ModelSentences) -> PieceTable:
    """The pieces of the language that the model reads."""
    return load_pieces(load_recipe(kind.model).language)


def make_tokens_data(kind: ModelSentences) -> dict:
    """All that the component draws."""
    _, *words = kind.own_words()
    text = kind.spell(tuple(words))
    table = find_table(kind)
    most = len(table.merges)
    stages = []
    for merges, pieces in growing_pieces(text, table.merges, table.characters):
        stages.append({"merges": merges, "tokens": describe_pieces(text, pieces)})
    return {
        "original": text,
        "rows": [describe_words(kind, text, words), describe_piece_row(), describe_characters(text)],
        "stages": stages,
        "learned": [[show_piece(merge.left), show_piece(merge.right)] for merge in table.merges],
        "unmerged": table.size - most,
        "most": most,
        "merges": min(get_choice("merges", most, read_link_count), most),
        "label": {name: get_text_template(f"lessons.tokens.picture.{name}") for name in LABELS},
        "palette": vars(current_palette()),
    }


LABELS = ("note", "slider", "told", "none", "play", "pause")


def describe_words(kind: ModelSentences, text: str, words: list[str]) -> dict:
    """The row of words; those that the model does not know are marked."""
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


def describe_piece_row() -> dict:
    """The row of pieces, which the browser fills by the stage that is looked at."""
    return {"name": say("lessons.tokens.row_pieces"), "note": "", "tokens": []}


def describe_characters(text: str) -> dict:
    """The row of characters."""
    characters = [character for character in text if not character.isspace()]
    tokens = []
    for character, (first, last) in zip(characters, locate(text, characters), strict=True):
        tokens.append({"shown": character, "said": character, "first": first, "last": last, "known": True})
    note = say("lessons.tokens.note_characters", count=len(characters), kinds=len(set(characters)))
    return {"name": say("lessons.tokens.row_characters"), "note": note, "tokens": tokens}


def describe_pieces(text: str, pieces: tuple[str, ...]) -> list[dict]:
    """Each piece with the letters that it stands for."""
    described = []
    for piece, (first, last) in zip(pieces, locate(text, pieces), strict=True):
        shown = show_piece(piece)
        described.append({"shown": shown, "said": shown, "first": first, "last": last, "known": True})
    return described


def show_piece(piece: str) -> str:
    """A piece as it is shown: with a sign for the space before a word."""
    return piece.replace(BEGIN, SPACE_SIGN)
