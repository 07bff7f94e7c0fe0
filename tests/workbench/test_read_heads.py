"""The maps of all heads, read in other ways: what the page sends, says, keeps in the link and takes back."""

import numpy as np
import pytest

from pages.panels.model_rail import list_layer_maps
from pages.runs.cache import trace_for
from pages.setup.resolve import resolve_run
from tests.screen.driver import Screen

PLAIN = {"without_first": False, "least": None, "largest": None, "times": False, "mean": []}


def read(screen):
    data, blobs = screen.packed("flow")
    shape = (-1, len(data["read"]["rows"]), len(data["read"]["columns"]))
    numbers = np.frombuffer(blobs["read_numbers"], np.float32).reshape(shape)
    return data["read"], numbers, np.frombuffer(blobs["read_hidden"], np.uint8).reshape(shape)


def choose(screen, **values):
    return screen.click_part("look", "maps", {**PLAIN, **values})


def test_maps_as_they_are_are_not_sent_twice():
    data, blobs = Screen(ex="en_it", stop="heads").packed("flow")
    assert data["read"] is None and not blobs["read_numbers"] and data["reads"]["chosen"] == PLAIN


def test_what_is_chosen_is_sent_said_and_kept_and_undo_takes_back_one_choice_at_a_time():
    screen = choose(Screen(ex="en_it", stop="heads", lang="en"), without_first=True)
    data, numbers, _ = read(screen)
    weights = trace_for(screen.setup())["weights"][0].numpy()
    rest = weights[..., 1:] / weights[..., 1:].sum(-1, keepdims=True)
    np.testing.assert_allclose(numbers, rest, atol=1e-6)
    assert data["columns"] == data["rows"][1:] and data["rows"][0] == "Anna"
    percent = f"{100 * weights[0, :, 0].mean():.0f} %"
    assert f"Without “Anna”, the first token ({percent} of this map's weight)" in data["told"][0]
    choose(screen, without_first=True, least=0.1)
    data, _, hidden = read(screen)
    assert hidden.sum((1, 2)).tolist() == (rest < 0.1).sum((1, 2)).tolist()
    assert f"{hidden[0].sum()} of 42 weights are hidden" in data["told"][0]
    assert screen.link()["maps"] == "without_first,least:0.1"
    assert read(Screen(**screen.link()))[0] == data
    assert screen.press("undo").link()["maps"] == "without_first"
    assert "maps" not in screen.press("undo").link()


def test_a_mean_is_one_more_map_and_each_blocked_cell_is_no_number():
    screen = choose(Screen(ex="en_it", heads="4", mask="causal", stop="heads"), mean=[0, 3], times=True)
    _, numbers, _ = read(screen)
    weights = trace_for(screen.setup())["weights"][0].numpy()
    keys = np.arange(1, 8)[:, None]  # a causal mask lets query i see i + 1 keys
    free = np.tril(np.ones((7, 7))) > 0
    assert len(numbers) == 5 and np.isnan(numbers[:, ~free]).all()
    np.testing.assert_allclose(numbers[4][free], (keys * (weights[0] + weights[3]) / 2)[free], atol=1e-5)


def test_all_heads_of_a_model_are_read_and_those_of_a_changed_layer_as_it_is():
    screen = Screen(ex="model_en", layer="2", temp="2", stop="heads", maps="largest:1")
    data, numbers, _ = read(screen)
    kept = trace_for(screen.setup())["weights"][0].numpy()
    trained = list_layer_maps("en_asked_encoder", tuple(trace_for(screen.setup()).labels["T"]))
    assert len(data["told"]) == len(numbers) == trained.shape[0] * trained.shape[1]
    heads = trained.shape[1]
    np.testing.assert_allclose(numbers[heads : 2 * heads], kept, atol=1e-6)
    np.testing.assert_allclose(numbers[:heads], trained[0], atol=1e-6)
    assert abs(kept - trained[1]).max() > 0.1


def test_a_head_that_a_link_makes_up_is_left_out_and_an_odd_number_refused():
    data, _ = Screen(ex="en_it", stop="heads", maps="times,mean:0:99").packed("flow")
    assert data["reads"]["chosen"]["mean"] == [0]
    screen = choose(Screen(ex="en_it", stop="heads"), least=1.5)
    assert "maps" not in screen.link() and any("least" in error for error in screen.errors())


NO_SHARES = {"mod": "differential"}, {"weights": "0.0.1.2=-1"}


@pytest.mark.parametrize("link", NO_SHARES, ids=["a difference of maps", "a typed number"])
def test_maps_that_cannot_be_read_otherwise_have_no_options(link):
    screen = Screen(ex="en_it", stop="heads", maps="times", **link)
    assert "reads" not in screen.packed("flow")[0] and screen.errors() == []


