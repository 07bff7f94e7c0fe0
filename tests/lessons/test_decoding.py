"""Decoding: what a step computes with a cache and without one, that it is the same attention, what a cache holds."""

import json
from dataclasses import replace

import pytest

from attention_core.variants.kv_cache import gap_to_full
from pages.runs.cache import decoding_steps_for, trace_for
from pages.setup.setup import Setup
from tests.screen.lesson import Lesson

CAUSAL = Setup(example="en_it_causal")


def marks(lesson, triangle):
    """The marks of a triangle's cells, row by row."""
    cells = lesson.table(triangle).query("kind == 'cell'")
    return ["".join(row["text"].where(row["text"] != "", ".")) for _, row in cells.groupby("row")]


def test_the_triangle_of_what_is_computed_and_kept():
    lesson = Lesson("decoding", lang="en").set("t", 6)
    assert marks(lesson, "with") == ["+......", "=+.....", "==+....", "===+...", "====+..", "=====+.", "======+"]
    assert marks(lesson, "without") == ["+......", "++.....", "+++....", "++++...", "+++++..", "++++++.", "+++++++"]
    assert "With a cache: 7 computed" in [*lesson.table("with")["text"]]
    assert "Without a cache: 28 computed" in [*lesson.table("without")["text"]]
    assert lesson.fact() == "Step 7, “barked”: with a cache it computes 1 key and reads 6; without one it computes 7."


def test_it_opens_at_the_word_that_tells_the_story_and_later_steps_are_not_there_yet():
    lesson = Lesson("decoding", lang="en")
    assert lesson.fact() == "Step 6, “it”: with a cache it computes 1 key and reads 5; without one it computes 6."
    assert marks(lesson, "without")[5:] == ["++++++.", "......."]
    assert lesson.number("row", "weights [head 1, it, dog]") == pytest.approx(0.945, abs=5e-4)
    assert len(lesson.table("row").query("kind == 'cell'")) == 6  # of seven words, one of which is not there yet


def test_the_first_step_reads_nothing():
    lesson = Lesson("decoding", t="0", lang="en")
    assert lesson.fact() == "Step 1, “Anna”: with a cache it computes 1 key and reads 0; without one it computes 1."
    assert lesson.number("row", "weights [head 1, Anna, Anna]") == 1
    for drawer in ("same", "size", "kept", "code"):
        assert lesson.open(drawer).errors() == []


def test_at_256_tokens_32896_keys_against_256():
    lesson = Lesson("decoding", lang="en")
    assert lesson.widgets()["guess"].options == ["256", "512", "32,896", "65,536"]
    assert not lesson.says("32,896** without")
    lesson.choose("guess", "32,896")
    assert lesson.says("As predicted")
    assert lesson.says("After 256 tokens **256** keys were computed with a cache, and **32,896** without")
    lesson.set("length", 1024)
    assert lesson.says("**1,024** keys were computed with a cache, and **524,800** without")
    assert lesson.choose("guess", "1,048,576").says("Not as predicted")


def test_a_click_on_a_row_goes_to_its_step():
    lesson = Lesson("decoding", lang="en").click_cell("with", "states", "3,1")
    assert lesson.fact().startswith("Step 4, “dog”")
    assert lesson.link()["t"] == "3"
    assert lesson.click_cell("without", "states", "99,1").fact().startswith("Step 4, “dog”")


def test_a_number_of_the_step_leads_to_what_was_kept():
    lesson = Lesson("decoding", lang="en").click_cell("row", "weights", "0,0,0,3")
    for step, index in (
        ("masked_scores", [0, 0, 0, 3]),
        ("scaled_scores", [0, 0, 0, 3]),
        ("scores", [0, 0, 0, 3]),
        ("k", [0, 0, 3, 0]),
        ("k_cache", [0, 0, 3, 0]),
    ):
        lesson.follow("row", step, index)
        assert lesson.link()["cell"] == ",".join(["row", "", step, *map(str, index)])


@pytest.mark.parametrize("form", ["weights", "head_outputs", "output"])
def test_a_step_is_its_row_of_the_full_pass(form):
    lesson = Lesson("decoding", open="same", form=form, lang="en")
    assert lesson.says("Over all 7 steps the two differ by at most 0")
    where = {"weights": "it, dog", "head_outputs": "it, 1", "output": "it, noun"}[form]
    heads = "" if form == "output" else "head 1, "
    alone, full = (lesson.number(picture, f"{form} [{heads}{where}]") for picture in ("alone", "full"))
    assert alone == pytest.approx(full, abs=1e-15)
    assert gap_to_full(decoding_steps_for(CAUSAL), trace_for(CAUSAL), form) < 1e-15


