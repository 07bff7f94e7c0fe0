"""A forged value of any widget of Streamlit is left out: nothing raises, and the widget keeps what it had."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from pages.app.sent_values import leave_out_unusable_values
from tests.screen.driver import walk

DEEP = "[" * 100_000
TEXTS = ["", "x", "{", "5", "null", "true", '"selection"', '["selection"]', '{"selection": 5}', '{"selection": [1]}']
TEXTS += ['{"edited_rows": 5}', '{"edited_rows": {"x": {}}}', "[]", "NaN", DEEP]
SENT = {
    "string_value": TEXTS,
    "json_value": TEXTS,
    "json_trigger_value": TEXTS,
    "string_array_value": [["x"], ["a", "x"], ["x"] * 500],
    "double_array_value": [[], [float("nan")], [1e300], [1.0, 2.0, 3.0]],
    "int_array_value": [[7], [-1]],
    "double_value": [float("nan"), float("inf"), -1e300],
    "int_value": [2**62, -1],
    "bytes_value": [b"\xff"],
    "bool_value": [True],
    "trigger_value": [True],
    "file_uploader_state_value": ["x.exe"],
}
MAY_BE_SENT = {  # kinds of which some value is one of a person, or an option that the page refuses by its name
    "string_value": {"text", "area", "cells", "one"},
    "string_array_value": {"many", "pills", "segments"},
    "bool_value": {"toggle", "popover"},
    "trigger_value": {"button"},
}


def page_of_widgets():
    """One of each kind of widget that the app uses; each change is read by a callback, as the app does."""
    import pandas as pd
    import streamlit as st

    def read(key):
        st.session_state.setdefault("read", []).append((key, st.session_state[key]))

    def called(key):
        return {"key": key, "on_change": read, "args": [key]}

    st.slider("slider", 0, 9, 4, **called("slider"))
    st.select_slider("select_slider", ["a", "b"], "b", **called("select_slider"))
    st.number_input("whole", 0, 9, 4, **called("whole"))
    st.number_input("number", 0.0, 9.0, 4.0, **called("number"))
    st.selectbox("one", ["a", "b"], 1, **called("one"))
    st.multiselect("many", ["a", "b"], ["b"], **called("many"))
    st.pills("pills", ["a", "b"], default=["b"], selection_mode="multi", **called("pills"))
    st.segmented_control("segments", ["a", "b"], default="b", **called("segments"))
    st.text_input("text", "kept", **called("text"))
    st.text_area("area", "kept", **called("area"))
    st.toggle("toggle", False, **called("toggle"))
    st.button("button", key="button", on_click=read, args=["button"])
    st.popover("popover", key="popover", on_change="rerun")
    st.file_uploader("file", [".csv"], **called("file"))
    st.data_editor(pd.DataFrame({"a": ["1"]}), **called("cells"))
    chart = {"mark": "point", "params": [{"name": "cell", "select": "point"}]}
    st.vega_lite_chart(pd.DataFrame({"a": [1]}), chart, key="chart", on_select=lambda: read("chart"))


KEYS = ("slider", "select_slider", "whole", "number", "one", "many", "pills", "segments", "text", "area", "toggle")
KEYS += ("button", "popover", "file", "cells", "chart")
KEPT = {"slider": 4, "select_slider": "b", "whole": 4, "number": 4.0, "one": "b", "many": ["b"], "pills": ["b"]}
KEPT |= {"segments": "b", "text": "kept", "area": "kept", "toggle": False, "file": None}


def forge(widget_id, field, value):
    """One value as a browser sends it."""
    state = WidgetState(id=widget_id)
    if field == "file_uploader_state_value":
        state.file_uploader_state_value.uploaded_file_info.add(file_id="no", name=value, size=1)
    elif field.endswith("array_value"):
        getattr(state, field).data.extend(value)
    else:
        setattr(state, field, value)
    return state


@pytest.fixture(scope="module")
def page():
    """A session, and the number of each widget as messages name it, by its key."""
    leave_out_unusable_values()
    at = AppTest.from_function(page_of_widgets).run()
    numbers = {node.proto.id.rpartition("-")[2]: node.proto.id for node in walk(at._tree) if hasattr(node.proto, "id")}
    numbers |= {"popover": next(node.proto.popover.id for node in walk(at._tree) if node.type == "popover")}
    assert numbers.keys() == {*KEYS}
    return at, numbers


@pytest.mark.parametrize("field", SENT)
def test_a_forged_value_is_left_out_and_the_widget_keeps_its_own(field, page):
    at, numbers = page
    for value in SENT[field]:
        at.session_state["read"] = []
        states = [forge(numbers[key], field, value) for key in KEYS if key not in MAY_BE_SENT.get(field, ())]
        at._run(WidgetStates(widgets=states))
        assert not at.exception, (value, [(error.message, error.stack_trace) for error in at.exception])
        assert at.session_state["read"] == []
        assert {key: at.session_state[key] for key in KEPT} == KEPT, value


def test_a_value_that_came_before_its_widget_is_left_out_too(page):
    _, numbers = page
    at = AppTest.from_function(page_of_widgets)
    sent = [("chart", "string_value", "{"), ("slider", "string_value", "x"), ("file", "file_uploader_state_value", "x")]
    at._run(WidgetStates(widgets=[forge(numbers[key], field, value) for key, field, value in sent]))
    assert not at.exception
    assert {key: at.session_state[key] for key in KEPT} == KEPT


def test_what_a_person_sends_arrives(page):
    at, numbers = page
    at.session_state["read"] = []
    sent = {"slider": ("double_array_value", [7]), "whole": ("int_value", 7), "number": ("double_value", 7.5)}
    sent |= {"one": ("string_value", "a"), "pills": ("string_array_value", ["a"]), "toggle": ("bool_value", True)}
    sent |= {"chart": ("string_value", '{"selection": {"cell": [{"step": "q"}]}}')}
    at._run(WidgetStates(widgets=[forge(numbers[key], *value) for key, value in sent.items()]))
    read = dict(at.session_state["read"])
    assert read.pop("chart").selection == {"cell": [{"step": "q"}]}
    assert read == {"slider": 7, "whole": 7, "number": 7.5, "one": "a", "pills": ["a"], "toggle": True}
