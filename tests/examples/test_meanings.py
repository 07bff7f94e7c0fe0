"""Meaning without a model: a verb and its subject, a question and its answer, a phrase and its translation.

Every share is worked out from scores written here by hand: a head of width d gives exp(score / √d) over the sum of its
row. Scores are those of the words in their order.
"""

from dataclasses import replace

import numpy as np
import pytest

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import tokenise

BARK, BARKS = "the dogs that chased the cat bark", "the dogs that chased the cat barks"
WHO, WHERE = "Anna fed the dog in the park . who was it ?", "Anna fed the dog in the park . where was it ?"


def shares(scores, width):
    """What a row of scores becomes in a head of this width."""
    powers = np.exp(np.array(scores) / width**0.5)
    return powers / powers.sum()


def with_sentence(name, text):
    """An example with another sentence, cut as the app cuts it."""
    example = EXAMPLES[name]
    tokens = tokenise(text, example.dictionary().vectors)
    rows, origins = example.dictionary().vectors_of(tokens)
    assert set(origins) == {"built"}  # no word that the dictionary lacks
    return replace(example, tokens=tokens, x=rows)


def row_of(name, text, query, head=0):
    """The weights of a word of a sentence."""
    example = with_sentence(name, text)
    return example.run()["weights"][0, head, example.tokens.index(query)].numpy()


def assert_row(row, scores, width):
    np.testing.assert_allclose(row, shares(scores, width), rtol=0, atol=1e-12)


# ---- the subject: head 1 asks for 6 · its own kind of noun; head 2 for 6 · any noun, and 2 for each place to one side
@pytest.mark.parametrize(
    "name, text, query, scores",
    [
        ("en_subject", BARK, "bark", [0, 6, 0, 0, 0, 0, 0]),  # dogs .92, cat .01
        ("en_subject", BARKS, "barks", [0, 0, 0, 0, 0, 6, 0]),  # one letter more: cat .92
        ("en_subject", BARK.replace("cat", "cats"), "bark", [0, 6, 0, 0, 0, 6, 0]),  # number cannot decide: .48 each
        ("en_subject", BARK.replace("dogs", "dog"), "bark", [0] * 7),  # no noun has its number: 1/7 each
        ("en_subject", "the dog that chased the cats bark", "bark", [0, 0, 0, 0, 0, 6, 0]),  # the wrong one: cats .92
        ("en_subject", BARK, "chased", [0, 6, 0, 0, 0, 6, 0]),  # a past tense has no number
        ("zh_subject", "看见狗的老师笑了", "笑了", [0, 0, 0, 6, 0]),  # 老师 .95, 狗 .01
        ("zh_subject", "看见狗的老师摇尾巴", "摇尾巴", [0, 6, 0, 0, 0]),  # who wags a tail is an animal
        ("zh_subject", "看见学生的老师笑了", "笑了", [0, 6, 0, 6, 0]),  # meaning cannot decide: .49 each
        ("zh_subject", "看见狗的猫笑了", "笑了", [0] * 5),  # no one here smiles: 1/5 each
        ("zh_subject", "看见狗的老师笑了", "看见", [0, 6, 0, 6, 0]),  # either may see
    ],
)
def test_a_verb_finds_the_noun_of_its_kind(name, text, query, scores):
    assert_row(row_of(name, text, query), scores, width=2)


@pytest.mark.parametrize("text, query", [(BARK, "bark"), (BARKS, "barks"), (BARK.replace("cat", "cats"), "bark")])
def test_the_first_noun_is_the_english_subject_whatever_its_number(text, query):
    row = row_of("en_subject", text, query, head=1)
    assert_row(row, [6, 6 + 4, 2, 0, -2, 6 - 4, -6], width=2)  # places -3 to 3, -2 for each
    assert row[1] == pytest.approx(0.937, abs=5e-4)


@pytest.mark.parametrize(
    "text, query", [("看见狗的老师笑了", "笑了"), ("看见狗的老师摇尾巴", "摇尾巴"), ("看见学生的老师笑了", "笑了")]
)
def test_the_last_noun_is_the_chinese_subject_whatever_its_kind(text, query):
    row = row_of("zh_subject", text, query, head=1)
    assert_row(row, [-4, 6 - 2, 0, 6 + 2, 4], width=2)  # places -2 to 2, +2 for each
    assert row[3] == pytest.approx(0.891, abs=5e-4)


def test_english_and_chinese_differ_in_one_sign():
    """The clause stands behind the English noun and before the Chinese one."""
    for name, side in (("en_subject", -2), ("zh_subject", 2)):
        example = EXAMPLES[name]
        assert example.w_q[2:4] == ((6, 0, 6, side), (0, 6, 6, side))


