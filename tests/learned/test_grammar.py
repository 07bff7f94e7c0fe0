"""The grammar: its texts say the same in both languages, and their links point at what fits."""

from random import Random

import pytest

from attention_core.learned.grammar import SORTS, cut_words, draw_scene, held_out_pair, vocabulary

LANGUAGES = ("en", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_a_text_is_in_the_vocabulary(language):
    known = set(vocabulary(language))
    rng = Random(1)
    for _ in range(2000):
        text = draw_scene(rng).say(language)
        assert set(text.words) <= known
        assert set(text.kinds) - {""} <= known


def test_the_same_seed_gives_the_same_text():
    first, second = (draw_scene(Random(7)) for _ in range(2))
    for language in LANGUAGES:
        assert first.say(language) == second.say(language)


@pytest.mark.parametrize("sort", SORTS)
def test_pairs_that_are_held_out_are_never_trained_on(sort):
    rng = Random(2)
    for _ in range(500):
        assert not any(held_out_pair(*pair) for pair in draw_scene(rng, sort).pairs)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("她在公园里看见了公共汽车。", "她 在 公园 里 看见 了 公共汽车 。"),
        ("Ｘ小狗 追猫", "ｘ 小狗 追 猫"),
    ],
)
def test_chinese_is_cut_at_the_longest_word(typed, words):
    known = {"公园", "公共", "公共汽车", "汽车", "看见", "小狗", "狗"}
    assert list(cut_words(typed, "zh", words=known)) == words.split()
