"""The exercise of a scene that shows a lesson: a row of the lesson's run, to calculate by hand."""

from attention_core.documents.slides import SlideExercise
from attention_core.record.errors import AttentionError
from pages.lectures.kinds.lesson import PICTURE_PART, LessonPart
from pages.presentation.setup_slide import find_largest_cell, make_row_exercise
from pages.session.view import make_screen_state
from pages.setup.setup import Setup
from pages.site.words import current_language, say

EXERCISE_STEPS = {  # the step to calculate, by lesson
    "qkv": "q_projected",
    "scale": "scaled_scores",
    "heads": "output",
    "positions": "scores",
    "cross": "weights",
}


def make_lesson_exercise(shown: LessonPart, run: Setup | None) -> SlideExercise | None:
    """The exercise of a lesson's picture, or None. run: what the lesson opens on the workbench; None if nothing."""
    if shown.part != PICTURE_PART or shown.slug not in EXERCISE_STEPS:
        return None
    if run is None:  # the page samples its numbers: an example sentence has few numbers, which are whole
        run = Setup(example=f"{current_language()}_colour", token=4, head=1)
    try:
        screen = make_screen_state(run, None)
    except AttentionError:
        return None
    cell = find_largest_cell(screen.trace, EXERCISE_STEPS[shown.slug], screen.selection)
    return make_row_exercise(screen, cell, say(f"present.files.exercise.{shown.slug}"))
