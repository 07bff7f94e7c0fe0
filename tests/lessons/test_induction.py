"""Copying: accuracy by position, heads that are switched off, heads that appear, one layer, what is foretold."""

import json

import pytest
import torch

from attention_core.learned.insight.copying_heads import compose_heads, composition_trace, finds_itself
from attention_core.learned.tasks import repeats
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import load_network, shipped_figures
from pages.runs import cache
from pages.setup.setup import Setup, make_setup
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

HERO = "The share of symbols that are predicted, by position"
APPEAR = "A score of each head against the steps of training"
HEADS = ("L1H1", "L1H2", "L2H1", "L2H2")


def curve(lesson, name, alt=HERO):
    drawn = lesson.table(alt)
    points = drawn[(drawn["kind"] == "point") & (drawn["name"] == name)]
    return dict(zip(points["x"], points["y"], strict=True))


def plain_accuracy(off=(), step=500):
    """By plain torch: the shares of right answers by position, without some heads."""
    model = load_network("copy_two", step).model(torch.float32)
    sequences = repeats.held_out()
    x = model.read(sequences[:, :-1])
    for number, layer in enumerate(model.layers):
        T = x.shape[1]
        q, k, v = ((x @ w).view(len(x), T, 2, 16).transpose(1, 2) for w in (layer.w_q, layer.w_k, layer.w_v))
        weights = (turned(q) @ turned(k).transpose(-1, -2) / 4).masked_fill(~torch.ones(T, T).tril().bool(), -torch.inf)
        heads = weights.softmax(-1) @ v
        for head in range(2):
            if f"L{number + 1}H{head + 1}" in off:
                heads[:, head] = 0
        x = x + heads.transpose(1, 2).flatten(2) @ layer.w_o
    right = (x @ model.out).argmax(-1) == sequences[:, 1:]
    return dict(zip(range(2, 33), right.double().mean(0).tolist(), strict=True))


def turned(x):
    """RoPE: neighbours turn together, by i / 10000^(2m/d)."""
    angles = torch.arange(x.shape[2])[:, None] / 10000 ** (torch.arange(0, 16, 2) / 16)
    one, other = x[..., ::2], x[..., 1::2]
    pairs = (one * angles.cos() - other * angles.sin(), one * angles.sin() + other * angles.cos())
    return torch.stack(pairs, -1).flatten(-2)


def test_it_opens_on_the_trained_result():
    lesson = Lesson("induction", lang="en")
    shown = curve(lesson, "all heads")
    assert shown == dict(zip(range(2, 33), shipped_figures("copy_two", 500), strict=True))
    assert shown == pytest.approx(plain_accuracy(), abs=0.01)
    assert min(shown[place] for place in range(18, 33)) > 0.95 and max(shown[place] for place in range(2, 17)) < 0.05
    assert lesson.says("Expected after “k7Bxa9k7Bxa9”: **k**")


@pytest.mark.parametrize("off", [("L1H1", "L1H2"), ("L2H1",), HEADS])
def test_heads_are_switched_off(off):
    lesson = Lesson("induction", lang="en").choose("heads", *(head for head in HEADS if head not in off))
    assert curve(lesson, "heads that are on") == pytest.approx(plain_accuracy(off), abs=0.01)
    assert f"without heads {', '.join(off)}, " in lesson.fact()
    assert lesson.link()["heads"] == ",".join(head for head in HEADS if head not in off)
    again = Lesson("induction", **lesson.link())
    assert again.fact() == lesson.fact()


def test_without_the_first_layer_nothing_is_copied():
    lesson = Lesson("induction", heads="L2H1,L2H2", lang="en")
    known = [curve(lesson, "heads that are on")[place] for place in range(18, 33)]
    assert sum(known) / len(known) < 0.1


def arcs_of(lesson):
    """What the picture of arcs is told."""
    (part,) = lesson.parts("induction_arcs")
    return json.loads(part.proto.json, parse_constant=pytest.fail)


