"""Defines Setup: a run, the view of it, and the comparison with another run, as plain values.

If a field has its default, the example determines the value. pages/setup/codec.py converts a Setup to a link and back;
pages/setup/resolve.py combines the fields of a run with its example.
"""

from dataclasses import dataclass, field, fields, make_dataclass, replace
from pathlib import Path

from attention_core.inputs.matrix_values import ChosenValue, MatrixValue
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.verification.tensor_layout import TENSOR_LAYOUTS

DTYPES = ("float64", "float32", "bfloat16", "float16")
AXIS_ORDERS = {
    name.replace(" ", ""): name for name in TENSOR_LAYOUTS
}  # order of axes in a link, such as "BTHd" -> the axes of uploaded tensors
MAX_RUN_PAIRS = 2**21  # maximum sentences x heads x queries x keys of a run, enough for 8 heads of 512 tokens
# Changes of a layer: W_q = W_k = W_v; W_q and W_k swapped; no positions; uniform weights, no softmax; x + output.
WIRING = ("tied", "swapped", "bare", "even", "residual")
PANELS_FOLDER = Path(__file__).parents[1] / "panels" / "model"  # folder with a module for each language-model panel
PANEL_NAMES = tuple(sorted(file.stem for file in PANELS_FOLDER.glob("[!_]*.py")))
MAX_SHOWN_HEADS = 16  # most small maps of heads that fit on a screen
MAX_RECORDED_HEADS = 64  # most heads of a layer of a pretrained model


@dataclass(frozen=True)
class LayerSetup:
    """The fields of a run, without the learned tensors of mechanisms, which RunSetup adds."""

    example: str = "en_it"
    text: str | None = None
    context_text: str | None = None
    cross: bool | None = None
    x: MatrixValue | None = None
    context: MatrixValue | None = None
    q: MatrixValue | None = None
    k: MatrixValue | None = None
    v: MatrixValue | None = None
    w_q: MatrixValue | None = None
    w_k: MatrixValue | None = None
    w_v: MatrixValue | None = None
    w_o: MatrixValue | None = None
    b_q: MatrixValue | None = None
    b_k: MatrixValue | None = None
    b_v: MatrixValue | None = None
    b_o: MatrixValue | None = None
    allowed: MatrixValue | None = None
    scores: ChosenValue | None = None
    weights: ChosenValue | None = None
    more: str | None = None
    word_roles: tuple[str, ...] = ()
    cut: str | None = None
    network: str | None = None
    model: str | None = None
    layer: int | None = None
    recorded: str | None = None
    file: str | None = None
    roles: tuple[str, ...] = ()
    axes: str | None = None
    part: tuple[int, ...] | None = None
    polarity: str | None = None
    mask_as: tuple[str, ...] = ()
    built: tuple[str, ...] | None = None
    wiring: tuple[str, ...] = ()
    heads: int | None = None
    kv_heads: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    score: str | None = None
    scale: float | None = None
    temperature: float = 1.0
    masks: tuple[str, ...] | None = None
    positions: tuple[str, ...] | None = None
    modifiers: tuple[str, ...] | None = None
    normaliser: str = "softmax"
    dtype: str = "float64"
    device: str = "cpu"
    seed: int = 0


class RunSetup(
    make_dataclass(
        "LearnedTensorFields",
        [(name, MatrixValue | None, None) for name in LEARNED_TENSORS],
        bases=(LayerSetup,),
        frozen=True,
    )
):
    """All values that determine a run: inputs, matrices, mechanism and precision. It is the cache key of a run.

    text: the typed sentence. context_text: the second sequence, for keys and values. more: further sentences, one
    per line, which make a batch. word_roles: "word:role" of words that the dictionary does not have. cut:
    "characters" if Chinese is split into characters instead of words. network: the name of the recipe of a trained
    network that is used instead of the example's. recorded: the digest of a recorded layer of somebody's model.
    file: the digest of uploaded tensors. roles: "role:index of the array" for each uploaded tensor. axes: the order
    of the tensors' axes. part: first index and count of the shown batch, heads, queries and keys. polarity:
    "blocked" if True in uploaded masks means blocked. mask_as: how uploaded masks are read, "mask:T.S:allowed".
    built: the heads built by hand, "name" or "offset:-1". wiring: changes of the layer, from WIRING. x, context, q,
    k, v, w_*, b_*, allowed, and the learned tensors of mechanisms: matrices as values. scores, weights: numbers set
    instead of computed ones. masks, positions, modifiers, normaliser: "name" or "name:number:number".
    """


