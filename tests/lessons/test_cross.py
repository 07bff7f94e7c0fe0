"""A crossing alignment in both directions, the map turned over, a decoder, context vectors, a picture."""

import math

import numpy as np
import pytest

from attention_core.learned.translation.reading import run_translator
from pages.setup.setup import make_setup
from tests.screen.lesson import Lesson

E1 = math.exp(9 / math.sqrt(6))  # q and k are three times the words' numbers: 9 where both have a 1, over the root of 6
ONE = E1 / (E1 + 5)  # .89: I -> 我, a -> 一只, cat -> 猫
TWO = E1**2 / (E1**2 + E1 + 4)  # .97: yesterday (time 2, past 1) -> 昨天, past 了
ENGLISH = {"I": (1, 0, 0, 0, 0, 0), "saw": (0, 0, 2, 1, 0, 0), "a": (0, 0, 0, 0, 1, 0)}
ENGLISH |= {"cat": (0, 0, 0, 0, 0, 1), "yesterday": (0, 2, 0, 1, 0, 0)}
CHINESE = dict(zip(("我", "昨天", "看见", "了", "一只", "猫"), np.eye(6), strict=True))


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


# ---- the two directions ----------------------------------------------------------------------------------------------
def test_a_crossing_alignment():
    lesson = Lesson("cross")
    assert lesson.fact().startswith("Head 1: “yesterday” gives 97 % of its attention to “昨天”")
    for word, answer, wanted in [
        ("I", "我", ONE),
        ("saw", "看见", TWO),
        ("a", "一只", ONE),
        ("cat", "猫", ONE),
        ("yesterday", "昨天", TWO),
    ]:
        assert lesson.threads()[word, answer] == pytest.approx(wanted, abs=1e-6)
    assert [round(ONE, 2), round(TWO, 2)] == [0.89, 0.97]
    lesson.send_part("cross_hero", "chosen", [0, 3])
    assert lesson.fact().startswith("Head 1: “cat” gives 89 % of its attention to “猫”")
    assert lesson.link()["token"] == "3"


def test_what_is_asked_gets_any_sum_and_what_asks_gives_1():
    lesson = Lesson("cross")
    past = sum([ONE / E1, TWO / E1, ONE / E1, ONE / E1, TWO / E1])  # what each English word gave 了
    question = lesson.widgets()["guess"].label
    assert f"“了” gets {past:.2f} in total" in question and round(past, 2) == 0.12
    assert not lesson.says("A query word always gives")
    lesson.set("guess", 0)
    assert lesson.says("Not as predicted")
    assert lesson.set("guess", 1).says(":material/check: As predicted")
    assert lesson.says(f"了 {past:.2f}, ")
    assert lesson.says("are the same (largest difference 0.00), but the weights differ by up to 0.46")
    assert Lesson("cross", **lesson.link()).texts() == lesson.texts()


def test_turned_the_other_sentence_asks():
    past = E1 / (2 * E1 + 3)  # of 了, which finds a past in two English words
    lesson = Lesson("cross", guess="1").send_part("cross_hero", "chosen", [1, 3])
    assert lesson.link()["direction"] == "backward" and lesson.link()["word"] == "3"
    assert lesson.threads()["了", "saw"] == pytest.approx(past, abs=1e-6)
    assert lesson.threads(way=0)["saw", "了"] == pytest.approx(TWO / E1, abs=1e-6)  # both are there for a turn
    assert lesson.fact().startswith("Head 1: “了” gives 48 % each to “saw” and “yesterday”")
    assert "answer" in lesson.widgets() and not lesson.says("As predicted")  # another direction, another guess
    for sent in ([2, 0], [1, 6], [0, 5], [True, 0], "x", [0], None):
        assert lesson.send_part("cross_hero", "chosen", sent).link()["word"] == "3"


