"""A lecture: Setups with titles and notes, in order; as one JSON file, and as a part of a link."""

import base64
import json
import zlib
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile

from attention_core.record.errors import AttentionError
from pages.setup.setup import MAX_LINK_CHARS, Setup, model_of, setup_from_link, setup_to_link
from pages.setup.setup_file import read_strict_json
from pages.site.words import CONTENT_FOLDER

SCENE_STEPS = ("journey", "map", "cell", "symbol", "shapes")  # pictures first, formulas last
MODEL_STEPS = ("journey", "map", "model", "cell", "symbol", "shapes")  # of a language model, with what it is asked
ANSWERING_STEPS = ("journey", "map", "model", "cell")  # the steps that give a question's answer away
QUESTION_STEP = "question"
LECTURE_FORMAT = "attention-explorer-lecture"
LECTURE_VERSION = 2  # 1 had no minutes
# Characters of a file: a lecture of long sentences and matrices, and little to keep a session.
MAX_LECTURE_CHARS = 10 * MAX_LINK_CHARS
MAX_SCENES = 60  # scenes: of a lecture of two hours
SCENE_TEXT_LIMITS = {"title": 120, "note": 2_000, "question": 300}  # characters: what a screen has room for
MAX_SCENE_MINUTES = 120  # minutes: a scene that fills two hours
SHIPPED_LECTURES = ("ten_minutes",)


@dataclass(frozen=True)
class Scene:
    """One scene: what it shows, its title, a note for who speaks, a question to the audience, and which of MODEL_STEPS
    are gone through. minutes: how long it is spoken about, 0 where nobody said. unread: parts of its Setup that a file
    had and nobody could read, as (key, text)."""

    setup: Setup
    title: str
    note: str = ""
    question: str = ""
    steps: tuple[str, ...] = SCENE_STEPS
    minutes: int = 0
    unread: tuple[tuple[str, str], ...] = ()

    def scene_steps(self, revealed: bool = False) -> tuple[str, ...]:
        """What is seen one after the other: the steps, and the question before the first one that answers it.

        >>> Scene(Setup(), "", question="Which?").scene_steps()
        ('question', 'journey', 'map', 'cell', 'symbol', 'shapes')
        """
        if revealed or not self.question:
            return self.steps
        before = [*takewhile(lambda step: step not in ANSWERING_STEPS, self.steps)]
        after = self.steps[len(before) :]
        return (*before, QUESTION_STEP, *after)


@dataclass(frozen=True)
class Lecture:
    """Scenes under a title."""

    title: str
    scenes: tuple[Scene, ...] = ()

    def total_minutes(self) -> int:
        """How long its scenes take together, as far as they say it.

        >>> said, unsaid = Scene(Setup(), "", minutes=3), Scene(Setup(), "")
        >>> Lecture("", (said, unsaid, replace(said, minutes=2))).total_minutes()
        5
        """
        return sum(scene.minutes for scene in self.scenes)

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


def steps_of(setup: Setup) -> tuple[str, ...]:
    """The steps that a scene may be gone through by."""
    return SCENE_STEPS if model_of(setup) is None else MODEL_STEPS


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
    """A scene as JSON has it; what is empty is left out."""
    parts = {}
    for name in SCENE_TEXT_LIMITS:
        text = getattr(scene, name)
        if text:
            parts[name] = text
    parts["steps"] = list(scene.steps)
    if scene.minutes:
        parts["minutes"] = scene.minutes
    parts["setup"] = setup_to_link(scene.setup)
    return parts


def lecture_from_file(text: str) -> Lecture:
    """The lecture that a file describes. What a Setup in it says and nobody can read is kept as the scene's `unread`.

    Raises AttentionError: lecture_too_long, lecture_format, file_version, too_many_scenes, scene_part, and what
    read_strict_json raises.
    """
    if len(text) > MAX_LECTURE_CHARS:
        raise AttentionError("lecture_too_long", limit=MAX_LECTURE_CHARS, given=len(text))
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
    return Lecture(title, tuple(read))


def read_scene(number: int, scene: object) -> Scene:
    """One scene of a file. number: from 1 on, for a refusal."""
    if not isinstance(scene, dict):
        raise AttentionError("scene_part", number=number, name="scene")
    parts = {
        "title": "",
        "note": "",
        "question": "",
        "steps": [*SCENE_STEPS],
        "minutes": 0,
        "setup": {},
    }
    parts |= scene
    for name, value in parts.items():
        if not is_valid_scene_part(name, value):
            raise AttentionError("scene_part", number=number, name=name[:40])
    setup, unread = setup_from_link(parts.pop("setup"))
    chosen = parts.pop("steps")
    steps = tuple(step for step in MODEL_STEPS if step in chosen)  # in their order, each once
    return Scene(setup, **parts, steps=steps, unread=tuple(unread))


def is_valid_scene_part(name: str, value: object) -> bool:
    """Whether a part of a scene in a file is what it has to be."""
    if name in SCENE_TEXT_LIMITS:
        return isinstance(value, str) and len(value) <= SCENE_TEXT_LIMITS[name]
    if name == "steps":
        if not isinstance(value, list) or not value:
            return False
        return all(step in MODEL_STEPS for step in value)
    if name == "minutes":
        return type(value) is int and 0 <= value <= MAX_SCENE_MINUTES  # true is an int, too
    if name == "setup" and isinstance(value, dict):
        return all(isinstance(text, str) for text in value.values())
    return False


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
