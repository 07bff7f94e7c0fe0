"""The selection in the model around the layer on the screen: the word and the opened number."""

from dataclasses import dataclass, field, replace

import streamlit as st

from attention_core.learned.language.reading import run_model
from attention_core.learned.language.readout import WordChoices, with_word_choices
from attention_core.record.expressions import Ref
from attention_core.transformer.stack import UNEMBEDDING, Stack
from pages.panels.model_rail import words_of_model
from pages.runs.model_runs import model_sentences_of, model_stack
from pages.session.fragments import redraw
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run, word_choices_of

SUM, LOGITS = "residual_sum", "logit_sum"
LOOK_KEY = "model_block"


@dataclass(frozen=True)
class BlockCell:
    """A number of the model's run: the name of its part, and its cell in the part's Trace."""

    part: str
    ref: Ref


@dataclass(frozen=True)
class BlockLook:
    """The selection in the model.

    run: model and tokens. target: the word to whose logit the contributions are shown; None for the likeliest. trail:
    the numbers that were opened one after the other; the last one is open.
    """

    run: tuple = ()
    target: int | None = None
    trail: tuple[BlockCell, ...] = ()


@dataclass(frozen=True)
class BlockView:
    """A run of the model with the selection. stack: the run. at: the position of the selected word."""

    name: str
    tokens: tuple[str, ...]
    stack: Stack
    at: int
    look: BlockLook = field(default_factory=BlockLook)

    @property
    def target(self) -> int:
        """The index of the word to whose logit the contributions are shown."""
        if self.look.target is not None:
            return self.look.target
        return int(self.stack[UNEMBEDDING]["logits"][0, self.at].argmax())


def view_block(screen: ScreenState) -> BlockView | None:
    """The view of the model's run on the screen; None if no language model reads the sentence."""
    words = words_of_model(screen)
    if words is None:
        return None
    kind = model_sentences_of(screen.setup.run)
    temperature = WordChoices(word_choices_of(screen.setup.view).temperature)
    stack = with_word_choices(kind.model, model_stack(screen.setup.run, words), temperature)
    at = min(screen.selection.query, len(words) - 1)
    return make_view(kind.model, kind.read(words), stack, at)


def make_view(name: str, tokens: tuple[str, ...], stack: Stack, at: int) -> BlockView:
    """The view of a run at the position of a word; with the selection of the session if that belongs to this run,
    otherwise with a new one.
    """
    look = st.session_state.get(LOOK_KEY)
    if look is None or look.run != (name, tokens):
        look = BlockLook((name, tokens))
    if not all(is_held(stack, cell) for cell in look.trail):
        look = replace(look, trail=())
    return BlockView(name, tokens, stack, at, look)


def changed_layer(screen: ScreenState) -> int | None:
    """The number of the layer on the screen if its output differs from the trained model's; None if it is equal."""
    kind, layer = model_sentences_of(screen.setup.run), resolve_run(screen.setup.run).layer
    stack = run_model(kind.model, kind.read(words_of_model(screen)))
    own, shown = stack[f"{layer}.attention"]["output"], screen.trace["output"]
    own = own[0]  # (T, D)
    shown = shown[min(screen.selection.batch, len(shown) - 1), : len(own)]
    is_as_trained = own.shape == shown.shape and own.allclose(shown.to(own.dtype))
    return None if is_as_trained else layer


def is_held(stack: Stack, cell: BlockCell) -> bool:
    """Whether a run contains a cell."""
    return cell.part in stack.parts and stack[cell.part].holds(cell.ref.step, cell.ref.index)


def keep_look(view: BlockView, **changes: object) -> None:
    """Changes the selection, and redraws."""
    st.session_state[LOOK_KEY] = replace(view.look, **changes)
    redraw()