def test_a_thread_opens_its_weight():
    lesson = Lesson("cross").send_part("cross_hero", "opened", [0, 4, 1])
    assert lesson.parts("arithmetic_cross_hero")
    assert lesson.link()["cell"] == "hero,forward,weights,0,0,4,1"
    for sent in ([0, 5, 0], [0, 0, 6], [2, 0, 0], [0, "x", 0], [0, 1], 3):
        assert lesson.send_part("cross_hero", "opened", sent).link()["cell"] == "hero,forward,weights,0,0,4,1"


def test_own_sentences_and_words_that_no_dictionary_has():
    lesson = Lesson("cross").set("text", "She fed the dog today").set("context", "她今天喂了那只狗")
    assert lesson.threads()["She", "她"] == pytest.approx(ONE, abs=1e-6)
    assert lesson.threads()["fed", "喂"] == pytest.approx(TWO, abs=1e-6)
    captions = [caption.value for caption in lesson.at.caption]
    assert not any("taken as zeros" in text for text in captions)
    lesson.set("text", "She fed the zebra today")
    assert any(text.endswith("so taken as zeros: zebra.") for text in [caption.value for caption in lesson.at.caption])
    assert Lesson("cross", **lesson.link()).fact() == lesson.fact()


def test_a_pair_of_which_both_give_and_get_the_same():
    lesson = Lesson("cross", text="cat", context="猫", guess="0")
    assert lesson.says(":material/check: As predicted") and lesson.says("the weights differ by up to 0.00")


def test_a_sentence_that_is_too_long_is_refused_at_its_place():
    lesson = Lesson("cross").set("context", "猫" * 17)
    assert len(lesson.errors()) == 1 and "at most 16 tokens" in lesson.errors()[0]
    assert "“昨天”" in lesson.fact()


def test_the_workbench_gets_the_direction_that_is_shown():
    lesson = Lesson("cross", direction="backward", word="3").press("door_workbench")
    wanted = make_setup(example="cross_en_zh", text="我昨天看见了一只猫", context_text="I saw a cat yesterday", token=3)
    assert lesson.at.session_state["setup"] == wanted


# ---- lengths ---------------------------------------------------------------------------------------------------------
def test_rows_sum_to_1_and_columns_to_what_a_key_gets():
    lesson = Lesson("cross", open="lengths")
    assert lesson.says("T = 5 queries, S = 6 keys. Heads × rows × columns: q 1 × 5 × 6, k 1 × 6 × 6, v 1 × 6 × 6")
    assert lesson.says("weights 1 × 5 × 6; rows × columns of the output: 5 × 6")
    got = ONE + 2 * TWO / E1**2 + 2 * ONE / E1  # by 我: from I, from saw and yesterday, from a and cat
    assert lesson.says(f"Rows sum to I 1.00, saw 1.00, a 1.00, cat 1.00, yesterday 1.00. Columns sum to 我 {got:.2f}")
    lesson.set("text", "I saw")
    assert lesson.says("T = 2 queries, S = 6 keys")


def test_one_sequence_asks_itself():
    lesson = Lesson("cross", open="lengths").choose("sequences", "one: the sentence itself")
    assert lesson.says("T = 5 queries, S = 5 keys")
    scores = np.array([*ENGLISH.values()]) @ np.array([*ENGLISH.values()]).T * 9 / np.sqrt(6)
    wanted = softmax(scores)
    assert lesson.number("lengths", "weights [head 1, saw, yesterday]") == pytest.approx(wanted[1, 4], abs=1e-12)


