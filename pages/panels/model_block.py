"""The model around the layer on the screen: what each part adds to a word's vector, and which words come out of it."""

import streamlit as st
import torch

from attention_core.learned.language.reading import run_model
from attention_core.record.number_text import format_fixed
from attention_core.transformer.stack import UNEMBEDDING
from pages import components
from pages.panels.model_look import LOGITS, LOOK_KEY, SUM, BlockView, keep_look, view_block
from pages.panels.model_number import open_sent, show_open_number
from pages.panels.model_panels import open_panel
from pages.panels.model_rail import open_layer, words_of_model
from pages.panels.model_rows import make_block_data
from pages.panels.setup_controls import show_refusal
from pages.panels.thumbnails import select_head
from pages.panels.word_choices import WORD_CHOICES, take_word_choices
from pages.runs.model_runs import model_sentences_of, model_vocabulary
from pages.session import setup_state
from pages.session.collected import show_moving
from pages.session.fragments import page_part
from pages.session.labels import current_palette, name_token
from pages.session.view import ScreenState
from pages.setup.setup import layer_of
from pages.site.words import escape_markdown, say


def block_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The run, the word that is looked at, and what is open: all layers are shown, so it is the same from any."""
    if open_panel(screen) != "sum":
        return ()
    kind, words = model_sentences_of(screen.setup), words_of_model(screen)
    palette = current_palette().ground
    look = st.session_state.get(LOOK_KEY)
    temperature = screen.setup.word_temperature
    return (
        kind.model,
        kind.read(words),
        words,
        screen.selection.query,
        changed_layer(screen),
        temperature,
        palette,
        look,
    )


@page_part(block_dependencies)
def show_block(screen: ScreenState) -> None:
    """The sum that a word's vector is, and what comes out; nothing where another panel is open, or none."""
    if open_panel(screen) == "sum":
        draw_block(screen)


def draw_block(screen: ScreenState) -> None:
    """The same, of a screen that a language model reads."""
    view = view_block(screen)
    word = escape_markdown(name_token(view.stack[SUM], "T", view.at))
    st.markdown(f"#### {say('block.title', word=word)}")
    st.caption(describe_sum(view, word))
    layer = changed_layer(screen)
    if layer is not None:
        st.caption(say("block.changed", layer=layer))
    show_moving(
        components.model_block,
        data=make_block_data(screen, view),
        key="block",
        given={"vocabulary": len(model_vocabulary(view.name))},
        on_opened=lambda cell: open_sent(view_block(screen), cell),
        on_target=lambda number: keep_look(view_block(screen), target=number, trail=()),
        on_temperature=lambda temperature: take_word_choices({"word_temperature": temperature}),
        on_head=lambda place: take_head(view_block(screen), *place),
    )
    show_refusal(WORD_CHOICES)
    show_open_number(view, lambda: view_block(screen))


def changed_layer(screen: ScreenState) -> int | None:
    """The layer on the screen where it does not run as it does in the model; else None."""
    kind, layer = model_sentences_of(screen.setup), layer_of(screen.setup)
    stack = run_model(kind.model, kind.read(words_of_model(screen)))
    own, shown = stack[f"{layer}.attention"]["output"], screen.trace["output"]
    own = own[0]  # (T, D)
    shown = shown[min(screen.selection.batch, len(shown) - 1), : len(own)]
    is_as_trained = own.shape == shown.shape and torch.allclose(own, shown.to(own.dtype))
    return None if is_as_trained else layer


def describe_sum(view: BlockView, word: str) -> str:
    """That the vector is the sum of its parts, as closely as was measured, and what the pushes are."""
    total = view.stack[SUM]["parts_sum"][0, view.at]
    end = view.stack[UNEMBEDDING]["x"][0, view.at]
    trace = view.stack[LOGITS]
    (divisor,) = (name for name in trace.steps if "_divisor_of_" in name)
    return say(
        "block.about",
        word=word,
        count=len(trace.labels["part"]),
        target=escape_markdown(model_vocabulary(view.name)[view.target]),
        apart=f"{float((total - end).abs().max()):.0e}",
        divisor=format_fixed(float(trace[divisor][0, view.at])),
    )


# ---- what is done in it ----------------------------------------------------------------------------------------------
def take_head(view: BlockView, layer: int, head: int) -> None:
    """Opens the head whose part was clicked, in the picture above, where the model has it."""
    part = f"{layer}.attention"
    if part not in view.stack.parts or head not in range(view.stack[part].sizes()["H"]):
        return
    if layer == layer_of(setup_state.current_setup()):
        select_head(head)
    else:
        open_layer(layer, view.at, head)
