"""What if: heads and feed-forward layers of a language model switched off or changed, before and after."""

import streamlit as st

from attention_core.analysis.interventions import KINDS, OTHER, Intervention
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.what_if import Changes, list_switches
from attention_core.record.errors import AttentionError
from pages import components
from pages.panels.model_look import LOOK_KEY
from pages.panels.model_number import open_sent, show_open_number
from pages.panels.model_panels import open_panel
from pages.panels.model_rail import open_layer, words_of_model
from pages.panels.second_sentence import second_words_of, show_second_sentence
from pages.panels.thumbnails import select_head
from pages.panels.what_if_data import WhatIf, look_into, pack_what_if
from pages.runs.model_runs import model_sentences_of
from pages.session import setup_state
from pages.session.fragments import page_part, redraw
from pages.session.labels import current_palette
from pages.session.view import ScreenState
from pages.setup.setup import WHAT_IF_FIELDS, Setup, layer_of, without_view
from pages.setup.what_if import read_changes, with_change, with_pair
from pages.site.words import say, say_refusal


def what_if_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The run, the word, what is changed and what is open."""
    if open_panel(screen) != "what_if":
        return ()
    changed = tuple(getattr(screen.setup, name) for name in WHAT_IF_FIELDS)
    look = screen.selection
    kept = (st.session_state.get(LOOK_KEY), current_palette().ground)
    return (without_view(screen.setup), look.batch, look.query, changed, kept)


@page_part(what_if_dependencies)
def show_what_if(screen: ScreenState) -> None:
    """What the model says with changes; nothing where another panel is open, or none."""
    if open_panel(screen) == "what_if":
        draw_what_if(screen)


def draw_what_if(screen: ScreenState) -> None:
    """The same, of a screen that a language model reads."""
    shown = take_changes(screen)
    st.markdown(f"#### {say('what_if.title')}")
    st.caption(say("what_if.about"))
    components.model_what_if(
        data=pack_what_if(screen, shown),
        key="what_if",
        given={"kinds": tuple(KINDS), "words": len(shown.tokens)},
        on_kind=lambda sent: take_kind(take_changes(screen), **sent),
        on_pair=lambda sent: take_pair(take_changes(screen), **sent),
        on_norms=lambda is_held: ask(held="norms" if is_held else None),
        on_again=lambda _: ask(changes=()),
        on_opened=lambda cell: open_sent(take_changes(screen).view, cell),
        on_head=lambda place: take_head(take_changes(screen), *place),
    )
    if any(change.kind == OTHER for change in read_changes(screen.setup.changes)):
        show_other_sentence(screen, shown)
    show_open_number(shown.view, lambda: take_changes(screen).view)


def show_other_sentence(screen: ScreenState, shown: WhatIf) -> None:
    """The sentence whose weights a head takes, and why it takes none."""
    show_second_sentence(screen)
    given, needed = second_words_of(screen.setup), len(shown.tokens)
    if not given:
        st.caption(say("what_if.other_missing", count=needed - 1))
    elif len(given) != needed:
        error = AttentionError("other_length", expected=needed - 1, given=len(given) - 1)
        st.error(say_refusal(error), icon=":material/error:")


# ---- what is changed -------------------------------------------------------------------------------------------------
def take_changes(screen: ScreenState) -> WhatIf:
    """The screen with what is changed, so far as the model and the sentence have it: a link may name more."""
    kind, words = model_sentences_of(screen.setup), words_of_model(screen)
    tokens = kind.read(words)
    at = min(screen.selection.query, len(words) - 1)
    switches = {(each.part, each.head) for each in list_switches(run_model(kind.model, tokens))}
    own = [each for each in read_changes(screen.setup.changes) if (each.part, each.head) in switches]
    fitting = tuple(inside(each, len(tokens)) for each in own)
    other = read_other(screen.setup, len(tokens))
    if other is None:
        fitting = tuple(each for each in fitting if each.kind != OTHER)
    return look_into(kind.model, words, tokens, at, Changes(fitting, other, screen.setup.held == "norms"))


def inside(change: Intervention, length: int) -> Intervention:
    """The change without pairs that a shorter sentence does not have."""
    blocked = tuple(pair for pair in change.blocked if max(pair) < length)
    return Intervention(change.part, change.head, change.kind, blocked)


def read_other(setup: Setup, length: int) -> tuple[str, ...] | None:
    """What the model reads of the second sentence; None where none of the right length is given."""
    words = second_words_of(setup)
    return model_sentences_of(setup).read(words) if len(words) == length else None


# ---- what is done ----------------------------------------------------------------------------------------------------
def ask(**changes: object) -> None:
    """Changes the model, and draws it."""
    setup_state.ask_model(**changes)
    redraw()


def has_switch(shown: WhatIf, part: str, head: int | None) -> bool:
    """Whether the model has the head, or the feed-forward layer, that a browser names."""
    return any((each.part, each.head) == (part, head) for each in list_switches(shown.whole))


def take_kind(shown: WhatIf, part: str, head: int | None, kind: str | None) -> None:
    """Another change of a head or a feed-forward layer, or none."""
    if has_switch(shown, part, head) and (head is not None or kind in (None, "off")):
        changes = read_changes(setup_state.current_setup().changes)
        ask(changes=with_change(changes, part, head, kind))


def take_pair(shown: WhatIf, part: str, head: int, pair: tuple[int, int]) -> None:
    """A pair of words, a query and a key, blocked in a head's map, or open again."""
    if has_switch(shown, part, head):
        changes = read_changes(setup_state.current_setup().changes)
        ask(changes=with_pair(changes, part, head, pair))


def take_head(shown: WhatIf, layer: int, head: int) -> None:
    """Opens the head whose row was clicked, in the picture above."""
    if not has_switch(shown, f"{layer}.attention", head):
        return
    if layer == layer_of(setup_state.current_setup()):
        select_head(head)
    else:
        open_layer(layer, shown.at, head)
