"""The examples against numbers worked out elsewhere, their dictionaries, and vectors for typed words."""

import json
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from attention_core.examples.examples import EXAMPLES, MatrixRecipe
from attention_core.examples.lexica import LEXICA
from attention_core.inputs.tokenizer import ORIGINS, join_tokens, tokenise, word_vector
from attention_core.record.errors import AttentionError

GOLDEN = Path(__file__).parents[1] / "golden"


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


STORIES = golden("stories")
EXPECTED = {name: story["expected"] for name, story in STORIES["examples"].items()}
EXPECTED["source_004"] = golden("s01_seed004_corrected")["expected"]
EXPECTED["one_query"] = golden("s05_seed001_one_query_five_keys")["expected"]
STEPS = {"scaled": "scaled_scores"}  # the stories' short name
MEANINGS = ("en_subject", "zh_subject", "en_question", "zh_question", "en_translation", "zh_translation")
AXIS_OF_HEADS = ("q", "k", "v", "scores", "scaled_scores", "masked_scores", "weights", "head_outputs")
LISTED = [(name, step) for name, steps in EXPECTED.items() for step in steps if step != "scale_value"]


def vectors_for(tokens, name, seed=0, roles=None):
    """A vector for each word and its origin, by the dictionary of an example or by one of this name."""
    lexicon = EXAMPLES[name].dictionary() if name in EXAMPLES else LEXICA[name]
    return lexicon.vectors_of(tokens, seed, roles)


@pytest.mark.parametrize("name, step", LISTED)
def test_every_listed_number(name, step):
    wanted = np.array(EXPECTED[name][step], dtype=float)
    step = STEPS.get(step, step)
    value = EXAMPLES[name].run()[step][0].numpy()
    if step in AXIS_OF_HEADS and wanted.ndim == 2:
        value = value[0]  # the worked examples have one head and no axis for it
    np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-10, strict=True)


def test_nothing_is_left_out():
    elsewhere = {
        "eight_heads",
        "model_layer",
        "zh_model_layer",
        "picture",
        "zh_picture",
        "zh_ta_sink",
        "softmax_100",
        "built_heads",
        "zh_built_heads",
        "en_plane",
        "zh_plane",
        *MEANINGS,
        *(name for name in EXAMPLES if name.removeprefix("zh_").startswith(("plain_", "code_"))),
        *(name for name, example in EXAMPLES.items() if example.network or example.model or example.translator),
    }  # below, in test_built_heads.py, test_learned_views.py, test_meanings.py, test_plane_goals.py,
    # test_code_examples.py, tests of models
    assert set(EXPECTED) == set(EXAMPLES) - elsewhere
    assert next(iter(EXAMPLES)) == "en_it"
    assert len(LISTED) > 150


@pytest.mark.parametrize(
    "name, head, query, key, weight",
    [
        ("en_it", 0, "it", "dog", 0.933),
        ("en_it", 1, "fed", "Anna", 0.933),
        ("en_she", 0, "she", "Anna", 0.933),
        ("en_it_causal", 0, "it", "dog", 0.945),
        ("en_it_qk_swapped", 0, "dog", "it", 0.921),
        ("en_it_sink", 0, "the", "<s>", 0.71),
        ("zh_ta", 0, "它", "狗", 0.933),
        ("zh_ta_sink", 0, "它", "狗", 0.76),
        ("zh_ta_sink", 0, "那只", "<s>", 0.71),
        ("zh_picture", 0, "屋顶", "红", 0.49),
        ("zh_colour", 0, "猫", "黑", 0.91),
        ("en_colour", 0, "dog", "white", 0.83),
        ("cross_en_zh", 0, "cat", "猫", 0.89),
    ],
)
def test_the_stories(name, head, query, key, weight):
    trace = EXAMPLES[name].run()
    t, s = trace.labels["T"].index(query), trace.labels["S"].index(key)
    assert trace["weights"][0, head, t, s].item() == pytest.approx(weight, abs=0.006)


