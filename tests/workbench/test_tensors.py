"""Tensors from files: the run of what was brought, the first step that differs, and nobody else's numbers."""

import io
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import torch
from safetensors.numpy import save

from attention_core.documents.number_files import npz_bytes
from attention_core.documents.provenance import Provenance
from pages.runs import upload_store
from pages.runs.compute import compute_run
from pages.runs.held_bytes import HELD
from tests.screen.driver import Screen

B, H, KV, T, S, D, V = 2, 4, 2, 5, 7, 3, 11
ADDED = count()  # numbers of the files that were added to a box


def tensors():
    random = np.random.default_rng(5)
    shapes = {"q": (B, H, T, D), "k": (B, KV, S, D), "v": (B, KV, S, V)}
    return {name: random.normal(size=shape) for name, shape in shapes.items()}


def weights_of(given, scale=D**-0.5, mask=None):
    """By hand: query head h reads key head h // 2."""
    scores = np.einsum("bhtd,bhsd->bhts", given["q"], given["k"].repeat(2, axis=1)) * scale
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def bring(screen, *files):
    """A visitor chooses files: (name, content) each."""
    screen.set("mode", "file")
    box = next(box for box in screen.at.file_uploader if box.key.startswith("c_bring"))
    return screen.ran(box.set_value([(name, content, "application/octet-stream") for name, content in files]).run)


def add(screen, *files):
    """A visitor adds files to those that are in the box: (name, content) each."""
    box = next(box for box in screen.at.file_uploader if box.key.startswith("c_bring"))
    kept = [(file.file_id, file.name, file.getvalue()) for file in box.value]
    new = [(f"added {next(ADDED)}", *file) for file in files]
    box._files = [(*file, "application/octet-stream") for file in kept + new]
    return screen.ran(box.run)


def take_away(screen, name):
    """A visitor takes a file out of the box."""
    box = next(box for box in screen.at.file_uploader if box.key.startswith("c_bring"))
    left = [file for file in box.value if file.name != name]
    box._files = [(file.file_id, file.name, file.getvalue(), "application/octet-stream") for file in left]
    return screen.ran(box.run)


def brought(**more):
    return bring(Screen(), ("t.npz", npz(**tensors(), **more)))


def told(screen):
    texts = [*screen.at.markdown, *screen.at.caption, *screen.at.success]
    return " ".join(text.value.replace("\\", "") for text in texts)


def trace(screen):
    setup = screen.setup()
    trace, _ = compute_run(setup.run, screen.at.session_state["held"][setup.run.file])
    return trace


# ---- the run ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["npz", "safetensors", "three npy"])
def test_what_was_brought_is_computed(kind):
    given = tensors()
    if kind == "three npy":
        files = []
        for name, array in given.items():
            file = io.BytesIO()
            np.save(file, array)
            files.append((f"{name}.npy", file.getvalue()))
    else:
        files = [(f"t.{kind}", npz(**given) if kind == "npz" else save(given))]
    screen = bring(Screen(), *files)
    assert screen.errors() == []
    assert torch.allclose(trace(screen)["weights"], torch.from_numpy(weights_of(given)[:1]), rtol=0, atol=1e-14)
    assert screen.words() == ["1", "2", "3", "4", "5"]
    assert len(screen.words("S")) == S
    assert any("From the file: q, k, v." in caption for caption in screen.captions())


def test_a_learned_tensor_has_the_width_of_the_values_that_were_brought():
    even = {name: np.ones((1, 2, 5, width)) for name, width in (("q", 6), ("k", 6), ("v", V))}
    screen = bring(Screen(), ("t.npz", npz(**even)))
    setup = replace(screen.setup().run, modifiers=("differential",))
    _, inputs = compute_run(setup, screen.at.session_state["held"][setup.file])
    assert inputs.matrices["g_heads"].shape == (1, V)


