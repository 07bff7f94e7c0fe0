"""What the layer is made of: wiring, sizes, biases, heads built by hand; and what if a number were another."""

import math

import numpy as np
import pytest
import torch

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_values import REMOVED
from pages.runs import cache
from tests.screen.driver import Screen, it_to_dog, softmax


def step(screen, name):
    return cache.trace_for(screen.setup())[name]


def own(name, matrix):
    return EXAMPLES[name].tensor(matrix)


# ---- wiring ----------------------------------------------------------------------------------------------------------
def test_q_and_k_are_swapped():
    """The raw scores of the swapped layer are the transposed ones."""
    plain = step(Screen(), "scores")
    swapped = step(Screen().set("wiring", ["swapped"]), "scores")
    assert torch.equal(swapped, plain.transpose(-1, -2))


def test_one_matrix_for_all_three():
    trace = cache.trace_for(Screen().set("wiring", ["tied"]).setup())
    assert torch.equal(trace["w_k"], own("en_it", "w_q"))
    assert torch.equal(trace["w_v"], own("en_it", "w_q"))
    assert torch.equal(trace["scores"], trace["scores"].transpose(-1, -2))


def test_the_residual_is_a_step():
    screen = Screen().set("wiring", ["residual"])
    assert screen.steps()[-1] == "residual"
    expected = own("en_it", "x") + step(screen, "output")[0]
    assert torch.equal(step(screen, "residual")[0], expected)
    assert "New: residual" in " ".join(text.value for text in screen.at.markdown)


def test_even_weights_stand_in_the_place_of_the_softmaxs_and_keep_to_the_mask():
    screen = Screen().set("wiring", ["even"])
    assert step(screen, "weights").flatten().tolist() == pytest.approx([1 / 7] * 98)
    assert step(screen, "computed_weights")[0, 0, 5, 3] > 0.9
    assert "attends evenly" in screen.fact()
    screen.set("masks", ["causal"])
    assert step(screen, "weights")[0, 0, 2].tolist() == pytest.approx([1 / 3] * 3 + [0] * 4)


def test_w_o_is_taken_away_and_comes_back():
    screen = Screen().set("wiring", ["no_output"])
    assert screen.setup().run.w_o == REMOVED
    assert torch.equal(step(screen, "output"), step(screen, "concat"))
    assert screen.set("wiring", []).setup().run.w_o is None


def test_without_positions_the_token_before_is_any_token():
    screen = Screen(ex="zh_colour")
    assert screen.weight(1, 0) > 0.9
    screen.set("wiring", ["bare"])
    trace = cache.trace_for(screen.setup())
    assert trace["x"][0, :, 4:].abs().max() == 0
    assert trace["weights"][0, 0].flatten().tolist() == pytest.approx([1 / 5] * 25)
    screen.set("positions", ["alibi"])  # positions again, by another way
    assert screen.setup().run.wiring == ()


def test_a_wiring_that_does_not_fit_is_refused_at_its_control():
    screen = Screen(ex="cross_en_zh").set("text", "I saw").set("context_text", "猫")
    screen = Screen(ex="source_004").set("wiring", ["residual"])
    assert screen.error_at("c_wiring").startswith("the residual adds x to the output")
    assert screen.setup().run.wiring == ()


# ---- sizes -----------------------------------------------------------------------------------------------------------
def test_wider_heads_keep_their_columns_and_change_no_score():
    screen = Screen().edit_cells({0: {2: 1.5}})  # head 2's first column
    before = step(screen, "scores")
    screen.set("d_k", 3)
    w_q = step(screen, "w_q")
    assert w_q.shape == (4, 6)
    assert (
        w_q[:, [0, 1, 3, 4]].tolist() == (own("en_it", "w_q") + torch.tensor([[0, 0, 1.5, 0]] + [[0] * 4] * 3)).tolist()
    )
    assert w_q[:, [2, 5]].abs().max() == 0
    assert torch.equal(step(screen, "scores"), before)
    screen.set("d_k", 2)
    assert step(screen, "w_q")[0, 2] == 1.5


