"""The networks in stock forms of transformers, the library: the same weights give the same logits.

Llama, and EuroBERT, which is Llama without the causal mask, take 32 bits in norms, in the softmax and in RoPE, whatever
the precision of the weights; Marian in the places. So forms are compared twice: with 64 bits there, and as they are.
"""

import socket

import pytest
import torch
from torch import Generator, Tensor

from attention_core.learned.grammar import cut_words, vocabulary
from attention_core.learned.language.batches import ROW_LENGTH, START, word_numbers
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.reading import begin_sentence, known_tokens
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import load_model, shipped_names
from attention_core.learned.training.shipped_networks import load_network
from attention_core.learned.translation.recipes import TRANSLATORS
from attention_core.learned.translation.translating import translate

pytestmark = pytest.mark.slow

EXACT = 1e-10
ROUNDED = 5e-5  # what 32 bits in between may change of a logit; logits are 25 at most
SENTENCES = {
    "en": ("the dog chased the cat because it was angry.", "anna fed the dog that saw the cat."),
    "zh": ("狗追了猫，因为它很累。", "安娜喂了看见猫的狗。"),
}


@pytest.fixture(scope="module")
def forms():
    """The stock forms, imported here: it takes seconds, and every run of all tests reads this file."""
    from tests.learned import stock_forms

    return stock_forms


@pytest.fixture(autouse=True)
def no_other_host(monkeypatch):
    """Nothing asks for an address."""

    def refuse(*_, **__):
        raise AssertionError("a form asks another host")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def in_64_bits(forms, monkeypatch):
    """The forms take 64 bits wherever they would take 32."""
    for module in forms.MODULES:
        monkeypatch.setattr(module, "torch", forms.WideTorch())


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
def test_a_model_that_foretells_or_names_is_a_stock_form(name, forms, in_64_bits, generator, tmp_path):
    model = model_of(name, generator)
    stock = forms.open_language_model(model, tmp_path)
    for words in texts_for(name, generator):
        ours = model.stack(words)
        with torch.no_grad():
            theirs = stock(words, output_hidden_states=True)
        assert difference(theirs.logits, ours["unembedding"]["logits"]) < EXACT
        if model.shape.answers == "sum":  # the answers are read from what the form ends in before its logits
            answers = model.read_answers(theirs.hidden_states[-1], 0)
            assert difference(answers, model.answer_logits(ours, 0)) < EXACT


@pytest.mark.parametrize("name", ASKED)
def test_a_model_that_is_asked_differs_in_the_values_of_its_last_layer(name, forms, in_64_bits, generator, tmp_path):
    model = load_model(name)
    stock = forms.open_language_model(model, tmp_path)
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
def test_with_the_words_put_before_the_last_values_it_is_a_stock_form(name, forms, in_64_bits, generator, tmp_path):
    model = load_model(name)
    stock = forms.open_language_model(model, tmp_path)
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
def test_as_the_library_is_it_differs_by_the_rounding_of_32_bits(name, forms, generator, tmp_path):
    model = model_of(name, generator)
    stock = forms.open_language_model(model, tmp_path)
    for words in texts_for(name, generator):
        with torch.no_grad():
            theirs = stock(words).logits
        assert EXACT < difference(theirs, model.stack(words)["unembedding"]["logits"]) < ROUNDED


# ---- the network that copies -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("course", ["copy_one", "copy_two"])
def test_the_network_that_copies_is_a_llama_whose_norms_do_nothing(course, forms, in_64_bits, generator, tmp_path):
    model = load_network(course, 500).exact_model
    stock = forms.open_copier(model, tmp_path)
    symbols = torch.randint(62, (3, 41), generator=generator)
    with torch.no_grad():
        assert difference(stock(symbols).logits, model.logits(symbols)) < EXACT


# ---- the translator --------------------------------------------------------------------------------------------------
def test_the_translator_is_a_marian(forms, in_64_bits, generator, tmp_path):
    model = TRANSLATORS.load("translation_en_zh")
    stock = forms.open_translator(model, tmp_path)
    source = torch.randint(model.shape.source_words, (2, ROW_LENGTH), generator=generator)
    target = torch.randint(model.shape.target_words, (2, 31), generator=generator)
    with torch.no_grad():
        theirs = stock(input_ids=source, attention_mask=torch.ones_like(source), decoder_input_ids=target).logits
    assert difference(theirs, model.stack(source, target)["unembedding"]["logits"]) < EXACT


@pytest.mark.parametrize("sentence", ["the dog that saw the cat is tired.", "anna gave the boy a book."])
def test_the_library_writes_the_same_translation(sentence, forms, tmp_path):
    model = TRANSLATORS.load("translation_en_zh")
    stock = forms.open_translator(model, tmp_path)
    words = cut_words(sentence, "en")
    source = torch.tensor([[word_numbers("en")[word] for word in (START, *words)]])
    with torch.no_grad():
        (written,) = stock.generate(
            input_ids=source, attention_mask=torch.ones_like(source), num_beams=1, max_new_tokens=ROW_LENGTH
        ).tolist()
    said = [vocabulary("zh")[number] for number in written]
    assert said == [START, *translate(model, [words])[0], START]
