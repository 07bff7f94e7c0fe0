"""A browser may send anything for any widget: what no screen offers is refused or ignored, and the screen stands."""

import json

import pytest

from attention_core.inputs.matrix_link import read_matrix
from pages.setup.codec import check_link_values, setup_from_link, setup_to_link
from pages.setup.setup import Setup, make_setup
from tests.screen.driver import Screen
from tests.workbench.test_large import SENTENCE
from tests.workbench.test_tensors import brought


def choose(screen, key, *texts):
    """What a browser sends for a choice, without asking what is offered."""
    widget = screen.widget(key)
    states = screen.at._tree.get_widget_states()
    for old in [state for state in states.widgets if state.id == widget.id]:
        states.widgets.remove(old)
    state = states.widgets.add(id=widget.id)
    if widget.type == "selectbox":
        state.string_value = texts[0]
    else:
        state.string_array_value.SetInParent()
        state.string_array_value.data.extend(texts)
    Screen.outside = screen.language
    return screen.ran(screen.at._run, states)


def stands(screen, setup):
    """The Setup is what it was, and its link can say it."""
    assert screen.setup() == setup
    assert setup_from_link(setup_to_link(setup)) == (setup, [])
    assert screen.fact()


@pytest.mark.parametrize("text", ["nonsense", ""])
def test_a_choice_that_is_not_offered_changes_nothing(text):
    screen = Screen()
    setup = screen.setup()
    for key in ("score", "dtype", "device", "heads", "kv_heads", "positions", "built", "step", "scale"):
        stands(choose(screen, key, text), setup)
    stands(choose(screen, "masks", text, "local window", text), make_setup(masks=("local:1",)))


def test_nothing_chosen_where_something_must_be_is_the_beginning():
    screen = choose(Screen(scale="1.0"), "scale")
    assert screen.setup() == Setup()
    screen = Screen(more="a b\nc", sentence="1", step="scores", cell="1,0,0,0")
    stands(choose(screen, "sentence"), make_setup(more="a b\nc", step="scores", cell=(0, 0, 0, 0)))


def test_a_choice_that_is_not_offered_is_named():
    screen = choose(Screen(), "score", "nonsense")
    assert (
        screen.error_at("c_score") == "score must be something that the address of the screen can hold: got “nonsense”"
    )
    assert choose(screen, "score", screen.widget("score").options[1]).errors() == []


@pytest.mark.parametrize("key", ["axis_scores_1", "axis_scores_3"])
def test_a_place_that_is_not_there_opens_nothing(key):
    screen = Screen(step="scores", cell="0,0,5,3")
    stands(choose(screen, key, "nonsense"), screen.setup())


def test_a_global_token_that_is_not_there_is_refused():
    screen = Screen(mask="local_global:1:0")
    setup = screen.setup()
    stands(choose(screen, "local_global_global_tokens", "nonsense"), setup)
    assert screen.error_at("c_local_global_global_tokens").startswith("masks must be something that the address")


def test_an_array_that_is_not_there_is_no_role():
    screen = brought()
    setup = screen.setup()
    stands(choose(screen, "role_q", "nonsense"), setup)
    assert screen.error_at("c_role_q").startswith("q must be one of the arrays of the file")
    screen = brought()
    stands(choose(screen, "role_weights", "nonsense"), make_setup(file=setup.run.file, roles=("q:0", "k:1", "v:2")))


# ---- clicks ----------------------------------------------------------------------------------------------------------
NO_CELLS = [None, 5, "ab", {"a": 1}, [], [None], [5], ["ab"], [[]], [{}], [{"step": "scores"}], [{"index": "0,0,0,0"}]]
NO_CELLS += [[{"step": step, "index": ""}] for step in ("nope", 5, None, True, ["scores"], {"scores": 1})]
NO_CELLS += [[{"step": "nope", "index": "0"}], [{"step": "w_a", "index": "0,0"}]]
NO_CELLS += [
    [{"step": "scores", "index": index}]
    for index in ("0,0,0", "0,0,0,7", "0,0,0,-1", "0,0,0,0,0", "a,b", "1e5", "0,,0", "٣,0,0,0", "0,0,0," + "9" * 5000)
]
NO_CELLS += [[{"step": "scores", "index": index}] for index in (5, [0, 0, 0, 0], {"a": 1}, True)]
NO_CELLS += [[{"step": "weights", "index": f"head {head}"}] for head in ("2", "99", "-1", "x", "", "9" * 5000)]


