"""Today's models: rows that open as states, two models beside each other, and bytes worked out by hand."""

import math
from itertools import product
from urllib.parse import parse_qsl

import pytest
import torch

from attention_core import prove
from attention_core.examples.published_models import PUBLISHED_MODELS, scale_down
from pages.lessons.models.drawers import count_bytes_beyond, count_cache_bytes, share_kept
from pages.lessons.models.pairs import SMALL_HEADS, SMALL_WINDOW, make_small_layer
from pages.runs.cache import trace_for
from pages.setup.codec import run_to_query, setup_from_link, setup_to_link
from pages.setup.resolve import config_of
from pages.setup.setup import make_setup
from pages.site.words import load_app_texts
from tests.screen.lesson import Lesson

KEYS = [*PUBLISHED_MODELS]
BASE = make_setup(example="model_layer")
KIB = 1024
ROPE = "rope:interleaved"
# the link of each row's state, typed by hand: what differs from eight heads without mask and positions
STATES = {
    "transformer": "mask=causal&pos=sinusoidal",
    "bert": "pos=learned",
    "gpt_2": "mask=causal&pos=learned",
    "t5": "score=dot&mask=causal&pos=t5:past:128",
    "bloom": "mask=causal&pos=alibi",
    "llama_7b": "mask=causal&pos=rope",
    "llama_2_70b": "kv=1&mask=causal&pos=rope",
    "mistral_7b": "kv=2&mask=sliding:4&pos=rope",
    "deepseek_v2": "mask=causal&pos=decoupled_rope:interleaved:10000:yarn:40:4096:0.707:0.707&mod=latent:1e-06",
    "gemma_2_9b": "kv=4&mask=sliding:4&pos=rope&mod=softcap:50",
    "llama_3_1_8b": f"kv=2&mask=causal&pos={ROPE}:500000:llama3:8:8192",
    "gemma_3_12b": "kv=4&mask=sliding:4&pos=rope&mod=qk_norm:1e-06",
    "qwen_3_8b": f"kv=2&mask=causal&pos={ROPE}:1000000:none:1:4096&mod=qk_norm:1e-06",
    "gpt_oss_120b": f"kv=1&mask=sliding:4&pos={ROPE}:150000:yarn_unrounded:32:4096&norm=sinks",
}
# 2 x layers that keep x key/value heads x width x 2 bytes, in KiB
A_TOKEN = {
    "transformer": 2 * 6 * 8 * 64 * 2 / KIB,
    "bert": 0,
    "gpt_2": 36,
    "t5": 36,
    "bloom": 2 * 70 * 112 * 128 * 2 / KIB,
    "llama_7b": 512,
    "llama_2_70b": 320,
    "mistral_7b": 128,
    "deepseek_v2": 60 * (512 + 64) * 2 / KIB,
    "gemma_2_9b": 336,
    "llama_3_1_8b": 128,
    "gemma_3_12b": 384,
    "qwen_3_8b": 144,
    "gpt_oss_120b": 72,
}


# ---- the rows as states ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", KEYS)
def test_a_row_opens_as_the_state_that_it_says(key):
    model = PUBLISHED_MODELS[key]
    setup = make_small_layer(model.shown, BASE)
    link = setup_to_link(setup)
    assert link == {"ex": "model_layer", **dict(parse_qsl(STATES[key]))}
    assert setup_from_link(link) == (setup, [])
    trace = trace_for(setup)
    assert prove(trace).passed
    sizes = trace.sizes()
    assert (sizes["H"], sizes["d_k"], sizes["T"]) == (8, 64, 10)
    assert sizes["H_kv"] * model.heads == 8 * model.kv_heads  # in proportion


@pytest.mark.parametrize("key", KEYS)
def test_every_kind_of_layer_of_a_row_is_its_config_made_small(key):
    for kind in PUBLISHED_MODELS[key].kinds:
        setup = make_small_layer(kind, BASE)
        assert config_of(setup.run) == scale_down(kind.config, SMALL_HEADS, SMALL_WINDOW)
        assert prove(trace_for(setup)).passed