# ---- two runs --------------------------------------------------------------------------------------------------------
COMPARED = {"ex": "en_it", "temp": "4", "against": "", "pinned": "values", "stop": "heads", "lang": "en"}


def test_two_runs_are_shown_as_their_difference_and_each_alone_and_the_link_keeps_which():
    screen = Screen(**COMPARED)
    b = trace_for(screen.setup())["weights"][0].numpy()
    a = trace_for(Screen(ex="en_it").setup())["weights"][0].numpy()
    data, numbers, _ = read(screen)
    assert data["kind"] == "change" and screen.packed("flow")[0]["reads"]["side"] == "difference"
    np.testing.assert_allclose(numbers, b - a, atol=1e-6)
    row, column = divmod(abs(b - a)[0].argmax(), 7)
    ends = [f"{100 * run[0, row, column]:.1f} %" for run in (a, b)]
    words = data["rows"][row], data["columns"][column]
    assert data["told"][0] == f"Changed most: {words[0]} → {words[1]}, from {ends[0]} in A to {ends[1]} in B."
    screen.click_part("look", "side", "a")
    np.testing.assert_allclose(read(screen)[1], a, atol=1e-6)
    assert screen.link()["side"] == "a"
    screen.click_part("look", "side", "b")
    assert screen.packed("flow")[0]["read"] is None  # the run on the screen, as it is
    choose(screen.click_part("look", "side", "difference"), without_first=True)
    rest = [run[..., 1:] / run[..., 1:].sum(-1, keepdims=True) for run in (a, b)]
    np.testing.assert_allclose(read(screen)[1], rest[1] - rest[0], atol=1e-6)
    assert "side" not in screen.link() and screen.errors() == []


def test_both_runs_and_their_difference_are_sent_to_stand_beside_each_other():
    screen = Screen(**COMPARED | {"side": "b", "maps": "without_first"})
    data, blobs = screen.packed("flow")
    b = trace_for(screen.setup())["weights"][0].numpy()
    a = trace_for(Screen(ex="en_it").setup())["weights"][0].numpy()
    rest = [run[..., 1:] / run[..., 1:].sum(-1, keepdims=True) for run in (a, b)]
    wanted = {"a": rest[0], "b": rest[1], "difference": rest[1] - rest[0]}
    assert {*data["sides"]} == {*wanted}
    for side, numbers in wanted.items():
        sent = np.frombuffer(blobs[f"{side}_numbers"], np.float32).reshape(numbers.shape)
        np.testing.assert_allclose(sent, numbers, atol=1e-6)
        assert data["sides"][side]["columns"] == ["fed", "the", "dog", "and", "it", "barked"]
    assert Screen(ex="en_it", stop="heads").packed("flow")[0]["sides"] is None


def sent(blobs, side, described):
    shape = (-1, len(described["rows"]), len(described["columns"]))
    return np.frombuffer(blobs[f"{side}_numbers"], np.float32).reshape(shape)


OTHER_SIZES = [
    ({"heads": "4"}, "No B − A: A has 2 heads, B has 4.", ["A → B: ", "Heads", " 2 → 4"]),
    ({"text": "Anna fed the big dog and it barked"}, "No B − A: A has 7 tokens, B has 8.", None),
]


@pytest.mark.parametrize(("change", "why", "differ"), OTHER_SIZES, ids=["heads", "tokens"])
def test_runs_of_other_sizes_stand_beside_each_other_and_it_is_said_why_there_is_no_difference(change, why, differ):
    screen = Screen(**COMPARED | change | {"temp": "1"})
    data, blobs = screen.packed("flow")
    a = trace_for(Screen(ex="en_it").setup())
    b = trace_for(screen.setup())
    assert {*data["sides"]} == {"a", "b"} and data["no_difference"].startswith(why)
    for side, run in (("a", a), ("b", b)):
        described = data["sides"][side]
        np.testing.assert_allclose(sent(blobs, side, described), run["weights"][0], atol=1e-6)
        assert described["rows"] == [*run.labels["T"]]
    assert [head["name"] for head in data["heads_of_a"]] == ["head 1: which noun is meant?", "head 2: who does it?"]
    assert (data["reads"]["side"], data["reads"]["sides"]) == ("together", ["a", "b", "together"])
    assert differ is None or data["differ"] == differ


