"""One vector: what is written with attention and without, step by step; what was never trained; its own training."""

import json
from itertools import compress

import numpy as np
import pytest
import torch

from attention_core.learned.insight.views import attention_view, context_vector, write_text
from attention_core.learned.tasks import dates, reversal
from attention_core.learned.training.shipped_networks import load_network, read_figures_table, shipped_figures
from attention_core.learned.training.wider_vector import WIDER_VECTOR
from pages.runs import cache
from tests.screen.lesson import Lesson

HERO = "The share of texts that are written exactly, against their length, with a curve for each network"

MARCH = "March 5, 2019"  # a date that all networks write


def curve(lesson, name, alt=HERO):
    """The points of a curve, {x: y}."""
    drawn = lesson.table(alt)
    points = drawn[(drawn["kind"] == "point") & (drawn["name"] == name)]
    return dict(zip(points["x"], points["y"], strict=True))


def test_it_opens_on_what_one_vector_cannot_hold_at_the_end_of_its_training():
    lesson = Lesson("bottleneck", lang="en")
    assert lesson.fact().startswith("After 3,000 steps, on unseen texts of up to 40 letters, ")
    assert lesson.widgets()["text_reversal"].value == "representation"
    assert lesson.says("noitatneserper with additive attention ✓, notiaeteriekr with one vector ✗")
    with_it, without = (read_figures_table()[f"reversal_{kind}"] for kind in ("additive", "one"))
    assert with_it["steps"][-1] == without["steps"][-1] == 3000
    shares = {kind: shipped_figures(f"reversal_{kind}", 3000) for kind in ("additive", "one")}
    trained = [place <= reversal.LONGEST_TRAINED for place in reversal.MEASURED_LENGTHS]  # longer ones never were
    percent = {kind: f"{100 * sum(compress(of, trained)) / sum(trained):.0f} %" for kind, of in shares.items()}
    held = [length for length, share in zip(without["places"], shares["one"], strict=True) if share]
    lost = min(length for length in without["places"] if length > max(held))
    assert lesson.says(
        f"reverses {percent['additive']} of the texts of up to 40 letters without an error, "
        f"the network with a single vector {percent['one']}."
    )
    assert lesson.says(
        f"From {lost} letters on, the network with a single vector gets no text right: its vector has 64"
    )
    at = without["places"].index(lost)
    longer, wider = (100 * WIDER_VECTOR.rows[trial].exact[at] for trial in ((64, 6000), (128, 3000)))
    assert lesson.says(f"Trained twice as long, it gets {longer:.0f} % of the texts of {lost} letters right.")
    assert lesson.says(f"A vector of 128 numbers gets {wider:.0f} % of them right, but again none from 20 letters on.")


def test_every_letter_of_the_longest_text_is_written_in_the_picture_and_in_words():
    """A text of 64 letters: its 20th and its 50th are reached, and the weights of each."""
    text = ("thequickbrownfoxjumpsoverthelazydog" * 2)[:64]
    lesson = Lesson("bottleneck", text_reversal=text, lang="en")
    told = json.loads(lesson.parts("bottleneck_neck")[0].proto.json)
    assert len(told["read"]) == 64
    network = load_network("reversal_additive", 3000)
    written = "".join(write_text(network, text))
    attention = next(way for way in told["ways"] if "weights" in way)
    assert "".join(attention["written"]) == written[:64] and len(written) > 50
    assert len(attention["weights"]) == len(attention["right"]) == len(attention["written"])
    assert [sum(row) for row in attention["weights"]] == pytest.approx([1.0] * len(attention["weights"]))
    assert lesson.says(written[:64])


def test_dates_show_how_fast_attention_learns_and_no_bottleneck():
    lesson = Lesson("bottleneck", task="dates", lang="en")
    assert lesson.widgets()["text_dates"].value == "August 14, 2026"
    assert "additive attention gets 100 % right, one vector gets 27 % right" in lesson.fact()
    (told,) = [text for text in lesson.texts() if text.startswith("“August 14, 2026” becomes")]
    right, wrong = told.split(", 2026年8月26日 with one vector ")
    assert "2026年8月14日 with additive attention" in right and "✓" in right and wrong == "✗."
    assert lesson.says("the network with one vector writes 96 % of the dates exactly, the one with attention 100 %.")
    assert len([*filter(None, curve(lesson, "one vector").values())]) > 20