def test_all_rows_start_from_the_same_numbers():
    first, *others = [trace_for(make_small_layer(model.shown, BASE)) for model in PUBLISHED_MODELS.values()]
    for other in others:
        assert torch.equal(other["x"], first["x"]) and torch.equal(other["w_q"], first["w_q"])


@pytest.mark.parametrize("key", ["transformer", "gemma_3_12b", "gpt_oss_120b"])
def test_the_door_of_a_row_leads_to_it(key):
    lesson = Lesson("models", lang="en", ex="model_layer", open="read").press(f"door_row_{key}")
    assert lesson.at.session_state["setup"] == make_small_layer(
        PUBLISHED_MODELS[key].shown, make_setup(example="model_layer", head=0)
    )


def test_both_models_open_as_a_and_b():
    setup = Lesson("models", lang="en", ex="model_layer").press("door_both").at.session_state["setup"]
    against = {"ex": "model_layer", "mask": "causal", "pos": "learned"}
    assert setup.comparison.pinned == "values" and dict(parse_qsl(run_to_query(setup.comparison.against))) == against
    assert setup.run.normaliser == "sinks" and setup.run.kv_heads == 1


# ---- two models beside each other ------------------------------------------------------------------------------------
def test_the_maps_show_the_older_and_the_newer_layer_on_the_same_words():
    """The first query sees itself alone: a softmax gives all, a softmax with a sink of 0 a share of the score."""
    lesson = Lesson("models", lang="en")
    assert lesson.number("old", "weights [head 1, The, The]") == 1
    score = trace_for(make_small_layer(PUBLISHED_MODELS["gpt_oss_120b"].shown, BASE))["scaled_scores"][
        0, 0, 0, 0
    ].item()
    shown = lesson.number("new", "weights [head 1, The, The]")
    assert shown == pytest.approx(math.exp(score) / (math.exp(score) + 1), abs=1e-12)
    for key in ("The", "cat", "sat", "on", "mat"):  # more than four keys back
        assert lesson.number("new", f"weights [head 1, tired, {key}]") == 0
    assert lesson.number("old", "weights [head 1, tired, sat]") > 0


def test_the_newer_layer_by_loops():
    """YaRN, one key head for eight, four keys, a sink of 0: the last word of head 3."""
    trace = trace_for(make_small_layer(PUBLISHED_MODELS["gpt_oss_120b"].shown, BASE))
    q, k = trace["q_heads"][0, 2].tolist(), trace["k_heads"][0, 0].tolist()
    first, last = (32 * math.log(4096 / (turns * 2 * math.pi)) / math.log(150000.0) for turns in (32, 1))

    def turned(vector, place):
        found = []
        for pair in range(32):
            plain = 150000.0 ** (-2 * pair / 64)
            ramp = 1 - min(max((pair - first) / (last - first), 0), 1)
            angle = place * ((1 - ramp) * plain / 32 + ramp * plain)
            a, b = vector[2 * pair], vector[2 * pair + 1]
            found += [a * math.cos(angle) - b * math.sin(angle), a * math.sin(angle) + b * math.cos(angle)]
        return [number * (0.1 * math.log(32) + 1) for number in found]

    query = turned(q[9], 9)
    powers = [math.exp(sum(map(float.__mul__, query, turned(k[s], s))) / 8) for s in range(6, 10)]
    wanted = [0.0] * 6 + [power / (sum(powers) + 1) for power in powers]
    assert trace["weights"][0, 2, 9].tolist() == pytest.approx(wanted, abs=1e-12)


