"""A lecture as data: a list of scenes with titles and notes; and its conversion to and from a JSON file or a link."""

import base64
import json
import zlib
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile

from attention_core.record.errors import AttentionError
from pages.lectures.kinds.code import RunCode
from pages.lectures.kinds.parts import UnfitPart
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.scene_kinds import SCENE_KINDS, SCENE_STEPS, WORKBENCH_KIND, SceneContent, kind_of
from pages.setup.codec import MAX_LINK_CHARS
from pages.setup.setup import Setup
from pages.setup.setup_file import read_strict_json
from pages.site.words import CONTENT_FOLDER

LATER_STEPS = ("symbol", "shapes")  # steps that may precede the question, because they do not reveal the answer
QUESTION_STEP = "question"
LECTURE_FORMAT = "attention-explorer-lecture"
LECTURE_VERSION = 4  # earlier formats: 1 without minutes, 2 only workbench scenes, 3 only whole minutes
# Most characters of JSON without pictures: enough for long sentences and matrices, little enough for memory.
MAX_LECTURE_CHARS = 10 * MAX_LINK_CHARS
MAX_LECTURE_PICTURE_BYTES = 3_000_000  # most bytes of all pictures of a lecture
MAX_LECTURE_FILE_CHARS = 5_000_000  # most characters of a file; base64 needs 4 for 3 bytes of a picture
MAX_SCENES = 60  # most scenes, enough for a lecture of two hours
SCENE_TEXT_LIMITS = {"title": 120, "note": 2_000, "question": 300}  # most characters of these texts, to fit on a screen
MAX_SCENE_MINUTES = 120  # most planned minutes of a scene (slide)
SHIPPED_LECTURES = ("ten_minutes", "forty_five_minutes")


@dataclass(frozen=True)
class Scene:
    """A scene (slide) of a lecture: content, title, note for the speaker, question to the audience, and chosen steps.

    minutes: planned duration, a multiple of 0.5; 0 if none is planned. unread: the (key, text) parts of the content
    that could not be read from a file.
    """

    shown: SceneContent
    title: str
    note: str = ""
    question: str = ""
    steps: tuple[str, ...] = SCENE_STEPS
    minutes: float = 0
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The name of the scene's kind, one of SCENE_KINDS."""
        return kind_of(self.shown)

    @property
    def setup(self) -> Setup | None:
        """The Setup of a scene that shows the workbench or code; None for other kinds."""
        if isinstance(self.shown, RunCode):
            return self.shown.setup
        return self.shown if isinstance(self.shown, Setup) else None

    def own_steps(self) -> tuple[str, ...]:
        """Returns the chosen steps that exist in the scene's kind, or all steps of this kind if none is chosen.

        The step that shows the question is not included.
        """
        of_kind = SCENE_KINDS[self.kind].steps
        chosen = tuple(step for step in self.steps if step in of_kind)
        return chosen or of_kind

    def scene_steps(self, revealed: bool = False) -> tuple[str, ...]:
        """Returns the steps in the order in which they are shown.

        A question that is not revealed comes before the first step that answers it. revealed: whether to omit the
        question.

        >>> Scene(Setup(), "", question="Which?").scene_steps()
        ('question', 'journey', 'map', 'cell', 'symbol', 'shapes')
        """
        steps = self.own_steps()
        if revealed or not self.question:
            return steps
        before = [*takewhile(lambda step: step in LATER_STEPS, steps)]
        after = steps[len(before) :]
        return (*before, QUESTION_STEP, *after)


