"""Stores, for all sessions, the pretrained model that was opened last, and the attention maps that it computed for
texts.

A single thread opens and runs the models in the order of the requests, so that memory never holds two models.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TypeVar

from attention_core.checkpoints.folder_files import find_folder
from attention_core.checkpoints.layer_maps import LayerMaps
from attention_core.checkpoints.layer_proof import ProofRow
from attention_core.checkpoints.model_run import record
from attention_core.checkpoints.next_pieces import Writing, write_on
from attention_core.checkpoints.open_model import as_refusal, check_folder, load_checked
from attention_core.checkpoints.opened_model import OpenedModel, count_run_bytes
from attention_core.checkpoints.recorded_maps import RecordedMaps, most_pieces
from attention_core.checkpoints.recording import Recording
from attention_core.checkpoints.stream_sum import LayerSum
from attention_core.checkpoints.text_inputs import TextInputs, make_inputs
from attention_core.checkpoints.whole_run import WholeRun
from attention_core.inputs.files.attention_maps import MapFile
from attention_core.record.bounded_cache import count_memory
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import StackWeights
from pages.runs.freed_memory import give_back
from pages.runs.model_task import TellStage

MAX_RUN_BYTES = 2 * 2**30  # most bytes of all results of a model's run on a text
MAX_SUM_BYTES = 2**30  # most bytes of memory used while the last vectors are computed as a sum
# copies of each part in memory meanwhile; number of parts per layer besides heads: MLP and biases
SUM_STEPS, PARTS_BESIDE_HEADS = 4, 3
FLOAT64_BYTES = 8
MAX_KEPT_BYTES = 256 * 2**20  # most bytes of all recorded texts together; the latest text is always kept
MAX_LAYER_BYTES = 512 * 2**20  # most bytes of a layer on the workbench, as one of 4,096 x 4,096 with 8 heads of keys
Result = TypeVar("Result")


@dataclass(frozen=True)
class WantedText:
    """A session's request that the model of a folder reads a text.

    further: the second sentence of a pair, or the text of the decoder. roots: the folders in which the model must lie;
    None for any. written: the numbers of the pieces that the model has generated after the text. off: the heads that
    are ablated inside the model, in the form of the argument of Recording.without. masked: the index of the token that
    is replaced by the mask; None for none.
    """

    folder: Path
    text: str
    further: str = ""
    roots: tuple[Path, ...] | None = None
    written: tuple[int, ...] = ()
    off: tuple[tuple[int, int], ...] = ()
    masked: int | None = None


@dataclass(frozen=True, eq=False)
class TextRecord:
    """An open model's results for a text: the pieces (subword tokens), the maps of all layers, and their proofs.

    found: for each layer, the matrices that compute q, k, v and the output, or why these were not found. whole: the
    record with all heads, if some heads are ablated in this one; else None. sums: the last vectors as a sum, if a
    session requested it.
    """

    opened: OpenedModel
    inputs: TextInputs
    maps: RecordedMaps
    proof: Sequence[ProofRow]
    found: Sequence[LayerMaps | AttentionError]
    whole: "RecordedText | None" = None
    sums: list[LayerSum] = field(default_factory=list)


@dataclass(eq=False)
class RecordedText:
    """A text that a model has read. Sessions keep this object; the store closes it when another model is opened or
    memory runs out.

    file: the maps of all layers, which remain after closing. record: everything that needs the model or much memory;
    None after closing: all other properties then raise AttentionError (text_closed).
    """

    wanted: WantedText
    name: str
    file: MapFile
    record: TextRecord | None

    @property
    def is_closed(self) -> bool:
        """Whether the store has closed this text."""
        return self.record is None

    @property
    def held(self) -> TextRecord:
        """The record of the text. Raises AttentionError (text_closed)."""
        record = self.record
        if record is None:
            raise AttentionError("text_closed", name=self.name)
        return record

    @property
    def opened(self) -> OpenedModel:
        """The model that has read the text. Raises AttentionError (text_closed)."""
        return self.held.opened

    @property
    def inputs(self) -> TextInputs:
        """The pieces (subword tokens) of the text. Raises AttentionError (text_closed)."""
        return self.held.inputs

    @property
    def maps(self) -> RecordedMaps:
        """The recording of the model's attention layers on the text. Raises AttentionError (text_closed)."""
        return self.held.maps

    @property
    def proof(self) -> Sequence[ProofRow]:
        """The proof of each recorded layer. Raises AttentionError (text_closed)."""
        return self.held.proof

    @property
    def found(self) -> Sequence[LayerMaps | AttentionError]:
        """For each layer, its matrices, or the reason why they were not found. Raises AttentionError (text_closed)."""
        return self.held.found

    @property
    def whole(self) -> "RecordedText | None":
        """The record of the text with all heads, if some are ablated in this one; else None. Raises AttentionError
        (text_closed).
        """
        return self.held.whole

    @property
    def kept_bytes(self) -> int:
        """The number of bytes of the recorded tensors, and of the steps that were computed from them."""
        recording, tensors = self.maps.recording, [self.maps.recording.logits]
        for call in recording.calls:
            tensors += [call.q, call.k, call.v, call.output, call.weights]
        for run in recording.runs.values():
            tensors += [step.stored for step in run.trace.steps.values()]
        for found in self.found:
            if isinstance(found, LayerMaps):
                tensors += [tensor for part in found.projections for tensor in (part.source.given, part.source.made)]
        tensors += [each.vectors for each in self.held.sums]
        return count_memory(tensors)


