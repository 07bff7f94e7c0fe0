"""The visitor's selection in a language model besides the shown layer: a word, and the opened numbers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.residual_sum import LOGIT_SUM, RESIDUAL_SUM, place_of_word
from attention_core.explanation.shown_steps import explain_shown
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import WordChoices, with_word_choices
from attention_core.record.expressions import Ref
from attention_core.transformer.stack import UNEMBEDDING, Stack
from pages import components
from pages.panels.arithmetic import format_cell_number, make_piece_data, show_rounding
from pages.panels.model_rail import words_of_model
from pages.runs.model_runs import model_sentences_of, model_stack
from pages.session.fragments import redraw
from pages.session.labels import current_palette, describe_cell, inline_step_name
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run, word_choices_of
from pages.site.words import escape_markdown, say

SUM, LOGITS = RESIDUAL_SUM, LOGIT_SUM
LOOK_KEY = "model_block"


@dataclass(frozen=True)
class BlockCell:
    """A number in a language model's run: the name of a component ("part"), and the cell in that component's Trace."""

    part: str
    ref: Ref


@dataclass(frozen=True)
class BlockLook:
    """The visitor's selection in a language model: a word whose logit is explained, and the opened numbers.

    run: the model and its tokens. target: the index of the word whose logit is attributed to the model's components;
    None for the likeliest word. trail: the numbers that were opened one after the other; the last one is open.
    """

    run: tuple = ()
    target: int | None = None
    trail: tuple[BlockCell, ...] = ()


@dataclass(frozen=True)
class BlockView:
    """A run of a language model with the visitor's selection.

    name, tokens: the model and what it reads. stack: the run. at: the position of the selected word. look: the
    BlockLook, that is the explained word and the opened numbers.
    """

    name: str
    tokens: tuple[str, ...]
    stack: Stack
    at: int
    look: BlockLook = field(default_factory=BlockLook)

    @property
    def target(self) -> int:
        """The vocabulary index of the word whose logit is attributed to the components of the model."""
        if self.look.target is not None:
            return self.look.target
        return int(self.stack[UNEMBEDDING]["logits"][0, self.at].argmax())

    @property
    def target_place(self) -> int:
        """The index of the target word along the last axis of the logit contributions (what each component adds to
        logits).
        """
        return place_of_word(self.stack, self.target)


def view_block(screen: ScreenState) -> BlockView | None:
    """Returns the run on the screen as a BlockView; None if no model with all its layers reads the sentence."""
    words = words_of_model(screen)
    if words is None:
        return None
    kind = model_sentences_of(screen.setup.run)
    tokens, at = kind.read(words), min(screen.selection.query, len(words) - 1)
    stack = model_stack(screen.setup.run, words, find_target(kind.model, tokens, at))
    temperature = WordChoices(word_choices_of(screen.setup.view).temperature)
    return make_view(kind.model, tokens, with_word_choices(kind.model, stack, temperature), at)


def view_vectors(screen: ScreenState) -> BlockView:
    """Returns the run on the screen, whose vectors are split into sums, for a model that computes no logits from its
    vectors.
    """
    words = words_of_model(screen)
    kind = model_sentences_of(screen.setup.run)
    at = min(screen.selection.query, len(words) - 1)
    return make_view(kind.model, kind.read(words), model_stack(screen.setup.run, words), at)


def find_target(name: str, tokens: tuple[str, ...], at: int) -> int:
    """Returns the vocabulary index of the word whose logit is split: the word that the visitor chose, else the
    likeliest one.

    name, tokens: the model and what it reads. at: the position of the word.
    """
    target = find_look(name, tokens).target
    return int(run_model(name, tokens)[UNEMBEDDING]["logits"][0, at].argmax()) if target is None else target


def find_look(name: str, tokens: tuple[str, ...]) -> BlockLook:
    """Returns the session's selection in the run of a model on tokens; a new one if it belongs to another run."""
    look = st.session_state.get(LOOK_KEY)
    return BlockLook((name, tokens)) if look is None or look.run != (name, tokens) else look


def make_view(name: str, tokens: tuple[str, ...], stack: Stack, at: int) -> BlockView:
    """Returns the BlockView of a run at the position of a word.

    Its selection is that of the session, if it belongs to this run, else a new one. An opened number that the run lacks
    is closed.
    """
    look = find_look(name, tokens)
    if not all(is_held(stack, cell) for cell in look.trail):
        look = replace(look, trail=())
    return BlockView(name, tokens, stack, at, look)


def changed_layer(screen: ScreenState) -> int | None:
    """Returns the number, from 1, of the shown layer if its output differs from the trained model's; else None."""
    kind, layer = model_sentences_of(screen.setup.run), resolve_run(screen.setup.run).layer
    stack = run_model(kind.model, kind.read(words_of_model(screen)))
    own, shown = stack[f"{layer}.attention"]["output"], screen.trace["output"]
    own = own[0]  # (T, D)
    shown = shown[min(screen.selection.batch, len(shown) - 1), : len(own)]
    is_as_trained = own.shape == shown.shape and own.allclose(shown.to(own.dtype))
    return None if is_as_trained else layer


