"""Each control changes what it says."""

import math

import numpy as np
import pytest
import torch

from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_link import write_matrix
from attention_core.inputs.tokenizer import word_vector
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.scores import SCORES
from pages.runs import cache
from pages.site.words import LANGUAGES, load_app_texts, strip_markup
from tests.screen.driver import Screen, it_to_dog, score_of, softmax


# ---- each control changes what it says -------------------------------------------------------------------------------
def test_one_head_of_two_leaves_one_map():
    screen = Screen()
    assert len(screen.heads()) == 2
    screen.set("heads", 1)
    assert len(screen.heads()) == 1
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(1 / 2), abs=1e-12)  # one head of width 4: scale 1/2
    assert screen.link() == {"heads": "1"}


def test_more_heads_stand_on_the_rail():
    screen = Screen().set("heads", 4)
    assert len(screen.heads()) == 4


def test_fewer_key_value_heads():
    screen = Screen().set("kv_heads", 1)
    assert screen.link() == {"kv": "1"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)  # both heads read the first one's keys
    assert screen.weight(1, 0, head=1) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)


def test_every_score():
    screen = Screen()
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    assert screen.set("score", "dot").weight(5, 3) == pytest.approx(it_to_dog(1), abs=1e-12)
    assert screen.set("score", "general").weight(5, 3) == pytest.approx(it_to_dog(1), abs=1e-12)  # W_a is the identity
    assert screen.set("score", "cosine").weight(5, 3) == pytest.approx(it_to_dog(1 / 6), abs=1e-12)  # ±1 or 0
    screen.set("score", "additive")
    w_aq, w_ak, v_a = (
        random_matrix(name, shape) for name, shape in (("w_aq", (2, 2)), ("w_ak", (2, 2)), ("v_a", (1, 2)))
    )
    keys = [(1, -1), (0, 0), (0, 0), (-1, 1), (0, 0), (0, 0), (0, 0)]
    scores = [float(np.tanh(np.array([-3, 3]) @ w_aq + np.array(key) @ w_ak) @ v_a[0]) for key in keys]
    assert screen.weight(5, 3) == pytest.approx(softmax(scores, 3), abs=1e-12)
    assert "hidden" in screen.steps()
    assert {screen.widget("score").options[n] for n in range(len(SCORES))} == {
        load_app_texts("en")[f"score.{name}"] for name in SCORES
    }


def test_scale_off_and_a_number():
    screen = Screen().set("scale", "off")
    assert screen.weight(5, 3) == pytest.approx(0.98775, abs=5e-6)  # e^6 / (e^6 + 5 + e^-6)
    assert "99 %" in screen.fact()
    screen.set("scale", "number")
    assert screen.link() == {"scale": "0.5"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(0.5), abs=1e-12)
    screen.set("scale_number", 0.25)
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(0.25), abs=1e-12)
    screen.set("scale_number", 1.0)  # as if it were off, but it is still a number that is typed
    assert screen.held("scale_number") == 1.0
    assert screen.link() == {"scale": "1.0"}
    assert Screen(scale="1.0").widget("scale").value == "off"
    assert screen.set("scale", "default").link() == {}


def test_a_high_temperature_evens_out_and_a_low_one_decides():
    screen = Screen().set("temperature", 10.0)
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5 / 10), abs=1e-12)
    assert screen.set("temperature", 0.1).weight(5, 3) == pytest.approx(1, abs=1e-15)
    assert screen.link() == {"temp": "0.1"}


def test_positions():
    screen = Screen().set("positions", ["rope"])
    turned = [0.0] * 7  # q_it turned by 5, k_dog by 3, k_Anna by 0: what counts is the angle between them
    turned[3], turned[0] = 6 * math.cos(2) / 2**0.5, -6 * math.cos(5) / 2**0.5
    assert screen.weight(5, 3) == pytest.approx(softmax(turned, 3), abs=1e-12)
    assert {"q_heads", "k_heads"} <= set(screen.steps())
    screen.set("positions", ["alibi"])
    biased = [score * 2**-0.5 - 2**-4 * abs(5 - j) for j, score in enumerate([-6, 0, 0, 6, 0, 0, 0])]
    assert screen.weight(5, 3) == pytest.approx(softmax(biased, 3), abs=1e-12)
    screen.set("positions", ["alibi", "sinusoidal"])
    assert {"sinusoidal_x", "positioned_x", "bias", "biased_scores"} <= set(screen.steps())
    assert screen.link() == {"pos": "alibi,sinusoidal"}
    assert screen.set("positions", []).link() == {}


