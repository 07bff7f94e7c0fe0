"""Switches heads off inside models: beside our own stacks, and beside models whose rows of W_o are 0."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch import nn

from attention_core.analysis.interventions import Intervention, intervene
from attention_core.checkpoints import record
from attention_core.record.errors import AttentionError
from tests.checkpoints.families import FAMILIES
from tests.checkpoints.test_stock_folder import SAME, SAME_UNTRAINED, apart, open_own, texts_of
from tests.checkpoints.tiny_models import text


def make(name: str) -> nn.Module:
    """A tiny model of a family."""
    return next(family for family in FAMILIES if family.name == name).make()


@pytest.mark.parametrize("name, same", [("en_foretold_encoder", SAME), ("en_foretold_decoder", SAME_UNTRAINED)])
def test_our_own_model_loses_the_same_as_by_our_own_intervention(name: str, same: float, tmp_path: Path):
    model, opened = open_own(name, tmp_path)
    words = texts_of(name, opened)[0]
    stack, recording = model.stack(words), record(opened.model, input_ids=words)
    for heads in ([(0, 1)], [(0, 1), (0, 3), (2, 2)]):
        ours = intervene(stack, [Intervention(f"{layer + 1}.attention", head) for layer, head in heads])
        changed = recording.without(heads)
        assert apart(changed.logits, ours) < same
        assert apart(recording.logits, ours) > 100 * same  # each head says something
        assert changed.passed


@pytest.mark.parametrize(
    "name, rows",
    [
        ("LlamaForCausalLM", lambda model: model.model.layers[1].self_attn.o_proj.weight.T),
        ("GPT2LMHeadModel", lambda model: model.transformer.h[1].attn.c_proj.weight),
        ("BertForMaskedLM", lambda model: model.bert.encoder.layer[1].attention.output.dense.weight.T),
    ],
)
def test_a_head_passes_on_what_rows_of_zeros_pass_on(name: str, rows):
    model, inputs = make(name), text()
    zeroed = deepcopy(model)
    with torch.no_grad():
        rows(zeroed)[32:48] = 0  # of the third head
        expected = zeroed(**inputs).logits
    recording = record(model, **inputs)
    changed = recording.without([(1, 2)])
    assert torch.allclose(changed.logits, expected, atol=1e-5, rtol=0)
    assert not torch.allclose(recording.logits, expected, atol=1e-2, rtol=0)
    assert torch.equal(record(model, **inputs).logits, recording.logits)  # nothing stays switched off
    assert torch.equal(changed.calls[1].output, recording.calls[1].output)
    assert not torch.equal(changed.calls[2].output, recording.calls[2].output)


def test_no_head_is_the_model_as_it_is():
    recording = record(make("LlamaForCausalLM"), **text())
    assert torch.equal(recording.without([]).logits, recording.logits)


@pytest.mark.parametrize("head", [(3, 0), (0, 4), (-1, 0), (0, -1)])
def test_a_head_that_is_not_there_is_refused(head: tuple[int, int]):
    recording = record(make("LlamaForCausalLM"), **text())
    with pytest.raises(AttentionError, match="there is no head"):
        recording.without([head])


def test_attention_beside_the_interface_is_refused():
    recording = record(nn.MultiheadAttention(4, 2, batch_first=True).eval(), *[torch.eye(4)[None]] * 3)
    with pytest.raises(AttentionError, match="only in models whose attention all goes through the interface"):
        recording.without([(0, 0)])