def plain_weights(text, off=()):
    """By plain torch: the weights of both layers, (layers, heads, T, T), without some heads."""
    model = load_network("copy_two", 500).exact_model
    x = model.read(torch.tensor([repeats.SYMBOLS.numbers(text)]))
    found = []
    for number, layer in enumerate(model.layers):
        T = x.shape[1]
        q, k, v = ((x @ w).view(1, T, 2, 16).transpose(1, 2) for w in (layer.w_q, layer.w_k, layer.w_v))
        scores = (turned(q) @ turned(k).transpose(-1, -2) / 4).masked_fill(~torch.ones(T, T).tril().bool(), -torch.inf)
        found.append(scores.softmax(-1)[0])
        heads = found[-1][None] @ v
        for head in range(2):
            if f"L{number + 1}H{head + 1}" in off:
                heads[:, head] = 0
        x = x + heads.transpose(1, 2).flatten(2) @ layer.w_o
    return torch.stack(found)


@pytest.mark.parametrize("off", [(), ("L1H1",)])
def test_the_arcs_are_the_weights_of_the_heads_that_are_on(off):
    lesson = Lesson("induction", heads=",".join(head for head in HEADS if head not in off), lang="en")
    data = arcs_of(lesson)
    assert [head["name"] for head in data["heads"]] == [head for head in HEADS[::-1] if head not in off]
    shown = data["frames"][data["slider"]["position"]]
    weights = plain_weights("k7Bxa9k7Bxa9", off)
    for head in data["heads"]:
        layer, place = head["at"]
        seen = {(query, key): weight for query, key, weight in shown["arcs"][head["name"]]}
        expected = weights[layer, place]
        assert {*seen} == {tuple(at) for at in (expected >= 0.02).nonzero().tolist()}
        assert [*seen.values()] == pytest.approx([expected[at].item() for at in seen], abs=1e-6)


def test_from_the_second_seven_the_arc_ends_behind_the_first_while_the_first_layer_tells_what_stood_before():
    """The second 7 stands at 7; behind the first, at 2, stands B, and into its place 7 was written from 1."""
    assert plain_weights("k7Bxa9k7Bxa9")[1, :, 7].argmax(-1).tolist() == [2, 2]
    assert plain_weights("k7Bxa9k7Bxa9")[0, 0, 2].argmax() == 1
    shown = arcs_of(Lesson("induction", lang="en"))
    assert [symbol for symbol, _ in shown["frames"][-1]["next"][6:]] == list("7Bxa9k")


def test_the_arcs_grow_while_the_training_is_dragged():
    data = arcs_of(Lesson("induction", lang="en"))
    back = [max(weight for query, key, weight in frame["arcs"]["L1H1"] if query == 2) for frame in data["frames"]]
    assert len(back) == data["slider"]["counts"][0] == 15 and back[-1] > 0.9 > 0.5 > back[0]


def test_an_arc_opens_its_arithmetic_and_what_a_browser_makes_up_opens_none():
    lesson = Lesson("induction", lang="en")
    for sent in ([1, 0, 7, 12], [2, 0, 0, 0], [1, True, 7, 2], "x", [1], [1, 0, 7, 2, 0]):
        lesson.send_part("induction_arcs", "opened", sent)
        assert "cell" not in lesson.link()
    lesson.send_part("induction_arcs", "opened", [1, 0, 7, 2])
    assert lesson.link()["cell"] == "arcs,L2,weights,0,0,7,2"


def repeated(off=(), step=500):
    """The share of the repetition that is predicted, by plain torch; position 17 is the first of it that can be."""
    shares = plain_accuracy(off, step)
    return sum(shares[place] for place in range(18, 33)) / 15


def test_which_heads_the_copying_needs_is_guessed_and_then_said():
    lesson = Lesson("induction", lang="en")
    assert not lesson.says("**Answer.**")
    lesson.choose("guess", "L1H1")
    alone = {name: repeated((name,)) for name in HEADS}
    assert min(alone, key=alone.get) == "L1H1" and alone["L1H1"] < 0.5
    assert min(alone["L2H1"], alone["L2H2"]) > 0.9 > 0.1 > repeated(("L2H1", "L2H2"))
    assert lesson.says("As predicted")
    (answer,) = [text for text in lesson.texts() if text.startswith("**Answer.**")]
    for name in HEADS:
        assert f"{100 * alone[name]:.0f} % without {name}" in answer
    assert f"{100 * repeated(('L2H1', 'L2H2')):.0f} % without both of layer 2" in answer