@dataclass(frozen=True)
class Lecture:
    """A lecture: its title and a list of scenes in order."""

    title: str
    scenes: tuple[Scene, ...] = ()

    def total_minutes(self) -> float:
        """The sum of the planned minutes of all scenes (slides); a scene without minutes counts as 0.

        >>> said, unsaid = Scene(Setup(), "", minutes=3), Scene(Setup(), "")
        >>> Lecture("", (said, unsaid, replace(said, minutes=2))).total_minutes()
        5
        """
        return sum(scene.minutes for scene in self.scenes)

    def planned_minutes(self, at: int) -> tuple[float, float] | None:
        """Returns the minutes, from the beginning of the lecture, at which a scene (slide) should begin and end.

        Returns None if this scene or one before it has no planned minutes.

        >>> said, unsaid = Scene(Setup(), "", minutes=3), Scene(Setup(), "")
        >>> [Lecture("", (said, said, unsaid)).planned_minutes(at) for at in range(3)]
        [(0, 3), (3, 6), None]
        """
        minutes = [scene.minutes for scene in self.scenes[: at + 1]]
        ends = sum(minutes)
        return (ends - minutes[-1], ends) if all(minutes) else None

    def pictures(self) -> list[OwnPicture]:
        """Returns the uploaded pictures of all scenes of the lecture."""
        return [scene.shown for scene in self.scenes if isinstance(scene.shown, OwnPicture)]

    def added(self, scene: Scene) -> "Lecture":
        """Returns a copy of the lecture with a scene appended."""
        return replace(self, scenes=(*self.scenes, scene))

    def changed(self, at: int, **parts) -> "Lecture":
        """Returns a copy of the lecture in which the given fields of one scene are replaced."""
        scenes = list(self.scenes)
        scenes[at] = replace(scenes[at], **parts)
        return replace(self, scenes=tuple(scenes))

    def removed(self, at: int) -> "Lecture":
        """Returns a copy of the lecture without one scene."""
        scenes = list(self.scenes)
        del scenes[at]
        return replace(self, scenes=tuple(scenes))

    def moved(self, at: int, to: int) -> "Lecture":
        """Returns a copy of the lecture with one scene moved to another index."""
        scenes = list(self.scenes)
        scene = scenes.pop(at)
        scenes.insert(to, scene)
        return replace(self, scenes=tuple(scenes))


@cache
def load_shipped_lecture(name: str, language: str) -> Lecture:
    """Loads the lecture of SHIPPED_LECTURES with this name, in a language."""
    path = CONTENT_FOLDER / language / "lectures" / f"{name}.json"
    return lecture_from_file(path.read_text(encoding="utf-8"))


# ---- as a file -------------------------------------------------------------------------------------------------------
def lecture_to_file(lecture: Lecture) -> str:
    """Returns the JSON text of a lecture's file.

    A Setup (state of the workbench) is written as its differences from its example.
    """
    return json.dumps(lecture_to_json(lecture), ensure_ascii=False, indent=2) + "\n"


def lecture_to_json(lecture: Lecture) -> dict:
    """Returns a lecture as a JSON object."""
    return {
        "format": LECTURE_FORMAT,
        "version": LECTURE_VERSION,
        "title": lecture.title,
        "scenes": [scene_to_json(scene) for scene in lecture.scenes],
    }


def scene_to_json(scene: Scene) -> dict:
    """Returns a scene (slide of a lecture) as a JSON object; empty parts and defaults are omitted."""
    parts = {}
    if scene.kind != WORKBENCH_KIND:
        parts["kind"] = scene.kind
    for name in SCENE_TEXT_LIMITS:
        text = getattr(scene, name)
        if text:
            parts[name] = text
    if scene.kind == WORKBENCH_KIND:
        parts["steps"] = list(scene.steps)
    if scene.minutes:
        parts["minutes"] = scene.minutes if scene.minutes % 1 else int(scene.minutes)
    return parts | SCENE_KINDS[scene.kind].write(scene.shown)


def lecture_from_file(text: str) -> Lecture:
    """Parses the text of a lecture's file; unreadable parts of a scene's content are stored in the scene's `unread`.

    Raises AttentionError: lecture_too_long, lecture_format, file_version, too_many_scenes, scene_part, picture_bytes,
    picture_kind, picture_size, pictures_too_large, and the errors of read_strict_json.
    """
    if len(text) > MAX_LECTURE_FILE_CHARS:
        raise AttentionError("lecture_too_long", limit=MAX_LECTURE_FILE_CHARS, given=len(text))
    match read_strict_json(text):
        case {
            "format": str(form),
            "version": int(version),
            "title": str(title),
            "scenes": [*scenes],
        }:
            if form != LECTURE_FORMAT or version < 1 or version is True:
                raise AttentionError("lecture_format", expected=LECTURE_FORMAT)
            if version > LECTURE_VERSION:
                printed = str(version)[:20]
                raise AttentionError("file_version", limit=LECTURE_VERSION, given=printed)
        case _:
            raise AttentionError("lecture_format", expected=LECTURE_FORMAT)
    if len(scenes) > MAX_SCENES:
        raise AttentionError("too_many_scenes", limit=MAX_SCENES, given=len(scenes))
    if len(title) > SCENE_TEXT_LIMITS["title"]:
        raise AttentionError("scene_part", number=0, name="title")
    read = []
    for number, scene in enumerate(scenes, start=1):
        read.append(read_scene(number, scene))
    lecture = Lecture(title, tuple(read))
    check_lecture_size(text, lecture)
    return lecture


