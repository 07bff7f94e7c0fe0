"""The proof of all that a panel of a language model shows: a button asks for it, its run keeps it, it names a fault."""

import pytest

from attention_core.learned.language.circuits import word_circuit
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import sum_model
from attention_core.learned.language.what_if import find_path, run_changed
from attention_core.verification.proof import prove_stack
from pages.panels.model import circuits, heads, what_if, words
from pages.panels.model_panels import PANELS
from pages.runs import model_runs
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.driver import Screen
from tests.transformer.stacks import with_moved

TIRED = "The animal did not cross the street because it was too tired."
IT = 9
NAME = "en_asked_decoder"
FORMS = {"decoder": "model_en_decoder", "encoder": "model_en"}


def opened(panel, form="decoder", **link):
    return Screen(ex=FORMS[form], text=TIRED, t=str(IT), panel=panel, **link)


def badge(screen):
    """What the proof says in a few words, and what it opens to; None before it was asked for."""
    found = [block for block in screen.at.get("popover") if block.proto.id.endswith("-model_proof")]
    return found[0].proto.popover.label if found else None


def is_asked_for(screen):
    return [button.label for button in screen.at.button if button.key == "prove_model"]


def test_nothing_of_it_stands_where_no_language_model_reads():
    assert not is_asked_for(Screen())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_offers_the_proof_of_what_it_shows_and_it_passes(panel, form):
    screen = opened(panel, form, changes="2.1:off" if panel == "what_if" else "")
    assert len(is_asked_for(screen)) == 1 and badge(screen) is None
    screen.press("prove_model")
    assert not is_asked_for(screen) and not screen.errors()
    assert ":material/check:" in badge(screen) and "checked" in badge(screen)


def test_it_says_how_many_numbers_of_which_part_were_checked_by_what():
    screen = opened("sum").press("prove_model")
    proof = prove_stack(sum_model(NAME, tokens_of(screen)))
    assert f"{proof.number_count:,} numbers" in badge(screen)
    (table,) = [each.value for each in screen.at.markdown if "| ✓ | logits, part by part |" in each.value]
    for part in ("2.attention", "logit_sum"):
        assert f"| {proof.numbers[part]:,} | {proof.parts[part].worst:.1e} |" in table
    assert "torch scaled_dot_product_attention" in table and "NumPy implementation" in table


def tokens_of(screen):
    return model_runs.model_sentences_of(screen.setup().run).own_words()


def test_it_stays_for_the_run_whatever_is_looked_at_and_another_run_is_not_yet_checked():
    screen = opened("sum").press("prove_model")
    said = badge(screen)
    screen.look_at(query=3)
    assert badge(screen) == said
    screen.set("layer", 2)
    assert badge(screen) == said
    screen.set("text", "The dog fed the cat.")
    assert badge(screen) is None and is_asked_for(screen)
    screen.press("undo")
    assert badge(screen) == said


def test_another_change_is_another_run():
    screen = opened("what_if", changes="2.1:off").press("prove_model")
    screen.click_part("what_if", "kind", {"part": "1.attention", "head": 0, "kind": "off"})
    assert badge(screen) is None and is_asked_for(screen)


# ---- a planted fault -------------------------------------------------------------------------------------------------
WORD_PUSHES = "changes of the logit, word by word"
PLANTED = {  # where a panel gets its numbers; which number of it is moved; and how the fault is named
    "sum": (model_runs, "sum_model", "2.attention", "weights", (0, 1, IT, 2), "layer 2, attention"),
    "heads": (heads, "model_stack", "3.attention", "q", (0, 3, 4, 1), "layer 3, attention"),
    "words": (words, "run_model", "1.feed_forward", "gate", (0, 2, 5), "layer 1, feed-forward"),
    "what_if": (what_if, "find_path", "word_pushes", "attention_2_pushes", (0, 1, 4, 3), WORD_PUSHES),
    "circuits": (circuits, "word_circuit", "1.circuit", "scaled_scores", (0, 0, 2, 3), "layer 1, words alone"),
}
FOUND = {
    "sum_model": sum_model,
    "model_stack": model_runs.model_stack,
    "run_model": run_model,
    "find_path": find_path,
    "word_circuit": word_circuit,
}


@pytest.mark.parametrize("panel", PANELS)
def test_a_changed_number_is_named_with_its_part_and_its_place(panel, monkeypatch):
    module, name, part, step, index, said = PLANTED[panel]
    expected = []

    def moved(*given):
        stack = FOUND[name](*given)
        expected.append(float(stack[part][step][index]))
        return with_moved(stack, part, step, index, by=0.5)

    monkeypatch.setattr(module, name, moved)
    screen = opened(panel, layer="1").press("prove_model")
    assert ":material/error:" in badge(screen) and said in badge(screen)
    (error,) = screen.errors()
    assert error.startswith(f"{said}: ")
    wrong, right = float(error_numbers(error)[0]), float(error_numbers(error)[1])
    assert (wrong, right) == pytest.approx((expected[-1] + 0.5, expected[-1]))


def error_numbers(error):
    """The number that is shown, and the one computed again, as the sentence has them."""
    shown = error.rpartition(" is ")[0].rpartition(" is ")[2].partition(". Computed")[0]
    again = error.rpartition(" is ")[2].removesuffix(".")
    return shown.replace("−", "-"), again.replace("−", "-")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_part_that_begins_with_other_numbers_is_named_with_the_part_that_gave_them(lang, monkeypatch):
    moved = lambda *given: with_moved(sum_model(*given), "3.attention", "x", (0, 4, 7))  # noqa: E731
    monkeypatch.setattr(model_runs, "sum_model", moved)
    screen = opened("sum", lang=lang).press("prove_model")
    (error,) = screen.errors()
    texts = load_app_texts(lang)
    layers = [texts["model.layer"].format(layer=layer) for layer in (2, 3)]
    assert f"{layers[1]}, {texts['block.part.attention']}" in error and layers[0] in error
    assert texts["block.part.feed_forward"] in error


def test_of_an_encoder_with_a_hidden_word_the_changed_run_on_the_whole_sentence_is_proven_too(monkeypatch):
    screen = opened("what_if", "encoder", changes="2.1:off").press("prove_model")
    assert any("no word hidden: layer 2, attention" in each.value for each in screen.at.markdown)

    def moved(*given):
        return with_moved(run_changed(*given), "2.attention", "weights", (0, 0, 1, 1))

    monkeypatch.setattr(what_if, "run_changed", moved)
    wrong = opened("what_if", "encoder", changes="2.1:off").press("prove_model")
    assert "no word hidden: layer 2, attention" in wrong.errors()[0]


def test_a_second_sentence_is_proven_beside_the_first():
    screen = opened("heads", other_text="The dog fed the cat.").press("prove_model")
    assert any("second sentence: layer 3, attention" in each.value for each in screen.at.markdown)
