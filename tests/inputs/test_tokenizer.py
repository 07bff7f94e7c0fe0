"""Text to tokens and back, tokens made visible, and random vectors that are the same everywhere."""

import time
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attention_core.inputs.tokenizer import (
    MAX_TOKEN_LENGTH,
    MAX_TOKENS,
    MAX_VECTOR_WIDTH,
    character_spans,
    join_tokens,
    printable_token,
    tokenise,
    word_vector,
)
from attention_core.record.errors import AttentionError

ANY_CHARACTER = st.characters(exclude_categories=())  # also control, format, unassigned and lone surrogates
TOKEN = st.text(ANY_CHARACTER, min_size=1, max_size=8).filter(lambda token: token == token.strip() and "|" not in token)
# Random characters alone seldom make words, accents, emoji or bars: these do.
TRICKY = st.lists(
    st.sampled_from(
        ["a", "don", "'", "-", ".", "3", "狗", "한", "\u0301", "\u200d", "👩", "🇩", " ", "\n", "|", "\u202e"]
    ),
    max_size=30,
).map("".join)

NFD_HANGUL = unicodedata.normalize("NFD", "한글")
CAFE = "cafe\u0301"  # an e and an accent
FAMILY, ASTRONAUT, THUMB = "👨\u200d👩\u200d👧", "👩🏽\u200d🚀", "👍🏽"
PERSIAN = "می\u200cخواهم"


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("Anna fed the dog.", ["Anna", "fed", "the", "dog", "."]),
        ("  Anna\tfed\n", ["Anna", "fed"]),
        ("I don't, we’re", ["I", "don't", ",", "we’re"]),
        ("'quoted' dogs'", ["'", "quoted", "'", "dogs", "'"]),
        ("a well-known dog - and--it", ["a", "well-known", "dog", "-", "and", "-", "-", "it"]),
        ("3.14 or 1,000.5; 7.", ["3.14", "or", "1,000.5", ";", "7", "."]),
        ("-5 x_1 1.a", ["-", "5", "x_1", "1", ".", "a"]),
        ("What?! ...", ["What", "?", "!", ".", ".", "."]),
        ("<s> Anna", ["<", "s", ">", "Anna"]),
        ("小狗追它，它跑了。", ["小狗", "追", "它", "，", "它", "跑", "了", "。"]),
        ("，（１）", ["，", "（", "１", "）"]),
        ("GPT模型v2", ["GPT", "模型", "v2"]),
        ("日本語の文", ["日", "本", "語", "の", "文"]),  # Japanese is no Chinese
        ("黒いネコー々々〇", ["黒", "い", "ネ", "コ", "ー", "々", "々", "〇"]),
        ("ｶﾞ𠮷𠮷", ["ｶﾞ", "𠮷", "𠮷"]),
        ("한국어 개", ["한", "국", "어", "개"]),
        (NFD_HANGUL, [unicodedata.normalize("NFD", syllable) for syllable in "한글"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),
        ("مرحبا، " + PERSIAN, ["مرحبا", "،", PERSIAN]),
        ("שָׁלוֹם צה״ל", ["שָׁלוֹם", "צה״ל"]),
        (CAFE + " noir", [CAFE, "noir"]),
        ("猫\ufe00狗", ["猫\ufe00", "狗"]),
        (FAMILY + ASTRONAUT + THUMB, [FAMILY, ASTRONAUT, THUMB]),
        ("🇩🇪🇫🇷❤️", ["🇩🇪", "🇫🇷", "❤️"]),
        ("the\u200b dog\u202e", ["the\u200b", "dog\u202e"]),
        ("\u200b", ["\u200b"]),
        ("מה?\u200f 狗\ufeff猫", ["מה", "?\u200f", "狗\ufeff", "猫"]),
        ("،\u0600١٢", ["،", "\u0600١٢"]),
        ("狗ᄀ각", ["狗", "ᄀ각"]),
        (".\u0600 \u0301\x1c\u0301", [".", "\u0600", "\u0301", "\u0301"]),
        ("<script>alert(1)</script>", ["<", "script", ">", "alert", "(", "1", ")", "<", "/", "script", ">"]),
        ("**b** $x^2$", ["*", "*", "b", "*", "*", "$", "x", "^", "2", "$"]),
        ("\ud800dog", ["\ud800", "dog"]),
    ],
)
def test_words_characters_and_punctuation(text, tokens):
    assert tokenise(text) == tuple(tokens)


