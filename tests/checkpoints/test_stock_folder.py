"""Our own models as folders of stock models: transformers computes the same numbers, and the core proves its layers.

It computes in float32, the core in float64. No decoder without answers comes along: those here are untrained.
"""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Generator, Tensor

from attention_core.checkpoints import OpenedModel, open_folder, record, save_folder, stock_folder
from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import MASK, ROW_LENGTH, START, word_numbers
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.reading import UNKNOWN
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import load_model, shipped_names
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import Stack

SAME = 5e-5  # measured: 1e-5, of logits up to 25; float32 rounds each of them, and norms and softmax before
SAME_UNTRAINED = 2e-4  # measured: 6e-5; the scores are as large as those of trained models, and attention is uneven
FAULTY = 1e-2  # each planted fault moves a logit by more
SPREAD = 4.0
ASKED = [name for name in shipped_names() if RECIPES[name].kind == "asked"]
STOCK = [name for name in shipped_names() if name not in ASKED]
DECODERS = ("en_foretold_decoder", pytest.param("zh_named_decoder", marks=pytest.mark.slow))
SENTENCES = {"en": "The dog chased the cat because it was angry.", "zh": "狗追了猫，因为它很累。"}


def own_model(name: str) -> LanguageModel:
    """The model that comes along under a name, or one that nobody trained, whose gains are random, too."""
    if name in shipped_names():
        return load_model(name)
    generator = Generator().manual_seed(0)
    model = RECIPES[name].make(generator).requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.add_(torch.randn(parameter.shape, generator=generator) / 3)
        else:
            parameter.mul_(SPREAD)
    return model.double()


def open_own(name: str, folder: Path) -> tuple[LanguageModel, OpenedModel]:
    """A model of the package, and the same one opened from a folder."""
    model = own_model(name)
    return model, open_folder(save_folder(model, RECIPES[name].language, folder / name))


def texts_of(name: str, opened: OpenedModel) -> list[Tensor]:
    """The numbers of a sentence's words, (1, T), and of two rows of any words, as long as a row may be."""
    model_words = len(vocabulary(RECIPES[name].language))
    any_words = torch.randint(model_words, (2, ROW_LENGTH), generator=Generator().manual_seed(1))
    return [opened.cut(SENTENCES[RECIPES[name].language]).tensors()["input_ids"], any_words]


def apart(given: Tensor, stack: Stack) -> float:
    """The largest difference of logits from those of our own run."""
    return float((given.double() - stack["unembedding"]["logits"]).abs().max())


@pytest.mark.parametrize("name", [*STOCK, *DECODERS])
def test_the_logits_are_the_same_and_every_layer_is_proven(name: str, tmp_path: Path):
    model, opened = open_own(name, tmp_path)
    assert type(opened.model).__name__ == ("LlamaForCausalLM" if model.shape.causal else "EuroBertForMaskedLM")
    assert opened.ignored == ()
    assert opened.most_pieces == ROW_LENGTH
    for words in texts_of(name, opened):
        recording, stack = record(opened.model, input_ids=words), model.stack(words)
        assert apart(recording.logits, stack) < (SAME if name in STOCK else SAME_UNTRAINED)
        assert recording.passed
        assert recording.missing == ()
        assert len(recording.traces) == model.shape.layers
        for number, trace in enumerate(recording.traces, 1):
            ours = stack[f"{number}.attention"]
            assert float((trace["weights"] - ours["weights"]).abs().max()) < SAME


@pytest.mark.parametrize("name", [STOCK[0], DECODERS[0]])
def test_what_is_found_by_value_in_the_stock_model_is_our_own_model_again(name: str, tmp_path: Path):
    model, opened = open_own(name, tmp_path)
    words, *_ = texts_of(name, opened)
    whole = record(opened.model, input_ids=words).whole()
    assert [row.fault for row in whole.proof() if not row.passed] == []
    for found, choices in zip(whole.config.layers, model.shape.stack().layers, strict=True):
        assert replace(found.attention, kv_heads=None) == choices.attention  # as many as heads
        assert found.feed_forward == choices.feed_forward
    assert whole.config.unembedding == model.shape.stack().unembedding
    own = model.weights()
    pairs = [(whole.weights.unembedding, own.unembedding)]
    for found, layer in zip(whole.weights.layers, own.layers, strict=True):
        pairs += [(found.attention, layer.attention), (found.feed_forward, layer.feed_forward)]
    for found, learned in pairs:
        assert found.given().keys() == learned.given().keys()
        for tensor, number in learned.given().items():
            assert torch.equal(found.given()[tensor], number.float().double()), tensor


@pytest.mark.parametrize("name", ASKED)
def test_values_of_words_have_no_stock_form(name: str, tmp_path: Path):
    with pytest.raises(AttentionError, match="from its own input") as raised:
        save_folder(load_model(name), RECIPES[name].language, tmp_path / "asked")
    assert raised.value.code == "values_of_words"
    assert not (tmp_path / "asked").exists()


def test_every_model_of_the_package_is_one_or_the_other():
    assert {*STOCK, *ASKED} == {*shipped_names()}
    assert {RECIPES[name].language for name in STOCK} == {"en", "zh"}


