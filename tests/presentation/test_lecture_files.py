"""The files of a whole lecture: what stands in them is what its scenes compute, in both languages; hostile ones."""

import io
import math
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import unescape

import pytest
import streamlit as st
import torch
from pptx import Presentation

from attention_core.documents.lecture_page import lecture_page
from attention_core.documents.slide_file import slide_file
from pages.export.flow_files import list_drawings
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.kinds.picture import OwnPicture
from pages.lectures.script import Lecture, Scene, load_shipped_lecture
from pages.presentation.lecture_files import make_slide_show
from pages.presentation.lesson_slide import make_lesson_slide
from pages.setup.setup import make_setup
from pages.site.words import load_app_texts, strip_markup, use_language
from tests.lectures.test_scene_kinds import picture_file
from tests.presentation.test_present import EVIL, Presented
from tests.screen.drawn_part import draw_part
from tests.screen.driver import unpack

ADDRESS = "https://attention.example.edu/"
SHOWS = [
    ("ten_minutes", "en"),
    ("ten_minutes", "zh"),
    *(pytest.param("forty_five_minutes", language, marks=pytest.mark.slow) for language in ("en", "zh")),
]


def slides_of(lecture, language="en"):
    with use_language(language):
        return make_slide_show(lecture, {}, ADDRESS, f"{ADDRESS}present").slides


@cache
def draw_slides(name, language):
    """The slides of a lecture that comes with the app, with the parts of lessons in them."""
    with use_language(language):
        drawn = draw_lessons(language) if name == "forty_five_minutes" else {}
        return make_slide_show(load_shipped_lecture(name, language), drawn, ADDRESS, "").slides


def softmax_share(score, others):
    """The share of a score beside others, worked out apart."""
    powers = [math.exp(each) for each in (score, *others)]
    return powers[0] / sum(powers)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_scene_is_a_slide_with_its_words_and_the_numbers_of_its_run(language):
    lecture = load_shipped_lecture("ten_minutes", language)
    slides = slides_of(lecture, language)
    assert [(each.title, each.question, each.notes) for each in slides] == [
        (each.title, each.question, each.note) for each in lecture.scenes
    ]
    largest = f"{100 * softmax_share(6 / math.sqrt(2), [-6 / math.sqrt(2)] + [0] * 5):.0f}"  # q · k is 6, 0 and −6
    undivided = f"{100 * softmax_share(6, [-6] + [0] * 5):.0f}"
    assert (largest, undivided) == ("93", "99")
    for place, share in ((0, largest), (1, largest), (4, undivided)):
        percent = {"en": f"{share} %", "zh": f"{share}%"}[language]
        assert percent in slides[place].answer and percent in slides[place].figures[0]
    assert any("−3.00 × (−1.00) + 3.00 × 1.00 = 6.00" in figure for figure in slides[2].figures)
    assert any("6.00 × 1/√2 = 4.24" in figure for figure in slides[3].figures)
    gathered = -softmax_share(6 / math.sqrt(2), [-6 / math.sqrt(2)] + [0] * 5) + softmax_share(
        -6 / math.sqrt(2), [6 / math.sqrt(2)] + [0] * 5
    )  # the first value of the dog is −1, of Anna 1
    assert f"({gathered:.2f}, 0.00)".replace("-", "−") in slides[0].figures[1]
    scores = {"en": r"\mathrm{scores} =", "zh": r"\text{得分} ="}[language]
    assert slides[2].formulas[-1].startswith(scores) and not slides[4].formulas
    assert all("?" in each.link and each.link.startswith(ADDRESS) for each in slides)


def test_what_moves_are_the_numbers_of_the_scene_in_light_colours_and_it_stands_as_its_map():
    (slide,) = slides_of(Lecture("", (Scene(make_setup(token=5, head=0), "It"),)))
    (moving,) = slide.moving
    head, found = unpack(moving.data)
    numbers = torch.frombuffer(bytearray(found["numbers"]), dtype=torch.float64)
    step = head["steps"]["weights"]
    weights = numbers[step["first"] :][: math.prod(step["shape"])].reshape(step["shape"])
    assert weights[0, 0, 5, 3].item() == pytest.approx(softmax_share(6 / math.sqrt(2), [-6 / math.sqrt(2)] + [0] * 5))
    assert head["palette"]["ground"] == "#ffffff" and head["fills"] and not head["hears"]
    assert slide.pictures[0].map and ">0.93<" in slide.pictures[0].data.decode()