def test_the_headline_counts_the_parts_that_differ_and_each_is_told_of_both():
    lesson = Lesson("models", lang="en", old="5", new="7")
    assert lesson.fact() == "Between LLaMA 7B (2023) and Mistral 7B (2023), 2 of 6 parts differ: heads, mask."
    (table,) = [text for text in lesson.texts() if text.startswith("| Part | LLaMA 7B | Mistral 7B |")]
    assert "| **Mask** | causal | window of 4,096 |" in table.splitlines()
    assert not lesson.says("Cost: no head has keys")  # what a part is for is told once it is asked
    lesson.at.session_state["models.what_for"] = True
    lesson.ran(lesson.at.run)
    parts = [text for text in lesson.texts() if text.startswith("**") and "  \n" in text]
    assert [text.partition("  \n")[0] for text in parts] == [
        "**Heads** · LLaMA 7B: 32 heads, 128 wide",
        "**Heads** · Mistral 7B: 32 heads on 8 key/value heads, 128 wide",
        "**Mask** · LLaMA 7B: causal",
        "**Mask** · Mistral 7B: window of 4,096",
    ]
    assert "Cost: no head has keys and values of its own; 4 heads share the same ones." in parts[1]
    same = Lesson("models", lang="en", old="5", new="5")
    assert same.fact() == "LLaMA 7B (2023) and LLaMA 7B (2023) agree in all 6 parts."


def test_maps_captions_and_headline_follow_both_sliders():
    lesson = Lesson("models", lang="en")
    (headline,) = [data for _, data in lesson.following() if data.get("kind") == "heading"]
    assert headline["counts"] == [14, 14] and headline["of"] == ["models.old", "models.new"]
    assert "".join(headline["texts"][5 * 14 + 7]) == Lesson("models", lang="en", old="5", new="7").fact()
    moved = lesson.set("old", 4)
    assert moved.link()["old"] == "4" and moved.fact().startswith("Between BLOOM 176B (2022)")
    assert moved.number("old", "weights [head 1, The, The]") == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_model_can_stand_on_both_sides(lang):
    """The page holds the headline of every pair and a map of every model on each side; links open the two ends."""
    for old, new in ((0, len(KEYS) - 1), (len(KEYS) - 1, 0)):
        lesson = Lesson("models", lang=lang, old=str(old), new=str(new))
        assert lesson.errors() == []
        assert all(PUBLISHED_MODELS[KEYS[place]].name in lesson.fact() for place in (old, new))
    (headline,) = [data for _, data in lesson.following() if data.get("kind") == "heading"]
    names = [PUBLISHED_MODELS[key].name for key in KEYS]
    for (old, new), texts in zip(product(names, names), headline["texts"], strict=True):
        assert old in "".join(texts) and new in "".join(texts).partition(old)[2], (old, new)
    for side, (place, name) in product(("old", "new"), enumerate(names)):
        assert any(name in str(row["text"]) for row in lesson.rows_at(side, place)), (side, name)


def test_a_caption_says_what_a_state_stands_for_and_what_it_leaves_out():
    told = [text for text in Lesson("models", lang="en", old="3", new="11").told() if text.startswith("Here")]
    assert told == [
        "Here 8 heads, each 64 wide, stand for 12, each 64 wide. "
        "Not shown: its 12 encoder layers. Instead of 32 buckets there are 8 here. "
        "Never shown: the norm before the layer, the MLP, what the model has learned.",
        "Here 8 query heads and 4 key/value heads, each 64 wide, stand for 16 and 8, each 256 wide. "
        "A window of 4 stands for 1,024. "
        "Not shown: its 8 global layers. The gains of the norm are 1 here. "
        "Never shown: the norm before the layer, the MLP, what the model has learned.",
    ]


def test_what_the_last_word_may_look_at_is_counted_in_both_layers():
    lesson = Lesson("models", lang="en", text="Tom read and he laughed at it")
    assert lesson.says("“it”, may look at 7 words in the layer of GPT-2 (small) (“Tom”, “read”, “and”, “he”, “laughed”")
    assert lesson.says("at 4 in that of gpt-oss-120b (“he”, “laughed”, “at”, “it”).")


