"""Decoding: words that are written with a cache, what both ways have cost, drawers on bytes, contents and gaps."""

import json

import numpy as np
import pytest

from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.fill_in_middle import MIDDLE_FIGURES
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.writing import blank_word
from tests.screen.driver import unpack
from tests.screen.lesson import Lesson

NAME = "en_asked_decoder"
GIVEN = ("<start>", "the", "dog", "did", "not", "cross")
WRITTEN = ("the", "lake", "because", "it", "was", "too", "tired", ".")
WORDS = (*GIVEN, *WRITTEN)


def shelves(lesson):
    (part,) = lesson.parts("decoding_shelves")
    return unpack(part.proto.bytes)


def marks(lesson, triangle):
    """The marks of a triangle's cells, row by row."""
    cells = lesson.table(triangle).query("kind == 'cell'")
    return ["".join(row["text"].where(row["text"] != "", ".")) for _, row in cells.groupby("row")]


# ---- the picture -----------------------------------------------------------------------------------------------------
def test_it_writes_what_the_whole_run_finds_likeliest():
    """Each word and its probability, beside the run without a cache, asked anew for each word."""
    head, _ = shelves(Lesson("decoding", lang="en"))
    assert tuple(head["words"]) == WORDS and head["given"] == len(GIVEN)
    for stop, coming in enumerate(head["next"][:-1]):
        read = WORDS[: len(GIVEN) + stop]
        probabilities = run_model(NAME, read)["unembedding"]["probabilities"][0, -1]
        assert coming["number"] == int(probabilities.argmax()) and coming["word"] == WRITTEN[stop]
        assert coming["share"] == pytest.approx(float(probabilities.max()), abs=1e-10)
    assert head["next"][-1] is None


def test_threads_and_columns_are_those_of_the_run_without_a_cache():
    _, found = shelves(Lesson("decoding", lang="en"))
    whole = [run_model(NAME, WORDS)[f"{layer}.attention"] for layer in (1, 2, 3)]
    drawn = np.frombuffer(found["weights"], np.float32).reshape(len(WRITTEN) + 1, 3, 4, len(WORDS))
    strips = np.frombuffer(found["strips"], np.uint8).reshape(3, 4, len(WORDS), 2, 16)
    for layer, trace in enumerate(whole):
        rows = trace["weights"][0, :, len(GIVEN) - 1 :].permute(1, 0, 2)  # (H, stops, S) -> (stops, H, S)
        assert drawn[:, layer] == pytest.approx(rows.numpy(), abs=1e-6)
        for number, name in enumerate(("k", "v")):
            sizes = trace[name][0].abs()
            largest = sizes.amax((1, 2), keepdim=True)
            assert strips[layer, :, :, number] == pytest.approx((255 * sizes / largest).numpy(), abs=0.51)


def test_what_both_ways_have_cost_is_counted_word_by_word():
    head, _ = shelves(Lesson("decoding", lang="en"))
    keys, products, held = (each["sizes"] for each in head["counts"])
    again = [sum(range(6, 6 + stop + 1)) for stop in range(9)]  # 6, 6 + 7, ... 6 + 7 + ... + 14
    assert keys == [[6 + stop, again[stop]] for stop in range(9)]
    assert head["counts"][0]["texts"][-1] == ["14", "90"] and head["counts"][0]["added"][-1] == ["+1", "+14"]
    assert products[0][0] == products[0][1] and all(cached < whole for cached, whole in products[1:])
    assert held == [[(6 + stop) * 3 * 4 * (16 + 16) * 8, 0] for stop in range(9)]  # layers, heads, k and v, float64


def test_each_stop_is_told_both_ways():
    told = shelves(Lesson("decoding", lang="en"))[0]["told"]
    first = "The beginning is read in one run: 6 tokens, 6 keys and values in every head. Next comes “the”, 69 %."
    assert told["cached"][0] == told["again"][0] == first
    assert told["cached"][4].startswith("“it” adds one key and one value in every layer. Its query reads 10 keys, 9 of")
    assert told["again"][4].startswith("To read “it”, all 10 tokens are run again: 10 keys, 9 of them unchanged")
    assert told["cached"][-1].endswith("The text has ended.")


def test_the_cached_run_is_the_whole_run():
    assert Lesson("decoding", lang="en").says("in all 14 steps, the 1,744 logits differ by at most 1")


