"""A control shows a value, keeps what was refused, and tells the page what its widget sends."""

import pytest
import streamlit as st

from attention_core.record.errors import AttentionError
from pages.panels import link_controls as controls
from pages.panels.control import Control
from pages.panels.lesson_choices import LessonChoices, current_lesson_choices, get_lesson_link
from pages.panels.link_controls import link_control, number_control, text_control
from pages.session.linked_state import LinkedState
from pages.session.setup_state import WorkbenchState
from pages.setup.link_values import read_link_count

REFUSAL = AttentionError("no_tokens")


class Session(dict):
    """A session that counts how often each value is set."""

    def __init__(self, **values):
        super().__init__(values)
        self.sets = []

    def __setitem__(self, key, value):
        self.sets.append(key)
        super().__setitem__(key, value)


@pytest.fixture
def session(monkeypatch):
    own = Session(lesson="scale", choices="scale", lessons={"scale": LessonChoices(waiting={"keys": "8"})})
    monkeypatch.setattr(st, "session_state", own)
    return own


class Widget:
    """A widget that shows what the session has under its key."""

    def __call__(self, label, key, on_change, **how):
        self.label, self.key, self.on_change, self.how = label, key, on_change, how

    def send(self, value):
        dict.__setitem__(st.session_state, self.key, value)  # as a browser does
        self.on_change()


def make_control(value, state, taken=None, **how):
    take = print if taken is None else taken.append
    return Control("heads", "c_heads", value, take, state, "control.heads", str, **how)


def draw(control, *args, **how):
    widget = Widget()
    control.draw(widget, *args, **how)
    return widget


# ---- a control -------------------------------------------------------------------------------------------------------
def test_a_control_shows_its_value_and_passes_on_what_its_widget_sends(session):
    taken = []
    widget = draw(make_control(2, LinkedState(), taken), [1, 2, 4])
    assert (session["c_heads"], widget.label, widget.how["options"]) == (2, "Heads", [1, 2, 4])
    assert widget.how["format_func"](4) == "4"
    widget.send(4)
    assert taken == [4]


def test_a_value_that_something_else_changed_is_shown(session):
    draw(make_control(2, LinkedState()))
    draw(make_control(4, LinkedState()))
    assert session["c_heads"] == 4


def test_a_value_that_the_widget_shows_is_not_set_again_which_would_undo_a_click_that_is_on_its_way(session):
    for _ in range(2):
        draw(make_control(("a", "b"), LinkedState()))
        draw(number_control("keys", (4, 8), 4))
    assert session["c_heads"] == ["a", "b"]
    assert [session.sets.count(key) for key in ("c_heads", "scale.keys")] == [1, 1]


def test_a_widget_that_is_drawn_in_another_way_is_set_again(session):
    for written in ("black", "black", "noir"):
        draw(make_control(0, LinkedState()), [0], format_func=lambda _, text=written: text)
    assert session.sets.count("c_heads") == 2
    for most in (8, 16):
        draw(make_control(0, LinkedState()), max_value=most)
    assert session.sets.count("c_heads") == 4


def test_a_refused_input_stays_until_it_is_settled(session):
    state = LinkedState()
    draw(make_control(2, state)).send(7)
    state.refuse("heads", REFUSAL)
    draw(make_control(2, state))
    assert (session["c_heads"], state.refused) == (7, {"heads": REFUSAL})
    state.forget_refusals("heads")
    draw(make_control(2, state))
    assert session["c_heads"] == 2


def test_the_refusal_of_an_input_that_streamlit_dropped_is_forgotten(session):
    state = LinkedState(refused={"heads": REFUSAL, "text": REFUSAL})
    draw(make_control(2, state))
    assert (session["c_heads"], state.refused) == (2, {"text": REFUSAL})


def test_a_draft_of_the_workbench_goes_with_its_refusal():
    drafts = {"heads": {"heads": 7}, "text": {"text": ""}}
    state = WorkbenchState(refused=dict.fromkeys(drafts, REFUSAL), drafts=drafts)
    state.forget_refusals("heads")
    assert (state.refused, state.drafts) == ({"text": REFUSAL}, {"text": {"text": ""}})