def test_a_network_that_is_as_good_as_another_is_seen_beside_it():
    """With both kinds of attention all dates are written exactly: one curve lies on the other."""
    lesson = Lesson("bottleneck", task="dates", lang="en")
    drawn, additive = lesson.table(HERO), curve(lesson, "additive")
    assert {*additive.values()} == {1.0} and additive == curve(lesson, "dot")
    under = drawn[drawn["kind"] == "under"]
    assert {*under["name"]} == {"additive"} and [*under["x"]] == [*additive][:-1]


@pytest.mark.parametrize("step", [0, 100, 200, 800])
def test_the_curves_are_the_shipped_figures_of_the_step(step):
    lesson = Lesson("bottleneck", task="dates", step_of=str(step), lang="en")
    for name, kind in (("additive", "additive"), ("dot", "dot"), ("one vector", "one")):
        places = read_figures_table()[f"dates_{kind}"]["places"]
        assert curve(lesson, name) == dict(zip(places, shipped_figures(f"dates_{kind}", step), strict=True))


def test_with_attention_earlier_and_at_last_both():
    shares = {
        step: [sum(shipped_figures(f"dates_{kind}", step)) / 29 for kind in ("additive", "one")]
        for step in (100, 200, 800)
    }
    assert shares[100][0] > 0.5 > 0.1 > shares[100][1]
    assert shares[200][0] > 0.99 and shares[200][1] < 0.5
    assert min(shares[800]) > 0.9  # a date is short: one vector holds it, once it is trained long enough


def test_letters_in_reverse_are_too_much_for_one_vector():
    lesson = Lesson("bottleneck", task="reversal", lang="en")
    with_it, without = curve(lesson, "additive"), curve(lesson, "one vector")
    assert all(with_it[length] > 0.85 for length in (5, 10, 15, 20, 25, 30, 35, 40))
    assert without[5] > 0.9 and without[10] < 0.5 and max(without[length] for length in without if length >= 15) == 0
    lesson.set("text_reversal", "abcdefghijklmnop")
    assert lesson.says("becomes ponmlkjihgfedcba with additive attention")
    assert not lesson.says("becomes ponmlkjihgfedcba with one vector")


@pytest.mark.parametrize("kind", ["additive", "dot"])
def test_the_map_is_what_the_network_itself_attends_to(kind):
    lesson = Lesson("bottleneck", task="dates", kind=kind, step_of="800", open="one_step", lang="en")
    trained = load_network(f"dates_{kind}", 800)
    written = "".join(write_text(trained, "August 14, 2026"))
    assert written == "2026年8月14日"
    model = trained.exact_model
    seen = attention_view(trained, "August 14, 2026", written)
    if kind == "dot":
        scores = seen.x @ seen.context.T
    else:  # e = v · tanh(s W_aq + h W_ak)
        hidden = (seen.x @ model.w_aq)[:, None] + (seen.context @ model.w_ak)[None]
        scores = hidden.tanh() @ model.v_a
    expected = scores.softmax(-1).numpy()
    cells = lesson.table("alignment")
    shown = cells[(cells["panel"] == "result") & (cells["kind"] == "cell")].drop_duplicates("index")
    found = np.array([float(value.replace("−", "-")) for value in shown["value"]]).reshape(10, 15)
    assert found == pytest.approx(expected, abs=1e-12)
    one, attention = neck_of(lesson)["ways"]
    assert np.array(attention["weights"]) == pytest.approx(expected, abs=1e-12)
    assert "".join(attention["written"]) == written and all(attention["right"]) and "weights" not in one
    lesson.press("door_workbench")
    setup = lesson.at.session_state["setup"]
    assert cache.trace_for(setup)["weights"][0, 0].numpy() == pytest.approx(expected, abs=1e-12)


def neck_of(lesson):
    """What the picture of the neck is told."""
    (part,) = lesson.parts("bottleneck_neck")
    return json.loads(part.proto.json, parse_constant=pytest.fail)


def test_one_vector_has_no_weights_and_all_its_numbers_are_drawn():
    (way,) = neck_of(Lesson("bottleneck", task="dates", kind="one", lang="en"))["ways"]
    assert "weights" not in way and len(way["fills"]) == 64


