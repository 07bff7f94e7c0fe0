"""The lesson on tokens: three ways to cut a sentence, how pieces are chosen, and what a token's vector is."""

import json
from collections import Counter

import pytest
import torch

from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.shipped import load_model
from attention_core.learned.pieces.byte_pairs import cut_pieces
from attention_core.learned.pieces.shipped import LENGTH_MERGES, load_pieces, measure_lengths
from tests.screen.lesson import Lesson


def picture(lesson):
    """What the component is told."""
    (part,) = lesson.parts("tokens")
    return json.loads(part.proto.json)


def shown(tokens):
    return [token["shown"] for token in tokens]


def letters(text, tokens):
    """The letters that each token stands for."""
    return [text[token["first"] : token["last"]] for token in tokens]


def test_one_sentence_in_three_ways():
    data = picture(Lesson("tokens", lang="en"))
    words, pieces, characters = data["rows"]
    text = "the animal did not cross the street because it was too tired ."
    assert data["original"] == text
    assert shown(words["tokens"]) == letters(text, words["tokens"]) == text.split()
    assert shown(characters["tokens"]) == letters(text, characters["tokens"]) == list(text.replace(" ", ""))
    assert pieces["tokens"] == []
    first, last = data["stages"][0], data["stages"][-1]
    assert (
        first["merges"] == 0
        and "".join(shown(first["tokens"])) == "".join(f"␣{word}" for word in text.split())[:-2] + "."
    )
    table = load_pieces("en")
    assert shown(last["tokens"]) == [
        piece.replace("▁", "␣") for piece in cut_pieces(text, table.merges, table.characters)
    ]
    for stage in data["stages"]:
        assert "".join(letters(text, stage["tokens"])) == text.replace(" ", "")
    assert data["unmerged"] == len(table.characters) + 256


def test_a_word_that_the_model_does_not_know_is_marked_and_its_pieces_are_known():
    lesson = Lesson("tokens", lang="en").set("text", "the walrus 🐶 sleeps")
    data = picture(lesson)
    words = data["rows"][0]
    assert [token["shown"] for token in words["tokens"] if not token["known"]] == ["walrus", "🐶"]
    assert words["note"].endswith("Unknown (dashed): 2.")
    last = shown(data["stages"][-1]["tokens"])
    assert last[-6:][:4] != last and [piece for piece in last if piece.startswith("<0x")] == [
        "<0xF0>",
        "<0x9F>",
        "<0x90>",
        "<0xB6>",
    ]


def test_the_merges_stay_in_the_link_and_a_forged_number_does_not():
    lesson = Lesson("tokens", lang="en")
    assert picture(lesson)["merges"] == 600
    lesson.send_part("tokens", "merges", 40)
    assert lesson.link()["merges"] == "40" and picture(lesson)["merges"] == 40
    lesson.send_part("tokens", "merges", 601)
    lesson.send_part("tokens", "merges", "x")
    assert lesson.link()["merges"] == "40"
    assert picture(Lesson("tokens", **lesson.link()))["merges"] == 40


def test_the_most_frequent_pair_of_a_small_text_is_joined_next():
    lesson = Lesson("tokens", open="merges", small="abab abab cab", lang="en")
    pairs = Counter({"a + b": 5, "␣ + a": 2, "b + a": 2, "␣ + c": 1, "c + a": 1})
    assert lesson.says("Merges so far: 0. **a** and **b** are next to each other most often, 5 times.")
    (counted,) = [text for text in lesson.texts() if "**how often**" in text]
    for pair, count in pairs.items():
        assert pair.replace("+", "\\+") in counted or pair in counted
        assert f" {count} " in counted
    told = "Merges so far: 1. **ab** and **ab** are next to each other 2 times, and no pair more often; of the 2 pairs"
    assert lesson.set("step_of", 1).says(told)  # "␣ab" stands there twice, too


@pytest.mark.parametrize("language", ["en", "zh"])
def test_lengths_and_tables_are_counted_again(language):
    rows = measure_lengths(language)
    table = load_pieces(language)
    assert [row.size for row in rows] == [table.size - 600 + merges for merges in LENGTH_MERGES]
    lesson = Lesson("tokens", open="lengths", lang=language)
    assert lesson.says(f"{rows[0].length:.0f}") and lesson.says(f"{rows[0].pairs / rows[-1].pairs:.1f}")


def test_the_longest_word_first_cuts_wrongly_with_one_word_more():
    lesson = Lesson("tokens", open="chinese", lang="zh")
    assert lesson.says("| 研究生 | 命 | 起源 |") and lesson.says("| 研究 | 生命 | 起源 |")
    lesson.choose("dictionary", "研究", "生命", "起源")
    assert not lesson.says("| 研究生 |")


def test_a_tokens_vector_is_its_row_of_the_table():
    lesson = Lesson("tokens", open="vectors", lang="en")
    model = load_model("en_asked_encoder")
    number = word_numbers("en")["the"]
    one_hot = torch.zeros(len(model.words), dtype=model.words.dtype)
    one_hot[number] = 1
    row = one_hot @ model.words
    assert lesson.says(f"**the** is number {number:,} of {len(model.words):,}")
    for value in row[:8].tolist():
        assert lesson.says(f"{value:.2f}".replace("-", "−").replace("−0.00", "0.00"))


@pytest.mark.parametrize("text, part", [("", "at least one"), ("so " * 25, "24")])
def test_an_empty_text_and_one_that_is_too_long_are_refused(text, part):
    lesson = Lesson("tokens", lang="en")
    before = picture(lesson)
    lesson.set("text", text)
    assert part in lesson.errors()[0] and picture(lesson) == before
