"""A recorded layer or model on the workbench reads another text that is typed there, and writes its text on."""

from concurrent.futures import CancelledError, wait
from threading import Event

import pytest
import torch
from transformers import PreTrainedModel

from attention_core.checkpoints.pieces import FastTokenizer
from attention_core.record.bounded_cache import count_memory
from pages.export.document_texts import make_document_title
from pages.lectures.scene_kinds import steps_of
from pages.panels.recorded_text import ASKED_KEY
from pages.runs.cache import trace_for
from pages.runs.checkpoint_store import STORE
from pages.runs.model_store import MODELS
from pages.setup.codec import setup_to_link
from pages.setup.setup import Setup
from tests.maps.test_model_folder import open_model
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

pytestmark = pytest.mark.usefixtures("allowed_models")
FAMILIES = {"gpt2": "GPT2LMHeadModel", "deberta": "DebertaV2ForMaskedLM"}
FIRST, OTHER = "The dog didn't bark.", "A cat sat on the mat again."
LAYER, HEAD = 2, 1


def open_first(folder: str) -> Setup:
    """The Setup that the button opens after the first text was read."""
    page = open_model(Lesson("maps", open="model"), folder, FIRST)
    page.press("open_layer")
    return page.at.session_state["setup"]


def asked_text(screen: Screen):
    """What the session has requested and not taken yet; None without it."""
    state = screen.at.session_state
    if ASKED_KEY not in state:
        return None
    return state[ASKED_KEY]


def until_read(screen: Screen) -> Screen:
    """Waits until the model has read what was requested."""
    asked = asked_text(screen)
    if asked is not None:
        wait([asked.task.future])
        screen.ran(screen.at.run)  # takes the text
        screen.ran(screen.at.run)  # draws it; in a browser the page asks for that
    return screen


def retyped(screen: Screen, text: str) -> Screen:
    """The workbench after another text was typed and read."""
    return until_read(screen.set("recorded_text", text))


def pieces(text: str) -> torch.Tensor:
    """The numbers of the pieces of a text."""
    tokenizer: FastTokenizer = STORE.opened.tokenizer
    return torch.tensor([tokenizer.cut(text).ids])


def own_weights(model: PreTrainedModel, ids: torch.Tensor, layer: int) -> torch.Tensor:
    """The weights of a layer, from 1, as the model itself hands them out."""
    with torch.no_grad():
        return model(ids, output_attentions=True).attentions[layer - 1].double()


def errors(screen: Screen) -> list[str]:
    """What is refused on the screen."""
    return [error.value for error in screen.at.error]


def test_another_text_is_read_by_the_model_and_the_layer_and_the_head_stay(models):
    link = {**setup_to_link(open_first("gpt2")), "panel": "heads"}
    screen = Screen(**link).set("layer", LAYER)
    screen.at.session_state["setup"] = screen.setup().with_fields(head=HEAD)
    retyped(screen, OTHER)
    setup = screen.setup()
    assert (setup.run.layer, setup.view.head) == (LAYER, HEAD) and not errors(screen)
    own = own_weights(models["gpt2"][1], pieces(OTHER), LAYER)
    assert trace_for(setup)["weights"].shape == own.shape
    assert float((trace_for(setup)["weights"] - own).abs().max()) < 3e-6
    assert screen.held("recorded_text") == OTHER
    assert len(screen.packed("model_heads")[0]["queries"]) == own.shape[-1]
    assert make_document_title(setup) == "gpt2, transformer.h.1.attn"
    assert "model" in steps_of(setup)  # a scene of a lecture shows the panel too


def test_a_setting_that_was_changed_stays_and_numbers_of_single_words_go(models):
    screen = Screen(**setup_to_link(open_first("gpt2")))
    screen.set("causal", False)
    screen.at.session_state["setup"] = screen.setup().with_fields(temperature=2.0)
    retyped(screen, OTHER)
    trace = trace_for(screen.setup())
    assert screen.setup().run.temperature == 2.0
    assert float(trace["weights"][0, 0, 0, -1]) > 0  # the first word attends to the last


def test_a_layer_alone_reads_another_text_too(models):
    screen = Screen(**setup_to_link(open_first("deberta")))
    retyped(screen, OTHER)
    own = own_weights(models["deberta"][1], pieces(OTHER), 1)
    assert float((trace_for(screen.setup())["weights"] - own).abs().max()) < 3e-6


def test_the_model_writes_its_text_on_and_what_was_written_is_taken_back(models):
    screen = Screen(**{**setup_to_link(open_first("gpt2")), "panel": "words", "t": "99"})
    ids, model, before = pieces(FIRST), models["gpt2"][1], screen.setup()
    for count in (1, 2):
        until_read(screen.click_part("words", "done", "word"))
        written = model.generate(ids, max_new_tokens=count, do_sample=False)
        own = own_weights(model, written, 1)
        assert float((trace_for(screen.setup())["weights"] - own).abs().max()) < 3e-6
        assert screen.setup().view.token == written.shape[1] - 1
    data, _ = screen.packed("words")
    assert [tile["kind"] for tile in data["tiles"]].count("written") == 2
    second = data["words"][1]["number"]
    until_read(screen.click_part("words", "picked", second))
    assert MODELS.find(screen.setup().run.recorded).source.wanted.written[-1] == second
    until_read(screen.click_part("words", "done", "again"))
    assert screen.setup().run.recorded == before.run.recorded


def test_a_model_that_was_closed_says_so_and_the_last_text_stays(models):
    setup = open_first("gpt2")
    screen = Screen(**setup_to_link(setup))
    STORE.opened = None
    retyped(screen, OTHER)
    (told,) = errors(screen)
    assert "the model gpt2 was closed" in told and "Maps of a model" in told
    assert screen.setup().run == setup.run


def test_a_text_that_the_model_cannot_read_is_refused_where_it_was_typed(models):
    setup = open_first("gpt2")
    screen = Screen(**setup_to_link(setup))
    retyped(screen, "z" * 600)
    (told,) = errors(screen)
    assert "at most" in told and screen.setup().run == setup.run


def test_while_the_model_reads_the_screen_stays_and_the_button_stops_it(models, monkeypatch):
    setup = open_first("gpt2")
    screen = Screen(**setup_to_link(setup))
    goes_on, read = Event(), STORE.read

    def slow(wanted, tell, how=None):
        tell("opens")
        goes_on.wait()
        return read(wanted, tell, how)

    monkeypatch.setattr(STORE, "read", slow)
    screen.set("recorded_text", OTHER)
    asked = asked_text(screen)
    try:
        screen.press("stop_model_task")
    finally:
        goes_on.set()
    with pytest.raises(CancelledError):
        asked.task.future.result()
    screen.ran(screen.at.run)
    assert screen.setup().run == setup.run and not errors(screen)
    assert asked_text(screen) is None


def test_texts_of_one_model_share_its_weights_in_memory(models):
    screen = Screen(**setup_to_link(open_first("gpt2")))
    first = MODELS.find(screen.setup().run.recorded)
    retyped(screen, OTHER)
    second = MODELS.find(screen.setup().run.recorded)
    weights = count_memory(first.model.whole.weights)
    assert second is not first
    assert count_memory([first.model.whole.weights, second.model.whole.weights]) == weights
    assert count_memory([first.held, second.held]) < first.nbytes + second.nbytes - 0.9 * weights