def test_the_exercise_of_a_scene_is_the_row_that_it_is_about():
    scenes = load_shipped_lecture("ten_minutes", "en").scenes
    by_hand = slides_of(Lecture("", (scenes[2],)))[0].exercise
    (_, cells), *_ = by_hand.solution.table.rows
    assert [cell.text for cell in cells] == ["−6.00", "0.00", "0.00", "6.00", "0.00", "0.00", "0.00"]
    assert [len(grid.table.rows) for grid in by_hand.given] == [1, 2]
    masked = slides_of(Lecture("", (scenes[5],)))[0].exercise  # the mask is no calculation: the weights are asked
    (_, cells), *_ = masked.solution.table.rows
    assert [cell.text for cell in cells][:3] == ["0.50", "0.50", "0"]


def numbers_of(grid):
    return [[float(cell.text.replace("−", "-").replace("∞", "inf")) for cell in row] for _, row in grid.table.rows]


def solve(step, given):
    """The row that is asked for, worked out from the numbers that stand on the sheet, without a tensor."""
    first, *others = [numbers_of(grid) for grid in given]
    if step == "weights":
        powers = [math.exp(score) for score in first[0]]
        return [power / sum(powers) for power in powers]
    (matrix,) = others
    return [
        sum(one * line[column] for one, line in zip(first[0], matrix, strict=True)) for column in range(len(matrix[0]))
    ]


CHINESE_STEPS = {
    **{"q\\_projected": "投影后的 q", "scores": "得分", "scaled\\_scores": "缩放后的得分"},
    **{"weights": "权重", "output": "输出"},
}


@pytest.mark.parametrize("name, language", SHOWS)
def test_the_exercises_of_a_lecture_ask_for_many_steps_no_two_for_the_same_and_follow_from_what_is_given(
    name, language
):
    lecture = load_shipped_lecture(name, language)
    slides = draw_slides(name, language)
    exercises = {number: slide.exercise for number, slide in enumerate(slides, 1) if slide.exercise}
    numbers = [each.list_numbers() for each in exercises.values()]
    assert all(one != other for at, one in enumerate(numbers) for other in numbers[:at])
    for number, exercise in exercises.items():
        setup = lecture.scenes[number - 1].setup
        for grid in (*exercise.given, exercise.solution):
            rows = grid.table.rows
            assert grid.table.title.endswith(f"{len(rows)} × {len(rows[0][1])}")
            is_masked = setup is not None and "causal" in str(setup)
            assert "masked" not in grid.table.title or is_masked or setup.run.example == "learned_copy"
        (row,) = numbers_of(exercise.solution)
        latex = exercise.asked.latex
        if r"\cdot" in latex:
            width = int(re.search(r"sqrt\{(\d+)\}", latex)[1])
            wanted = [score / math.sqrt(width) for score in numbers_of(exercise.given[0])[0]]
        else:
            wanted = solve("weights" if "softmax" in latex else "product", exercise.given)
        assert row == pytest.approx(wanted, abs=0.012), (number, latex)
        named, _, worked = exercise.arithmetic.partition(": ")  # which number of the row, and how it comes about
        named = re.sub(r" #\d+", "", named)  # the sheet numbers no words
        (row_name, cells), *_ = exercise.solution.table.rows
        columns = zip(exercise.solution.table.columns, cells, strict=True)
        found = {f"{row_name}, {each}]: {cell.text}" for each, cell in columns}
        assert any(f"{named}: {worked.rpartition(' = ')[2]}".endswith(each) for each in found), (number, named)
    if name == "forty_five_minutes":
        asked = {number: each.asked.latex.partition(" = ")[0] for number, each in exercises.items()}
        wanted = {7: "q\\_projected", 8: "scores", 10: "scaled\\_scores", 14: "output", 16: "scores", 18: "weights"}
        names = CHINESE_STEPS if language == "zh" else {}
        assert all(names.get(step, step) in asked[number] for number, step in wanted.items())
        words = {"en": ("yesterday", "昨天"), "zh": ("yesterday", "昨天")}[language]
        (row, _), *_ = exercises[18].asked.table.rows
        assert row in words and any(word in exercises[18].asked.table.columns for word in words if word != row)