def test_the_numbers_are_the_stories_own():
    for name, story in STORIES["examples"].items():
        example = EXAMPLES[name]
        for field, key in (("x", "X"), ("w_q", "W_q"), ("w_k", "W_k"), ("w_v", "W_v"), ("w_o", "W_o")):
            assert np.array_equal(getattr(example, field), story[key]), (name, field)
        assert list(example.tokens) == story["tokens"]
        assert list(example.context_tokens or ()) == story.get("context_tokens", [])
        assert (example.heads, example.score, example.origin) == (story["heads"], story["score"], "built")
        assert len(example.dims) == story["d_model"]
        assert list(example.masks) == [mask for mask in [story["mask"]] if mask != "none"]


def test_the_lexica_hold_the_stories_words():
    signs = {"noun": 0, "pronoun": 1, "verb": 2, "glue": 3}
    for name in ("en_it", "zh_ta"):
        wanted = {}
        for kind, words in STORIES[f"lexicon_{name}"].items():
            if kind != "unknown word":
                part, sign = kind.split()
                wanted |= {word: tuple(int(sign) * (i == signs[part]) for i in range(4)) for word in words}
        others = {word: row for word, row in LEXICA[name].vectors.items() if word not in wanted}
        assert {**LEXICA[name].vectors} == wanted | others
        assert set(others.values()) == {(0, 0, 0, 1)}  # small words, more than the stories need
    colour = STORIES["lexicon_colour"]
    wanted = dict.fromkeys(colour["colour +1"], (1, 0, 0)) | dict.fromkeys(colour["colour -1"], (-1, 0, 0))
    wanted |= dict.fromkeys(colour["animal"], (0, 1, 0)) | dict.fromkeys(colour["action"], (0, 0, 1))
    assert {**LEXICA["colour"].vectors} == wanted


WITH_WORDS = {name: example for name, example in EXAMPLES.items() if not example.code}


@pytest.mark.parametrize("name", [name for name, each in WITH_WORDS.items() if each.x is not None and not each.built])
def test_an_examples_own_words_get_its_own_vectors(name):
    example = EXAMPLES[name]
    rows, origins = vectors_for(example.tokens, name)
    assert np.array_equal(rows, example.tensor("x"))
    assert set(origins) == {example.origin}


@pytest.mark.parametrize("name", [name for name, each in WITH_WORDS.items() if not (each.model or each.translator)])
def test_typing_an_examples_sentence_gives_its_tokens(name):
    example = EXAMPLES[name]
    words = example.dictionary().vectors if example.q is None else ()
    assert tokenise(join_tokens(example.tokens)) == example.tokens
    assert (
        tokenise("".join(example.tokens) if name.startswith("zh") else " ".join(example.tokens), words)
        == example.tokens
    )


def test_unknown_words_get_random_vectors_that_are_called_random_where_all_vectors_are_random():
    rows, origins = vectors_for(("the", "glorped", "glorped"), "eight_heads", seed=5)
    assert origins == ("random", "random", "random")
    assert rows[1] == rows[2] == word_vector("glorped", 512, 5)
    assert vectors_for(("glorped",), "eight_heads", seed=6)[0][0] != rows[1]


@pytest.mark.parametrize(
    "name, role, row",
    [
        ("en_it", "person", (1, 0, 0, 0)),
        ("en_it", "thing", (-1, 0, 0, 0)),
        ("en_it", "she", (0, 1, 0, 0)),
        ("en_it", "it", (0, -1, 0, 0)),
        ("en_it", "person_action", (0, 0, 1, 0)),
        ("en_it", "thing_action", (0, 0, -1, 0)),
        ("en_it", "other", (0, 0, 0, 1)),
        ("zh_ta", "thing", (-1, 0, 0, 0)),
        ("en_it_sink", "other", (0, 0, 0, 0)),
        ("en_it_sink", "person", (1, 0, 0, 0)),
        ("en_plane", "action", (0, 0, 0, 1, 0)),
        ("zh_plane", "it", (0, 1, 1, 0, 0)),
        ("en_colour", "first_colour", (1, 0, 0, 1, 0, 0)),
        ("zh_colour", "second_colour", (-1, 0, 0, 1, 0, 0)),
        ("cross_en_zh", "other", (0, 0, 0, 0, 0, 0)),
        ("picture", "other", (0, 0, 0)),
    ],
)
def test_an_unknown_word_has_the_numbers_of_its_role(name, role, row):
    for seed in (5, 6):
        assert vectors_for(("Glorped",), name, seed, {"glorpeD": role}) == ((row,), ("role",))


