"""A lecture as a file of slides (PPTX): titles, sentences, formulas and notes as text, pictures in pixels.

This file alone knows python-pptx. What moves stands as it ends, its figures beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.lang import MSO_LANGUAGE_ID
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.slide import Slide as FileSlide
from pptx.text.text import _Paragraph
from pptx.util import Emu, Pt

from attention_core.documents.formula_text import FormulaRun, formula_runs
from attention_core.documents.picture_files import wrap_text
from attention_core.documents.slides import SLIDE_SCALE, Slide, SlidePicture, SlideShow
from attention_core.drawing.palette import LIGHT_PALETTE

SLIDE_WIDTH_PX, SLIDE_HEIGHT_PX = 1280.0, 720.0  # 16 : 9
EMU_PER_PX, POINTS_PER_PX = 9525, 0.75
TITLE_ONLY_LAYOUT = 5  # of the library's own template
LINE_HEIGHT = 1.3  # times the size of its letters
PICTURE_SHARE = 0.45  # of the height beside the scene's own picture, for a second one
SIDE_GAP_PX = 12.0  # between two things below each other
SCRIPT_SHIFT_PERCENT = {1: 30_000, -1: -25_000}  # thousandths, of a letter's size
LANGUAGES = {"en": MSO_LANGUAGE_ID.ENGLISH_US, "zh-Hans": MSO_LANGUAGE_ID.SIMPLIFIED_CHINESE}
MAX_LIST_ROWS = 20  # titles of slides below each other


@dataclass(frozen=True)
class Box:
    """A part of a slide, in pixels of SLIDE_WIDTH_PX."""

    left: float
    top: float
    width: float
    height: float

    def below(self, used: float) -> "Box":
        """What is left of it below something so high."""
        return Box(self.left, self.top + used, self.width, max(0.0, self.height - used))

    def emu(self) -> tuple[Emu, Emu, Emu, Emu]:
        """Its numbers as the file has them."""
        left, top, width, height = (Emu(round(px * EMU_PER_PX)) for px in vars(self).values())
        return left, top, width, height


TITLE_BOX = Box(48, 28, 1184, 68)
ANSWER_BOX = Box(48, 100, 1184, 64)
QUESTION_BOX = Box(120, 190, 1040, 340)
BODY_BOX = Box(48, 172, 1184, 484)
PICTURE_BOX = Box(48, 172, 560, 484)
SIDE_BOX = Box(632, 172, 600, 484)
FOOT_BOX = Box(48, 668, 1184, 32)
LIST_BOX = Box(48, 130, 1184, 440)
SOURCE_BOX = Box(48, 590, 1184, 100)
TITLE_SIZES, QUESTION_SIZES = (40, 34, 28, 24, 20, 16), (48, 40, 34, 28, 24, 20)
ANSWER_SIZES, SIDE_SIZES = (28, 24, 20, 17, 14), (24, 22, 20, 18, 16, 14, 12, 10)
CODE_SIZES, CODE_FONT = (20, 18, 16, 14, 12, 10), "Consolas"
SOURCE_SIZE = 12
LIST_SIZES, FOOT_SIZES = (24, 22, 20, 18, 16, 14), (16, 14, 12)


def slide_file(show: SlideShow) -> bytes:
    """The file: a slide with the title and the times; then of every scene one with its question, and one with what
    answers it."""
    file = Presentation()
    file.slide_width, file.slide_height = (Emu(round(px * EMU_PER_PX)) for px in (SLIDE_WIDTH_PX, SLIDE_HEIGHT_PX))
    file.core_properties.title = show.title
    file.core_properties.author = ""
    file.core_properties.comments = " ".join(show.provenance.lines[1:])[:255]
    writer = SlideWriter(file, show)
    writer.write_title_slide()
    for number, slide in enumerate(show.slides, start=1):
        if slide.question:
            writer.write_question(slide, number)
        writer.write_answer(slide, number)
    data = BytesIO()
    file.save(data)
    return data.getvalue()


class SlideWriter:
    """Writes slides into a file."""

    def __init__(self, file: Presentation, show: SlideShow):
        self.file = file
        self.show = show
        self.language = LANGUAGES.get(show.words.language, MSO_LANGUAGE_ID.ENGLISH_US)

    # ---- slides ------------------------------------------------------------------------------------------------------
    def write_title_slide(self) -> None:
        """The title, what comes and how long it takes, where it is all from."""
        words = self.show.words
        page = self.new_slide(self.show.title)
        lines = []
        for number, slide in enumerate(self.show.slides, start=1):
            minutes = f" · {words.minutes(slide.minutes)}" if slide.minutes else ""
            lines.append(f"{number} · {slide.title}{minutes}")
        columns = [lines[first : first + MAX_LIST_ROWS] for first in range(0, len(lines), MAX_LIST_ROWS)]
        for place, column in enumerate(columns):
            width = LIST_BOX.width / len(columns)
            box = Box(LIST_BOX.left + place * width, LIST_BOX.top, width - SIDE_GAP_PX, LIST_BOX.height)
            self.write_lines(page, column, box, LIST_SIZES)
        total = self.show.total_minutes()
        source = [words.minutes(total)] if total else []
        self.write_lines(page, [*source, *self.show.provenance.lines[1:]], SOURCE_BOX, FOOT_SIZES)

    def write_question(self, slide: Slide, number: int) -> None:
        """What the audience is asked."""
        page = self.new_slide(slide.title)
        self.write_lines(page, [slide.question], QUESTION_BOX, QUESTION_SIZES, is_middle=True)
        self.write_foot(page, slide, number)
        page.notes_slide.notes_text_frame.text = slide.notes

    def write_answer(self, slide: Slide, number: int) -> None:
        """What answers it: a sentence, the picture, beside it the formulas and the figures."""
        page = self.new_slide(slide.title)
        if slide.answer:
            self.write_lines(page, [slide.answer], ANSWER_BOX, ANSWER_SIZES)
        pictures = [picture for picture in slide.pictures if not picture.missing_letters()]
        undrawn = "".join(picture.missing_letters() for picture in slide.pictures)
        figures = [*slide.figures, self.show.words.no_font(undrawn)] if undrawn else slide.figures
        has_side = bool(slide.formulas or figures or pictures[1:])
        if pictures:
            self.place_picture(page, pictures[0], PICTURE_BOX if has_side else BODY_BOX)
        side = SIDE_BOX if pictures else BODY_BOX
        for picture in pictures[1:]:
            used = self.place_picture(page, picture, Box(side.left, side.top, side.width, side.height * PICTURE_SHARE))
            side = side.below(used + SIDE_GAP_PX)
        self.write_side(page, slide.formulas, figures, side)
        if slide.code:
            self.write_lines(page, slide.code.splitlines(), side, CODE_SIZES, font=CODE_FONT)
        self.write_foot(page, slide, number)
        page.notes_slide.notes_text_frame.text = slide.notes

    def new_slide(self, title: str) -> FileSlide:
        """A slide with a title."""
        page = self.file.slides.add_slide(self.file.slide_layouts[TITLE_ONLY_LAYOUT])
        shape = page.shapes.title
        shape.left, shape.top, shape.width, shape.height = TITLE_BOX.emu()
        frame = shape.text_frame
        frame.word_wrap, frame.vertical_anchor = True, MSO_ANCHOR.MIDDLE
        paragraph = frame.paragraphs[0]
        paragraph.alignment = PP_ALIGN.LEFT
        self.add_run(paragraph, title, fitting_size([title], TITLE_BOX, TITLE_SIZES), is_bold=True)
        return page

    # ---- parts of a slide --------------------------------------------------------------------------------------------
    def write_lines(
        self,
        page: FileSlide,
        lines: Sequence[str],
        box: Box,
        sizes: Sequence[int],
        is_middle: bool = False,
        font: str | None = None,
    ) -> None:
        """Lines of text, a paragraph each."""
        size = fitting_size(lines, box, sizes)
        frame = self.add_frame(page, box)
        if is_middle:
            frame.vertical_anchor = MSO_ANCHOR.MIDDLE
        for place, line in enumerate(lines):
            paragraph = frame.add_paragraph() if place else frame.paragraphs[0]
            if is_middle:
                paragraph.alignment = PP_ALIGN.CENTER
            run = self.add_run(paragraph, line, size)
            run.font.name = font

    def write_side(self, page: FileSlide, formulas: Sequence[str], figures: Sequence[str], box: Box) -> None:
        """Formulas, then figures."""
        if not formulas and not figures:
            return
        rows: list[Sequence[FormulaRun]] = [formula_runs(latex) for latex in formulas]
        rows += [(FormulaRun(figure),) for figure in figures]
        texts = ["".join(run.text for run in row) for row in rows]
        size = fitting_size(texts, box, SIDE_SIZES)
        frame = self.add_frame(page, box)
        for place, row in enumerate(rows):
            paragraph = frame.add_paragraph() if place else frame.paragraphs[0]
            paragraph.space_after = Pt(size * POINTS_PER_PX / 3)
            for run in row:
                self.add_run(paragraph, run.text, size, colour=run.colour, level=run.level)

    def write_foot(self, page: FileSlide, slide: Slide, number: int) -> None:
        """Which slide of how many, and the way into the app."""
        words = self.show.words
        frame = self.add_frame(page, FOOT_BOX)
        paragraph = frame.paragraphs[0]
        size = FOOT_SIZES[0]
        place = words.place(number, len(self.show.slides))
        minutes = f" · {words.minutes(slide.minutes)}" if slide.minutes else ""
        self.add_run(paragraph, f"{place}{minutes}", size, colour=LIGHT_PALETTE.x)
        if slide.link.startswith("http"):
            self.add_run(paragraph, "   ", size)
            self.add_run(paragraph, words.open, size).hyperlink.address = slide.link
        if slide.source:
            self.add_run(paragraph, f"   {slide.source}", SOURCE_SIZE, colour=LIGHT_PALETTE.x)

    def place_picture(self, page: FileSlide, picture: SlidePicture, box: Box) -> float:
        """A picture as large as its room, and as its pixels allow; gives how high it is."""
        shape = page.shapes.add_picture(BytesIO(picture.pixels()), 0, 0)
        pixels_across, pixels_down = shape.image.size
        scale = min(box.width / pixels_across, box.height / pixels_down, 1 / SLIDE_SCALE)
        width, height = pixels_across * scale, pixels_down * scale
        placed = Box(box.left + (box.width - width) / 2, box.top, width, height)
        shape.left, shape.top, shape.width, shape.height = placed.emu()
        shape.name = picture.alt[:80]
        shape._element.nvPicPr.cNvPr.set("descr", picture.alt)  # the library has no name for it
        return height

    def add_frame(self, page: FileSlide, box: Box):
        """A frame for text without a margin."""
        frame = page.shapes.add_textbox(*box.emu()).text_frame
        frame.word_wrap = True
        frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
        return frame

    def add_run(
        self,
        paragraph: _Paragraph,
        text: str,
        size: float,
        colour: str = "",
        level: int = 0,
        is_bold: bool = False,
    ):
        """Letters of one kind at the end of a paragraph. level: of FormulaRun."""
        run = paragraph.add_run()
        run.text = text
        run.font.size = Pt(size * POINTS_PER_PX)
        run.font.bold = is_bold
        run.font.language_id = self.language
        run.font.color.rgb = RGBColor.from_string((colour or LIGHT_PALETTE.ink).removeprefix("#").upper())
        if level:
            run.font._element.set("baseline", str(SCRIPT_SHIFT_PERCENT[level]))  # the library has no name for it
        return run


def fitting_size(lines: Sequence[str], box: Box, sizes: Sequence[int]) -> int:
    """The largest of the sizes in which all lines, broken where they are too long, have room; else the smallest.

    >>> fitting_size(["one"], Box(0, 0, 100, 50), (30, 20)), fitting_size(["one two"], Box(0, 0, 100, 50), (30, 20))
    (30, 20)
    """
    for size in sizes:
        height = sum(len(wrap_text(line, box.width, size)) for line in lines) * size * LINE_HEIGHT
        if height <= box.height:
            return size
    return sizes[-1]
