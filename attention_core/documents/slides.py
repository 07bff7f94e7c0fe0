"""A lecture as slides: the records that every file of a lecture is written from.

The page, the slides of an office program and the sheet of exercises are written from these records and nothing else.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from attention_core.documents.handout import Grid
from attention_core.documents.picture_files import missing_letters, png_bytes
from attention_core.documents.provenance import Provenance

SVG_TYPE = "image/svg+xml"
STILL_PART = "picture"  # among what moves
SLIDE_SCALE = 2.0  # pixels of a picture in an office program for each of the screen's


@dataclass(frozen=True)
class MovingPart:
    """A part of a slide that a browser draws and animates.

    name: of what draws it; STILL_PART is a picture of the slide, which stands between what moves: data says "at" which
    place of its pictures. data: as its script reads it, bytes or what can be said in JSON. answers: whether it says the
    answer of the slide.
    """

    name: str
    data: bytes | Mapping[str, object]
    answers: bool = False


@dataclass(frozen=True)
class SlidePicture:
    """A picture with its provenance.

    data: the file. kind: SVG_TYPE, image/png or image/jpeg. alt: what it shows, in words. map: whether a map of all
    queries comes after what moves.
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
        """The picture in pixels: of an SVG as PNG, SLIDE_SCALE for each of the screen's; any other as it is.

        size: how many times as large as on a page it stands there."""
        return png_bytes(self.data.decode(), SLIDE_SCALE * size) if self.kind == SVG_TYPE else self.data


@dataclass(frozen=True)
class SlideExercise:
    """An exercise of a slide, to calculate by hand.

    given, asked: matrices with their numbers. solution: the same as asked, blank there. arithmetic: of one number,
    by its name.
    """

    task: str
    given: tuple[Grid, ...]
    asked: Grid
    solution: Grid
    arithmetic: str

    def asks_same(self, other: "SlideExercise") -> bool:
        """Whether it gives, and asks for, the same numbers as another one, in whatever order."""
        return self.list_numbers() == other.list_numbers()

    def list_numbers(self) -> list[list[str]]:
        """The numbers that are given last and those that are asked for, each in order of their letters."""
        grids = (self.given[-1], self.solution)
        return [sorted(cell.text for _, row in grid.table.rows for cell in row) for grid in grids]


@dataclass(frozen=True)
class Slide:
    """A scene as it is seen: its title, the question before, the answer after it, pictures, formulas, figures.

    pictures: the first is the scene's own, the others belong to its figures. moving: what is drawn in the place of so
    many of them as moved says, one below the other; nothing where all stands. formulas: LaTeX. figures: sentences with
    numbers. code: a listing; code_beside: the same in another library. notes: what the speaker says. link: opens it in
    the app. source: where its pictures are from. exercise: None where there is nothing to calculate.
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
        """Its code, in one library or in two."""
        return [code for code in (self.code, self.code_beside) if code]

    def count_own_pictures(self) -> int:
        """The number of pictures, from the first, shown with the answer; the others belong to the figures."""
        return self.moved if self.moving else 1


@dataclass(frozen=True)
class SlideWords:
    """The texts of the files themselves, in their language.

    language: as HTML names it. answer, notes, previous, next, keys, open: on buttons, over notes, on the title page, on
    links. minutes: so many. place: which slide of how many. no_font: that letters cannot be drawn here. given, asked,
    solutions, nothing: of the sheet of exercises, over what is given, over what is asked, over the answers, and in the
    place of all where there is nothing to calculate.
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
    """Slides under a title. provenance: of the whole, its title that of the lecture."""

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
