"""Parses the names of arrays as PyTorch, transformers, JAX, TransformerLens and plain scripts write them."""

import re

PARTS_PATTERN = re.compile(r"[./:|\\]+")
CAMEL_PATTERN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # between two words in camel case, such as before P in keyPadding
NUMBER_PATTERN = re.compile(r"\d+")
LAYER_PREFIX_PATTERN = re.compile(r"^(?:layer|block|l|h)_?\d+_")
HOOK_PREFIX = "hook_"  # how TransformerLens begins a name's last part, as in blocks.0.attn.hook_q


def last_name(name: str) -> str:
    """Return the last part of a dotted name, in lower case, with "_" between its words.

    >>> last_name("model.layers.3.self_attn.KeyStates"), last_name("blocks/0/attn/hook_q"), last_name("attn.0")
    ('key_states', 'hook_q', '0')
    """
    parts = [part for part in PARTS_PATTERN.split(name) if part]
    return re.sub(r"[\s-]+", "_", CAMEL_PATTERN.sub("_", parts[-1])).lower() if parts else ""


def plain_name(name: str) -> str:
    """Return the last part of an array's dotted name without the number of its layer and without the prefix of a
    library.

    >>> [plain_name(name) for name in ("blocks.0.attn.hook_q", "attentions.11", "layer_2_attn_mask", "q_0")]
    ['q', 'attentions', 'attn_mask', 'q']
    """
    parts = [part for part in PARTS_PATTERN.split(name) if part and not part.isdigit()]
    last = LAYER_PREFIX_PATTERN.sub("", last_name(parts[-1]) if parts else "")
    without_number = re.sub(r"_?\d+$", "", last.removeprefix(HOOK_PREFIX))
    return without_number or last


def name_stem(name: str) -> str:
    """Return a dotted name without its last part: "attention.0" for "attention.0.attn"."""
    return name.rpartition(".")[0]


def numbers_in(name: str) -> tuple[str, tuple[int, ...]]:
    """Return a name in which # replaces each number, and these numbers, such as the index of a layer.

    Names of one series of arrays differ only in these numbers.

    >>> numbers_in("layer_2.head_11.attn")
    ('layer_#.head_#.attn', (2, 11))
    """
    return NUMBER_PATTERN.sub("#", name), tuple(int(number[:9]) for number in NUMBER_PATTERN.findall(name))