# ---- the table and its bytes -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", KEYS)
def test_the_bytes_of_a_token(key):
    assert count_cache_bytes(PUBLISHED_MODELS[key], 1) == A_TOKEN[key] * KIB


def test_windows_keep_a_cache_from_growing():
    found = PUBLISHED_MODELS
    assert count_bytes_beyond(found["mistral_7b"], 4096) == 0
    assert count_bytes_beyond(found["gpt_oss_120b"], 128) == 36 * KIB  # 18 of 36 layers
    assert count_bytes_beyond(found["gemma_3_12b"], 1024) == 64 * KIB  # 8 of 48
    assert share_kept(found["gemma_3_12b"]) == pytest.approx((8 + 40 * 1024 / 131072) / 48, abs=1e-12)
    assert share_kept(found["gemma_2_9b"]) == 0.75
    assert share_kept(found["gpt_oss_120b"]) == pytest.approx(0.5 + 0.5 * 128 / 131072, abs=1e-12)


def table_bytes(lesson):
    """What the last column says, in order."""
    return [text for text in lesson.texts() if " per token" in text and "keeps the most" not in text]


def test_bytes_are_a_word_of_the_language():
    lesson = Lesson("models", lang="zh", open="read").choose("guess", "LLaMA 7B")
    assert lesson.says("**128 KiB**，4,096 个词元之后 **0 字节**") and not lesson.says("bytes")


def test_the_bytes_of_the_table_are_hidden_until_the_guess():
    lesson = Lesson("models", lang="en", open="read")
    assert table_bytes(lesson) == ["? per token"] * 14
    guessed = lesson.choose("guess", "LLaMA 7B")
    assert guessed.says(":material/check: As predicted")
    assert guessed.says(
        "Of these, **LLaMA 7B** keeps the most: 2 × 32 layers × 32 heads × 128 numbers × 2 bytes = **512 KiB**"
    )
    assert guessed.says(
        "Llama 2 70B has ten times as many weights and keeps 320 KiB: its 64 heads share keys and values in groups of 8"
    )
    assert table_bytes(guessed) == [
        "**12 KiB** per token",
        "**36 KiB** per token",
        "**36 KiB** per token",
        "**3.83 MiB** per token",
        "**512 KiB** per token",
        "**320 KiB** per token",
        "**128 KiB** per token, **0 bytes** beyond 4,096",
        "**67.5 KiB** per token",
        "**336 KiB** per token, **168 KiB** beyond 4,096",
        "**128 KiB** per token",
        "**384 KiB** per token, **64 KiB** beyond 1,024",
        "**144 KiB** per token",
        "**72 KiB** per token, **36 KiB** beyond 128",
    ]
    assert guessed.says("keeps nothing: it reads the whole text at once")
    assert lesson.choose("guess", "Llama 2 70B").says("Not as predicted")


def test_a_row_is_bold_where_no_row_above_has_it():
    texts = Lesson("models", lang="en", open="read").texts()
    place = texts.index("2023 · **Llama 2 70B**")
    assert texts[place + 1 : place + 4] == [
        "RoPE, base 10,000",
        "**64 heads on 8 key/value heads, 128 wide**",
        "causal",
    ]
    place = texts.index("2025 · **gpt-oss-120b**")
    assert texts[place + 3] == "18 local: window of 128; 18 global: causal · **softmax with a sink**"


def test_every_row_names_its_source():
    captions = [caption.value for caption in Lesson("models", lang="en", open="read").at.caption]
    assert any("openai\\/gpt\\-2, src\\/model\\.py" in caption for caption in captions)
    assert sum("layers of width" in caption for caption in captions) == len(KEYS)