def test_precision_shows_its_rounding():
    screen = Screen()
    assert not any("Rounding of" in caption for caption in screen.captions())  # float64 is the measure itself
    screen.set("dtype", "float16")  # .932788 lies between 1910/2048 and 1911/2048: 1.71e-4 of .93 are missing
    rounding = (
        "Rounding of float16: the numbers differ from float64 by at most 1.8e-04 of a step's largest magnitude, "
        "in weights."
    )
    assert rounding in screen.captions()
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=2**-11)
    assert screen.weight(5, 3) * 2**11 % 1 == 0
    screen.set("dtype", "bfloat16")
    # 6/√2 = 4.242641, and bfloat16 has steps of 1/32 there: 4.25 is 1.7e-3 of it too much
    assert any("at most 1.7e-03" in text and "in scaled_scores" in text for text in screen.captions())


@pytest.mark.parametrize(
    "mask, blocked, number, changed",
    [
        ("causal", 21, ("causal_offset", 1), 15),
        ("local", 30, ("local_window", 2), 20),
        ("sliding", 31, ("sliding_window", 2), 36),
        ("padding", 7, ("padding_lengths", 4), 21),
        ("local_global", 20, ("local_global_global_tokens", [0, 3]), 14),
    ],
)
def test_every_mask_blocks_the_cells_it_should_and_its_number_counts(mask, blocked, number, changed):
    screen = Screen()
    assert screen.blocked() == 0
    screen.set("masks", [mask])
    assert (screen.blocked(), screen.blocked(head=1)) == (blocked, blocked)
    assert "allowed" in screen.steps()
    assert screen.set(*number).blocked() == changed
    assert screen.set("masks", []).blocked() == 0
    assert screen.link() == {"mask": ""}


def test_a_causal_masks_offset_places_the_queries_of_the_other_masks_too():
    screen = Screen(mask="causal,sliding:2").set("causal_offset", 2)
    assert screen.blocked() == 7 * 7 - (2 + 2 + 2 + 2 + 2 + 1 + 0)  # query 5 stands at 7: key 6 alone; query 6 at 8
    assert screen.errors() == []


def test_a_new_mask_is_a_line_of_the_table_and_its_words(monkeypatch):
    monkeypatch.setitem(MASKS, "near", MASKS["local"])  # as docs/extending.md says how to add one
    for language in LANGUAGES:
        monkeypatch.setitem(load_app_texts(language), "masks.near", "near")
        monkeypatch.setitem(load_app_texts(language), "parameter.near_window", "how near")
    screen = Screen().set("masks", ["near"])
    assert (screen.blocked(), screen.link()) == (30, {"mask": "near:1"})  # 7 x 7 less the diagonal and its neighbours
    assert screen.set("near_window", 2).blocked() == 20
    assert Screen(**screen.link()).blocked() == 20


def test_masks_together_and_a_custom_one():
    screen = Screen().set("masks", ["causal", "padding"])
    assert screen.blocked() == 21 + 1  # padding takes (6, 6) besides
    screen.set("masks", ["causal", "padding", "custom"])
    assert screen.blocked() == 22
    rows = np.ones((7, 7), dtype=int)
    rows[5, 3] = 0
    screen.set("allowed", "\n".join(" ".join(map(str, row)) for row in rows.tolist()))
    assert screen.blocked() == 23
    assert screen.weight(5, 3) == 0
    assert screen.link()["allowed"] == "~5.3=0"


def test_a_query_that_may_attend_to_nothing():
    screen = Screen(mask="causal:-3", t="1")
    assert screen.fact() == "Head 1: “fed” may not attend to any token: its weights and its output are 0."


