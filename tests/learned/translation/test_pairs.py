"""What a translator is shown: pairs that say the same, side by side in rows."""

from random import Random

import pytest
import torch
from torch import Generator

from attention_core.learned.grammar import Text, categories, draw_scene
from attention_core.learned.grammar.function_words import DETERMINERS
from attention_core.learned.language.batches import ROW_LENGTH, ROWS, START, word_numbers
from attention_core.learned.language.packing import NO_TEXT, deal_rows
from attention_core.learned.translation.pairs import (
    disguise_pair,
    draw_pair,
    draw_pair_batch,
    draw_plain_scene,
    find_mentions,
    pack_pairs,
)

EN, ZH = word_numbers("en"), word_numbers("zh")


def text(*words):
    """A text behind START."""
    return Text((START, *words), (), (), "", "")


ANNA = text("anna", "smiled", "."), text("安娜", "微笑", "了", "。")
RAIN = text("it", "rains"), text("下", "雨")


# ---- rows ------------------------------------------------------------------------------------------------------------
def test_items_are_dealt_until_one_of_their_sizes_does_not_fit():
    sizes = [(2, 3), (3, 1), (1, 3), (9, 1), (1, 1), (6, 2), (2, 2)]
    assert deal_rows(sizes, lambda size: size, rows=2, length=6) == [[(2, 3), (3, 1)], [(1, 3), (1, 1)]]
    assert deal_rows(sizes[:3], lambda size: size, rows=5, length=7) == [[(2, 3), (3, 1), (1, 3)]]


def test_the_translation_of_a_text_has_its_number_and_each_word_its_place():
    batch = pack_pairs([[ANNA, RAIN]], 1, 9)
    source, target = batch.source, batch.target
    assert source.words.tolist() == [[EN[w] for w in (*ANNA[0].words, *RAIN[0].words)] + [EN[START]] * 2]
    assert source.texts.tolist() == [[0, 0, 0, 0, 1, 1, 1, NO_TEXT, NO_TEXT]]
    assert target.texts.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1, NO_TEXT]]
    assert target.places[0, :8].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
    assert batch.count == 2


def test_the_next_word_is_wanted_and_behind_the_last_the_sign_that_ends_a_text():
    wanted = pack_pairs([[ANNA, RAIN]], 1, 8).wanted[0]
    assert wanted.tolist() == [ZH[word] for word in ("安娜", "微笑", "了", "。", START, "下", "雨", START)]


def test_a_word_looks_at_its_own_sentence_alone():
    batch = pack_pairs([[ANNA, RAIN]], 1, 9)
    allowed = batch.target.allowed_to(batch.source)
    assert allowed.shape == (1, 1, 9, 9)
    for t in range(8):
        for s in range(9):
            assert bool(allowed[0, 0, t, s]) == (batch.target.texts[0, t] == batch.source.texts[0, s])
    assert bool(allowed[0, 0, 8].all())  # an empty place: nothing is learned there


# ---- what is drawn ---------------------------------------------------------------------------------------------------
def test_mentions_are_found_wherever_they_stand():
    scene = draw_scene(Random(3), sort="agreement")
    found = {mention.thing.noun.chinese for mention in find_mentions(scene.parts["en"])}
    assert found <= set(scene.say("zh").words) and len(found) == 2


def test_no_english_the_is_said_by_a_word_that_english_does_not_tell():
    """那 comes from "that" alone: elsewhere the grammar also says 那 只 狗 for "the dog"."""
    rng = Random(4)
    pairs = [draw_pair(rng, "train") for _ in range(1500)]
    told = [pair for pair in pairs if not {"that", "those"} & {*pair.source.words}]
    assert len(told) > 800 and not any("那" in pair.target.words for pair in told)
    measured = DETERMINERS["the measured"]
    scenes = [draw_scene(rng) for _ in range(300)]
    share = sum(any(m.determiner is measured for m in find_mentions(scene.parts["en"])) for scene in scenes) / 300
    assert 0.1 < share < 0.4  # of the scenes are left out


@pytest.mark.parametrize("part", ["train", "held", "frames"])
def test_positions_move_with_the_sign_before_each_text(part):
    for seed in range(40):
        scene = draw_plain_scene(Random(seed), part)
        pair = draw_pair(Random(seed), part)
        words = [(scene.say("en").words[s], scene.say("zh").words[t]) for s, t in scene.align() if t >= 0]
        assert words == [(pair.source.words[s], pair.target.words[t]) for s, t in pair.aligned]
        assert pair.source.words[0] == pair.target.words[0] == START


def test_a_noun_is_disguised_in_both_languages_or_in_none():
    rng, disguised = Random(5), 0
    for _ in range(600):
        scene = draw_plain_scene(rng, "train")
        source, target = disguise_pair(scene, rng)
        hidden = [at for at, word in enumerate(source.words) if word in categories("en")]
        expected = list(scene.say("zh").words)
        for s, t in scene.align():
            if s in hidden:
                expected[t] = scene.say("zh").kinds[t]
        assert list(target.words) == expected
        assert len(hidden) == sum(word in categories("zh") for word in target.words)
        disguised += bool(hidden)
    assert 60 < disguised < 240


def test_a_batch_is_of_a_thousand_words_and_the_same_for_the_same_seed():
    one, same, other = (draw_pair_batch(Generator().manual_seed(seed)) for seed in (5, 5, 6))
    assert one.source.words.shape == one.target.words.shape == (ROWS, ROW_LENGTH)
    assert torch.equal(one.source.words, same.source.words) and torch.equal(one.target.words, same.target.words)
    assert not torch.equal(one.source.words, other.source.words)
    assert torch.equal(one.source.texts.amax(-1), one.target.texts.amax(-1))
    assert one.target.filled.double().mean() > 0.7
