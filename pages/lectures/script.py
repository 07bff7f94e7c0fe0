"""A lecture: Setups with titles and notes, in order; as one JSON file, and as a part of a link.

What the screen calls a scene is an Act here: Scene is what is shown at once.
"""

import base64
import json
import zlib
from dataclasses import dataclass, replace
from functools import cache

from attention_core.record.errors import AttentionError
from pages.setup.setup import LONGEST, Setup, from_link, to_link
from pages.setup.setup_file import read_json
from pages.site.words import CONTENT

STEPS = ("symbol", "shapes", "cell", "map")
ANSWERS = ("cell", "map")  # the steps that give a question's answer away
QUESTION = "question"
FORMAT = "attention-explorer-lecture"
VERSION = 1
LARGEST = 10 * LONGEST  # characters of a file: a lecture of long sentences and matrices, and little to keep a session
MOST = 60  # scenes: of a lecture of two hours
TEXTS = {"title": 120, "note": 2_000, "question": 300}  # characters: what a screen, or a glance, has room for
SHIPPED = ("ten_minutes",)


@dataclass(frozen=True)
class Act:
    """One scene: what it shows, its title, a note for who speaks, a question to the audience, and which of STEPS are
    gone through. unread: parts of its Setup that a file had and nobody could read, as (key, text)."""

    setup: Setup
    title: str
    note: str = ""
    question: str = ""
    steps: tuple[str, ...] = STEPS
    unread: tuple[tuple[str, str], ...] = ()

    def beats(self, revealed: bool = False) -> tuple[str, ...]:
        """What is seen one after the other: the steps, and the question before the first one that answers it.

        >>> Act(Setup(), "", question="Which?").beats()
        ('symbol', 'shapes', 'question', 'cell', 'map')
        """
        if revealed or not self.question:
            return self.steps
        at = next((at for at, step in enumerate(self.steps) if step in ANSWERS), len(self.steps))
        return (*self.steps[:at], QUESTION, *self.steps[at:])


@dataclass(frozen=True)
class Lecture:
    """Scenes under a title."""

    title: str
    acts: tuple[Act, ...] = ()

    def added(self, act: Act) -> "Lecture":
        """With one more scene at its end."""
        return replace(self, acts=(*self.acts, act))

    def changed(self, at: int, **parts) -> "Lecture":
        """With other parts of one scene."""
        acts = [replace(act, **parts) if n == at else act for n, act in enumerate(self.acts)]
        return replace(self, acts=tuple(acts))

    def removed(self, at: int) -> "Lecture":
        """Without one scene."""
        return replace(self, acts=(*self.acts[:at], *self.acts[at + 1 :]))

    def moved(self, at: int, to: int) -> "Lecture":
        """With one scene in another place."""
        rest = self.removed(at).acts
        return replace(self, acts=(*rest[:to], self.acts[at], *rest[to:]))


@cache
def shipped(name: str, language: str) -> Lecture:
    """A lecture that comes with the app, in a language."""
    return from_file((CONTENT / language / "lectures" / f"{name}.json").read_text(encoding="utf-8"))


# ---- as a file -------------------------------------------------------------------------------------------------------
def to_file(lecture: Lecture) -> str:
    """The text of a file; every scene says how its Setup differs from its example, as a link does."""
    return json.dumps(plain(lecture), ensure_ascii=False, indent=2) + "\n"


def plain(lecture: Lecture) -> dict:
    """A lecture as JSON has it; what is empty is left out."""
    scenes = []
    for act in lecture.acts:
        said = {name: getattr(act, name) for name in TEXTS if getattr(act, name)}
        scenes.append(said | {"steps": list(act.steps), "setup": to_link(act.setup)})
    return {"format": FORMAT, "version": VERSION, "title": lecture.title, "scenes": scenes}


def from_file(text: str) -> Lecture:
    """The lecture that a file describes. What a Setup in it says and nobody can read is kept as the scene's `unread`.

    Raises AttentionError: lecture_too_long, lecture_format, file_version, too_many_scenes, scene_part, and what
    read_json raises.
    """
    if len(text) > LARGEST:
        raise AttentionError("lecture_too_long", limit=LARGEST, given=len(text))
    match read_json(text):
        case {"format": str(form), "version": int(version), "title": str(title), "scenes": [*scenes]}:
            if form != FORMAT or version < 1 or version is True:
                raise AttentionError("lecture_format", expected=FORMAT)
            if version > VERSION:
                raise AttentionError("file_version", limit=VERSION, given=str(version)[:20])
        case _:
            raise AttentionError("lecture_format", expected=FORMAT)
    if len(scenes) > MOST:
        raise AttentionError("too_many_scenes", limit=MOST, given=len(scenes))
    if len(title) > TEXTS["title"]:
        raise AttentionError("scene_part", number=0, name="title")
    return Lecture(title, tuple(read_act(number, scene) for number, scene in enumerate(scenes, start=1)))


def read_act(number: int, scene: object) -> Act:
    """One scene of a file. number: from 1 on, for a refusal."""
    if not isinstance(scene, dict):
        raise AttentionError("scene_part", number=number, name="scene")
    given = {"title": "", "note": "", "question": "", "steps": [*STEPS], "setup": {}} | scene
    for name, value in given.items():
        if not fits(name, value):
            raise AttentionError("scene_part", number=number, name=name[:40])
    chosen, (setup, unread) = given.pop("steps"), from_link(given.pop("setup"))
    steps = tuple(step for step in STEPS if step in chosen)  # in their order, each once
    return Act(setup, **given, steps=steps, unread=tuple(unread))


def fits(name: str, value: object) -> bool:
    """Whether a part of a scene in a file is what it has to be."""
    if name in TEXTS:
        return isinstance(value, str) and len(value) <= TEXTS[name]
    if name == "steps":
        return isinstance(value, list) and bool(value) and all(step in STEPS for step in value)
    return name == "setup" and isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


# ---- as a part of a link ---------------------------------------------------------------------------------------------
def packed(lecture: Lecture) -> str:
    """A lecture in letters that an address takes as they are."""
    text = json.dumps(plain(lecture), ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpacked(text: str) -> Lecture:
    """The lecture that such letters hold. Raises AttentionError: lecture_link, and what from_file raises."""
    if len(text) > LONGEST:
        raise AttentionError("lecture_link")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacking = zlib.decompressobj()
        found = unpacking.decompress(data, LARGEST)  # so much and no more: a few letters can hold gigabytes
        if not unpacking.eof:
            raise ValueError
        return from_file(found.decode())
    except AttentionError:
        raise
    except (ValueError, zlib.error):
        raise AttentionError("lecture_link") from None