def test_heads_behind_tokens_are_told():
    screen = bring(Screen(), ("t.npz", npz(**{name: array.swapaxes(1, 2) for name, array in tensors().items()})))
    assert screen.setup().run.axes is None
    assert torch.allclose(trace(screen)["weights"], torch.from_numpy(weights_of(tensors())[:1]), rtol=0, atol=1e-14)


def test_a_part_is_chosen():
    screen = brought().set("part_batch", 2).set("part_head", 3).set("part_heads", 2)
    assert screen.errors() == []
    expected = weights_of(tensors())[1:2, 2:4]
    assert torch.allclose(trace(screen)["weights"], torch.from_numpy(expected), rtol=0, atol=1e-14)
    screen.set("part_query", 4)
    assert screen.error_at("c_part_keys").startswith("queries must lie inside the file, which has 5")
    assert torch.allclose(trace(screen)["weights"], torch.from_numpy(expected), rtol=0, atol=1e-14)


def test_scale_and_masks_are_the_pages_own():
    mask = np.random.default_rng(0).random((T, S)) < 0.7
    mask[:, 0] = True
    screen = brought(mask=mask)
    assert screen.setup().run.file is None  # the name does not say what True means
    screen.set("waiting_mask_mask", "mask:T.S:allowed").set("scale", "off").set("masks", ["causal"])
    causal = np.tri(T, S, S - T, dtype=bool)
    expected = weights_of(tensors(), scale=1.0, mask=mask & causal)[:1]
    assert torch.allclose(trace(screen)["weights"], torch.from_numpy(expected), rtol=0, atol=1e-14)
    screen.set("mask_mask", "mask:T.S:blocked")
    with np.errstate(invalid="ignore"):
        turned = weights_of(tensors(), scale=1.0, mask=~mask & causal)[:1]
    assert torch.allclose(trace(screen)["weights"], torch.from_numpy(turned).nan_to_num(), rtol=0, atol=1e-14)


# ---- the first step that differs -------------------------------------------------------------------------------------
def test_a_file_that_agrees():
    screen = brought(weights=weights_of(tensors()))
    assert "The file's weights agree with what is computed here" in told(screen)
    assert "First step that differs" not in told(screen)


def test_a_file_without_the_scale_is_told_where_and_why():
    wrong = weights_of(tensors(), scale=1.0)
    screen = brought(weights=wrong)
    right = weights_of(tensors())
    place = np.unravel_index(np.abs(wrong[:1] - right[:1]).argmax(), right[:1].shape)
    assert "First step that differs: weights." in told(screen)
    head, query, key = (int(at) + 1 for at in place[1:])
    assert f"most at head {head}, query {query}, key {key}:" in told(screen)
    assert f"the file has {wrong[place]:.4g}, here it is {right[place]:.4g}" in told(screen)
    assert "One change reproduces the file's weights, within the rounding of float64: no scale" in told(screen)
    screen.press("b_differs")
    assert screen.link()["cell"] == ",".join(map(str, place))
    screen.set("scale", "off")
    assert "agree with what is computed here" in told(screen)


def test_an_output_that_differs_though_the_weights_agree():
    weights = weights_of(tensors())
    output = np.einsum("bhts,bhsd->bhtd", weights, tensors()["v"].repeat(2, axis=1))
    output[0, 1, 2, 3] += 0.5
    screen = brought(weights=weights, output=output)
    assert "First step that differs: head_outputs." in told(screen)
    assert "most at head 2, query 3, d_v 4:" in told(screen)
    assert "The earlier steps agree: weights." in told(screen)
    assert "the fault lies in this step" in told(screen)


def test_a_fault_behind_right_scores_and_a_step_that_agrees_later():
    right, given = weights_of(tensors()), tensors()
    scores = np.einsum("bhtd,bhsd->bhts", given["q"], given["k"].repeat(2, axis=1))
    screen = brought(scores=scores, weights=right * 1.5)
    assert "The earlier steps agree: scores." in told(screen)
    assert "the fault lies in one of scaled_scores, masked_scores, weights" in told(screen)
    screen = brought(scores=scores + 1.0, weights=right)  # the softmax takes the 1 away again
    assert "First step that differs: scores." in told(screen)
    assert "The earlier steps" not in told(screen)


