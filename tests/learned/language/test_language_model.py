"""A language model: what is trained is what is shown, and no text of a row changes another."""

import math
from dataclasses import replace
from random import Random

import pytest
import torch
from torch import Generator

from attention_core import AttentionError, prove
from attention_core.learned.language.batches import Batch, draw_batch
from attention_core.learned.language.model import LanguageModel, ModelShape
from attention_core.learned.language.packing import PackedTexts
from attention_core.learned.language.questions import NOT_ASKED
from attention_core.learned.language.recipes import RECIPES, Prices, language_loss
from attention_core.learned.language.training import LanguageTraining

SHAPES = [
    ModelShape(words=29, causal=causal, answers=answers, width=24, layers=2, heads=4, inner=7)
    for causal in (False, True)
    for answers in ("nowhere", "sum", "heads")
]
ids = [f"{'decoder' if shape.causal else 'encoder'}-{shape.answers}" for shape in SHAPES]


def drawn(shape, seed=1):
    """A model that nobody trained, in float64."""
    return LanguageModel(shape, Generator().manual_seed(seed)).double().requires_grad_(False)


def words_of(count, seed=2):
    """Some words."""
    rng = Random(seed)
    return torch.tensor([[rng.randrange(29) for _ in range(count)]])


def one_text(words, answers):
    """A row that holds one text."""
    return PackedTexts(words, torch.zeros_like(words), answers)


