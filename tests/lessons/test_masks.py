"""The lesson on masks: who may look at whom, and every figure that it states."""

import math
from itertools import zip_longest

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention_core.analysis.blocked_scores import EMPTY_ROW_POLICIES
from attention_core.analysis.blocked_scores import with_empty_row_policy as treated_by_core
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.removed_parts import REMOVED_FIGURES
from attention_core.learned.language.shipped import load_model
from pages.runs import cache
from pages.setup.setup import make_setup
from tests.golden import loader
from tests.screen.driver import plain
from tests.screen.lesson import Lesson

MOVED = loader.read(loader.STORIES)["measured"]["leak test en_it (barked -> smiled), max change per output row"]
WORDS = ("Anna", "fed", "the", "dog", "and", "it", "barked")
E424 = math.exp(6 / math.sqrt(2))  # the score of "dog" for "it": (-3)(-1) + 3 * 1 = 6, over the root of 2; Anna has -6
FREE = E424 / (E424 + 5 + 1 / E424)  # and five words 0
CAUSAL = E424 / (E424 + 4 + 1 / E424)  # of which "barked" comes later
CAUSAL_BITS = tuple("1" * (n + 1) + "0" * (6 - n) for n in range(7))
ABOVE = [[i, j] for i in range(7) for j in range(7) if j > i]


def stroke(lesson, cells, to):
    return lesson.send_part("mask", "painted", {"cells": cells, "to": to})


def weight(lesson, picture, query, key, head=1):
    if picture == "hero":
        return lesson.threads()[query, key] or 0
    return lesson.number(picture, f"weights [head {head}, {query}, {key}]")


def goal(lesson):
    """What is said of what is to be built."""
    (found,) = lesson.goals()
    return found


def captions(lesson):
    return [plain(caption.value) for caption in lesson.at.caption]


def moved(lesson, row, words=(*WORDS[:6], "smiled")):
    return [lesson.number("leak", f"moved [{word}]", row=row) for word in words]


# ---- the first screen ------------------------------------------------------------------------------------------------
def test_it_opens_on_the_causal_mask():
    lesson = Lesson("masks")
    assert weight(lesson, "hero", "it", "dog") == pytest.approx(CAUSAL, abs=1e-12)
    assert [round(FREE, 3), round(CAUSAL, 3)] == [0.933, 0.945]
    assert "“it” gives 95 % of its attention to “dog”" in lesson.fact()
    assert lesson.says("**28 of 49** pairs are kept (57 %). “it” gives “dog” **0.945**; without a mask 0.933.")
    assert weight(lesson, "hero", "it", "barked") == 0
    assert [*lesson.threads().values()].count(None) == 21
    assert lesson.link() == {"ex": "en_it"}


@pytest.mark.parametrize(
    ("link", "kept", "row"),
    [
        ({"mask": "none"}, 49, [1 / E424, 1, 1, E424, 1, 1, 1]),
        ({"mask": "causal"}, 28, [1 / E424, 1, 1, E424, 1, 1, 0]),
        ({"mask": "local"}, 19, [0, 0, 0, 0, 1, 1, 1]),
        ({"mask": "local", "near": "2"}, 29, [0, 0, 0, E424, 1, 1, 1]),
        ({"mask": "sliding"}, 18, [0, 0, 0, E424, 1, 1, 0]),
        ({"mask": "sliding", "width": "1"}, 7, [0, 0, 0, 0, 0, 1, 0]),
        ({"mask": "padding"}, 42, [1 / E424, 1, 1, E424, 1, 1, 0]),
        ({"mask": "padding", "last": "2"}, 21, [1 / E424, 1, 1, 0, 0, 0, 0]),
        ({"mask": "local_global"}, 29, [1 / E424, 0, 0, 0, 1, 1, 1]),
        ({"mask": "local_global", "global": "3", "near": "0"}, 19, [0, 0, 0, E424, 0, 1, 0]),
    ],
    ids=str,
)
def test_every_preset_keeps_its_pairs(link, kept, row):
    lesson = Lesson("masks", **link)
    assert lesson.says(f"**{kept} of 49** pairs are kept")
    for word, power in zip(WORDS, row, strict=True):
        assert weight(lesson, "hero", "it", word) == pytest.approx(power / sum(row), abs=1e-12)


