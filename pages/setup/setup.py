"""Setup: what is run, what is looked at in it and what it is compared with, as plain values.

A field that is None, or as it stands here, leaves the choice to the example. pages/setup/codec.py reads and writes a
Setup as a link; pages/setup/resolve.py says what the fields of a run amount to together with its example.
"""

from dataclasses import dataclass, field, fields, make_dataclass, replace
from pathlib import Path

from attention_core.inputs.matrix_values import ChosenValue, MatrixValue
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.verification.tensor_layout import TENSOR_LAYOUTS

DTYPES = ("float64", "float32", "bfloat16", "float16")
AXIS_ORDERS = {
    name.replace(" ", ""): name for name in TENSOR_LAYOUTS
}  # the order of the axes of uploaded tensors by its name in a link, such as "BTHd"
MAX_RUN_PAIRS = 2**21  # 8 heads of 512 tokens: sentences x heads x queries x keys of a run
# W_q = W_k = W_v; Q and K swapped; no positions; even weights instead of the softmax's; x + output
WIRING = ("tied", "swapped", "bare", "even", "residual")
PANELS_FOLDER = Path(__file__).parents[1] / "panels" / "model"  # a module for each panel of a language model
PANEL_NAMES = tuple(sorted(file.stem for file in PANELS_FOLDER.glob("[!_]*.py")))
MAX_SHOWN_HEADS = 16  # as many small maps as a screen shows


@dataclass(frozen=True)
class LayerSetup:
    """The fields of a run but for the learned tensors of mechanisms."""

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
    """What is run: inputs, matrices, mechanism and precision. Runs are cached by it.

    text, context_text: typed sentences; more: further ones, one a line, that make a batch. word_roles: roles of words
    that the dictionary does not have, "word:role". cut: "characters" if Chinese is segmented into characters instead
    of words. network: a trained one by its recipe, instead of the learned example's. file: the digest of uploaded
    tensors, roles "q:number of an array", axes their order, part batch, heads, queries and keys as first and count,
    polarity "blocked" if True in their mask means blocked, mask_as how their masks are read, "mask:T.S:allowed".
    built: the heads built by hand, "name" or "offset:-1". wiring: changes of the layer, of WIRING.
    x, context, q, k, v, w_*, b_*, allowed, and what mechanisms learn: matrices as values.
    scores, weights: numbers set instead of computed ones.
    masks, positions, modifiers, normaliser: "name" or "name:number:number".
    """


@dataclass(frozen=True)
class View:
    """What is looked at in a run: nothing is computed anew when it changes.

    sentence: of a batch. token: the selected query; step and cell: what is open; stop: the step at which the query's
    animation rests, "start", "end", or "plane" while vectors are dragged. ramp: "times" if colours show weights as
    multiples of an even share, "shares" if they go from 0 to 1. panel: the open panel of a language model, of
    PANEL_NAMES. heads_by, heads_least: the measure that orders all its heads, of HEAD_ORDERS, and the least shown;
    heads_from, heads_to: the pair of words by whose weight they are ordered instead. word_temperature, top_k, top_p:
    of its next words; word_seed: of the sampled next word, None for the likeliest; written: the words that it generated
    after the sentence's, "the dog | ate .". changes: interventions in it, "2.1:off"; held: "norms" if they divide as
    before the change; other_text: a second sentence, for activation patching. circuit_words: words shown beside the
    sentence's own if heads are asked about words alone.
    """

    sentence: int | None = None
    token: int | None = None
    head: int | None = None
    step: str | None = None
    stop: str | None = None
    cell: tuple[int, ...] | None = None
    ramp: str | None = None
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
    """What a run is compared with. against: the run from which maps show the difference. pinned: set if that one is A,
    which stays and is shown beside B while B is changed; all other maps show B ("values") or B - A ("difference")."""

    against: RunSetup | None = None
    pinned: str | None = None

    @property
    def run_a(self) -> RunSetup | None:
        """The run that is pinned as A, or None."""
        return self.against if self.pinned else None


@dataclass(frozen=True)
class Setup:
    """What is on the screen of the workbench."""

    run: RunSetup = field(default_factory=RunSetup)
    view: View = field(default_factory=View)
    comparison: Comparison = field(default_factory=Comparison)

    def with_fields(self, **values) -> "Setup":
        """The Setup with new values of fields, each in the part that has it.

        >>> Setup().with_fields(masks=("causal",), token=2).view.token
        2
        """
        parts: dict[str, dict] = {}
        for name, value in values.items():
            parts.setdefault(PART_OF_FIELD[name], {})[name] = value
        return replace(self, **{part: replace(getattr(self, part), **own) for part, own in parts.items()})

    def value_of(self, name: str) -> object:
        """The value of a field of any part."""
        return getattr(getattr(self, PART_OF_FIELD[name]), name)


PART_OF_FIELD = {
    each.name: part
    for part, kind in (("run", RunSetup), ("view", View), ("comparison", Comparison))
    for each in fields(kind)
}
MATRIX_FIELDS = tuple(each.name for each in fields(RunSetup) if each.type == MatrixValue | None)
DEFAULT_SETUP = Setup()


def make_setup(**values) -> Setup:
    """The Setup with these fields, of any part.

    >>> make_setup(example="zh_ta", token=2).run.example
    'zh_ta'
    """
    return DEFAULT_SETUP.with_fields(**values)


STARTS = {"zh": "zh_ta"}  # the example with which a reader of a language starts, if not the default


def start_in(language: str) -> Setup:
    """The Setup with which a session in a language starts."""
    return make_setup(example=STARTS.get(language, DEFAULT_SETUP.run.example))
