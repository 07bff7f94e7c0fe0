"""A lecture: scenes with titles and notes, in order; as one JSON file, and as a part of a link."""

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
from pages.setup.setup import MAX_LINK_CHARS, Setup
from pages.setup.setup_file import read_strict_json
from pages.site.words import CONTENT_FOLDER

LATER_STEPS = ("symbol", "shapes")  # the steps that may come before a question: they give no answer away
QUESTION_STEP = "question"
LECTURE_FORMAT = "attention-explorer-lecture"
LECTURE_VERSION = 4  # 1 had no minutes, 2 no kinds: each scene was a state of the workbench; 3 no half minutes
# Characters of a lecture's words: one of long sentences and matrices, and little to keep a session.
MAX_LECTURE_CHARS = 10 * MAX_LINK_CHARS
MAX_LECTURE_PICTURE_BYTES = 3_000_000  # bytes of all its pictures together
MAX_LECTURE_FILE_CHARS = 5_000_000  # characters of a file with such pictures, each 3 bytes of which are 4 letters
MAX_SCENES = 60  # scenes: of a lecture of two hours
SCENE_TEXT_LIMITS = {"title": 120, "note": 2_000, "question": 300}  # characters: what a screen has room for
MAX_SCENE_MINUTES = 120  # minutes: a scene that fills two hours
SHIPPED_LECTURES = ("ten_minutes", "forty_five_minutes")


@dataclass(frozen=True)
class Scene:
    """One scene: what it shows, its title, a note for who speaks, a question to the audience, and which of the steps of
    its kind are gone through. minutes: how long it is spoken about, whole or half ones, 0 where nobody said. unread:
    parts of what it shows that a file had and nobody could read, as (key, text)."""

    shown: SceneContent
    title: str
    note: str = ""
    question: str = ""
    steps: tuple[str, ...] = SCENE_STEPS
    minutes: float = 0
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The name of its kind, one of SCENE_KINDS."""
        return kind_of(self.shown)

    @property
    def setup(self) -> Setup | None:
        """The state of the workbench that it shows, or the code of; None where it shows something else."""
        if isinstance(self.shown, RunCode):
            return self.shown.setup
        return self.shown if isinstance(self.shown, Setup) else None

    def own_steps(self) -> tuple[str, ...]:
        """Its steps without the question: those of its kind that were chosen, or all."""
        of_kind = SCENE_KINDS[self.kind].steps
        chosen = tuple(step for step in self.steps if step in of_kind)
        return chosen or of_kind

    def scene_steps(self, revealed: bool = False) -> tuple[str, ...]:
        """What is seen one after the other: the steps, and the question before the first one that answers it.

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
    """Scenes under a title."""

    title: str
    scenes: tuple[Scene, ...] = ()

    def total_minutes(self) -> float:
        """How long its scenes take together, as far as they say it.

        >>> said, unsaid = Scene(Setup(), "", minutes=3), Scene(Setup(), "")
        >>> Lecture("", (said, unsaid, replace(said, minutes=2))).total_minutes()
        5
        """
        return sum(scene.minutes for scene in self.scenes)

    def planned_minutes(self, at: int) -> tuple[float, float] | None:
        """After how many minutes a scene is meant to begin and to end; None where it or one before it does not say.

        >>> said, unsaid = Scene(Setup(), "", minutes=3), Scene(Setup(), "")
        >>> [Lecture("", (said, said, unsaid)).planned_minutes(at) for at in range(3)]
        [(0, 3), (3, 6), None]
        """
        minutes = [scene.minutes for scene in self.scenes[: at + 1]]
        ends = sum(minutes)
        return (ends - minutes[-1], ends) if all(minutes) else None

    def pictures(self) -> list[OwnPicture]:
        """The pictures of one's own that its scenes show."""
        return [scene.shown for scene in self.scenes if isinstance(scene.shown, OwnPicture)]

    def added(self, scene: Scene) -> "Lecture":
        """With one more scene at its end."""
        return replace(self, scenes=(*self.scenes, scene))

    def changed(self, at: int, **parts) -> "Lecture":
        """With other parts of one scene."""
        scenes = list(self.scenes)
        scenes[at] = replace(scenes[at], **parts)
        return replace(self, scenes=tuple(scenes))

    def removed(self, at: int) -> "Lecture":
        """Without one scene."""
        scenes = list(self.scenes)
        del scenes[at]
        return replace(self, scenes=tuple(scenes))

    def moved(self, at: int, to: int) -> "Lecture":
        """With one scene in another place."""
        scenes = list(self.scenes)
        scene = scenes.pop(at)
        scenes.insert(to, scene)
        return replace(self, scenes=tuple(scenes))


@cache
def load_shipped_lecture(name: str, language: str) -> Lecture:
    """A lecture that comes with the app, in a language."""
    path = CONTENT_FOLDER / language / "lectures" / f"{name}.json"
    return lecture_from_file(path.read_text(encoding="utf-8"))