def test_a_word_without_a_role_or_with_one_that_there_is_not_is_any_other_word():
    other = ((0, 0, 0, 1),), ("role",)
    assert vectors_for(("glorped",), "en_it") == vectors_for(("glorped",), "en_it", 0, {"glorped": "animal"}) == other
    assert vectors_for(("dog",), "en_it", 0, {"dog": "person"}) == (((-1, 0, 0, 0),), ("built",))  # it is known


def test_an_exact_match_goes_before_one_without_capitals():
    rows, _ = vectors_for(("The", "the", "THE"), "eight_heads")
    drawn = EXAMPLES["eight_heads"].tensor("x").tolist()
    assert [list(row) for row in rows] == [drawn[0], drawn[4], drawn[0]]


def test_positions_belong_to_every_word_of_the_colour_lexicon():
    rows, origins = vectors_for(("黑", "Cat", "zebra", "看"), "colour")
    assert rows[0] == (1, 0, 0, 1, -1, 1)
    assert rows[1] == (0, 1, 0, 1, 0, 0)
    assert rows[2] == (0, 0, 0, 1, 1, 1)
    assert rows[3] == (0, 0, 1, 1, 2, 4)
    assert origins == ("built", "built", "role", "built")
    assert vectors_for(("黑", "狗"), "zh_colour_no_positions")[0] == ((1, 0, 0, 1, 0, 0), (0, 1, 0, 1, 0, 0))


def test_the_sink_has_its_own_dictionary():
    rows, _ = vectors_for(("<s>", "the", "dog"), "en_it_sink")
    assert rows == ((0, 0, 0, 2), (0, 0, 0, 0), (-1, 0, 0, 0))
    assert vectors_for(("<s>",), "en_it")[1] == ("role",)


@pytest.mark.parametrize(("chinese", "english"), [("zh_ta_sink", "en_it_sink"), ("zh_picture", "picture")])
def test_a_chinese_twin_has_the_numbers_of_the_english_example(chinese, english):
    twin, other = EXAMPLES[chinese], EXAMPLES[english]
    for run in (twin, other):
        rows, _ = vectors_for(run.tokens, run.name)
        assert np.array_equal(rows, other.tensor("x"))
    torch.testing.assert_close(twin.run()["output"], other.run()["output"], rtol=0, atol=0)


def test_both_languages_of_the_crossing_have_vectors():
    rows, _ = vectors_for(("yesterday", "昨天"), "cross_en_zh")
    assert rows == ((0, 2, 0, 1, 0, 0), (0, 1, 0, 0, 0, 0))
    assert vectors_for(("x2",), "source_004") == (((0, 2, 0, 2),), ("source",))


def test_an_example_without_an_input_has_no_words():
    with pytest.raises(AttentionError, match="one_query gives q, k and v directly") as caught:
        EXAMPLES["one_query"].dictionary()
    assert caught.value.code == "no_input_words"


def test_a_sentence_of_ones_own():
    tokens = tokenise("小明笑了，然后马飞走了。", LEXICA["zh_ta"].vectors)
    assert tokens == ("小明", "笑了", "，", "然后", "马", "飞走了", "。")
    trace = replace(EXAMPLES["zh_ta"], tokens=tokens, x=vectors_for(tokens, "zh_ta")[0]).run()
    assert trace.labels["S"] == tokens
    assert trace["weights"][0, 1].argmax(-1).tolist()[1] == 0  # head 2: 笑了 -> 小明
    assert trace["weights"][0, 1].argmax(-1).tolist()[5] == 4  # 飞走了 -> 马


def test_the_hundred_numbers_of_lecture_notes_001():
    stated, trace = golden("s07_seed001_softmax_100")["expected"], EXAMPLES["softmax_100"].run()
    assert trace["scores"].flatten().tolist() == stated["x"]
    np.testing.assert_allclose(trace["weights"].flatten().numpy(), stated["softmax"], rtol=0, atol=1e-12)


