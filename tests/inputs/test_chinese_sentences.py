"""Chinese sentences as people cut them: the counts, what spaces part, and texts that are long, odd or none."""

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random
from subprocess import run
from typing import NamedTuple

import pytest

from attention_core.examples.lexica import LEXICA
from attention_core.inputs.tokenizer import MAX_TEXT_LENGTH, join_tokens, tokenise
from attention_core.learned.grammar import cut_words, draw_scene
from attention_core.learned.grammar.chinese_cut import cut_by_library, is_parted_by_hand
from attention_core.record.errors import AttentionError


class CutSentence(NamedTuple):
    """A sentence, and the cuts that readers accept."""

    text: str
    cuts: list[tuple[str, ...]]


def read_sentences(group: str) -> list[CutSentence]:
    """The sentences of a group of the file."""
    found, here = [], ""
    for line in (Path(__file__).parent / "chinese_sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            here = line[3:]
        elif here == group and line:
            cuts = [tuple(cut.split("|")) for cut in line.split(" = ")]
            found.append(CutSentence(write(cuts[0]), cuts))
    return found


def write(words):
    """A sentence as it is typed: spaces around words of Latin letters and around numbers."""
    text = words[0]
    for left, right in pairwise(words):
        is_apart = left[-1].isascii() != right[0].isascii() and left[-1].isalnum() and right[0].isalnum()
        text += (" " if is_apart else "") + right
    return text


def cut_for_example(text):
    return tokenise(text, LEXICA["zh_ta"].vectors)


def cut_for_model(text):
    return cut_words(text, "zh")


def count_right(group, cut):
    sentences = read_sentences(group)
    lower = cut is cut_for_model
    wrong = []
    for sentence in sentences:
        accepted = [tuple(word.lower() for word in each) if lower else each for each in sentence.cuts]
        if cut(sentence.text) not in accepted:
            wrong.append("|".join(cut(sentence.text)))
    return len(sentences) - len(wrong), len(sentences), wrong


@pytest.mark.parametrize("cut", [tokenise, cut_for_example, cut_for_model])
@pytest.mark.parametrize("group, least, count", [("twenty", 17, 20), ("fifty", 40, 50)])
def test_sentences_are_cut_as_people_cut_them(group, least, count, cut):
    right, given, wrong = count_right(group, cut)
    assert given == count
    least = least if cut is not cut_for_model else least * 9 // 10  # a model's own words come first: 下|雨
    assert right >= least, wrong


@pytest.mark.parametrize("cut", [tokenise, cut_for_example, cut_for_model])
def test_no_word_is_made_across_two_others(cut):
    for text in ("南京市长江大桥", "武汉市长江大桥", "长春市长春药店"):
        assert "市长" not in cut(text)


@pytest.mark.parametrize(
    "text, words",
    [
        ("今天股市大跌😭我亏了三千块", "今天 股市 大跌 😭 我 亏 了 三千 块"),
        ("Transformer 是谷歌在 2017 年提出的", "Transformer 是 谷歌 在 2017 年 提出 的"),
        ("我用GPT-4和Python3.11写作业！", "我 用 GPT-4 和 Python3.11 写 作业 ！"),
        ("李明给王芳买了奶茶", "李明 给 王芳 买 了 奶茶"),
        ("考了九十五分，（满分一百分）", "考 了 九十五 分 ， （ 满分 一百 分 ）"),
        ("“你好”，她说", "“ 你好 ” ， 她 说"),
        ("乱七八糟", "乱七八糟"),
    ],
)
def test_numbers_names_emoji_and_latin_stand_in_chinese(text, words):
    assert tokenise(text) == tuple(words.split())


# ---- parted by hand --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("cut", [tokenise, cut_for_example, cut_for_model])
@pytest.mark.parametrize(
    "text, words",
    [
        ("南京 市长 江大桥", "南京 市长 江大桥"),
        ("我女 朋友养了 一只猫，它 很黏 人", "我女 朋友养了 一只猫 ， 它 很黏 人"),
        ("小红　喂了 狗", "小红 喂了 狗"),  # also an ideographic space
        ("自然语言处理 很 有趣", "自然语言处理 很 有趣"),
        ("我在 2017 年看 bert 论文", "我 在 2017 年 看 bert 论文"),  # spaces around others alone part nothing
        ("今天下雪了。 我很高兴", None),
    ],
)
def test_what_spaces_part_stays_parted(text, words, cut):
    expected = cut(text.replace(" ", "")) if words is None else tuple(words.split())
    assert cut(text) == expected


def test_lines_of_verse_are_cut_further_and_stay_parted():
    assert not is_parted_by_hand("床前明月光 疑是地上霜")
    tokens = tokenise("我昨天在南京市 长江大桥看风景")
    assert tokens == ("我", "昨天", "在", "南京市", "长江大桥", "看", "风景")
    assert tokenise("南京市 长江大桥看风景很舒服") == ("南京市", "长江大桥", "看", "风景", "很", "舒服")


def test_any_cut_of_a_sentence_can_be_typed():
    rng = Random(3)
    for sentence in read_sentences("fifty"):
        text = "".join(sentence.cuts[0])
        ends = sorted({0, len(text), *(at for at in range(1, len(text)) if rng.random() < 0.5)})
        tokens = tuple(text[start:end] for start, end in pairwise(ends))
        assert tokenise(join_tokens(tokens)) == tokens
        assert tokenise(join_tokens(sentence.cuts[0])) == sentence.cuts[0]


# ---- hard texts ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", ["的" * MAX_TEXT_LENGTH, "南京市长江大桥" * 1428, "一二三四五" * 2000, "不了" * 5000])
def test_the_longest_text_is_cut_and_refused_for_its_tokens(text):
    with pytest.raises(AttentionError) as caught:
        tokenise(text, LEXICA["zh_ta"].vectors)
    assert caught.value.code in ("too_many_tokens", "token_too_long")


def test_any_ideographs_are_cut_without_loss():
    rng = Random(7)
    for _ in range(200):
        text = "".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(rng.randrange(1, 60)))
        assert "".join(cut_by_library(text)) == text
        assert "".join(cut_words(text, "zh")) == text


def test_many_threads_cut_alike():
    sentences = [sentence.text for sentence in read_sentences("fifty")]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(tokenise, sentences * 4))
    assert found == [tokenise(text) for text in sentences] * 4


@pytest.mark.slow
def test_a_text_without_chinese_does_not_load_the_library():
    code = (
        "import sys; from attention_core.inputs.tokenizer import tokenise;"
        "tokenise('Anna fed the dog.'); tokenise('日本語の文'); assert 'rjieba' not in sys.modules;"
        "tokenise('我很好'); assert 'rjieba' in sys.modules"
    )
    assert run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_the_grammar_writes_is_cut_as_it_was():
    texts = []
    rng = Random(11)
    for _ in range(300):
        texts.append(draw_scene(rng).say("zh").words)
    same = [cut_words("".join(words), "zh") == words for words in texts]
    assert sum(same) > 0.93 * len(same)