def test_of_a_part_of_the_keys_the_weights_are_not_compared():
    screen = brought(weights=weights_of(tensors())).set("part_keys", 4)
    assert "Only a part of the keys is on the screen" in told(screen)
    assert "First step that differs" not in told(screen)


def test_another_array_is_chosen():
    given = tensors()
    screen = bring(Screen(), ("t.npz", npz(a=given["q"], b=given["k"], c=given["v"])))
    assert screen.error_at(screen_key(screen)).startswith("q must be one of the arrays of the file: it has a, b, c")
    screen = bring(Screen(), ("t.npz", npz(**given, q2=2 * given["q"])))
    screen.set("role_q", "q2")
    assert torch.allclose(trace(screen)["q"], torch.from_numpy(2 * given["q"][:1]), rtol=0, atol=1e-15)


def test_arrays_are_called_by_their_names_and_no_two_alike():
    given, start = tensors(), "layer_0.*" + "a" * 60
    more = {start + "1": 2 * given["q"], start + "2": 3 * given["q"], "a\u202eb": given["q"]}
    screen = bring(Screen(), ("t.npz", npz(**given, **more)))
    assert screen.widget("role_q").options == [
        "1: q",
        "2: k",
        "3: v",
        f"4: {start[:60]}",
        f"5: {start[:60]}",
        "6: a⟨U+202E⟩b",
    ]
    screen.set("role_q", start + "2")
    assert torch.allclose(trace(screen)["q"], torch.from_numpy(3 * given["q"][:1]), rtol=0, atol=1e-15)
    screen = bring(Screen(), ("t.npz", npz(**given, **{"layer_0.*q*": given["q"]})))
    assert screen.widget("role_q").options == ["q", "k", "v", "layer_0.*q*"]


def test_a_painted_mask_beside_one_of_another_shape_is_refused():
    screen = brought(other=np.ones((3, 3), dtype=bool)).set("edited", "allowed")
    screen.paste("\n".join([" ".join(["0"] + ["1"] * (S - 1))] * T))
    setup = screen.setup()
    assert setup.run.allowed is not None
    screen.set("role_mask", "other")
    assert screen.error_at("c_role_mask").startswith("other must broadcast to (B, H, T, S) = (2, 4, 5, 7)")
    assert screen.setup() == setup


def test_a_temperature_whose_inverse_is_no_number_is_no_cause():
    screen = bring(Screen(temp="5e-324"), ("t.npz", npz(**tensors(), weights=weights_of(tensors()))))
    assert screen.setup().run.temperature == 5e-324
    assert "First step that differs: weights." in told(screen)


def screen_key(screen):
    return next(box.key for box in screen.at.file_uploader if box.key.startswith("c_bring"))


# ---- one file after the other ----------------------------------------------------------------------------------------
def capital(factor):
    """The same tensors times a factor, under other names."""
    return {name.upper(): factor * array for name, array in tensors().items()}


def q_of(screen):
    return trace(screen)["q"]


def times(factor):
    return torch.from_numpy(factor * tensors()["q"][:1])


@pytest.mark.parametrize("capital_first", [False, True])
def test_a_second_file_with_all_tensors_replaces_the_first(capital_first):
    small, large = ("small.npz", npz(**tensors())), ("large.npz", npz(**capital(3.0)))
    first, second = (large, small) if capital_first else (small, large)
    screen = add(bring(Screen(), first), second)
    assert torch.equal(q_of(screen), times(1.0 if capital_first else 3.0))
    assert f"Using q, k, v from {second[0]}. Nothing is read from {first[0]}." in screen.captions()
    assert "Nothing moved" not in told(screen)


def test_what_the_first_file_had_besides_is_not_compared_with_the_second():
    screen = add(
        brought(weights=weights_of(tensors()), allowed=np.ones((T, S), dtype=bool)), ("b.npz", npz(**capital(2)))
    )
    assert torch.equal(q_of(screen), times(2.0))
    assert "First step that differs" not in told(screen) and screen.errors() == []