def test_the_one_vector_is_the_end_of_both_readings():
    """By torch's own GRU: the last state of the reading onward, and of the reading back."""
    trained = load_network("reversal_one", 3000)
    model, numbers = trained.exact_model, torch.tensor([[0, 1, 2]])
    x = model.read(numbers)
    ends = torch.cat((model.onward(x)[1][0, 0], model.back(x.flip(1))[1][0, 0]))
    assert torch.allclose(context_vector(trained, "abc"), ends, atol=1e-12)


def test_the_picture_begins_at_the_first_letter_that_one_vector_gets_wrong():
    data = neck_of(Lesson("bottleneck", lang="en"))
    one, attention = data["ways"]
    assert "".join(one["written"]) == "notiaeteriekr" and "".join(attention["written"]) == "noitatneserper"
    assert one["right"] == [a == b for a, b in zip("notiaeteriekr", "noitatneserper", strict=False)]
    assert data["start"] == 2 and all(attention["right"])


def test_a_thread_opens_its_arithmetic_and_what_a_browser_makes_up_opens_none():
    lesson = Lesson("bottleneck", lang="en")
    for sent in ([0, 14], [True, 0], [0], "x", [0, -1]):
        lesson.send_part("bottleneck_neck", "opened", sent)
        assert "cell" not in lesson.link()
    lesson.send_part("bottleneck_neck", "opened", [2, 11])
    assert lesson.link()["cell"] == "neck,,weights,0,0,2,11"


@pytest.mark.parametrize(
    "text, part",
    [
        ("March 5; 2019", "got ';'"),
        ("März 5", "got 'ä'"),
        ("   ", "must be at least one symbol"),
        ("1" * 65, "at most 64 symbols: it has 65"),
    ],
)
def test_what_no_network_has_seen_is_refused_at_its_box_and_the_last_answer_stays(text, part):
    lesson = Lesson("bottleneck", task="dates", open="one_step", lang="en").set("text_dates", "6 May 1999")
    before = lesson.table("alignment")
    lesson.set("text_dates", text)
    (error,) = lesson.errors()
    assert part in error
    assert lesson.table("alignment")["value"].tolist() == before["value"].tolist()


def test_what_is_no_date_is_called_a_guess():
    lesson = Lesson("bottleneck", task="dates", text_dates="the first of May", lang="en")
    assert lesson.says("is not a date in a known format, so there is no right answer. Each network guesses")
    assert not lesson.says("“the first of May” becomes")


def test_a_right_answer_is_told_from_a_wrong_one():
    lesson = Lesson("bottleneck", task="dates", text_dates="5-Mar-2019", step_of="800", lang="en")
    (told,) = [text for text in lesson.texts() if text.startswith("“5-Mar-2019” becomes")]
    right = told.split("with additive attention")[0]
    assert ("2019年3月5日" in right) == ("✓" in told.split("with one vector")[0])


# ---- drawers ---------------------------------------------------------------------------------------------------------
def test_the_alignment_grows():
    lesson = Lesson("bottleneck", task="dates", open="growing", lang="en")
    largest = []
    for step in (0, 100, 200, 800):
        cells = lesson.table(f"grown_{step}")
        cells = cells[(cells["panel"] == "result") & (cells["kind"] == "cell")].drop_duplicates("index")
        rows = cells.groupby(cells["index"].str.split(",").str[2])["value"].apply(lambda row: row.astype(float).max())
        largest.append(rows.mean())
    assert largest[0] < 0.12 and largest[0] < largest[1] < largest[3] and largest[3] > 0.5


def test_one_step_of_the_decoder_is_followed_to_its_arithmetic():
    lesson = Lesson("bottleneck", task="dates", open="one_step", step_of="800", t="7", text_dates=MARCH, lang="en")
    assert lesson.says("“5” is being written") and lesson.says(r"e = v_a \cdot \tanh(s W_{aq} + h W_{ak})")
    assert lesson.number("one_step", "weights [head 1, 5, 5]", row=1) > 0.95
    lesson.click_cell("one_step", "scores", "0,0,7,6")
    model, seen = (
        load_network("dates_additive", 800).exact_model,
        attention_view(load_network("dates_additive", 800), MARCH),
    )
    score = (seen.x[7] @ model.w_aq + seen.context[6] @ model.w_ak).tanh() @ model.v_a
    assert lesson.number("one_step", "scores [head 1, 5, 5]", row=0) == pytest.approx(score.item(), abs=1e-12)
    assert "arithmetic_bottleneck_one_step" in str([part.proto.id for part in lesson.at.get("bidi_component")])