def test_the_bytes_of_a_cache_and_what_grouped_heads_and_a_window_make_of_them():
    lesson = Lesson("decoding", open="size", lang="en")
    assert lesson.says("4,096 tokens, 32 layers, 32 key/value heads of width 128, float16: **2 GiB**")
    lesson.choose("kv_heads", "8: grouped")
    assert lesson.says("8 key/value heads of width 128, float16: **512 MiB** instead of 2 GiB")
    lesson.choose("window", "the last 1,024")
    assert lesson.says("**128 MiB** instead of 2 GiB")
    lesson.set("tokens", 131072)
    assert lesson.says("**128 MiB** instead of 64 GiB")
    lesson.choose("dtype", "float32").set("layers", 80)
    assert lesson.says("**640 MiB** instead of 320 GiB")


def test_a_latent_is_smaller_than_grouped_heads_and_larger_than_one():
    lesson = Lesson("decoding", open="size", lang="en")  # 4,096 tokens, 32 layers, 512 + 64 numbers of 2 bytes
    lesson.choose("kv_heads", "none: a latent")
    assert lesson.says("a latent of 512 numbers and 64 turned ones") and lesson.says("**144 MiB** instead of 2 GiB")
    assert lesson.says("7 tokens kept × (3 numbers of the latent + 2 turned) × 2 bytes = 70. Its tensors hold **70**")


def test_a_state_gives_what_the_map_gives():
    lesson = Lesson("decoding", open="state", lang="en")
    assert lesson.says("a head keeps 2 × 2 numbers for features times values, and 2 for the features, 6 in all")
    assert lesson.says("is row 6 of the map's output, to ")
    lesson.set("reads", 1)
    assert lesson.says("after 2 tokens a head keeps 2 × 2") and "memory_2" in lesson.link().get("cell", "memory_2")
    lesson.click_cell("memory", "memory_2", "0,0,1,1").follow("memory", "memory_1", [0, 0, 1, 1])
    assert lesson.link()["cell"] == "memory,,memory_1,0,0,1,1"


def test_the_formula_is_what_the_tensors_of_the_readers_sentence_hold():
    lesson = Lesson("decoding", open="size", lang="en")
    assert lesson.says("7 tokens kept × 2 key/value heads × (2 + 2) numbers × 2 bytes = 112. Its tensors hold **112**")
    lesson.choose("kv_heads", "1: multi-query")
    assert lesson.says("7 tokens kept × 1 key/value heads × (2 + 2) numbers × 2 bytes = 56. Its tensors hold **56**")
    lesson.set("text", "Tom read").choose("dtype", "float32")
    assert lesson.says("2 tokens kept × 1 key/value heads × (2 + 2) numbers × 4 bytes = 32. Its tensors hold **32**")
    lesson.set("text", "Tom read and he laughed").choose("window", "the last 1,024")
    assert lesson.says("3 tokens kept × 1 key/value heads × (2 + 2) numbers × 4 bytes = 48. Its tensors hold **48**")


@pytest.mark.parametrize("positions", ["none", "rope", "alibi"])
def test_positions_do_not_disturb_what_was_kept(positions):
    lesson = Lesson("decoding", open="kept", positions=positions, lang="en")
    assert any("at most 0." in text for text in lesson.texts())
    kept = lesson.number("cache", "k_cache [head 1, dog, 1]", row=None) if positions != "rope" else None
    assert kept in (-1, None)
    assert ("bias" in lesson.charts()) == (positions == "alibi")
    if positions == "rope":  # turned by 3 radians: (−1, 1) becomes (−cos 3 − sin 3, cos 3 − sin 3)
        assert lesson.number("cache", "k_cache [head 1, dog, 1]") == pytest.approx(0.8489, abs=1e-4)


def test_a_shorter_sentence_has_fewer_steps_and_a_long_word_does_not_break_it():
    lesson = Lesson("decoding", t="6", lang="en").set("text", "Tom laughed")
    assert lesson.fact().startswith("Step ") and len(marks(lesson, "with")) == 2
    for text in ("one", "the the the", "他 笑", "q " * 16, "x" * 40 + " y"):
        assert lesson.set("text", text).errors() == []
    assert "at most 16 tokens" in lesson.set("text", "q " * 17).errors()[0]


def test_the_door_shows_the_full_causal_run_at_the_same_word():
    lesson = Lesson("decoding", t="3", lang="en")
    lesson.press("door_workbench")
    setup = lesson.at.session_state["setup"]
    assert (setup.example, setup.masks, setup.token) == ("en_it_causal", ("causal",), 3)
    assert json.dumps(lesson.errors()) == "[]"


def test_the_keys_of_a_step_have_the_words_that_are_kept():
    full, slid = (decoding_steps_for(replace(CAUSAL, masks=masks))[5] for masks in (("causal",), ("sliding:3",)))
    assert full.labels["T"] == slid.labels["T"] == ("it",)
    assert full.labels["S"] == ("Anna", "fed", "the", "dog", "and", "it")
    assert slid.labels["S"] == ("dog", "and", "it")