# ---- as a file -------------------------------------------------------------------------------------------------------
def lecture_to_file(lecture: Lecture) -> str:
    """The text of a file; every scene says how its Setup differs from its example, as a link does."""
    return json.dumps(lecture_to_json(lecture), ensure_ascii=False, indent=2) + "\n"


def lecture_to_json(lecture: Lecture) -> dict:
    """A lecture as JSON has it; what is empty is left out."""
    return {
        "format": LECTURE_FORMAT,
        "version": LECTURE_VERSION,
        "title": lecture.title,
        "scenes": [scene_to_json(scene) for scene in lecture.scenes],
    }


def scene_to_json(scene: Scene) -> dict:
    """A scene as JSON has it; what is empty or usual is left out."""
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
    """The lecture that a file describes. What a scene in it says and nobody can read is kept as the scene's `unread`.

    Raises AttentionError: lecture_too_long, lecture_format, file_version, too_many_scenes, scene_part, picture_bytes,
    picture_kind, picture_size, pictures_too_large, and what read_strict_json raises.
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
    """Raises AttentionError where the words or the pictures of a file are too large: lecture_too_long,
    pictures_too_large."""
    pictures = lecture.pictures()
    picture_bytes = sum(len(picture.data) for picture in pictures)
    if picture_bytes > MAX_LECTURE_PICTURE_BYTES:
        raise AttentionError("pictures_too_large", limit=MAX_LECTURE_PICTURE_BYTES, given=picture_bytes)
    word_chars = len(text) - 4 * picture_bytes // 3  # as base64 writes them
    if word_chars > MAX_LECTURE_CHARS:
        raise AttentionError("lecture_too_long", limit=MAX_LECTURE_CHARS, given=word_chars)


def read_scene(number: int, scene: object) -> Scene:
    """One scene of a file. number: from 1 on, for a refusal."""
    if not isinstance(scene, dict):
        raise AttentionError("scene_part", number=number, name="scene")
    parts = dict(scene)
    kind = parts.pop("kind", WORKBENCH_KIND)
    if kind not in [*SCENE_KINDS]:
        raise AttentionError("scene_part", number=number, name="kind")
    how = SCENE_KINDS[kind]
    try:
        spoken = read_spoken_parts(parts, kind)
        unknown = parts.keys() - {*how.parts}
        if unknown:
            raise UnfitPart(min(unknown))
        shown, unread = how.read(parts)
    except UnfitPart as error:
        raise AttentionError("scene_part", number=number, name=str(error)[:40]) from None
    return Scene(shown, **spoken, unread=unread)


def read_spoken_parts(parts: dict, kind: str) -> dict[str, object]:
    """Takes what scenes of all kinds have out of the parts of one: title, note, question, steps, minutes. Raises
    UnfitPart where one of them is not what it has to be."""
    of_kind = SCENE_KINDS[kind].steps
    usual = SCENE_STEPS if kind == WORKBENCH_KIND else of_kind
    found = {"title": "", "note": "", "question": "", "steps": [*usual], "minutes": 0}
    for name in found:
        found[name] = parts.pop(name, found[name])
        if not is_valid_spoken_part(name, found[name], of_kind):
            raise UnfitPart(name)
    chosen = found["steps"]
    found["steps"] = tuple(step for step in of_kind if step in chosen)  # in their order, each once
    return found


def is_valid_spoken_part(name: str, value: object, of_kind: tuple[str, ...]) -> bool:
    """Whether a part that scenes of all kinds have is what it has to be. of_kind: the steps there are."""
    if name in SCENE_TEXT_LIMITS:
        return isinstance(value, str) and len(value) <= SCENE_TEXT_LIMITS[name]
    if name == "minutes":
        is_number = type(value) in (int, float)  # true is an int, too
        return is_number and 0 <= value <= MAX_SCENE_MINUTES and 2 * value % 1 == 0
    return isinstance(value, list) and bool(value) and all(step in of_kind for step in value)


# ---- as a part of a link ---------------------------------------------------------------------------------------------
def lecture_to_link(lecture: Lecture) -> str:
    """A lecture in letters that an address takes as they are."""
    text = json.dumps(lecture_to_json(lecture), ensure_ascii=False, separators=(",", ":"))
    packed = zlib.compress(text.encode(), 9)
    letters = base64.urlsafe_b64encode(packed).decode()
    return letters.rstrip("=")


def lecture_from_link(text: str) -> Lecture:
    """The lecture that such letters hold. Raises AttentionError: lecture_link, and what lecture_from_file raises."""
    if len(text) > MAX_LINK_CHARS:
        raise AttentionError("lecture_link")
    try:
        padding = "=" * (-len(text) % 4)
        data = base64.b64decode(text + padding, altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj()
        found = unpacking.decompress(data, MAX_LECTURE_CHARS)  # so much and no more: a few letters can hold gigabytes
        if not unpacking.eof:
            raise ValueError
        return lecture_from_file(found.decode())
    except AttentionError:
        raise
    except (ValueError, zlib.error):
        raise AttentionError("lecture_link") from None