def test_a_mask_of_another_sentence_and_another_word_that_asks():
    lesson = Lesson("masks").set("text", "Tom read and he laughed")
    assert lesson.says("**15 of 25** pairs are kept")
    assert "“he” gives 96 % of its attention to “Tom”" in lesson.fact()  # e^4.24 over that and three more
    lesson.send_part("masks_hero", "chosen", [0, 0])
    assert "“Tom” may attend to “Tom” alone" in lesson.fact()


# ---- drawn -----------------------------------------------------------------------------------------------------------
def test_the_causal_mask_is_built_by_drawing():
    lesson = Lesson("masks", mask="none")
    assert "look ahead: 21. Wrongly blocked: 0." in goal(lesson)
    stroke(lesson, ABOVE[:-1], 0)
    assert "look ahead: 1." in goal(lesson)
    stroke(lesson, [*ABOVE[-1:], [6, 0]], 0)
    assert "look ahead: 0. Wrongly blocked: 1" in goal(lesson)  # to block everything is no answer
    stroke(lesson, [[6, 0]], 1)
    assert goal(lesson).startswith("Built: the causal mask") and "“it” gives “dog” 0.945; without a mask 0.933" in goal(
        lesson
    )
    assert weight(lesson, "hero", "it", "dog") == pytest.approx(CAUSAL, abs=1e-12)
    assert lesson.link() == {"ex": "en_it", "mask": "custom", "paint": ",".join(CAUSAL_BITS)}
    again = Lesson("masks", **lesson.link())
    assert goal(again) == goal(lesson) and again.texts() == lesson.texts()


def test_a_stroke_over_a_preset_begins_with_that_preset():
    lesson = stroke(Lesson("masks"), [[5, 3]], 0)
    assert lesson.says("**27 of 49** pairs are kept")
    assert weight(lesson, "hero", "it", "dog") == 0
    lesson.choose("mask", "causal")
    assert lesson.says("**28 of 49** pairs are kept")
    lesson.choose("mask", "drawn")  # what was drawn waits
    assert lesson.says("**27 of 49** pairs are kept")


def test_a_word_that_may_attend_to_nothing_is_said_to():
    lesson = stroke(Lesson("masks"), [[5, key] for key in range(7)], 0)
    assert "“it” may not attend to any token: its weights and its output are 0" in lesson.fact()
    assert [weight(lesson, "hero", "it", word) for word in WORDS] == [0] * 7


def test_what_was_drawn_fits_another_sentence():
    lesson = Lesson("masks", mask="custom", paint=",".join(CAUSAL_BITS)).set("text", "Tom read and he laughed")
    assert lesson.says("**15 of 25** pairs are kept")
    longer = Lesson("masks", mask="custom", paint="10,01").set("text", "Tom read and he laughed")
    assert longer.says("**23 of 25** pairs are kept")  # what nobody blocked is allowed


@pytest.mark.parametrize("paint", ["12", "1" * 17, ",".join(["1"] * 17), "", "1,,1", "<b>"])
def test_a_drawn_mask_that_cannot_be_read_is_named(paint):
    lesson = Lesson("masks", mask="custom", paint=paint)
    assert len(lesson.errors()) == 1 and "paint=" in lesson.errors()[0]
    assert lesson.says("**49 of 49** pairs are kept")


@pytest.mark.parametrize(
    "sent",
    [None, 7, {"cells": "all", "to": 0}, {"cells": [[0, 1]], "to": 2}, {"cells": [[9, 0], [0, -1], ["0", 1]], "to": 0}],
)
def test_a_forged_stroke_blocks_nothing(sent):
    lesson = Lesson("masks", mask="none").send_part("mask", "painted", sent)
    assert lesson.says("**49 of 49** pairs are kept")


def test_who_reveals_reads_how_it_is_drawn():
    lesson = Lesson("masks", mask="none")
    assert "Row i keeps" not in goal(lesson)
    lesson.ran(next(toggle for toggle in lesson.at.toggle if toggle.key == "c_reveal").set_value(True).run)
    assert "Row i keeps the columns 1 to i" in goal(lesson)