def test_both_heads_tell_the_verb_what_its_subject_is():
    by_number = shares([0, 6, 0, 0, 0, 0, 0], width=2)
    by_place = shares([6, 10, 2, 0, -2, 2, -6], width=2)
    both = by_number + by_place
    singular, plural, *rest = EXAMPLES["en_subject"].run()["output"][0, 6].tolist()
    assert singular == pytest.approx(both[5], abs=1e-12)  # cat
    assert plural == pytest.approx(both[1], abs=1e-12)  # dogs
    assert rest == [0] * 5


# ---- the answer: a question word asks for 3, a word of its kind offers 3 ---------------------------------------------
@pytest.mark.parametrize(
    "name, text, query, answers, count",
    [
        ("en_question", WHO, "who", [0], 12),  # Anna .94
        ("en_question", WHERE, "where", [6], 12),  # park
        ("en_question", WHO.replace("who", "what"), "what", [3], 12),  # dog
        ("en_question", WHO.replace("dog", "boy"), "who", [0, 3], 12),  # two persons: .49 each
        ("zh_question", "小红在公园喂了狗。那是谁？", "谁", [0], 10),  # 小红 .95
        ("zh_question", "小红在公园喂了狗。那是哪里？", "哪里", [2], 10),  # 公园
        ("zh_question", "小红在公园喂了狗。那是什么？", "什么", [4], 10),  # 狗
        ("zh_question", "小明和小红在学校看见了鸟。那是谁？", "谁", [0, 2], 13),
    ],
)
def test_a_question_word_finds_its_answer(name, text, query, answers, count):
    scores = [9 * (at in answers) for at in range(count)]
    assert_row(row_of(name, text, query), scores, width=3)


def test_all_other_words_ask_nothing():
    for name in ("en_question", "zh_question"):
        example = EXAMPLES[name]
        _, asking = example.focus
        others = np.delete(example.run()["weights"][0, 0].numpy(), asking, axis=0)
        np.testing.assert_allclose(others, 1 / len(example.tokens), rtol=0, atol=1e-12)


# ---- the translation: 3 and 3 for each number that two words share ---------------------------------------------------
BOOK = {"book": {"书": 9}, "on": {"上": 9, "的": 9}, "table": {"桌子": 9}}  # "the" has no word in Chinese: even shares
SHU = {"桌子": {"table": 9}, "上": {"on": 9}, "的": {"on": 9}, "书": {"book": 9}}
UNDER = {"table": {"桌子": 9}, "under": {"上": -9, "的": 9}}  # "under" is the opposite of 上
BEIZI = {"椅子": {"chair": 9}, "下": {"under": 9}, "的": {"under": 9}, "杯子": {"cup": 9}}


@pytest.mark.parametrize(
    "name, text, context, found",
    [
        ("en_translation", "the book on the table", "桌子上的书", BOOK),  # book .97, on .49 each, the .25 each
        ("zh_translation", "桌子上的书", "the book on the table", SHU),  # .96 each
        ("en_translation", "the table under the table", "桌子上的书", UNDER),  # the meaning decides, not the place
        ("zh_translation", "椅子下的杯子", "the cup under the chair", BEIZI),
        ("zh_translation", "椅子下的杯子", "the chair under the cup", BEIZI),
    ],
)
def test_words_of_a_meaning_find_each_other_in_another_order(name, text, context, found):
    source = with_sentence(name, context)
    example = replace(with_sentence(name, text), context_tokens=source.tokens, context=source.x)
    weights = example.run()["weights"][0, 0].numpy()
    for query, row in zip(example.tokens, weights, strict=True):
        scores = [found.get(query, {}).get(key, 0) for key in source.tokens]
        assert_row(row, scores, width=4)


@pytest.mark.parametrize(
    "name, silent, places", [("en_translation", {"the", "on"}, [3, 0]), ("zh_translation", {}, [4, 2, 2, 1])]
)
def test_the_alignment_runs_from_the_last_word_to_the_first(name, silent, places):
    example = EXAMPLES[name]
    most = example.run()["weights"][0, 0].argmax(-1).tolist()
    assert [at for word, at in zip(example.tokens, most, strict=True) if word not in silent] == places


# ---- how they are cut ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["zh_subject", "zh_question", "zh_translation"])
def test_the_chinese_sentence_is_cut_into_its_words(name):
    tokens = EXAMPLES[name].tokens
    assert tokenise("".join(tokens), EXAMPLES[name].dictionary().vectors) == tokens


@pytest.mark.parametrize("name", ["en_subject", "zh_subject", "en_question", "zh_question"])
def test_the_further_sentences_are_known(name):
    for line in EXAMPLES[name].batch.splitlines():
        with_sentence(name, line).run()
