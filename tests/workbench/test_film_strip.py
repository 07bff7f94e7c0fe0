"""The film strip: the runs of a sweep, their figures against torch and loops, and what a click takes."""

import math
from dataclasses import fields, replace
from itertools import combinations

import pytest
import torch

from attention_core.drawing.raster import small_raster
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_link import read_matrix
from attention_core.record.errors import AttentionError
from pages.runs import cache
from pages.session.labels import selection_of
from pages.setup.setup import make_setup
from pages.workbench import film_strip
from pages.workbench.sweep_values import MAX_SWEPT_VALUES
from tests.screen.driver import Screen

X, W_Q, W_K = (EXAMPLES["en_it"].tensor(name).double() for name in ("x", "w_q", "w_k"))
IT = 5


def film(sweep, **link):
    """A screen whose drawer is open, on one setting."""
    return Screen("film_drawer", **link).set("swept", sweep)


def frames(screen):
    """Values and figures, as they stand under the maps."""
    return dict(each["name"].split("\n") for each in screen.packed("film")[0]["maps"])


def offered(screen):
    return screen.widget("swept").options


def weights(q, k, factor, allowed=True):
    """The softmax in plain torch: (heads, T, S)."""
    scores = (q @ k.mT) * factor
    return scores.masked_fill(~torch.as_tensor(allowed).expand_as(scores), -torch.inf).softmax(-1).nan_to_num(0.0)


def split(matrix, heads):
    return torch.stack(matrix.chunk(heads, dim=-1))


def heads_of(count):
    """The example's heads with their columns cut into so many."""
    q, k = (split(X @ w, count) for w in (W_Q, W_K))
    return weights(q, k, (W_Q.shape[1] / count) ** -0.5)


def test_closed_it_draws_and_offers_nothing():
    screen = Screen()
    assert screen.parts("film") == []


def test_temperature_over_how_many_keys_the_query_spreads():
    screen = film("temperature")
    expected = {}
    for temperature in (0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10):
        row = weights(*(split(X @ w, 2) for w in (W_Q, W_K)), 2**-0.5 / temperature)[0, IT]
        entropy = -sum(w * math.log(w) for w in row.tolist() if w > 0)
        expected[f"{temperature:g}"] = f"{math.exp(entropy):.1f}"
    assert frames(screen) == expected
    assert expected["0.1"] == "1.0" and float(expected["10"]) > 6.5


def test_heads_how_far_they_lie_apart():
    expected = {}
    for count in (1, 2, 4):
        found = heads_of(count)
        pairs = [(found[a] - found[b]).abs().sum(-1).mean().item() / 2 for a, b in combinations(range(count), 2)]
        expected[str(count)] = f"{sum(pairs) / len(pairs) if pairs else 0:.2f}"
    assert frames(film("heads")) == expected


def test_d_k_as_the_width_control_has_it():
    """Narrower heads keep their first columns, wider ones get zeros: then only the scale shrinks."""
    expected = {}
    for width in (1, 2, 3, 4, 8, 16, 32, 64, 128):
        q, k = (torch.nn.functional.pad(split(X @ w, 2), (0, max(width - 2, 0)))[..., :width] for w in (W_Q, W_K))
        expected[str(width)] = f"{weights(q, k, width**-0.5)[0, IT].max().item():.2f}"
    assert frames(film("d_k")) == expected


def test_the_window_how_many_pairs_are_kept():
    expected = {str(w): str(sum(abs(i - j) <= w for i in range(7) for j in range(7))) for w in range(7)}
    assert frames(film("window")) == expected
    sliding = {str(w): str(sum(0 <= i - j < w for i in range(7) for j in range(7))) for w in range(1, 8)}
    assert frames(film("window", mask="sliding:3")) == sliding


def test_the_offset_of_a_causal_mask():
    found = frames(film("offset", mask="causal"))
    assert len(found) == 9 and found["0"] == "28"
    for offset, count in found.items():
        offset = int(offset.replace("−", "-"))
        assert int(count) == sum(j <= i + offset for i in range(7) for j in range(7))