def is_held(stack: Stack, cell: BlockCell) -> bool:
    """Returns whether a run contains a cell."""
    return cell.part in stack.parts and stack[cell.part].holds(cell.ref.step, cell.ref.index)


def keep_look(view: BlockView, **changes: object) -> None:
    """Stores the visitor's selection in the model (a BlockLook) in the session, and redraws the page."""
    st.session_state[LOOK_KEY] = replace(view.look, **changes)
    redraw()


# ---- the arithmetic of the opened number, whose operands lead on across all parts to the embedding -------------------
def show_open_number(view: BlockView, find: Callable[[], BlockView]) -> None:
    """Shows the arithmetic of the opened number, if one is open.

    find: a function that returns the view again after a click. A function is passed instead of the view, because a
    widget keeps its handler in memory, and a view is large.
    """
    if not view.look.trail:
        return
    cell = view.look.trail[-1]
    trace = view.stack[cell.part]
    pieces = explain_shown(trace, cell.ref.step, cell.ref.index)
    title = escape_markdown(f"{name_cell_part(cell.part)} · {describe_cell(trace, cell.ref)}")
    st.markdown(f"**{title}** = {format_cell_number(trace, cell.ref)}")
    data = {
        "trail": [make_step_back(view.stack, each) for each in view.look.trail[:-1]],
        "pieces": [] if pieces.cell is None else [make_piece(trace, cell.part, each) for each in pieces.pieces],
        "sources": [],  # no list of sources, because the title of each number names its part of the model
        "from": "",
        "colours": current_palette().families(),
        "label": say("arithmetic.trail"),
    }
    components.arithmetic(data=data, key="block_sum", on_followed=lambda cell: follow_sent(find(), cell))
    show_rounding(bool(data["pieces"]), "block_sum")


def name_step(cell: BlockCell) -> str:
    """Returns the name of a cell's step as the page shows it.

    If the step belongs to a sum over the components of the model, the name of the component to which the number belongs
    comes first.
    """
    made = re.fullmatch(r"([a-z_]+)_(\d+)_([a-z]+)", cell.ref.step)
    if cell.part in (SUM, LOGITS) and made:
        kind, layer, step = made.groups()
        return f"{name_cell_part(f'{layer}.{kind}')}: {say(f'block.step.{step}')}"
    if cell.part in (SUM, LOGITS):
        return name_cell_part(cell.part)
    return f"{name_cell_part(cell.part)}: {inline_step_name(cell.ref.step)}"


def name_cell_part(part: str) -> str:
    """Returns the name that the page shows for a component of the model, preceded by the component's layer."""
    layer, _, kind = part.rpartition(".")
    name = say(f"block.part.{kind}")
    return f"{say('model.layer', layer=layer)}, {name}" if layer else name


def make_piece(trace: Trace, part: str, piece: object) -> dict:
    """Returns the data of a symbol or number of the arithmetic; an operand's step follows its component:
    "part/step".
    """
    data = make_piece_data(trace, piece)
    if "step" in data:
        data["step"] = f"{part}/{data['step']}"
    return data


def make_step_back(stack: Stack, cell: BlockCell) -> dict:
    """Returns the data of a link by which a previously opened number is opened again."""
    return {
        "text": name_step(cell),
        "title": describe_cell(stack[cell.part], cell.ref),
        "step": f"{cell.part}/{cell.ref.step}",
        "index": list(cell.ref.index),
    }


def find_maker(stack: Stack, cell: BlockCell) -> BlockCell:
    """Returns the cell in which a number was computed.

    For an input of a component ("part"), this is the cell of the earlier component that computed the input.
    """
    source = stack.source_of(cell.part, cell.ref)
    while source is not None:
        cell = BlockCell(*source)
        source = stack.source_of(cell.part, cell.ref)
    return cell


# ---- event handlers --------------------------------------------------------------------------------------------------
def find_cell(view: BlockView, part: str, step: str, index: tuple[int, ...]) -> BlockCell | None:
    """Returns the cell that a message from the browser names; None if the run does not have it."""
    cell = BlockCell(part, Ref(step, index))
    return cell if is_held(view.stack, cell) else None


def open_sent(view: BlockView, sent: Mapping) -> None:
    """Opens the number that a message from the browser names: {"part": component, "step", "index"}."""
    cell = find_cell(view, sent["part"], sent["step"], sent["index"])
    if cell is not None:
        keep_look(view, trail=(find_maker(view.stack, cell),))


def follow_sent(view: BlockView, sent: Mapping) -> None:
    """Opens an operand, {"step": "part/step", "index"}, or returns to a number that was opened before.

    sent: the message from the browser, with "part" the component of the model.
    """
    part, _, step = sent["step"].partition("/")
    cell = find_cell(view, part, step, sent["index"])
    if cell is None:
        return
    trail = view.look.trail
    if cell in trail:
        keep_look(view, trail=trail[: trail.index(cell) + 1])
    else:
        keep_look(view, trail=(*trail, find_maker(view.stack, cell)))