def test_random_sequences_of_the_lecture_notes_sizes_and_others():
    lesson = Lesson("cross", open="lengths", sequences="random")
    assert lesson.says("q 8 × 5 × 8, k 8 × 6 × 8, v 8 × 6 × 8, weights 8 × 5 × 6; rows × columns of the output: 5 × 64")
    assert lesson.says("Rows sum to 1.00, 1.00, 1.00, 1.00, 1.00. Columns sum to 0.")
    lesson.set("queries", 11).set("keys", 3)
    assert lesson.says("weights 8 × 11 × 3; rows × columns of the output: 11 × 64")
    table = lesson.table("lengths")
    cells = table[table["kind"] == "cell"]
    assert len(cells) == 33
    first = cells[cells["column"] == 0]["value"].astype(float).sum()
    assert lesson.says(f"Columns sum to {first:.2f}, ")  # of the head that is drawn
    assert not lesson.set("keys", 2).says("the only key")
    lesson.set("keys", 1)
    assert lesson.says("Columns sum to 11.00: the only key gets all attention of every query")


# ---- a decoder -------------------------------------------------------------------------------------------------------
def decoder(words, causal):
    """Both stages as plain NumPy: self-attention of English, x added, and cross-attention into Chinese."""
    x, context = np.array([ENGLISH[word] for word in words], dtype=float), np.array([*CHINESE.values()])
    scores = 9 * x @ x.T / np.sqrt(6)
    if causal:
        scores[np.triu_indices(len(x), 1)] = -np.inf
    own = softmax(scores)
    asks = x + own @ x
    return own, softmax(9 * asks @ context.T / np.sqrt(6))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("written", [1, 3, 4])
def test_words_so_far_attend_to_each_other_and_then_ask(written, causal):
    lesson = Lesson("cross", open="decoder", written=str(written), causal=str(causal))
    words = [*ENGLISH][: written + 1]
    own, crossed = decoder(words, causal)
    for at, word in enumerate(words):
        assert lesson.number("stage_1", f"weights [head 1, {word}, saw]") == pytest.approx(own[at, 1], abs=1e-12)
        assert lesson.number("stage_2", f"weights [head 1, {word}, 了]") == pytest.approx(crossed[at, 3], abs=1e-12)
    drawn = {*lesson.table("stage_2")["what"]}
    assert ("weights [head 1, yesterday, 我]" in drawn) == (written == 4)


def test_later_words_change_nothing_under_a_causal_mask_and_something_without():
    lesson = Lesson("cross", open="decoder")
    assert lesson.says("queries stay the same (largest difference 0): under a causal mask, later words change nothing")
    lesson.set("causal", False)
    some, _ = decoder([*ENGLISH][:4], False)
    whole, _ = decoder([*ENGLISH], False)
    x = np.array([*ENGLISH.values()])
    moved = np.abs(some @ x[:4] - whole[:4] @ x).max()
    assert moved > 0.01
    assert lesson.says(f"these queries differ by up to {moved:.2f}.")
    lesson.set("written", 4)
    assert lesson.says("All words are written, so there is no later word that could change anything")
    assert not lesson.says("differ by up to")


# ---- context vectors -------------------------------------------------------------------------------------------------
def test_a_context_vector_by_the_dot_product():
    lesson = Lesson("cross", open="context_vector")
    e3, e6 = math.exp(3), math.exp(6)
    whole = e6 + e3 + 4
    wanted = ", ".join(f"{share / whole:.2f}" for share in (1, e6, 1, e3, 1, 1))
    assert lesson.says(f"For “昨天”, e = s · h = 6.00 and α = {e6 / whole:.2f};")
    assert lesson.says(f"the weighted sum over the source is **c = ({wanted})**")
    assert lesson.number("context_vector", "head_outputs [head 1, I, 1]") == pytest.approx(e3 / (e3 + 5), abs=1e-12)
    lesson.set("text", "I")
    assert lesson.says(f"“I” attends to the source. For “我”, e = s · h = 3.00 and α = {e3 / (e3 + 5):.2f}")