@dataclass(frozen=True)
class View:
    """The settings with which a page shows a run; changing them requires no new computation of the run.

    sentence: the selected sentence of a batch. token: the selected query. step, cell: the open step and cell. stop: the
    keyframe at which the query's animation stops: a step, "start" or "end"; or the view "heads" (of all heads;
    "heads-1" with a second head) or "plane" (in which vectors are dragged). ramp: "times" if colours show weights as
    multiples of the uniform weight, "shares" if they range from 0 to 1. maps: how the view "heads" reads its maps, as
    the parts of map_link.py. side: whether it shows the run "a" or "b" of a comparison; None for their difference.
    panel: the open panel of a language model, one of PANEL_NAMES. heads_by: the measure by which the model's heads are
    sorted, one of HEAD_ORDERS. heads_least: the smallest value of this measure at which a head is shown. heads_from,
    heads_to: query and key, if the heads are sorted by the weight of this pair. word_temperature, top_k, top_p: how the
    model's next word is sampled. word_seed: the seed; None for the likeliest word. written: the prompt and the words
    generated after it, "the dog | ate .". changes: interventions, "2.1:off". held: "norms" if the divisors of norms are
    frozen at their values before the interventions. other_text: a second sentence, for activation patching.
    circuit_words: words added to the sentence's own in the panel of circuits.
    """

    sentence: int | None = None
    token: int | None = None
    head: int | None = None
    step: str | None = None
    stop: str | None = None
    cell: tuple[int, ...] | None = None
    ramp: str | None = None
    maps: tuple[str, ...] = ()
    side: str | None = None
    panel: str | None = None
    heads_by: str | None = None
    heads_least: float | None = None
    heads_from: int | None = None
    heads_to: int | None = None
    word_temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    word_seed: int | None = None
    written: str | None = None
    changes: tuple[str, ...] = ()
    held: str | None = None
    other_text: str | None = None
    circuit_words: str | None = None


@dataclass(frozen=True)
class Comparison:
    """The comparison of the shown run with another run.

    against: the run from which maps show the difference. pinned: set if `against` is the pinned run A, which stays
    fixed while the shown run, B, is changed; "values" shows B in all other maps, "difference" shows B - A.
    """

    against: RunSetup | None = None
    pinned: str | None = None

    @property
    def run_a(self) -> RunSetup | None:
        """The run that the visitor pinned as A; None if no run is pinned."""
        return self.against if self.pinned else None


@dataclass(frozen=True)
class Setup:
    """The state of the workbench's screen: the run, how the run is viewed, and the comparison with another run."""

    run: RunSetup = field(default_factory=RunSetup)
    view: View = field(default_factory=View)
    comparison: Comparison = field(default_factory=Comparison)

    def with_fields(self, **values) -> "Setup":
        """Returns a copy with new values of the given fields of the run, the view or the comparison.

        >>> Setup().with_fields(masks=("causal",), token=2).view.token
        2
        """
        parts: dict[str, dict] = {}
        for name, value in values.items():
            parts.setdefault(PART_OF_FIELD[name], {})[name] = value
        return replace(self, **{part: replace(getattr(self, part), **own) for part, own in parts.items()})

    def value_of(self, name: str) -> object:
        """Returns the value of a field of the run, the view or the comparison."""
        return getattr(getattr(self, PART_OF_FIELD[name]), name)


PART_OF_FIELD = {
    each.name: part
    for part, kind in (("run", RunSetup), ("view", View), ("comparison", Comparison))
    for each in fields(kind)
}
MATRIX_FIELDS = tuple(each.name for each in fields(RunSetup) if each.type == MatrixValue | None)
CHOSEN_FIELDS = tuple(each.name for each in fields(RunSetup) if each.type == ChosenValue | None)
DEFAULT_SETUP = Setup()


def make_setup(**values) -> Setup:
    """Returns the Setup with the given fields of the run, the view or the comparison; all others have defaults.

    >>> make_setup(example="zh_ta", token=2).run.example
    'zh_ta'
    """
    return DEFAULT_SETUP.with_fields(**values)


STARTS = {"zh": "zh_ta"}  # language -> the example with which its sessions start, if it is not the default one


def start_in(language: str) -> Setup:
    """Returns the Setup with which a session in this language starts."""
    return make_setup(example=STARTS.get(language, DEFAULT_SETUP.run.example))