def test_formats_that_were_never_trained():
    lesson = Lesson("bottleneck", task="dates", open="untrained", lang="en")
    (found,) = lesson.at.table
    rows = found.value.to_dict("records")
    assert [row["unseen format"] for row in rows] == [
        "2019 March 5",
        "5-Mar-2019",
        "2019/03/05",
        "March the 5th, 2019",
    ]
    for name, kind in (("additive attention", "additive"), ("dot attention", "dot"), ("one vector", "one")):
        trained = load_network(f"dates_{kind}", 800)
        for row, (form, (source, target)) in zip(rows, dates.untrained_texts().items(), strict=True):
            texts = ["".join(dates.SOURCE.symbols([n for n in text if n >= 0])) for text in source.tolist()]
            wanted = ["".join(dates.TARGET.symbols([n for n in text if n >= 0])) for text in target.tolist()]
            pairs = zip(texts[:20], wanted[:20], strict=True)
            right = ["".join(write_text(trained, text)) == answer for text, answer in pairs]
            share = float(row[name].rpartition("· ")[2].rstrip(" %")) / 100
            assert abs(share - sum(right) / 20) < 0.3, form
            assert row[name].startswith("".join(write_text(trained, row["unseen format"]))[:9])


def test_lengths_that_were_never_trained_fail_and_it_is_said():
    lesson = Lesson("bottleneck", open="untrained", unseen="lengths", lang="en")
    own = dict(
        zip(
            read_figures_table()["reversal_additive"]["places"], shipped_figures("reversal_additive", 3000), strict=True
        )
    )
    shares = [f"{100 * own[length]:.0f} %" for length in (40, 60, 100)]
    assert lesson.says(
        f"With attention, {shares[0]} of the texts of 40 letters are reversed exactly, {shares[1]} of those"
    )
    assert lesson.says(
        f"of 60, {shares[2]} of those of 100. Far beyond the lengths in training, attention fails as well"
    )
    assert own[100] < 0.5 < own[60] < own[40]


def test_a_state_has_heard_of_its_neighbours():
    lesson = Lesson("bottleneck", task="dates", open="smear", step_of="800", text_dates=MARCH, lang="en")
    cells = lesson.table("smear")
    cells = cells[(cells["panel"] == "result") & (cells["kind"] == "cell")].drop_duplicates("index")
    shares = np.array([float(value) for value in cells["value"]]).reshape(13, 13)
    norms = slopes_by_differences(load_network("dates_additive", 800).exact_model, MARCH).square().sum((1, 3)).sqrt()
    assert shares == pytest.approx((norms / norms.sum(0)).T.numpy(), abs=1e-6)
    own = f"{np.diag(shares).mean():.0%}".replace("%", " %")
    assert lesson.says(f"after step 800, {own} of what reaches a state comes from its own")


def slopes_by_differences(model, text, step=1e-5):
    """How each number of each state moves with each number of a symbol's vector, (S, E, T, N): central differences."""
    source = torch.tensor([dates.SOURCE.numbers(text)])
    x = model.read(source).detach()  # (1, S, E)
    moves = step * torch.eye(x.numel(), dtype=x.dtype).view(-1, *x.shape[1:])  # (S E, S, E): one number each
    ends = [torch.cat(model.passes(x + move, source.expand(len(moves), -1)), -1) for move in (moves, -moves)]
    return ((ends[0] - ends[1]) / (2 * step)).view(*x.shape[1:], *ends[0].shape[1:])


def test_only_steps_of_which_there_is_a_network_are_offered():
    for kind, steps in (("additive", ["0", "100", "200", "800"]), ("dot", ["0", "200", "800"])):
        lesson = Lesson("bottleneck", task="dates", kind=kind, lang="en")
        assert lesson.slider("step_of")["texts"] == steps
    early = Lesson("bottleneck", task="dates", step_of="100", lang="en")
    (told,) = [text for text in early.texts() if text.startswith("“August 14, 2026” becomes")]
    assert "one vector" not in told  # of which there is no network at this step


def test_one_vector_says_what_its_states_are_for():
    lesson = Lesson("bottleneck", task="dates", kind="one", open="smear", lang="en")
    assert lesson.says("In the network with one vector, the decoder does not read these states")