def test_a_second_file_with_one_tensor_stands_before_the_first_for_this_one():
    screen = add(brought(), ("other.npz", npz(query=2 * tensors()["q"])))
    assert torch.equal(q_of(screen), times(2.0))
    assert torch.equal(trace(screen)["k"], torch.from_numpy(tensors()["k"][:1]))
    assert "Using q from other.npz; k, v from t.npz." in screen.captions()
    screen = add(screen, ("third.npz", npz(weights=weights_of({**tensors(), "q": 2 * tensors()["q"]}))))
    assert "Using q from other.npz; k, v from t.npz; weights from third.npz." in screen.captions()
    assert "The file's weights agree with what is computed here" in told(screen)


def test_three_files_one_after_the_other_give_a_run():
    given, screen = tensors(), bring(Screen(), ("q.npz", npz(q=tensors()["q"])))
    assert screen.error_at(screen_key(screen)).startswith("k must be one of the arrays of the file")
    screen = add(add(screen, ("v.npz", npz(v=given["v"]))), ("k.npz", npz(k=given["k"])))
    assert screen.errors() == [] and torch.equal(q_of(screen), times(1.0))
    assert "Using q from q.npz; k from k.npz; v from v.npz." in screen.captions()


def test_files_of_one_name_are_told_apart_also_after_undo():
    screen = add(brought(), ("t.npz", npz(**capital(2.0))))
    assert "Using q, k, v from 2: t.npz. Nothing is read from 1: t.npz." in screen.captions()
    screen.press("undo")
    assert torch.equal(q_of(screen), times(1.0))
    assert "Using q, k, v from t.npz." in screen.captions()  # the box is empty again


def test_a_file_that_is_taken_away_is_in_force_no_more():
    screen = add(brought(), ("b.npz", npz(**capital(2.0))))
    screen = take_away(screen, "b.npz")
    assert torch.equal(q_of(screen), times(1.0))
    assert "Using q, k, v from t.npz." in screen.captions()


def test_a_file_that_has_no_tensor_of_attention_is_named():
    screen = add(brought(), ("b.npz", npz(loss=np.ones(3))))
    assert torch.equal(q_of(screen), times(1.0))
    assert "Using q, k, v from t.npz. Nothing is read from b.npz." in screen.captions()


def test_a_files_name_is_shown_and_not_run():
    screen = bring(Screen(), ("**b**\u202e.npz", npz(**tensors())))
    assert "Using q, k, v from **b**⟨U+202E⟩.npz." in screen.captions()


def test_the_same_files_in_another_order_are_other_tensors():
    one, other = ("one.npz", npz(**tensors())), ("other.npz", npz(q=2 * tensors()["q"]))
    then, together = add(bring(Screen(), one), other), bring(Screen(), one, other)
    assert (
        then.setup().run.file != together.setup().run.file
    )  # what is computed of them is kept for all sessions by this name


# ---- refused ---------------------------------------------------------------------------------------------------------
def test_a_file_that_does_not_fit_beside_those_of_all_sessions_is_refused_and_the_last_one_stays(monkeypatch):
    screen = brought()
    before = screen.setup()
    monkeypatch.setattr(HELD, "most", 0)
    screen = bring(screen, ("more.npz", npz(**tensors(), more=np.ones(3))))
    assert "try again when others have left" in screen.error_at(screen_key(screen)) and screen.setup() == before


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.npz", b""),
        ("t.npz", b"no zip"),
        ("q.npy", b"\x89PNG...."),
        ("q.npy", pickled()),
        ("t.safetensors", b"\xff" * 9),
    ],
)
def test_what_is_no_tensor_is_refused_at_the_box(name, content):
    screen = bring(Screen(), (name, content))
    assert screen.error_at(screen_key(screen))
    assert screen.fact().startswith("Head 1: “it” gives 93 %")
    assert "file" not in screen.link()