# ---- the drawers -----------------------------------------------------------------------------------------------------
def test_one_change_alone_is_measured_on_the_older_layer():
    lesson = Lesson("models", lang="en", old="5", new="7", open="one")
    before = trace_for(make_small_layer(PUBLISHED_MODELS["llama_7b"].shown, BASE))
    after = trace_for(make_setup(example="model_layer", positions=("rope",), masks=("causal",), kv_heads=2))
    moved = [(after[step] - before[step]).abs().max().item() for step in ("weights", "output")]
    assert lesson.says(
        f"changes a weight by at most **{moved[0]:.2f}**, and a number of the output by at most **{moved[1]:.2f}**"
    )
    shown = lesson.number("after", "weights [head 1, tired, sat]")
    assert shown == pytest.approx(after["weights"][0, 0, 9, 2].item(), abs=1e-12)
    windowed = lesson.choose("part", "mask")
    assert windowed.number("after", "weights [head 1, tired, sat]") == 0
    assert Lesson("models", lang="en", old="5", new="5", open="one").says("At this size both layers are the same.")


def test_a_long_text_costs_what_its_layers_keep():
    lesson = Lesson("models", lang="en", old="5", new="13", open="cache")
    assert lesson.says("After 1,024 tokens **LLaMA 7B** keeps **512 MiB**. After 1,024 tokens **gpt-oss-120b** keeps")
    far = lesson.set("tokens", 131072)
    assert far.says("**LLaMA 7B** was made for 2,048 tokens at most.")
    gib = 36 * KIB * (131072 + 128) / KIB**3
    assert far.says(f"After 131,072 tokens **gpt-oss-120b** keeps **{gib:.3g} GiB**.")
    assert Lesson("models", lang="en", old="1", open="cache").says(
        "**BERT-Base** reads the whole text at once and keeps nothing."
    )


def test_what_windows_leave_is_guessed_before_it_is_said():
    lesson = Lesson("models", lang="en", open="layers")
    assert not lesson.says("instead of")
    guessed = lesson.choose("left", "17 %")
    assert guessed.says(
        "Gemma 3 12B: 40 layers keep the last 1,024 tokens, 8 keep all. After 131,072 tokens the cache takes 8.31 GiB"
    )
    assert guessed.says("instead of 48 GiB: **17 %** of it.") and guessed.says("**75 %**") and guessed.says("**50 %**")
    assert guessed.number("local", "weights [head 1, tired, The]") == 0
    assert guessed.number("global", "weights [head 1, tired, The]") > 0


def test_where_a_class_a_file_and_a_paper_differ_is_said():
    lesson = Lesson("models", lang="en", open="read")
    assert lesson.says("the paper's 8,192 is used here; the file has 32,768, the class 131,072 by default")
    texts = load_app_texts("en")
    assert all(
        f"lessons.models.note.{key}" in texts and lesson.says(texts[f"lessons.models.note.{key}"]) for key in KEYS
    )


# ---- in Chinese ------------------------------------------------------------------------------------------------------
def test_the_chinese_lesson_has_its_own_words_and_the_same_numbers():
    lesson = Lesson("models", lang="zh")
    assert lesson.link()["ex"] == "zh_model_layer"
    english = Lesson("models", lang="en").number("new", "weights [head 1, tired, was]")
    assert lesson.number("new", "权重 [头 1, 累了, 它]") == english


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_random_numbers_in_the_shape_of_a_model_are_called_so_and_drawn_grey(lang):
    lesson = Lesson("models", lang=lang, open="one")
    for name in ("old", "new", "before", "after"):
        rows = lesson.table(name)
        cells = [bytes.fromhex(fill[1:]) for fill in rows[rows["kind"] == "cell"]["fill"]]
        assert cells and max(max(rgb) - min(rgb) for rgb in cells) <= 14
        titles = [text for text in map(str, rows["text"]) if "GPT-2" in text or "gpt-oss" in text]
        assert titles and all(title.startswith({"en": "Random", "zh": "随机数"}[lang]) for title in titles)
