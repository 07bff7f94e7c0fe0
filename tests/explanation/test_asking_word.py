"""Which word of a new sentence asks, and why."""

import pytest
import torch

from attention_core import AttentionConfig, Trace, attend_qkv
from attention_core.explanation.asking_word import AskingWord, distances_from_even, find_asking_word, find_pronoun
from tests.explanation.test_facts import written


@pytest.mark.parametrize(
    ("sentence", "pronoun"),
    [
        ("My cat sat on the sofa because it is soft", "it"),
        ("Emma told Sophie that she was late", "she"),
        ("Tom lost his keys", "his"),
        ("Tom hurt himself", "himself"),
        ("Anna combed her hair herself", "her"),
        ("Tom lost his keys , so he looked for them", "them"),
        ("It’s late", "It’s"),
        ("They’re ours and theirs", "They’re"),
        ("The dog barks", None),
        ("I love you and we know this", None),
        ("小明 的 狗 饿 了 ， 它 叫 了", "它"),
        ("小红 说 她们 喜欢 自己", "她们"),
        ("每 个 人 都 爱 自己", "自己"),
        ("我 不 知道 你 在 说 什么", None),
    ],
)
def test_the_pronoun_of_a_sentence(sentence, pronoun):
    words = sentence.split()
    found = find_pronoun(words)
    assert (None if found is None else words[found]) == pronoun


EVEN = [0.25, 0.25, 0.25, 0.25]
SPREAD = [0.4, 0.2, 0.2, 0.2]  # .15 from even
PEAKED = [0.1, 0.7, 0.1, 0.1]  # .45
PAIRED = [0.5, 0.5, 0.0, 0.0]  # .5, though no key gets as much as of the row before
WORDS = ["dogs", "chase", "cats", "often"]


@pytest.mark.parametrize(
    ("rows", "asker"),
    [
        ([SPREAD, EVEN, PEAKED, EVEN], (2, "uneven")),
        ([EVEN, PAIRED, PEAKED, EVEN], (1, "uneven")),
        ([EVEN, PEAKED, EVEN, PEAKED], (3, "uneven_tie")),
        ([PEAKED, SPREAD, PAIRED, PEAKED], (2, "uneven")),
        ([EVEN] * 4, (3, "even")),
    ],
)
def test_without_a_pronoun_the_row_farthest_from_even_asks(rows, asker):
    query, why = asker
    assert find_asking_word(written(rows), WORDS) == AskingWord(0, query, why)


def test_how_far_a_row_is_from_even_is_the_share_that_would_have_to_move():
    rows = [SPREAD, PEAKED, PAIRED, [1.0, None, None, None]]
    assert distances_from_even(written(rows))[0].tolist() == pytest.approx([0.15, 0.45, 0.5, 0.0])
    assert distances_from_even(written([[0.7, 0.3, None, None]] * 4))[0].tolist() == pytest.approx([0.2] * 4)


def test_the_pronoun_asks_also_where_its_row_is_even_and_in_its_best_head():
    words = ["dogs", "chase", "it", "often"]
    even, told = [PEAKED, EVEN, EVEN, EVEN], [PEAKED, EVEN, SPREAD, EVEN]
    assert find_asking_word(written(even), words) == AskingWord(0, 2, "pronoun")
    assert find_asking_word(written(even, told), words) == AskingWord(1, 2, "pronoun")
    assert find_asking_word(written(even, told), words, head=0) == AskingWord(0, 2, "pronoun")


@pytest.mark.parametrize(
    ("sentence", "asker"),
    [
        ("dogs chase it often", (2, "pronoun")),
        ("she told her secrets", (2, "last_pronoun")),
        ("it chases it often", (2, "last_pronoun")),
        ("he lost his keys", (0, "last_of_kind")),
        ("他 自己 照顾 自己", (0, "last_of_kind")),
        ("他 把 它 吃了", (2, "last_pronoun")),
    ],
)
def test_of_several_pronouns_the_last_is_called_the_last_of_them_or_of_its_kind(sentence, asker):
    query, why = asker
    assert find_asking_word(written([EVEN] * 4), sentence.split()) == AskingWord(0, query, why)


def test_padding_never_asks():
    trace = written([EVEN, SPREAD, EVEN, PEAKED])
    assert find_asking_word(trace, WORDS[:3]) == AskingWord(0, 1, "uneven")


def test_in_a_language_model_the_row_asks_that_looks_at_another_word():
    itself = [[0.9 if key == query else 0.1 / 3 for key in range(4)] for query in range(4)]
    looking = [*itself[:2], [0.3, 0.0, 0.7, 0.0], itself[3]]
    assert find_asking_word(written(looking), WORDS, past_itself=True) == AskingWord(0, 2, "beyond")
    assert find_asking_word(written(looking), WORDS, head=0, past_itself=True) == AskingWord(0, 2, "beyond")


def test_one_word_asks_itself():
    one = torch.ones(1, 2)
    assert find_asking_word(attend_qkv(one, one, one), ["Hello"]) == AskingWord(0, 0, "only")
    assert find_asking_word(attend_qkv(one, one, one), ["It"]) == AskingWord(0, 0, "only")


@pytest.mark.parametrize("head", [None, 0])
def test_the_sign_that_a_text_begins_with_never_asks(head):
    rows = [[0.1, 0.9, 0.0, 0.0], [0.2, 0.8, 0.0, 0.0], [0.0, 0.0, 0.6, 0.4], [0.0, 0.0, 0.0, 1.0]]
    found = find_asking_word(written(rows), ["<start>", *WORDS[:3]], head=head, first=1, past_itself=True)
    assert found == AskingWord(0, 2, "beyond")
    found = find_asking_word(written([[0.1, 0.9], [0.3, 0.7]]), ["<start>", "Hello"], first=1, past_itself=True)
    assert found == AskingWord(0, 1, "only")


def test_weights_that_are_not_numbers_are_asked_without_a_fault():
    q = torch.full((3, 2), 300.0, dtype=torch.float16)
    trace: Trace = attend_qkv(q, q, q, config=AttentionConfig(score="dot"))
    assert find_asking_word(trace, ["a", "b", "c"]).query == 2
