"""What a model returns with and without some heads: beside a copy of the model whose rows of W_o are 0."""

from copy import deepcopy

import pytest
import torch

from attention_core.checkpoints import open_folder, record
from attention_core.checkpoints.next_pieces import Writing, write_on
from attention_core.checkpoints.output_changes import (
    find_predicted_place,
    last_vectors,
    list_labels,
    list_piece_changes,
)
from attention_core.checkpoints.text_inputs import make_inputs
from attention_core.comparison.measures import measure_moves
from tests.checkpoints.folders import save_folder
from tests.checkpoints.tiny_models import make_model

TEXT = "The dog didn't bark."
OFF = ((0, 1), (2, 3))  # the second head of the first layer, the fourth of the third
ALL = tuple((layer, head) for layer in range(3) for head in range(4))
WIDTH = 16  # of each head


def cut_off(model: torch.nn.Module, layers, rows_of, off=OFF) -> torch.nn.Module:
    """A copy of a model in which W_o gets nothing from some heads."""
    zeroed = deepcopy(model)
    with torch.no_grad():
        for layer, head in off:
            rows_of(layers(zeroed)[layer])[head * WIDTH : (head + 1) * WIDTH] = 0
    return zeroed


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder for models."""
    return tmp_path_factory.mktemp("models")


def test_the_likeliest_next_pieces_are_those_of_a_model_whose_output_rows_are_zero(root):
    save_folder(root / "gpt2", "GPT2LMHeadModel")
    opened = open_folder(root / "gpt2")
    zeroed = cut_off(opened.model, lambda model: model.transformer.h, lambda layer: layer.attn.c_proj.weight)
    inputs = make_inputs(opened, TEXT)
    recording = record(opened.model, **inputs.tensors)
    place = find_predicted_place(opened, inputs)
    assert place == len(inputs.shown) - 1
    with torch.no_grad():
        shares = [model(**inputs.tensors).logits[0, -1].double().softmax(-1) for model in (opened.model, zeroed)]
    vectors = [last_vectors(each)[place] for each in (recording, recording.without(OFF))]
    found = list_piece_changes(opened, *vectors, 5)
    first = shares[0].topk(5).indices.tolist()
    expected = first + [number for number in shares[1].topk(5).indices.tolist() if number not in first]
    assert [each.number for each in found] == expected
    assert [each.before for each in found] == pytest.approx(shares[0][expected].tolist(), abs=1e-6)
    assert [each.after for each in found] == pytest.approx(shares[1][expected].tolist(), abs=1e-6)
    assert max(abs(each.before - each.after) for each in found) > 1e-3


def test_a_model_writes_on_without_its_heads(root):
    save_folder(root / "writer", "GPT2LMHeadModel")
    opened = open_folder(root / "writer")
    zeroed = cut_off(opened.model, lambda model: model.transformer.h, lambda layer: layer.attn.c_proj.weight, ALL)
    ids = torch.tensor([opened.cut(TEXT).ids])
    with torch.no_grad():
        for _ in range(7):
            ids = torch.cat([ids, zeroed(ids).logits[:, -1:].argmax(-1)], dim=1)
    written = write_on(opened, TEXT, how=Writing(7, off=ALL))
    assert written == tuple(ids[0, -7:].tolist()) != write_on(opened, TEXT, how=Writing(7))


def test_a_masked_model_predicts_at_its_first_mask(root):
    save_folder(root / "bert", "BertForMaskedLM", "word pieces")
    opened = open_folder(root / "bert")
    inputs = make_inputs(opened, "the [MASK] was [MASK].")
    assert find_predicted_place(opened, inputs) == inputs.shown.index("[MASK]") > 1
    assert find_predicted_place(opened, make_inputs(opened, "the dog")) is None


def test_the_classes_of_a_classifier_have_the_names_of_its_config(root):
    masked = save_folder(root / "classes", "BertForMaskedLM", "word pieces")
    assert list_labels(masked, torch.zeros(1, 2, masked.config.vocab_size)) == ()
    masked.config.id2label = {2: "place\n<b>", 0: "other", 1: "person"}
    make_model("BertForTokenClassification", masked.config).save_pretrained(root / "classes")
    opened = open_folder(root / "classes")
    logits = record(opened.model, **make_inputs(opened, "the dog").tensors).logits
    assert list_labels(opened.model, logits) == ("other", "person", "place⟨U+000A⟩<b>")
    assert list_labels(opened.model, None) == list_labels(opened.model, logits[..., :2]) == ()


def test_vectors_of_a_model_without_logits_move_as_those_of_the_copy(root):
    masked = save_folder(root / "plain", "BertForMaskedLM", "word pieces")
    make_model("BertModel", masked.config).save_pretrained(root / "plain")
    opened = open_folder(root / "plain")
    rows = lambda layer: layer.attention.output.dense.weight.T  # noqa: E731
    zeroed = cut_off(opened.model, lambda model: model.encoder.layer, rows)
    inputs = make_inputs(opened, "the dog")
    assert find_predicted_place(opened, inputs) is None
    recording = record(opened.model, **inputs.tensors)
    found = measure_moves(last_vectors(recording), last_vectors(recording.without(OFF)))
    with torch.no_grad():
        one, other = (model(**inputs.tensors).last_hidden_state[0] for model in (opened.model, zeroed))
    expected = [float((there - here).norm() / here.norm()) for here, there in zip(one, other, strict=True)]
    assert found.tolist() == pytest.approx(expected, rel=1e-4) and min(expected) > 1e-3
