"""A recorded layer is opened in the workbench, and what it computes there is the model's own."""

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from attention_core import AttentionConfig
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.record.errors import AttentionError
from attention_core.verification.proof import prove
from pages.runs.cache import check_computable, trace_for
from pages.runs.checkpoint_store import MAX_LAYER_BYTES
from pages.runs.digest_store import DigestStore
from pages.runs.layer_store import LAYERS, KeptLayer
from pages.setup.codec import setup_from_link, setup_to_link
from pages.setup.setup import Setup, make_setup
from tests.maps.test_maps_page import errors, texts
from tests.maps.test_model_folder import open_model
from tests.screen.lesson import Lesson

pytestmark = pytest.mark.usefixtures("allowed_models")
FAMILIES = {
    "llama": "LlamaForCausalLM",  # RoPE, grouped heads
    "gpt2": "GPT2LMHeadModel",  # biases
    "qwen3": "Qwen3ForCausalLM",  # norms of the heads
    "gpt-oss": "GptOssForCausalLM",  # sinks, YaRN, sliding
    "deberta": "DebertaV2ForMaskedLM",  # a bias without a name
    "t5": "T5ForConditionalGeneration",  # buckets, scale 1
    "deepseek": "DeepseekV3ForCausalLM",  # compressed queries, keys and values
    "squeezebert": "SqueezeBertForMaskedLM",  # convolutions
}


def open_layer(models, folder: str, text: str = "The dog didn't bark.", further: str = "") -> tuple[Lesson, Setup]:
    """The page of a folder after the click, and the Setup that it opens; the first layer and head are open."""
    page = open_model(Lesson("maps", open="model"), folder, text, further)
    assert "were found by value" in texts(page)
    page.press("open_layer")
    return page, page.at.session_state["setup"]


def own_weights(model: PreTrainedModel, page: Lesson) -> torch.Tensor:
    """The weights of the model's first layer, as the model hands them out, in float64."""
    given = page.at.session_state["maps_file"].recorded.inputs.tensors
    with torch.no_grad():
        outputs = model(**given, output_attentions=True)
    return (outputs.get("attentions") or outputs.encoder_attentions)[0].double()


# ---- the same numbers ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("folder", ["llama", "gpt2", "qwen3", "gpt-oss", "deberta", "t5", "deepseek"])
def test_the_workbench_computes_the_weights_of_the_model(models, folder: str):
    further = "The dog" if folder == "t5" else ""
    page, setup = open_layer(models, folder, further=further)
    trace = trace_for(setup)
    _, model = models[folder]
    own = own_weights(model, page)
    assert trace["weights"].shape == own.shape
    assert (trace["weights"] - own).abs().max() < 3e-6
    assert prove(trace).passed
    assert trace.labels["T"] == page.at.session_state["maps_file"].view.maps.shown_queries


def test_the_matrices_of_the_workbench_are_the_model_s_own(models):
    _, setup = open_layer(models, "llama")
    trace, own = trace_for(setup), models["llama"][1].model.layers[0].self_attn
    for name in "qkvo":
        matrix = getattr(own, f"{name}_proj").weight.T.double()
        assert torch.equal(trace[f"w_{name}"], matrix)


def test_cross_attention_has_the_words_of_both_texts(models):
    page = open_model(Lesson("maps", open="model"), "t5", "it was tired", "The dog")
    kinds = next(each for each in page.at.get("segmented_control") if each.key == "c_maps_kind")
    page.ran(kinds.set_value(2).run)
    page.press("open_layer")
    trace = trace_for(page.at.session_state["setup"])
    shown = page.at.session_state["maps_file"].recorded.inputs
    assert trace.labels["T"] == shown.further_shown and trace.labels["S"] == shown.shown
    assert trace["query"].shape[1:] == (len(shown.further_shown), 64) and trace["key"].shape[1] == len(shown.shown)
    assert prove(trace).passed