def test_the_offset_head_says_where_it_looks():
    screen = film("neighbour", built="offset:-1")
    found = frames(screen)
    assert [*found] == ["−4", "−3", "−2", "−1", "0", "1", "2", "3", "4"]
    attended = cache.trace_for(screen.setup())["weights"][0, 0].tolist()
    mean = sum(w * (j - i) for i, row in enumerate(attended) for j, w in enumerate(row)) / len(attended)
    assert found["−1"] == f"−{-mean:.1f}"
    assert screen.packed("film")[0]["maps"][3]["chosen"]


def test_the_seed_how_much_of_a_row_moves():
    screen = film("seed", ex="eight_heads")
    found, now = frames(screen), cache.trace_for(screen.setup())["weights"][0]
    assert [*found] == [str(seed) for seed in range(9)] and found["0"] == "0.00"
    head = 5  # the one that is looked at
    there = Screen(ex="eight_heads", seed="3")
    other = cache.trace_for(there.setup())["weights"][0]
    assert found["3"] == f"{(other - now)[head].abs().sum(-1).mean().item() / 2:.2f}" != "0.00"


def test_precision_the_largest_error_of_a_weight():
    found = frames(film("dtype"))
    w = {name: EXAMPLES["en_it"].tensor(name) for name in ("w_q", "w_k")}
    exact = heads_of(2)
    assert [*found] == ["float64", "float32", "bfloat16", "float16"] and found["float64"] == "0"
    for name in ("float32", "bfloat16", "float16"):
        dtype = getattr(torch, name)
        q, k = (split(X.to(dtype) @ matrix.to(dtype), 2) for matrix in w.values())
        error = ((q @ k.mT) * 2**-0.5).softmax(-1).double().sub(exact).abs().max().item()
        digits, _, power = found[name].partition(" × 10")
        shown = float(digits) * 10 ** int((power or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
        assert shown == pytest.approx(error, rel=0.06)


def test_every_map_is_the_head_that_is_looked_at():
    told, cells = film("temperature").packed("film")
    assert [each["map"] for each in told["maps"]] == [[7, 7]] * 9
    first, last = cells["cells"][:49], cells["cells"][-49:]
    assert first[IT * 7 + 3] == 252 and last[IT * 7 + 3] < 80  # of 253 colours: .93 sharpened to 1, and almost even


# ---- the present value is the present run ----------------------------------------------------------------------------
LINKS = [  # settings at which a sweep once lost something of the run on the screen
    ("window", {"mask": "local_global:1:2:5"}),
    ("window", {"mask": "causal,local_global:2"}),
    ("heads", {"ex": "eight_heads", "kv": "2"}),
    ("heads", {"ex": "zh_colour", "kv": "1", "w_k": "~1.1=5"}),
    ("d_k", {"heads": "1"}),
    ("d_k", {"heads": "4", "kv": "2"}),
    ("neighbour", {"built": "offset:-1,even,offset:1"}),
    ("neighbour", {"built": "offset:-1,even,offset:1", "head": "2"}),
]


@pytest.mark.parametrize(("sweep", "link"), LINKS)
def test_the_map_that_is_marked_is_the_one_on_the_screen_and_a_click_on_it_changes_no_number(sweep, link):
    screen = film(sweep, **link)
    before = cache.trace_for(screen.setup())
    told, cells = screen.packed("film")
    (place,) = [place for place, each in enumerate(told["maps"]) if each["chosen"]]
    rows, columns = before["weights"].shape[-2:]
    drawn = cells["cells"][place * rows * columns : (place + 1) * rows * columns]
    assert drawn == small_raster(before, "weights", selection_of(before, screen.setup()).at, False).cells
    screen.click_part("film", "opened", place)
    assert torch.equal(cache.trace_for(screen.setup())["output"], before["output"])


SETTINGS = [
    {},
    {"temperature": 0.7, "seed": 4},
    {"dtype": "float16"},
    {"heads": 1},
    {"heads": 2, "kv_heads": 1},
    {"heads": 4, "kv_heads": 2, "w_k": read_matrix("~1.1=5")},
    {"d_k": 3, "d_v": 5},
    {"score": "additive"},
    {"wiring": ("tied", "residual")},
    {"w_q": read_matrix("~1.1=5"), "w_o": read_matrix("none")},
    {"masks": ("local_global:1:0:2",)},
    {"masks": ("causal:1", "sliding:3")},
    {"built": ("offset:-1", "first", "offset:2")},
    {"text": "Anna fed a zebra", "more": "the dog"},
]


def kind_of(example):
    """Which fields of an example are given, and its choices: examples of one kind differ in words and numbers only."""
    given = {field.name for field in fields(example) if getattr(example, field.name) not in (None, ())}
    given -= {"far", "focus", "dims"}
    return frozenset(given), example.heads, example.score, example.masks, example.positions


OF_A_KIND = {kind_of(example): name for name, example in EXAMPLES.items()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_sweep_of_every_example_has_the_present_run_at_the_present_value(name):
    """Every example as it is; one of each kind with all settings."""
    marked = 0
    for setting in SETTINGS if name in OF_A_KIND.values() else SETTINGS[:1]:
        setup = make_setup(example=name).with_fields(**setting)
        try:
            trace, material = cache.trace_for(setup), cache.inputs_of(setup)
        except AttentionError:
            continue  # such a setting does not go with this example
        for sweep in film_strip.SWEEPS.values():
            if not sweep.values(setup, trace, material):
                continue  # it has no effect here
            values = film_strip.list_swept_values(sweep, setup, trace, material, MAX_SWEPT_VALUES)
            now = sweep.now(setup, trace, material)
            if len(values) > 1 and now is not None:
                run = cache.trace_for(setup.with_fields(**film_strip.make_change(sweep, setup, trace, material, now)))
                assert now in values and torch.equal(run["weights"], trace["weights"])
                assert torch.equal(run["output"], trace["output"])
                marked += 1
    assert marked > 0


def test_another_window_keeps_the_global_tokens():
    near = [(i, j) for i in range(7) for j in range(7) if abs(i - j) <= 3 or {i, j} & {2, 5}]
    screen = film("window", mask="local_global:1:2:5")
    assert frames(screen)["3"] == str(len(near))
    assert screen.click_part("film", "opened", 3).setup().run.masks == ("local_global:3:2:5",)


def test_other_heads_share_keys_and_values_as_these_do_where_they_divide():
    setup, change = make_setup(example="eight_heads", kv_heads=2), film_strip.SWEEPS["heads"].change
    assert {n: change(setup, n)["kv_heads"] for n in (1, 2, 4, 8, 16)} == {1: None, 2: None, 4: 1, 8: 2, 16: 4}
    assert change(make_setup(example="eight_heads"), 4)["kv_heads"] is None
    screen = film("heads", ex="eight_heads", kv="2")
    screen.click_part("film", "opened", [*frames(screen)].index("4"))
    assert cache.trace_for(screen.setup())["k"].shape[1] == 1


def test_of_several_offset_heads_the_one_that_is_looked_at_is_turned_and_no_head_is_lost():
    first, last = "offset:3,even,offset:1", "offset:-1,even,offset:3"
    for head, expected in ((0, first), (1, first), (2, last)):
        screen = film("neighbour", built="offset:-1,even,offset:1", head=str(head))
        place = [*frames(screen)].index("3")
        assert ",".join(screen.click_part("film", "opened", place).setup().run.built) == expected


def test_other_sizes_where_a_matrix_was_typed_that_this_input_does_not_read():
    screen = film("heads", ex="one_query", w_q="~1.1=5")
    assert len(frames(screen)) > 1 and screen.errors() == []


# ---- what is offered, and taken --------------------------------------------------------------------------------------
@pytest.mark.slow
def test_only_what_makes_a_difference_here_is_offered():
    assert offered(film("temperature")) == ["temperature", "dₖ", "heads", "window", "precision"]
    assert "causal offset" in offered(film("temperature", mask="causal"))
    assert "offset head" in offered(film("temperature", built="offset:1,even"))
    assert "seed" in offered(film("temperature", ex="source_004", text="moon x1 x3"))
    assert offered(film("window", wiring="even"))[0] == "dₖ"


def test_a_click_takes_the_value():
    screen = film("temperature").click_part("film", "opened", 7)
    assert screen.setup().run.temperature == 5.0
    assert [each["chosen"] for each in screen.packed("film")[0]["maps"]].index(True) == 7
    assert screen.press("undo").setup().run.temperature == 1.0
    screen.set("swept", "window").click_part("film", "opened", 1)
    assert screen.setup().run.masks == ("local:1",)
    screen.set("swept", "d_k").click_part("film", "opened", 3)
    assert screen.setup().run.d_k == 4


@pytest.mark.parametrize("sent", [99, -1, "3", None, 1.5, [1]])
def test_a_browser_may_send_anything(sent):
    screen = film("temperature").click_part("film", "opened", sent)
    assert screen.setup().run.temperature == 1.0 and screen.errors() == []


def test_a_present_value_between_the_others_is_among_them():
    found = frames(film("temperature", temp="0.7"))
    assert "0.7" in found and len(found) == 9 and {"0.1", "10"} <= {*found}


def test_the_runs_of_a_strip_are_bounded(monkeypatch):
    monkeypatch.setattr("pages.workbench.film_strip.MAX_RUN_PAIRS", 98 * 3)  # 2 heads of 7 x 7 are 98 weights
    screen = film("temperature")
    assert len(frames(screen)) == 3
    assert any(text.value.startswith("3 runs of head 1") for text in screen.at.markdown)
    monkeypatch.setattr("pages.workbench.film_strip.MAX_RUN_PAIRS", 98)
    screen = Screen("film_drawer")
    assert screen.parts("film") == [] and any("too large" in caption for caption in screen.captions())


def test_what_cannot_be_computed_is_left_out_and_says_why(monkeypatch):
    values = {"values": lambda *setting: (1.0, 0.0, 2.0)}
    changed = {**film_strip.SWEEPS, "temperature": replace(film_strip.SWEEPS["temperature"], **values)}
    monkeypatch.setattr("pages.workbench.film_strip.SWEEPS", changed)
    screen = film("temperature")
    assert [*frames(screen)] == ["1", "2"]
    assert any(caption.startswith("Left out: 0, because ") for caption in screen.captions())


# ---- the parameters of mechanisms ------------------------------------------------------------------------------------
def test_a_cap_is_swept_where_it_is_chosen():
    assert "Score cap: limit of every score" not in offered(film("temperature"))
    screen = film("softcap_cap", mod="softcap:2")
    scores = split(X @ W_Q, 2) @ split(X @ W_K, 2).mT / 2**0.5
    expected = {}
    for cap in (0.5, 1, 2, 5, 10, 20, 50, 100):
        row = (cap * torch.tanh(scores / cap)).softmax(-1)[0, IT]
        expected[f"{cap:g}"] = f"{row.max().item():.2f}"
    assert frames(screen) == expected


@pytest.mark.parametrize(
    ("name", "link", "field", "value"),
    [
        ("sigmoid_bias", {"norm": "sigmoid"}, "normaliser", "sigmoid:-3"),
        ("differential_lam_init", {"mod": "gate,differential"}, "modifiers", "0.2"),
        ("rope_base", {"pos": "rope,alibi"}, "positions", "100"),
        ("rope_scaling", {"pos": "rope"}, "positions", "linear"),
    ],
)
def test_a_parameter_takes_the_value_of_its_frame(name, link, field, value):
    screen = film(name, **link)
    swept = film_strip.SWEEPS[name]
    setup = screen.at.session_state["setup"]
    values = [each for each in swept.values(setup, None, None) if each != swept.now(setup, None, None)]
    changed = swept.change(setup, values[1 if name in ("sigmoid_bias", "differential_lam_init", "rope_base") else 0])
    assert value in str(changed[field])


def test_what_does_nothing_is_not_swept():
    assert "RoPE: how many times longer" not in offered(film("temperature", pos="rope"))
    assert "RoPE: how many times longer" in offered(film("temperature", pos="rope:interleaved:10000:linear:4:4096"))