def test_the_workbench_gets_exactly_what_the_lesson_shows():
    assert Lesson("masks").press("door_workbench").at.session_state["setup"] == make_setup(token=5, masks=("causal",))
    drawn = stroke(Lesson("masks", mask="none"), [[0, 6]], 0).press("door_workbench").at.session_state["setup"]
    assert drawn.run.masks is None and (drawn.run.allowed.packed.array() == 0).sum() == 1


def test_a_mask_that_is_added_is_a_matrix_of_0_and_minus_infinity():
    lesson = Lesson("masks", open="future", future="added")
    assert lesson.says("**49 of 49** scores are the same to the last digit")
    cells = lesson.table("added")
    matrix = cells[cells["step"] == "additive_mask"]
    assert sorted(matrix["value"].value_counts().items()) == [("0", 28), ("−∞", 21)]
    assert Lesson("masks", open="future", future="added", mask="none").says("The mask above blocks nothing")


# ---- can a word learn of its future? ---------------------------------------------------------------------------------
def test_a_later_word_moves_earlier_rows_without_the_mask_and_not_one_bit_with_it():
    lesson = Lesson("masks", open="future")
    assert [round(value, 3) for value in moved(lesson, 0)] == MOVED["unmasked"]
    assert moved(lesson, 1)[:6] == [0] * 6
    assert [round(value, 3) for value in moved(lesson, 1)] == MOVED["causal"]
    assert lesson.says(
        "Of the 6 words before it, **6** get another output without a mask, **0** with the mask: causal."
    )


def test_any_word_may_change_into_any_other():
    lesson = Lesson("masks", open="future").set("changed", 3).set("into", "girl")
    assert lesson.says("“dog” becomes “girl”. Of the 3 words before it, **3**")
    words = ("Anna", "fed", "the", "girl", "and", "it", "barked")
    assert all(value > 0 for value in moved(lesson, 0, words)) and moved(lesson, 1, words)[:3] == [0] * 3
    assert lesson.set("into", "barked dog").errors() == ["type one word: “barked dog” has 2"]
    assert lesson.says("“dog” becomes “girl”")  # the last good one stays
    lesson.set("into", "xyzzy")  # in no dictionary
    assert lesson.errors() == [] and lesson.says("“dog” becomes “xyzzy”")
    assert lesson.set("changed", 0).says("It is the first word")


def test_under_a_mask_that_looks_ahead_words_do_learn_of_their_future():
    lesson = Lesson("masks", open="future", mask="local")
    assert lesson.says(
        "**6** get another output without a mask, **1** with the mask: local window."
    )  # "it" sees "barked"


def test_only_the_masked_scores_differ_by_themselves():
    lesson = Lesson("masks", open="future", future="step")
    assert lesson.says(
        "q_projected, q, k_projected, k, v_projected, v, scores, scaled_scores: the same with and without"
    )
    assert lesson.says(
        "The first step that differs is **masked_scores**, in which 21 of 49 scores become −∞; weights, "
    )
    cells = lesson.table("step")
    blocked = cells[(cells["step"] == "masked_scores") & (cells["kind"] == "blocked")]
    assert set(blocked["value"]) == {"−∞"} and len(blocked) == 21
    assert Lesson("masks", open="future", future="step", mask="none").says("The mask above blocks nothing")


def heard(lesson, name):
    """Who has heard from whom: the ticks of a map, row by row."""
    cells = lesson.table(f"layers_{name}")
    ticks = [bool(text) for text in cells[cells["kind"].isin(["cell", "blocked"])]["text"]]
    return [ticks[7 * row : 7 * row + 7] for row in range(7)]


def test_how_far_news_travels_in_several_layers():
    for layers in (1, 2, 3, 6):
        lesson = Lesson("masks", open="future", future="layers", layers=str(layers))
        assert heard(lesson, "causal") == [[j <= i for j in range(7)] for i in range(7)]
        assert heard(lesson, "local") == [[abs(i - j) <= layers for j in range(7)] for i in range(7)]
        assert heard(lesson, "sliding") == [[0 <= i - j <= layers for j in range(7)] for i in range(7)]
        if layers > 1:  # over the global word everybody hears of everybody in two
            assert all(map(all, heard(lesson, "local_global")))
        reached = "causal, local, sliding, local+global" if layers == 6 else "causal, local+global"
        after = "1 layer" if layers == 1 else f"{layers} layers"
        assert lesson.says(f"After {after} “Anna” may have influenced “barked” under these masks: **{reached}**")


