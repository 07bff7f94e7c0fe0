"""Runs a model and records every attention layer, through the interface of transformers or by watching torch's
operations.

>>> model = torch.nn.TransformerEncoderLayer(4, 2, batch_first=True).eval()
>>> recording = record(model, torch.eye(4)[None])
>>> len(recording.traces), recording.passed
(1, True)
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.config_rope import list_rope_choices
from attention_core.checkpoints.core_run import run_from_x
from attention_core.checkpoints.head_norms import NormCall, kept_norm_calls
from attention_core.checkpoints.interface import CallList, Heads, recorded_calls, switched_off
from attention_core.checkpoints.layer_maps import LayerMaps, find_layer_maps
from attention_core.checkpoints.linear_maps import LinearMap, list_linear_maps
from attention_core.checkpoints.named_biases import BucketTable, find_bucket_tables
from attention_core.checkpoints.projection import list_maps
from attention_core.checkpoints.recording import FoundMaps, Recording
from attention_core.checkpoints.stream_sum import StreamSum, find_stream_sum
from attention_core.checkpoints.watched_run import watch
from attention_core.checkpoints.watched_scores import read_watched
from attention_core.checkpoints.watched_stream import Stream
from attention_core.checkpoints.whole_model import WholeModel, find_whole_model
from attention_core.record.errors import AttentionError

# {model: sets of input names for which recording through transformers' interface found all attention layers}
USE_INTERFACE: WeakKeyDictionary[torch.nn.Module, set[frozenset[str]]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Census:
    """The attention layers of a model's run by name, those of them found only by watching, and what was not recorded.

    missing: the reasons why other softmaxes or layers are not recorded.
    """

    layers: tuple[str, ...]
    watched: tuple[str, ...]
    missing: tuple[AttentionError, ...]


def record(model: torch.nn.Module, *given, **inputs) -> Recording:
    """Run a model without gradients, and record every attention layer with its q, k, v, weights and output.

    Models of transformers run with their eager attention, which computes the weights, and return the same numbers as
    without recording, bit by bit. Of any other torch model, each operation is watched. The first run of each model is
    watched, too, to find out whether transformers' interface shows all its layers; it takes up to a third longer.

    model: a model in eval mode. given, inputs: the arguments of the model.

    Raises AttentionError (a ValueError) if the model is no module of torch, is in training mode, or computes no
    attention; the error then lists the reasons. Errors of the model are not caught.

    >>> attention = torch.nn.MultiheadAttention(4, 2, batch_first=True).eval()
    >>> [row] = record(attention, *[torch.eye(4)[None]] * 3).proof()
    >>> row.passed, row.apart <= row.bound
    (True, True)
    """
    require_eval(model)
    kind = frozenset(inputs)

    random_state = torch.get_rng_state()

    def run() -> object:
        return model(*given, **inputs)

    def run_again() -> object:
        if draws_numbers:
            raise AttentionError("model_draws_numbers")
        return run()

    if kind in USE_INTERFACE.get(model, ()):
        with torch.no_grad(), recorded_calls() as pairs:
            outputs = run()
        calls, missing = name_calls(model, pairs), ()
    else:
        calls, missing, outputs = run_watched(model, run, count_texts((*given, *inputs.values())))
        if calls and not missing and all(call.way == "interface" for call in calls):
            USE_INTERFACE.setdefault(model, set()).add(kind)
    draws_numbers = not torch.equal(torch.get_rng_state(), random_state)
    return make_recording(model, calls, outputs, missing, run_again)


def census(model: torch.nn.Module, *given, **inputs) -> Census:
    """Return the attention layers of a model's run, found by watching every operation; arguments and errors are those
    of record.

    >>> layer = torch.nn.TransformerEncoderLayer(4, 2, batch_first=True).eval()
    >>> census(layer, torch.eye(4)[None]).layers
    ('self_attn',)
    """
    require_eval(model)
    texts = count_texts((*given, *inputs.values()))
    calls, missing, _ = run_watched(model, lambda: model(*given, **inputs), texts)
    recording = make_recording(model, calls, None, missing)
    watched = tuple(call.name for call in calls if call.way == "watched")
    return Census(recording.layers, watched, recording.missing)


def require_eval(model: torch.nn.Module) -> None:
    """Raise AttentionError if a model is no torch module, or is in training mode, in which dropout changes its
    numbers.
    """
    if not isinstance(model, torch.nn.Module):
        raise AttentionError("model_no_module", given=type(model).__name__)
    if model.training:
        raise AttentionError("model_trains")


def run_watched(
    model: torch.nn.Module, run: Callable[[], object], texts: int
) -> tuple[list[AttentionCall], list[AttentionError], object]:
    """Run a model and record every operation; return the attention calls, the reasons why other softmaxes are no
    attention, the outputs.

    texts: the number of texts of the run.
    """
    with torch.no_grad(), recorded_calls() as pairs:
        watched, outputs = watch(model, run)
    found, reasons = read_watched(watched, texts)
    calls = join_calls(name_calls(model, pairs), found)
    names = {call.name for call in calls}
    return calls, [reason for reason in reasons if reason.values["layer"] not in names], outputs


def join_calls(shown: Sequence[AttentionCall], found: Sequence[AttentionCall]) -> list[AttentionCall]:
    """Return the calls recorded through the interface, with the calls that only watching found inserted in the order of
    the run.
    """
    rest = list(shown)
    names = {call.name for call in shown}
    calls = []
    for call in found:
        if call.name not in names:
            calls.append(call)
        elif rest:
            calls.append(rest.pop(0))
    return [*calls, *rest]


def name_calls(model: torch.nn.Module, pairs: CallList) -> list[AttentionCall]:
    """Return the calls with the names of their modules; a call of an unnamed module gets the name of the model's
    class.
    """
    names = {module: name for name, module in model.named_modules()}
    return [replace(call, name=names.get(module) or type(model).__name__) for module, call in pairs]


def make_recording(
    model: torch.nn.Module,
    calls: Sequence[AttentionCall],
    outputs: object,
    missing: Iterable[AttentionError] = (),
    run: Callable[[], object] | None = None,
) -> Recording:
    """Return the Recording of a run. Raises AttentionError, with the reasons, if the run has no attention.

    run: a function that runs the model again.
    """
    reasons = list({str(error): error for error in missing}.values())  # each once
    if not calls:
        reasons = reasons or [AttentionError("no_softmax_found")]
        raise AttentionError("no_attention_recorded", reasons="; ".join(map(str, reasons)))
    reasons += [AttentionError("layer_without_softmax", layer=name) for name in find_other_layers(model, calls)]
    tables = find_bucket_tables(model)
    if run is None:
        return Recording(tuple(calls), outputs, tuple(reasons), tables)
    find_maps, find_model = partial(find_all_maps, model, run), partial(find_whole, model, run)
    find_sum, without = partial(find_last_sum, model, run), partial(record_without, model, run)
    return Recording(tuple(calls), outputs, tuple(reasons), tables, find_maps, find_model, find_sum, without)


def record_without(model: torch.nn.Module, run: Callable[[], object], heads: Heads) -> Recording:
    """Run a model again with some heads ablated, and record the run; see Recording.without."""

    def run_switched() -> object:
        with switched_off(heads):
            return run()

    with torch.no_grad(), recorded_calls() as pairs:
        outputs = run_switched()
    return make_recording(model, name_calls(model, pairs), outputs, run=run_switched)


def find_all_maps(
    model: torch.nn.Module,
    run: Callable[[], object],
    calls: Sequence[AttentionCall],
    most_bytes: int | None = None,
) -> list[LayerMaps | AttentionError]:
    """Run a model again and record its operations; return the LayerMaps of each recorded layer, or the error why there
    are none.

    most_bytes: see find_layer_maps.
    """
    with torch.no_grad(), recorded_calls(), kept_norm_calls(model) as norms:
        watched, _ = watch(model, run)
    return list_layer_maps(model, calls, list_maps(watched), norms, most_bytes)


def find_whole(
    model: torch.nn.Module,
    run: Callable[[], object],
    calls: Sequence[AttentionCall],
    tables: Sequence[BucketTable],
    found_maps: FoundMaps,
) -> WholeModel:
    """Run a model again and record its operations; return the model as a stack of the core.

    found_maps: the result of find_all_maps, whose comparisons are not repeated. Raises AttentionError: see
    find_whole_model.
    """
    with torch.no_grad(), recorded_calls(), kept_norm_calls(model) as norms, kept_vectors(model) as vectors:
        watched, outputs = watch(model, run)
    maps = list_maps(watched)
    layers = []
    for call, found in zip(calls, found_maps, strict=True):
        if isinstance(found, AttentionError):
            layers.append((call.name, found, None))
        else:
            layers.append((call.name, found.in_run(maps), run_from_x(call, found, tables)))
    stream = Stream(watched, maps, norms)
    logits = getattr(outputs, "logits", outputs if isinstance(outputs, Tensor) else None)  # or vectors, without a head
    return find_whole_model(stream, layers, logits, vectors[-1] if vectors else None)


def find_last_sum(model: torch.nn.Module, run: Callable[[], object], calls: Sequence[AttentionCall]) -> StreamSum:
    """Run a model again and record its operations; return its last vectors as a sum. Raises AttentionError as
    find_stream_sum does.
    """
    with torch.no_grad(), recorded_calls(), kept_norm_calls(model) as norms, kept_vectors(model) as vectors:
        watched, outputs = watch(model, run)
    maps = list_linear_maps(watched)
    stream = Stream(watched, maps, norms)
    logits = getattr(outputs, "logits", None)
    words = None if logits is None else stream.map_at(stream.point(logits))
    if vectors:
        return find_stream_sum(stream, calls, maps, vectors[-1], vectors[-1].shape, words)
    if words is None:
        raise AttentionError("stack_no_end")
    shape = (*logits.shape[:-1], words.given.shape[-1])
    return find_stream_sum(stream, calls, maps, words.given, shape, words)


@contextmanager
def kept_vectors(model: torch.nn.Module) -> Iterator[list[Tensor]]:
    """Context manager that records the vectors after the last layer of a `transformers` model, or the result of any
    other model."""
    kept: list[Tensor] = []

    def keep(_, __, made: object) -> None:
        vectors = getattr(made, "last_hidden_state", made)
        if isinstance(vectors, Tensor):
            kept.append(vectors)

    hook = getattr(model, "base_model", model).register_forward_hook(keep)
    try:
        yield kept
    finally:
        hook.remove()


def list_layer_maps(
    model: torch.nn.Module,
    calls: Sequence[AttentionCall],
    maps: Sequence[LinearMap],
    norms: Sequence[NormCall],
    most_bytes: int | None = None,
) -> list[LayerMaps | AttentionError]:
    """Return the LayerMaps of each recorded layer, or the error that says why these were not found."""
    found: list[LayerMaps | AttentionError] = []
    list_choices = cache(partial(list_rope_choices, model))  # most layers of a model have the same
    for call in calls:
        try:
            rope_choices = partial(list_choices, places=call.sizes[-1])
            found.append(find_layer_maps(call, maps, norms, rope_choices, most_bytes))
        except AttentionError as error:
            found.append(error)
    return found


def find_other_layers(model: torch.nn.Module, calls: Sequence[AttentionCall]) -> list[str]:
    """Return the names of layers without a recorded attention call, if other layers of the same ModuleList have one.

    The layers of a model are the members of a ModuleList that is not inside another one.
    """
    lists = [name for name, module in model.named_modules() if isinstance(module, torch.nn.ModuleList)]
    others = []
    for name in lists:
        if any(name.startswith(f"{outer}.") for outer in lists):
            continue
        layers = [f"{name}.{number}" for number in range(len(model.get_submodule(name)))]
        with_calls = [layer for layer in layers if any(f"{call.name}.".startswith(f"{layer}.") for call in calls)]
        if with_calls:
            others += [layer for layer in layers if layer not in with_calls]
    return others


def count_texts(values: Iterable[object]) -> int:
    """Return the number of texts in a model's inputs: the length of the first tensor's first axis; 1 if there is no
    tensor."""
    return next((value.shape[0] for value in values if isinstance(value, Tensor) and value.dim()), 1)
