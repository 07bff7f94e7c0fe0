"""What the heads of the language models would do with words alone, beside their own matrices."""

import pytest
import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.circuits import (
    MAX_SHOWN_WORDS,
    choose_words,
    copying_scores,
    favourite_words,
    read_added_words,
    word_circuit,
    word_pushes,
)
from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.shipped import load_model
from attention_core.record.errors import AttentionError

NAME = "en_asked_decoder"
WORDS = ("it", "dog", "saw", "the", "cat")
WIDTH = 16  # of a head


def own_matrices(layer, head, name=NAME):
    model = load_model(name)
    learned, own = model.layers[layer - 1], slice(head * WIDTH, (head + 1) * WIDTH)
    return model, learned, own


def rows(name=NAME, words=WORDS):
    model = load_model(name)
    return model.words[[vocabulary(name[:2]).index(word) for word in words]].detach()


def normed(x, gain):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain


@pytest.mark.parametrize(("layer", "head"), [(1, 0), (2, 3)])
def test_scores_and_pushes_are_products_of_the_models_own_matrices(layer, head):
    model, learned, own = own_matrices(layer, head)
    trace = word_circuit(NAME, WORDS, layer)[f"{layer}.circuit"]
    x = normed(rows(), learned.g_attention)
    asks = (x @ learned.w_q[:, own]) @ (x @ learned.w_k[:, own]).T / WIDTH**0.5
    writes = x @ learned.w_v[:, own] @ learned.w_o[own] @ (rows() * model.g_last).T
    assert trace["scaled_scores"][0, head] == pytest.approx(asks.detach(), abs=1e-10)
    assert trace["writes"][0, head] == pytest.approx(writes.detach(), abs=1e-10)
    assert "answers" not in trace


def test_the_last_layer_of_a_model_that_is_asked_answers_with_the_words_themselves():
    """Its values are made of the words, without a norm: what it answers is the same in every sentence."""
    model, learned, own = own_matrices(3, 0)
    trace = word_circuit(NAME, WORDS, 3)["3.circuit"]
    answers = rows() @ learned.w_v[:, own] @ model.w_answers[0] @ rows().T
    assert trace["answers"][0, 0] == pytest.approx(answers.detach(), abs=1e-10)
    tokens = cut_sentence(NAME, "The dog saw the cat.")
    in_sentence = run_model(NAME, tokens)["3.attention"]["v"][0, 0, tokens.index("cat")]
    assert trace["v"][0, 0, WORDS.index("cat")] == pytest.approx(in_sentence, abs=1e-12)


def test_each_number_leads_to_the_embedding():
    stack = word_circuit(NAME, WORDS, 3)
    for step in ("x", "value"):
        assert stack.sources["3.circuit"][step] == ("embedding", "x")
    assert stack["embedding"]["x"][0] == pytest.approx(rows(), abs=0)


def test_the_pushes_on_all_words_hold_those_on_the_words_that_are_shown():
    trace = word_circuit(NAME, WORDS, 3)["3.circuit"]
    places = [vocabulary("en").index(word) for word in WORDS]
    for step, pushes in word_pushes(NAME, "dog", 3).items():
        assert pushes.shape == (4, len(vocabulary("en")))
        assert pushes[:, places] == pytest.approx(trace[step][0, :, 1], abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("step", ["writes", "answers"])
def test_the_copying_score_is_that_of_the_matrix_of_all_words(step):
    model, learned, own = own_matrices(3, 2)
    out = {"writes": learned.w_o[own] * model.g_last, "answers": model.w_answers[2]}[step]
    whole = (model.words @ learned.w_v[:, own] @ out @ model.words.T).detach()  # (V, V)
    eigenvalues = torch.linalg.eigvals(whole)
    expected = eigenvalues.real.sum() / eigenvalues.abs().sum()
    assert float(copying_scores(NAME, 3)[step][2]) == pytest.approx(float(expected), abs=1e-6)


def test_every_answering_head_copies():
    for name in ("en_asked_encoder", "en_asked_decoder", "zh_asked_encoder", "zh_asked_decoder"):
        assert copying_scores(name, 3)["answers"].min() > 0.95, name


def test_in_the_first_layer_the_favourites_differ_by_the_places_alone():
    """The bare scores of a sentence are those of the run with every rotation undone."""
    tokens = cut_sentence(NAME, "The dog saw the cat because it barked.")
    alone, run = favourite_words(NAME, tokens, 1)
    own = run_model(NAME, tokens)["1.attention"]
    before = [own[f"{role}_projected"].unflatten(-1, (4, WIDTH)).transpose(1, 2)[0] for role in "qk"]
    scores = before[0] @ before[1].mT / WIDTH**0.5
    allowed = torch.ones(len(tokens), len(tokens)).tril() > 0
    assert torch.equal(alone, scores.masked_fill(~allowed, -torch.inf).argmax(-1))
    assert torch.equal(run, own["weights"][0].argmax(-1))


def test_words_are_shown_once_and_no_more_than_there_is_room_for():
    sentence = tuple(f"w{n}" for n in range(20))
    words = choose_words(sentence, 17, ("cat", "w17"))
    assert len(words) == MAX_SHOWN_WORDS
    assert words[-2:] == ("w17", "cat") and words[:3] == ("w0", "w1", "w2")
    assert choose_words(("a", "b", "a"), 2, ("b",)) == ("a", "b")


def test_words_that_the_model_does_not_know_are_refused():
    assert read_added_words(NAME, "") == ()
    with pytest.raises(AttentionError, match="zebrafish"):
        read_added_words(NAME, "dog zebrafish")
    with pytest.raises(AttentionError, match="7"):
        read_added_words(NAME, "dog cat it the was did not")
