"""A translator: torch's own layers with the same weights, what is trained is what is shown, and how it is measured."""

import math
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
import torch
from torch import Generator, nn

from attention_core import AttentionError
from attention_core.learned.grammar import Text, vocabulary
from attention_core.learned.language.batches import ROW_LENGTH, START, word_numbers
from attention_core.learned.language.training import LanguageTraining
from attention_core.learned.translation.model import Translator, TranslatorShape
from attention_core.learned.translation.pairs import Pair, draw_pair, pack_pairs
from attention_core.learned.translation.recipes import TRANSLATION_RECIPES, translation_loss
from attention_core.learned.translation.translating import (
    SHIFTS,
    aligned_shares,
    best_head,
    find_looks,
    held_out_pairs,
    keep_nouns,
    measure_translator,
    pack_sentences,
    share_exact,
    share_of_words,
    translate,
    write_words,
)
from attention_core.verification.proof import prove_stack

RECIPE = TRANSLATION_RECIPES["translation_en_zh"]
SHAPE = TranslatorShape(len(vocabulary("en")), len(vocabulary("zh")), width=20, layers=2, heads=4, inner=7)
EN, ZH = word_numbers("en"), word_numbers("zh")


def drawn(seed=1):
    """A translator that nobody trained, in float64, every number drawn: gains, shifts and biases, too."""
    generator = Generator().manual_seed(seed)
    model = Translator(SHAPE, generator).double().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 3)
    return model


def pair_of(seed):
    """A pair of sentences to learn from."""
    return draw_pair(Random(seed), "train")


def numbers_of(pair):
    """The numbers of the words of a pair."""
    return [[EN[word] for word in pair.source.words]], [[ZH[word] for word in pair.target.words]]


def longest(pair):
    """How long the longer text is."""
    return max(len(pair.source.words), len(pair.target.words))


# ---- torch's own layers ----------------------------------------------------------------------------------------------
def fill_attention(theirs, part):
    """Give torch's attention the numbers of ours."""
    theirs.in_proj_weight.copy_(torch.cat((part.w_q.T, part.w_k.T, part.w_v.T)))
    theirs.in_proj_bias.copy_(torch.cat((part.b_q, part.b_k, part.b_v)))
    theirs.out_proj.weight.copy_(part.w_o.T)
    theirs.out_proj.bias.copy_(part.b_o)


def fill_norm(theirs, part):
    """Give torch's LayerNorm the numbers of ours."""
    theirs.weight.copy_(part.g_layer_after)
    theirs.bias.copy_(part.b_layer_after)


def torch_layer(layer):
    """torch's layer with the numbers of ours: norms behind, ReLU, biases."""
    kind = nn.TransformerEncoderLayer if layer.cross is None else nn.TransformerDecoderLayer
    theirs = kind(SHAPE.width, SHAPE.heads, SHAPE.inner, dropout=0.0, batch_first=True).double().eval()
    bent = layer.feed_forward
    norms = [layer.attention, bent] if layer.cross is None else [layer.attention, layer.cross, bent]
    with torch.no_grad():
        fill_attention(theirs.self_attn, layer.attention)
        if layer.cross is not None:
            fill_attention(theirs.multihead_attn, layer.cross)
        for number, part in enumerate(norms, 1):
            fill_norm(getattr(theirs, f"norm{number}"), part)
        theirs.linear1.weight.copy_(bent.w_1.T)
        theirs.linear1.bias.copy_(bent.b_1)
        theirs.linear2.weight.copy_(bent.w_2.T)
        theirs.linear2.bias.copy_(bent.b_2)
    return theirs


