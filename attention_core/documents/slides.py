"""A lecture as slides: the records from which every file of a lecture is written.

The HTML page, the PPTX file and the sheet of exercises are written from these records alone.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from attention_core.documents.handout import Grid
from attention_core.documents.picture_files import missing_letters, png_bytes
from attention_core.documents.provenance import Provenance

SVG_TYPE = "image/svg+xml"
STILL_PART = "picture"  # the name of a still picture among the moving parts
SLIDE_SCALE = 2.0  # pixels of a picture in a PPTX file per pixel on the screen


@dataclass(frozen=True)
class MovingPart:
    """A part of a slide that a browser draws and animates.

    name: of its drawing function; or STILL_PART, a picture of the slide between moving parts, whose data has "at", the
    index of the picture. data: for its script, bytes or a JSON value. answers: whether it reveals the
    answer of the slide.
    """

    name: str
    data: bytes | Mapping[str, object]
    answers: bool = False


@dataclass(frozen=True)
class SlidePicture:
    """A picture with its provenance.

    data: the file. kind: SVG_TYPE, image/png or image/jpeg. alt: the text for screen readers. map: whether a map of all
    queries follows the moving parts.
    """

    data: bytes
    alt: str
    kind: str = SVG_TYPE
    map: bool = False

    @property
    def address(self) -> str:
        """The picture as a data URL.

        >>> SlidePicture(b"<svg/>", "nothing").address
        'data:image/svg+xml;base64,PHN2Zy8+'
        """
        return f"data:{self.kind};base64,{b64encode(self.data).decode()}"

    def missing_letters(self) -> str:
        """The letters in it that no font of this machine has."""
        if self.kind != SVG_TYPE:
            return ""
        return missing_letters("".join(ElementTree.fromstring(self.data).itertext()))

    def pixels(self, size: float = 1.0) -> bytes:
        """The bytes of the picture as pixels: an SVG as PNG, with SLIDE_SCALE pixels per pixel; any other unchanged.

        size: multiplies the size on a page."""
        return png_bytes(self.data.decode(), SLIDE_SCALE * size) if self.kind == SVG_TYPE else self.data


@dataclass(frozen=True)
class SlideExercise:
    """An exercise of a slide, to calculate by hand.

    given: matrices with their numbers. asked: an empty grid; solution: the same, filled. arithmetic: of one number,
    by its name.
    """

    task: str
    given: tuple[Grid, ...]
    asked: Grid
    solution: Grid
    arithmetic: str

    def asks_same(self, other: "SlideExercise") -> bool:
        """Whether both exercises give and ask for the same numbers, in any order."""
        return self.list_numbers() == other.list_numbers()

    def list_numbers(self) -> list[list[str]]:
        """The numbers of the last given matrix and the asked numbers, each sorted as texts."""
        grids = (self.given[-1], self.solution)
        return [sorted(cell.text for _, row in grid.table.rows for cell in row) for grid in grids]


@dataclass(frozen=True)
class Slide:
    """A scene as a slide: its title, the question, the answer, pictures, formulas, figures.

    pictures: the first is the scene's picture, the others belong to its figures. moving: parts that replace the first
    `moved` pictures, one below the other; empty if nothing moves. formulas: LaTeX. figures: sentences with numbers.
    code: a listing; code_beside: the same in another library. notes: for the speaker. link: opens it in the app.
    source: of its pictures. exercise: None if there is nothing to calculate.
    """

    title: str
    question: str = ""
    answer: str = ""
    pictures: tuple[SlidePicture, ...] = ()
    moving: tuple[MovingPart, ...] = ()
    moved: int = 1
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
        """The slide's code listings, in one library or in two."""
        return [code for code in (self.code, self.code_beside) if code]

    def count_own_pictures(self) -> int:
        """The number of pictures, from the first, shown with the answer; the others belong to the figures."""
        return self.moved if self.moving else 1


@dataclass(frozen=True)
class SlideWords:
    """The texts of the files themselves, in their language.

    language: as in HTML. answer, notes, previous, next, keys, open: of buttons, notes, the title page and links.
    minutes, place, no_font: return the texts for so many minutes, for slide number and count, and for letters that
    cannot be drawn. given, asked, solutions, nothing: of the sheet of exercises: the headings of the given and asked
    matrices and of the solutions, and the text of a sheet without exercises.
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
    """Slides under a title. provenance: of the whole lecture; its title is the lecture's."""

    provenance: Provenance
    slides: tuple[Slide, ...]
    words: SlideWords

    @property
    def title(self) -> str:
        """The lecture's title."""
        return self.provenance.lines[0]

    def total_minutes(self) -> float:
        """The sum of the minutes of all slides that state them."""
        return sum(slide.minutes for slide in self.slides)
