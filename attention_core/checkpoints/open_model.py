"""Opens the model of a local folder. transformers does not read the folder: it gets a config and weights that were
checked here.

transformers is imported when a model is opened; neither weights nor code are downloaded.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, get_ident
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.modules import module as torch_modules

from attention_core.checkpoints.folder_files import ModelFolder, find_folder
from attention_core.checkpoints.folder_tokenizer import read_tokenizer
from attention_core.checkpoints.free_memory import find_free_bytes
from attention_core.checkpoints.model_config import CONFIG_FILE, MODEL_BOUNDS, ModelBounds, ReadConfig, read_config
from attention_core.checkpoints.opened_model import OpenedModel
from attention_core.checkpoints.pieces import FastTokenizer
from attention_core.checkpoints.stored_weights import HALVES, StoredTensor, list_tensors, read_tensors
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.inputs.pasted.refusals import safe_excerpt
from attention_core.record.errors import AttentionError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

TIED = 2  # a tensor with two names counts twice until the model is complete
MAX_UNSTORED_BYTES = 100_000_000  # most bytes of tensors that only the model or only the files have, such as masks
MAX_REASON_CHARACTERS = 240
OPENING = Lock()  # opening is serialised, because transformers patches functions of torch meanwhile


@dataclass(frozen=True, eq=False)
class CheckedFolder:
    """A folder whose model may be loaded: all of it was checked except the numbers of its weights.

    folder: its files. read: its config. config, model_class: the same config, and the class, of transformers. stored:
    where its weights are. needed_bytes: the bytes of the model in memory.
    """

    folder: ModelFolder
    read: ReadConfig
    config: "PreTrainedConfig"
    model_class: type["PreTrainedModel"]
    stored: Mapping[str, StoredTensor]
    needed_bytes: int


def open_folder(
    path: str | os.PathLike, roots: Iterable[str | os.PathLike] | None = None, bounds: ModelBounds = MODEL_BOUNDS
) -> OpenedModel:
    """Open the model of a folder: config.json, and model.safetensors or an index of several such files.

    roots: the folders in which the folder and all its files must be; see find_folder. bounds: a larger model raises an
    error before its numbers are read.

    Raises AttentionError (a ValueError) that says what is wrong with the folder, and never an error of another library.
    """
    return load_checked(check_folder(path, roots, bounds))


def check_folder(
    path: str | os.PathLike,
    roots: Iterable[str | os.PathLike] | None = None,
    bounds: ModelBounds = MODEL_BOUNDS,
    freed_bytes: int = 0,
) -> CheckedFolder:
    """Check everything in a folder that can be checked before the numbers of its weights are read.

    roots, bounds: see open_folder. freed_bytes: the bytes of memory that the caller frees before it loads the model.

    Raises AttentionError: see open_folder.
    """
    folder = find_folder(path, roots)
    read = read_config(folder, bounds)
    stored = list_tensors(folder)
    held = sum(tensor.memory_bytes for tensor in stored.values())
    require_memory(held, bounds)
    config = make_config(read)
    model_class = find_class(config, read)
    with OPENING:
        needed = count_bytes(model_class, config, bounds)
    require_memory(needed, bounds)
    if needed > TIED * held + MAX_UNSTORED_BYTES:
        raise AttentionError("weights_few", expected=needed, given=held)
    if held > TIED * needed + MAX_UNSTORED_BYTES:
        raise AttentionError("weights_many", expected=needed, given=held)
    free = find_free_bytes()
    if free is not None and max(needed, held) > free + freed_bytes:
        given = max(needed, held) // 2**20
        raise AttentionError("model_no_room", limit=(free + freed_bytes) // 2**20, given=given)
    return CheckedFolder(folder, read, config, model_class, stored, needed)


def load_checked(checked: CheckedFolder) -> OpenedModel:
    """Load the weights and the tokenizer of a folder that check_folder has checked. Raises AttentionError: see
    open_folder.
    """
    with OPENING:
        model = load(checked.model_class, checked.config, read_tensors(checked.folder, checked.stored))
    tokenizer, no_tokenizer = find_tokenizer(checked.folder)
    parameters, buffers = list(model.parameters()), list(model.buffers())
    return OpenedModel(
        folder=checked.folder,
        model=model,
        parameters=sum(tensor.numel() for tensor in parameters),
        memory_bytes=sum(tensor.nbytes for tensor in (*parameters, *buffers)),
        ignored=(*checked.read.ignored, *list_other_class(model, checked.read), *list_widened(checked.stored)),
        tokenizer=tokenizer,
        no_tokenizer=no_tokenizer,
    )


def find_tokenizer(folder: ModelFolder) -> tuple[FastTokenizer | None, AttentionError | None]:
    """Return the tokenizer of a folder, or the error why it cannot be read; a model also opens without a tokenizer."""
    try:
        return read_tokenizer(folder), None
    except AttentionError as error:
        return None, error


def require_memory(given: int, bounds: ModelBounds) -> None:
    """Raise AttentionError (model_memory) if a number of bytes is above the limit."""
    if given > bounds.memory_bytes:
        raise AttentionError("model_memory", limit=bounds.memory_bytes, given=given)


def list_other_class(model: "PreTrainedModel", config: ReadConfig) -> list[AttentionError]:
    """Return a list with the remark that the opened class is not the class that the config names; [] if it is."""
    made = type(model).__name__
    if config.class_name in (made, None):
        return []
    return [AttentionError("class_ignored", given=printable_name(config.class_name), name=made)]


def list_widened(stored: Mapping[str, StoredTensor]) -> list[AttentionError]:
    """Return a list with the remark that half-precision weights were converted to float32; [] if there are none."""
    kinds = sorted({str(tensor.dtype).removeprefix("torch.") for tensor in stored.values() if tensor.dtype in HALVES})
    return [AttentionError("weights_widened", given=", ".join(kinds))] if kinds else []


@contextmanager
def as_refusal(code: str) -> Iterator[None]:
    """Context manager that turns an error of another library into an AttentionError, whose value {given} is that
    error's text."""
    try:
        yield
    except AttentionError:
        raise
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise AttentionError(code, given=safe_excerpt(said, MAX_REASON_CHARACTERS)) from None