def test_more_and_fewer_heads_where_the_width_is_given():
    screen = Screen(d_k="2").set("heads", 3)
    assert screen.errors() == []
    weights = step(screen, "weights")
    assert weights.shape == (1, 3, 7, 7)
    assert torch.equal(weights[:, :2], step(Screen(), "weights"))
    assert weights[0, 2].flatten().tolist() == pytest.approx([1 / 7] * 49)  # a head of zeros attends evenly
    screen.set("heads", 1)
    assert torch.equal(step(screen, "weights"), step(Screen(), "weights")[:, :1])


def test_narrower_values():
    screen = Screen().set("d_v", 1)
    assert step(screen, "v").shape == (1, 2, 7, 1)
    assert torch.equal(step(screen, "v")[..., 0], step(Screen(), "v")[..., 0])
    assert step(screen, "w_o").tolist() == own("en_it", "w_o")[[0, 2]].tolist()


def test_new_columns_of_a_random_matrix_are_random():
    plain = Screen(x="1,2,3,4,5,6;0,1,0,1,0,2", heads="2")  # no W of the example is so wide: they are random
    screen = Screen(x="1,2,3,4,5,6;0,1,0,1,0,2", heads="2").set("d_k", 5)
    w_q, old = step(screen, "w_q").view(6, 2, 5), step(plain, "w_q").view(6, 2, 3)
    assert torch.equal(w_q[..., :3], old)
    assert len(w_q[..., 3:].unique()) > 15


def test_a_layer_that_would_be_too_wide_is_refused():
    screen = Screen(ex="eight_heads").set("d_k", 65)
    assert screen.error_at("c_d_k") == "w_q may have at most 512 columns: it has 520"
    assert step(screen, "w_q").shape == (512, 512)


def test_fewer_key_value_heads_keep_typed_numbers():
    screen = Screen().set("edited", "w_k").edit_cells({0: {1: 4.5}}).set("kv_heads", 1)
    assert screen.errors() == []
    assert step(screen, "w_k").shape == (4, 2)
    assert step(screen, "w_k")[0, 1] == 4.5


# ---- biases ----------------------------------------------------------------------------------------------------------
def test_a_bias_that_was_not_there():
    screen = Screen().set("edited", "b_v")
    assert "There is no b_v, so nothing is added." in screen.captions()
    screen.press("b_zeros_b_v").edit_cells({0: {2: 5}})
    assert step(screen, "b_v").tolist() == [0, 0, 5, 0]
    screen.edit_cells({0: {2: 0}})  # as it was before any cell was changed
    assert step(screen, "b_v").tolist() == [0, 0, 0, 0]
    assert "Edited: $b_{v}$." in " ".join(screen.captions())
    screen.edit_cells({0: {2: 5}})
    assert torch.equal(step(screen, "v")[0, 1, :, 0], step(Screen(), "v")[0, 1, :, 0] + 5)
    screen.press("b_none_b_v")
    assert "b_v" not in cache.trace_for(screen.setup())


# ---- heads built by hand ---------------------------------------------------------------------------------------------
def test_built_heads_do_what_they_say():
    screen = Screen(text="the cat saw the dog").set("built", ["same_word", "offset", "first"])
    assert screen.setup().run.score == "dot"
    weights = step(screen, "weights")[0]
    assert weights[0, 0].tolist() == pytest.approx([softmax([6, 0, 0, 6, 0], at) for at in range(5)])
    assert weights[1].argmax(-1).tolist() == [0, 0, 1, 2, 3]
    assert weights[2].argmax(-1).tolist() == [0] * 5
    screen.set("offset", 2)
    assert step(screen, "weights")[0, 1].argmax(-1).tolist() == [2, 3, 4, 4, 4]
    assert screen.link()["built"] == "same_word,offset:2,first"
    assert Screen(**screen.link()).link() == screen.link()


