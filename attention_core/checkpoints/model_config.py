"""Reads config.json of a model's folder, without keys that could run code, and with a limit for each number."""

import re
from dataclasses import dataclass

from attention_core.checkpoints.folder_files import ModelFolder
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.record.errors import AttentionError

CONFIG_FILE = "config.json"
MAX_CONFIG_BYTES = 2_000_000  # largest size of config.json; most of it is names of classes (id2label)
MAX_CONFIG_DEPTH = 12
MAX_NUMBER = 20_000_000  # largest number in a config; the longest known context has 10,485,760 tokens
MAX_COUNT = 30_000  # largest count of things that a model creates one by one, such as layers, experts or labels
COUNT_KEY = re.compile("layer|block|depth|expert|label|head|stage|level|group")
SIZE_KEY, VOCABULARY_KEY, UNBOUNDED_KEY = "size", "vocab_size", "theta"
QUANTISED_KEYS = ("quantization_config", "compression_config")
CODE_KEYS = ("auto_map", "custom_pipelines", "custom_generate")
CHOICE_KEYS = (  # ignored keys: they choose an implementation, which might be downloaded
    "_attn_implementation",
    "attn_implementation",
    "_experts_implementation",
    "experts_implementation",
    "kernel_config",
    "use_kernels",
    "fusion_config",
    "distributed_config",
)
OUR_KEYS = (  # ignored keys, which this package sets itself: files, precision, results of a run
    "transformers_weights",
    "name_or_path",
    "dtype",
    "torch_dtype",
    "torchscript",
    "return_dict",
    "output_attentions",
    "output_hidden_states",
)


@dataclass(frozen=True)
class ModelBounds:
    """The limits of a model that may be opened.

    memory_bytes: the bytes of its parameters and buffers in float32, and of its files. vocabulary: the number of
    tokens. modules: the number of torch modules; a layer has about a dozen.
    """

    memory_bytes: int = 6_000_000_000
    vocabulary: int = 300_000
    modules: int = 30_000


MODEL_BOUNDS = ModelBounds()


@dataclass(frozen=True)
class ReadConfig:
    """A config that was read: its values, the model type, the class that it names, and the ignored keys with the
    reasons.
    """

    values: dict
    model_type: str
    class_name: str | None
    ignored: tuple[AttentionError, ...]


def read_config(folder: ModelFolder, bounds: ModelBounds = MODEL_BOUNDS) -> ReadConfig:
    """Return the config of a folder.

    Raises AttentionError: model_quantised, model_type_missing, at_most, file_nested_deep, and those of
    ModelFolder.read_object.
    """
    given = folder.read_object(CONFIG_FILE, MAX_CONFIG_BYTES)
    left_out: set[str] = set()
    values = clean(given, bounds, left_out, MAX_CONFIG_DEPTH)
    model_type = values.pop("model_type", None)
    if not isinstance(model_type, str):
        raise AttentionError("model_type_missing", name=CONFIG_FILE)
    named = values.get("architectures")
    first = named[0] if isinstance(named, list) and named else None
    ignored = []
    if left_out & set(CODE_KEYS):
        ignored.append(AttentionError("code_ignored", name=CONFIG_FILE))
    if left_out & set(CHOICE_KEYS):
        ignored.append(AttentionError("implementation_ignored", name=CONFIG_FILE))
    return ReadConfig(values, model_type, first if isinstance(first, str) else None, tuple(ignored))


def clean(given: dict, bounds: ModelBounds, left_out: set[str], depth: int) -> dict:
    """Return an object of a config without ignored keys, which are added to left_out."""
    if depth == 0:
        raise AttentionError("file_nested_deep", name=CONFIG_FILE, limit=MAX_CONFIG_DEPTH)
    kept = {}
    for key, value in given.items():
        if key in QUANTISED_KEYS and value is not None:
            raise AttentionError("model_quantised", name=key)
        if key in (*QUANTISED_KEYS, *CODE_KEYS, *CHOICE_KEYS, *OUR_KEYS) or key.startswith("_"):
            if value is not None:
                left_out.add(key)
            continue
        kept[key] = clean_value(key, value, bounds, left_out, depth - 1)
    return kept


def clean_value(key: str, value: object, bounds: ModelBounds, left_out: set[str], depth: int) -> object:
    """Return a config value without ignored keys at any depth. Raises AttentionError (at_most) for a number that is too
    large.
    """
    match value:
        case dict():
            return clean(value, bounds, left_out, depth)
        case list():
            if depth == 0:
                raise AttentionError("file_nested_deep", name=CONFIG_FILE, limit=MAX_CONFIG_DEPTH)
            return [clean_value(key, item, bounds, left_out, depth - 1) for item in value]
        case int() if UNBOUNDED_KEY not in key:
            limit = find_limit(key, bounds)
            if abs(value) > limit:
                raise AttentionError("at_most", name=printable_name(key), limit=limit, given=printable_name(str(value)))
    return value


def find_limit(key: str, bounds: ModelBounds) -> int:
    """Return the largest whole number that is allowed for a key of the config."""
    if VOCABULARY_KEY in key:
        return bounds.vocabulary
    is_count = SIZE_KEY not in key and COUNT_KEY.search(key) is not None
    return MAX_COUNT if is_count else MAX_NUMBER