def test_the_jump_is_as_gradual_as_it_is_said():
    steps = [step for step in sorted(COURSES["copy_two"].shipped) if 50 <= step <= 200]
    assert len(steps) == 13
    shares = {step: repeated(step=step) for step in steps}
    begun = max(step for step in steps if shares[step] < 0.1)
    done = min(step for step in steps if shares[step] > 0.9)
    assert done - begun > 100
    appear = Lesson("induction", open="appear", lang="en")
    between = sum(begun < step < done for step in steps)
    assert appear.says(f"After step {begun} the heads together predict {100 * shares[begun]:.0f} % of the repetition")
    assert appear.says(
        f"{between} steps in between. Here the rise is not sudden: it lasts from step {begun} to step {done} of 500."
    )


def test_the_first_half_is_predicted_worse_than_by_guessing():
    figures = shipped_figures("copy_two", 500)
    assert sum(figures[:15]) / 15 < 1 / len(repeats.SYMBOLS)
    lesson = Lesson("induction", open="code", lang="en")
    assert lesson.says("so in the first half the supplied network, once trained, does worse than guessing")


def test_any_sequence_is_typed_in():
    lesson = Lesson("induction", lang="en").set("symbols", "Q4wZQ4w")
    assert lesson.says("Expected after “Q4wZQ4w”: **Z**")
    lesson = lesson.open("typed")
    row = lesson.table("typed")
    shares = [float(value) for value in row[row["kind"] == "cell"]["value"]]
    assert len(shares) == 6 and min(shares[4:]) > 0.9 > 0.5 > max(shares[:3])


@pytest.mark.parametrize("text, part", [("abcä", "got 'ä'"), ("", "at least one symbol"), ("a" * 65, "has 65")])
def test_what_it_has_never_seen_is_refused(text, part):
    lesson = Lesson("induction", lang="en")
    before = lesson.fact()
    lesson.set("symbols", text)
    assert part in lesson.errors()[0] and lesson.fact() == before


def test_a_single_symbol_and_a_long_sequence():
    assert Lesson("induction", symbols="a", open="typed,layers", lang="en").charts()
    assert Lesson("induction", symbols="ab" * 32, open="typed,layers", lang="en").charts()


def test_the_previous_token_head_and_the_induction_head_appear():
    lesson = Lesson("induction", open="appear", lang="en")
    previous = {name: curve(lesson, name, APPEAR) for name in HEADS}
    assert max(previous["L1H1"][500], previous["L1H2"][500]) > 0.8
    assert all(previous[name][0] < 0.2 for name in HEADS)
    lesson.choose("score", "what came next")
    behind = {name: curve(lesson, name, APPEAR) for name in HEADS}
    assert max(behind["L2H1"][500], behind["L2H2"][500]) > 0.8
    assert max(behind["L1H1"][500], behind["L1H2"][500]) < 0.2
    steps = [step for step in sorted(behind["L2H1"]) if step >= 100]
    grown = [(max(previous[name][step] for name in HEADS), max(behind[name][step] for name in HEADS)) for step in steps]
    assert grown == sorted(grown) and all(abs(one - other) < 0.15 for one, other in grown)  # they grow together
    weights = cache.trace_for(lesson_setup("learned_copy", repeats.held_out()[0]))["weights"][0]
    one = [weights[head, t, t - 15].item() for head in range(2) for t in range(16, 32)]
    assert sum(one) / len(one) > 0.7


def lesson_setup(example, numbers):
    return make_setup(example=example, text="".join(repeats.SYMBOLS.symbols(numbers.tolist())))


def test_one_layer_cannot():
    lesson = Lesson("induction", open="one_layer", lang="en")
    share = lambda course: sum(shipped_figures(course, 500)[16:]) / 15  # noqa: E731
    assert share("copy_one") < 0.1 and share("copy_two") > 0.95
    assert lesson.says(f"A network of one layer predicts {share('copy_one'):.0%} of the repetition".replace("%", " %"))


