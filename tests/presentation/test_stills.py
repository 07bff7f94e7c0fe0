"""The lessons whose picture moves: in slides and on paper it stands as it ends, with licence and source."""

import io
import re
from html import unescape
from itertools import pairwise

import pytest
import torch
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE

from attention_core.documents.lecture_page import lecture_page
from attention_core.documents.slide_file import WIDE_ASPECT, find_picture_size, slide_file
from attention_core.examples.examples import EXAMPLES
from attention_core.learned.language.reading import run_model
from attention_core.learned.translation.reading import aligning_head, run_translator
from pages.export.flow_files import list_drawings
from pages.lectures.kinds.lesson import LessonPart
from pages.lectures.script import Lecture, Scene
from pages.presentation.lecture_files import make_slide_show
from pages.site.words import use_language
from tests.screen.drawn_part import draw_part

ADDRESS = "https://attention.example.edu/"
LICENCE = {"en": "Made with Attention Explorer (MIT licence).", "zh": "MIT 许可证"}
STILLS = ("tokens", "decoding", "encoder", "decoder")
every_language = pytest.mark.parametrize("language", ["en", "zh"])


def show_of(slug, language="en", **choices):
    drawn = draw_part(slug, language=language, **choices)
    part = LessonPart(slug, choices=tuple(choices.items()))
    with use_language(language):
        return make_slide_show(Lecture("", (Scene(part, "title"),)), {part: drawn}, ADDRESS, ADDRESS)


def texts_of(picture):
    return [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture.data.decode())]


def own_texts(slug, language="en", **choices):
    """The texts of the lesson's own picture, and its slide."""
    (slide,) = show_of(slug, language, **choices).slides
    return texts_of(slide.pictures[0]), slide


@every_language
@pytest.mark.parametrize("slug", STILLS)
def test_the_slide_of_a_lesson_holds_its_own_picture_with_licence_and_source_beside_its_figures(slug, language):
    show = show_of(slug, language)
    (slide,) = show.slides
    (picture,) = slide.pictures  # and no map of another run
    text = " ".join(texts_of(picture))
    assert LICENCE[language] in slide.source and slide.link.startswith(f"{ADDRESS}{slug}?lang={language}")
    assert ADDRESS not in text  # it stands beside the picture
    width, height = find_picture_size(picture)
    assert width / height < WIDE_ASPECT and picture.alt  # a wide one would stand small over its figures
    assert slide.moving and slide.moved == 1 and len(slide.figures) >= 3
    page = Presentation(io.BytesIO(slide_file(show))).slides[1]
    (shape,) = [shape for shape in page.shapes if shape.shape_type == MSO_SHAPE_TYPE.PICTURE]
    assert shape._element.nvPicPr.cNvPr.get("descr") == picture.alt
    assert shape.left + shape.width <= 640 * 9525 and shape.width > 450 * 9525
    assert f'class="still" src="{picture.address}"' in lecture_page(show, list_drawings())


# ---- what each of them shows -----------------------------------------------------------------------------------------
def test_the_tokens_stand_cut_in_words_pieces_and_characters_at_the_merges_that_are_looked_at():
    texts, slide = own_texts("tokens", text="the unicorn did not cross .")
    assert texts[3:8] == ["unicorn", "did", "not", "cross", "."] and slide.figures[0].startswith("Words (6)")
    assert any("(dashed): 1" in text for text in texts)
    pieces, letters = rows_below(texts, "Pieces", "Characters")
    assert "".join(pieces) == "␣the␣unicorn␣did␣not␣cross." and "".join(letters) == "theunicorndidnotcross."
    assert "␣did" in pieces and len(pieces) < len(letters)
    texts, _ = own_texts("tokens", text="the unicorn did not cross .", merges="0")
    unmerged, _ = rows_below(texts, "Pieces", "Characters")
    assert "".join(unmerged) == "".join(pieces) and {*map(len, unmerged)} == {1}


def rows_below(texts, *titles):
    """The tokens below each title and its note, up to the next title or the end."""
    ends = [*map(texts.index, titles), len(texts)]
    return [texts[start + 2 : end] for start, end in pairwise(ends)]


@every_language
def test_the_decoder_that_writes_stands_as_it_ends_its_text_whole_and_its_cache_full(language):
    texts, slide = own_texts("decoding", language)
    seen = int(re.search(r"(\d+) (?:keys|个键)", slide.answer)[1])
    words = texts[:seen]
    assert words[0] == "<start>" and words[-1] in ".。" and words[-1] in slide.answer
    assert texts.count("q") == texts.count("k") == texts.count("v") == 3
    assert re.search(rf"\b{seen}\b", slide.figures[0]) and slide.moving[0].answers  # where it moves it says the answer
    run = run_model(f"{language}_asked_decoder", tuple(words))  # the whole text at once, without a cache
    weights = [run[f"{layer}.attention"]["weights"][0, 0, -1] for layer in (1, 2, 3)]
    large = [float(weight) for row in weights for weight in row if weight >= 0.1]
    written = [float(text.strip(" >%")) for text in texts if text.endswith("%")]
    assert written == pytest.approx([100 * weight for weight in large], abs=1.0)


def test_a_stop_that_was_chosen_stands_with_the_word_that_comes_next():
    texts, slide = own_texts("decoding", t="2")
    word, percent = re.search(r"Next comes “(\w+)”, (\d+) %", slide.answer).groups()
    assert f"{word} {percent} %" in texts


@every_language
def test_the_encoder_stands_with_the_hidden_word_what_each_part_pushes_and_the_guesses(language):
    texts, slide = own_texts("encoder", language)
    sentence = tuple(texts[: 1 + max(texts.index(stop) for stop in ".。" if stop in texts)])
    at = sentence.index("<mask>")
    shares = run_model(f"{language}_asked_encoder", sentence)["unembedding"]["probabilities"][0, at]
    most, *others = shares.topk(8).values.tolist()
    percents = [text for text in texts if text.endswith("%")]
    assert float(percents[0].strip(" %")) == pytest.approx(100 * most, abs=0.5) and len(percents) == 1 + len(others)
    pushes = [float(text.replace("−", "-")) for text in texts if re.fullmatch(r"−?\d+\.\d\d", text)]
    assert len(pushes) == 8 and sum(pushes[:7]) == pytest.approx(pushes[7], abs=0.005 * 8)
    assert f"{pushes[7]:.2f}" in slide.figures[-1]


def test_the_decoder_stands_with_the_threads_of_the_word_that_is_looked_at_and_the_word_that_it_writes():
    texts, slide = own_texts("decoder")
    source = ("<start>", *["the", "dog", "that", "saw", "the", "cat", "is", "tired", "."])
    target = ("<start>", *["看见", "猫", "的", "狗", "很", "累", "。"])
    assert {*source, *target} <= {*texts} and slide.figures[0].startswith("Of the words so far, “的” attends")
    picture = slide.pictures[0].data.decode()
    widths = [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', picture)]
    run = run_translator(EXAMPLES["translator"].translator, source, target)
    head = aligning_head(EXAMPLES["translator"].translator)
    drawn = [run["2.attention"]["weights"][0, head, 3, :4], run["2.cross"]["weights"][0, head, 3]]
    for weight in torch.cat(drawn).tolist():  # those of the row, and none to words that come later
        assert min(abs(width - 1 - 9 * weight) for width in widths) < 1e-3
    assert texts[texts.index("The next word") + 1 :][:2] == ["狗", ">99 %"]