def check_lecture_size(text: str, lecture: Lecture) -> None:
    """Raises AttentionError if the texts of a lecture file are too long, or its pictures together too large.

    Codes: lecture_too_long, pictures_too_large.
    """
    pictures = lecture.pictures()
    picture_bytes = sum(len(picture.data) for picture in pictures)
    if picture_bytes > MAX_LECTURE_PICTURE_BYTES:
        raise AttentionError("pictures_too_large", limit=MAX_LECTURE_PICTURE_BYTES, given=picture_bytes)
    word_chars = len(text) - 4 * picture_bytes // 3  # characters without pictures; base64 has 4 for 3 bytes
    if word_chars > MAX_LECTURE_CHARS:
        raise AttentionError("lecture_too_long", limit=MAX_LECTURE_CHARS, given=word_chars)


def read_scene(number: int, scene: object) -> Scene:
    """Parses one scene of a file.

    number: the position of the scene in the lecture, from 1, for the error message. Raises AttentionError: scene_part,
    picture_bytes, picture_kind, picture_size.
    """
    if not isinstance(scene, dict):
        raise AttentionError("scene_part", number=number, name="scene")
    parts = dict(scene)
    kind = parts.pop("kind", WORKBENCH_KIND)
    if kind not in [*SCENE_KINDS]:
        raise AttentionError("scene_part", number=number, name="kind")
    how = SCENE_KINDS[kind]
    try:
        spoken = take_common_parts(parts, kind)
        unknown = parts.keys() - {*how.parts}
        if unknown:
            raise UnfitPart(min(unknown))
        shown, unread = how.read(parts)
    except UnfitPart as error:
        raise AttentionError("scene_part", number=number, name=str(error)[:40]) from None
    return Scene(shown, **spoken, unread=unread)


def take_common_parts(parts: dict, kind: str) -> dict[str, object]:
    """Removes from `parts` what every kind of scene may have (title, note, question, steps, minutes), and returns it.

    A missing part gets its default. Raises UnfitPart if a value is invalid.
    """
    of_kind = SCENE_KINDS[kind].steps
    usual = SCENE_STEPS if kind == WORKBENCH_KIND else of_kind
    found = {"title": "", "note": "", "question": "", "steps": [*usual], "minutes": 0}
    for name in found:
        found[name] = parts.pop(name, found[name])
        if not is_valid_common_part(name, found[name], of_kind):
            raise UnfitPart(name)
    chosen = found["steps"]
    found["steps"] = tuple(step for step in of_kind if step in chosen)  # chosen steps in the kind's order, each once
    return found


def is_valid_common_part(name: str, value: object, of_kind: tuple[str, ...]) -> bool:
    """Returns whether a value is valid for a part that every kind of scene may have, such as the title.

    of_kind: all steps of the scene's kind.
    """
    if name in SCENE_TEXT_LIMITS:
        return isinstance(value, str) and len(value) <= SCENE_TEXT_LIMITS[name]
    if name == "minutes":
        is_number = type(value) in (int, float)  # excludes bool, which is a subclass of int
        return is_number and 0 <= value <= MAX_SCENE_MINUTES and 2 * value % 1 == 0
    return isinstance(value, list) and bool(value) and all(step in of_kind for step in value)


# ---- as a part of a link ---------------------------------------------------------------------------------------------
def lecture_to_link(lecture: Lecture) -> str:
    """Returns a lecture as compressed, URL-safe base64."""
    text = json.dumps(lecture_to_json(lecture), ensure_ascii=False, separators=(",", ":"))
    packed = zlib.compress(text.encode(), 9)
    letters = base64.urlsafe_b64encode(packed).decode()
    return letters.rstrip("=")


def lecture_from_link(text: str) -> Lecture:
    """Parses the lecture in a link's text. Raises AttentionError: lecture_link, and the errors of lecture_from_file."""
    if len(text) > MAX_LINK_CHARS:
        raise AttentionError("lecture_link")
    try:
        padding = "=" * (-len(text) % 4)
        data = base64.b64decode(text + padding, altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj()
        # the size is limited, because a short text can expand to gigabytes
        found = unpacking.decompress(data, MAX_LECTURE_CHARS)
        if not unpacking.eof:
            raise ValueError
        return lecture_from_file(found.decode())
    except AttentionError:
        raise
    except (ValueError, zlib.error):
        raise AttentionError("lecture_link") from None