# ---- config and class ------------------------------------------------------------------------------------------------
def make_config(read: ReadConfig) -> "PreTrainedConfig":
    """Return a config as a config object of transformers.

    Raises AttentionError: models_package, model_type_unknown, config_refused.
    """
    try:
        from transformers import CONFIG_MAPPING, __version__
    except ImportError:
        raise AttentionError("models_package", name="transformers") from None
    if read.model_type not in CONFIG_MAPPING:
        given = printable_name(read.model_type)
        raise AttentionError("model_type_unknown", version=__version__, name=CONFIG_FILE, given=given)
    with as_refusal("config_refused"):
        return CONFIG_MAPPING[read.model_type].from_dict(dict(read.values))


def find_class(config: "PreTrainedConfig", read: ReadConfig) -> type["PreTrainedModel"]:
    """Return the class of transformers that a config names, or else the base class without an output head.

    Raises AttentionError: model_class if the class is for another model type, or there is none.
    """
    import transformers

    name = read.class_name or ""
    with as_refusal("config_refused"):
        named = getattr(transformers, name, None) if name.isidentifier() else None
        is_model = isinstance(named, type) and issubclass(named, transformers.PreTrainedModel)
        if is_model and named.config_class is not None:
            found = named
        else:
            found = transformers.MODEL_MAPPING.get(type(config), None)
        found = found[0] if isinstance(found, tuple) else found
    if found is None or not isinstance(config, found.config_class):
        raise AttentionError("model_class", given=printable_name(name), kind=printable_name(read.model_type))
    return found


# ---- sizes -----------------------------------------------------------------------------------------------------------
def count_bytes(model_class: type["PreTrainedModel"], config: "PreTrainedConfig", bounds: ModelBounds) -> int:
    """Return the bytes of all parameters and buffers of a model, which is built on the meta device, without memory for
    its numbers.

    Raises AttentionError: config_refused; model_memory as soon as they exceed the limit.
    """
    with as_refusal("config_refused"), counted_registrations(bounds), torch.device("meta"):
        model = model_class._from_config(config, attn_implementation="eager")
    return sum(tensor.nbytes for tensor in (*model.parameters(), *model.buffers()))