def test_a_scene_that_cannot_be_computed_says_so_and_what_was_written_stays_text():
    refused, evil = (
        Scene(make_setup(heads=7, kv_heads=2), EVIL, EVIL, EVIL),
        Scene(make_setup(text=EVIL), "b\x00ad\ud800", "n\x01", "q"),
    )
    lecture = Lecture(EVIL, (refused, evil))
    with use_language("en"):
        show = make_slide_show(lecture, {}, ADDRESS, ADDRESS)
        text = lecture_page(show, list_drawings())
    assert "heads cannot be used" in " ".join(show.slides[0].figures) and EVIL in unescape(text)
    assert "<img src=x" not in text and text.encode() and show.slides[1].title == "b⟨U+0000⟩ad⟨U+D800⟩"


# ---- scenes of other kinds -------------------------------------------------------------------------------------------
@cache
def draw_lessons(language):
    """The parts of lessons of the longer lecture as its files have them."""
    desk = Presented(lecture="forty_five_minutes", lang=language)
    desk.at.session_state["lecture_files"] = True
    desk.ran(desk.at.run)
    assert not desk.errors() and not desk.charts() and not desk.shows_flow()
    return {part: shown for (part, _), shown in desk.at.session_state["drawn_lesson_parts"].items()}


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.slow)])
def test_a_lesson_is_drawn_out_of_sight_and_its_sentence_and_pictures_are_on_its_slide(language):
    lecture = load_shipped_lecture("forty_five_minutes", language)
    drawn = draw_lessons(language)
    lessons = {scene.shown: at for at, scene in enumerate(lecture.scenes) if scene.kind == "lesson"}
    assert {*drawn} == {*lessons}
    with use_language(language):
        slides = make_slide_show(lecture, drawn, ADDRESS, "").slides
    of_lesson = {part.slug: slides[at] for part, at in lessons.items()}
    for part, at in lessons.items():
        slide = slides[at]
        assert slide.pictures and slide.notes == lecture.scenes[at].note
        assert slide.link.startswith(f"{ADDRESS}{part.slug}?")
        assert "**" not in slide.answer and "Attention Explorer" in slide.source
        assert not any(b"attention.example.edu" in each.data for each in slide.pictures)
    drawer = slides[lessons[LessonPart("induction", "layers")]]
    assert len(drawer.pictures) == 2 and "98" in drawer.answer and not drawer.moving
    picture = next(slide for slide, scene in zip(slides, lecture.scenes, strict=True) if scene.kind == "picture")
    assert picture.pictures[0].kind == "image/png" and "MIT" in picture.source
    share = f"{100 * softmax_share(2, [1, 0, -1]):.0f}"
    assert share in of_lesson["softmax"].answer
    assert [part.name for part in of_lesson["qkv"].moving] == ["lessons/product", "picture"]
    assert [part.name for part in of_lesson["softmax"].moving][:3] == ["flow/slider", "live/told", "lessons/columns"]
    assert "def mask_scores(" in slides[12].code and "numpy" not in slides[12].code
    assert slides[0].figures[0] in lecture.scenes[0].shown.text and len(slides[0].figures) == 4


# What a note says beyond its slide, by scene: numbers of a choice that somebody makes while it is shown, or of what
# is around it. The tests of tests/lectures compute each of them, or read it off the stage.
BEYOND_SLIDE = {
    "ten_minutes": {3: "−6", 8: "0.91 −0.83", 9: "65 29", 10: "500"},
    "forty_five_minutes": {
        **{2: "15 64", 3: "0.88 0.98", 8: "−6", 9: "98", 10: "128", 18: "0.46"},
        **{6: "1", 13: "0", 14: "2"},  # shares that sum to 1, a weight of 0, the second head
        20: "32,896",  # 256 · 257 / 2
    },
}
NUMBER = re.compile(r"[−+]?\d+(?:,\d{3})*(?:\.\d+)?")


def list_numbers(text):
    return {float(found.replace(",", "").replace("−", "-")) for found in NUMBER.findall(text)}