def test_cross_attention_brings_a_second_sentence():
    screen = Screen()
    screen.set("cross", True)
    assert screen.widget("context_text").label == load_app_texts("en")["control.context_text"]
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    screen.set("context_text", "dog Anna")
    assert screen.weight(5, 0) == pytest.approx(softmax([6 * 2**-0.5, -6 * 2**-0.5], 0), abs=1e-12)
    assert screen.words("S") == ["dog", "Anna"]
    assert screen.flow()["crossed"]
    assert screen.link() == {"cross": "True", "ctx": "dog Anna"}
    assert screen.set("cross", False).link() == {"cross": "False"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    screen = Screen(ex="cross_en_zh").set("cross", False)
    assert screen.widget("cross").value is False
    assert len(screen.words()) == 5


def test_a_typed_sentence():
    screen = Screen().set("text", "Anna fed the dog and she barked")
    assert screen.weight(5, 0) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    assert screen.origins() == ["built"] * 7
    assert screen.link() == {"text": "Anna fed the dog and she barked"}


def test_an_unknown_word_has_a_random_vector_that_follows_the_seed():
    """In an example without roles."""
    screen = Screen(ex="source_004").set("text", "glorp x1 x3")
    assert screen.origins() == ["random", "source", "source"]
    origins = "From the worked example: x, $W_{q}$, $W_{k}$, $W_{v}$. "
    origins += "Dashed: the vectors of glorp are random (seed 0), the same on any machine."
    assert origins in screen.captions()
    for seed in (0, 1):
        one, two, three, four = word_vector("glorp", 4, seed)
        key = np.array([two + four, one + three, one + two])  # x W_k, written out
        keys = np.array([key, [0, 2, 1], [2, 2, 2]])
        query = [1, 1, 1]  # of x1
        assert screen.weight(1, 0) == pytest.approx(softmax(keys @ query / 3**0.5, 0), abs=1e-12)
        screen.press("b_seed_w_q")
    assert screen.link()["seed"] == "2"


def test_an_unknown_word_of_a_built_example_follows_no_seed():
    screen = Screen(text="glorp fed it", seed="7")
    assert screen.origins() == ["role", "built", "built"]
    origins = "Built by hand: x, W_q, W_k, W_v, W_o. Not in the dictionary here, so taken as: glorp (other word)."
    assert origins in map(strip_markup, screen.captions())
    assert Screen(text="glorp fed it").weight(2, 0) == screen.weight(2, 0)


def test_the_three_ways_of_input():
    screen = Screen().set("mode", "matrix")
    assert screen.widget("x").value.splitlines()[3] == "-1  0  0  0"
    assert screen.link() == {"x": "~"}
    screen.set("x", "0 -1 0 0\n-1\t0\t0\t0\n1, 0, 0, 0".replace(", ", " ").replace("\t", " "))
    scores = [0, 6 * 2**-0.5, -6 * 2**-0.5]
    assert screen.weight(0, 1) == pytest.approx(softmax(scores, 1), abs=1e-12)
    screen = Screen().set("mode", "qkv")
    assert [screen.widget(name).value.splitlines()[5] for name in "qkv"] == ["-3  3", "0  0", "0  0"]
    assert len(screen.heads()) == 1
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)
    screen.set("q", screen.widget("q").value.replace("-3  3", "-6  6"))
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2 * 2**-0.5), abs=1e-12)
    assert "Given: q, k, v." in screen.captions()  # the example has none that could be edited
    assert screen.set("mode", "sentence").link() == {}


def test_where_no_sentence_was_none_is_offered():
    labels = [load_app_texts("en")[f"mode.{name}"] for name in ("sentence", "matrix", "qkv")]
    assert list(Screen().widget("mode").options) == labels
    assert list(Screen(ex="one_query").widget("mode").options) == labels[1:]


def test_q_k_and_v_of_a_sentence_keep_its_words():
    screen = Screen(text="Tom fed the cat").set("mode", "qkv")
    assert screen.words() == ["Tom", "fed", "the", "cat"]
    assert not screen.flow()["crossed"]
    crossed = Screen(ex="cross_en_zh").set("mode", "qkv")
    assert crossed.words("S") == ["我", "昨天", "看见", "了", "一只", "猫"]
    assert crossed.fact().startswith("Head 1: “yesterday” gives 97 % of its attention to “昨天”")


