"""A model without one of its parts: what it says, against runs of weights set to zero; and the path of a prediction."""

import copy

import pytest
import torch

from attention_core.analysis.interventions import Intervention
from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.shipped import load_model
from attention_core.learned.language.what_if import (
    Changes,
    Outcome,
    find_path,
    list_outcomes,
    list_switches,
    path_rows,
    run_changed,
    share_with_each_off,
    shares_before_and_after,
)
from attention_core.learned.language.writing import blank_word

TIRED = "The animal did not cross the street because it was too tired."
NAMES = ("en_asked_encoder", "en_asked_decoder", "en_named_encoder", "en_foretold_encoder")
IT = 9


def read(name):
    return cut_sentence(name, TIRED)


def logits_without(name, tokens, switch):
    """The model's own forward pass, the matrix behind a part set to zero."""
    model = copy.deepcopy(load_model(name))
    layer = model.layers[int(switch.part.partition(".")[0]) - 1]
    with torch.no_grad():
        if switch.head is None:
            layer.w_2.zero_()
        else:
            width = model.shape.width // model.shape.heads
            layer.w_o[switch.head * width : (switch.head + 1) * width] = 0
        numbers = word_numbers("en")
        words = torch.tensor([[numbers[token] for token in tokens]])
        return model.word_logits(model.run_layers(words).end)[0]  # (T, V)


@pytest.mark.parametrize("name", NAMES)
def test_what_each_part_alone_off_leaves_is_what_the_model_without_its_matrix_says(name):
    tokens = read(name)
    outcome = list_outcomes(name, tokens, at=5)[-1]
    assert outcome == Outcome(5)
    seen = outcome.read(name, tokens)
    word = int(outcome.shares(name, run_model(name, seen)).argmax())
    found = share_with_each_off(name, tokens, outcome, word)
    assert len(found) == 15
    assert [share for _, share in found] == sorted(share for _, share in found)
    for switch, share in found:
        expected = logits_without(name, seen, switch)[5].softmax(-1)[word]
        assert share == pytest.approx(float(expected), abs=1e-12)


def test_an_encoder_is_asked_for_the_hidden_word_and_a_decoder_for_the_next():
    encoder, decoder = "en_asked_encoder", "en_asked_decoder"
    assert Outcome(5).read(encoder, read(encoder)) == blank_word(read(encoder), 5)
    assert Outcome(5).read(decoder, read(decoder)) == read(decoder)
    assert list_outcomes(encoder, read(encoder), at=0)[-1] == Outcome(1)  # START is never hidden
    assert list_outcomes(decoder, read(decoder), at=0)[-1] == Outcome(0)
    assert list_outcomes(encoder, ("<start>",), at=0) == ()


@pytest.mark.parametrize(
    ("name", "asked"), [("en_asked_encoder", IT), ("en_named_encoder", IT), ("en_asked_decoder", 12)]
)
def test_an_answer_is_read_where_it_is_asked(name, asked):
    (outcome, _) = list_outcomes(name, read(name), at=3)
    assert (outcome.pronoun, outcome.at) == (IT, asked)
    shares = outcome.shares(name, run_model(name, read(name)))
    assert vocabulary("en")[int(shares.argmax())] == "animal" and shares.max() > 0.9


def test_a_model_that_is_asked_nothing_answers_nothing():
    assert list_outcomes("en_foretold_encoder", read("en_foretold_encoder"), at=3) == (Outcome(3),)


def test_without_the_head_out_of_which_it_is_read_an_answer_is_every_word_alike():
    name = "en_asked_encoder"
    outcome = list_outcomes(name, read(name), at=3)[0]
    changes = Changes((Intervention("3.attention", outcome.question),))
    before, after = shares_before_and_after(name, read(name), outcome, changes)
    assert before.max() > 0.9
    assert after.tolist() == pytest.approx([1 / len(after)] * len(after), abs=1e-12)


def test_another_sentence_lends_its_weights():
    name = "en_asked_encoder"
    other = cut_sentence(name, "The teacher did not cross the street because it was too wide.")
    (switch,) = (each for each in list_switches(run_model(name, other)) if (each.part, each.head) == ("2.attention", 3))
    changes = Changes((Intervention(switch.part, switch.head, "other"),), other)
    found = run_changed(name, read(name), changes)["2.attention"]["weights"][0, 3]
    assert torch.equal(found, run_model(name, other)["2.attention"]["weights"][0, 3])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "interventions", [(), (Intervention("1.feed_forward"), Intervention("3.attention", 2, "even"))]
)
def test_the_path_of_a_word_adds_up_to_its_logit(name, interventions):
    changes = Changes(interventions)
    outcome = Outcome(7)
    seen = outcome.read(name, read(name))
    word = int(outcome.shares(name, run_model(name, seen)).argmax())
    stack = find_path(name, seen, changes, word)
    rows = path_rows(stack, 7, word)
    logit = float(run_changed(name, seen, changes)["unembedding"]["logits"][0, 7, word])
    assert sum(row.push for row in rows) == pytest.approx(logit, abs=1e-12 * max(1, abs(logit)))
    heads = [row for row in rows if row.by_word is not None]
    assert len(heads) == 12
    for row in heads:
        assert sum(row.by_word) == pytest.approx(row.push, abs=1e-12)
