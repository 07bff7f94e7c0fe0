"""Writes a lecture as one HTML file that needs no server and no network; a lecturer steps through it by keys, or prints
it.

The page shows one slide at a time: its question, its animated parts, then its formulas and sentences with numbers.
Without JavaScript, and on paper, all slides are shown one below the other with the speaker's notes.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

from markupsafe import Markup

from attention_core.documents.html import read_template_part, render_page, typeset_formulas
from attention_core.documents.slides import STILL_PART, MovingPart, SlideShow

FORMULA_PX = 26.0  # in pixels: the letter size of formulas, legible in a lecture hall
POLL_PART = "poll"  # name of the drawing of a poll
MAX_MOVING_BYTES = 12_000_000  # bytes of all animated parts together; slides beyond this limit have still pictures


@dataclass(frozen=True)
class PartDrawing:
    """The code that draws and animates one kind of MovingPart (an animated part of a slide) in a browser.

    script: the text of a module that imports nothing and exports one function of ({parentElement, data,
    setTriggerValue}). html: the elements that the script draws into. style: the CSS of these elements.
    """

    script: str
    html: str
    style: str


@dataclass(frozen=True)
class Poll:
    """A question that a lecturer puts to the audience.

    choices: the answers to choose from. shares: the truth, the share of each choice, from 0 to 1.
    """

    question: str
    choices: tuple[str, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class FollowTexts:
    """The texts of a page that follows a lecturer.

    page: a text that tells this page from another. waiting, following, exploring, lost, ended: what the page does.
    leave, back: the labels of its button. changed: the label of the link to what the lecturer has changed. answers,
    truth: the names of the bars of a poll. polls: {number of a slide: its poll}. exercises: {address, relative to the
    app's, of a page on which the class works: its title}.
    """

    page: str
    waiting: str
    following: str
    exploring: str
    lost: str
    ended: str
    leave: str
    back: str
    changed: str
    answers: str
    truth: str
    polls: Mapping[int, Poll] = field(default_factory=dict)
    exercises: Mapping[str, str] = field(default_factory=dict)


def lecture_page(show: SlideShow, drawings: Mapping[str, PartDrawing], follow_texts: FollowTexts | None = None) -> str:
    """Return a lecture as the text of an HTML file, with the user's texts escaped so that none becomes markup.

    show: the slides. drawings: for the name of each kind of animated part, the code that draws it. If the animated
    parts of a slide would exceed MAX_MOVING_BYTES in total, the slide shows its still pictures instead. follow_texts:
    None for a file; else the page comes from a server, and follows the events at the address room/events beside it. Its
    polls are drawn by the drawing POLL_PART.
    """
    latex = dict.fromkeys(formula for slide in show.slides for formula in slide.formulas)
    outlines, drawn = typeset_formulas(list(latex), FORMULA_PX)
    show = bound_moving(show)
    names = dict.fromkeys(part.name for slide in show.slides for part in slide.moving if part.name != STILL_PART)
    if follow_texts and follow_texts.polls:
        names[POLL_PART] = None
    used = {name: drawings[name] for name in names}
    scripts = ["part.js", "lecture.js", *(["follow.js"] if follow_texts else [])]
    return render_page(
        "lecture.html",
        read_template_part("lecture.css"),
        write_drawings(used) + "".join(map(read_template_part, scripts)),
        pictures=True,
        connects=follow_texts is not None,
        show=show,
        words=show.words,
        provenance=show.provenance,
        outlines=outlines,
        drawn=drawn,
        drawings=mark_html(used),
        write_parts=write_parts,
        follow_texts=json.dumps(asdict(follow_texts)) if follow_texts else "",
    )


def bound_moving(show: SlideShow) -> SlideShow:
    """Return the slides; those whose animated parts would exceed MAX_MOVING_BYTES in total have still pictures
    instead.
    """
    slides = []
    room = MAX_MOVING_BYTES
    for slide in show.slides:
        size = len(write_parts(slide.moving))
        is_small = size <= room
        room -= size if is_small else 0
        slides.append(slide if is_small else replace(slide, moving=()))
    return replace(show, slides=tuple(slides))


def write_parts(parts: Iterable[MovingPart]) -> str:
    """Return the animated parts as JSON for the script of the page.

    >>> write_parts([MovingPart("row", {"count": 2}), MovingPart("map", b"abc")])
    '[{"name": "row", "data": {"count": 2}}, {"name": "map", "packed": "YWJj"}]'
    """
    written = []
    for part in parts:
        data = {"packed": b64encode(part.data).decode()} if isinstance(part.data, bytes) else {"data": part.data}
        written.append({"name": part.name} | data)
    return json.dumps(written)


def mark_html(drawings: Mapping[str, PartDrawing]) -> dict[str, PartDrawing]:
    """Return the drawings with their HTML marked as markup, so that a template does not escape it."""
    return {name: replace(drawing, html=Markup(drawing.html)) for name, drawing in drawings.items()}


def write_drawings(drawings: Mapping[str, PartDrawing]) -> str:
    """Return JavaScript that defines the constant DRAWINGS, an object with the drawing functions by name; each module
    has its own scope.

    >>> print(write_drawings({"row": PartDrawing("export default () => {};", "", "")}))
    const DRAWINGS = {};
    DRAWINGS["row"] = (() => {
    const given = () => {};
    return given;
    })();
    <BLANKLINE>
    """
    lines = ["const DRAWINGS = {};\n"]
    for name, drawing in drawings.items():
        script = drawing.script.replace("export default ", "const given = ", 1)
        lines.append(f"DRAWINGS[{json.dumps(name)}] = (() => {{\n{script}\nreturn given;\n}})();\n")
    return "".join(lines)
