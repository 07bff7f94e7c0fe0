"""The drawers of the lesson on the worked example, by the names that open them in a link."""

from attention_core.exercises.stages import STAGES
from pages.lessons.frame import Lesson
from pages.lessons.printed.drawers.error_origins import show_error_origins
from pages.lessons.printed.drawers.onward_run import show_onward_run
from pages.lessons.printed.drawers.own_exercise import show_own_exercise
from pages.lessons.printed.drawers.rounding import show_rounding

LESSON = Lesson(
    "printed",
    drawers={
        "begin": show_error_origins,
        "own": show_own_exercise,
        "rounding": show_rounding,
        "onward": show_onward_run,
    },
    code=tuple(STAGES.values()),
)
