"""Saves a language model of the package as a folder of a standard architecture, Llama or EuroBERT, which open_folder
opens.

A decoder is saved as Llama, an encoder as EuroBERT. These have the same parts, so that the logits are equal up to
rounding, and each implementation checks the other.
"""

import json
import os
import re
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from attention_core.checkpoints.folder_tokenizer import TOKENIZER_FILE
from attention_core.checkpoints.model_config import CONFIG_FILE
from attention_core.checkpoints.stored_weights import WEIGHTS_FILE
from attention_core.learned.grammar import vocabulary
from attention_core.learned.grammar.cut_words import CHINESE_PUNCTUATION, CHINESE_TOKEN, ENGLISH_TOKEN
from attention_core.learned.grammar.vocabulary import known_words
from attention_core.learned.language.batches import MASK, ROW_LENGTH, START, word_numbers
from attention_core.learned.language.model import ROPE, LanguageLayer, LanguageModel
from attention_core.learned.language.reading import UNKNOWN
from attention_core.mechanism.norms import EPS
from attention_core.record.errors import AttentionError

CAUSAL_FORM = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
OPEN_FORM = {"model_type": "eurobert", "architectures": ["EuroBertForMaskedLM"]}


def save_folder(model: LanguageModel, language: str, path: str | os.PathLike) -> Path:
    """Write a language model of this package into a folder that open_folder can open; the folder is created if
    necessary.

    The weights are written in float32, which represents those of the package's models exactly. The matrices that read
    answers to questions are not written, because these architectures lack them.

    language: "en" or "zh". Returns the folder. Raises AttentionError: values_of_words for a model whose last layer
    projects its values from the word embeddings, which these architectures do not; unknown_choice.

    >>> from tempfile import TemporaryDirectory
    >>> from attention_core.learned.language.shipped import load_model
    >>> with TemporaryDirectory() as path:
    ...     folder = save_folder(load_model("en_foretold_encoder"), "en", Path(path) / "encoder")
    ...     sorted(file.name for file in folder.iterdir())
    ['config.json', 'model.safetensors', 'tokenizer.json']
    """
    files = stock_files(model, language)
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def stock_files(model: LanguageModel, language: str) -> dict[str, bytes]:
    """Return {file name: content} of the files that save_folder writes; arguments and errors are those of
    save_folder."""
    if not has_stock_form(model):
        raise AttentionError("values_of_words")
    numbers = {name: tensor.detach().float().contiguous() for name, tensor in stock_numbers(model).items()}
    return {
        CONFIG_FILE: to_json(stock_config(model)),
        WEIGHTS_FILE: save(numbers, metadata={"format": "pt"}),
        TOKENIZER_FILE: to_json(stock_tokenizer(language)),
    }


def has_stock_form(model: LanguageModel) -> bool:
    """Return whether each layer computes its values from its own input, as the standard architectures Llama and
    EuroBERT do."""
    return not any(layer.values_of_words for layer in model.shape.stack().layers)


def to_json(value: dict) -> bytes:
    """Return a value as JSON text, as it is written to a file."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


# ---- the model -------------------------------------------------------------------------------------------------------
def stock_config(model: LanguageModel) -> dict[str, object]:
    """Return the config of the Llama or EuroBERT model that has the same parts as a language model of this package."""
    shape = model.shape
    form = CAUSAL_FORM if shape.causal else OPEN_FORM | {"mask_token_id": word_numbers("en")[MASK]}  # same in "zh"
    return form | {
        "vocab_size": shape.words,
        "hidden_size": shape.width,
        "intermediate_size": shape.inner,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.heads,
        "max_position_embeddings": ROW_LENGTH,
        "rms_norm_eps": EPS.usual,
        "rope_parameters": {"rope_type": "default", "rope_theta": ROPE[1]["base"]},
        "tie_word_embeddings": True,
        "pad_token_id": None,
        "bos_token_id": None,
        "eos_token_id": None,
    }


def stock_numbers(model: LanguageModel) -> dict[str, Tensor]:
    """Return the parameters of a language model by Llama's names, which EuroBERT also uses.

    The word embeddings are also the unembedding table, as the config states (tie_word_embeddings).
    """
    numbers = {"model.embed_tokens.weight": model.words, "model.norm.weight": model.g_last}
    for place, layer in enumerate(model.layers):
        numbers |= {f"model.layers.{place}.{name}.weight": tensor for name, tensor in layer_numbers(layer).items()}
    return numbers


def layer_numbers(layer: LanguageLayer) -> dict[str, Tensor]:
    """Return the parameters of one layer by Llama's names, with transposed matrices, because Llama computes x @ Wᵀ."""
    return {
        "input_layernorm": layer.g_attention,
        "self_attn.q_proj": layer.w_q.T,
        "self_attn.k_proj": layer.w_k.T,
        "self_attn.v_proj": layer.w_v.T,
        "self_attn.o_proj": layer.w_o.T,
        "post_attention_layernorm": layer.g_feed_forward,
        "mlp.up_proj": layer.w_1.T,
        "mlp.gate_proj": layer.w_gate.T,
        "mlp.down_proj": layer.w_2.T,
    }


# ---- its words -------------------------------------------------------------------------------------------------------
def stock_tokenizer(language: str) -> dict[str, object]:
    """Return tokenizer.json, in which each word is a token, START precedes a text, and other words are <unknown>.

    A text is split as by cut_words, except that contractions such as "didn't" must be written out, and that Chinese is
    split from the left into the longest words of the vocabulary. Raises AttentionError: unknown_choice.
    """
    words = vocabulary(language)
    numbers = {word: number for number, word in enumerate(words)}
    own = known_words(language)
    changes = [{"type": "Lowercase"}]
    pattern = ENGLISH_TOKEN.pattern
    if language == "zh":
        longest_first = sorted(own, key=lambda word: (-len(word), word))
        pattern = "|".join([*map(re.escape, longest_first), CHINESE_TOKEN.pattern])
        for sign, chinese in CHINESE_PUNCTUATION.items():
            changes.append({"type": "Replace", "pattern": {"String": chr(sign)}, "content": chr(chinese)})
    start = {"SpecialToken": {"id": START, "type_id": 0}}
    first, second = ({"Sequence": {"id": which, "type_id": 0}} for which in "AB")
    return {
        "version": "1.0",
        "added_tokens": [added_token(word, numbers[word]) for word in words if word not in own],
        "normalizer": {"type": "Sequence", "normalizers": changes},
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [start, first],
            "pair": [start, first, second],
            "special_tokens": {START: {"id": START, "ids": [numbers[START]], "tokens": [START]}},
        },
        "model": {"type": "WordLevel", "vocab": numbers, "unk_token": UNKNOWN},
    }


def added_token(word: str, number: int) -> dict[str, object]:
    """Return the entry of a word in angle brackets, such as <mask> or <animal>, which the tokenizer must not split."""
    sides = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": word, "special": True} | sides
