"""Defines the slides of a lecture as dataclasses, from which every file of the lecture is written.

The HTML page, the PPTX file and the exercise sheet are written from these objects alone.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from attention_core.documents.handout import Grid
from attention_core.documents.picture_files import missing_letters, png_bytes
from attention_core.documents.provenance import Provenance

SVG_TYPE = "image/svg+xml"
STILL_PART = "picture"  # name of a MovingPart that is a still picture
SLIDE_SCALE = 2.0  # pixels of a PPTX file's picture per pixel on the screen


@dataclass(frozen=True)
class MovingPart:
    """A part of a slide that a browser draws and animates.

    name: the name of the drawing function; or STILL_PART if the part is a still picture, whose data has "at", the index
    of the picture. data: the input of the drawing function, bytes or a JSON value. answers: whether the part shows the
    answer to the slide's question.
    """

    name: str
    data: bytes | Mapping[str, object]
    answers: bool = False


@dataclass(frozen=True)
class SlidePicture:
    """A picture of a slide.

    data: the bytes of the file. kind: its media type, SVG_TYPE, image/png or image/jpeg. alt: the text for screen
    readers. map: whether the picture is an attention map of all queries, which follows the animated parts.
    """

    data: bytes
    alt: str
    kind: str = SVG_TYPE
    map: bool = False

    @property
    def address(self) -> str:
        """Return the picture as a data URL.

        >>> SlidePicture(b"<svg/>", "nothing").address
        'data:image/svg+xml;base64,PHN2Zy8+'
        """
        return f"data:{self.kind};base64,{b64encode(self.data).decode()}"

    def missing_letters(self) -> str:
        """Return the letters in the picture that no font of this machine has."""
        if self.kind != SVG_TYPE:
            return ""
        return missing_letters("".join(ElementTree.fromstring(self.data).itertext()))

    def pixels(self, size: float = 1.0) -> bytes:
        """Return the picture's bytes as pixels; an SVG is rendered as PNG, with SLIDE_SCALE image pixels per screen
        pixel.

        size: factor by which the picture is larger than on a page.
        """
        return png_bytes(self.data.decode(), SLIDE_SCALE * size) if self.kind == SVG_TYPE else self.data


@dataclass(frozen=True)
class SlideFrame:
    """A keyframe of an animation as a picture, with the sentence about it, for files without animation."""

    told: str
    picture: SlidePicture


@dataclass(frozen=True)
class SlideExercise:
    """An exercise of a slide, to be calculated by hand.

    given: matrices with their numbers. asked: a blank grid. solution: the same grid with its numbers. arithmetic: the
    calculation of one of the numbers, after the name of that number.
    """

    task: str
    given: tuple[Grid, ...]
    asked: Grid
    solution: Grid
    arithmetic: str

    def asks_same(self, other: "SlideExercise") -> bool:
        """Return whether two exercises have equal numbers in the last given matrix and in the solution, in any
        order.
        """
        return self.list_numbers() == other.list_numbers()

    def list_numbers(self) -> list[list[str]]:
        """Return the numbers of the last given matrix and the numbers of the solution, as texts, each list sorted."""
        grids = (self.given[-1], self.solution)
        return [sorted(cell.text for _, row in grid.table.rows for cell in row) for grid in grids]


@dataclass(frozen=True)
class Slide:
    """A scene of a lecture as a slide.

    pictures: the first shows the scene, each further picture belongs to a sentence with numbers. moving: animated parts
    that replace the first `moved` pictures, one below the other; () if nothing is animated. frames: the keyframes of
    the animation, for files without animation. formulas: LaTeX. figures: sentences with numbers. code: a listing.
    code_beside: the same code in another library. notes: the speaker's notes. link: the address that opens the scene in
    the app. source: the source of the pictures. exercise: None if there is nothing to calculate.
    """

    title: str
    question: str = ""
    answer: str = ""
    pictures: tuple[SlidePicture, ...] = ()
    moving: tuple[MovingPart, ...] = ()
    moved: int = 1
    frames: tuple[SlideFrame, ...] = ()
    formulas: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    code: str = ""
    code_beside: str = ""
    notes: str = ""
    minutes: float = 0
    link: str = ""
    source: str = ""
    exercise: SlideExercise | None = None

    def listings(self) -> list[str]:
        """Return the slide's code listings: none, one, or two of the same step in different libraries."""
        return [code for code in (self.code, self.code_beside) if code]

    def count_own_pictures(self) -> int:
        """Return how many of the first pictures are shown with the answer; each further picture belongs to a sentence
        with numbers.
        """
        return self.moved if self.moving else 1


@dataclass(frozen=True)
class SlideWords:
    """The texts of a lecture's files, in the language of the lecture.

    language: the code for HTML's lang attribute. answer, notes, previous, next, keys, open: labels of buttons, notes,
    the title page and links. minutes: a function of the number of minutes that returns their text. place: a function of
    slide number and slide count that returns the text at the foot of a slide. no_font: a function that takes the
    letters that no font has, and returns a warning. given, asked, solutions: headings on the exercise sheet. nothing:
    the text of a sheet without exercises.
    """

    language: str
    answer: str
    notes: str
    previous: str
    next: str
    keys: str
    open: str
    minutes: Callable[[float], str]
    place: Callable[[int, int], str]
    no_font: Callable[[str], str]
    given: str
    asked: str
    solutions: str
    nothing: str


@dataclass(frozen=True)
class SlideShow:
    """The slides of a lecture.

    provenance: the provenance of the whole lecture, whose title is the lecture's title.
    """

    provenance: Provenance
    slides: tuple[Slide, ...]
    words: SlideWords

    @property
    def title(self) -> str:
        """Return the title of the lecture."""
        return self.provenance.lines[0]

    def total_minutes(self) -> float:
        """Return the sum of the minutes of all slides that state their minutes."""
        return sum(slide.minutes for slide in self.slides)
