"""Folders with tiny random models, as transformers saves them, to be broken by the tests."""

import json
import struct
from pathlib import Path

import pytest
import torch
import transformers
from transformers import PreTrainedModel

from attention_core.record.errors import AttentionError

SIZES = {"vocab_size": 97, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
SPREAD = 4.0  # with the usual small weights all attention is even, and no fault shows


def make_llama(**own: object) -> PreTrainedModel:
    """A Llama of two layers whose logits have a table of their own, in eval mode."""
    given = SIZES | {"num_key_value_heads": 2, "max_position_embeddings": 32, "tie_word_embeddings": False} | own
    return make("LlamaForCausalLM", transformers.LlamaConfig(**given))


def make_bert(name: str) -> PreTrainedModel:
    """A BERT of two layers, of the class of this name, in eval mode."""
    return make(name, transformers.BertConfig(**SIZES, max_position_embeddings=32))


def make(name: str, config: transformers.PreTrainedConfig) -> PreTrainedModel:
    """The same random model each time, with matrices so wide that its attention is uneven."""
    torch.manual_seed(0)
    model = getattr(transformers, name)._from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() >= 2:
                parameter.mul_(SPREAD)
    return model.eval()


def save(model: PreTrainedModel, folder: Path, **options: object) -> Path:
    """The folder, in which the model was saved."""
    model.save_pretrained(folder, **options)
    return folder


def change_config(folder: Path, **values: object) -> None:
    """Give keys of config.json other values."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def change_index(folder: Path, **names: str) -> None:
    """Name other files for tensors in the index; a dot of a tensor's name is written as two underscores."""
    path = folder / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    index["weight_map"] |= {name.replace("__", "."): file for name, file in names.items()}
    path.write_text(json.dumps(index))


def write_safetensors(path: Path, header: object, data: bytes = b"") -> None:
    """Write a safetensors file with this header; bytes stand as they are, anything else as JSON."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def refusal(function, *given, **named) -> AttentionError:
    """The error with which a function refuses; it does not carry the error of another library."""
    with pytest.raises(AttentionError) as raised:
        function(*given, **named)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    return raised.value
