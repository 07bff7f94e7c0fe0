"""Input = a language model of our own: a sentence, its layers and heads, words that it does not know."""

import subprocess
import sys

import pytest

from attention_core.learned.language.reading import cut_sentence, read_tokens, run_model
from attention_core.learned.language.shipped import weights_revision
from pages.runs.compute import compute_run
from pages.runs.separate_runs import run_sentences_alone
from pages.setup.setup import make_setup
from tests.screen.driver import ROOT, Screen

MODEL, BACK = "en_asked_encoder", "en_asked_decoder"
TIRED = "The animal did not cross the street because it was too tired."
OWN = "My zorb loves the pizza because it is hot."


def weights(text, layer=3, model=MODEL, roles=None):
    """The weights of a layer, computed by the whole stack."""
    words = cut_sentence(model, text)
    return run_model(model, read_tokens(model, words, roles or {}))[f"{layer}.attention"]["weights"][0]  # (H, T, S)


def shown(screen, head, query):
    """A row of weights on the screen."""
    return [screen.weight(query, key, head) for key in range(len(screen.origins()))]


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_each_layer_on_the_screen_is_that_of_the_whole_run(layer):
    screen = Screen(ex="model_en", text=TIRED, layer=str(layer))
    assert screen.errors() == []
    for head in range(4):
        assert shown(screen, head, 9) == pytest.approx(weights(TIRED, layer)[head, 9].tolist(), abs=1e-12)


@pytest.mark.parametrize("layer", [2, 3])
def test_each_sentence_of_a_batch_is_what_it_is_alone(layer):
    """The values of layer 3 are made of the words: of those of each sentence."""
    short = "The dog slept."
    trace, _ = compute_run(make_setup(example="model_en", text=TIRED, more=short, layer=layer).run)
    for place, text in enumerate((TIRED, short)):
        own = run_model(MODEL, cut_sentence(MODEL, text))[f"{layer}.attention"]
        count = own.sizes()["T"]
        assert trace["weights"][place, :, :count, :count] == pytest.approx(own["weights"][0], abs=1e-12)
        assert trace["head_outputs"][place, :, :count] == pytest.approx(own["head_outputs"][0], abs=1e-12)
    for alone, text in zip(
        run_sentences_alone(make_setup(example="model_en", text=TIRED, more=short, layer=layer).run),
        (TIRED, short),
        strict=True,
    ):
        own = run_model(MODEL, cut_sentence(MODEL, text))[f"{layer}.attention"]
        assert alone["head_outputs"] == pytest.approx(own["head_outputs"], abs=1e-12)


def test_the_headline_says_who_is_meant():
    assert "“it” gives" in Screen(ex="model_en").fact() and "to “animal”" in Screen(ex="model_en").fact()


def test_a_layer_and_a_model_are_chosen_and_stand_in_the_link():
    screen = Screen(ex="model_en").set("layer", 1)
    assert screen.link()["layer"] == "1"
    assert shown(screen, 2, 4) == pytest.approx(weights(TIRED, 1)[2, 4].tolist(), abs=1e-12)
    screen.set("model", BACK)
    assert screen.link()["model"] == BACK
    assert shown(screen, 2, 4) == pytest.approx(weights(TIRED, 1, BACK)[2, 4].tolist(), abs=1e-12)
    screen.press_labelled("Undo")
    assert "model" not in screen.link()


def test_a_model_that_looks_back_gives_nothing_to_what_comes_later():
    screen = Screen(ex="model_en_decoder", layer="2")
    assert all(screen.weight(5, key, head) == 0 for key in range(6, 14) for head in range(4))


def test_a_word_that_the_model_does_not_know_is_marked_and_gets_a_category():
    screen = Screen(ex="model_en", text=OWN)
    assert screen.origins()[2] == "unknown" and screen.origins().count("unknown") == 1
    assert any(text.startswith("The model does not know zorb") for text in screen.captions())
    screen.set("role0", "animal")
    assert screen.link()["role"] == "zorb:animal" and screen.origins()[2] == "role"
    expected = weights(OWN, roles={"zorb": "animal"})[0, 7].tolist()
    assert shown(screen, 0, 7) == pytest.approx(expected, abs=1e-12)


