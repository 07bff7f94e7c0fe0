"""Shows a lecture's scenes as tiles that can be reordered, each with a small picture, number, title and minutes."""

import base64
import io

import numpy as np
from PIL import Image

from attention_core.drawing.small_pictures import Shape, map_shapes, shrink_map
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.components import scenes
from pages.lectures import lecture_session
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.kinds.picture import OwnPicture, find_picture_size
from pages.lectures.kinds.text import OwnText
from pages.lectures.lecture_session import OWN_LECTURE
from pages.lectures.script import Scene
from pages.lessons.start.card_pictures import CARD_PICTURES, draw_card
from pages.panels.step import list_step_code
from pages.presentation.builder import move_scene
from pages.presentation.scene_steps import step_of_code
from pages.runs.cache import cache_by_setup, cache_measurement, find_arrays, trace_for
from pages.runs.compute import count_queries_and_keys, gather_inputs
from pages.session.labels import current_palette, selection_of
from pages.setup.setup import Setup
from pages.site.words import current_language, say, say_title, strip_markup

CARD_MAP_CELLS = 16  # most cells per side of a tile's attention map; smaller ones would be invisible
# most query-key pairs of a run whose map is computed for a tile; sixty such runs are fast enough
MAX_CARD_PAIRS = 65_536
MAX_CARD_PICTURE_PIXELS = 8_000_000  # most pixels of an uploaded picture; each needs four bytes of memory
CARD_PICTURE_SIZE_PX = (320, 180)  # px: twice the size of a tile's picture, for high-resolution screens
CARD_LINES, CARD_LINE_CHARS = 5, 40  # most lines on a tile, and most characters of a line


# ---- the content of a card -------------------------------------------------------------------------------------------
def show_scene_cards() -> None:
    """Shows the scenes of the current lecture as tiles ("cards").

    A click selects a scene of the visitor's own lecture, or starts another lecture at that scene.
    """
    session = lecture_session.get_lecture_session()
    is_own = session.name == OWN_LECTURE
    data = {
        "cards": [describe_scene(scene) for scene in lecture_session.current_lecture().scenes],
        "chosen": session.at if is_own else None,
        "movable": is_own,
        "text": {
            word: say(f"present.cards.{word}") for word in ("label", "choose", "start", "grip", "how", "how_touch")
        },
        "palette": vars(current_palette()),
    }
    data["text"]["moved"] = say("present.cards.moved", number="{number}", count="{count}", title="{title}")
    scenes(
        data=data,
        key="scenes",
        given={"scenes": lambda: len(lecture_session.current_lecture().scenes)},
        on_opened=open_scene,
        on_moved=move_own_scene,
    )


def describe_scene(scene: Scene) -> dict[str, object]:
    """Returns the data of a scene's tile for the browser: title, minutes, and a picture as shapes, lines of text, or
    image.
    """
    minutes = say("present.minutes", count=scene.minutes) if scene.minutes else ""
    described = {"title": printable_token(scene.title) or "–", "minutes": minutes}
    try:
        return described | draw_scene(scene)
    except AttentionError:  # the error is shown when the scene is opened
        return described | name_first_step(scene)


def draw_scene(scene: Scene) -> dict[str, object]:
    """Returns the small picture on a scene's tile: an attention map, lines of code or text, or an image.

    Raises AttentionError if the scene's run cannot be computed.
    """
    match scene.shown:
        case Setup() as setup if fits_card(setup):
            return {"shapes": draw_map(setup)}
        case RunCode(setup=setup) if fits_card(setup):
            return {"lines": first_lines(quote_code(setup, current_language())), "code": True}
        case LessonPart(slug=slug) if slug in CARD_PICTURES:
            return {"shapes": draw_card(slug, current_language())}
        case LessonPart(slug=slug):
            return {"lines": [say_title(slug)]}
        case OwnText(text=text):
            return {"lines": [strip_markup(line) for line in first_lines(text)]}
        case OwnPicture(data=data) if image := shrink_picture(data):
            return {"image": image}
    return name_first_step(scene)


def name_first_step(scene: Scene) -> dict[str, object]:
    """Returns the name of a scene's first step as the only line of its tile, for scenes without a small picture."""
    first, *_ = scene.own_steps()
    return {"lines": [say(f"present.scene_step.{first}")]}


def first_lines(text: str) -> list[str]:
    """Returns the first non-blank lines of a text, each cut to the width of a tile."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [line[:CARD_LINE_CHARS] for line in lines[:CARD_LINES]]


# ---- cached small pictures -------------------------------------------------------------------------------------------
def fits_card(setup: Setup) -> bool:
    """Returns whether a run has few enough pairs of tokens to be computed for the picture on a tile.

    Raises AttentionError if the inputs of the run are unavailable.
    """
    queries, keys = count_queries_and_keys(gather_inputs(setup.run, find_arrays(setup.run)))
    return queries * keys <= MAX_CARD_PAIRS


@cache_by_setup
def draw_map(setup: Setup) -> list[Shape]:
    """Returns a small attention map, as shapes, of the head that a Setup selects."""
    trace = trace_for(setup)
    chosen = selection_of(trace, setup)
    place = (chosen.batch, chosen.head)
    weights = trace["weights"][place].float().numpy()  # (T, S)
    allowed = np.isfinite(trace["masked_scores"][place].float().numpy())  # (T, S)
    shown, kept = shrink_map(weights, CARD_MAP_CELLS), shrink_map(allowed, CARD_MAP_CELLS)
    return map_shapes(shown, kept, random=bool(trace.chance.matrices))


@cache_by_setup
def quote_code(setup: Setup, language: str) -> str:
    """Returns the PyTorch code of the step that a Setup opens, from a cache.

    language: the language of the comments, part of the cache key.
    """
    trace = trace_for(setup)
    return list_step_code(trace, step_of_code(trace, setup), "torch")


@cache_measurement
def shrink_picture(data: bytes) -> str:
    """Returns an uploaded picture as a data URL of a small JPEG; "" if the picture is too large or broken."""
    width, height = find_picture_size(data)
    if width * height > MAX_CARD_PICTURE_PIXELS:
        return ""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            picture.thumbnail(CARD_PICTURE_SIZE_PX)
            small = picture.convert("RGBA")
    except (OSError, ValueError, SyntaxError):  # errors that PIL raises for a broken file
        return ""
    paper = Image.new("RGBA", small.size, "white")
    paper.alpha_composite(small)
    file = io.BytesIO()
    paper.convert("RGB").save(file, "JPEG")
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()


# ---- handlers --------------------------------------------------------------------------------------------------------
def open_scene(at: int) -> None:
    """Handles a click on a scene's tile: selects a scene of the visitor's own lecture, or starts another lecture."""
    session = lecture_session.get_lecture_session()
    if session.name == OWN_LECTURE:
        session.at = at
    else:
        lecture_session.start_lecture(at)


def move_own_scene(places: tuple[int, int]) -> None:
    """Handles the drop of a dragged tile: moves the scene of the visitor's own lecture from one index to another."""
    if lecture_session.get_lecture_session().name == OWN_LECTURE:
        move_scene(*places)
