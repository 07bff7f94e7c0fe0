"""The matrices: edited, pasted, made, taken away."""

import numpy as np
import pytest
import torch

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.initial_matrices import random_matrix
from pages.runs import cache
from pages.site.words import LANGUAGES, load_app_texts, strip_markup
from tests.screen.driver import Screen, it_to_dog


def test_an_edited_cell_changes_that_cell_alone_and_the_link_carries_it_alone():
    screen = Screen().edit_cells({1: {0: 6.0}})
    assert screen.link() == {"w_q": "~1.0=6"}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(1.5 * 2**-0.5), abs=1e-12)  # q_it = (-6, 3)
    w_q = np.array(EXAMPLES["en_it"].w_q, dtype=float)
    w_q[1, 0] = 6
    assert np.array_equal(cache.inputs_of(screen.setup()).matrices["w_q"], w_q)
    assert screen.weight(1, 0, head=1) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)  # head 2 is as it was
    screen.edit_cells({2: {3: 0.0}, 0: {0: 1.5}})
    assert screen.link() == {"w_q": "~0.0=1.5;1.0=6;2.3=0"}
    screen.edit_cells({1: {0: 3}, 0: {0: 0}, 2: {3: -3}})
    assert screen.link() == {"w_q": "~"}


def test_each_matrix_has_its_editor():
    screen = Screen()
    for name, cell in (("w_k", "~3.3=2.5"), ("w_v", "~3.3=2.5"), ("w_o", "~3.3=2.5"), ("x", "~3.3=2.5")):
        screen.set("edited", name).edit_cells({3: {3: 2.5}})
        assert screen.link()[name] == cell
    assert screen.widget("mode").value == "matrix"


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_emptied_cell_keeps_its_number_and_says_so(language):
    screen = Screen(lang=language)
    fact = screen.fact()
    screen.edit_cells({1: {1: None}})
    assert screen.errors() == [
        {
            "en": "w_q, row 2, column 2, must be a finite number: it was emptied; the old number stays",
            "zh": "w_q 第 2 行第 2 列必须是有限数：这一格清空了，原来的数仍然保留。",
        }[language]
    ]
    assert screen.fact() == fact and "w_q" not in screen.link()
    screen.edit_cells({1: {0: 6.0, 1: None}})  # what can be taken is taken
    assert screen.link()["w_q"] == "~1.0=6"
    assert len(screen.errors()) == 1
    screen.edit_cells({1: {0: 3.0}})
    assert screen.errors() == []


def test_a_cell_beyond_a_million_is_refused():
    screen = Screen().edit_cells({0: {0: 1e308}})
    assert screen.errors()[0].startswith("w_q, row 1, column 1, must lie between -1000000 and 1000000")
    assert screen.link() == {}


def test_paste_into_a_matrix():
    screen = Screen()
    assert screen.paste_box().value.splitlines()[1] == "3  -3  0  0"
    screen.paste("0\t0\t0\t0\n6\t-3\t0\t0\n0\t0\t3\t-3\n0\t0\t0\t0")
    assert screen.link() == {"w_q": "~1.0=6"}
    assert screen.paste_box().value.splitlines()[1] == "6  -3  0  0"
    screen.paste("1 2\n3 4")
    assert screen.errors() == ["w_q must have as many rows as x has columns: x is (1, 7, 4), w_q is (2, 2)"]
    assert screen.link() == {"w_q": "~1.0=6"}
    screen.paste("1 2 x")
    assert screen.errors() == ["w_q, row 1, column 3, must be a number: got “x”"]
    assert screen.paste_box().value == "1 2 x"


def test_identity_zeros_take_away_and_reset():
    screen = Screen().press("b_identity_w_q")
    assert screen.link() == {"w_q": "identity~"}
    assert np.array_equal(cache.inputs_of(screen.setup()).matrices["w_q"], np.eye(4))
    screen.press("b_zeros_w_q")
    assert screen.weight(5, 3) == pytest.approx(1 / 7, abs=1e-15)
    screen.press("b_none_w_q")
    assert screen.link() == {"w_q": "none"}
    assert "q_projected" not in screen.steps()
    assert load_app_texts("en")["editor.removed"].format(name="w_q") in screen.captions()
    assert "Built by hand: x, $W_{k}$, $W_{v}$, $W_{o}$. Removed: $W_{q}$." in screen.captions()
    assert screen.widget("edited").options == [
        *("x", "w_q", "w_k", "w_v", "w_o", "b_k", "b_v", "b_o", "what if: scores", "what if: weights", "mask")
    ]
    screen.press("b_reset_w_q")
    assert screen.link() == {}
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)


def test_a_random_matrix_says_its_seed_and_every_click_is_another():
    screen = Screen().press("b_random_w_q")
    for seed in (0, 1):
        assert screen.link() == {"w_q": f"random.{seed}~"}
        drawn = cache.inputs_of(screen.setup()).matrices["w_q"]
        assert np.array_equal(drawn, random_matrix("w_q", (4, 4), seed))
        assert f"w_q (seed {seed}), 4 × 4, random" in screen.captions()
        screen.press("b_random_w_q")
    expected = random_matrix("w_q", (4, 4), 2)
    expected[3, 2] = 0.5
    screen.edit_cells({3: {2: 0.5}})
    assert np.array_equal(cache.inputs_of(screen.setup()).matrices["w_q"], expected)
    assert "w_q, 4 × 4, edited" in screen.captions()


