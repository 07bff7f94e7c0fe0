"""The scenes of a lecture as cards: a small picture of each, its number, title and minutes; they are put in order
here."""

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
from pages.presentation.own_scenes import step_of_code
from pages.runs.cache import cache_by_setup, cache_measurement, find_arrays, trace_for
from pages.runs.compute import count_queries_and_keys, gather_inputs
from pages.session.labels import current_palette, selection_of
from pages.setup.setup import Setup
from pages.site.titles import say_title
from pages.site.words import current_language, say, strip_markup

CARD_MAP_CELLS = 16  # cells of a side: more of them are too small to be seen on a card
MAX_CARD_PAIRS = 65_536  # pairs of a query and a key: sixty such runs are computed while one waits
MAX_CARD_PICTURE_PIXELS = 8_000_000  # pixels of a picture that is made smaller: four bytes each while it is
CARD_PICTURE_SIZE_PX = (320, 180)  # pixels: twice a card's, for fine screens
CARD_LINES, CARD_LINE_CHARS = 5, 40  # of words or code: what a card has room for


# ---- what stands on a card -------------------------------------------------------------------------------------------
def show_scene_cards() -> None:
    """The cards; a click shows the lecture from there on, or of one's own chooses the scene to work on."""
    session = lecture_session.get_lecture_session()
    is_own = session.name == OWN_LECTURE
    data = {
        "cards": [describe_scene(scene) for scene in lecture_session.current_lecture().scenes],
        "chosen": session.at if is_own else None,
        "movable": is_own,
        "text": {word: say(f"present.cards.{word}") for word in ("label", "choose", "start", "grip", "how")},
        "palette": vars(current_palette()),
    }
    data["text"]["moved"] = say("present.cards.moved", number="{number}", count="{count}", title="{title}")
    scenes(
        data=data,
        key="scenes",
        given={"scenes": lambda: len(lecture_session.current_lecture().scenes)},
        on_opened=open_scene,
        on_moved=lambda places: move_own_scene(*places),
    )


def describe_scene(scene: Scene) -> dict[str, object]:
    """A card's title and minutes, and its picture: shapes, lines, or an image; lines where there is none."""
    minutes = say("present.minutes", count=scene.minutes) if scene.minutes else ""
    described = {"title": printable_token(scene.title) or "–", "minutes": minutes}
    try:
        return described | draw_scene(scene)
    except AttentionError:  # the scene itself says why
        return described | name_first_step(scene)


def draw_scene(scene: Scene) -> dict[str, object]:
    """The picture of what a scene shows. Raises AttentionError where its run cannot be computed."""
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
    """What a scene without a small picture begins with."""
    first, *_ = scene.own_steps()
    return {"lines": [say(f"present.scene_step.{first}")]}


def first_lines(text: str) -> list[str]:
    """The first lines of a text in which something stands, each cut to a card's width."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [line[:CARD_LINE_CHARS] for line in lines[:CARD_LINES]]


# ---- small pictures, made once ---------------------------------------------------------------------------------------
def fits_card(setup: Setup) -> bool:
    """Whether a run is small enough to be computed for a card. Raises AttentionError where it cannot be, or is away."""
    queries, keys = count_queries_and_keys(gather_inputs(setup, find_arrays(setup)))
    return queries * keys <= MAX_CARD_PAIRS


@cache_by_setup
def draw_map(setup: Setup) -> list[Shape]:
    """The map of the head that a state of the workbench looks at."""
    trace = trace_for(setup)
    chosen = selection_of(trace, setup)
    place = (chosen.batch, chosen.head)
    weights = trace["weights"][place].float().numpy()  # (T, S)
    allowed = np.isfinite(trace["masked_scores"][place].float().numpy())  # (T, S)
    shown, kept = shrink_map(weights, CARD_MAP_CELLS), shrink_map(allowed, CARD_MAP_CELLS)
    return map_shapes(shown, kept, random=bool(trace.chance.matrices))


@cache_by_setup
def quote_code(setup: Setup, language: str) -> str:
    """The code of the step that a state of the workbench opens; language: of its comments."""
    trace = trace_for(setup)
    return list_step_code(trace, step_of_code(trace, setup), "torch")


@cache_measurement
def shrink_picture(data: bytes) -> str:
    """A picture of one's own as a small JPEG in an address; nothing where it is too large or broken."""
    width, height = find_picture_size(data)
    if width * height > MAX_CARD_PICTURE_PIXELS:
        return ""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            picture.thumbnail(CARD_PICTURE_SIZE_PX)
            small = picture.convert("RGBA")
    except (OSError, ValueError, SyntaxError):  # what PIL raises of a broken file
        return ""
    paper = Image.new("RGBA", small.size, "white")
    paper.alpha_composite(small)
    file = io.BytesIO()
    paper.convert("RGB").save(file, "JPEG")
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()


# ---- what is done with a card ----------------------------------------------------------------------------------------
def open_scene(at: int) -> None:
    """Works on the scene whose card was clicked, or shows a lecture that comes with the app from there on."""
    session = lecture_session.get_lecture_session()
    if session.name == OWN_LECTURE:
        session.at = at
    else:
        lecture_session.start_lecture(at)


def move_own_scene(was: int, to: int) -> None:
    """Moves a scene of one's own to where its card was put."""
    if lecture_session.get_lecture_session().name == OWN_LECTURE:
        move_scene(was, to)