def test_eight_heads_of_64():
    example = EXAMPLES["eight_heads"]
    trace = example.run()
    assert trace.sizes() | {"H": 8, "T": 10, "S": 10, "D": 512, "d_k": 64, "d_v": 64} == trace.sizes()
    assert trace.labels["T"] == tokenise("The cat sat on the mat because it was tired")
    x, w_q = example.tensor("x"), example.tensor("w_q")
    assert x.std().item() == pytest.approx(1, abs=0.05)
    assert w_q.std().item() * 512**0.5 == pytest.approx(1, abs=0.01)
    drawn = {tuple(example.tensor(name)[0, :3].tolist()) for name in ("x", "w_q", "w_k", "w_v", "w_o")}
    assert len(drawn) == 5  # a seed of its own for each
    assert trace["q"].std().item() == pytest.approx(1, abs=0.05)
    assert torch.equal(example.run()["output"], trace["output"])


@pytest.mark.parametrize("name", ["model_layer", "zh_model_layer"])
def test_the_layer_of_a_model_is_that_of_eight_heads_with_larger_q_and_k(name):
    trace, plain = EXAMPLES[name].run(), EXAMPLES["eight_heads"].run()
    assert torch.equal(trace["x"], plain["x"]) and torch.equal(trace["v"], plain["v"])
    torch.testing.assert_close(trace["scores"], 2 * plain["scores"])
    assert EXAMPLES[name].origin == "random"


def test_a_recipe_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    recipe = MatrixRecipe(seed=7, shape=(3, 5), factor=2.0)
    wanted = 2 * torch.randn((3, 5), generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    assert torch.equal(recipe.draw(), wanted)
    assert torch.equal(torch.get_rng_state(), before)
    with pytest.raises(AttentionError, match="kind must be one of random: got 'sparse'"):
        MatrixRecipe(seed=7, shape=(3, 5), kind="sparse")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["en_it", "one_query"])
def test_every_step_has_the_chosen_precision(name, dtype):
    trace = EXAMPLES[name].run(dtype)
    assert {step.value.dtype for step in trace.steps.values()} == {dtype}


def test_examples_are_plain_data_that_cannot_be_changed():
    example = EXAMPLES["en_it"]
    with pytest.raises(FrozenInstanceError):
        example.heads = 1
    with pytest.raises(TypeError):
        EXAMPLES["en_it"] = example
    with pytest.raises(TypeError):
        LEXICA["en_it"].vectors["dog"] = (0, 0, 0, 0)
    assert hash(replace(example)) == hash(example)
    assert {example.origin for example in EXAMPLES.values()} == set(ORIGINS)
    assert [name for name, example in EXAMPLES.items() if example.name != name] == []


def test_opposite_words_of_two_languages_find_each_other():
    english, chinese = tokenise("She fed the dog today"), tokenise("她今天喂了那只狗", LEXICA["en_zh"].vectors)
    assert chinese == ("她", "今天", "喂", "了", "那只", "狗")
    (x, _), (context, _) = (vectors_for(words, "cross_en_zh") for words in (english, chinese))
    example = replace(EXAMPLES["cross_en_zh"], tokens=english, x=x, context_tokens=chinese, context=context)
    weights = example.run()["weights"][0, 0]
    assert weights.argmax(-1).tolist() == [0, 2, 4, 5, 1]
    e = np.exp(9 / 6**0.5)
    assert weights[0, 0].item() == pytest.approx(e / (e + 5), abs=1e-12)
    assert weights[1].tolist() == pytest.approx([w / (e**2 + e + 4) for w in (1, 1, e**2, e, 1, 1)], abs=1e-12)


def test_words_find_the_patches_of_their_colour():
    example = EXAMPLES["picture"]
    weights = example.run()["weights"][0, 0]
    for word, colour in (("sky", "blue"), ("sun", "yellow"), ("roof", "red"), ("grass", "green")):
        row = weights[example.tokens.index(word)]
        found = [at for at, share in enumerate(row) if share >= row.max() - 1e-12]
        assert found == [at for at, patch in enumerate(example.context_tokens) if patch == colour]
    # "roof" is 3 (1, -1, -1): with red 9, yellow 3, the thirteen others -3 or less far below, over the root of 3
    powers = {colour: np.exp(score / 3**0.5) for colour, score in (("red", 9), ("yellow", 3), ("-", -3))}
    whole = 2 * powers["red"] + powers["yellow"] + 13 * powers["-"]
    assert weights[2, 5].item() == pytest.approx(powers["red"] / whole, abs=1e-12)
    assert vectors_for(("天空", "Sea"), "picture") == (((-1, -1, 1), (-1, -1, 1)), ("built", "built"))