@pytest.mark.slow
def test_a_click_on_what_is_not_there_opens_nothing():
    """Also an honest one: on a picture that the browser shows until the next run has drawn another."""
    screen = Screen(step="scores", cell="0,0,5,3")
    screen.set("pin", True)
    setup, chart = screen.setup(), screen.charts()["compared"].proto.id
    for cells in NO_CELLS:
        stands(screen.send(chart, string_value=json.dumps({"selection": {"cell": cells}})), setup)


NO_PLACES = [
    None,
    True,
    5,
    "ab",
    [],
    {},
    [1],
    {"index": [0]},
    {"step": "scores"},
    {"step": ["scores"], "index": [0]},
]
NO_PLACES += [{"step": "scores", "index": index} for index in (None, 5, "abcd", {}, [0], [0, 0, 0, 700], [0, 0, 0, -1])]
NO_PLACES += [{"step": "scores", "index": [0, 0, 0, at]} for at in (0.5, True, None, "0", [0], float("nan"), 2**70)]


def test_a_followed_number_that_is_not_there_opens_nothing():
    screen = Screen(step="scores", cell="0,0,5,3")
    setup = screen.setup()
    for place in NO_PLACES:
        stands(screen.click_part("look", "followed", place), setup)


NO_LOOKS = [
    {"query": query, "head": head, "step": step, "stop": None}
    for query, head, step in [(-1, 0, None), (0, 99, None), (0, 0, "no step"), (0, 0, ["scores"]), (True, 0, None)]
]
NO_LOOKS += [{"query": 0, "head": 0, "step": None, "stop": stop} for stop in ("no stop", ["plane"], 5, "heads-<b>")]


@pytest.mark.parametrize("part, event", [("look", "looked"), ("look", "opened"), ("shortcuts", "moved")])
def test_a_part_that_sends_nonsense_is_not_heard(part, event):
    screen = Screen(cross="True")
    setup = screen.setup()
    for value in (None, True, -1, 99, 0.5, float("nan"), "ab", [], {}, [0], {"head": 0}, *NO_LOOKS):
        stands(screen.click_part(part, event, value), setup)


def test_a_canvas_that_sends_nonsense_is_not_heard():
    screen = Screen(text=SENTENCE, heads="4", allowed="~").set("edited", "allowed")
    setup = screen.open_map().setup()
    for value in (None, 4, -1, 0.5, True, [], {"head": 1}):
        stands(screen.look_at(head=value), setup)
    for value in (4, "nothing", ["scores"], {"step": "scores"}):
        stands(screen.look_at(step=value), setup)
    for value in (5, {"step": ["scores"], "index": [0]}, {"step": "scores", "index": [0, 0, 0, 700]}):
        stands(screen.click_part("large_map", "opened", value), setup)
    for value in (5, {"cells": 5, "to": 0}, {"cells": [[0, 0]]}):
        stands(screen.click_part("mask", "painted", value), setup)
    cells = [[0, 0], [0], [0, 0, 0], ["a", 0], [0.5, 0], [True, False], [float("nan"), 0], [2**70, 0], [0, 100], 5]
    screen.click_part("mask", "painted", {"cells": cells, "to": 0})
    assert screen.setup().run.allowed == read_matrix("~0.0=0")


# ---- cells -----------------------------------------------------------------------------------------------------------
NO_EDITS = [
    {"edited_rows": {"0": None}},
    {"edited_rows": {"0": [1]}},
    {"edited_rows": {"0": {"nope": "1"}}},
    {"edited_rows": {"99": {"1": "1"}}},
    {"edited_rows": {"-1": {"1": "1"}}},
    {"edited_rows": {"0": {"1": "7"}}, "added_rows": [{"1": "1"}]},
    {"edited_rows": {"0": {"1": "7"}}, "added_rows": 5},
    {"edited_rows": {"0": {"1": "7"}}, "deleted_rows": [0]},
    {"edited_rows": {"0": {"1": "7"}}, "deleted_rows": "x"},
]


@pytest.mark.parametrize("sent", NO_EDITS)
def test_cells_that_are_not_there_are_not_edited(sent):
    screen = Screen("matrices")
    setup = screen.setup()
    (editor,) = [frame for frame in screen.at.get("dataframe") if frame.proto.id]
    stands(screen.send(editor.proto.id, string_value=json.dumps(sent)), setup)
    assert screen.edit_cells({1: {0: "6"}}).link() == {"w_q": "~1.0=6"}


def test_every_token_can_be_a_global_one():
    parts = {"masks": ("local_global:1:" + ":".join(map(str, range(512))),)}
    check_link_values(parts)
    assert setup_from_link(setup_to_link(make_setup(**parts))) == (make_setup(**parts), [])
