"""Writes a lecture as a PPTX file: titles, sentences, formulas and notes as text, pictures in pixels.

Only this module imports python-pptx. For animated parts that the browser has drawn, the file has one slide for each
keyframe, and their last state beside sentences with their numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.lang import MSO_LANGUAGE_ID
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.parts.image import Image
from pptx.slide import Slide as FileSlide
from pptx.text.text import _Paragraph
from pptx.util import Emu, Pt

from attention_core.documents.formulas import FormulaRun, formula_runs
from attention_core.documents.picture_files import svg_size
from attention_core.documents.slides import SVG_TYPE, Slide, SlidePicture, SlideShow
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.text_layout import wrap_text

SLIDE_WIDTH_PX, SLIDE_HEIGHT_PX = 1280.0, 720.0  # in pixels: size of a slide, with an aspect ratio of 16 : 9
EMU_PER_PX, POINTS_PER_PX = 9525, 0.75
TITLE_ONLY_LAYOUT = 5  # index of the layout with only a title, in python-pptx's template
LINE_HEIGHT = 1.3  # distance between two lines of text, in multiples of the font size
FREE_BELOW_LINE = 1 / 3  # space below a formula or a sentence, in multiples of its font size
SIDE_GAP_PX = 24.0  # in pixels: the gap between parts that are beside or below each other
WIDE_ASPECT = 2.0  # width / height: wider pictures have their texts below them, others beside them
WIDE_PICTURE_SHARE = 0.4  # share of the body's height for a wide picture with texts below it
MAX_PICTURE_SCALE = 2.5  # largest enlargement of a picture: its letters are then as large as a headline's
SCRIPT_SHIFT_PERCENT = {1: 30_000, -1: -25_000}  # level -> rise of the baseline, 1/100,000 of the size
LANGUAGES = {"en": MSO_LANGUAGE_ID.ENGLISH_US, "zh-Hans": MSO_LANGUAGE_ID.SIMPLIFIED_CHINESE}
CHINESE_FONT, NO_CHINESE_FONT = "Microsoft YaHei", b'<a:ea typeface=""/>'
MAX_LIST_COLUMNS = 3  # the list of slides has at most this many columns


@dataclass(frozen=True)
class Box:
    """A rectangle on a slide, in pixels; the slide is SLIDE_WIDTH_PX wide."""

    left: float
    top: float
    width: float
    height: float

    def split(self, count: int, is_across: bool) -> list["Box"]:
        """Split the rectangle into `count` equal rectangles with gaps between them.

        is_across: True if the rectangles are beside each other, False if they are below each other.

        >>> [part.left for part in Box(0, 0, 224, 50).split(2, is_across=True)]
        [0.0, 124.0]
        """
        whole = self.width if is_across else self.height
        size = (whole + SIDE_GAP_PX) / max(count, 1) - SIDE_GAP_PX
        starts = [place * (size + SIDE_GAP_PX) for place in range(count)]
        if is_across:
            return [Box(self.left + start, self.top, size, self.height) for start in starts]
        return [Box(self.left, self.top + start, self.width, size) for start in starts]

    def cut(self, share: float) -> tuple["Box", "Box"]:
        """Return the upper part of the rectangle, with this share of its height, and the rest of it below a gap."""
        above = self.height * share
        used = above + SIDE_GAP_PX
        return replace(self, height=above), replace(self, top=self.top + used, height=self.height - used)

    def emu(self) -> tuple[Emu, Emu, Emu, Emu]:
        """Return left, top, width and height of the rectangle in EMU, the unit of PPTX files."""
        left, top, width, height = (Emu(round(px * EMU_PER_PX)) for px in vars(self).values())
        return left, top, width, height


TITLE_BOX = Box(48, 28, 1184, 68)
ANSWER_BOX = Box(48, 100, 1184, 64)
QUESTION_BOX = Box(120, 190, 1040, 340)
BODY_BOX = Box(48, 172, 1184, 484)
TALL_BOX = Box(48, 112, 1184, 544)  # rectangle for the body of a slide that has no answer sentence
FOOT_BOX = Box(48, 668, 1184, 32)
LIST_BOX = Box(48, 130, 1184, 440)
SOURCE_BOX = Box(48, 590, 1184, 100)
TITLE_SIZES, QUESTION_SIZES = (40, 34, 28, 24, 20, 16), (48, 40, 34, 28, 24, 20)
ANSWER_SIZES, SIDE_SIZES = (28, 24, 20, 17, 14), (28, 26, 24, 22, 20, 18, 16, 14, 12, 10)
BODY_SIZES = (36, 32, *SIDE_SIZES)
CODE_SIZES, CODE_FONT, CODE_LETTER_WIDTH = (28, 26, 24, 22, 20, 18, 16, 14, 12, 10), "Consolas", 0.6
PICTURES_ALONE = 2  # number of pictures from which an answer slide has no texts
FIRST_WIDE_LETTER = "\u2e80"  # characters from this one on count as two letters wide in a code listing
SOURCE_SIZE = 12
LIST_SIZES, FOOT_SIZES = (28, 26, 24, 22, 20, 18, 16, 14), (16, 14, 12)


@dataclass(frozen=True)
class SideTexts:
    """The texts beside the pictures of a slide: formulas, sentences with numbers (`figures`), and code listings."""

    formulas: Sequence[str]
    figures: Sequence[str]
    listings: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.formulas or self.figures or self.listings)


def slide_file(show: SlideShow) -> bytes:
    """Return a lecture as the bytes of a PPTX file.

    The file has a title slide with the minutes of each slide; then, for every scene (a Slide of the lecture), a slide
    with its question if it has one, and one or two slides with the answer.
    """
    file = Presentation()
    file.slide_width, file.slide_height = (Emu(round(px * EMU_PER_PX)) for px in (SLIDE_WIDTH_PX, SLIDE_HEIGHT_PX))
    file.core_properties.title = show.title
    file.core_properties.author = ""
    file.core_properties.comments = " ".join(show.provenance.lines[1:])[:255]
    # without this font, programs would choose a serif or a Japanese font for Chinese
    theme = file.slide_master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    theme._blob = theme.blob.replace(NO_CHINESE_FONT, f'<a:ea typeface="{CHINESE_FONT}"/>'.encode())
    writer = SlideWriter(file, show)
    writer.write_title_slide()
    for number, slide in enumerate(show.slides, start=1):
        if slide.question:
            writer.write_question(slide, number)
        writer.write_frames(slide, number)
        writer.write_answer(slide, number)
    data = BytesIO()
    file.save(data)
    return data.getvalue()


class SlideWriter:
    """Writes the slides of a SlideShow into a PPTX file."""

    def __init__(self, file: Presentation, show: SlideShow):
        self.file = file
        self.show = show
        self.language = LANGUAGES.get(show.words.language, MSO_LANGUAGE_ID.ENGLISH_US)

    # ---- slides ------------------------------------------------------------------------------------------------------
    def write_title_slide(self) -> None:
        """Write the slide with the title, the list of slides, the minutes and the provenance."""
        words = self.show.words
        page = self.new_slide(self.show.title)
        lines = []
        for number, slide in enumerate(self.show.slides, start=1):
            minutes = f" · {words.minutes(slide.minutes)}" if slide.minutes else ""
            lines.append(f"{number} · {slide.title}{minutes}")
        for column, box in list_columns(lines):
            self.write_lines(page, column, box, LIST_SIZES)
        total = self.show.total_minutes()
        source = [words.minutes(total)] if total else []
        self.write_lines(page, [*source, *self.show.provenance.lines[1:]], SOURCE_BOX, FOOT_SIZES)

    def write_question(self, slide: Slide, number: int) -> None:
        """Write the slide with the question to the audience."""
        page = self.new_slide(slide.title)
        self.write_lines(page, [slide.question], QUESTION_BOX, QUESTION_SIZES, is_middle=True)
        self.end_slide(page, slide, number)

    def write_frames(self, slide: Slide, number: int) -> None:
        """Write a slide for each keyframe of the animation: the sentence about it, and its picture."""
        for frame in slide.frames:
            page = self.new_slide(slide.title)
            self.write_lines(page, [frame.told], ANSWER_BOX, ANSWER_SIZES)
            self.place_picture(page, frame.picture, BODY_BOX)
            self.end_slide(page, slide, number)

    def write_answer(self, slide: Slide, number: int) -> None:
        """Write the slide with the answer: a sentence and the pictures, with formulas and sentences beside them.

        Pictures that do not fit beside texts get a separate slide with their texts, so that all pictures are large.
        """
        pictures = [picture for picture in slide.pictures if not picture.missing_letters()]
        undrawn = "".join(picture.missing_letters() for picture in slide.pictures)
        figures = [*slide.figures, self.show.words.no_font(undrawn)] if undrawn else slide.figures
        texts = SideTexts(slide.formulas, figures, slide.listings())
        page = self.new_slide(slide.title)
        if slide.answer:
            self.write_lines(page, [slide.answer], ANSWER_BOX, ANSWER_SIZES)
        count = 1 if texts else PICTURES_ALONE
        if pictures[count:]:
            self.place_pictures(page, pictures[:count], BODY_BOX)
            self.end_slide(page, slide, number)
            page = self.new_slide(slide.title)
            self.write_body(page, pictures[count:], texts, TALL_BOX)
        else:
            self.write_body(page, pictures, texts, BODY_BOX)
        self.end_slide(page, slide, number)

    def write_body(self, page: FileSlide, pictures: Sequence[SlidePicture], texts: "SideTexts", box: Box) -> None:
        """Write the pictures and the texts of a slide.

        The texts are below the pictures if the first of these is wide, else beside them. Pictures or texts alone fill
        the whole rectangle `box`.
        """
        if not texts:
            self.place_pictures(page, pictures, box)
            return
        if not pictures:
            self.write_texts(page, texts, box, BODY_SIZES)
            return
        width, height = find_picture_size(pictures[0])
        if width / height < WIDE_ASPECT:
            picture_box, side = box.split(2, is_across=True)
        else:
            picture_box, side = box.cut(WIDE_PICTURE_SHARE)
        self.place_pictures(page, pictures, picture_box)
        self.write_texts(page, texts, side, SIDE_SIZES)

    def write_texts(self, page: FileSlide, texts: "SideTexts", box: Box, sizes: Sequence[int]) -> None:
        """Write formulas, sentences with numbers and code listings of a slide into a rectangle.

        sizes: font sizes to choose from, the largest first.
        """
        self.write_side(page, texts.formulas, texts.figures, box, sizes)
        listings = [code.splitlines() for code in texts.listings]
        parts = box.split(len(listings), is_across=True)
        size = min(map(find_code_size, listings, parts), default=0)
        for lines, part in zip(listings, parts, strict=True):
            self.write_lines(page, lines, part, [size], font=CODE_FONT)

    def end_slide(self, page: FileSlide, slide: Slide, number: int) -> None:
        """Write the line at the foot of a slide, and the speaker's notes.

        number: the number of the slide in the lecture.
        """
        self.write_foot(page, slide, number)
        page.notes_slide.notes_text_frame.text = slide.notes

    def new_slide(self, title: str) -> FileSlide:
        """Add a slide with a title, and return it."""
        page = self.file.slides.add_slide(self.file.slide_layouts[TITLE_ONLY_LAYOUT])
        shape = page.shapes.title
        shape.left, shape.top, shape.width, shape.height = TITLE_BOX.emu()
        frame = shape.text_frame
        frame.word_wrap, frame.vertical_anchor = True, MSO_ANCHOR.MIDDLE
        frame.margin_left = frame.margin_right = 0  # without margins, the title is aligned with the texts below it
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
        """Write lines of text, each as a paragraph, in the largest of the font sizes with which all lines fit the
        rectangle.
        """
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

    def write_side(
        self, page: FileSlide, formulas: Sequence[str], figures: Sequence[str], box: Box, sizes: Sequence[int]
    ) -> None:
        """Write formulas, then sentences with numbers, in the largest of the font sizes with which all fit the
        rectangle.
        """
        if not formulas and not figures:
            return
        rows: list[Sequence[FormulaRun]] = [formula_runs(latex) for latex in formulas]
        rows += [(FormulaRun(figure),) for figure in figures]
        texts = ["".join(run.text for run in row) for row in rows]
        size = fitting_size(texts, box, sizes, FREE_BELOW_LINE)
        frame = self.add_frame(page, box)
        for place, row in enumerate(rows):
            paragraph = frame.add_paragraph() if place else frame.paragraphs[0]
            paragraph.space_after = Pt(size * POINTS_PER_PX * FREE_BELOW_LINE)
            for run in row:
                self.add_run(paragraph, run.text, size, colour=run.colour, level=run.level)

    def write_foot(self, page: FileSlide, slide: Slide, number: int) -> None:
        """Write the line at the foot of a slide: its number, the count of slides, its minutes, the link to the app, its
        source.
        """
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

    def place_pictures(self, page: FileSlide, pictures: Sequence[SlidePicture], box: Box) -> None:
        """Place pictures in a rectangle, either beside or below each other, whichever makes the pictures larger."""
        ways = [box.split(len(pictures), is_across) for is_across in (True, False)]
        largest = max(ways, key=lambda parts: min(map(find_picture_scale, pictures, parts), default=0))
        for picture, part in zip(pictures, largest, strict=True):
            self.place_picture(page, picture, part)

    def place_picture(self, page: FileSlide, picture: SlidePicture, box: Box) -> None:
        """Place a picture in a rectangle, as large as the rectangle and the picture's resolution allow, with its alt
        text.
        """
        scale = find_picture_scale(picture, box)
        width, height = (edge * scale for edge in find_picture_size(picture))
        shape = page.shapes.add_picture(BytesIO(picture.pixels(scale)), 0, 0)
        placed = Box(box.left + (box.width - width) / 2, box.top, width, height)
        shape.left, shape.top, shape.width, shape.height = placed.emu()
        shape.name = picture.alt[:80]
        shape._element.nvPicPr.cNvPr.set("descr", picture.alt)  # python-pptx has no attribute for the alt text

    def add_frame(self, page: FileSlide, box: Box):
        """Add a text frame without margins to a slide, and return it.

        box: the rectangle of the frame.
        """
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
        """Add a text in a single format at the end of a paragraph.

        level: 1 for a superscript, -1 for a subscript, else 0.
        """
        run = paragraph.add_run()
        run.text = text
        run.font.size = Pt(size * POINTS_PER_PX)
        run.font.bold = is_bold
        run.font.language_id = self.language
        run.font.color.rgb = RGBColor.from_string((colour or LIGHT_PALETTE.ink).removeprefix("#").upper())
        if level:
            run.font._element.set("baseline", str(SCRIPT_SHIFT_PERCENT[level]))  # python-pptx cannot set superscripts
        return run


def list_columns(lines: Sequence[str]) -> list[tuple[Sequence[str], Box]]:
    """Split the slides' titles into the number of columns with the largest letters; return (titles, box) of each
    column.
    """
    ways = []
    for count in range(1, MAX_LIST_COLUMNS + 1):
        rows = -(-len(lines) // count) or 1
        columns = [lines[first : first + rows] for first in range(0, len(lines), rows)]
        ways.append([*zip(columns, LIST_BOX.split(count, is_across=True), strict=False)])
    return max(ways, key=lambda way: min((size_that_fits(*column, LIST_SIZES) for column in way), default=0))


def find_picture_size(picture: SlidePicture) -> tuple[float, float]:
    """Return the natural width and height of a picture: of an SVG its size on a page, else its size in pixels."""
    if picture.kind == SVG_TYPE:
        return svg_size(picture.data.decode())
    return Image.from_blob(picture.data).size


def find_picture_scale(picture: SlidePicture, box: Box) -> float:
    """Return the factor by which a picture is scaled to fit a rectangle; pictures of pixels are never enlarged."""
    width, height = find_picture_size(picture)
    most = MAX_PICTURE_SCALE if picture.kind == SVG_TYPE else 1.0
    return min(box.width / width, box.height / height, most)


def find_code_size(lines: Sequence[str], box: Box) -> int:
    """Return the largest size in which a code listing fits without wrapped lines; the smallest size if no size fits.

    >>> find_code_size(["x" * 60], BODY_BOX), find_code_size(["x" * 96], BODY_BOX)
    (28, 20)
    """
    longest = max(len(line) + sum(letter >= FIRST_WIDE_LETTER for letter in line) for line in lines)
    for size in CODE_SIZES:
        is_wide_enough = longest * size * CODE_LETTER_WIDTH <= box.width
        if is_wide_enough and len(lines) * size * LINE_HEIGHT <= box.height:
            return size
    return CODE_SIZES[-1]


def size_that_fits(lines: Sequence[str], box: Box, sizes: Sequence[int], free: float = 0) -> int:
    """Return the largest of the font sizes with which all lines, wrapped if too long, fit a rectangle; 0 if none fits.

    free: the space below each line, as a multiple of the size.
    """
    for size in sizes:
        broken = sum(len(wrap_text(line, box.width, size)) for line in lines)
        height = size * (broken * LINE_HEIGHT + len(lines) * free)
        if height <= box.height:
            return size
    return 0


def fitting_size(lines: Sequence[str], box: Box, sizes: Sequence[int], free: float = 0) -> int:
    """Return the largest of the font sizes with which all lines, wrapped, fit a rectangle; the last size if none fits.

    >>> fitting_size(["one"], Box(0, 0, 100, 50), (30, 20)), fitting_size(["one two"], Box(0, 0, 100, 50), (30, 20))
    (30, 20)
    """
    return size_that_fits(lines, box, sizes, free) or sizes[-1]