def placed(table, numbers):
    """The vectors of words by the formulas of Vaswani et al. 2017, sections 3.4 and 3.5, number by number."""
    width = table.shape[1]
    rows = []
    for place, number in enumerate(numbers):
        angles = [place / 10000 ** (column // 2 * 2 / width) for column in range(width)]
        waves = [math.cos(angle) if column % 2 else math.sin(angle) for column, angle in enumerate(angles)]
        rows.append(table[number] * math.sqrt(width) + torch.tensor(waves, dtype=torch.float64))
    return torch.stack(rows)[None]  # (1, T, D)


def test_it_is_torchs_transformer_with_the_same_numbers():
    model, pair = drawn(), pair_of(7)
    source, target = numbers_of(pair)
    memory = placed(model.source_table, source[0])
    x = placed(model.target_table, target[0])
    ahead = torch.ones(len(target[0]), len(target[0]), dtype=torch.bool).triu(1)
    with torch.no_grad():
        for layer in model.encoder:
            memory = torch_layer(layer)(memory)
        for layer in model.decoder:
            x = torch_layer(layer)(x, memory, tgt_mask=ahead)
    stack = model.stack(source, target)
    torch.testing.assert_close(stack["encoder.2.feed_forward"]["layer_normed_output"], memory, rtol=0, atol=1e-10)
    expected = x @ model.target_table.T
    torch.testing.assert_close(stack["unembedding"]["logits"], expected, rtol=0, atol=1e-10)


def test_every_part_is_proven():
    model, pair = drawn(), pair_of(7)
    stack = model.stack(*numbers_of(pair))
    kinds = ("attention", "cross", "feed_forward")
    assert list(stack.parts) == [
        "encoder.embedding",
        *(f"encoder.{layer}.{part}" for layer in (1, 2) for part in ("attention", "feed_forward")),
        "embedding",
        *(f"{layer}.{part}" for layer in (1, 2) for part in kinds),
        "unembedding",
    ]
    assert prove_stack(stack).passed


# ---- what is trained is what is shown --------------------------------------------------------------------------------
def test_pairs_in_a_row_are_what_each_is_alone():
    model, pairs = drawn(), [pair_of(3), pair_of(4)]
    length = sum(map(longest, pairs)) + 3
    batch = pack_pairs([[(pair.source, pair.target) for pair in pairs]], 1, length)
    together = model.run_layers(batch.source, batch.target)
    logits = model.word_logits(together.end)[0]
    start, read = 0, 0
    for pair in pairs:
        shown = model.stack(*numbers_of(pair))
        end = start + len(pair.target.words)
        torch.testing.assert_close(logits[start:end], shown["unembedding"]["logits"][0], rtol=0, atol=1e-11)
        rows = together["2.cross"]["weights"][0, :, start:end, read : read + len(pair.source.words)]
        torch.testing.assert_close(rows, shown["2.cross"]["weights"][0], rtol=0, atol=1e-12)
        start, read = end, read + len(pair.source.words)


def test_a_word_is_written_of_the_words_before_it_and_of_the_whole_sentence():
    model, pair = drawn(), pair_of(3)
    source, target = numbers_of(pair)
    before = model.stack(source, target)["unembedding"]["logits"][0]
    later = [[*target[0][:-1], ZH["狗"]]]
    assert torch.equal(model.stack(source, later)["unembedding"]["logits"][0, :-1], before[:-1])
    other = [[*source[0][:-1], EN["dog"]]]
    assert not torch.isclose(model.stack(other, target)["unembedding"]["logits"][0], before).all(-1).any()


def test_the_loss_is_the_mean_surprise_of_the_words_and_of_the_end():
    model, pairs = drawn(), [pair_of(3), pair_of(5)]
    batch = pack_pairs([[(pair.source, pair.target)] for pair in pairs], 2, 40)
    surprises = []
    for pair in pairs:
        logits = model.stack(*numbers_of(pair))["unembedding"]["logits"][0].tolist()
        wanted = [*(ZH[word] for word in pair.target.words[1:]), ZH[START]]
        surprises += [math.log(sum(map(math.exp, row))) - row[word] for row, word in zip(logits, wanted, strict=True)]
    assert float(translation_loss(model, batch)) == pytest.approx(sum(surprises) / len(surprises), rel=1e-9)


# ---- training --------------------------------------------------------------------------------------------------------
def test_everything_learns():
    model = Translator(SHAPE, Generator().manual_seed(1)).double()
    pairs = [pair_of(seed) for seed in range(6)]
    batch = pack_pairs([[(pair.source, pair.target)] for pair in pairs], len(pairs), 40)
    translation_loss(model, batch).backward()
    for name, parameter in model.named_parameters():
        assert bool(torch.isfinite(parameter.grad).all()), name
        moves = float(parameter.grad.abs().max()) > 1e-9
        assert moves != name.endswith("b_k"), name  # b_k adds one number to all scores of a row: nothing hangs on it


def test_a_training_that_was_stopped_ends_with_the_same_numbers(tmp_path):
    recipe = replace(RECIPE, steps=4)
    whole, stopped, again = (LanguageTraining(recipe, seed=3) for _ in range(3))
    for _ in range(3):
        whole.advance()
    stopped.advance()
    stopped.advance()
    path = tmp_path / "kept.safetensors"
    stopped.keep(path)
    assert again.take_up(path) and again.step == 2
    again.advance()
    for one, other in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert not LanguageTraining(replace(recipe, name="other"), seed=3).take_up(path)


# ---- translating -----------------------------------------------------------------------------------------------------
def sharpened():
    """A translator that nobody trained, which says more than one thing: its cross-attention counts for much."""
    model = drawn()
    model.source_table.mul_(4)
    for layer in model.decoder:
        layer.cross.w_v.mul_(9)
    return model


def test_a_category_is_read_and_a_word_that_is_not_known_is_one_word():
    model = sharpened()
    one, other, animal = translate(model, [("the", "zorb", "ran"), ("the", "glim", "ran"), ("the", "<animal>", "ran")])
    assert one == other != animal
    assert translate(model, []) == []


@pytest.mark.parametrize("sentence", [(), ("the",) * ROW_LENGTH])
def test_a_sentence_without_words_or_beyond_what_was_learned_is_refused(sentence):
    with pytest.raises(AttentionError):
        translate(drawn(), [("it", "rains"), sentence])


# ---- measures --------------------------------------------------------------------------------------------------------
def test_shares_are_counted_word_by_word():
    model, pairs = drawn(), [pair_of(seed) for seed in range(4)]
    right = total = 0
    hits = {row: torch.zeros(2, 4) for row in SHIFTS}
    for pair in pairs:
        stack = model.stack(*numbers_of(pair))
        wanted = [*(ZH[word] for word in pair.target.words[1:]), ZH[START]]
        chosen = stack["unembedding"]["logits"][0].argmax(-1).tolist()
        right += sum(one == other for one, other in zip(chosen, wanted, strict=True))
        total += len(wanted)
        for source, target in pair.aligned:
            for layer in (0, 1):
                weights = stack[f"{layer + 1}.cross"]["weights"][0]  # (H, T, S)
                for head in range(4):
                    hits["read"][layer, head] += int(weights[head, target].argmax()) == source
                    hits["written"][layer, head] += int(weights[head, target - 1].argmax()) == source
    assert share_of_words(model, pairs) == pytest.approx(right / total)
    count = sum(len(pair.aligned) for pair in pairs)
    for row, found in hits.items():
        assert aligned_shares(find_looks(model, pairs), pairs, row) == pytest.approx(found / count)


def test_a_translation_is_exact_where_every_word_is(monkeypatch):
    pairs = [pair_of(seed) for seed in range(4)]
    said = [pair.target.words[1:] for pair in pairs]
    said[2] = said[2][:-1]
    monkeypatch.setattr("attention_core.learned.translation.translating.translate", lambda model, sentences: said)
    assert share_exact(None, pairs) == 0.75


def test_the_head_is_chosen_on_one_half_and_told_of_the_other():
    model, count = drawn(3), 12
    halves = [held_out_pairs("held", half, count) for half in ("choose", "report")]
    assert not {pair.source.words for pair in halves[0]} & {pair.source.words for pair in halves[1]}
    shares = [{row: aligned_shares(find_looks(model, pairs), pairs, row) for row in SHIFTS} for pairs in halves]
    best = [max(float(found.max()) for found in rows.values()) for rows in shares]
    chosen = best_head(model, count)
    told = [float(rows[chosen.row][chosen.layer, chosen.head]) for rows in shares]
    assert told[0] == best[0] and told[1] < best[1]  # it is not the best of the half that is told
    figures = measure_translator(model, "report", count)
    assert figures["held_aligned"] == told[1]
    assert figures["held_aligned_count"] == sum(len(pair.aligned) for pair in halves[1])


def test_nouns_and_first_names_are_counted_apart():
    kinds = ("", "<name-f>", "<verb>", "", "<quality>", "<animals>", "")
    words = (START, "anna", "fed", "the", "white", "dogs", ".")
    pair = Pair(Text(words, (), kinds, "", ""), pair_of(1).target, ((1, 1), (2, 2), (4, 5), (5, 7), (6, 8)))
    assert keep_nouns(pair).aligned == ((1, 1), (5, 7))


def test_a_translation_that_never_ends_has_as_many_words_as_a_row_holds():
    logits = torch.zeros(len(vocabulary("zh")))
    logits[word_numbers("zh")["狗"]] = 1.0

    class Stuck:
        def encode(self, source):
            return None

        def decode(self, target, memory, allowed):
            return SimpleNamespace(end=torch.zeros(*target.words.shape, 1))

        def word_logits(self, ends):
            return logits.expand(len(ends), -1)

    words = write_words(Stuck(), pack_sentences([("the", "dog", ".")]))
    assert words.shape == (1, ROW_LENGTH) and set(words[0, 1:].tolist()) == {word_numbers("zh")["狗"]}
