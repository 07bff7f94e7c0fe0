"""Lists the kinds of scenes (slides). Each kind has a record of its content, a JSON parser and writer, and steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pages.lectures.kinds.code import CODE_PARTS, RunCode, read_code, write_code
from pages.lectures.kinds.lesson import LESSON_PARTS, LessonPart, read_lesson, write_lesson
from pages.lectures.kinds.parts import UnreadPart
from pages.lectures.kinds.picture import PICTURE_PARTS, OwnPicture, read_own_picture, write_own_picture
from pages.lectures.kinds.text import TEXT_PARTS, OwnText, read_own_text, write_own_text
from pages.lectures.kinds.workbench import WORKBENCH_PARTS, read_workbench, write_workbench
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup

SceneContent = Setup | LessonPart | RunCode | OwnText | OwnPicture  # the content of a scene, one class per kind
SCENE_STEPS = ("journey", "map", "cell", "symbol", "shapes")  # steps of a slide: pictures first, formulas last
MODEL_STEPS = ("journey", "map", "model", "cell", "symbol", "shapes")  # the same with a language model's panel
WORKBENCH_KIND = "workbench"


@dataclass(frozen=True)
class SceneKind:
    """A kind of scene (slide of a lecture), such as a text or a part of a lesson.

    record: the type of the scene's content. parts: the names of its JSON parts. read: a function that converts these
    parts to the record, and returns the parts that could not be read. write: a function that converts the record to the
    parts. steps: all possible steps of such a scene, in order.
    """

    record: type
    parts: tuple[str, ...]
    read: Callable[[Mapping[str, object]], tuple[SceneContent, tuple[UnreadPart, ...]]]
    write: Callable[[SceneContent], dict[str, object]]
    steps: tuple[str, ...]


SCENE_KINDS = {
    WORKBENCH_KIND: SceneKind(Setup, WORKBENCH_PARTS, read_workbench, write_workbench, MODEL_STEPS),
    "lesson": SceneKind(LessonPart, LESSON_PARTS, read_lesson, write_lesson, ("lesson",)),
    "code": SceneKind(RunCode, CODE_PARTS, read_code, write_code, ("code",)),
    "text": SceneKind(OwnText, TEXT_PARTS, read_own_text, write_own_text, ("text",)),
    "picture": SceneKind(OwnPicture, PICTURE_PARTS, read_own_picture, write_own_picture, ("picture",)),
}


def kind_of(shown: SceneContent) -> str:
    """Returns the kind of the content of a scene (slide of a lecture), a key of SCENE_KINDS.

    >>> kind_of(Setup()), kind_of(OwnText("Hello"))
    ('workbench', 'text')
    """
    (name,) = (name for name, kind in SCENE_KINDS.items() if isinstance(shown, kind.record))
    return name


def steps_of(shown: SceneContent) -> tuple[str, ...]:
    """Returns all possible steps of a scene (slide of a lecture), in order; those of a language model if its Setup uses
    one, or a pretrained model with all its layers.

    >>> steps_of(OwnText("Hello"))
    ('text',)
    """
    if isinstance(shown, Setup) and resolve_run(shown.run).layer is None:
        return SCENE_STEPS
    return SCENE_KINDS[kind_of(shown)].steps