def test_the_readers_own_mask_stands_among_them():
    bits = ["1000000", *("0" * n + "1" + "0" * (6 - n) for n in range(1, 6)), "0000011"]
    lesson = Lesson("masks", open="future", future="layers", mask="custom", paint=",".join(bits))
    assert heard(lesson, "custom")[6] == [False] * 5 + [True, True]
    assert "layers_custom" not in Lesson("masks", open="future", future="layers").charts()  # causal stands there


# ---- which pairs are kept? -------------------------------------------------------------------------------------------
def test_kept_pairs_are_counted_here_and_in_longer_sequences():
    lesson = Lesson("masks", open="pairs")
    titles = {name: set(lesson.table(f"pattern_{name}")["text"]) for name in ("causal", "local", "sliding")}
    assert "causal: 28 of 49" in titles["causal"]
    assert "local: 19 of 49" in titles["local"]
    assert "sliding: 13 of 49" in titles["sliding"]
    lesson.set("length", 512)
    assert lesson.says("| local | 1,534 | 262,144 | 0.59% |")  # 3 x 512 less one at each end
    assert lesson.says("| sliding | 1,023 | 262,144 | 0.39% |")
    assert lesson.says("| local+global | 2,554 | 262,144 | 0.97% |")  # row and column 0, and the band beside them
    lesson.set("window", 8)
    assert lesson.says("| local | 8,632 | 262,144 | 3.29% |")  # 17 x 512 less 2 (8 + 7 + ... + 1)


def test_masking_alone_saves_no_work():
    projections, pairs = 4 * 7 * 4 * 4, 2 * 2 * 7 * 7 * 2  # W_q, W_k, W_v, W_o; two heads' scores and mixes of width 2
    for mask in ("causal", "sliding", "none"):
        lesson = Lesson("masks", open="pairs", mask=mask)
        same = projections + pairs
        assert lesson.says(f"{same} without a mask, {same} with the mask above")


def test_a_tick_opens_to_the_comparison_that_decided_it():
    lesson = Lesson("masks", open="pairs").click_cell("pattern_local", "allowed_local", "0,0,1,3")
    assert lesson.says("**allowed_local [fed, dog]** = 0")


def test_a_batch_gets_the_numbers_of_its_sentences_alone():
    lesson = Lesson("masks", open="pairs", pairs="batch")
    assert lesson.says("Each sentence gets exactly the same numbers as on its own.")
    assert lesson.number("batch_0", "weights [sentence 1, head 1, it, dog]") == pytest.approx(FREE, abs=1e-12)
    second = lesson.table("batch_1")
    row = second[(second["index"].str.startswith("1,0,1,")) & (second["kind"].isin(["cell", "blocked"]))]
    assert [float(value) for value in row["value"]] == [0.5, 0.5, 0, 0, 0, 0, 0]
    lesson.choose("with", "causal and padding")
    assert lesson.number("batch_0", "weights [sentence 1, head 1, it, dog]") == pytest.approx(CAUSAL, abs=1e-12)


def test_without_its_mask_the_padding_takes_its_share():
    lesson = Lesson("masks", open="pairs", pairs="batch", hidden="False")
    assert lesson.says(
        "A sentence no longer gets the same numbers as on its own. The largest difference is in weights: **0.71**"
    )
    assert "“barked” gives 71 % to `<pad>`." in captions(lesson)  # 5 of 7 even weights
    assert "“it” gives 0 % to `<pad>`." in captions(lesson)
    lesson.set("other", "Anna fed the dog and she smiled")  # as long as the first: nothing is filled up
    assert lesson.says("exactly the same numbers as on its own")


def test_a_further_sentence_that_is_too_long_is_refused():
    lesson = Lesson("masks", open="pairs", pairs="batch").set("other", "a " * 17)
    assert len(lesson.errors()) == 1 and "at most 16 tokens" in lesson.errors()[0]


# ---- what if a row may look at nothing? ------------------------------------------------------------------------------
def treated(lesson):
    """The weights of the row in the five treatments."""
    cells = lesson.table("row")
    cells = cells[cells["kind"].isin(["cell", "blocked"])]
    rows = [cells[cells["panel"] == f"row{number}"]["value"] for number in range(5)]
    return [[float(value.replace("−", "-")) for value in row] for row in rows]


