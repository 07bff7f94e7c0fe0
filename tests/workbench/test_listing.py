"""The whole code beside an example of code: its numbers are those of the screen, until that is changed."""

import pytest

from attention_core.examples.code_examples import LISTINGS
from tests.screen.driver import Screen


def texts(screen):
    return " ".join([*screen.captions(), *(each.value for each in screen.at.markdown)])


def listing_on(screen):
    (code,) = [each.value for each in screen.at.code if "def draw" in each.value]
    return code


@pytest.mark.parametrize("name", LISTINGS)
def test_the_listing_gives_the_numbers_of_the_screen(name):
    screen = Screen(ex=f"code_{name}")
    assert screen.errors() == []
    assert listing_on(screen) == LISTINGS[name].source
    assert "the code gives the output and the weights on the screen" in texts(screen)
    assert "Sequence 2" in [option for each in screen.at.button_group for option in each.options]


def test_a_screen_that_was_changed_has_other_numbers():
    screen = Screen(ex="code_multi_head_class").set("scale", "off")
    assert screen.errors() == []
    assert "The example was changed here: the code as it stands gives numbers that differ by up to" in texts(screen)
    assert "output of another shape" in texts(Screen(ex="code_multi_head_class", w_o="none", b_o="none", heads="4"))


def test_masks_and_heads_can_be_changed():
    screen = Screen(ex="code_cross_heads_class").set("masks", ["padding"])
    assert screen.errors() == []
    assert screen.weight(0, 5) == 0 and screen.weight(0, 4) > 0
    screen.set("heads", 4)
    assert screen.errors() == [] and screen.numbers("weights").shape == (2, 4, 5, 6)
    assert "heads" not in [each.key for each in Screen(ex="code_torch_function").at.selectbox]


def test_the_second_sequence_is_looked_at():
    screen = Screen(ex="code_numpy_function").set("sentence", 1)
    assert screen.link()["sentence"] == "1"
    assert [screen.weight(0, key) for key in range(4)][3] == 0  # the filling
    assert screen.errors() == []


@pytest.mark.parametrize("name", ["code_torch_function", "code_cross_heads_class"])
def test_its_numbers_can_be_typed_as_matrices(name):
    screen = Screen(ex=name).set("mode", "qkv")
    assert screen.errors() == [] and screen.link()["q"]
    assert Screen(**screen.link()).errors() == []
    back = screen.set("mode", "code")
    assert back.errors() == [] and "q" not in back.link()
    matrix = back.set("mode", "matrix")
    assert matrix.errors() == []


def test_a_sentence_cannot_be_typed_there():
    assert any("only draws numbers" in error for error in Screen(ex="code_eighth_class", text="hello").errors())


def test_another_example_has_no_listing():
    assert [each.value for each in Screen().at.code if "def draw" in each.value] == []