def test_a_control_says_why_its_input_was_refused(session, monkeypatch):
    shown = []
    monkeypatch.setattr(st, "error", lambda sentence, icon: shown.append(sentence))
    session["c_heads"] = 7
    make_control(2, LinkedState(refused={"text": REFUSAL})).show(Widget())
    assert shown == []
    make_control(2, LinkedState(refused={"heads": REFUSAL})).show(Widget())
    assert len(shown) == 1


def test_what_a_moved_control_sends_late_is_not_taken(session):
    taken, state = [], LinkedState()
    late = draw(make_control("1 2", state, taken).moved())
    now = draw(make_control("3 4", state, taken).moved())
    late.send("1 2")
    assert taken == [] and now.key != late.key
    now.send("5 6")
    assert taken == ["5 6"]


def test_a_moved_control_keeps_a_refused_input_under_its_key(session):
    state = LinkedState()
    first = draw(make_control("1 2", state).moved())
    first.send("1 x")
    state.refuse("heads", REFUSAL)
    assert draw(make_control("3 4", state).moved()).key == first.key
    assert session[first.key] == "1 x"


# ---- a parameter of a lesson's link ----------------------------------------------------------------------------------
def test_the_value_of_a_link_comes_before_the_default(session):
    assert number_control("keys", (4, 8), 4).value == 8
    assert number_control("d_k", (4, 8), 4).value == 4


@pytest.mark.parametrize(
    ("text", "value", "unread"), [("8", 8, []), ("7", 4, [("keys", "7")]), ("x", 4, [("keys", "x")])]
)
def test_what_a_link_says_that_is_not_offered_is_named(session, text, value, unread):
    current_lesson_choices().waiting = {"keys": text}
    assert (number_control("keys", (4, 8), 4).value, current_lesson_choices().unread) == (value, unread)


def test_a_choice_goes_into_the_link_and_its_default_out_of_it(session):
    number_control("keys", (4, 8), 4).take(4)
    assert get_lesson_link() == {}
    number_control("keys", (4, 8), 4).take(8)
    assert get_lesson_link() == {"keys": "8"}
    assert number_control("keys", (4, 8), 4).value == 8


@pytest.mark.parametrize("sent", [7, "8; DROP", [], "nan"])
def test_a_browser_cannot_send_what_is_not_offered(session, sent):
    number_control("keys", (4, 8), 4).take(sent)
    assert number_control("keys", (4, 8), 4).value == 8  # as in the link


def test_a_number_that_other_choices_no_longer_offer_is_the_default(session):
    assert number_control("keys", (4, 8), 4).value == 8
    assert number_control("keys", (2, 4), 4).value == 4
    assert number_control("keys", (4, 8), 4).value == 8


def test_a_text_that_the_check_refuses_keeps_its_reason_and_the_former_value(session):
    def check(text):
        if not text:
            raise REFUSAL

    text_control("text", "shipped", check).take("typed")
    text_control("text", "shipped", check).take("")
    assert text_control("text", "shipped", check).value == "typed"
    assert current_lesson_choices().refused == {"text": REFUSAL}
    text_control("text", "shipped", check).take("again")
    assert (current_lesson_choices().refused, get_lesson_link()["text"]) == ({}, "again")


def test_controls_of_one_name_have_a_key_each_and_the_texts_of_their_lesson(session):
    keys = [link_control("keys", 4, read_link_count, of=of).key for of in ("", ".8")]
    assert keys == ["scale.keys", "scale.keys.8"]
    assert draw(link_control("keys", 4, read_link_count)).label == "Keys"


# ---- the widgets of a lesson -----------------------------------------------------------------------------------------
def accept(text):
    return text


