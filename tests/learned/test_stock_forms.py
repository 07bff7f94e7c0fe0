"""The networks in stock forms of transformers, the library: opened from a folder, the same weights give the same logits.

Nothing is loaded from another host: each form is written into a folder and opened from there. Llama, and EuroBERT, which is
Llama without the causal mask, round to 32 bits in norms, in the softmax and in RoPE, whatever the precision of the weights.
So the forms are compared twice: with 64 bits taken there, and as they are.
"""

import socket
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Generator, Tensor
from transformers import (
    EuroBertConfig,
    EuroBertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.models.eurobert import modeling_eurobert
from transformers.models.llama import modeling_llama
from transformers.models.marian import modeling_marian

from attention_core.learned.grammar import cut_words, vocabulary
from attention_core.learned.language.batches import ROW_LENGTH, START, word_numbers
from attention_core.learned.language.model import LanguageLayer, LanguageModel
from attention_core.learned.language.reading import begin_sentence, known_tokens
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import load_model, shipped_names
from attention_core.learned.models.copier import Copier
from attention_core.learned.training.shipped_networks import load_network
from attention_core.learned.translation.model import AttentionPart, FeedForwardPart, Translator, TranslatorLayer
from attention_core.learned.translation.shipped import TRANSLATORS
from attention_core.learned.translation.translating import translate

pytestmark = pytest.mark.slow

EXACT = 1e-10
ROUNDED = 1e-4  # what 32 bits in between may change of a logit; they are some tens at most
NO_MARKS = {"pad_token_id": None, "bos_token_id": None, "eos_token_id": None}
SENTENCES = {
    "en": ("the dog chased the cat because it was angry.", "anna fed the dog that saw the cat."),
    "zh": ("狗追了猫，因为它很累。", "安娜喂了看见猫的狗。"),
}


class WideTorch:
    """torch, but 64 bits where a form asks for 32."""

    float = float32 = torch.float64
    FloatTensor = torch.DoubleTensor

    def __getattr__(self, name: str) -> object:
        return getattr(torch, name)


@pytest.fixture(autouse=True)
def no_other_host(monkeypatch):
    """Nothing asks for an address."""

    def refuse(*_, **__):
        raise AssertionError("a form asks another host")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def in_64_bits(monkeypatch):
    """The forms take 64 bits wherever they would take 32."""
    for module in (modeling_eurobert, modeling_llama, modeling_marian):
        monkeypatch.setattr(module, "torch", WideTorch())


# ---- our weights under the names of the library ----------------------------------------------------------------------
def layer_numbers(layer: LanguageLayer) -> dict[str, Tensor]:
    """The numbers of a layer of Llama. Its matrices stand as x @ Wᵀ."""
    matrices = {
        "self_attn.q_proj": layer.w_q,
        "self_attn.k_proj": layer.w_k,
        "self_attn.v_proj": layer.w_v,
        "self_attn.o_proj": layer.w_o,
        "mlp.up_proj": layer.w_1,
        "mlp.gate_proj": layer.w_gate,
        "mlp.down_proj": layer.w_2,
    }
    numbers = {f"{name}.weight": matrix.T for name, matrix in matrices.items()}
    numbers["input_layernorm.weight"] = layer.g_attention
    numbers["post_attention_layernorm.weight"] = layer.g_feed_forward
    return numbers


def language_numbers(model: LanguageModel) -> dict[str, Tensor]:
    """All numbers of a language model, but for what its answers are read with: no form answers."""
    numbers = {"model.embed_tokens.weight": model.words, "model.norm.weight": model.g_last}
    for place, layer in enumerate(model.layers):
        numbers |= {f"model.layers.{place}.{name}": each for name, each in layer_numbers(layer).items()}
    return numbers


def open_language_model(model: LanguageModel, folder: Path) -> PreTrainedModel:
    """A language model in its stock form: Llama for a decoder, EuroBERT for an encoder."""
    shape = model.shape
    form, kind = (LlamaForCausalLM, LlamaConfig) if shape.causal else (EuroBertForMaskedLM, EuroBertConfig)
    config = kind(
        vocab_size=shape.words,
        hidden_size=64,
        intermediate_size=176,
        num_hidden_layers=3,
        num_attention_heads=4,
        rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 100.0},
        tie_word_embeddings=True,
        **NO_MARKS,
    )
    return open_form(form, config, language_numbers(model), folder)