def test_it_says_what_it_is_and_no_more():
    about = Screen(ex="model_en").widget("model").help
    assert about.startswith("Trained here on")
    assert "sentences of a small grammar; it knows 1,701 words. On other sentences it guesses, however" in about


@pytest.mark.parametrize(
    "text, said",
    [
        ("it " * 48, "the model reads at most 47 words: these are 48"),
        ("it " * 10_000, "the model reads at most 47 words: these are 10000"),
        ("", "at least one word"),
        ("   ", "at least one word"),
    ],
)
def test_a_sentence_that_the_model_cannot_read_is_refused_and_nothing_is_lost(text, said):
    screen = Screen(ex="model_en").set("text", text)
    assert any(said in error for error in screen.errors())
    assert "“it” gives" in screen.fact()  # the last good picture


@pytest.mark.parametrize("text", ["🍕 🍕", "пицца", "披萨", "zorb glim", "<b>it</b>", "a|b|c", "它"])
def test_words_of_no_meaning_are_read_as_unknown(text):
    screen = Screen(ex="model_en", text=text)
    assert screen.errors() == [] and screen.origins()[0] == "learned"


@pytest.mark.parametrize("link", [{"model": "gpt2"}, {"layer": "x"}, {"role": "zorb:king"}])
def test_what_a_link_says_of_models_that_cannot_be_read_is_named(link):
    screen = Screen(ex="model_en", **link)
    assert any("which cannot be read" in error for error in screen.errors())


def test_a_layer_that_there_is_not_is_refused():
    screen = Screen(ex="model_en", layer="9")
    assert any("layer" in error and "at most 3" in error for error in screen.errors())


def test_a_mechanism_can_be_taken_away_from_a_model():
    screen = Screen(ex="model_en").set("positions", [])
    assert screen.errors() == [] and screen.link()["pos"] == ""
    assert shown(screen, 0, 9) != pytest.approx(weights(TIRED)[0, 9].tolist(), abs=1e-3)


def test_an_example_without_a_model_shows_none_of_it():
    assert not [box for box in Screen().at.selectbox if box.key == "c_model"]


def test_the_chinese_models_read_chinese():
    screen = Screen(lang="zh", ex="model_zh")
    assert screen.errors() == [] and "“动物”" in screen.fact()
    screen.set("text", "我的老师喜欢披萨，因为它很热。")
    assert screen.origins() == ["learned"] * 12 and "“披萨”" in screen.fact()


def test_a_link_says_which_weights_it_was_made_with_and_opens_on_the_newest():
    now = weights_revision(MODEL)
    assert Screen(ex="model_en").set("layer", 1).link()["rev"] == now
    assert Screen(ex="model_en", rev=now).errors() == []
    old = Screen(ex="model_en", rev="0badcafe", layer="2")
    (said,) = old.errors()
    assert said.startswith(
        "The link was made with other parameters of this model, which are no longer supplied (rev=0badcafe)"
    )
    assert shown(old, 1, 4) == pytest.approx(weights(TIRED, 2)[1, 4].tolist(), abs=1e-12)
    assert old.set("layer", 3).link()["rev"] == now
    assert "rev" not in Screen(ex="en_it").set("text", "Anna fed the dog").link()


def test_what_a_link_compares_with_may_be_of_older_weights():
    screen = Screen(ex="model_en", layer="2", against="ex=model_en&layer=1&rev=0badcafe", pinned="values")
    assert screen.errors() == []


FIRST_SCREENS = """
from attention_core.learned.language import checkpoints, network_folder
from pages.app.warming import import_all
from streamlit.testing.v1 import AppTest

read = []

def watch(load_file):
    return lambda path, *args, **how: read.append(str(path)) or load_file(path, *args, **how)

for module in (checkpoints, network_folder):
    module.load_file = watch(module.load_file)
import_all()
AppTest.from_file("pages/app/router.py", default_timeout=60).run()
print(len(read))
page = AppTest.from_file("pages/app/router.py", default_timeout=60)
page.query_params["ex"] = "model_en"
page.run()
print(*read)
"""


@pytest.mark.slow
def test_no_weights_are_read_before_a_model_is_asked_for():
    told = subprocess.run(
        [sys.executable, "-c", FIRST_SCREENS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert told[0] == "0"
    assert any(path.endswith("en_asked_encoder.safetensors") for path in told[1:])