def require_room(opened: OpenedModel, inputs: TextInputs) -> None:
    """Raises AttentionError, before the model runs, if the maps of a text would be too large (text_too_wide), or all
    results of the run together (run_too_large).
    """
    limit, given = most_pieces(opened.model.config), max(len(inputs.shown), len(inputs.further_shown))
    if given > limit:
        raise AttentionError("text_too_wide", limit=limit, given=given)
    count = len(inputs.shown) + len(inputs.further_shown)
    needed = count_run_bytes(opened.model, count)
    if needed > MAX_RUN_BYTES:
        raise AttentionError("run_too_large", limit=MAX_RUN_BYTES // 2**20, given=needed // 2**20, count=count)


def find_proven(text: RecordedText, known: StackWeights | None, tell_found: Callable[[], None]) -> WholeRun:
    """Returns the whole model of a recorded text, with a proof of all its parts.

    known: weights of the same model that are in memory already and that the result shares. tell_found: called when all
    parts are found and their proof begins. Raises AttentionError: which part attention_core cannot compute, or
    part_apart if a part's output is not the input of the next part.
    """
    with as_refusal("model_run"):
        whole = text.maps.recording.whole()
    tell_found()
    with as_refusal("model_run"):
        if known is not None:
            whole = whole.sharing(known)
        for row in whole.proof():
            if row.fault is not None:
                raise row.fault
        return whole


def sum_vectors(text: RecordedText) -> LayerSum:
    """Returns the last vectors of a recorded text as a sum over the model's parts; later calls return the same object.

    Raises AttentionError: the reason why the vectors are not such a sum; sum_too_large, before computing, if the sum
    would take too much memory.
    """
    sums = text.held.sums
    if not sums:
        require_sum_size(text.maps.recording)
        with as_refusal("model_run"):
            sums.append(text.maps.recording.residual_sum().by_layer())
    return sums[0]


def require_sum_size(recording: Recording) -> None:
    """Raises AttentionError (sum_too_large) if splitting the last vectors into a sum over all heads would take more
    than MAX_SUM_BYTES.
    """
    parts = sum(call.sizes[1] + PARTS_BESIDE_HEADS for call in recording.calls)
    output = recording.calls[-1].output
    given = SUM_STEPS * FLOAT64_BYTES * parts * output.numel()
    if given > MAX_SUM_BYTES:
        raise AttentionError("sum_too_large", limit=MAX_SUM_BYTES // 2**20, given=given // 2**20)


class CheckpointStore:
    """Stores one open model and the records of the latest texts; closes all other models and texts, even if a page
    shows them.
    """

    def __init__(self):
        self.worker = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")
        self.opened: OpenedModel | None = None
        self.texts: OrderedDict[WantedText, RecordedText] = OrderedDict()
        self.lock = Lock()  # lock, held while self.texts or self.waiting is read or changed
        self.waiting = 0  # number of requests that are not finished

    def begin(self, wanted: WantedText, tell: TellStage, how: Writing | None = None) -> Future[RecordedText]:
        """Requests the record of a text, and returns the request's future.

        The worker thread calls `tell` as each stage begins. how: the settings with which the model first continues the
        text; None for no continuation.
        """
        return self.submit(self.read, wanted, tell, how)

    def submit(self, function: Callable[..., Result], *given: object) -> Future[Result]:
        """Queues a call for the worker thread, counts the call as waiting until it is finished, and returns the call's
        future.
        """
        with self.lock:
            self.waiting += 1
        future = self.worker.submit(function, *given)
        future.add_done_callback(lambda _: self.count_down())
        return future

    def count_down(self) -> None:
        """Reduces the number of waiting requests by one."""
        with self.lock:
            self.waiting -= 1

    def read(self, wanted: WantedText, tell: TellStage, how: Writing | None = None) -> RecordedText:
        """Returns the record of a text, after opening the model if another one is open.

        Raises AttentionError (a ValueError) if the folder or the text is refused, or if the folder's files have changed
        since it was opened.
        """
        tell("opens")
        opened = self.open(wanted)
        if how is not None:
            tell("writes")
            with as_refusal("model_run"):
                how = replace(how, off=wanted.off)
                written = write_on(opened, wanted.text, wanted.further, wanted.written, how)
            wanted = replace(wanted, written=written)
        return self.record_text(opened, wanted, tell)

    def record_text(self, opened: OpenedModel, wanted: WantedText, tell: TellStage) -> RecordedText:
        """Lets the model read a text, and returns the record; if heads are ablated, the model first reads the text with
        all heads. Raises AttentionError.
        """
        with self.lock:
            kept = self.texts.get(wanted)
        if kept is not None and not kept.is_closed and kept.opened is opened:
            return kept
        whole = self.record_text(opened, replace(wanted, off=()), tell) if wanted.off else None
        tell("reads")
        with as_refusal("model_run"):
            if whole is None:
                inputs = make_inputs(opened, wanted.text, wanted.further, wanted.written, wanted.masked)
                require_room(opened, inputs)
                recording = record(opened.model, **inputs.tensors)
            else:
                inputs, recording = whole.inputs, whole.maps.recording.without(wanted.off)
            recording = recording.with_small_layers(MAX_LAYER_BYTES)
        tell("finds")
        with as_refusal("model_run"):
            found = recording.maps
        tell("proves")
        maps = RecordedMaps(recording, inputs.shown, inputs.further_shown)
        held = TextRecord(opened, inputs, maps, recording.proof(), found, whole)
        text = RecordedText(wanted, opened.name, maps.file, held)
        self.keep(text)
        return text

    def require_open(self, wanted: WantedText, name: str) -> None:
        """Raises AttentionError (text_closed) unless the model of this folder is the open one. name: the name of the
        model.
        """
        folder = find_folder(wanted.folder, wanted.roots)
        if self.opened is None or self.opened.folder.path != folder.path:
            raise AttentionError("text_closed", name=name)

    def find_sum(self, text: RecordedText) -> Future[LayerSum]:
        """Requests the result of sum_vectors (the last vectors of a recorded text as a sum), and returns the request's
        future.
        """
        return self.submit(sum_vectors, text)

    def open(self, wanted: WantedText) -> OpenedModel:
        """Returns the model of a folder; closes the one that was open before, unless the folder is refused.

        What only loading its weights shows, such as a number that is not finite, is found after the other is closed.
        """
        # raises AttentionError if this session may not open the folder
        folder = find_folder(wanted.folder, wanted.roots)
        opened, self.opened = self.opened, None
        if opened is not None and opened.folder.path == folder.path:
            opened.folder.require_unchanged()
            self.opened = opened
            return opened
        self.opened = opened
        checked = check_folder(wanted.folder, wanted.roots, freed_bytes=0 if opened is None else opened.memory_bytes)
        self.opened = None
        del opened
        with self.lock:
            # closes all texts, because sessions keep them, and each record refers to its model
            for text in self.texts.values():
                text.record = None
            self.texts.clear()
        give_back()
        self.opened = load_checked(checked)
        return self.opened

    def count_bytes(self) -> int:
        """Returns the number of bytes of all recorded texts that are open."""
        with self.lock:
            return sum(text.kept_bytes for text in self.texts.values() if not text.is_closed)

    def keep(self, text: RecordedText) -> None:
        """Stores the record of a text, and closes the oldest ones beyond MAX_KEPT_BYTES."""
        with self.lock:
            self.texts[text.wanted] = text
            sizes = {wanted: kept.kept_bytes for wanted, kept in self.texts.items()}
            # records with all heads, which texts with ablated heads refer to
            needed = {id(kept.whole) for kept in self.texts.values()}
            for wanted in list(self.texts)[:-1]:
                if sum(sizes.values()) <= MAX_KEPT_BYTES:
                    break
                if id(self.texts[wanted]) not in needed:
                    self.texts.pop(wanted).record = None
                    del sizes[wanted]


STORE = CheckpointStore()
