"""Tokens as words: by hand, for each way in which tokenizers mark them."""

import pytest

from attention_core.inputs.subwords import read_marked_text, show_subwords
from attention_core.inputs.tokenizer import join_tokens, tokenise


def spell(text):
    """A text in GPT-2's letters, whose table is the one of its encoder.py."""
    kept = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    table, more = {}, 0
    for byte in range(256):
        table[byte] = chr(byte) if byte in kept else chr(256 + more)
        more += byte not in kept
    return "".join(table[byte] for byte in text.encode())


@pytest.mark.parametrize(
    "tokens, shown",
    [
        (["The", "Ġcat", "Ġsat", "Ċ"], ("The", "cat", "sat", "↵")),
        (["<s>", "It", "âĢĻ", "s", "Ġok", "</s>"], ("<s>", "It", "’", "s", "ok", "</s>")),
        (["un", "happy", "Ġdog", ","], ("un", "…happy", "dog", ",")),
        (["a", "Ġ", "ĠĠ", "b", "ĊĊ", "ĉ"], ("a", "␣", "␣␣", "b", "↵↵", "⇥")),
        ([spell(" 猫"), spell("坐"), spell(" café")], ("猫", "坐", "café")),
        ([spell(" 狗")[:2], spell(" 狗")[2:], "Ġa"], ("狗 1/2", "狗 2/2", "a")),
        (["Ġa", spell("猫")[:2]], ("a", "⟨E7 8C⟩")),
        (["[CLS]", "play", "##ing", "##s", "[SEP]"], ("[CLS]", "play", "…ing", "…s", "[SEP]")),
        (["<s>", "▁The", "▁cat", "s", ".", "▁"], ("<s>", "The", "cat", "…s", ".", "␣")),
        (["▁a", "<0xE7>", "<0x8C>", "<0xAB>", "<0x0A>"], ("a", "猫 1/3", "猫 2/3", "猫 3/3", "↵")),
        (["▁我", "爱", "猫"], ("我", "爱", "猫")),
        (["un", "happy</w>", "cat</w>"], ("un", "…happy", "cat")),
        (["un@@", "happy", "cat"], ("un", "…happy", "cat")),
        (["Ġthe", "猫"], ("the", "猫")),  # one that was decoded already
    ],
)
def test_tokens_are_words(tokens, shown):
    assert show_subwords(tokens) == shown


@pytest.mark.parametrize(
    "tokens",
    [
        ["Anna", "##", "#1", "a_b", "@", "."],
        ["Ġgħaqda", "ħażin", "Ċirku"],  # Maltese, whose letters are no bytes of a text
        ["łódź", "ściana", "ę"],
        ["naïve", "é", "Ã"],
        ["猫", "坐"],
        [""],
        [],
    ],
)
def test_words_without_marks_stay_as_they_are(tokens):
    assert show_subwords(tokens) == tuple(tokens)


@pytest.mark.parametrize("tokens", [["Ġ"], ["Ċ", "č"], ["▁"], ["<0xFF>"], ["##a"], ["</w>"], ["a@@"], ["Ġ" * 40]])
def test_there_is_a_word_for_each_token_and_none_is_empty(tokens):
    shown = show_subwords(tokens)
    assert len(shown) == len(tokens) and all(shown)


@pytest.mark.parametrize(
    "text, words",
    [
        ("The Ġcat Ġsat .", ("The", "cat", "sat", ".")),
        ("Ġcat", ("cat",)),
        ("The|Ġcat|Ċ", ("The", "cat", "↵")),
        ("▁The ▁cat s", ("The", "cat", "…s")),
        ("[CLS] walk ##ing [SEP]", ("[CLS]", "walk", "…ing", "[SEP]")),
        ("▁the ##ing", ("the", "…ing")),
        ("new@@ er low</w>", ("new", "…er", "…low")),
        ("猫 Ġcat", ("猫", "cat")),
    ],
)
def test_typed_tokens_are_the_words_that_they_are(text, words):
    assert read_marked_text(text) == words
    assert tokenise(join_tokens(words)) == words and read_marked_text(join_tokens(words)) is None


UNMARKED = ("", "|", "Anna fed the dog", "## Heading", "#1 ##", "Ġgħaqda ħażin", "Kemm hi kbira l- Ġermanja", "łódź")


@pytest.mark.parametrize("text", [*UNMARKED, "TheĠcat", "<0x7C> ▁a"])
def test_a_text_without_marks_is_cut_as_ever(text):
    assert read_marked_text(text) is None