# ---- whose numbers ---------------------------------------------------------------------------------------------------
def test_a_link_shows_nobody_elses_tensors():
    there = brought()
    here = Screen(**there.link()).click_part("kept_file", "read", None)  # the browser tab of somebody else has none
    assert "the tensors of this screen are in a file that is no longer here" in " ".join(here.errors())
    assert here.fact().startswith("Head 1: “it” gives 93 %")
    again = bring(here, ("t.npz", npz(**tensors())))
    assert again.setup().run.file == there.setup().run.file


def test_a_session_keeps_two_files():
    screen = brought()
    first = screen.setup().run.file
    for factor in (2.0, 3.0):
        screen = bring(screen, ("t.npz", npz(**{name: factor * array for name, array in tensors().items()})))
    assert len(screen.at.session_state["held"]) == upload_store.MAX_UPLOADS == 2
    assert first not in screen.at.session_state["held"]
    screen.press("undo")
    assert torch.allclose(trace(screen)["q"], torch.from_numpy(2 * tensors()["q"][:1]), rtol=0, atol=1e-15)
    screen.press("undo")  # to a file that is held no more
    assert "file that is no longer here" in " ".join(screen.errors())


def test_the_same_bytes_under_other_names_are_other_tensors():
    q, k, v = (np.random.default_rng(n).normal(size=(T, D)) for n in range(3))
    called = []
    for names in ("qkv", "kqv"):
        files = []
        for name, array in zip(names, (q, k, v), strict=True):
            file = io.BytesIO()
            np.save(file, array)
            files.append((f"{name}.npy", file.getvalue()))
        screen = bring(Screen(), *files)
        called.append(screen.setup().run.file)
    assert (
        None not in called and called[0] != called[1]
    )  # what is computed of them is kept for all sessions by this name


def test_files_that_are_refused_leave_the_one_on_the_screen():
    screen = brought()
    file = screen.setup().run.file
    for number in (1.0, 2.0, 3.0):
        screen = bring(screen, ("t.npz", npz(q=np.full((T, D), number))))
        assert screen.error_at(screen_key(screen)).startswith("k must be one of the arrays of the file")
        assert screen.setup().run.file == file
    assert torch.allclose(trace(screen)["q"], torch.from_numpy(tensors()["q"][:1]), rtol=0, atol=1e-15)


def test_a_sentence_again():
    screen = brought().set("mode", "sentence")
    assert screen.fact().startswith("Head")
    assert "file" not in screen.link()
    assert screen.errors() == []


def test_lists_say_nothing_in_streamlits_own_english():
    masked = Screen("research", lang="zh", mask="local_global:2")
    brought = bring(Screen("more", lang="zh"), ("t.npz", npz(**tensors())))
    for screen in (masked.open(), brought.open()):
        empty = [box.label for box in [*screen.at.selectbox, *screen.at.multiselect] if not box.value]
        assert len(empty) > 1
        boxes = {box.proto.label: box.proto for box in [*screen.at.selectbox, *screen.at.multiselect]}
        assert [label for label in empty if not boxes[label].placeholder] == []
        assert [box.label for box in screen.at.multiselect if box.proto.select_all] == []


