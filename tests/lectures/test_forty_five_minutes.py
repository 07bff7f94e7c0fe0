"""The lecture of forty-five minutes: its time, its order, and every number that its notes say."""

import io
import json
import re
from dataclasses import replace

import pytest
from PIL import Image

from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.inputs.matrix_link import read_matrix
from attention_core.inputs.matrix_values import REMOVED
from pages.lectures.kinds.lesson import PICTURE_PART, TRAINING_PART, LessonPart
from pages.lectures.kinds.picture import find_picture_size
from pages.lectures.scene_kinds import SCENE_KINDS
from pages.lectures.script import load_shipped_lecture
from pages.runs.compute import compute_run
from pages.setup.setup import make_setup
from pages.site.words import LANGUAGES
from tests.pictures.library import HEIGHT, WIDTH, WORDS
from tests.presentation.test_present import Presented
from tests.screen.driver import unpack

NAME = "forty_five_minutes"
SCENES = {language: load_shipped_lecture(NAME, language).scenes for language in LANGUAGES}
LESSON_PLACES = [at for at, scene in enumerate(SCENES["en"]) if scene.kind == "lesson"]
NUMBER = re.compile(r"[−+]?\d+(?:,\d{3})*(?:\.\d+)?")


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_takes_forty_five_minutes_and_begins_with_the_reason(language):
    scenes = SCENES[language]
    assert load_shipped_lecture(NAME, language).total_minutes() == 45 and len(scenes) == 24
    assert all(scene.title and scene.note and scene.minutes and not scene.unread for scene in scenes)
    assert all(scene.question for scene in scenes if scene.kind not in ("text", "code"))
    slugs = [scene.shown.slug for scene in scenes if scene.kind == "lesson"]
    assert slugs[:4] == ["bottleneck", "distance", "qkv", "softmax"] and slugs[-2:] == ["induction", "explanation"]
    assert all(scene.minutes >= len(scene.note) / 900 for scene in scenes)  # 900 letters a minute is very fast


@pytest.mark.parametrize("language", LANGUAGES)
def test_scenes_of_every_kind_are_in_it_and_of_lessons_a_picture_a_drawer_and_a_training(language):
    scenes = SCENES[language]
    assert {scene.kind for scene in scenes} == {*SCENE_KINDS}
    parts = [scene.shown for scene in scenes if scene.kind == "lesson"]
    assert {TRAINING_PART, PICTURE_PART, "layers"} == {shown.part for shown in parts}
    trained = parts.index(LessonPart("induction", TRAINING_PART))
    assert parts[trained + 1] == LessonPart("induction", "layers")  # how the heads that were trained do it


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_own_picture_comes_before_the_matrices_is_small_and_says_that_its_lines_are_not_computed(language):
    scenes = SCENES[language]
    (at,) = [at for at, scene in enumerate(scenes) if scene.kind == "picture"]
    shown = scenes[at].shown
    assert scenes[at + 1].shown.slug == "qkv" and scenes[at].question
    assert find_picture_size(shown.data) == (WIDTH, HEIGHT) and len(shown.data) < 50_000
    image = Image.open(io.BytesIO(shown.data)).convert("RGB")
    colours = {f"#{red:02x}{green:02x}{blue:02x}" for _, (red, green, blue) in image.getcolors(WIDTH * HEIGHT)}
    palette = LIGHT_PALETTE
    assert {palette.q, palette.k, palette.v, palette.share, palette.ground} <= colours
    words = WORDS[language]
    assert all(word in shown.alt for word in (*words["spines"], *words["pages"], words["answer"]))
    assert {"en": "not computed", "zh": "不是算出来的"}[language] in shown.source


def test_both_languages_have_the_same_scenes():
    for one, other in zip(*SCENES.values(), strict=True):
        assert (one.kind, one.minutes, one.steps) == (other.kind, other.minutes, other.steps)
        if one.kind == "lesson":
            assert (one.shown.slug, one.shown.part) == (other.shown.slug, other.shown.part)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_of_the_workbench_is_said_in_ten_minutes_too_where_each_number_is_computed(language):
    tested = [replace(scene, minutes=0) for scene in load_shipped_lecture("ten_minutes", language).scenes]
    of_workbench = [replace(scene, minutes=0) for scene in SCENES[language] if scene.kind == "workbench"]
    assert len(of_workbench) == 7 and all(scene in tested for scene in of_workbench)