def open_form(
    form: type[PreTrainedModel], config: PreTrainedConfig, numbers: dict[str, Tensor], folder: Path
) -> PreTrainedModel:
    """Write a form's folder and open it: every number of the form is given, and every number given has a place."""
    config.save_pretrained(folder)
    copies = {name: each.detach().clone(memory_format=torch.contiguous_format) for name, each in numbers.items()}
    save_file(copies, folder / "model.safetensors", metadata={"format": "pt"})
    choices = {"dtype": torch.float64, "attn_implementation": "eager", "local_files_only": True}
    stock, found = form.from_pretrained(folder, output_loading_info=True, **choices)
    assert not any(found.values()), found
    return stock.eval()


def difference(one: Tensor, other: Tensor) -> float:
    """The largest difference of two tensors of one shape."""
    assert one.shape == other.shape
    return float((one - other).abs().max())


# ---- language models -------------------------------------------------------------------------------------------------
def texts_for(name: str, generator: Generator) -> list[Tensor]:
    """Sentences of a model's language, each (1, T), and two rows of any words, as long as a row may be."""
    language = RECIPES[name].language
    numbers = word_numbers(language)
    texts = []
    for sentence in SENTENCES[language]:
        tokens = known_tokens(begin_sentence(cut_words(sentence, language)), language, {})
        texts.append(torch.tensor([[numbers[token] for token in tokens]]))
    texts.append(torch.randint(len(numbers), (2, ROW_LENGTH), generator=generator))
    return texts


def untrained(name: str, generator: Generator) -> LanguageModel:
    """A model of a recipe that does not come along, in float64, its gains drawn, too."""
    model = RECIPES[name].make(generator).double().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 3)
    return model


def made_of_words(name: str) -> bool:
    """Whether the values of a model's last layer are made of the words."""
    return RECIPES[name].choices().layers[-1].values_of_words


ASKED = [name for name in shipped_names() if made_of_words(name)]
PLAIN = [name for name in shipped_names() if not made_of_words(name)]
PLAIN_DECODERS = [name for name, recipe in RECIPES.items() if recipe.causal and not made_of_words(name)]


def model_of(name: str, generator: Generator) -> LanguageModel:
    """The model that comes along under a name, or else one that nobody trained."""
    return load_model(name) if name in shipped_names() else untrained(name, generator)


@pytest.mark.parametrize("name", [*PLAIN, *PLAIN_DECODERS])
def test_a_model_that_foretells_or_names_is_a_stock_form(name, in_64_bits, generator, tmp_path):
    model = model_of(name, generator)
    stock = open_language_model(model, tmp_path)
    for words in texts_for(name, generator):
        ours = model.stack(words)
        with torch.no_grad():
            theirs = stock(words, output_hidden_states=True)
        assert difference(theirs.logits, ours["unembedding"]["logits"]) < EXACT
        if model.shape.answers == "sum":  # the answers are read from what the form ends in before its logits
            answers = model.read_answers(theirs.hidden_states[-1], 0)
            assert difference(answers, model.answer_logits(ours, 0)) < EXACT


@pytest.mark.parametrize("name", ASKED)
def test_a_model_that_is_asked_differs_in_the_values_of_its_last_layer(name, in_64_bits, generator, tmp_path):
    model = load_model(name)
    stock = open_language_model(model, tmp_path)
    for words in texts_for(name, generator):
        ours = model.stack(words)
        with torch.no_grad():
            theirs = stock(words, output_hidden_states=True, output_attentions=True)
        # What the last layer begins with, and where it looks, is the form's; what it gathers there is not.
        assert difference(theirs.hidden_states[2], ours["2.feed_forward"]["residual"]) < EXACT
        for number, weights in enumerate(theirs.attentions, 1):
            assert difference(weights, ours[f"{number}.attention"]["weights"]) < EXACT
        assert difference(theirs.logits, ours["unembedding"]["logits"]) > 1