def says_number(number, told):
    """Whether a slide says the number of a note: as it is, or as the share that it is in percent of."""
    decimals = len(f"{number:g}".partition(".")[2])
    return any(number in (each, 100 * each) or (decimals and round(each, decimals) == number) for each in told)


def texts_of_slide(slide):
    pictures = [each.data.decode() for each in slide.pictures if each.kind == "image/svg+xml"]
    in_pictures = [unescape(text) for svg in pictures for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    own = (slide.title, slide.question, slide.answer, *slide.figures, *slide.formulas, *slide.listings())
    return " ".join((*own, *in_pictures))


@pytest.mark.parametrize("name, language", SHOWS)
def test_every_slide_says_the_numbers_of_its_notes(name, language):
    slides = draw_slides(name, language)
    for number, slide in enumerate(slides, start=1):
        told = list_numbers(texts_of_slide(slide))
        beyond = list_numbers(BEYOND_SLIDE[name].get(number, ""))
        missing = {each for each in list_numbers(slide.notes) if not says_number(each, told)}
        assert missing <= beyond, (number, slide.title, missing)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_slide_of_code_has_both_libraries_beside_each_other_and_where_no_head_is_chosen_each_tells(language):
    scenes = load_shipped_lecture("forty_five_minutes", language).scenes
    (slide,) = slides_of(Lecture("", (scenes[12],)), language)
    assert "torch" in slide.code and "np." in slide.code_beside and slide.listings() == [slide.code, slide.code_beside]
    with use_language(language):
        show = make_slide_show(Lecture("", (scenes[12],)), {}, ADDRESS, "")
        page = Presentation(io.BytesIO(slide_file(show))).slides[1]
    left, right = [each for each in page.shapes if each.has_text_frame and "def " in each.text_frame.text]
    assert left.left + left.width <= right.left and "np." in right.text_frame.text and "np." not in left.text_frame.text
    scenes = load_shipped_lecture("ten_minutes", language).scenes
    told = slides_of(Lecture("", (scenes[8],)), language)[0].figures
    assert "83" in told[0] and "89" in told[1]  # the white dog, and who is chased


def test_what_a_lesson_tells_in_its_picture_stands_as_figures_where_nothing_moves():
    _, *told = map(strip_markup, draw_part("encoder").facts)
    pushes = [float(found.replace("−", "-")) for text in told for found in re.findall(r"by ([+−]\d+\.\d\d)", text)]
    total = float(re.search(r"is (\d+\.\d\d)", told[-1])[1])
    assert len(pushes) == 7 and sum(pushes) == pytest.approx(total, abs=0.005 * 8)  # each is rounded
    _, *rows = map(strip_markup, draw_part("tokens").facts)
    words = ["the", "animal", "did", "not", "cross", "the", "street", "because", "it", "was", "too", "tired", "."]
    assert rows[0] == f"Words (13): {' · '.join(words[:-1])} · ."
    assert rows[2].replace(" · ", "").endswith("".join(words)) and f"({sum(map(len, words))})" in rows[2]
    counted = draw_part("decoding").facts
    seen = int(re.search(r"reads (\d+) keys", counted[0])[1])
    given = len(["<start>", "the", "dog", "did", "not", "cross"])
    assert f"{seen} with the cache, {sum(range(given, seen + 1))} without it" in counted[1]


@pytest.mark.parametrize(
    ("slug", "name", "pictures", "said"),
    [
        ("scale", "scores", 1, "before the division (grey)"),  # its colours are no colours there
        ("positions", "distance", 1, "RoPE turns both vectors"),
        ("softmax", "code", 0, ""),
    ],
)
def test_a_drawer_that_stands_amid_what_is_out_of_sight_is_on_its_slide_and_nothing_else(slug, name, pictures, said):
    drawn = draw_part(slug, name)
    with use_language("en"):
        slide = make_lesson_slide(Scene(LessonPart(slug, name), "drawer"), drawn, ADDRESS)
    assert len(slide.pictures) == pictures and said in slide.answer and bool(slide.answer) == bool(said)
    assert ("torch" in slide.code, "numpy" in slide.code_beside) == 2 * (name == "code",)
    assert not drawn.run and ":gray[" not in slide.answer


def test_a_drawer_of_which_nothing_can_be_taken_along_says_so_on_its_slide():
    drawn = draw_part("distance", "time")
    with use_language("en"):
        slide = make_lesson_slide(Scene(LessonPart("distance", "time"), "How long?"), drawn, ADDRESS)
    assert (slide.answer, slide.figures) == ("", ("“How long?” is shown only in the app.",))


def test_that_a_model_guesses_stands_on_the_slides_of_a_setup_and_of_a_lesson():
    far = "The quick brown fox loves my zorb because it is lazy."
    scenes = (Scene(make_setup(example="model_en", text=far), "Far"), Scene(make_setup(example="model_en"), "Near"))
    far_slide, near_slide = slides_of(Lecture("", scenes))
    assert far_slide.figures[0] == "The model guesses here: what “it” refers to (it does not know “zorb”)."
    assert "guesses here" not in " ".join((*near_slide.figures, near_slide.source))
    for slug, part, link in (
        ("encoder", "picture", {"ex": "model_en", "guess": "1"}),
        ("encoder", "sides", {"ex": "model_en"}),
        ("decoding", "picture", {"ex": "model_en_decoder"}),
        ("masks", "future", {"future": "shifted", "said": "The zorb slept."}),
    ):
        drawn = draw_part(slug, part, **{"text": "The zorb slept.", **link})
        with use_language("en"):
            slide = make_lesson_slide(Scene(LessonPart(slug, part), "drawer"), drawn, ADDRESS)
        told = [
            figure for figure in (slide.answer, *slide.figures) if "The model guesses here: it does not know" in figure
        ]
        assert len(told) == 1 and "**" not in told[0], (slug, part)


def test_a_picture_of_ones_own_is_on_its_slide_with_from_whom_it_is():
    shown = OwnPicture(picture_file(), "a cat", "A. Person, CC BY 4.0")
    (slide,) = slides_of(Lecture("", (Scene(shown, "Cat", "note"),)))
    (picture,) = slide.pictures
    assert (picture.data, picture.kind, picture.alt) == (shown.data, "image/png", "a cat")
    assert slide.source == "A. Person, CC BY 4.0" and slide.notes == "note"


# ---- at the desk -----------------------------------------------------------------------------------------------------
@pytest.fixture
def files(monkeypatch):
    offered, draw = {}, st.download_button

    def noted(label, data, *rest, **more):
        offered[rest[0] if rest else more["file_name"]] = data
        return draw(label, data, *rest, **more)

    monkeypatch.setattr(st, "download_button", noted)
    return offered


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_desk_offers_the_lecture_as_files_that_a_thread_without_a_session_makes(language, files, monkeypatch):
    made = []
    monkeypatch.setattr("pages.presentation.lecture_files.make_slide_show", lambda *given: made.append(given) or show)
    desk = Presented(lang=language)
    assert not any(name.startswith("lecture_") for name in files)  # behind a button
    desk.at.session_state["lecture_files"] = True
    desk.ran(desk.at.run)
    names = ["lecture.html", "lecture.pptx", "lecture_exercises_A4.html", "lecture_exercises_Letter.html"]
    assert [name for name in files if name in names] == names and not made
    lecture = load_shipped_lecture("ten_minutes", language)
    short = Lecture(lecture.title, lecture.scenes[:2])
    monkeypatch.undo()
    with use_language(language):
        show = make_slide_show(short, {}, ADDRESS, ADDRESS)
    monkeypatch.setattr("pages.presentation.lecture_files.make_slide_show", lambda *given: made.append(given) or show)
    with ThreadPoolExecutor(1) as thread:
        page, slides, sheet = (thread.submit(files[name]).result() for name in names[:3])
    assert made[0][0] == lecture and made[0][3].endswith(f"lang={language}")
    assert f"<h1>{lecture.title}</h1>" in page and load_app_texts(language)["present.files.solutions"] in sheet
    pages = Presentation(io.BytesIO(slides)).slides
    assert len(pages) == 7 and pages[2].notes_slide.notes_text_frame.text == lecture.scenes[0].note
    assert re.search(r'lang="(\S+)"', page)[1] == load_app_texts(language)["app.tag"]
