"""A lecture as files: what its slides hold stands in each of them, where it belongs, as text."""

import io
import json
import re
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser
from zipfile import ZipFile

import pytest
import torch
from PIL import Image
from pptx import Presentation

from attention_core import attend_qkv
from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.exercise_sheet import cell_exercise, exercise_sheet
from attention_core.documents.lecture_page import MAX_MOVING_BYTES, PartDrawing, bound_moving, lecture_page
from attention_core.documents.picture_files import svg_size, svg_text
from attention_core.documents.provenance import Provenance
from attention_core.documents.slide_file import (
    BODY_BOX,
    EMU_PER_PX,
    LINE_HEIGHT,
    MAX_PICTURE_SCALE,
    POINTS_PER_PX,
    SLIDE_HEIGHT_PX,
    SLIDE_WIDTH_PX,
    Box,
    fitting_size,
    slide_file,
)
from attention_core.documents.slides import SLIDE_SCALE, MovingPart, Slide, SlidePicture, SlideShow, SlideWords
from attention_core.drawing.charts import head_map
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.text_layout import PictureTexts
from attention_core.record.expressions import Ref
from tests.session.test_hostile_words import HOSTILE

LINK = "https://attention.example.edu/?ex=en_it"
SOURCE = Provenance("Keys & <queries>", LINK, ("Made with it (a licence).", "Random: q, from seed 3."))
DRAWINGS = {
    "flow": PartDrawing("export default function () {}\n", '<div class="flow"></div>', ".flow { color: red }"),
    "cloud": PartDrawing("export default () => {};\n", "<p></p>", ""),
}
WORDS = SlideWords(
    language="en",
    answer="Show it",
    notes="Notes",
    previous="Back",
    next="Next",
    keys="Keys lead on.",
    open="Open it",
    minutes="{} min".format,
    place="{} / {}".format,
    no_font="no font for {}".format,
    given="Given:",
    asked="To fill in:",
    solutions="Solutions",
    nothing="Nothing to calculate.",
)
NUMBERS = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], dtype=torch.float64)
TRACE = attend_qkv(NUMBERS, NUMBERS, NUMBERS)
NAMES = PictureTexts(lambda ref: f"{ref.step} {ref.index}", lambda axis, position: f"{axis}{position}")
TEXTS = DocumentTexts("en", "", (), NAMES, lambda part: part.step, str)


@cache
def map_svg():
    return svg_text(head_map(TRACE, 0, NAMES, LIGHT_PALETTE), SOURCE, LIGHT_PALETTE, is_titled=False)


def picture(**parts):
    return SlidePicture(**{"data": map_svg().encode(), "alt": "a map"} | parts)


def ready_picture():
    """A picture of 300 x 100 pixels that is ready: a map is drawn anew for every file, which takes long."""
    pixels = io.BytesIO()
    Image.new("RGB", (300, 100)).save(pixels, "PNG")
    return SlidePicture(pixels.getvalue(), "mine", "image/png")


def show(*slides, title="Keys & <queries>"):
    return SlideShow(replace(SOURCE, title=title), slides, WORDS)


FIRST = Slide(
    title="First",
    question="Which?",
    answer="This one.",
    pictures=(picture(), picture()),
    moving=(MovingPart("flow", b"numbers", answers=True),),
    formulas=(r"\mathrm{scores} = \textcolor{#0067A5}{Q}\,\textcolor{#B34700}{K}^{\top}",),
    figures=("0.50 × 2.00 = 1.00",),
    notes="Say this.\nThen that.",
    minutes=3,
    link=LINK,
    source="A licence.",
    exercise=cell_exercise(TRACE, Ref("scores", (0, 0, 2, 1)), TEXTS, "Multiply."),
)
SECOND = Slide(title="Second", minutes=2)


def pages_of(shown):
    return list(Presentation(io.BytesIO(slide_file(shown))).slides)


def texts_of(page):
    return [shape.text_frame.text for shape in page.shapes if shape.has_text_frame]


def test_slides_hold_the_question_then_what_answers_it_as_text_and_the_notes():
    title, question, answer, figures, second = pages_of(show(FIRST, SECOND))
    assert title.shapes.title.text_frame.text == "Keys & <queries>"
    assert "1 · First · 3 min\n2 · Second · 2 min" in texts_of(title)
    assert f"5 min\n{LINK}\nMade with it (a licence).\nRandom: q, from seed 3." in texts_of(title)
    assert [page.shapes.title.text_frame.text for page in (question, answer, figures)] == ["First"] * 3
    assert "Which?" in texts_of(question) and "This one." not in texts_of(question)
    assert "This one." in texts_of(answer) and "scores = Q KT\n0.50 × 2.00 = 1.00" in texts_of(figures)
    noted = [page.notes_slide.notes_text_frame.text for page in (question, answer, figures)]
    assert noted == ["Say this.\nThen that."] * 3
    assert second.shapes.title.text_frame.text == "Second" and "2 / 2 · 2 min" in texts_of(second)
    runs = [run for shape in figures.shapes if shape.has_text_frame for run in shape.text_frame.paragraphs[0].runs]
    assert [run.hyperlink.address for run in runs if run.text == "Open it"] == [LINK]
    colours = {run.text.strip(): str(run.font.color.rgb) for run in runs}
    assert (colours["Q"], colours["K"]) == ("0067A5", "B34700")


