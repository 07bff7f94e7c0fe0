"""The panel of the next word: a decoder writes on from what it has read, an encoder fills a blank."""

import json

import numpy as np
import pytest
import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import MAX_MODEL_WORDS, cut_sentence, run_model
from tests.screen.driver import Screen

TIRED = "The animal did not cross the street because it was too tired."
DECODER, ENCODER = "en_asked_decoder", "en_asked_encoder"
READ = ("<start>", "the", "animal", "did", "not")
KNOWN = vocabulary("en")


@pytest.fixture
def screen():
    return Screen(ex="model_en_decoder", text=TIRED, t="4", panel="words")


def data(screen):
    return screen.packed("words")[0]


def text(screen, *kinds):
    """The words of the tiles, those of some kinds."""
    return [tile["word"] for tile in data(screen)["tiles"] if not kinds or tile["kind"] in kinds]


def do(screen, what):
    return screen.click_part("words", "done", what)


def choose(screen, **choices):
    return screen.click_part("words", "choices", choices)


def logits(words, name=DECODER, at=-1):
    return run_model(name, tuple(words))["unembedding"]["logits"][0, at]


def likeliest(words):
    """The model run whole again for every word."""
    return KNOWN[int(logits(words).argmax())]


def test_the_ten_likeliest_words_come_with_their_probabilities(screen):
    shares = logits(READ).softmax(-1)
    top = shares.topk(10)
    rows = data(screen)["words"]
    assert [row["word"] for row in rows] == [KNOWN[number] for number in top.indices]
    assert [row["share"] for row in rows] == pytest.approx(top.values.tolist(), abs=1e-12)
    assert text(screen, "typed") == list(READ) and text(screen, "later")[0] == "cross"
    sent = np.frombuffer(screen.packed("words")[1]["numbers"], np.float32)
    assert sent == pytest.approx(logits(READ).numpy(), abs=1e-5)


def test_it_writes_a_word_then_up_to_the_full_stop_and_steps_back(screen):
    expected = list(READ)
    while expected[-1] != ".":
        expected.append(likeliest(expected))
    do(screen, "word")
    assert text(screen, "written") == expected[5:6] and not text(screen, "later")
    do(screen, "sentence")
    assert text(screen) == expected
    assert any("has reached its full stop" in caption for caption in screen.captions())
    do(screen, "back")
    assert text(screen) == expected[:-1]
    assert not any("has reached its full stop" in caption for caption in screen.captions())
    screen.click_part("words", "place", 6)
    assert text(screen) == expected[:7]
    do(screen, "again")
    assert text(screen, "typed") == list(READ) and not text(screen, "written")
    do(screen, "back")
    assert text(screen, "typed") == list(READ[:-1]) and screen.look()["query"] == 3


