"""A lecture as one HTML file, without a server or a network: slides that are gone through by keys, or printed.

On the screen one slide is seen at a time: its question, what moves, then formulas and figures. Without its script, and
on paper, all slides stand below each other with the speaker's notes.
"""

from base64 import b64encode
from dataclasses import dataclass

from attention_core.documents.html import read_template_part, render_page, typeset_formulas
from attention_core.documents.slides import SlideShow

FORMULA_PX = 26.0  # the size of their letters, for a hall
MAX_MOVING_BYTES = 12_000_000  # of all that moves together; what comes later stands still
DRAWING_NAME = "const draw = "  # in the place of what a module gives away: its page calls it by this name


@dataclass(frozen=True)
class MovingPicture:
    """What draws SlidePicture.moving in a browser.

    script: a module that gives away one function of ({parentElement, data}) and asks for nothing else. element: the
    class of the element that it draws into. style: of that element.
    """

    script: str
    element: str
    style: str


def lecture_page(show: SlideShow, moving: MovingPicture) -> str:
    """The file. Nothing in it is markup but its own: what somebody wrote is shown as it is.

    show: the slides. moving: draws what moves in them, as far as all of it has room in MAX_MOVING_BYTES.
    """
    latex = dict.fromkeys(formula for slide in show.slides for formula in slide.formulas)
    outlines, drawn = typeset_formulas(list(latex), FORMULA_PX)
    script = moving.script.replace("export default ", DRAWING_NAME, 1) + read_template_part("lecture.js")
    return render_page(
        "lecture.html",
        read_template_part("lecture.css"),
        script,
        pictures=True,
        show=show,
        words=show.words,
        provenance=show.provenance,
        outlines=outlines,
        drawn=drawn,
        moving=moving,
        moves=packed_motions(show),
    )


def packed_motions(show: SlideShow) -> dict[int, str]:
    """What moves of each slide, by its place, as letters of a file."""
    packed = {}
    room = MAX_MOVING_BYTES
    for place, slide in enumerate(show.slides):
        data = slide.pictures[0].moving if slide.pictures else b""
        if data and len(data) <= room:
            room -= len(data)
            packed[place] = b64encode(data).decode()
    return packed