def test_pictures_are_sharp_and_told_and_nothing_lies_outside_a_slide_or_over_a_picture():
    long = replace(FIRST, title="word " * 24, answer="word " * 60, figures=("0.5 × 2 + " * 60,) * 4)
    for page in pages_of(show(FIRST, long, SECOND)):
        boxes = []
        for shape in page.shapes:
            left, top, width, height = (
                edge / EMU_PER_PX for edge in (shape.left, shape.top, shape.width, shape.height)
            )
            assert left >= 0 and top >= 0 and left + width <= SLIDE_WIDTH_PX and top + height <= SLIDE_HEIGHT_PX
            boxes.append((left, top, left + width, top + height))
            if hasattr(shape, "image"):
                pixels = Image.open(io.BytesIO(shape.image.blob)).size
                assert pixels[0] >= 1.99 * width and pixels[0] / pixels[1] == pytest.approx(width / height, rel=0.01)
                assert shape._element.nvPicPr.cNvPr.get("descr") == "a map"
        for place, one in enumerate(boxes):
            for other in boxes[place + 1 :]:
                assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] + 1 or other[3] <= one[1] + 1
    svg = FIRST.pictures[0].data.decode()
    width = float(re.search(r'width="(\d+)"', svg)[1])
    assert Image.open(io.BytesIO(FIRST.pictures[0].pixels())).size[0] == SLIDE_SCALE * width


def pictures_on(page):
    return [shape for shape in page.shapes if hasattr(shape, "image")]


def test_a_picture_is_as_large_as_its_room_lets_it_be_and_two_share_it():
    one, two = (pages_of(show(Slide("x", pictures=(picture(),) * count)))[1] for count in (1, 2))
    (alone,) = pictures_on(one)
    width, height = svg_size(map_svg())
    scale = min(BODY_BOX.height / height, MAX_PICTURE_SCALE)
    assert alone.height / EMU_PER_PX == pytest.approx(scale * height, abs=1)
    beside = pictures_on(two)
    half = BODY_BOX.split(2, is_across=True)[0]
    scale = min(half.width / width, half.height / height, MAX_PICTURE_SCALE)
    assert beside[0].top == beside[1].top and beside[1].width / EMU_PER_PX == pytest.approx(scale * width, abs=1)
    (own,) = pictures_on(pages_of(show(Slide("x", pictures=(ready_picture(),))))[1])
    assert own.width / EMU_PER_PX == 300  # as its pixels allow


def test_more_titles_stand_in_columns_so_that_they_can_be_read():
    def sizes_of(count):
        title = pages_of(show(*[Slide(f"Scene {number}") for number in range(count)]))[0]
        frames = [
            shape.text_frame for shape in title.shapes if shape.has_text_frame and "Scene" in shape.text_frame.text
        ]
        return len(frames), round(frames[0].paragraphs[0].runs[0].font.size.pt / POINTS_PER_PX)

    assert sizes_of(5) == (1, 28) and sizes_of(20) == (2, 28) and sizes_of(60) == (3, 16)


def test_lines_of_code_are_not_broken_and_the_text_fits_over_the_foot():
    code = replace(SECOND, code="x" * 96 + "\ny")
    (_, page) = pages_of(show(code))
    (frame,) = [shape.text_frame for shape in page.shapes if shape.has_text_frame and "xx" in shape.text_frame.text]
    (run,) = frame.paragraphs[0].runs
    assert run.text == "x" * 96 and run.font.size.pt / POINTS_PER_PX * 0.6 * 96 <= BODY_BOX.width
    lines = ["line"] * 9
    size = fitting_size(lines, Box(0, 0, 100, 300), (30, 20), free=1 / 3)
    assert size == 20 and 9 * 20 * (LINE_HEIGHT + 1 / 3) <= 300


def test_chinese_letters_have_a_font_without_serifs():
    with ZipFile(io.BytesIO(slide_file(show(SECOND)))) as file:
        theme = file.read("ppt/theme/theme1.xml").decode()
    assert re.findall('<a:ea typeface="([^"]*)"', theme)[:2] == ["Microsoft YaHei"] * 2


def test_a_picture_with_letters_that_no_font_has_is_left_out_and_the_slide_says_so():
    unread = picture(data=FIRST.pictures[0].data.replace(b"T0", "\U00012000".encode()))
    (_, page) = pages_of(show(Slide("Old", pictures=(unread,))))
    assert not [shape for shape in page.shapes if hasattr(shape, "image")]
    assert "no font for \U00012000" in texts_of(page)