@pytest.mark.parametrize("name", ASKED)
def test_with_the_words_put_before_the_last_values_it_is_a_stock_form(name, in_64_bits, generator, tmp_path):
    model = load_model(name)
    stock = open_language_model(model, tmp_path)
    last = stock.model.layers[-1].self_attn
    read, gathered = [], []
    stock.model.embed_tokens.register_forward_hook(lambda _, __, vectors: read.append(vectors))
    last.v_proj.register_forward_pre_hook(lambda *_: (read[-1],))
    last.o_proj.register_forward_pre_hook(lambda _, given: gathered.append(given[0]))
    for words in texts_for(name, generator):
        ours = model.stack(words)
        with torch.no_grad():
            theirs = stock(words)
        assert difference(theirs.logits, ours["unembedding"]["logits"]) < EXACT
        heads = gathered[-1].unflatten(-1, (4, 16)).transpose(1, 2)  # (B, T, H * d_v) -> (B, H, T, d_v)
        for question in range(4):
            answers = model.read_answers(heads[:, question], question)
            assert difference(answers, model.answer_logits(ours, question)) < EXACT


@pytest.mark.parametrize("name", [*PLAIN, *PLAIN_DECODERS])
def test_as_the_library_is_it_differs_by_the_rounding_of_32_bits(name, generator, tmp_path):
    model = model_of(name, generator)
    stock = open_language_model(model, tmp_path)
    for words in texts_for(name, generator):
        with torch.no_grad():
            theirs = stock(words).logits
        assert EXACT < difference(theirs, model.stack(words)["unembedding"]["logits"]) < ROUNDED


# ---- the network that copies -----------------------------------------------------------------------------------------
EPS_BEYOND_ALL = 2.0**120  # √(mean of squares + eps) is then 2⁶⁰ for any vector, and a gain of 2⁶⁰ takes it back


def halves_of_pairs(matrix: Tensor, heads: int) -> Tensor:
    """The columns of W_q or W_k in the order of Llama: RoPE turns number m with m + d/2, not with its neighbour."""
    pairs = matrix.unflatten(1, (heads, -1, 2))  # (D, H * d) -> (D, H, d/2, 2)
    return pairs.transpose(2, 3).flatten(1)  # (D, H, 2, d/2) -> (D, H * d)


def copier_numbers(model: Copier) -> dict[str, Tensor]:
    """The numbers of the copying network as those of a Llama whose norms and feed-forward layers do nothing."""
    gain = torch.full((32,), EPS_BEYOND_ALL**0.5, dtype=torch.float64)
    nothing = torch.zeros(1, 32, dtype=torch.float64)
    numbers = {
        "model.embed_tokens.weight": model.read.weight,
        "lm_head.weight": model.out.T,
        "model.norm.weight": gain,
    }
    for place, layer in enumerate(model.layers):
        matrices = {
            "self_attn.q_proj": halves_of_pairs(layer.w_q, 2).T,
            "self_attn.k_proj": halves_of_pairs(layer.w_k, 2).T,
            "self_attn.v_proj": layer.w_v.T,
            "self_attn.o_proj": layer.w_o.T,
            "mlp.up_proj": nothing,
            "mlp.gate_proj": nothing,
            "mlp.down_proj": nothing.T,
            "input_layernorm": gain,
            "post_attention_layernorm": gain,
        }
        numbers |= {f"model.layers.{place}.{name}.weight": each for name, each in matrices.items()}
    return numbers


@pytest.mark.parametrize(("course", "layers"), [("copy_one", 1), ("copy_two", 2)])
def test_the_network_that_copies_is_a_llama_whose_norms_do_nothing(course, layers, in_64_bits, generator, tmp_path):
    model = load_network(course, 500).exact_model
    config = LlamaConfig(
        vocab_size=62,
        hidden_size=32,
        intermediate_size=1,
        num_hidden_layers=layers,
        num_attention_heads=2,
        rms_norm_eps=EPS_BEYOND_ALL,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=False,
        **NO_MARKS,
    )
    stock = open_form(LlamaForCausalLM, config, copier_numbers(model), tmp_path)
    symbols = torch.randint(62, (3, 41), generator=generator)
    with torch.no_grad():
        assert difference(stock(symbols).logits, model.logits(symbols)) < EXACT


# ---- the translator --------------------------------------------------------------------------------------------------
def waves_apart(width: int) -> Tensor:
    """The order of a vector's numbers in Marian: all sines of the places, then all cosines; here they alternate."""
    order = torch.arange(width)
    return torch.cat((order[0::2], order[1::2]))


