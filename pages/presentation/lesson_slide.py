"""Makes the slide of a scene that shows a part of a lesson.

The part is drawn once, so that its content can be collected, and is then removed from the screen again.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

import streamlit as st

from attention_core.documents.picture_files import svg_text
from attention_core.documents.provenance import Provenance
from attention_core.documents.slides import STILL_PART, MovingPart, Slide, SlideExercise, SlidePicture
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.record.errors import AttentionError
from pages import components
from pages.lectures.kinds.lesson import PICTURE_PART, LessonPart
from pages.lectures.script import Lecture, Scene
from pages.panels import lesson_choices
from pages.presentation.scene_steps import draw_lesson_part, forget_begun_lesson
from pages.presentation.setup_slide import find_largest_cell, make_row_exercise, make_run_picture
from pages.session.collected import CollectedPart, collect_part
from pages.session.staged import StagedPart
from pages.session.view import make_screen_state
from pages.setup.setup import Setup, make_setup
from pages.site.catalog import LESSONS
from pages.site.words import current_language, say, strip_markup

DRAWN_PARTS_KEY = "drawn_lesson_parts"  # session key of the collected parts, {(part, language): content}
MAX_DRAWN_PARTS = 60  # most parts that are kept, one for each scene of a lecture
TOLD_KINDS = ("line", "caption")  # kinds of texts beside a slider that a slide lists as lines
MAX_SLIDE_PICTURES = 3  # most pictures on a slide beside its sentences

DrawnParts = dict[LessonPart, CollectedPart]


def draw_next_part(lecture: Lecture) -> tuple[DrawnParts, int]:
    """Draws the first part of a lesson that the lecture shows and that was not drawn yet, to collect its content.

    Returns {part: its content} for the drawn parts, and how many parts are not drawn yet.
    """
    kept = st.session_state.setdefault(DRAWN_PARTS_KEY, {})
    language = current_language()
    parts = dict.fromkeys(scene.shown for scene in lecture.scenes if isinstance(scene.shown, LessonPart))
    waiting = [part for part in parts if (part, language) not in kept]
    if waiting:
        part = waiting.pop(0)
        while len(kept) >= MAX_DRAWN_PARTS:
            del kept[next(iter(kept))]
        kept[part, language] = collect_lesson_part(part)
    drawn = {part: kept[part, language] for part in parts if (part, language) in kept}
    return drawn, len(waiting)


def collect_lesson_part(part: LessonPart) -> CollectedPart:
    """Draws a part of a lesson, removes it from the screen, and returns its collected content."""
    place = st.empty()
    with place.container():
        lesson_choices.enter_lesson_on_stage(part.slug, dict(part.choices))
        staged = StagedPart(part.part, st.container(key="collected_part"), is_answered=part.slug in LESSONS)
        with collect_part() as collected:
            draw_lesson_part(part.slug, staged)
    place.empty()
    forget_begun_lesson()
    return collected


def make_lesson_slide(scene: Scene, drawn: CollectedPart, address: str) -> Slide:
    """Returns the slide of a scene that shows a part of a lesson, from the part's collected content.

    address: the address of the workbench, the root of the app.
    """
    choices = urlencode({**dict(scene.shown.choices), "lang": current_language()})
    link = f"{address.rstrip('/')}/{scene.shown.slug}?{choices}"
    provenance = Provenance(scene.title, link, (say("export.made_with"),))
    pictures = []
    for picture, alt in drawn.pictures[:MAX_SLIDE_PICTURES]:
        svg = svg_text(picture, provenance, LIGHT_PALETTE, is_titled=False)
        pictures.append(SlidePicture(svg.encode(), alt))
    moving = choose_moving(drawn)
    if not pictures and drawn.run is not None:
        picture, way_of_query = make_run_picture(drawn.run, scene.title, address)
        pictures.append(picture)
        moving = moving or way_of_query
    told = (*drawn.facts, *list_told(drawn)) or drawn.sentences
    said = list(map(strip_markup, told))
    code, code_beside, *_ = *drawn.code, "", ""
    # the part has content that cannot be collected, such as a table or a start button
    if not (said or pictures or moving or code):
        said = ["", say("present.files.in_app", step=scene.title)]
    return Slide(
        title=scene.title,
        question=scene.question,
        answer=said[0] if said else "",
        pictures=tuple(pictures),
        moving=moving,
        moved=len(pictures),
        figures=(*map(strip_markup, dict.fromkeys(drawn.warnings)), *said[1:]),
        code=code,
        code_beside=code_beside,
        notes=scene.note,
        minutes=scene.minutes,
        link=link,
        source=say("export.made_with"),
        exercise=make_lesson_exercise(scene.shown, drawn.run),
    )


def list_told(drawn: CollectedPart) -> list[str]:
    """Returns the texts (lines and captions) that a part of a lesson shows at the current position of its slider."""
    told = []
    for part in drawn.moving:
        if part.name == components.live_text.name and part.data["kind"] in TOLD_KINDS:
            text = "".join(part.data["texts"][part.data["position"]])
            if text:
                told.append(text)
    return told


def choose_moving(drawn: CollectedPart) -> tuple[MovingPart, ...]:
    """Returns the animated components of a lesson part for a file, with the pictures without animation between them.

    Sliders that need the server are left out. The animation of a query through the layer (flow) is left out, too, if
    the lesson has another animated component, because key presses would scroll it out of view.
    """
    parts = []
    for part in drawn.moving:
        is_beyond_slide = part.name == STILL_PART and part.data["at"] >= MAX_SLIDE_PICTURES
        if not is_beyond_slide and not is_waited_for(part, drawn.moving):
            parts.append(part)
    flow = [part for part in parts if part.name == components.flow.name]
    others = [part for part in parts if part.name != components.flow.name]
    has_own = any(part.name != STILL_PART for part in others)
    return tuple(others if has_own else flow)


def is_waited_for(part: MovingPart, parts: Iterable[MovingPart]) -> bool:
    """Returns whether a component is a slider that other components follow only through the server."""
    if part.name != components.live_slider.name:
        return False
    following = (each.data for each in parts if isinstance(each.data, Mapping))
    return any(part.data["of"] in data.get("waits_for", ()) for data in following)


# ---- the exercise of a scene that shows a lesson: a row of the lesson's run, to calculate by hand --------------------
EXERCISE_STEPS = {  # lesson -> the step that the exercise on its slide asks for
    "qkv": "q_projected",
    "scale": "scaled_scores",
    "heads": "output",
    "positions": "scores",
    "cross": "weights",
}


def make_lesson_exercise(shown: LessonPart, run: Setup | None) -> SlideExercise | None:
    """Returns the exercise for a slide that shows a lesson's picture: one row of numbers to calculate by hand.

    Returns None if the lesson has no exercise, or if its run cannot be computed. run: the Setup that the lesson opens
    on the workbench; None if it opens none, in which case the exercise uses an example with small whole numbers.
    """
    if shown.part != PICTURE_PART or shown.slug not in EXERCISE_STEPS:
        return None
    if run is None:  # a lesson without a run gets an example with small whole numbers
        run = make_setup(example=f"{current_language()}_colour", token=4, head=1)
    try:
        screen = make_screen_state(run, None)
    except AttentionError:
        return None
    cell = find_largest_cell(screen.trace, EXERCISE_STEPS[shown.slug], screen.selection)
    return make_row_exercise(screen, cell, say(f"present.files.exercise.{shown.slug}"))
