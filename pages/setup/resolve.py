"""Determines, from a run's fields and its example, the kind of input, the network and the AttentionConfig."""

from dataclasses import dataclass
from functools import lru_cache

from attention_core import AttentionConfig
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.handmade_heads import read_head_kind
from attention_core.learned.language.reading import layer_config
from attention_core.learned.language.readout import WordChoices
from attention_core.learned.translation.reading import cross_config
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from pages.setup.choice_text import read_choice, read_mask, read_position, write_choice, write_position
from pages.setup.setup import MAX_RECORDED_HEADS, MAX_SHOWN_HEADS, RunSetup, View


@dataclass(frozen=True)
class ResolvedRun:
    """What a run is computed from: its kind of input, and the source of its vectors and matrices.

    mode: "sentence", "matrix", "qkv", "file", "recorded" for a layer of somebody's model, or "code" for the
    tensors of the example's listing. crossed: whether keys and values come from a second sequence. built: (name,
    offset) of the heads built by hand, from which the vectors x of sentences follow. network: the name of the trained
    network's recipe. model: the name of the language model. layer: the index of the layer of this model, or of a
    recorded one, from 1. translator: the translator's name. Fields that the run does not use are None.
    """

    mode: str
    crossed: bool
    built: tuple[tuple[str, int], ...]
    network: str | None
    model: str | None
    layer: int | None
    translator: str | None


# a script run calls this function often; few results are cached, because a RunSetup may hold megabytes
@lru_cache(maxsize=8)
def resolve_run(run: RunSetup) -> ResolvedRun:
    """Combines the fields of a run with its example: returns the kind of input, and the source of vectors and matrices.

    >>> resolve_run(RunSetup(q="1,2", cross=True)).mode
    'qkv'
    """
    example = EXAMPLES[run.example]
    mode = input_mode_of(run)
    crossed = example.q is None and example.context_tokens is not None if run.cross is None else run.cross
    built: tuple[tuple[str, int], ...] = ()
    if mode == "sentence" and not crossed:
        built = tuple(map(read_head_kind, example.built if run.built is None else run.built))
    network = model = layer = None
    if example.network is not None and not built:
        network = run.network or example.network
    if example.model is not None and not built and mode not in ("qkv", "file", "recorded"):
        model = run.model or example.model
        layer = example.layer if run.layer is None else run.layer
    if mode == "recorded":
        layer = run.layer
    translator = example.translator if crossed and mode == "sentence" else None
    return ResolvedRun(mode, crossed, built, network, model, layer, translator or None)


def input_mode_of(run: RunSetup) -> str:
    """Returns the kind of input of a run: "sentence", "matrix", "qkv", "file", "recorded" or "code"."""
    example = EXAMPLES[run.example]
    if run.file is not None:
        return "file"
    if run.recorded is not None:
        return "recorded"
    if run.q is not None:
        return "qkv"
    if run.x is not None:
        return "matrix"
    if run.text is not None:
        return "sentence"
    if example.code is not None:
        return "code"
    return "sentence" if example.q is None else "qkv"


def word_choices_of(view: View) -> WordChoices:
    """Returns temperature, top-k and top-p for sampling the language model's next word."""
    return WordChoices(view.word_temperature or 1.0, view.top_k, view.top_p or 1.0)


def learned_config_of(run: RunSetup) -> AttentionConfig | None:
    """Returns the AttentionConfig with which a run's language model or translator was trained.

    Returns None if the run uses neither a language model nor a translator. Raises AttentionError: at_most.
    """
    resolved = resolve_run(run)
    if resolved.translator is not None:
        return cross_config(resolved.translator)
    return None if resolved.model is None else layer_config(resolved.model, resolved.layer)


def positions_of(run: RunSetup) -> tuple[str, ...]:
    """Returns the chosen position encodings; if none are chosen, the encodings of the model or of the example."""
    return own_positions_of(run) if run.positions is None else run.positions


def own_positions_of(run: RunSetup) -> tuple[str, ...]:
    """Returns the default position encodings, which are those of the model or of the example."""
    learned = learned_config_of(run)
    if learned is None:
        return EXAMPLES[run.example].positions
    return tuple(write_position(name, params) for name, params in learned.positions)


def to_positions_field(run: RunSetup, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns position encodings as the value of the Setup's field `positions`: None if they are the run's defaults."""
    return None if names == own_positions_of(run) else names


def modifiers_of(run: RunSetup) -> tuple[str, ...]:
    """Returns the chosen modifiers; if none are chosen, those with which the language model was trained."""
    return own_modifiers_of(run) if run.modifiers is None else run.modifiers


def own_modifiers_of(run: RunSetup) -> tuple[str, ...]:
    """Returns the default modifiers: those with which the language model was trained; () without a model."""
    learned = learned_config_of(run)
    if learned is None:
        return ()
    return tuple(write_choice(name, params, MODIFIERS) for name, params in learned.modifiers)


def to_modifiers_field(run: RunSetup, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns modifiers as the value of the Setup's field `modifiers`: None if they are the run's defaults."""
    return None if names == own_modifiers_of(run) else names


def most_heads(run: RunSetup) -> int:
    """Returns the largest number of heads of a run; a layer of a pretrained model may have more than others."""
    return MAX_SHOWN_HEADS if input_mode_of(run) != "recorded" else MAX_RECORDED_HEADS


def config_of(run: RunSetup) -> AttentionConfig:
    """Returns the AttentionConfig of a run.

    If a field of the run is None, the value is that of its language model or translator, else that of the example.
    """
    example, resolved = EXAMPLES[run.example], resolve_run(run)
    learned = learned_config_of(run)
    own = learned or AttentionConfig(
        score=example.score, heads=len(resolved.built) or example.heads, masks=tuple(map(read_mask, example.masks))
    )
    heads = own.heads if run.heads is None else run.heads
    limit = most_heads(run)
    if require_positive("heads", heads) > limit:
        raise AttentionError("at_most", name="heads", limit=limit, given=heads)
    has_own_heads = run.heads is None and run.kv_heads is None
    has_own_normaliser = run.normaliser == RunSetup.normaliser
    return AttentionConfig(
        score=run.score or own.score,
        scale=own.scale if run.scale is None and run.score is None else run.scale,
        temperature=run.temperature,
        heads=heads,
        kv_heads=own.kv_heads if has_own_heads else run.kv_heads,
        masks=own.masks if run.masks is None else tuple(map(read_mask, run.masks)),
        positions=tuple(map(read_position, positions_of(run))),
        modifiers=tuple(read_choice(text, MODIFIERS) for text in modifiers_of(run)),
        normaliser=own.normaliser if has_own_normaliser else read_choice(run.normaliser, NORMALISERS),
        dropout=example.dropout if resolved.mode == "code" else None,
        replace="uniform" if "even" in run.wiring else None,
        residual="residual" in run.wiring or learned is not None,
    )