def attention_numbers(part: AttentionPart, order: Tensor) -> dict[str, Tensor]:
    """An attention of Marian, its inputs and its output in another order."""
    numbers = {"out_proj.weight": part.w_o[:, order].T, "out_proj.bias": part.b_o[order]}
    for kind in "qkv":
        matrix, bias = getattr(part, f"w_{kind}"), getattr(part, f"b_{kind}")
        numbers |= {f"{kind}_proj.weight": matrix[order].T, f"{kind}_proj.bias": bias}
    return numbers


def feed_forward_numbers(part: FeedForwardPart, order: Tensor) -> dict[str, Tensor]:
    """A feed-forward layer of Marian, its input and its output in another order."""
    return {
        "fc1.weight": part.w_1[order].T,
        "fc1.bias": part.b_1,
        "fc2.weight": part.w_2[:, order].T,
        "fc2.bias": part.b_2[order],
    }


def translator_layer_numbers(layer: TranslatorLayer, order: Tensor) -> dict[str, Tensor]:
    """A layer of Marian's encoder, or of its decoder."""
    parts = {"self_attn": layer.attention, "encoder_attn": layer.cross}
    numbers = feed_forward_numbers(layer.feed_forward, order)
    norms = {"final_layer_norm": layer.feed_forward}
    for name, part in parts.items():
        if part is not None:
            numbers |= {f"{name}.{key}": each for key, each in attention_numbers(part, order).items()}
            norms[f"{name}_layer_norm"] = part
    for name, part in norms.items():
        numbers |= {f"{name}.weight": part.g_layer_after[order], f"{name}.bias": part.b_layer_after[order]}
    return numbers


def translator_numbers(model: Translator) -> dict[str, Tensor]:
    """All numbers of the translator."""
    order = waves_apart(model.shape.width)
    halves = {"encoder": (model.source_table, model.encoder), "decoder": (model.target_table, model.decoder)}
    numbers = {}
    for half, (table, layers) in halves.items():
        numbers[f"model.{half}.embed_tokens.weight"] = table[:, order]
        for place, layer in enumerate(layers):
            own = translator_layer_numbers(layer, order)
            numbers |= {f"model.{half}.layers.{place}.{name}": each for name, each in own.items()}
    return numbers


def open_translator(model: Translator, folder: Path) -> PreTrainedModel:
    """The translator as a Marian. START begins a translation and ends it."""
    start = word_numbers("zh")[START]
    config = MarianConfig(
        vocab_size=model.shape.source_words,
        decoder_vocab_size=model.shape.target_words,
        share_encoder_decoder_embeddings=False,
        d_model=64,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=256,
        decoder_ffn_dim=256,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=2 * ROW_LENGTH,
        decoder_start_token_id=start,
        eos_token_id=start,
        pad_token_id=start,
        forced_eos_token_id=None,
    )
    return open_form(MarianMTModel, config, translator_numbers(model), folder)


def test_the_translator_is_a_marian(in_64_bits, generator, tmp_path):
    model = TRANSLATORS.load("translation_en_zh")
    stock = open_translator(model, tmp_path)
    source = torch.randint(model.shape.source_words, (2, ROW_LENGTH), generator=generator)
    target = torch.randint(model.shape.target_words, (2, 31), generator=generator)
    with torch.no_grad():
        theirs = stock(input_ids=source, attention_mask=torch.ones_like(source), decoder_input_ids=target).logits
    assert difference(theirs, model.stack(source, target)["unembedding"]["logits"]) < EXACT


@pytest.mark.parametrize("sentence", ["the dog that saw the cat is tired.", "anna gave the boy a book."])
def test_the_library_writes_the_same_translation(sentence, tmp_path):
    model = TRANSLATORS.load("translation_en_zh")
    stock = open_translator(model, tmp_path)
    words = cut_words(sentence, "en")
    source = torch.tensor([[word_numbers("en")[word] for word in (START, *words)]])
    with torch.no_grad():
        (written,) = stock.generate(
            input_ids=source, attention_mask=torch.ones_like(source), num_beams=1, max_new_tokens=ROW_LENGTH
        ).tolist()
    said = [vocabulary("zh")[number] for number in written]
    assert said == [START, *translate(model, [words])[0], START]