def test_a_context_vector_by_the_additive_score():
    lesson = Lesson("cross", open="context_vector", energy="additive", token="3")
    x, h = np.array(ENGLISH["cat"]), np.array([*CHINESE.values()])
    state = np.concatenate([x, -x]) - 3.5
    scores = 2 * np.tanh(4 * state + 12 * np.concatenate([h, -h], axis=1)).sum(-1)
    alpha = softmax(scores)
    assert lesson.says(f" = {scores[5]:.2f}".replace("-", "−") + f" and α = {alpha[5]:.2f}")
    assert lesson.says("Here s has 12 numbers and h has 6")
    assert lesson.number("context_vector", "weights [head 1, cat, 猫]") == pytest.approx(alpha[5], abs=1e-12)
    assert alpha[5] > 0.85
    own = lesson.set("text", "She saw the dog").set("context", "她看见那只狗")
    assert own.number("context_vector", "weights [head 1, She, 她]") > 0.85  # a minus finds a minus


# ---- a picture -------------------------------------------------------------------------------------------------------
def test_words_find_the_patches_of_their_colour():
    lesson = Lesson("cross", open="patches")
    assert lesson.says("Head 1: “roof” gives 49 % each to “red #6” and “red #7”")
    red = math.exp(9 / math.sqrt(3))
    whole = 2 * red + math.exp(3 / math.sqrt(3)) + 13 * math.exp(-3 / math.sqrt(3))
    assert lesson.number("patches", "weights [head 1, roof, red #6]") == pytest.approx(red / whole, abs=1e-12)
    lesson.set("asking", "night sea")
    assert lesson.says("“sea” splits its attention evenly over 7 of 16 tokens: 14 % each")


def test_who_reads_chinese_finds_a_picture_of_chinese_words_first():
    lesson = Lesson("cross", open="patches", lang="zh")
    assert lesson.says("头 1：“屋顶”给“红 #6”和“红 #7”各分配 49% 的注意力")
    red = math.exp(9 / math.sqrt(3))
    whole = 2 * red + math.exp(3 / math.sqrt(3)) + 13 * math.exp(-3 / math.sqrt(3))
    assert lesson.number("patches", "权重 [头 1, 屋顶, 红 #6]") == pytest.approx(red / whole, abs=1e-12)
    assert lesson.set("looks", "picture").widgets()["asking"].value == "sky sun roof grass"


def test_the_readers_own_picture():
    lesson = Lesson("cross", open="patches").set("picture", "black black yellow black blue blue red red red")
    table = lesson.table("patches")
    patches = table[table["kind"] == "bar"]["fill"].tolist()
    dark, yellow, blue, red = "#3c3c3c", "#ebeb3c", "#3c3ceb", "#eb3c3c"
    assert patches[:9] == [dark, dark, yellow, dark, blue, blue, red, red, red]
    lesson.set("asking", "sun 太阳 mauve")
    lesson.set("colour", 1)
    assert lesson.says("“太阳” gives 9") and lesson.says("to “yellow”")
    assert any(caption.value.endswith("so taken as zeros: mauve.") for caption in lesson.at.caption)
    again = Lesson("cross", **lesson.link())
    assert again.texts() == lesson.texts()


def test_the_translators_threads_name_each_word_after_the_word_that_it_writes():
    """Row 0, <start>, writes 看见: its weights are those that the whole run has there."""
    lesson = Lesson("cross", open="decoder", decoding="trained")
    source = ("<start>", "the", "dog", "that", "saw", "the", "cat", "is", "tired", ".")
    target = ("<start>", "看见", "猫", "的", "狗", "很", "累", "。")
    weights = run_translator("translation_en_zh", source, target)["2.cross"]["weights"][0, 2]  # (T, S)
    assert lesson.threads("translator")["看见", "saw"] == pytest.approx(weights[0, 4].item(), abs=1e-6)
    assert lesson.threads("translator")["狗", "dog"] == pytest.approx(weights[3, 2].item(), abs=1e-6)
    assert weights[3, 2] > 0.9 and weights[3].argmax() == 2  # dog comes second in English, fourth in Chinese
    assert any("never shown which word belongs to which" in text for text in lesson.texts())