def test_one_of_two_runs_of_other_sizes_is_shown_alone_and_the_link_keeps_which():
    screen = Screen(**COMPARED | {"heads": "4", "temp": "1"})
    screen.click_part("look", "side", "a")
    a = trace_for(Screen(ex="en_it").setup())["weights"][0]
    np.testing.assert_allclose(read(screen)[1], a, atol=1e-6)
    assert screen.link()["side"] == "a"
    choose(screen, mean=[0, 1])
    np.testing.assert_allclose(read(screen)[1][2], a.mean(0), atol=1e-6)
    screen.click_part("look", "side", "together")  # a mean is of the heads of one run
    assert "side" not in screen.link() and screen.packed("flow")[0]["reads"]["side"] == "b"


def test_what_differs_between_a_and_b_is_said_in_the_view_of_all_heads():
    data, _ = Screen(**COMPARED | {"mask": "causal"}).packed("flow")
    assert data["differ"] == ["A → B: ", "Masks", " none → causal · ", "Temperature τ", " 1 → 4"]
    data, _ = Screen(**COMPARED | {"lang": "zh"}).packed("flow")
    assert "".join(data["differ"]) == "A → B：温度 τ 1 → 4"


def test_a_head_of_a_is_told_by_its_own_numbers():
    a = {"against": "temp=1000", "pinned": "values"}
    data, _ = Screen(ex="en_it", lang="en", stop="heads", side="a", **a).packed("flow")
    assert [head["habit"] for head in data["heads_of_a"]] == ["spreads evenly"] * 2
    assert data["head_names"][0]["habit"] == "it → dog; the rest evenly"


@pytest.mark.parametrize(
    ("link", "why"), [({"mod": "differential"}, "no shares"), ({"against": "mod=differential"}, "no shares")]
)
def test_a_run_that_cannot_stand_beside_another_is_not_left_out_without_a_word(link, why):
    data, _ = Screen(**COMPARED | link).packed("flow")
    assert why in data["unread"] and not data.get("sides")


def test_of_a_batch_that_a_model_reads_the_maps_have_the_words_of_the_sentence_that_is_looked_at():
    batch = {"text": "the dog did not bark because it was tired.", "more": "Anna fed the dog.", "sentence": "1"}
    screen = Screen(ex="model_en_decoder", layer="1", **batch, stop="heads", maps="without_first")
    data, numbers, _ = read(screen)
    words = ["<start>", "anna", "fed", "the", "dog", "."]
    assert data["rows"] == words and data["columns"] == words[1:]
    layers = list_layer_maps(resolve_run(screen.setup().run).model, tuple(words))
    rest = np.nan_to_num(layers.reshape(-1, 6, 6))[:, 1:, 1:]
    np.testing.assert_allclose(np.nan_to_num(numbers)[:, 1:], rest / rest.sum(-1, keepdims=True), atol=1e-6)


def test_a_change_offers_the_run_before_it_as_a_beside_b():
    screen = Screen(ex="en_it", lang="en")
    assert not screen.packed("flow")[0]["compares"]
    screen.set("temperature", 2.0).set("masks", ["causal"])
    assert screen.packed("flow")[0]["compares"]
    screen.click_part("look", "compared", True)
    link = screen.link()
    assert (link["against"], link["pinned"], link["stop"]) == ("temp=2.0", "values", "heads")
    data, numbers, _ = read(screen)
    assert screen.packed("flow")[0]["reads"]["side"] == "difference"
    assert numbers[0, 0, 0] == pytest.approx(6 / 7)  # a causal mask leaves the first word 1 of 7 keys
    assert data["told"][0] == "Changed most: Anna → Anna, from 14.3 % in A to 100 % in B."


def test_a_change_of_the_number_of_heads_offers_the_run_before_it_as_a_beside_b():
    screen = Screen(ex="en_it", lang="en").set("heads", 4)
    assert screen.packed("flow")[0]["compares"]
    screen.click_part("look", "compared", True)
    assert (screen.link()["against"], screen.link()["stop"]) == ("", "heads")
    data, _ = screen.packed("flow")
    assert "A has 2 heads, B has 4." in data["no_difference"] and not screen.errors()


def test_the_maps_of_a_long_text_are_read_whole_and_of_too_long_a_text_it_is_said_why_not():
    words = " ".join(["the", "cat", "sat", "down"] * 25)  # more than the 64 words that the picture has whole
    screen = Screen(ex="eight_heads", text=words, stop="heads", maps="largest:1")
    _, numbers, hidden = read(screen)
    weights = trace_for(screen.setup())["weights"][0].numpy()
    np.testing.assert_allclose(numbers, weights, atol=1e-6)
    largest = weights.max(-1, keepdims=True)
    assert (hidden == (weights < largest - 1e-9)).all()
    data, _ = Screen(ex="eight_heads", text=" ".join([words, words]), stop="heads", lang="en").packed("flow")
    assert "reads" not in data and "320,000" in data["unread"] and "300,000" in data["unread"]
