"""A widget that shows what something else can change, too."""

from tests.screen.driver import Screen


def test_what_a_browser_says_before_it_has_heard_is_no_choice():
    screen = Screen("step_drawer").open_step("scores")
    late = screen.at._tree.get_widget_states()
    screen.open_step("weights")
    screen.ran(screen.at._run, late)
    assert screen.look()["step"] == "weights"


def test_a_picker_keeps_its_key_when_it_is_used_itself():
    screen = Screen("step_drawer").open_step("scores")

    def picker():
        return next(box for box in screen.at.selectbox if box.key.startswith("c_step"))

    key = picker().key
    screen.ran(picker().set_value("weights").run)
    assert (picker().key, screen.look()["step"]) == (key, "weights")  # so that the focus stays
    screen.open_step("output")
    assert (picker().key != key, picker().value) == (True, "output")


def test_the_old_text_of_a_matrix_does_not_take_a_cell_back():
    screen = Screen().set("edited", "w_q")
    late = screen.at._tree.get_widget_states()  # the grid says by itself that it is done, and with it what the box held
    screen.edit_cells({1: {0: "0"}})
    screen.ran(screen.at._run, late)
    assert screen.link() == {"w_q": "~1.0=0"}


def test_the_old_text_of_x_does_not_take_a_cell_back():
    screen = Screen(x="~").set("edited", "x")
    late = screen.at._tree.get_widget_states()
    screen.edit_cells({0: {0: "5"}})
    screen.ran(screen.at._run, late)
    assert screen.link()["x"] == "~0.0=5"