@pytest.mark.slow
def test_a_large_matrix_is_edited_in_a_part_of_it():
    screen = Screen(ex="eight_heads").set("row_w_q", 300).set("column_w_q", 497)
    screen.edit_cells({2: {14: 7.5}})  # row 302, column 511
    assert screen.link()["w_q"] == "~301.510=7.5"
    assert cache.inputs_of(screen.setup()).matrices["w_q"][301, 510] == 7.5
    screen.press("b_identity_w_q")
    assert {key: text for key, text in screen.link().items() if key not in ("t", "head")} == {
        "ex": "eight_heads",
        "w_q": "identity~",
    } and screen.errors() == []
    screen.press("b_zeros_w_q")
    assert screen.weight(9, 3, head=5) == pytest.approx(1 / 10, abs=1e-12)


def test_another_seed_draws_the_weights_of_an_example_that_is_random():
    screen = Screen(ex="eight_heads")
    assert any("Random: x (seed 0), W_q (seed 1), W_k (seed 2)" in strip_markup(text) for text in screen.captions())
    before = cache.trace_for(screen.setup())["weights"]
    screen.press("b_seed_w_q")
    assert any("Random: x (seed 0), W_q (seed 11), W_k (seed 12)" in strip_markup(text) for text in screen.captions())
    drawn = torch.randn((512, 512), generator=torch.Generator().manual_seed(11), dtype=torch.float64) / 512**0.5
    np.testing.assert_allclose(cache.inputs_of(screen.setup()).matrices["w_q"], drawn.numpy(), rtol=1e-15)
    assert not torch.equal(cache.trace_for(screen.setup())["weights"], before)


def test_too_wide_to_edit_in_cells_and_too_long_to_show_as_text():
    screen = Screen("matrices", ex="eight_heads")
    assert "A part of 16 × 16 cells is shown; choose where it begins." in screen.captions()
    assert screen.paste_box().value == ""
    screen.paste("1 2\n3 4")
    assert screen.errors()[0].startswith("w_q must have as many rows as x has columns")
    long = Screen(ex="eight_heads", text=" ".join(["tired"] * 64)).set("mode", "matrix")
    assert long.widget("x").value == "" and long.errors() == []
    wide = Screen(ex="eight_heads", text=" ".join(["tired"] * 64), heads="1").set("mode", "qkv")
    assert wide.errors()[0].startswith("the text of q may have at most 200000 characters")
    assert wide.fact().startswith("Head 1")


def test_numbers_beyond_a_million_are_not_handed_on_as_q_k_and_v():
    screen = Screen(w_q="~1.0=1e6", x="~5.1=-9").set("mode", "qkv")
    assert screen.error_at("c_mode").startswith("q, row 6, column 1, must lie between -1000000 and 1000000")


def test_a_matrix_of_many_rows_is_pasted():
    screen = Screen(x=",".join(["1"] * 128), heads="16", kv="1").set("edited", "w_k")
    assert "A part of 16 × 8 cells is shown; choose where it begins." in screen.captions()
    screen.paste("\n".join(["0 1 2 3 4 5 6 7"] * 128))
    assert screen.errors() == []
    assert np.array_equal(cache.inputs_of(screen.setup()).matrices["w_k"], np.tile(np.arange(8.0), (128, 1)))


def test_the_seed_of_everything_random_is_shown_and_changed():
    screen = Screen(score="additive").set("edited", "v_a")
    assert "v_a (seed 0), 1 × 2, random" in screen.captions()
    before = screen.weight(5, 3)
    screen.press("b_seed_v_a")
    assert "v_a (seed 1), 1 × 2, random" in screen.captions()
    assert screen.weight(5, 3) != before
    assert screen.link() == {"score": "additive", "seed": "1"}


def test_the_cells_of_a_matrix_say_what_they_stand_for():
    (editor,) = [frame for frame in Screen("matrices").at.get("dataframe") if frame.proto.id]
    assert list(editor.value.index) == ["1 noun", "2 pronoun", "3 verb", "4 other"]
    assert list(editor.value.columns) == ["1 (head 1)", "2 (head 1)", "3 (head 2)", "4 (head 2)"]


def test_a_context_from_a_file_renames_the_keys_in_their_text_box_too():
    screen = Screen(cross="True").set("edited", "context")
    (box,) = [box for box in screen.at.file_uploader if box.key.startswith("u_context")]
    screen.ran(box.set_value(("w.csv", b"1,2,3,4\n" * 4, "")).run)
    assert screen.widget("context_text").value == "1 2 3 4"


def test_a_refused_file_stays_in_its_box_when_something_else_is_done():
    screen = Screen().set("edited", "w_q")
    (box,) = [box for box in screen.at.file_uploader if box.key.startswith("u_w_q")]
    screen.ran(box.set_value(("w.json", b'{"format": "attention-explorer"}', "")).run)
    assert screen.errors()
    screen.at.session_state["workbench"].refused.clear()  # as a change elsewhere does
    assert screen.ran(screen.at.run).errors() == []