# ---- planted faults --------------------------------------------------------------------------------------------------
def without_gain(numbers: dict[str, Tensor]) -> None:
    """The gain of one norm is left out."""
    numbers["model.layers.1.input_layernorm.weight"] = torch.ones(64)


def with_w_q_as_it_stands(numbers: dict[str, Tensor]) -> None:
    """W_q is not transposed."""
    numbers["model.layers.0.self_attn.q_proj.weight"] = numbers["model.layers.0.self_attn.q_proj.weight"].T


def with_swapped_gates(numbers: dict[str, Tensor]) -> None:
    """What is gated and its gate are exchanged."""
    up, gate = "model.layers.2.mlp.up_proj.weight", "model.layers.2.mlp.gate_proj.weight"
    numbers[up], numbers[gate] = numbers[gate], numbers[up]


def with_pairs_of_neighbours(numbers: dict[str, Tensor]) -> None:
    """W_q and W_k as they are where RoPE turns each number with its neighbour."""
    order = torch.arange(64).reshape(4, 2, 8).transpose(1, 2).flatten()
    for kind in "qk":
        name = f"model.layers.0.self_attn.{kind}_proj.weight"
        numbers[name] = numbers[name][order]


@pytest.mark.parametrize("fault", [without_gain, with_w_q_as_it_stands, with_swapped_gates, with_pairs_of_neighbours])
@pytest.mark.parametrize("name", ["en_foretold_encoder", pytest.param("en_foretold_decoder", marks=pytest.mark.slow)])
def test_a_wrong_tensor_changes_the_logits(name: str, fault, tmp_path: Path, monkeypatch):
    right = stock_folder.stock_numbers

    def wrong(model: LanguageModel) -> dict[str, Tensor]:
        numbers = right(model)
        fault(numbers)
        return numbers

    monkeypatch.setattr(stock_folder, "stock_numbers", wrong)
    model, opened = open_own(name, tmp_path)
    for words in texts_of(name, opened):
        assert apart(record(opened.model, input_ids=words).logits, model.stack(words)) > FAULTY


@pytest.mark.parametrize("fault", [{"rms_norm_eps": 1e-2}, {"rope_parameters": {"rope_theta": 10000.0}}])
def test_a_wrong_number_of_the_config_changes_the_logits(fault: dict, tmp_path: Path, monkeypatch):
    right = stock_folder.stock_config
    rope = {"rope_parameters": {"rope_type": "default", **fault.get("rope_parameters", {"rope_theta": 100.0})}}
    monkeypatch.setattr(stock_folder, "stock_config", lambda model: right(model) | fault | rope)
    model, opened = open_own("en_foretold_encoder", tmp_path)
    for words in texts_of("en_foretold_encoder", opened):
        assert apart(record(opened.model, input_ids=words).logits, model.stack(words)) > FAULTY


def test_a_transposed_embedding_is_refused(tmp_path: Path, monkeypatch):
    right = stock_folder.stock_numbers
    monkeypatch.setattr(
        stock_folder, "stock_numbers", lambda model: right(model) | {"model.embed_tokens.weight": model.words.T}
    )
    with pytest.raises(AttentionError) as raised:
        open_own("en_foretold_encoder", tmp_path)
    assert raised.value.code == "weights_differ"


# ---- its words -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("language", "least"), [("en", 1.0), ("zh", 0.98)])
def test_texts_of_the_grammar_are_cut_into_its_words(language: str, least: float, tmp_path: Path):
    _, opened = open_own(f"{language}_foretold_encoder", tmp_path)
    texts = [text.words for text in held_out_texts(language, "held", "report", 300)]
    same = 0
    for words in texts:
        typed = (" " if language == "en" else "").join(words[1:])
        same += opened.cut(typed).ids == tuple(word_numbers(language)[word] for word in words)
    assert same / len(texts) >= least


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The DOG chased <mask>, zorb!", (START, "the", "dog", "chased", MASK, ",", UNKNOWN, UNKNOWN)),
        ("en", "an <animal> barked.", (START, "an", "<animal>", "barked", ".")),
        ("zh", "狗追了 <mask>, 龘.", (START, "狗", "追", "了", MASK, "，", UNKNOWN, "。")),
    ],
)
def test_marks_and_unknown_words(language: str, text: str, expected: tuple[str, ...], tmp_path: Path):
    _, opened = open_own(f"{language}_foretold_encoder", tmp_path)
    assert tuple(vocabulary(language)[number] for number in opened.cut(text).ids) == expected


def test_the_second_text_of_a_pair_follows_the_first(tmp_path: Path):
    _, opened = open_own("en_foretold_encoder", tmp_path)
    pieces = opened.cut("the dog barked.", "the cat ate.")
    assert [piece.token for piece in pieces.pieces].count(START) == 1
    assert pieces.second == 5


def test_an_unknown_language_is_refused(tmp_path: Path):
    with pytest.raises(AttentionError):
        save_folder(load_model("en_foretold_encoder"), "fr", tmp_path / "model")