def test_a_matrix_that_nobody_changed_is_still_the_examples_own():
    screen = Screen(x="~")
    assert "Built by hand: x, $W_{q}$, $W_{k}$, $W_{v}$, $W_{o}$." in screen.captions()
    assert load_app_texts("en")["role.en_it.1"] in screen.heads()[0]
    screen.set("x", screen.widget("x").value.replace("-1", "-2"))
    assert "Edited: x. Built by hand: $W_{q}$, $W_{k}$, $W_{v}$, $W_{o}$." in screen.captions()
    assert load_app_texts("en")["role.en_it.1"] not in screen.heads()[0]


@pytest.mark.parametrize("text", ["Tom read and then he laughed", "the queen saw it"])
def test_a_head_has_its_role_where_every_word_has_a_vector_that_was_built(text):
    first, _ = Screen(text=text).flow()["head_names"]
    assert first["name"] == "head 1: which noun is meant?"


@pytest.mark.parametrize(("scale", "is_named"), [("1.0", True), ("0.25", True), ("-1.0", False)])
def test_a_head_keeps_its_role_at_every_scale_that_keeps_the_order_of_its_scores(scale, is_named):
    first, _ = Screen(scale=scale).flow()["head_names"]
    assert first["name"] == ("head 1: which noun is meant?" if is_named else "head 1")


def test_q_and_k_that_were_given_become_the_two_sequences_of_a_matrix_input():
    screen = Screen(ex="one_query")
    shares = [screen.weight(0, key) for key in range(5)]
    screen.set("mode", "matrix")
    assert screen.widget("mode").value == "matrix" and screen.errors() == []
    assert [screen.weight(0, key) for key in range(5)] == shares  # nothing is projected
    taken = screen.set("mode", "qkv").setup()
    assert screen.link() == {"ex": "one_query", "cross": "True", "heads": "1"} | {
        name: write_matrix(taken.value_of(name)) for name in "qkv"
    }


def test_another_example_is_one_choice_away():
    screen = Screen().set("score", "dot").choose_example("zh_ta")
    assert screen.link() == {"ex": "zh_ta"}
    assert screen.fact() == "Head 1: “它” gives 93 % of its attention to “狗”, 6.5 times an even share."


def test_only_devices_that_are_there_are_offered():
    assert Screen().widget("device").options == ["CPU", "GPU"][: 1 + torch.cuda.is_available()]


@pytest.mark.parametrize(
    ("cuda", "has_mps", "says"),
    [
        (None, False, "was built without CUDA"),
        ("13.0", False, "was built for CUDA 13.0 and finds no GPU"),
        (None, True, "a Mac's GPU (MPS) cannot compute in float64"),
    ],
)
def test_the_device_says_why_there_is_no_gpu(cuda, has_mps, says, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)
    (told,) = [caption for caption in Screen().captions() if "no GPU to choose" in caption]
    assert says in told and "{" not in told
    if cuda is None and not has_mps:
        version = torch.__version__.partition("+")[0]
        assert f"`pip install --force-reinstall torch=={version}`" in told


def test_where_there_is_a_gpu_nothing_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert not Screen().widget("device").help


def test_the_even_share_is_one_of_the_allowed_keys():
    screen = Screen(mask="causal")  # "it" may attend to six of the seven
    share = softmax([-6 * 2**-0.5, 0, 0, 6 * 2**-0.5, 0, 0], 3)
    assert screen.fact() == (
        f"Head 1: “it” gives {100 * share:.0f} % of its attention to “dog”, {6 * share:.1f} times an even share of 1/6."
    )


def test_a_custom_mask_is_a_step_of_the_strip():
    screen = Screen(allowed="~5.3=0")
    assert screen.steps()[-6:-4] == ["allowed", "masked_scores"]
    assert screen.steps().count("allowed") == 1
    assert any("Edited: custom mask." in caption for caption in screen.captions())


# ---- exchanged words, colours ----------------------------------------------------------------------------------------
def test_a_word_is_exchanged_in_one_click():
    screen = Screen()
    assert screen.swap() == "Try “she” for “it”"
    screen.press("swap_word")
    assert screen.link() == {"text": "Anna fed the dog and she barked"}
    assert screen.fact().startswith("Head 1: “she” gives 93 % of its attention to “Anna”")
    assert screen.swap() == "Try “it” for “she”"
    screen.press("swap_word")
    assert screen.fact().startswith("Head 1: “it” gives 93 % of its attention to “dog”")
    chinese = Screen(ex="zh_ta").press("swap_word")
    assert chinese.link() == {"ex": "zh_ta", "text": "小红喂了那只狗，她摇尾巴", "cut": "222113"}
    assert chinese.words() == ["小红", "喂了", "那只", "狗", "，", "她", "摇尾巴"]
    assert Screen(ex="source_004").swap() is None


