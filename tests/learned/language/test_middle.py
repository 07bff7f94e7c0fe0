"""Filling a gap: the orders in which the middle stands last, and what was measured of who guesses it."""

from random import Random

import pytest
import torch
from torch import Generator
from torch.nn.functional import cross_entropy

from attention_core.learned.language.batches import START, word_numbers
from attention_core.learned.language.fill_in_middle import (
    MIDDLE,
    MIDDLE_FIGURES,
    MIDDLE_TEXTS,
    PLACE_SEED,
    SUFFIX,
    MiddleRecipe,
    draw_place,
    hide_words,
    measure_guesses_of,
    middle_numbers,
    put_middle_last,
    read_both,
    read_left,
    read_order,
)
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_model
from attention_core.learned.language.training import LanguageTraining
from attention_core.learned.language.writing import guess_from_both, try_words


def test_every_word_stands_once_and_the_middle_last():
    words = ("<start>", "a", "b", "c", "d", "e")
    moved = put_middle_last(words, 2, 4)
    assert sorted(moved) == sorted((*words, "<suffix>", "<middle>", "<end>"))
    assert moved[-3:] == ("b", "c", "<end>")
    assert moved.index("d") == moved.index(SUFFIX) + 1
    assert moved[moved.index(MIDDLE) + 1] == "b"


def test_who_fills_reads_both_sides_and_not_the_word():
    text = hide_words("en", 20)[7]
    read, place = read_order(text)
    assert place == len(read) - 1
    given = [word for word in read if word not in ("<suffix>", "<middle>")]
    left = [*text.words[: text.at], *text.words[text.at + 1 :]]
    assert sorted(given) == sorted(left)


def test_half_of_the_texts_are_moved_and_a_step_lowers_the_loss():
    recipe = MiddleRecipe("en", steps=12)
    batch = recipe.draw(Generator().manual_seed(3))
    numbers = middle_numbers("en")
    moved = int((batch.packed.words == numbers[SUFFIX]).sum())
    assert 0.3 < moved / batch.count < 0.7
    training = LanguageTraining(recipe, 1)
    before = by_hand(training.model, batch)
    assert recipe.loss(training.model, batch).item() == pytest.approx(before, rel=1e-5)
    while not training.done:
        training.advance()
    assert by_hand(training.model, batch) < before - 0.02


def by_hand(model, batch):
    """The mean surprise of each word behind its text's first, by a loop over texts."""
    surprises = []
    with torch.no_grad():
        for words, texts in zip(batch.packed.words, batch.packed.texts, strict=True):
            for number in range(int(texts.max()) + 1):
                own = words[texts == number]
                logits = model.word_logits(model.run_layers(own[None]).end[0, :-1])
                surprises.append(cross_entropy(logits, own[1:], reduction="none"))
    return float(torch.cat(surprises).mean())


def test_kept_figures_of_models_that_come_along_are_measured_again():
    texts = hide_words("en")
    kept = MIDDLE_FIGURES.rows["en"]
    for form, read in (("decoder", read_left), ("encoder", read_both)):
        model = load_model(f"en_asked_{form}", torch.float32)
        name = {"decoder": "left", "encoder": "both"}[form]
        assert measure_guesses_of(model, "en", texts, read) == pytest.approx(getattr(kept, name), abs=2e-3)
    assert kept.texts == len(texts) == MIDDLE_TEXTS
    assert kept.order[0] < kept.before[0] < kept.both[0]  # as the lesson tells


def test_a_hidden_words_probability_is_that_of_the_whole_run():
    generator = Generator().manual_seed(PLACE_SEED)
    (text, *_), (hidden, *_) = held_out_texts("en", "held", "report", MIDDLE_TEXTS), hide_words("en")
    at = int(torch.randint(1, len(text.words), (1,), generator=generator))
    assert hidden.at == at
    model, numbers = load_model("en_asked_decoder", torch.float32), word_numbers("en")
    stack = model.stack(torch.tensor([[numbers[word] for word in text.words[:at]]]))
    share = float(stack["unembedding"]["logits"][0, -1].softmax(-1)[numbers[text.words[at]]])
    assert measure_guesses_of(model, "en", [hidden], read_left)[0] == pytest.approx(share, abs=1e-4)


def test_tried_words_are_judged_by_the_whole_text():
    """Beside a run of its own for each word."""
    name, tokens = "en_asked_decoder", ("<start>", "the", "dog", "did", "not", "cross", "the", "lake", ".")
    tried = try_words(name, tokens, 3, 6)
    numbers = word_numbers("en")
    words = [next(word for word, number in numbers.items() if number == each) for each in tried.numbers.tolist()]
    assert words[0] == "did" and len(set(words)) == len(words) >= 6
    likelihoods = []
    for word in words:
        read = (*tokens[:3], word, *tokens[4:])
        logs = run_model(name, read)["unembedding"]["logits"][0].log_softmax(-1)
        likelihoods.append(sum(float(logs[t, numbers[read[t + 1]]]) for t in range(len(read) - 1)))
    by_hand = torch.tensor(likelihoods, dtype=torch.float64).softmax(-1)
    assert tried.shares.tolist() == pytest.approx(by_hand.tolist(), abs=1e-9)
    assert tried.own == tried.likeliest(1, 0.0)[0][1] == pytest.approx(max(by_hand.tolist()), abs=1e-9)
    for guess in (lambda at: try_words(name, tokens, at, 6), lambda at: guess_from_both(name, tokens, at)):
        for at in (0, len(tokens)):
            with pytest.raises(ValueError, match="tokens"):
                guess(at)
    with pytest.raises(ValueError, match="causal"):
        try_words("en_asked_encoder", tokens, 3, 6)


@pytest.mark.parametrize(("drawn", "place"), [(0.0, 1), (0.49, 2), (0.5, 3), (0.99, 4)])
def test_a_place_is_drawn_from_all_words_after_the_first_sign(drawn, place):
    rng = Random(0)
    rng.random = lambda: drawn
    assert draw_place((START, "the", "dog", "smiled", "."), rng) == place