def test_arrays_of_three_axes_are_taken_once_somebody_says_what_they_are():
    """As in NumPy examples: seed 0, (batch, sequence, d), True in the mask = ignored."""
    random = np.random.RandomState(0)
    q, k, v = random.randn(2, 3, 8), random.randn(2, 4, 8), random.randn(2, 4, 8)
    mask = np.zeros((2, 3, 4), dtype=bool)
    mask[:, :, -1] = True
    screen = bring(Screen(), ("t.npz", npz(q=q, k=k, v=v, mask=mask)))
    assert screen.setup().run.file is None
    assert "(B, T, d) or (H, T, d)" in " ".join(error.value for error in screen.at.error)
    screen.set("three_axes", "BTd").set("waiting_mask_mask", "mask:B.T.S:blocked")
    assert screen.setup().run.axes == "BTd"
    assert screen.link()["axes"] == "BTd"
    scores = np.where(mask, -np.inf, q @ k.transpose(0, 2, 1) / np.sqrt(8))
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = powers / powers.sum(-1, keepdims=True)
    np.testing.assert_allclose(trace(screen)["weights"][0, 0], weights[0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(trace(screen)["output"][0], (weights @ v)[0], rtol=0, atol=1e-10)


# ---- a bias of the file, and one of the page -------------------------------------------------------------------------
@pytest.mark.parametrize("position", ["alibi", "t5"])
def test_a_run_that_is_exported_and_opened_again_adds_its_position_bias_once(position):
    exported, _ = compute_run(Screen(pos=position).setup().run)
    screen = bring(Screen(pos=position, lang="en"), ("run.npz", npz_bytes(exported, Provenance("A run", ""))))
    assert screen.errors() == []
    assert torch.allclose(trace(screen)["weights"], exported["weights"], rtol=0, atol=1e-12)
    once = "The chosen positions add the bias of the file already: it is added once."
    assert once in told(screen)
    screen.set("positions", [])
    assert torch.allclose(trace(screen)["weights"], exported["weights"], rtol=0, atol=1e-12)
    assert once not in told(screen)


@pytest.mark.parametrize(
    "position, part",
    [
        ("alibi", {"part_head": 2, "part_heads": 1}),  # alone it would have the slope of a single head
        ("alibi", {"part_query": 2, "part_queries": 2}),
        ("t5", {"part_query": 2, "part_queries": 2}),
        ("t5", {"part_head": 2, "part_heads": 1}),  # alone it would have the first column of the table
    ],
)
def test_a_part_of_an_exported_run_adds_the_same_bias_once(position, part):
    exported, _ = compute_run(Screen(pos=position).setup().run)
    screen = bring(Screen(pos=position, lang="en"), ("run.npz", npz_bytes(exported, Provenance("A run", ""))))
    for name, number in reversed(part.items()):
        screen.set(name, number)
    assert screen.errors() == []
    heads = slice(1, 2) if "part_head" in part else slice(None)
    queries = slice(1, 3) if "part_query" in part else slice(None)
    shown = trace(screen)
    assert shown["bias"].squeeze().tolist() == exported["bias"][heads, queries].squeeze().tolist()
    assert torch.allclose(shown["weights"], exported["weights"][:, heads, queries], rtol=0, atol=1e-12)
    assert "The chosen positions add the bias of the file already: it is added once." in told(screen)


def test_a_file_with_more_heads_than_the_example_adds_the_bias_of_the_heads_that_are_shown_once():
    """The table of T5 has a column for each head: a part with as many heads as the example has another table."""
    exported, _ = compute_run(Screen(pos="t5", heads="5", d_k="3", d_v="3").setup().run)
    screen = bring(Screen(pos="t5", lang="en"), ("run.npz", npz_bytes(exported, Provenance("A run", ""))))
    assert screen.errors() == [] and trace(screen)["bias"].shape[-3] == 5
    assert torch.allclose(trace(screen)["weights"], exported["weights"], rtol=0, atol=1e-12)
    screen.set("part_heads", 2).set("part_head", 3)
    assert screen.errors() == []
    assert torch.allclose(trace(screen)["weights"], exported["weights"][:, 2:4], rtol=0, atol=1e-12)
    assert "The chosen positions add the bias of the file already: it is added once." in told(screen)


def test_another_bias_of_a_file_is_added_to_that_of_the_page():
    given = tensors()
    bias = np.random.default_rng(0).normal(size=(T, S))
    alone = trace(brought(bias=bias))
    both = trace(bring(Screen(pos="alibi"), ("t.npz", npz(**given, bias=bias))))
    alibi = trace(bring(Screen(pos="alibi"), ("t.npz", npz(**given))))["bias"]
    expected = (alone["scaled_scores"] + torch.from_numpy(bias) + alibi).softmax(-1)
    assert torch.allclose(both["weights"], expected, rtol=0, atol=1e-12)