def test_a_stop_and_a_number_are_chosen_and_what_is_made_up_changes_nothing():
    lesson = Lesson("decoding", lang="en").send_part("decoding_shelves", "stop", 2)
    assert lesson.link()["t"] == "2"
    for made_up in (99, -1, "x", None, 1.5):
        lesson.send_part("decoding_shelves", "stop", made_up)
        opened = {"stop": made_up, "part": "2.attention", "step": "k", "index": [0]}
        lesson.send_part("decoding_shelves", "opened", opened)
    assert lesson.link()["t"] == "2" and not lesson.parts("block_sum")
    index = [0, 1, 3, 0]  # head 2, the key of “did”, its first number
    lesson.send_part("decoding_shelves", "opened", {"stop": 5, "part": "2.attention", "step": "k", "index": index})
    assert lesson.link()["t"] == "5"
    (part,) = lesson.parts("block_sum")
    pieces = json.loads(part.proto.json)["pieces"]
    assert [piece["step"] for piece in pieces if "step" in piece] == ["2.attention/k_cache"]  # it is read, not computed
    key = float(run_model(NAME, WORDS)["2.attention"]["k"][tuple(index)])
    assert lesson.says(f"= {key:.2f}".replace("-", "−"))


def test_drawn_words_depend_on_the_seed_and_on_what_stays():
    greedy = Lesson("decoding", lang="en", way="drawn", top_k="2", seed="4")
    again = Lesson("decoding", lang="en", way="drawn", top_k="2", seed="4")
    other = Lesson("decoding", lang="en", way="drawn", temperature="2.0", seed="3")
    words = [tuple(shelves(each)[0]["words"]) for each in (greedy, again, other)]
    assert words[0] == words[1] != words[2]
    for stop, coming in enumerate(shelves(greedy)[0]["next"][:-1]):
        logits = run_model(NAME, words[0][: len(GIVEN) + stop])["unembedding"]["logits"][0, -1]
        two = logits.topk(2)
        place = two.indices.tolist().index(coming["number"])
        assert coming["share"] == pytest.approx(float(two.values.softmax(-1)[place]), abs=1e-9)


def test_chinese_is_written_in_chinese():
    lesson = Lesson("decoding", lang="zh", open="count,size,kept,middle,code")
    assert lesson.errors() == []
    head, _ = shelves(lesson)
    assert head["words"] == ["<start>", *"那只狗没能过河，", "因为", *"它太累了。"]
    assert lesson.link()["ex"] == "model_zh_decoder"


def test_any_text_is_written_on():
    lesson = Lesson("decoding", lang="en")
    for text in ("🦊🦊", "Собака лает", "<mask> <animal>", "<script>alert(1)</script>", "it.", "他 笑", "a" * 3000):
        assert lesson.set("text", text).errors() == []
        assert len(shelves(lesson)[0]["words"]) > 1


def test_no_text_and_too_long_a_text_keep_the_last_one():
    lesson = Lesson("decoding", lang="en").set("text", "the cat")
    for text in ("", "   ", "cat " * 2500):
        assert len(lesson.set("text", text).errors()) == 1
        assert shelves(lesson)[0]["words"][:3] == ["<start>", "the", "cat"]


def test_the_door_shows_the_whole_text():
    lesson = Lesson("decoding", lang="en")
    lesson.press("door_workbench")
    setup = lesson.at.session_state["setup"]
    assert (setup.run.example, setup.run.text, setup.view.panel) == ("model_en_decoder", " ".join(WORDS[1:]), "words")


# ---- the drawers -----------------------------------------------------------------------------------------------------
def test_the_triangles_of_what_is_computed_and_kept():
    lesson = Lesson("decoding", lang="en", open="count").set("text", "the dog")
    shown = [*lesson.table("with")["text"]]
    count = min(len(shelves(lesson)[0]["words"]), 12)
    assert marks(lesson, "with")[2] == "==+" + "." * (count - 3)
    assert marks(lesson, "without")[2] == "+++" + "." * (count - 3)
    assert f"With a cache: {count} computed" in shown
    again = count * (count + 1) // 2
    assert lesson.says(f"computes {count} keys for the first {count} words with a cache, and {again} without")


