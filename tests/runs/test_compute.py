"""From a Setup to its run: the kind of its input, and what each kind makes of it."""

import pytest
import torch

from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_link import read_matrix
from attention_core.record.errors import AttentionError
from pages.runs.compute import compute_run, input_kind_of
from pages.runs.made_sentences import HandmadeHeads, LearnedTexts
from pages.runs.sentences import DictionarySentences
from pages.runs.tensor_inputs import QkvMatrices, UploadedQkv
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