# As in Unicode's GraphemeBreakTest.txt: a "/" wherever one character ends and the next begins.
CHARACTERS = {
    "an accent": "e\u0301/a",
    "a conjunct": "\u0915\u094d\u0924/\u0915",
    "a conjunct with a joiner": "\u0915\u094d\u200d\u0924",
    "a conjunct with two marks": "\u0915\u094d\u094d\u0924",
    "no conjunct after a vowel": "\u0915\u093f/\u0924",
    "no conjunct with a Latin letter": "\u0915\u094d/a",
    "a vowel sign after its conjunct": "\u0915\u094d\u0937\u093f/\u0915",
    "an Arabic number sign goes with what follows": "\u0661/\u0600\u0662/\u0663",
    "a number sign before a space": "\u0600/ /a",
    "a leading jamo before a syllable": "\u1100\uac00/\uac00",
    "leading, vowel and final jamo": "\u1100\u1100\u1160\u11a8/\u1100",
    "a syllable takes a final": "\uac00\u11a8/\u1160",
    "flags, two letters each": "a/\U0001f1e6\U0001f1e7/\U0001f1e8/b",
    "a joined emoji": "\U0001f6d1\u200d\U0001f6d1/\U0001f6d1",
    "a skin tone": "\U0001f476\U0001f3ff/\U0001f476",
    "a joiner between letters": "a\u200d/b",
}


@pytest.mark.parametrize("name", CHARACTERS)
def test_characters_are_those_of_unicode(name):
    written = CHARACTERS[name]
    text = written.replace("/", "")
    assert "/".join(text[start:end] for start, end in character_spans(text)) == written


def test_a_space_is_a_character_and_what_cannot_be_seen_belongs_to_the_one_before():
    text = "a \u0301\r\n\u200b?\u200f\u0301\u00ad"
    cut = ["a", " ", "\u0301", "\r", "\n", "\u200b", "?\u200f\u0301\u00ad"]
    assert [text[start:end] for start, end in character_spans(text)] == cut


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("<s>|New York|don 't", ["<s>", "New York", "don 't"]),
        ("小红|喂了|那只|狗|，|它|摇尾巴", ["小红", "喂了", "那只", "狗", "，", "它", "摇尾巴"]),
        ("| a ||\t b,c \n|", ["a", "b,c"]),
        ("one token|", ["one token"]),
    ],
)
def test_with_bars_tokens_are_what_lies_between_them(text, tokens):
    assert tokenise(text) == tuple(tokens)
    assert tokenise(text, words={"Yo", "小红喂了"}) == tuple(tokens)


def test_a_dictionary_puts_neighbours_together_the_longest_word_first():
    words = {"小红", "喂", "喂了", "那只", "摇尾", "摇尾巴", "<s>", "don", "an"}
    assert tokenise("小红喂了那只狗，它摇尾巴", words) == ("小红", "喂了", "那只", "狗", "，", "它", "摇尾巴")
    assert tokenise("尾巴摇尾", words) == ("尾巴", "摇尾")
    assert tokenise("尾巴摇尾", words, by_character=True) == ("尾", "巴", "摇尾")
    assert tokenise("小 红", words) == ("小", "红")  # what is written apart stays apart
    assert tokenise("<s>Anna don't", words) == ("<s>", "Anna", "don't")  # no word is cut open
    assert tokenise("猫\u0301狗", {"猫"}) == ("猫\u0301", "狗")


@pytest.mark.parametrize("text", ["", "  \n\t", "|", " | | ", "\u3000"])
def test_no_tokens(text):
    with pytest.raises(AttentionError, match="at least one word") as caught:
        tokenise(text)
    assert caught.value.code == "no_tokens"