@pytest.mark.parametrize("layer, example", [("layer 1", "learned_previous"), ("layer 2", "learned_copy")])
def test_each_layers_run_opens_in_the_workbench(layer, example):
    lesson = Lesson("induction", symbols="xyzxyz", open="layers", lang="en").choose("layer", layer)
    lesson.press("door_layers")
    setup = lesson.at.session_state["setup"]
    assert (setup.run.example, setup.run.text) == (example, "xyzxyz")
    model, number = load_network("copy_two", 500).exact_model, int(layer[-1]) - 1
    own = model.traces(torch.tensor([repeats.SYMBOLS.numbers("xyzxyz")]))[number]
    assert torch.equal(cache.trace_for(setup)["weights"], own["weights"])


def test_the_menu_of_examples_leads_to_a_learned_head_and_undo_back():
    screen = Screen().choose_example("learned_copy")
    setup = screen.setup()
    assert setup == make_setup(example="learned_copy")
    own = load_network("copy_two", 500).exact_model.traces(torch.tensor([repeats.SYMBOLS.numbers("k7Bxa9k7Bxa9")]))[1]
    trace = cache.trace_for(setup)
    assert all(torch.equal(trace[step], own[step]) for step in ("q", "k", "v", "weights", "output"))
    assert "Learned by training: x, $W_{q}$, $W_{k}$, $W_{v}$, $W_{o}$." in [text.value for text in screen.at.caption]
    assert screen.press("undo").setup() == Setup()


def test_the_learned_layers_words_are_typed_on_the_workbench():
    screen = Screen(ex="learned_copy", text="abcabc")
    assert cache.trace_for(screen.setup()).labels["T"] == tuple("abcabc")
    refused = Screen(ex="learned_copy", text="Anna fed the dog!")
    assert any("every symbol must be one that the network was trained on" in error for error in refused.errors())
    dates = Screen(ex="learned_dates", ctx="5 May 1999")
    assert cache.trace_for(dates.setup()).labels["T"] == tuple("1999年5月5日")


def test_what_is_expected_follows_the_heads_that_are_on():
    lesson = Lesson("induction", heads="L2H1,L2H2", open="typed", lang="en")
    assert not lesson.says(": **k**")
    row = lesson.table("typed")
    shares = [float(value) for value in row[row["kind"] == "cell"]["value"]]
    assert sum(shares[6:]) / 5 < 0.5  # with all heads nearly 1


def test_of_a_layer_that_has_not_learned_it_yet_that_is_said():
    untrained = Lesson("induction", step_of="0", open="layers", lang="en")
    assert untrained.says("no head has learned yet to attend to the previous symbol")
    trained = Lesson("induction", open="layers", layer="L2", lang="en")
    assert trained.says("Layer 2: in a repetition a head gives") and not trained.says("yet")


# ---- two heads composed ----------------------------------------------------------------------------------------------
def test_the_induction_head_asks_for_the_place_after_itself():
    lesson = Lesson("induction", open="layers", layer="both", lang="en")
    found = finds_itself(load_network("copy_two", 500), "L1H1", "L2H1")
    assert lesson.says(f"{int(found.sum())} of all 62 symbols have their highest score in L2H1")
    shown = lesson.table("composed")
    numbers = [float(value.replace("−", "-")) for value in shown["value"][shown["kind"] == "cell"]]
    trace = compose_heads(load_network("copy_two", 500), "k7Bxa9k7Bxa9", "L1H1")
    expected = trace["scaled_scores"][0, 0].flatten().tolist()
    assert sorted(numbers) == pytest.approx(sorted(expected))


def test_without_the_first_head_a_symbol_does_not_ask_for_itself():
    lesson = Lesson("induction", open="layers", layer="both", writes="itself", asks="L2H2", lang="en")
    assert lesson.says("Without layer 1, 0 of all 62 symbols have their highest score in L2H2 at themselves")


def test_the_composition_scores_stand_in_a_table():
    lesson = Lesson("induction", open="layers", layer="both", lang="en")
    scores = composition_trace(load_network("copy_two", 500))
    (table,) = [each.value for each in lesson.at.table if "in keys" in each.value.columns]
    expected = [f"{float(scores['k_composition'][i, j]):.2f}" for i in range(2) for j in range(2)]
    assert list(table["in keys"]) == expected
    assert list(table["heads"]) == ["L1H1 → L2H1", "L1H2 → L2H1", "L1H1 → L2H2", "L1H2 → L2H2"]