def test_several_offset_heads_of_a_link_are_all_kept_and_each_is_turned():
    screen = Screen(built="offset:-1,even,offset:1")
    screen.set("offset_2", 3)
    assert screen.link()["built"] == "offset:-1,even,offset:3"
    assert step(screen, "weights").shape[1] == 3
    screen.set("offset", 0)
    assert screen.link()["built"] == "offset:0,even,offset:3"
    labels = [screen.slider(key)["label"] for key in ("offset", "offset_2")]
    assert labels == [f"Offset of head {n}: the neighbour it looks at" for n in (1, 3)]
    assert screen.set("built", ["offset", "even", "first"]).link()["built"] == "offset:0,even,offset:3,first"
    assert screen.set("built", ["offset", "first"]).link()["built"] == "offset:0,offset:3,first"


def test_built_heads_are_taken_away_again():
    screen = Screen().set("built", ["even"]).set("built", [])
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)


# ---- what if ---------------------------------------------------------------------------------------------------------
def test_a_chosen_score_is_computed_on_with():
    screen = Screen().set("edited", "scores").edit_cells({5: {0: 6}})
    scores = [6, 0, 0, 6, 0, 0, 0]
    assert screen.weight(5, 0) == pytest.approx(softmax([s * 2**-0.5 for s in scores], 0), abs=1e-12)
    assert screen.link()["scores"] == "0.0.5.0=6"
    assert "computed_scores" in screen.steps()
    screen.press("b_reset_scores")
    assert screen.weight(5, 3) == pytest.approx(it_to_dog(2**-0.5), abs=1e-12)


def test_a_chosen_weight_is_mixed_with_and_the_row_need_not_sum_to_one():
    screen = Screen().set("edited", "weights").edit_cells({5: {3: 0}})
    trace, plain = cache.trace_for(screen.setup()), cache.trace_for(Screen().setup())
    lost = plain["weights"][0, 0, 5, 3] * plain["v"][0, 0, 3]
    assert torch.allclose(trace["head_outputs"][0, 0, 5], plain["head_outputs"][0, 0, 5] - lost, rtol=0, atol=1e-15)
    assert trace["weights"][0, 0, 5].sum() < 0.1
    assert torch.equal(trace["weights"][0, 1], plain["weights"][0, 1])  # the other head keeps its own


def test_the_head_that_is_looked_at_is_edited():
    screen = Screen().set("edited", "scores")
    screen.click_cell("flow", "weights", "0,1,1,0")
    assert any(
        text.startswith("The scores of head 2. If you change one, everything after it") for text in screen.captions()
    )
    screen.edit_cells({1: {0: -1}})
    assert screen.link()["scores"] == "0.1.1.0=-1"


# ---- a mask that is painted ------------------------------------------------------------------------------------------
def test_cells_are_painted_and_blocked():
    screen = Screen().set("edited", "allowed")
    screen.click_part("mask", "painted", {"cells": [[5, 3], [5, 4]], "to": 0})
    assert screen.link()["allowed"] == "~5.3=0;5.4=0"
    assert screen.blocked() == 2
    assert screen.weight(5, 3) == 0
    others = [-6 * 2**-0.5, 0, 0, 0, 0]
    assert screen.weight(5, 0) == pytest.approx(math.exp(others[0]) / (math.exp(others[0]) + 4), abs=1e-12)
    screen.click_part("mask", "painted", {"cells": [[5, 3], [99, 0]], "to": 1})  # a cell that is not there is left out
    assert screen.link()["allowed"] == "~5.4=0"
    screen.press("b_ones_allowed")
    assert screen.blocked() == 0


def test_a_painted_mask_keeps_what_fits_when_the_sentence_gets_shorter():
    screen = Screen().set("edited", "allowed")
    screen.click_part("mask", "painted", {"cells": [[0, 1], [6, 6]], "to": 0})
    screen.set("text", "Anna fed it")
    assert screen.errors() == []
    assert screen.blocked() == 1
    assert np.array_equal(cache.inputs_of(screen.setup()).matrices["allowed"], [[1, 0, 1], [1, 1, 1], [1, 1, 1]])
