"""Makes the Setup with which the workbench shows a layer of a recorded text, and lets its model read other texts."""

from concurrent.futures import Future
from dataclasses import replace

from attention_core.checkpoints.core_run import CoreRun
from attention_core.checkpoints.output_changes import fills_masks, list_labels
from attention_core.checkpoints.recorded_model import RecordedModel
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import StackWeights
from pages.runs.cache import check_computable
from pages.runs.checkpoint_store import STORE, RecordedText, WantedText, find_proven
from pages.runs.digest_store import DigestStore
from pages.runs.layer_store import LAYERS, KeptLayer, TextSource, read_layer
from pages.runs.model_store import MODELS, KeptModel, require_whole_size
from pages.runs.model_task import TellStage
from pages.runs.recorded_layer import find_kept, find_settings, layer_fields
from pages.setup.setup import RunSetup, Setup, make_setup

# fields with numbers for single words, which another text does not have
OF_WORDS = ("x", "context", "allowed", "scores", "weights")


# ---- a layer of a recorded text --------------------------------------------------------------------------------------
def begin_setup(text: RecordedText, number: int, head: int, tell: TellStage) -> Future[Setup]:
    """Requests the Setup that shows a layer of a recorded text, and returns the request's future; see
    make_recorded_setup.
    """
    return STORE.submit(make_recorded_setup, text, number, head, tell)


def make_recorded_setup(text: RecordedText, number: int, head: int, tell: TellStage) -> Setup:
    """Stores the whole model of a recorded text, or else one layer alone; returns the Setup that shows the layer.

    number: the index of the layer in the recording. head: the index of the selected head. Raises AttentionError if the
    workbench cannot show the layer.
    """
    full = text.whole or text
    try:
        whole = keep_model(full, number, tell)
        settings = layer_fields(MODELS.find(whole).config(number + 1))
        return check_kept(make_setup(recorded=whole, layer=number + 1, head=head, **settings), MODELS)
    except AttentionError as error:
        alone = error
    run = text.maps.recording.from_x(number)
    digest = LAYERS.keep(make_layer(text, number, run, alone))
    return check_kept(make_layer_setup(digest, run, head), LAYERS)


def keep_model(text: RecordedText, number: int, tell: TellStage) -> str:
    """Stores the whole model of a recorded text; returns its digest.

    Raises AttentionError: which part attention_core cannot compute, or that the model is too large.
    """
    require_whole_size(text.opened.parameters)
    tell("whole")
    whole = find_proven(text, find_known(text), lambda: tell("checks"))
    tokenizer = text.opened.tokenizer
    show = str if tokenizer is None else tokenizer.show
    logits, ids = text.maps.recording.logits, text.inputs.pieces.ids
    labels = list_labels(text.opened.model, logits)
    if labels:  # the logits of a classifier are those of its classes, and no word of the text has one
        show, ids = labels.__getitem__, ()
    model = RecordedModel(whole, text.name, text.inputs.shown, show, logits, ids, fills_masks(text.opened))
    return MODELS.keep(KeptModel(model, text.maps.recording.layers, find_source(text, number)))


def find_known(text: RecordedText) -> StackWeights | None:
    """Returns the weights of a stored whole model of the folder from which a text was read; None if there is none."""
    folder = text.opened.folder.path
    kept = [each for each in MODELS.list_kept() if each.source is not None and each.source.folder == folder]
    return kept[-1].model.whole.weights if kept else None


def make_layer(text: RecordedText, number: int, run: CoreRun, alone: AttentionError) -> KeptLayer:
    """Returns a layer of a recorded text.

    run: the layer, from its input. alone: why its model is not stored with it.
    """
    (group,) = [place for place, layers in enumerate(text.maps.groups.values()) if number in layers]
    shown = text.file.view(group).maps
    name = f"{text.name}, {text.maps.recording.layers[number]}"
    words = (shown.shown_queries, shown.shown_keys)
    return read_layer(name, run, *words, alone, find_source(text, number))


def find_source(text: RecordedText, number: int) -> TextSource:
    """Returns where a layer comes from: the texts that were read, and the layer's index in the recording."""
    inputs = text.inputs
    texts = inputs.pieces.texts if inputs.begun is None else (text.wanted.text, inputs.begun.texts[0])
    count = text.maps.recording.calls[number].sizes[2]
    return TextSource(replace(text.wanted, off=()), text.opened.folder.path, texts, count, number)


def check_kept(setup: Setup, store: DigestStore) -> Setup:
    """Returns the given Setup; if the workbench cannot compute it, removes its layer or model from the store, and
    raises AttentionError.
    """
    try:
        check_computable(setup)
    except AttentionError:
        store.forget(setup.run.recorded)
        raise
    return setup


def make_layer_setup(digest: str, run: CoreRun, head: int) -> Setup:
    """Returns the Setup of a layer that is stored under a digest, with all settings of its run."""
    return make_setup(recorded=digest, cross="key" in run.trace, head=head, **layer_fields(run.config))


# ---- another text ----------------------------------------------------------------------------------------------------
def begin_reading(run: RunSetup, wanted: WantedText, tell: TellStage) -> Future[Setup]:
    """Requests that the model of a recorded run reads another text; returns the future of a Setup that shows it.

    wanted: the text. The future raises AttentionError: text_closed if the model is no longer open; those of the store.
    """
    return STORE.submit(read_other_text, find_kept(run), wanted, tell)


def read_other_text(kept: KeptLayer | KeptModel, wanted: WantedText, tell: TellStage) -> Setup:
    """Lets the open model read another text, and returns a Setup of the same layer. The layer or the whole model must
    be stored.
    """
    STORE.require_open(wanted, kept.title)
    return make_recorded_setup(STORE.read(wanted, tell), kept.source.number, 0, tell)


def list_text_changes(run: RunSetup, read: RunSetup) -> dict[str, object]:
    """Returns the changed fields of a recorded run with which it shows another text that its model has read.

    Settings of the layer that the visitor has changed are kept; numbers that were set for single words are removed.
    read: a run of the other text. Raises AttentionError: layer_away.
    """
    now = read if read.layer is None else replace(read, layer=run.layer)
    before, own = (layer_fields(find_settings(each)) for each in (run, now))
    settings = {name: own[name] for name, value in before.items() if getattr(run, name) == value}
    gone = {name: None for name in OF_WORDS if getattr(run, name) is not None}
    return {"recorded": now.recorded, "layer": now.layer, **settings, **gone}