def test_limits_are_met_and_not_passed():
    assert len(tokenise("a " * MAX_TOKENS)) == 512
    with pytest.raises(AttentionError, match=r"at most 512 tokens: this one has 513.* 512 x 512 ") as caught:
        tokenise("a|" * (MAX_TOKENS + 1))
    assert caught.value.code == "too_many_tokens"
    assert caught.value.values == {"given": 513, "limit": 512}
    assert tokenise("7" * MAX_TOKEN_LENGTH) == ("7" * 40,)
    with pytest.raises(AttentionError, match=r"at most 40 characters: 7{20}… has 41") as caught:
        tokenise("7" * (MAX_TOKEN_LENGTH + 1))
    assert caught.value.code == "token_too_long"


def test_the_limit_counts_dictionary_words_not_their_characters():
    assert tokenise("摇尾巴" * 64, {"摇尾巴"}) == ("摇尾巴",) * 64


@pytest.mark.parametrize(
    "text, code",
    [
        ("7" * 10_000, "token_too_long"),
        ("7." * 5_000, "token_too_long"),
        ("狗" * 10_000, "too_many_tokens"),
        ("a\u0301" * 5_000, "token_too_long"),
        ("\u200d" * 10_000, "token_too_long"),
        ("<" * 10_000, "too_many_tokens"),
        ("a'" * 5_000, "token_too_long"),
        ("|" * 10_000, "no_tokens"),
        ("🇩" * 10_000, "too_many_tokens"),
    ],
)
def test_a_huge_text_is_refused_in_time_that_grows_with_its_length(text, code):
    begun = time.process_time()
    with pytest.raises(AttentionError) as caught:
        tokenise(text, words={"狗狗", "x" * 10_000})
    assert time.process_time() - begun < 10  # a square of the length would take hours
    assert len(str(caught.value)) < 300
    assert caught.value.code == code


def test_a_text_is_refused_for_its_length_before_it_is_read():
    with pytest.raises(AttentionError) as caught:
        tokenise("a " * 5_001)
    assert (caught.value.code, caught.value.values) == ("text_too_long", {"limit": 10_000, "given": 10_002})


@given(st.text(ANY_CHARACTER, max_size=60) | TRICKY)
def test_nothing_is_lost_added_or_normalised(text):
    visible = [char for char in text if char != "|" and not char.isspace()]
    try:
        tokens = tokenise(text)
    except AttentionError as refusal:
        assert refusal.code == ("token_too_long" if visible else "no_tokens")
    else:
        assert [char for token in tokens for char in token if not char.isspace()] == visible
        assert all(token == token.strip() != "" for token in tokens)


@given(st.lists(TOKEN, min_size=1, max_size=8) | TRICKY.map(str.split).filter(lambda t: t and "|" not in "".join(t)))
@example(["New York"])
@example(["小红", "喂了"])
@example(["\u0301", "a"])
def test_join_is_undone_by_tokenise(tokens):
    tokens = [token[:MAX_TOKEN_LENGTH] for token in tokens]
    assert tokenise(join_tokens(tokens)) == tuple(tokens)
    assert tokenise(join_tokens(tokens, words=tokens), words=tokens) == tuple(tokens)
    assert tokenise(join_tokens(tokens, words=("ab", "狗狗")), words=("ab", "狗狗")) == tuple(tokens)


def test_join_writes_no_bars_where_none_are_needed():
    assert join_tokens(("Anna", "fed", "the", "dog", ".")) == "Anna fed the dog ."
    assert join_tokens(("它", "猫")) == "它猫"
    assert join_tokens(("黑", "猫"), by_character=True) == "黑猫"
    assert join_tokens(("<s>", "Anna")) == "<s>|Anna"
    assert join_tokens(("<s>", "Anna"), words={"<s>"}) == "<s> Anna"
    assert join_tokens(("New York",)) == "New York|"


