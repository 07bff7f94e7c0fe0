"""From a Setup to its run: the kind of its input, and what each kind makes of it."""

from dataclasses import replace

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_link import read_matrix
from attention_core.learned.language.reading import LayerInputs
from attention_core.record.errors import AttentionError
from pages.runs import made_sentences
from pages.runs.compute import compute_run, input_kind_of
from pages.runs.made_sentences import HandmadeHeads, LearnedTexts
from pages.runs.sentences import DictionarySentences
from pages.runs.tensor_inputs import QkvMatrices, UploadedQkv
from pages.setup import resolve
from pages.setup.resolve import config_of
from pages.setup.setup import RunSetup

ROWS = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
TYPED = {**dict.fromkeys("qkv", pack_matrix([[1, 2], [3, 4]])), "heads": 1}


@pytest.mark.parametrize(
    ("setup", "kind"),
    [
        (RunSetup(), DictionarySentences),
        (RunSetup(text="a word that no dictionary has"), DictionarySentences),
        (RunSetup(x=read_matrix("1,2;3,4")), DictionarySentences),
        (RunSetup(built=("previous",)), HandmadeHeads),
        (RunSetup(example="learned_copy"), LearnedTexts),
        (RunSetup(**TYPED), QkvMatrices),
        (RunSetup(file="mine.npz", **TYPED), UploadedQkv),
    ],
)
def test_the_kind_of_input(setup, kind):
    assert type(input_kind_of(setup)) is kind


def test_typed_q_k_and_v_are_what_torch_is_given():
    trace, _ = compute_run(RunSetup(dtype="float64", **TYPED))
    by_torch = torch.nn.functional.scaled_dot_product_attention(ROWS, ROWS, ROWS)
    torch.testing.assert_close(trace["head_outputs"][0, 0], by_torch, rtol=0, atol=1e-12)


def test_a_bias_before_q_is_nothing_to_q_itself():
    plain, _ = compute_run(RunSetup(**TYPED))
    trace, _ = compute_run(RunSetup(b_q=read_matrix("1,2;3,4"), **TYPED))  # of two rows, as no bias is
    assert torch.equal(trace["weights"], plain["weights"])


# ---- a language model of other heads than its example's --------------------------------------------------------------
D, H, H_KV, D_HEAD = 64, 8, 2, 5
GROUPED = AttentionConfig(heads=H, kv_heads=H_KV, scale=0.25, masks=("causal",), normaliser="sinks")


@pytest.fixture
def grouped_layer(monkeypatch, generator):
    """A layer of eight heads that share two keys and values, with biases, a scale and sinks of its own."""

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64) / 8

    widths = {"q": H * D_HEAD, "k": H_KV * D_HEAD, "v": H_KV * D_HEAD}
    matrices = {f"w_{name}": draw(D, width) for name, width in widths.items()}
    biases = {f"b_{name}": draw(width) for name, width in widths.items()}
    weights = Weights(**matrices, **biases, w_o=draw(H * D_HEAD, D), b_o=draw(D), sinks=draw(H))
    layer = LayerInputs(draw(4, D), None, weights, GROUPED)
    monkeypatch.setattr(made_sentences, "layer_inputs", lambda *_: layer)
    monkeypatch.setattr(resolve, "layer_config", lambda *_: layer.config)
    return layer


MODEL_RUN = {"example": "model_en_decoder", "text": "the dog barked"}


def test_a_model_keeps_its_own_heads_scale_biases_and_normaliser(grouped_layer):
    trace, _ = compute_run(RunSetup(**MODEL_RUN))
    config = replace(grouped_layer.config, residual=True)
    own = attend(grouped_layer.x, weights=grouped_layer.weights, config=config)
    assert trace["k"].shape == (1, H_KV, 4, D_HEAD)
    for step in own.computed():
        torch.testing.assert_close(trace[step], own[step], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "chosen"),
    [
        ({"heads": 4, "kv_heads": 1}, {"heads": 4, "kv_heads": 1}),
        ({"scale": 1.0}, {"scale": 1.0}),
        ({"masks": ()}, {"masks": ()}),
        ({"normaliser": "sigmoid:0"}, {"normaliser": ("sigmoid", {"bias": 0.0})}),
    ],
    ids=str,
)
def test_what_is_chosen_goes_before_what_a_model_has(grouped_layer, changes, chosen):
    config = config_of(RunSetup(**MODEL_RUN, **changes))
    assert config == replace(grouped_layer.config, residual=True, **chosen)


def test_the_columns_of_shared_keys_are_split_into_groups_as_large_as_before(grouped_layer):
    trace, _ = compute_run(RunSetup(**MODEL_RUN, heads=4, kv_heads=1))
    assert torch.equal(trace["w_k"], grouped_layer.weights.w_k)  # one head as wide as two were
    assert trace["k"].shape == (1, 1, 4, 2 * D_HEAD)
    wider, _ = compute_run(RunSetup(**MODEL_RUN, d_k=D_HEAD + 1))
    kept = wider["w_k"].unflatten(1, (H_KV, D_HEAD + 1))[..., :D_HEAD]
    assert torch.equal(kept.flatten(1), grouped_layer.weights.w_k)


def test_fewer_heads_than_a_model_has_groups_for_are_refused(grouped_layer):
    with pytest.raises(AttentionError, match="w_k must be divisible by the number of its heads"):
        compute_run(RunSetup(**MODEL_RUN, heads=4))


@pytest.mark.parametrize(
    "setup", [RunSetup(example="learned_copy", context_text=""), RunSetup(example="learned_copy", text="")]
)
def test_an_empty_text_of_a_network_is_refused(setup):
    with pytest.raises(AttentionError, match="there must be at least one symbol"):
        compute_run(setup)


def test_typed_tokens_of_a_tokenizer_are_words_that_a_dictionary_knows():
    typed, plain = (compute_run(RunSetup(text=text))[0] for text in ("The Ġdog Ġbarked", "The dog barked"))
    assert typed.labels["T"] == plain.labels["T"] == ("The", "dog", "barked")
    assert torch.equal(typed["weights"], plain["weights"])
    with pytest.raises(AttentionError, match="at most 512"):
        compute_run(RunSetup(text="▁a " * 600))
