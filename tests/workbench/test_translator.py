"""Input = a translator of our own: English in, its Chinese out, and the attention of one to the other."""

import pytest

from attention_core.learned.translation.reading import cut_for_translator, next_words, run_translator, translate_words
from attention_core.learned.translation.recipes import TRANSLATORS
from tests.screen.driver import Screen

NAME = "translation_en_zh"
GIFT = "The boy gave the bread to the girl because she was hungry."


def words_of(text=GIFT):
    source = cut_for_translator(text, "en")
    return source, translate_words(NAME, source)


def test_the_layer_on_the_screen_is_that_of_the_whole_run():
    screen = Screen(ex="translator", ctx=GIFT)
    source, target = words_of()
    assert (tuple(screen.words("S")), tuple(screen.words("T"))) == (source, target)
    assert "".join(target[1:]) == "男孩把面包给了女孩，因为她很饿。"  # 把 brings the bread before the giving
    weights = run_translator(NAME, source, target)["2.cross"]["weights"][0]  # (H, T, S)
    for head in range(4):
        for query in (0, 3, len(target) - 1):
            shown = [screen.weight(query, key, head) for key in range(len(source))]
            assert shown == pytest.approx(weights[head, query].tolist(), abs=1e-12)


def test_the_last_step_is_what_the_stack_goes_on_with():
    screen = Screen(ex="translator", ctx=GIFT)
    stack = run_translator(NAME, *words_of())
    shown = screen.numbers("layer_normed_output")[0]
    assert shown == pytest.approx(stack["2.feed_forward"]["x"][0].numpy(), abs=1e-12)


def test_the_row_that_writes_a_word_is_told():
    screen = Screen(ex="translator", ctx=GIFT, t="2")
    source, target = words_of()
    word, share = next_words(NAME, source, target)[2]
    assert word == target[3] == "面包" and share > 0.99
    (said,) = [text for text in screen.captions() if text.startswith("Each row writes the next word")]
    assert "the row of “把” writes “面包” (>99 %)" in said
    assert "the row of “。” ends the translation" in " ".join(Screen(ex="translator", ctx=GIFT, t="12").captions())


def test_a_translation_of_ones_own_is_read_and_the_translators_is_told():
    screen = Screen(ex="translator", text="狗看见猫。")
    assert screen.words("T") == ["<start>", "狗", "看见", "猫", "。"]
    assert any("the translator itself writes: 看见猫的狗很累。" in text for text in screen.captions())


def test_a_word_that_it_does_not_know_is_marked():
    screen = Screen(ex="translator", ctx="my zorb is hot .")
    assert screen.origins("S") == ["learned", "learned", "unknown", "learned", "learned", "learned"]


@pytest.mark.parametrize("text, said", [("", "at least one word"), ("word " * 60, "at most 47 words"), ("🙂", None)])
def test_a_sentence_that_cannot_be_read_is_refused_and_nothing_is_lost(text, said):
    screen = Screen(ex="translator").set("context_text", text)
    assert said is None or any(said in error for error in screen.errors())
    assert screen.words("T")[0] == "<start>"


def test_the_link_says_the_weights():
    screen = Screen(ex="translator").set("context_text", GIFT)
    assert screen.link()["rev"] == TRANSLATORS.revision(NAME)