ROUNDING = 8 * torch.finfo(torch.float64).eps  # of outputs below 1: how a CPU adds up decides where in it


def other_rows(lesson):
    """How far the other rows are said to be apart, with two digits; 0 where the CPU rounds them all alike."""
    return lesson.figure("All other rows agree, to within ")


def farthest_of_other_rows(allowed):
    """The same of this CPU: each treatment's output, in the rows that may attend to something, beside ours."""
    trace = cache.trace_for(make_setup(allowed=pack_matrix(allowed)))
    outputs = [treated_by_core(trace, name)["output"][0] for name in EMPTY_ROW_POLICIES]
    rows = allowed.any(-1)
    return max((output - trace["output"][0])[rows].abs().max().item() for output in outputs)


def test_a_row_that_may_look_at_nothing_in_five_treatments():
    lesson = Lesson("masks", open="nothing")
    zero, plain, filled, added, lowest = treated(lesson)
    assert zero == [0] * 7
    assert all(map(math.isnan, plain))
    assert filled == pytest.approx([1 / 7] * 7, abs=1e-15) == lowest
    powers = [1 / E424, 1, 1, E424, 1, 1, 1]  # as without a mask: -1e9 on every score is a shift
    assert added == pytest.approx([power / sum(powers) for power in powers], abs=1e-6)
    assert lesson.says(
        "may not attend to any word. In **3** of five ways to block a row, blocked words still get a share; "
        "in **1** the result is NaN."
    )
    allowed = torch.ones(7, 7).tril()
    allowed[WORDS.index("it")] = 0
    assert other_rows(lesson) == pytest.approx(farthest_of_other_rows(allowed), rel=0.05, abs=0)
    assert other_rows(lesson) <= ROUNDING


def test_in_lower_precision_the_treatments_differ_again():
    lesson = Lesson("masks", open="nothing", dtype="float32")
    assert treated(lesson)[3] == pytest.approx([1 / 7] * 7, abs=1e-6)  # -1e9 swallows the scores beside it
    assert lesson.says(
        "In **3** of five ways to block a row, blocked words still get a share; in **1** the result is NaN"
    )
    lesson = Lesson("masks", open="nothing", dtype="float16")
    assert all(math.isnan(value) for row in treated(lesson)[1:4] for value in row)  # -1e9 is −∞ there
    assert lesson.says(
        "In **1** of five ways to block a row, blocked words still get a share; in **3** the result is NaN"
    )


def test_the_readers_own_blocked_row_is_the_one_that_is_shown():
    lesson = stroke(Lesson("masks", open="nothing", mask="none"), [[1, key] for key in range(7)], 0)
    assert lesson.says("“fed” may not attend to any word")
    assert lesson.set("row", 3).says("“dog” may not attend to any word")
    allowed = torch.ones(7, 7)
    allowed[[WORDS.index("fed"), WORDS.index("dog")]] = 0
    assert other_rows(lesson) == pytest.approx(farthest_of_other_rows(allowed), rel=0.05, abs=0)
    assert other_rows(lesson) <= ROUNDING  # of those that may attend to something


def test_the_same_matrix_by_the_other_convention():
    lesson = Lesson("masks", open="nothing", nothing="conventions")
    assert lesson.says(
        "98 of 98 pairs (all heads) are blocked instead of allowed, or allowed instead of blocked. "
        "98 weights are wrong, and no error is raised."
    )
    assert weight(lesson, "conventions_kept", "it", "dog") == pytest.approx(CAUSAL, abs=1e-12)
    assert weight(lesson, "conventions_blocked", "it", "dog") == 0
    assert weight(lesson, "conventions_blocked", "it", "barked") == 1
    assert lesson.says("gives the weights on the right (largest difference 0), with NaN in 2 of 14 rows.")
    assert lesson.says("it gives the weights on the left (largest difference 0), with NaN in 0.")
    lesson.choose("mask", "none")
    stroke(lesson, [[2, key] for key in range(7)], 0)  # ours gives that row zeros, torch's layer NaN in both heads
    assert lesson.says("it gives the weights on the left (largest difference 0), with NaN in 2.")