WIDGETS = [  # the call, its widget, the default, what a browser sends, the value and the link of it
    (lambda: controls.choose_option("keys", ("a", "b")), "segmented_control", "a", "b", "b", "b"),
    (lambda: controls.choose_option("keys", ("a", "b"), "b"), "segmented_control", "b", "a", "a", "a"),
    (lambda: controls.choose_options("keys", ("a", "b"), ("a",)), "pills", ("a",), ["b", "a"], ("b", "a"), "b,a"),
    (lambda: controls.choose_options("keys", ("a", "b"), ("a",)), "pills", ("a",), [], (), ""),
    (lambda: controls.choose_place("keys", ["it", "fed"]), "pills", None, 1, 1, "1"),
    (lambda: controls.pick_place("keys", ["it", "fed"], 1), "selectbox", 1, 0, 0, "0"),
    (lambda: controls.switch("keys"), "toggle", False, True, True, "True"),
    (lambda: controls.switch("keys", True), "toggle", True, False, False, "False"),
    (lambda: controls.slide("keys", (0.5, 1.0), 1.0), "select_slider", 1.0, 0.5, 0.5, "0.5"),
    (lambda: controls.choose_whole_number("keys", 3), "number_input", 3, 4, 4, "4"),
    (lambda: controls.text_box("keys", "it", accept), "text_input", "it", "fed", "fed", "fed"),
    (lambda: controls.text_box("keys", "it", accept, tall=True), "text_area", "it", "fed", "fed", "fed"),
]


@pytest.fixture
def widgets(session, monkeypatch):
    """The widgets of Streamlit by name, each of which keeps how it was drawn last."""
    current_lesson_choices().waiting = {}
    monkeypatch.setattr(controls, "option_labels", lambda name: str)
    made = {name: Widget() for name in {row[1] for row in WIDGETS}}
    for name, widget in made.items():
        monkeypatch.setattr(st, name, widget)
    return made


@pytest.mark.parametrize(("choose", "name", "default", "sent", "value", "link"), WIDGETS)
def test_a_widget_begins_with_its_default_and_is_in_the_link_where_it_differs(
    widgets, session, choose, name, default, sent, value, link
):
    assert (choose(), get_lesson_link()) == (default, {})
    assert session["scale.keys"] == (list(default) if isinstance(default, tuple) else default)
    widgets[name].send(sent)
    assert (choose(), get_lesson_link()) == (value, {"keys": link})
    widgets[name].send(list(default) if isinstance(default, tuple) else default)
    assert (choose(), get_lesson_link()) == (default, {})


@pytest.mark.parametrize(("choose", "name", "default", "sent", "value", "link"), WIDGETS)
def test_a_link_sets_a_widget(widgets, session, choose, name, default, sent, value, link):
    current_lesson_choices().waiting = {"keys": link}
    assert (choose(), session["scale.keys"]) == (value, sent)


CHECKED_WIDGETS = [row[:3] for row in WIDGETS if "text" not in row[1]]  # a text is what its check accepts


@pytest.mark.parametrize(("choose", "name", "default"), CHECKED_WIDGETS)
def test_what_a_widget_does_not_offer_is_named_in_a_link_and_not_taken(widgets, session, choose, name, default):
    current_lesson_choices().waiting = {"keys": "-7"}
    assert (choose(), current_lesson_choices().unread) == (default, [("keys", "-7")])
    widgets[name].send("-7")
    assert (choose(), get_lesson_link()) == (default, {})


def test_each_default_of_a_slider_that_moves_has_a_slider(widgets, session):
    for default in (0.5, 1.0):
        controls.slide("keys", (0.5, 1.0), default, moves=True)
    assert {"scale.keys.0.5", "scale.keys.1.0"} <= session.keys()


def test_an_example_is_always_in_the_link_because_its_default_depends_on_the_language(widgets, session):
    chosen = controls.pick_example("en_it", "zh_ta", zh="zh_ta")
    assert (chosen.run.example, get_lesson_link()) == ("en_it", {"ex": "en_it"})
    widgets["selectbox"].send("zh_ta")
    assert controls.pick_example("en_it", "zh_ta", zh="zh_ta").run.example == "zh_ta"
    assert get_lesson_link() == {"ex": "zh_ta"}