def test_a_draw_is_that_of_the_seed_and_comes_again_after_a_step_back(screen):
    choose(screen, word_seed=7)
    choose(screen, top_k=5)
    written, read = [], list(READ)
    numbers = torch.rand(3, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    for u in numbers.tolist():
        values, places = logits(read).topk(5)
        below = values.softmax(-1).cumsum(-1).tolist()
        number = next(place for place, total in zip(places, below, strict=True) if total > u)
        written.append(KNOWN[number])
        read.append(written[-1])
        assert any(f"Seed 7 draws {u:.2f}" in said and f"“{written[-1]}”" in said for said in screen.captions())
        do(screen, "word")
    assert text(screen, "written") == written
    do(screen, "back")
    do(screen, "word")
    assert text(screen, "written") == written
    assert screen.link()["word_seed"] == "7" and screen.link()["top_k"] == "5"


def test_the_choices_cut_and_are_proven_in_an_open_sum(screen):
    choose(screen, word_temperature=2.0)
    choose(screen, top_k=8)
    choose(screen, top_p=0.6)
    shares = (logits(READ) / 2).topk(8).values.softmax(-1)
    count = next(n for n in range(1, 9) if shares[:n].sum() >= 0.6)
    rows = data(screen)["words"]
    expected = (shares[:count] / shares[:count].sum()).tolist() + [0.0] * (10 - count)
    assert 1 < count < 8 and [row["share"] for row in rows] == pytest.approx(expected, abs=1e-12)
    screen.click_part("words", "opened", rows[0]["cell"])
    steps = []
    for _ in range(3):
        (part,) = screen.parts("block_sum")
        shown = json.loads(part.proto.json)
        piece = next(piece for piece in shown["pieces"] if "step" in piece and piece["text"] != "−∞")
        steps.append(piece["step"])
        screen.click_part("block_sum", "followed", {"step": piece["step"], "index": piece["index"]})
    assert steps == [f"unembedding/{name}" for name in ("top_p_logits", "top_k_logits", "scaled_logits")]
    choose(screen, top_k=None)
    choose(screen, top_p=1.0)
    choose(screen, word_temperature=1.0)
    assert not {"word_temperature", "top_k", "top_p"} & screen.link().keys()
    assert not screen.parts("block_sum")  # what was open there is no step any more


# ---- links -----------------------------------------------------------------------------------------------------------
def test_who_opens_the_link_sees_the_text_that_was_written_and_the_same_words_come_next(screen):
    choose(screen, word_seed=7)
    choose(screen, top_k=5)
    do(screen, "word")
    do(screen, "word")
    screen.look_at(query=9)  # another word of the sentence
    assert screen.link()["written"] == "the animal did not | " + " ".join(text(screen, "written"))
    other = Screen(**screen.link())
    assert other.errors() == [] and data(other) == data(screen)
    assert data(do(other, "sentence")) == data(do(screen, "sentence"))
    assert data(Screen(**other.link())) == data(other)
    do(screen, "again")
    assert "written" not in screen.link()


def test_undo_takes_back_one_written_word_after_the_other(screen):
    do(screen, "word")
    do(screen, "word")
    both = text(screen, "written")
    screen.click_part("words", "place", 2)
    assert text(screen, "written") == []
    assert text(screen.press("undo"), "written") == both
    assert text(screen.press("undo"), "written") == both[:1]
    assert text(screen.press("undo"), "written") == []
    assert text(screen.press("redo"), "written") == both[:1]


def test_with_another_sentence_or_layer_or_none_of_it(screen):
    do(screen, "word")
    written = text(screen, "written")
    assert text(screen.set("layer", 1), "written") == written
    assert text(screen.set("text", "The animal did not eat."), "written") == []
    assert "written" not in screen.link() and text(screen.press("undo"), "written") == []


UNFIT = {
    "another beginning": {"written": "the dog did not | hunt"},
    "no such word": {"written": "the animal | zorb"},
    "longer than the model learned": {"written": "the | " + "dog " * 46 + "."},
    "no written word": {"written": "the animal |"},
    "no bar": {"written": "the animal"},
    "two spaces": {"written": "the  animal | did"},
    "an encoder": {"written": "the animal | did", "ex": "model_en"},
    "no model": {"written": "the animal | did", "ex": "en_it"},
}


@pytest.mark.parametrize("what", UNFIT)
def test_a_text_that_a_link_makes_up_is_named_and_not_shown(what):
    screen = Screen(**{"ex": "model_en_decoder", "text": TIRED, "t": "4", "panel": "words"} | UNFIT[what])
    (error,) = screen.errors()
    assert error.startswith("The link says written=") and "written" not in screen.link()
    if screen.parts("words"):
        assert not text(screen, "written")


def test_of_a_batch_the_link_opens_what_was_written_on_its_sentence():
    batch = {"text": TIRED, "more": "Anna fed the dog.\nThe cat ran.", "sentence": "1"}
    screen = Screen(ex="model_en_decoder", layer="1", **batch, t="3", panel="words")
    do(screen, "word")
    other = Screen(**screen.link())
    assert text(other, "written") == text(screen, "written") != []
    third = Screen(**screen.link() | {"sentence": "2"})
    assert third.errors() == [] and text(third, "written") == []  # it begins otherwise


def test_what_no_link_can_hold_is_refused_with_a_sentence():
    screen = Screen(ex="model_en_decoder", text="z" * 3000, t="1", panel="words")
    do(screen, "word")
    (error,) = screen.errors()
    assert error.startswith("written must be something that the address of the screen can hold")
    assert text(screen, "written") == []


MADE_UP = {
    "top_k": (0, 21, 2.5, True),
    "top_p": (0, 1.1, "x"),
    "word_temperature": (0, 99, None),
    "word_seed": (-1, 10**9),
}


@pytest.mark.parametrize("name", MADE_UP)
def test_a_choice_that_no_control_offers_is_refused_and_changes_nothing(name):
    screen = Screen(ex="model_en_decoder", text=TIRED, t="4", panel="words", top_k="3")
    for made_up in MADE_UP[name]:
        choose(screen, **{name: made_up})
        assert [error for error in screen.errors() if error.startswith(f"{name} must lie between")]
        assert screen.link()["top_k"] == "3" and len([row for row in data(screen)["words"] if row["share"]]) == 3
        do(screen, "again")
        assert screen.errors() == []


def test_a_link_says_what_it_cannot_read():
    made_up = {"top_k": "0", "top_p": "nan", "word_temperature": "1e9", "word_seed": "-1"}
    screen = Screen(ex="model_en_decoder", text=TIRED, t="4", panel="words", **made_up)
    assert all(any(name in said for said in screen.errors()) for name in made_up)
    assert data(screen)["sliders"]["top_k"]["value"] is None


def test_what_a_browser_makes_up_changes_nothing(screen):
    before = data(screen)
    for event, values in {
        "done": ["nothing", None, 3, ["word"]],
        "picked": [-1, 10**6, "x", None, True, [0]],
        "place": [-1, 99, "x", None],
        "choices": [3, {"top_k": 3, "score": "dot"}, "x"],
        "opened": [{}, None, {"part": "unembedding", "step": "logits", "index": [0, 0, 10**6]}],
    }.items():
        for value in values:
            screen.click_part("words", event, value)
    assert data(screen) == before and screen.errors() == []


def test_the_cache_grows_by_a_column_a_word(screen):
    cache = data(screen)["cache"]
    assert cache["columns"] == list(READ) and len(cache["layers"]) == 3
    assert f"{5 * 3 * 2 * 64 * 8 / 1000:.1f} kB" in cache["title"]
    assert "5 with the cache, 15 without" in cache["rows"]
    do(screen, "word")
    cache = data(screen)["cache"]
    assert cache["columns"] == [*READ, likeliest(READ)] and "6 with the cache, 21 without" in cache["rows"]


def test_a_clicked_word_is_written_and_the_text_is_taken_into_the_sentence(screen):
    screen.click_part("words", "picked", KNOWN.index("hunt"))
    assert text(screen, "written") == ["hunt"]
    do(screen, "take")
    assert screen.words() == [*READ, "hunt"] and screen.look()["query"] == 5
    screen.press("undo")
    assert screen.words()[5] == "cross"


def test_a_category_is_written_and_not_taken(screen):
    screen.click_part("words", "picked", KNOWN.index("<animal>"))
    assert text(screen, "written") == ["<animal>"]
    do(screen, "take")
    assert screen.words()[5] == "cross"
    assert any("<animal> stands for any word" in error for error in screen.errors())


def test_of_a_batch_the_sentence_that_is_looked_at_is_written_on():
    batch = {"text": TIRED, "more": "Anna fed the dog.\nThe cat ran.", "sentence": "1"}
    screen = Screen(ex="model_en_decoder", layer="1", **batch, t="3", panel="words")
    assert text(screen, "typed") == ["<start>", "anna", "fed", "the"]
    screen.click_part("words", "picked", KNOWN.index("cat"))
    do(screen, "take")
    assert screen.setup().run.more.splitlines() == ["anna fed the cat", "The cat ran."]


def test_a_text_ends_with_a_plain_sentence_where_the_model_learned_no_longer_ones():
    words = " ".join(["dog"] * (MAX_MODEL_WORDS - 1))
    screen = Screen(ex="model_en_decoder", text=words, t=str(MAX_MODEL_WORDS - 1), panel="words")
    for _ in range(3):
        screen.click_part("words", "picked", KNOWN.index("cat"))
        do(screen, "sentence")
    assert text(screen, "written") == ["cat"]
    assert any(f"The text has {MAX_MODEL_WORDS} words" in caption for caption in screen.captions())


def test_what_is_written_on_a_guess_is_marked(screen):
    said = "The model guesses here"
    assert not any(said in caption for caption in screen.captions())
    screen = Screen(ex="model_en_decoder", text="The quick brown fox loves my zorb.", t="4", panel="words")
    assert any(said in caption for caption in screen.captions())


def test_an_encoder_fills_a_blank_where_a_word_was_clicked():
    screen = Screen(ex="model_en", text=TIRED, t="9", panel="words")
    tokens = cut_sentence(ENCODER, TIRED)
    screen.click_part("words", "place", 2)
    assert screen.look()["query"] == 2 and text(screen, "blank") == ["animal"]
    blanked = (*tokens[:2], "<mask>", *tokens[3:])
    top = logits(blanked, ENCODER, 2).softmax(-1).topk(10)
    rows = data(screen)["words"]
    assert [row["word"] for row in rows] == [KNOWN[number] for number in top.indices]
    assert [row["share"] for row in rows] == pytest.approx(top.values.tolist(), abs=1e-12)
    screen.click_part("words", "opened", rows[0]["cell"])
    assert screen.parts("block_sum")
    word = next(row for row in rows if not row["word"].startswith("<") and row["word"] != "animal")
    screen.click_part("words", "picked", word["number"])
    assert screen.words()[2] == word["word"] and screen.look()["query"] == 2


def test_the_sign_at_the_beginning_is_no_blank():
    screen = Screen(ex="model_en", text=TIRED, t="0", panel="words")
    assert text(screen, "blank") == ["the"]
    screen.click_part("words", "place", 0)
    assert text(screen, "blank") == ["the"]


def test_the_sum_has_the_same_temperature():
    screen = Screen(ex="model_en_decoder", text=TIRED, t="4", word_temperature="2", top_k="3")
    shares = (logits(READ) / 2).softmax(-1)
    head, _ = screen.packed("block")
    assert head["words"][0]["share"] == pytest.approx(float(shares.max()), abs=1e-12)
    assert not screen.parts("words")


def test_chinese_is_written_as_well():
    screen = Screen(ex="model_zh_decoder", panel="words", lang="zh")
    do(screen, "sentence")
    assert text(screen)[-1] == "。" and screen.errors() == []
    do(screen, "take")
    assert screen.errors() == [] and screen.words()[-1] == "。"
