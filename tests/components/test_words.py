"""Texts of the picture, made in the browser: templates, percent, and what is written only where it changes."""

import pytest

from tests.components.in_node import call_in_node

WORDS = "flow/words"


def test_a_template_is_filled_by_name():
    parts = call_in_node(WORDS, "fill", "{query} looks at {key}: {x}", {"query": ["it", "q"], "key": ["Anna", "share"]})
    assert parts == [["", ""], ["it", "q"], [" looks at ", ""], ["Anna", "share"], [": ", ""], ["{x}", ""], ["", ""]]


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1 head of 8"), (2, "2 heads of 8"), (11, "11 heads of 8"), ("−1", "−1 heads of 8")]
)
def test_one_of_a_thing_is_named_in_the_singular(count, text):
    assert call_in_node(WORDS, "said", "{count} heads of 8", {"count": count}) == text


def test_a_template_of_chinese_has_one_form():
    assert call_in_node(WORDS, "said", "{count} 个头", {"count": 1}) == "1 个头"


@pytest.mark.parametrize(
    ("language", "texts"), [("en", ["25 %", "−50 %", "<0.01 %"]), ("zh-CN", ["25%", "−50%", "<0.01%"])]
)
def test_a_percent_sign_stands_apart_except_in_chinese(language, texts):
    spell = (
        "(lang, ...shares) => { globalThis.document = { documentElement: { lang } }; return shares.map(spellPercent); }"
    )
    assert call_in_node(WORDS, spell, language, 0.25, -0.5, 0.00001) == texts


SET_TWICE = """() => {
  const written = [];
  const element = {
    style: { set cssText(value) { written.push(["style", value]); } },
    getAttribute: () => written.at(-1)?.[1] ?? null,
    setAttribute: (name, value) => written.push([name, value]),
  };
  for (const value of ["a", "a", "b"]) setOnce(element, "title", value);
  for (const value of ["left: 1px", "left: 1px"]) setOnce(element, "style", value);
  return written;
}"""


def test_an_attribute_is_written_only_where_it_changes():
    assert call_in_node("dom", SET_TWICE) == [["title", "a"], ["title", "b"], ["style", "left: 1px"]]


def test_the_index_of_a_symbol_stands_lower():
    split = "(text) => withIndices(text)"
    assert call_in_node("flow/words", split, "X W_q Δ") == [["X W", ""], ["q", "index"], [" Δ", ""]]
    assert call_in_node("flow/words", split, "scores") == [["scores", ""]]


@pytest.mark.parametrize(
    ("token", "name"),
    [("dog", "dog"), ("狗", "狗"), ("7", "7"), (",", "“,”"), ("。", "“。”"), (", #3", "“, #3”"), ("don't", "don't")],
)
def test_a_sign_alone_is_in_quotes(token, name):
    assert call_in_node("flow/words", "quotedSign", token) == name
