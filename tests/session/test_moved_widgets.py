"""A widget that shows what something else can change, too."""

from tests.screen.driver import Screen


def test_what_a_browser_says_before_it_has_heard_is_no_choice():
    screen = Screen().open_step("scores")
    late = screen.at._tree.get_widget_states()
    screen.open_step("weights")
    screen.ran(screen.at._run, late)
    assert screen.look()["step"] == "weights"


def test_a_picker_keeps_its_key_when_it_is_used_itself():
    screen = Screen().open_step("scores")

    def picker():
        return next(box for box in screen.at.selectbox if box.key.startswith("c_step"))

    key = picker().key
    screen.ran(picker().set_value("weights").run)
    assert (picker().key, screen.look()["step"]) == (key, "weights")  # so that the focus stays
    screen.open_step("output")
    assert (picker().key != key, picker().value) == (True, "output")