def test_no_exchange_is_offered_in_a_text_of_which_the_picture_draws_a_part():
    whole, cut = ("Anna fed the dog and it barked " * count for count in (9, 10))  # 63 and 70 words
    assert (Screen(text=whole).swap(), Screen(text=cut).swap()) == ("Try “she” for “it”", None)


def test_of_a_batch_the_words_of_the_first_sentence_are_exchanged():
    screen = Screen(more="she smiled", sentence="1")
    assert screen.swap() == "Try “she” for “it”"
    assert screen.press("swap_word").setup().run.text == "Anna fed the dog and she barked"


def test_colours_in_even_shares_stay_in_the_link_and_compute_nothing():
    screen = Screen(ex="eight_heads")
    numbers, darkest = screen.numbers("weights").tolist(), screen.flow()["darkest"]
    screen.set("ramp", True)
    assert screen.link() == {"ex": "eight_heads", "ramp": "times"}
    assert screen.numbers("weights").tolist() == numbers
    assert (darkest, screen.flow()["darkest"]) == (1, 5 / 10)  # five times an even share of ten
    assert screen.set("ramp", False).link() == {"ex": "eight_heads"}


def test_rope_on_the_first_columns_is_a_number_and_an_empty_box_is_all():
    screen = Screen(heads="1", pos="rope")
    turned = score_of(screen, 5, 3)
    assert screen.widget("rope_columns").value is None
    assert screen.set("rope_columns", 2).link()["pos"] == "rope:interleaved:10000:none:1:4096:1:0:2"
    # q_it = (-3, 3, 0, 0) at 5 and k_dog = (-1, 1, -1, 1) at 3: the first pair turns by -2, the second stays
    assert score_of(screen, 5, 3) == pytest.approx(6 * math.cos(2), abs=1e-12)
    screen.set("rope_columns", 3)
    assert "RoPE rotates columns in pairs: their number must be even and at most 4: got 3" in screen.errors()
    assert screen.link()["pos"] == "rope:interleaved:10000:none:1:4096:1:0:2"
    assert screen.set("rope_columns", None).link()["pos"] == "rope"
    assert score_of(screen, 5, 3) == turned


def test_one_style_of_rope_at_a_time():
    screen = Screen(heads="1").set("positions", ["rope"])  # pairs of neighbours
    # q_it = (-3, 3, 0, 0) at 5 and k_dog = (-1, 1, -1, 1) at 3: the pairs turn by -2 and by -2 / 10000^(2/4) = -0.02
    assert score_of(screen, 5, 3) == pytest.approx(6 * math.cos(2), abs=1e-12)  # (-3, 3) · turned (-1, 1)
    assert screen.set("rope", "rope_half").link() == {"heads": "1", "pos": "rope_half"}
    halves = 3 * (math.cos(2) + math.sin(2)) + 3 * (
        math.cos(0.02) + math.sin(0.02)
    )  # (-3, 0) · (-1, -1), (3, 0) · (1, 1)
    assert score_of(screen, 5, 3) == pytest.approx(halves, abs=1e-12)
    assert screen.widget("positions").value == ["rope"]
    screen.set("positions", ["rope", "alibi"])
    assert screen.link()["pos"] == "rope_half,alibi"


def test_a_matrix_of_any_width_gets_projections_that_its_heads_can_share():
    screen = Screen(x="~").set("x", "1 2 3\n4 5 6")
    assert screen.errors() == [] and len(screen.heads()) == 2
    matrices = cache.inputs_of(screen.setup()).matrices
    assert {name: matrices[name].shape for name in ("w_q", "w_k", "w_v", "w_o")} == {
        "w_q": (3, 4),
        "w_k": (3, 4),
        "w_v": (3, 4),
        "w_o": (4, 3),
    }
