"""The next word: drawn from a seed, the likeliest, and in a blank."""

import pytest
import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import MAX_MODEL_WORDS, cut_sentence, run_model
from attention_core.learned.language.readout import WordChoices, with_word_choices
from attention_core.learned.language.writing import add_word, blank_word, pick_word
from attention_core.verification.proof import prove_stack

DECODER, ENCODER = "en_asked_decoder", "en_asked_encoder"
TIRED = cut_sentence(DECODER, "The animal did not cross the street because it was too tired.")


def test_a_draw_is_that_of_its_seed_and_its_step():
    probabilities = torch.tensor([0.2, 0.0, 0.5, 0.3, 0.0], dtype=torch.float64)
    for seed in (0, 7):
        numbers = torch.rand(50, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        expected = [2 if u < 0.5 else 3 if u < 0.8 else 0 for u in numbers.tolist()]
        assert [pick_word(probabilities, seed, step) for step in range(50)] == expected
    before = torch.get_rng_state()
    pick_word(probabilities, 1, 0)
    assert torch.equal(torch.get_rng_state(), before)


def test_words_are_drawn_as_often_as_they_are_likely_and_those_that_were_cut_never():
    probabilities = torch.tensor([0.1, 0.6, 0.0, 0.3], dtype=torch.float64)
    counts = torch.bincount(torch.tensor([pick_word(probabilities, seed, 0) for seed in range(4000)]), minlength=4)
    shares = counts / 4000
    assert shares[2] == 0 and (shares - probabilities).abs().max() < 4 * (0.6 * 0.4 / 4000) ** 0.5


@pytest.mark.parametrize(("seed", "step"), [(-1, 0), (1.0, 0), (2**40, 0), (0, -1), (True, 0)])
def test_a_seed_that_is_none_is_refused(seed, step):
    with pytest.raises(ValueError, match=r"seed|step"):
        pick_word(torch.ones(1), seed, step)


def test_the_likeliest_word_is_the_one_with_the_largest_logit():
    logits = run_model(DECODER, TIRED[:-1])["unembedding"]["logits"][0, -1]
    assert vocabulary("en")[pick_word(logits.softmax(-1), None, 0)] == "."


def test_what_stays_is_proven_and_is_torchs():
    stack = run_model(DECODER, TIRED)
    cut = with_word_choices(DECODER, stack, WordChoices(0.7, 20, 0.9))
    assert prove_stack(cut).passed
    logits = stack["unembedding"]["logits"][0] / 0.7  # (T, V)
    for row, found in zip(logits, cut["unembedding"]["probabilities"][0], strict=True):
        values, numbers = row.topk(20)
        shares = values.softmax(-1)
        count = next(n for n in range(1, 21) if shares[:n].sum() >= 0.9)
        expected = torch.zeros_like(row).scatter(0, numbers[:count], shares[:count] / shares[:count].sum())
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_a_text_ends_where_the_model_has_learned_no_longer_ones():
    words = ("<start>", *["dog"] * (MAX_MODEL_WORDS - 1))
    full = add_word(words, "cat")
    assert full[-1] == "cat" and len(full) == MAX_MODEL_WORDS + 1
    with pytest.raises(ValueError, match=f"at most {MAX_MODEL_WORDS} words"):
        add_word(full, "cat")


def test_an_encoder_sees_a_blank_in_the_place_of_a_word():
    blanked = blank_word(TIRED, 8)
    assert blanked[8] == "<mask>" and blanked[:8] + blanked[9:] == TIRED[:8] + TIRED[9:]
    logits = run_model(ENCODER, blanked)["unembedding"]["logits"][0, 8]
    assert vocabulary("en")[int(logits.argmax())] == "because"
    for at in (0, len(TIRED), -1):
        with pytest.raises(ValueError, match="index"):
            blank_word(TIRED, at)