def test_torchs_own_layer_gives_these_numbers():
    """The same, by torch alone: the lesson's words and weights through scaled_dot_product_attention."""
    trace = cache.trace_for(make_setup(masks=("causal",)))
    each = torch.eye(7).double().expand(1, 2, 7, 7)  # as values, so that the weights themselves come out
    wrong = F.scaled_dot_product_attention(trace["q"], trace["k"], each, attn_mask=~trace["allowed"])
    lesson = Lesson("masks", open="nothing", nothing="conventions")
    for j, key in enumerate(WORDS):
        assert weight(lesson, "conventions_blocked", "fed", key) == pytest.approx(wrong[0, 0, 1, j].item(), abs=1e-12)


def test_without_a_mask_there_is_nothing_to_misread():
    for sight in ("conventions", "axes"):
        assert Lesson("masks", open="nothing", nothing=sight, mask="none").says("There is no mask to misread yet")


def test_a_misplaced_axis_is_silent_where_there_are_as_many_heads_as_words():
    lesson = Lesson("masks", open="nothing", nothing="axes")
    wrong = sum((j <= n) != (j <= i) for n in range(7) for i in range(7) for j in range(7))
    assert lesson.says(f"{wrong} of 343 pairs are blocked instead of allowed")
    assert [weight(lesson, "axes_applied", word, "Anna") for word in WORDS] == [1] * 7
    assert weight(lesson, "axes_intended", "it", "dog") == pytest.approx(CAUSAL, abs=1e-12)
    lesson.set("heads", 2)
    assert (
        "mask.unsqueeze(1) must broadcast to (B, H, T, S) = (1, 2, 7, 7): its shape is (7, 1, 7)" in lesson.errors()[0]
    )
    assert lesson.says("Here torch raises an error, because 7 words do not fit 2 heads")
    assert lesson.set("heads", 1).says("7 words do not fit 1 head. But masked_fill expands the scores")


# ---- encoder, decoder, masked words ----------------------------------------------------------------------------------
def test_an_encoder_looks_both_ways():
    lesson = Lesson("masks", open="wirings")
    row = 1 / (E424 + 5 + 1 / E424)  # what "it" gives to "barked"; the other rows are even
    share = ((21 - 1) / 7 + row) / 7
    assert lesson.says(f"Encoder (BERT): no mask, 49 of 49 pairs. {100 * share:.0f} % of this head's attention")


def test_a_decoder_attends_to_itself_causally_and_then_to_another_sentence():
    lesson = Lesson("masks", open="wirings", wiring="decoder")
    assert lesson.says("causal attention to its own words (15 of 25 pairs), then attention to all words of the other")
    assert lesson.says("(30 of 30)")
    assert lesson.number("decoder_self", "weights [head 1, I, saw]") == 0
    assert lesson.number("decoder_cross", "weights [head 1, yesterday, 昨天]") == pytest.approx(0.973, abs=5e-4)
    lesson.set("target", "I saw a cat").set("source", "我看见一只猫")
    assert lesson.says("(10 of 16 pairs)") and lesson.says("(16 of 16)")
    assert lesson.number("decoder_cross", "weights [head 1, cat, 猫]") > 0.8


def test_a_hidden_word_is_attended_to_and_a_blocked_one_is_not():
    lesson = Lesson("masks", open="wirings", wiring="masked")
    assert lesson.says("“dog” is hidden as in BERT's training")
    assert lesson.says(
        "No pair is blocked (49 of 49 kept): [MASK] may be attended to like any other token; "
        "here it counts as a word of which nothing is known. "
    )
    assert lesson.says("(42 kept): then the word gets 0 %.")
    shares = 1 / (6 + np.exp(-6 / 2**0.5))  # of "it": all words but Anna alike, and Anna less
    assert weight(lesson, "masked_token", "it", "[MASK]") == pytest.approx(shares, abs=1e-12)
    assert weight(lesson, "masked_column", "it", "dog") == 0
    lesson.set("gone", 0)
    assert lesson.says("“Anna” is hidden") and weight(lesson, "masked_column", "it", "Anna") == 0