# ---- the runs --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_what_is_trained_is_what_is_shown(shape):
    model, words = drawn(shape), words_of(5)
    shown = model.stack(words)
    trained = model.run_layers(words, torch.ones(1, 1, 5, 5, dtype=torch.bool))
    assert torch.equal(trained.end, shown["2.feed_forward"]["residual"])
    assert torch.allclose(model.word_logits(trained.end), shown["unembedding"]["logits"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_every_part_is_proven(shape):
    stack = drawn(shape).stack(words_of(5))
    assert list(stack.parts) == [
        "embedding",
        *(f"{layer}.{part}" for layer in (1, 2) for part in ("attention", "feed_forward")),
        "unembedding",
    ]
    assert all(prove(trace).passed for trace in stack.parts.values())


@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_a_text_in_a_row_is_what_it_is_alone(shape):
    model = drawn(shape)
    one, other = words_of(5, 3), words_of(7, 4)
    texts = torch.tensor([[0] * 5 + [1] * 7])
    packed = PackedTexts(torch.cat((one, other), 1), texts, torch.full((4, 1, 12), NOT_ASKED))
    together = model.run_layers(packed.words, packed.allowed).end
    alone = [
        model.run_layers(each, torch.ones(1, 1, each.shape[1], each.shape[1], dtype=torch.bool)).end
        for each in (one, other)
    ]
    assert torch.allclose(together, torch.cat(alone, 1), rtol=0, atol=1e-12)


def test_a_decoder_does_not_look_ahead_and_an_encoder_does():
    for shape in (SHAPES[2], SHAPES[5]):
        model, words = drawn(shape), words_of(7)
        changed = words.clone()
        changed[0, 5] = (changed[0, 5] + 1) % 29
        before, after = (model.stack(each)["unembedding"]["logits"][0, :5] for each in (words, changed))
        assert torch.equal(before, after) == shape.causal


def test_a_head_that_answers_passes_on_the_words_themselves():
    """Where a head looks at one word alone, its output is that word's row of the table through W_v."""
    model, words = drawn(SHAPES[2]), words_of(5)
    trace = model.stack(words)["2.attention"]
    values = (model.words[words[0]] @ model.layers[1].w_v).view(5, 4, 6)  # (T, H * d_v) -> (T, H, d_v)
    by_hand = torch.einsum("hts,shd->htd", trace["weights"][0], values)
    assert torch.allclose(trace["head_outputs"][0], by_hand, rtol=0, atol=1e-12)


# ---- the loss --------------------------------------------------------------------------------------------------------
def surprise(logits, wanted):
    """The surprise of one word, by hand."""
    powers = [math.exp(number) for number in logits.tolist()]
    return -math.log(powers[wanted] / sum(powers))


@pytest.mark.parametrize("shape", SHAPES, ids=ids)
def test_the_loss_is_the_sum_that_is_written_down(shape):
    model, words = drawn(shape), words_of(5)
    answers = torch.full((4, 1, 5), NOT_ASKED)
    answers[0, 0, 3], answers[0, 0, 1], answers[2, 0, 4] = 1, 1, 0  # another word, the word itself, another word
    foretold = None if shape.causal else torch.tensor([[False, True, False, False, True]])
    batch = Batch(one_text(words, answers), words, foretold)
    asked = () if shape.answers == "nowhere" else (0, 2)
    prices = Prices(answers=0.7, itself=0.3, spread=0.11)
    stack = model.stack(words)
    logits = stack["unembedding"]["logits"][0]
    at = [(t, int(words[0, t + 1])) for t in range(4)] if shape.causal else [(t, int(words[0, t])) for t in (1, 4)]
    expected = sum(surprise(logits[t], word) for t, word in at) / len(at)
    for question in asked:
        said = model.answer_logits(stack, question)[0]
        for price, pairs in ((0.7, {0: [(3, 1)], 2: [(4, 0)]}), (0.3, {0: [(1, 1)], 2: []})):
            found = [surprise(said[t], int(words[0, to])) for t, to in pairs[question]]
            expected += price * sum(found) / len(found) if found else 0
    for layer in (1, 2):
        rows = stack[f"{layer}.attention"]["weights"][0]  # (H, T, S)
        entropies = [-sum(w * math.log(w) for w in row.tolist() if w > 0) for head in rows for row in head]
        expected += 0.11 * sum(entropies) / len(entropies)
    assert float(language_loss(model, batch, prices, asked)) == pytest.approx(expected, rel=1e-9)


# ---- training --------------------------------------------------------------------------------------------------------
def test_a_training_that_was_stopped_ends_with_the_same_numbers(tmp_path):
    recipe = replace(RECIPES["en_asked_encoder"], steps=6)
    whole = LanguageTraining(recipe, seed=3)
    for _ in range(4):
        whole.advance()
    stopped = LanguageTraining(recipe, seed=3)
    stopped.advance()
    stopped.advance()
    path = tmp_path / "kept.safetensors"
    stopped.keep(path)
    again = LanguageTraining(recipe, seed=3)
    assert again.take_up(path) and again.step == 2
    again.advance()
    again.advance()
    for one, other in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert not LanguageTraining(recipe, seed=4).take_up(path)  # another seed does not go on from it
    assert not LanguageTraining(recipe, seed=3).take_up(tmp_path / "none.safetensors")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_pays_less_for_what_it_was_shown(name):
    recipe = RECIPES[name]
    training = LanguageTraining(recipe, seed=1)
    batch = recipe.draw(Generator().manual_seed(2))
    training.recipe = replace_draw(recipe, batch)
    before = recipe.loss(training.model, batch).item()
    for _ in range(6):
        training.advance()
    assert recipe.loss(training.model, batch).item() < before


def replace_draw(recipe, batch):
    """The recipe, which draws one batch again and again."""

    class Same(type(recipe)):
        def draw(self, generator):
            return batch

    return Same(**vars(recipe))


def test_numbers_that_are_not_finite_are_refused():
    training = LanguageTraining(RECIPES["zh_foretold_decoder"], seed=1)
    with torch.no_grad():
        training.model.words[7] = torch.inf
    with pytest.raises((AttentionError, ValueError)):
        training.advance()


def test_the_rate_grows_and_then_falls():
    training = LanguageTraining(replace(RECIPES["en_asked_encoder"], steps=1000), seed=1)
    rates = []
    for step in (0, 74, 149, 500, 999):
        training.step = step
        rates.append(training.rate() / 3e-3)
    assert rates == pytest.approx(
        [1 / 150, 0.5 * (1 + math.cos(math.pi * 0.074)) / 2, (1 + math.cos(math.pi * 0.149)) / 2, 0.5, 0.03]
    )


def test_a_batch_of_a_recipe_is_of_its_language():
    batch = draw_batch("zh", True, Generator().manual_seed(1))
    assert int(batch.packed.words.max()) < RECIPES["zh_asked_decoder"].shape().words
