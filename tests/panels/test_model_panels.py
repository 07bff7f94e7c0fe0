"""A panel of a language model is drawn again exactly when its run or a field that its record declares has changed.

The page keeps a panel as it is while panel_dependencies are the same. A record that forgets a field leaves old numbers
on the screen, and one that names too many draws for nothing.
"""

from dataclasses import fields

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages.panels.model_panels import PANELS
from pages.setup.codec import DEFAULTS, check_link_values
from pages.setup.setup import Comparison, RunSetup, View, make_setup

DECODER, ENCODER = make_setup(example="model_en_decoder", token=5), make_setup(example="model_en", token=5, head=0)
OTHER_TEXT = "the cat slept ."
SETUPS = {  # by panel: those in which each field that it declares has something to change
    "sum": [DECODER],
    "heads": [DECODER.with_fields(heads_by="moved", other_text=OTHER_TEXT)],
    "words": [DECODER.with_fields(written="the animal | did"), ENCODER],
    "what_if": [DECODER.with_fields(changes=("1.1:other",), other_text="the cat did not cross the street .")],
    "circuits": [ENCODER.with_fields(layer=2)],
}
OTHER_VALUES = {  # of each field of the view, but for the panel itself
    "sentence": 1,
    "token": 2,
    "head": 2,
    "step": "scores",
    "stop": "end",
    "cell": (0, 0, 1, 1),
    "ramp": "times",
    "maps": ("times",),
    "side": "a",
    "heads_by": "entropy",
    "heads_least": 0.5,
    "heads_from": 3,
    "heads_to": 2,
    "word_temperature": 0.5,
    "top_k": 2,
    "top_p": 0.5,
    "word_seed": 3,
    "written": "the animal did | not",
    "changes": ("2.2:off",),
    "held": "norms",
    "other_text": "the dog did not cross the street .",
    "circuit_words": "cat",
    "against": RunSetup(example="en_it"),
    "pinned": "values",
}


def page_of_a_panel():
    """Runs as a page does, which imports for itself."""
    import streamlit as st

    from pages.panels.model_panels import PANELS, panel_dependencies
    from pages.session import setup_state
    from pages.session.view import make_screen_state
    from pages.site.words import use_language

    with use_language("en"):
        setup = st.session_state["asked"]
        setup_state.begin_session()
        st.session_state["setup"] = setup
        screen = make_screen_state(setup, None)
        st.session_state["depends_on"] = panel_dependencies(screen)
        PANELS[setup.view.panel].draw(screen)


def what_is_shown(block):
    """All elements of a page, as what the browser is sent."""
    for each in block.children.values():
        if isinstance(each, Block):
            yield from what_is_shown(each)
        else:
            yield each.proto.SerializeToString(deterministic=True)


def draw_panel(setup):
    """What the panel says that it depends on, and what it shows, in a session of its own, where each widget is set."""
    check_link_values({name: setup.value_of(name) for name in DEFAULTS})
    page = AppTest.from_function(page_of_a_panel, default_timeout=60)
    page.session_state["asked"] = setup
    assert not page.run().exception
    return page.session_state["depends_on"], [*what_is_shown(page.main)]


def test_every_field_of_the_view_has_another_value():
    assert {*OTHER_VALUES} == {field.name for part in (View, Comparison) for field in fields(part)} - {"panel"}
    assert {*SETUPS} == {*PANELS}


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_changes_with_the_fields_that_it_declares_and_with_no_others(name):
    has_effect = set()
    for begun in SETUPS[name]:
        setup = begun.with_fields(panel=name)
        depends_on, shown = draw_panel(setup)
        for field, value in OTHER_VALUES.items():
            changed_dependencies, changed = draw_panel(setup.with_fields(**{field: value}))
            assert changed_dependencies != depends_on or changed == shown, f"{name} does not declare {field}"
            if changed != shown:
                has_effect.add(field)
    assert has_effect == {*PANELS[name].depends_on, "token"}