# ---- changes ---------------------------------------------------------------------------------------------------------
def test_a_changed_matrix_changes_the_run_and_another_mask_too(models):
    _, setup = open_layer(models, "llama")
    before = trace_for(setup)
    zeros = torch.zeros(before["w_q"].shape).numpy()
    even = trace_for(setup.with_fields(w_q=pack_matrix(zeros)))["weights"]
    T = even.shape[-1]
    assert torch.allclose(even[0, 0, -1], torch.full((T,), 1 / T, dtype=torch.float64))
    assert float(trace_for(setup.with_fields(masks=()))["weights"][0, 0, 0, -1]) > 0
    assert trace_for(setup.with_fields(d_v=8))["v"].shape[-1] == 8


def test_heads_that_do_not_fit_are_refused(models):
    _, setup = open_layer(models, "llama")
    with pytest.raises(AttentionError, match="kv_heads"):
        check_computable(setup.with_fields(kv_heads=3))


def test_a_link_opens_the_layer_while_it_is_kept_and_says_so_afterwards(models):
    _, setup = open_layer(models, "deberta")
    read, refused = setup_from_link(setup_to_link(setup))
    assert (read, refused) == (setup, [])
    kept = LAYERS.kept.pop(setup.run.recorded)
    try:
        with pytest.raises(AttentionError, match="no longer kept"):
            check_computable(make_setup(recorded=setup.run.recorded, heads=4))
    finally:
        LAYERS.keep(kept)


# ---- what cannot be opened -------------------------------------------------------------------------------------------
def test_what_was_not_found_is_named_and_no_button_stands_there(models):
    page = open_model(Lesson("maps", open="model"), "squeezebert")
    told = " ".join(caption.value for caption in page.at.caption)
    assert "its input and matrices were not found: " in told
    assert "one linear map, alone or with a norm of the heads and RoPE" in told
    assert not [button for button in page.at.button if button.key == "open_layer"]


def test_more_heads_than_fit_a_screen_are_refused_with_the_reason(models, monkeypatch):
    monkeypatch.setattr("pages.setup.resolve.MAX_RECORDED_HEADS", 3)
    page = open_model(Lesson("maps", open="model"), "llama")
    LAYERS.kept.clear()
    page.press("open_layer")
    assert errors(page) == ["heads must be at most 3: got 4"]
    assert not LAYERS.kept


def test_a_layer_beyond_the_bound_is_refused():
    matrix = np.zeros((MAX_LAYER_BYTES // 8 + 1, 1))
    with pytest.raises(AttentionError, match="may take 512 MB on the workbench: these take 512 MB"):
        DigestStore(MAX_LAYER_BYTES, "layer_too_large").keep(
            KeptLayer("large", (), (), {"x": matrix}, AttentionConfig())
        )


def test_a_layer_with_matrices_beyond_the_bound_is_not_searched_and_the_page_says_why(models, monkeypatch):
    """W_q and W_o have 64 x 64 numbers, W_k and W_v 64 x 32: 98,304 bytes in float64."""
    monkeypatch.setattr("pages.runs.checkpoint_store.MAX_LAYER_BYTES", 98_303)
    page = open_model(Lesson("maps", open="model"), "llama", "A text that no other test reads.")
    said = " ".join(caption.value for caption in page.at.caption)
    assert "the vectors and matrices of a layer may take 0 MB on the workbench" in said
    assert "open_layer" not in [button.key for button in page.at.button]


def test_the_store_drops_the_oldest_layer_beyond_its_bound():
    def layer(name: str) -> KeptLayer:
        return KeptLayer(name, (), (), {"x": np.zeros((7, 1))}, AttentionConfig())

    store = DigestStore(2 * 7 * 8, "layer_too_large")
    digests = [store.keep(layer(name)) for name in "abc"]
    with pytest.raises(AttentionError, match="no longer kept"):
        store.find(digests[0])
    assert [store.find(digest).name for digest in digests[1:]] == ["b", "c"]