def test_what_asks_nothing_rests_on_the_first_token():
    lesson = Lesson("masks", open="wirings", wiring="first")
    assert lesson.says("**7 of 8** words attend most to “<s>”; “barked” gives it 0.71")
    assert weight(lesson, "sink", "barked", "<s>") == pytest.approx(0.707, abs=5e-4)
    assert weight(lesson, "sink", "it", "dog") == pytest.approx(0.76, abs=5e-3)
    assert lesson.says(
        "The value of “<s>” in this head is (0.00, 0.00): attention that goes there adds nothing to the output."
    )
    lesson.set("sink", "Anna fed the dog")  # no start: who asks who does it takes Anna along
    assert lesson.says("attention that goes there adds a share of this value to the output")
    share = E424 / (E424 + 2 + 1 / E424)  # 6 for Anna, -6 for dog, 0 for the two others
    assert lesson.says(f"**1 of 4** words attend most to “Anna”; “fed” gives it {share:.2f}")


def test_who_reads_chinese_finds_the_chinese_sentence_first_and_may_take_the_english_one():
    lesson = Lesson("masks", open="wirings", wiring="first", lang="zh")
    assert lesson.widgets()["sink"].value == "<s> 小红喂了那只狗，它摇尾巴"
    assert lesson.says("**8 个词里有 7 个**把最多的注意力给了“<s>”，其中“摇尾巴”给了 0.71")
    assert lesson.number("sink", "权重 [头 1, 摇尾巴, <s>]") == pytest.approx(0.707, abs=5e-4)
    assert lesson.number("sink", "权重 [头 1, 它, 狗]") == pytest.approx(0.76, abs=5e-3)
    assert lesson.set("starts", "en_it_sink").widgets()["sink"].value == "<s> Anna fed the dog and it barked"


# ---- whatever a reader types or draws --------------------------------------------------------------------------------
SIGHTS = {
    "future": ("change", "step", "added", "layers"),
    "pairs": ("patterns", "batch"),
    "nothing": ("row", "conventions", "axes"),
    "wiring": ("encoder", "decoder", "masked", "first"),
}
NOTHING = ",".join(["0" * 16] * 16)  # may be looked at by nobody
TEXTS = ("it", "xyzzy |**b**|<pad>|dog|dog", "它摇尾巴，" * 3, "a " * 16)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("mask", [{"mask": "padding"}, {"mask": "custom", "paint": NOTHING}], ids=["padding", "empty"])
def test_every_tab_takes_any_sentence_and_any_mask(mask, text):
    """All drawers are open at once, each at its first tab, then each at its second, until all have been shown."""
    for tabs in zip_longest(*SIGHTS.values()):
        chosen = {drawer: tab for drawer, tab in zip(SIGHTS, tabs, strict=True) if tab}
        opened = ",".join("wirings" if drawer == "wiring" else drawer for drawer in chosen)
        lesson = Lesson("masks", text=text, open=opened, **chosen, **mask, lang="en")
        assert lesson.errors() == [], tabs
        assert lesson.has_picture() and ("not attend to any" in lesson.fact()) == ("paint" in mask), tabs


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_inputs_and_targets_stand_one_word_apart_with_the_chance_of_each_target(lang):
    lesson = Lesson("masks", open="future", future="shifted", lang=lang)
    (table,) = [text for text in lesson.texts() if text.startswith("| ") and "| --- |" in text]
    read, wanted, chances = ([cell.strip() for cell in line.split("|")[2:-1]] for line in table.splitlines()[2:])
    assert read[1:] == wanted[:-1]
    count = len(wanted)
    repeated = sum(one == other for one, other in zip(read, wanted, strict=True))
    told = [text for text in lesson.texts() if f"{count + 1}" in text and f"{count} " in text]
    assert any(f"{repeated}" in text for text in told)
    name, numbers = f"{lang}_asked_decoder", word_numbers(lang)
    model = load_model(name, torch.float64)
    tokens = EXAMPLES[f"model_{lang}_decoder"].tokens
    ids = torch.tensor([[numbers[token] for token in tokens]])
    shares = model.word_logits(model.run_layers(ids).end)[0].softmax(-1)
    expected = [shares[at, numbers[token]].item() for at, token in enumerate(tokens[1:])]
    assert [float(chance) for chance in chances] == pytest.approx(expected, abs=0.0051)
    figures = REMOVED_FIGURES.rows[name]
    assert figures.diagonal > figures.whole + 1
    assert lesson.says(f"{figures.diagonal:.2f}") and lesson.says(f"{figures.whole:.2f}")