def test_at_256_tokens_32896_keys_against_256():
    lesson = Lesson("decoding", lang="en", open="count")
    assert lesson.widgets()["guess"].options == ["256", "512", "32,896", "65,536"]
    assert not lesson.says("32,896** without")
    lesson.choose("guess", "32,896")
    assert lesson.says("As predicted")
    assert lesson.says("After 256 tokens **256** keys were computed with a cache, and **32,896** without")
    points = lesson.table("Keys computed against the number of tokens, with the cache and without it")
    drawn = {(row["x"], row["y"]) for _, row in points.query("kind == 'point'").iterrows()}
    assert {(256, 256), (256, 32896), (4096, 4096 * 4097 // 2)} <= drawn
    lesson.set("length", 1024)
    assert lesson.says("**1,024** keys were computed with a cache, and **524,800** without")


def test_the_bytes_of_a_cache_and_what_grouped_heads_and_a_window_make_of_them():
    lesson = Lesson("decoding", open="size", lang="en")
    assert lesson.says("T = 4,096 tokens, L = 32 layers, 32 key/value heads of width d = 128, float16: **2 GiB**")
    lesson.choose("kv_heads", "8: grouped")
    assert lesson.says("8 key/value heads of width d = 128, float16: **512 MiB** instead of 2 GiB")
    lesson.choose("window", "the last 1,024")
    assert lesson.says("**128 MiB** instead of 2 GiB")
    lesson.set("tokens", 131072)
    assert lesson.says("**128 MiB** instead of 64 GiB")
    lesson.choose("dtype", "float32").set("layers", 80)
    assert lesson.says("**640 MiB** instead of 320 GiB")


def test_a_latent_is_smaller_than_grouped_heads_and_larger_than_one():
    lesson = Lesson("decoding", open="size", lang="en")  # 4,096 tokens, 32 layers, 512 + 64 numbers of 2 bytes
    lesson.choose("kv_heads", "none: a latent")
    assert lesson.says("a latent of 512 numbers and 64 more that RoPE rotates")
    assert lesson.says("**144 MiB** instead of 2 GiB")


def test_the_formula_is_what_the_tensors_of_the_text_hold():
    lesson = Lesson("decoding", open="size", lang="en")
    assert lesson.says(
        "14 tokens kept × 4 key/value heads × (16 + 16) numbers × 2 bytes = 3584. The cache's tensors hold **3584**"
    )
    lesson.choose("kv_heads", "1: multi-query")
    assert lesson.says(
        "14 tokens kept × 1 key/value head × (16 + 16) numbers × 2 bytes = 896. The cache's tensors hold **896**"
    )
    lesson.choose("window", "the last 1,024")
    assert lesson.says(
        "a window is 3 tokens. "
        "3 tokens kept × 1 key/value head × (16 + 16) numbers × 2 bytes = 192. The cache's tensors hold **192**"
    )


@pytest.mark.parametrize("positions", ["none", "rope", "alibi"])
def test_positions_do_not_disturb_what_was_kept(positions):
    lesson = Lesson("decoding", open="kept", positions=positions, lang="en")
    assert any("at most 0." in text for text in lesson.texts())
    assert ("bias" in lesson.charts()) == (positions == "alibi")
    kept = lesson.number("cache", "k_cache [head 1, dog, 1]", row=None)
    if positions == "rope":  # turned by 3 radians: (−1, 1) becomes (−cos 3 − sin 3, cos 3 − sin 3)
        assert kept == pytest.approx(0.8489, abs=1e-4)
    else:
        assert kept == -1


def test_a_state_gives_what_the_map_gives():
    lesson = Lesson("decoding", open="kept", what="state", lang="en")
    assert lesson.says(
        "a head keeps 2 × 2 numbers for the sum of features times values and 2 for the sum of features, 6 in total"
    )
    assert lesson.says("differs from row 6 of the map's output by at most ")
    lesson.set("reads", 1)
    lesson.click_cell("memory", "memory_2", "0,0,1,1").follow("memory", "memory_1", [0, 0, 1, 1])
    assert lesson.link()["cell"] == "memory,,memory_1,0,0,1,1"


def test_a_gap_is_filled_from_one_side_and_from_both():
    lesson = Lesson("decoding", open="middle", lang="en").set("gap", 2)  # “did”
    left = run_model(NAME, WORDS[:3])["unembedding"]
    both = run_model("en_asked_encoder", blank_word(WORDS, 3))["unembedding"]
    number = word_numbers("en")["did"]
    shares = [float(trace["logits"][0, at].softmax(-1)[number]) for trace, at in ((left, 2), (both, 3))]
    percents = [f"{100 * share:.0f}" for share in shares]
    told = f"the decoder gives it a probability of {percents[0]} %."
    assert lesson.says(f"“did” is hidden. Reading only the left side, {told}")
    assert lesson.says(f"Reading both sides, the encoder gives it {percents[1]} %.")
    assert int(percents[1]) > 4 * int(percents[0])


@pytest.mark.parametrize(("language", "sign"), [("en", " %"), ("zh", "%")])
def test_what_was_measured_of_the_orders_is_told(language, sign):
    figures = MIDDLE_FIGURES.rows["en"]
    lesson = Lesson("decoding", open="middle", lang=language)
    for share, first in (figures.left, figures.both, figures.before):
        assert lesson.says(f"| {100 * share:.0f}{sign} | {100 * first:.0f}{sign} |")
    assert lesson.says(f"| **{100 * figures.order[0]:.0f}{sign}** | **{100 * figures.order[1]:.0f}{sign}** |")