@pytest.mark.parametrize(
    "tokens, code",
    [
        ([], "no_tokens"),
        (["a", ""], "token_form"),
        ([" a"], "token_form"),
        (["a|b"], "token_form"),
        (["a"] * 513, "too_many_tokens"),
        (["a" * 41], "token_too_long"),
    ],
)
def test_join_refuses_what_no_text_can_hold(tokens, code):
    with pytest.raises(AttentionError) as caught:
        join_tokens(tokens)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "token, visible",
    [
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\u202edog", "⟨U+202E⟩dog"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("line\nbreak\tand\0", "line⟨U+000A⟩break⟨U+0009⟩and⟨U+0000⟩"),
        ("\u2028\x85", "⟨U+2028⟩⟨U+0085⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("狗\u200d", "狗⟨U+200D⟩"),
        (FAMILY, FAMILY),
        ("❤️\u200d🔥", "❤️\u200d🔥"),
        (PERSIAN, PERSIAN),
        (CAFE, CAFE),
        ("<b>&amp;</b> **x** $y$", "<b>&amp;</b> **x** $y$"),
    ],
)
def test_what_cannot_be_seen_is_written_out(token, visible):
    assert printable_token(token) == visible


@given(st.text(ANY_CHARACTER, max_size=20))
def test_what_is_shown_can_be_printed(token):
    printed = printable_token(token)
    printed.encode("utf-8")  # no lone surrogate is left
    hidden = {unicodedata.category(char) for char in printed if char not in "\u200c\u200d"}
    assert hidden.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
    assert printable_token(printed) == printed


# Drawn once and written down: they must be the same on every machine, in every process, with every version.
PINNED = {
    ("dog", 4, 0): (0.29, -0.14, 0.96, -1.21),
    ("狗", 7, 3): (0.41, -0.02, -1.55, -0.77, 0.52, 0.07, 1.45),
    ("\ud800", 3, 0): (1.03, -0.84, 1.13),
    (CAFE, 3, 0): (-1.74, -0.53, 0.81),
}


@pytest.mark.parametrize("asked, vector", PINNED.items())
def test_a_word_has_the_same_vector_on_every_machine(asked, vector):
    assert word_vector(*asked) == vector


def test_halves_are_rounded_up_on_every_machine():
    assert sum(round(100 * number) for number in word_vector("dog", 512)) == 1873


def test_a_vector_belongs_to_word_and_seed_alone():
    assert word_vector("dog", 512)[:4] == word_vector("dog", 4)
    assert word_vector(CAFE, 8) == word_vector("café", 8)  # one word to Unicode
    vectors = {word_vector(word, 8, seed) for word in ("dog", "Dog", "dogs", "1:dog") for seed in (0, 1, -1, 2**31 - 1)}
    assert len(vectors) == 16


def test_the_numbers_are_nearly_standard_normal_and_have_two_decimals():
    numbers = np.array([word_vector(f"word {i}", 512) for i in range(100)])
    assert abs(numbers.mean()) < 4 / numbers.size**0.5  # four standard errors of the mean
    assert abs(numbers.var() - 1) < 4 * (2 / numbers.size) ** 0.5
    within = [(np.abs(numbers) < bound).mean() for bound in (1, 2, 3)]
    assert within == pytest.approx([0.683, 0.954, 0.997], abs=0.01)
    assert np.array_equal(numbers, np.round(numbers, 2))
    correlation = np.corrcoef(numbers.T[:64])  # neighbours in a vector have nothing to do with each other
    assert np.abs(correlation - np.eye(64)).max() < 0.5


@pytest.mark.parametrize(
    "width, seed, code",
    [
        (0, 0, "positive_integer"),
        (2.0, 0, "positive_integer"),
        (MAX_VECTOR_WIDTH + 1, 0, "at_most"),
        (2, 0.5, "whole_number"),
    ],
)
def test_word_vector_refuses(width, seed, code):
    with pytest.raises(AttentionError) as caught:
        word_vector("dog", width, seed)
    assert caught.value.code == code
