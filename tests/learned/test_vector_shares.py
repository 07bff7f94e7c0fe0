"""The sum that a word's vector is, beside the vectors that the model itself computes."""

from itertools import pairwise

import pytest
import torch

from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import SHARED_TEXTS, measure_vector_shares, shares_along


def test_a_part_across_the_sum_has_no_share_and_one_against_it_a_negative_one():
    across = torch.tensor([[[2.0, 0.0]], [[0.0, 1.0]], [[0.0, -1.0]]])
    assert shares_along(across).flatten().tolist() == [1, 0, 0]
    against = torch.tensor([[[4.0, 0.0]], [[-1.0, 0.0]]])
    assert shares_along(against).flatten().tolist() == pytest.approx([4 / 3, -1 / 3])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_shares_are_those_of_what_stands_in_the_run_before_and_behind_each_layer(language):
    found = measure_vector_shares(language)
    attended = fed = first = growth = words = 0.0
    for text in held_out_texts(language, "held", "report", SHARED_TEXTS):
        stack = run_model(f"{language}_asked_encoder", text.words)
        inputs = [
            stack[f"{layer}.{half}"]["x"][0].double() for layer in (1, 2, 3) for half in ("attention", "feed_forward")
        ]
        inputs.append(stack["unembedding"]["x"][0].double())
        end = inputs[-1]
        added = [after - before for before, after in pairwise(inputs)]
        along = [(each * end).sum(-1) / (end * end).sum(-1) for each in added]
        first += ((inputs[0] * end).sum(-1) / (end * end).sum(-1)).sum().item()
        attended += sum(along[0::2]).sum().item()
        fed += sum(along[1::2]).sum().item()
        growth += (end.norm(dim=-1) / inputs[0].norm(dim=-1)).sum().item()
        words += len(end)
    expected = [each / words for each in (first, attended, fed, growth)]
    assert found.words == words
    assert [found.embedding, found.attention, found.feed_forward, found.growth] == pytest.approx(expected, rel=1e-4)