# ---- what the notes say in numbers -----------------------------------------------------------------------------------
# Numbers that are asked or named, or hold by definition; those of qkv and heads are computed below. Of a part of a
# lesson that is not its picture or its training, its name stands behind the lesson's.
GIVEN = {
    "qkv": {"31", "11"},
    "softmax": {"2", "1"},
    "scale": {"0", "1", "64", "128"},
    "heads": {"1", "2", "−1", "−0.29"},
    "positions": {"+1"},
    "cross": {"1"},
    "decoding": {"256", "32,896"},
    "induction.layers": {"2", "7"},  # the layer that is pressed, and a symbol
}


def name_part(shown):
    return shown.slug if shown.part in (PICTURE_PART, TRAINING_PART) else f"{shown.slug}.{shown.part}"


def said_on_stage(screen):
    """All sentences of the stage; of those that follow a slider the one of its position."""
    texts = [*screen.texts(), *(caption.value for caption in screen.at.caption)]
    for part in screen.at.get("bidi_component"):
        data = json.loads(part.proto.json or "null")
        if isinstance(data, dict) and "texts" in data and "position" in data:
            texts.append("".join(data["texts"][data["position"]]))
        played = unpack(part.proto.bytes)[0] if part.proto.bytes else {}
        if "counts" in played and "stop" in played:
            stop = played["stop"]
            texts += [
                played["told"]["cached"][stop],
                *(text for each in played["counts"] for text in each["texts"][stop]),
            ]
        elif isinstance(played, dict):  # a decoder and a block: the notes ask to press Play
            texts += played["told"] if isinstance(played.get("told"), list) else []
            texts += [stop["told"] for stop in played.get("walk", {}).get("stops", ())]
    for alt in screen.charts():  # sentences that stand in a picture over their rows
        table = screen.table(alt)
        texts += [text for text in table.get("name", ()) if text.endswith((".", "。"))]
    return " ".join(texts)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("at", LESSON_PLACES)
def test_every_number_of_a_note_is_said_by_the_picture_beside_it(at, language):
    scene = SCENES[language][at]
    screen = Presented(lecture=NAME, scene=str(at + 1), step="lesson", lang=language)
    assert screen.errors() == []
    told = {*NUMBER.findall(said_on_stage(screen))}
    assert {*NUMBER.findall(scene.note)} <= told | GIVEN.get(name_part(scene.shown), set())


@pytest.mark.parametrize("example", ["en_it", "zh_ta"])
def test_without_matrices_it_attends_most_to_itself(example):
    nothing = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), REMOVED)
    row = compute_run(make_setup(example=example, heads=1, scale=1.0, **nothing).run, None)[0]["weights"][0, 0, 5]
    assert [f"{100 * share:.0f}" for share in row.tolist()] == ["11"] * 5 + ["31", "11"]


@pytest.mark.parametrize("example", ["en_colour", "zh_colour"])
def test_as_one_head_the_colour_of_the_dog_comes_out_weaker(example):
    two, one = (compute_run(make_setup(example=example, heads=heads).run, None)[0] for heads in (None, 1))
    colour = two.labels["D_out"].index("colour")
    assert [f"{run['output'][0, 4, colour]:.2f}" for run in (two, one)] == ["-0.83", "-0.29"]


@pytest.mark.parametrize("example", ["en_colour", "zh_colour"])
def test_where_the_slider_says_plus_one_every_word_looks_at_the_word_after_it(example):
    turned = compute_run(make_setup(example=example, w_q=read_matrix("~3.0=8")).run, None)[0]
    assert turned["weights"][0, 0, :-1].argmax(-1).tolist() == [1, 2, 3, 4]


def test_the_keys_without_a_cache_are_the_sum_of_all_lengths():
    assert sum(range(1, 257)) == 32_896


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_second_seven_finds_the_symbol_after_the_first_where_the_second_layer_is_pressed(language):
    at = next(at for at in LESSON_PLACES if SCENES[language][at].shown.part == "layers")
    screen = Presented(lecture=NAME, scene=str(at + 1), step="lesson", lang=language)
    screen.type("induction.layer", {"en": "layer 2", "zh": "第 2 层"}[language])
    assert screen.errors() == [] and "98" in said_on_stage(screen)
    weights = compute_run(make_setup(example="learned_copy").run, None)[0]["weights"][0]  # of that layer, (H, T, S)
    assert weights[:, 7, 2].min() > 0.99