# ---- the page --------------------------------------------------------------------------------------------------------
class Tags(HTMLParser):
    """The tags and the texts that a browser finds."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_has_a_section_for_each_slide_and_asks_no_network():
    text = lecture_page(show(FIRST, SECOND), DRAWINGS)
    read = Tags(text)
    assert read.tags.count("section") == 3
    beats = [value for _, name, value in read.attributes if name == "data-beat"]
    assert beats == ["question", "picture", "figures", "picture"]
    for said in ("Keys & <queries>", "Which?", "This one.", "0.50 × 2.00 = 1.00", "Say this.\nThen that.", "5 min"):
        assert said in read.texts
    sources = [value for tag, name, value in read.attributes if name in ("src", "href") and not value.startswith("#")]
    assert all(value.startswith("data:image/svg+xml;base64,") or value == LINK for value in sources)
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy and "http" not in policy
    assert "const given = function () {}" in text and "export default" not in text
    assert 'DRAWINGS["flow"]' in text and 'DRAWINGS["cloud"]' not in text  # nothing that no slide shows


def test_what_moves_stands_in_the_order_of_its_part_with_the_pictures_between():
    moving = (MovingPart("cloud", {"count": 2}), MovingPart("picture", {"at": 1}))
    read = Tags(lecture_page(show(replace(FIRST, moving=moving, moved=2)), DRAWINGS))
    (parts,) = [json.loads(value) for _, name, value in read.attributes if name == "data-parts"]
    assert parts == [{"name": "cloud", "data": {"count": 2}}, {"name": "picture", "data": {"at": 1}}]
    looks = [value for tag, name, value in read.attributes if (tag, name) == ("img", "class")]
    assert looks == ["still", "still"]  # on a screen both are seen among what moves
    assert ("p", "class", "fact") in read.attributes  # which does not say the answer


def test_what_moves_has_a_bound_and_stands_beyond_it():
    large = replace(FIRST, moving=(MovingPart("flow", bytes(MAX_MOVING_BYTES)),))
    slides = bound_moving(show(FIRST, large, SECOND, FIRST)).slides
    assert [len(slide.moving) for slide in slides] == [1, 0, 0, 1]


@cache
def plain_tags():
    """The tags of a lecture page and of an exercise sheet whose words are all plain."""
    plain = show(replace(FIRST, notes="x", pictures=(ready_picture(),) * 2))
    return Tags(lecture_page(plain, DRAWINGS)).tags, Tags(exercise_sheet(plain, "A4")).tags


@pytest.mark.parametrize("word", [*HOSTILE[:12], "</script><script>alert(1)</script>", '" onclick="x', "{{ 1 }}"])
def test_no_word_is_markup_in_any_file(word):
    parts = dict.fromkeys(("title", "question", "answer", "notes", "source"), word)
    hostile = show(replace(FIRST, **parts, figures=(word,), pictures=(ready_picture(),) * 2), title=word)
    page, sheet = Tags(lecture_page(hostile, DRAWINGS)), Tags(exercise_sheet(hostile, "A4"))
    assert (page.tags, sheet.tags) == plain_tags()
    assert word.strip() in " ".join(page.texts)
    assert len(pages_of(hostile)) == 4


# ---- the exercises ---------------------------------------------------------------------------------------------------
def test_the_sheet_asks_for_a_row_and_solves_it_on_a_page_of_its_own():
    text = exercise_sheet(show(SECOND, FIRST), "Letter")
    task, solution = text.split('<div class="page"></div>')
    assert "2 · First" in task and "1 · Second" not in task
    numbers = r"<td>([^<]+)</td>"
    q_of_third, keys = ["1.00", "1.00"], ["1.00", "0.00", "1.00", "0.00", "2.00", "1.00"]  # the keys stand transposed
    assert re.findall(numbers, task) == q_of_third + keys
    assert task.count('<td class="blank">') == 3
    assert re.findall(numbers, solution) == ["1.00", "2.00", "2.00"]  # (1, 1) with (1, 0), (0, 2), (1, 1)
    assert "1.00 × 0.00 + 1.00 × 2.00 = 2.00" in solution


def test_an_exercise_and_its_solution_are_each_on_one_page():
    text = exercise_sheet(show(FIRST, SECOND, FIRST), "A4")
    together = re.findall("<section>(.*?)</section>", text, re.DOTALL)
    assert [re.findall(r"(\d · \w+)<", part) for part in together] == [["1 · First"], ["3 · First"]] * 2
    assert all(part.count("<table") == count for part, count in zip(together, (3, 3, 1, 1), strict=True))
    assert "section { break-inside: avoid }" in text and "Multiply." in together[0]


def test_what_is_wider_than_paper_or_only_copied_is_no_exercise_and_the_sheet_says_that_there_is_none():
    wide = attend_qkv(*[torch.ones(13, 2)] * 3)
    assert cell_exercise(wide, Ref("scores", (0, 0, 0, 0)), TEXTS, "") is None
    assert cell_exercise(TRACE, Ref("masked_scores", (0, 0, 0, 0)), TEXTS, "") is None
    assert "Nothing to calculate." in exercise_sheet(show(SECOND), "A4")