@contextmanager
def counted_registrations(bounds: ModelBounds) -> Iterator[None]:
    """Context manager that raises AttentionError if this thread creates too many modules, or parameters of too many
    bytes.
    """
    thread, total, modules = get_ident(), 0, 0

    def count_tensor(_, __, tensor: Tensor | None) -> None:
        nonlocal total
        if get_ident() == thread and tensor is not None:
            total += tensor.nbytes
            if total > TIED * bounds.memory_bytes:
                raise AttentionError("model_memory", limit=bounds.memory_bytes, given=total)

    def count_module(*_) -> None:
        nonlocal modules
        if get_ident() == thread:
            modules += 1
            if modules > bounds.modules:
                raise AttentionError("too_many_modules", limit=bounds.modules)

    handles = [
        torch_modules.register_module_parameter_registration_hook(count_tensor),
        torch_modules.register_module_buffer_registration_hook(count_tensor),
        torch_modules.register_module_module_registration_hook(count_module),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


# ---- weights ---------------------------------------------------------------------------------------------------------
def load(
    model_class: type["PreTrainedModel"], config: "PreTrainedConfig", tensors: Mapping[str, Tensor]
) -> "PreTrainedModel":
    """Return a model with the given weights, which must be exactly the weights that its config requires.

    Weights that the class does not have may be those of a head, which another class for this config has.

    Raises AttentionError: weights_differ, config_refused, not_finite.
    """
    model, differing = fill(model_class, config, tensors)
    if list(differing) == ["unexpected"]:
        for other in list_classes_with_heads(config):
            other_model, still_differing = fill(other, config, tensors)
            if not still_differing:
                model, differing = other_model, {}
                break
    if differing:
        kinds = ("missing", "unexpected", "mismatched")
        first = next(iter(differing.values()))[0]
        counts = {kind: len(differing.get(kind, ())) for kind in kinds}
        raise AttentionError("weights_differ", **counts, name=printable_name(first))
    for name, buffer in model.named_buffers():
        refused = buffer.isnan() | (buffer == torch.inf)  # -inf is allowed, because the buffer may be a mask
        if refused.any():
            index = tuple(refused.nonzero()[0].tolist())
            raise AttentionError("not_finite", name=printable_name(name), value=buffer[index].item(), index=index)
    return model.eval()


def list_classes_with_heads(config: "PreTrainedConfig") -> list[type["PreTrainedModel"]]:
    """Return the classes for a config that predict words, each once; first the one with all output heads of
    pretraining.
    """
    import transformers

    mappings = (
        transformers.MODEL_FOR_PRETRAINING_MAPPING,
        transformers.MODEL_FOR_CAUSAL_LM_MAPPING,
        transformers.MODEL_FOR_MASKED_LM_MAPPING,
        transformers.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    )
    found = [mapping.get(type(config), None) for mapping in mappings]
    return list(dict.fromkeys(each for each in found if isinstance(each, type)))


def fill(
    model_class: type["PreTrainedModel"], config: "PreTrainedConfig", tensors: Mapping[str, Tensor]
) -> tuple["PreTrainedModel", dict[str, list[str]]]:
    """Return a model with the given weights, and {kind of difference: names of weights that are missing, superfluous or
    misshapen}.
    """
    with as_refusal("config_refused"):
        model, said = model_class.from_pretrained(
            None,
            config=config,
            state_dict=dict(tensors),
            dtype=torch.float32,
            attn_implementation="eager",
            ignore_mismatched_sizes=True,  # a difference is returned instead of raised
            output_loading_info=True,
        )
    differing = {
        "missing": [*said["missing_keys"], *(name for name, tensor in model.named_parameters() if tensor.is_meta)],
        "unexpected": [*said["unexpected_keys"], *map(str, said["error_msgs"])],
        "mismatched": [name for name, *_ in said["mismatched_keys"]],
    }
    return model, {kind: sorted(names) for kind, names in differing.items() if names}
