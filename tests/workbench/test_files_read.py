"""Files on the workbench: what of each was read as what, what was not, and a mask that waits for its answer."""

import io
import json

import numpy as np
import pytest
import torch
from torch.nn import functional

from attention_core import Trace
from attention_core.documents.number_files import json_text, npz_bytes
from attention_core.documents.provenance import Provenance
from pages.runs.compute import compute_run
from pages.setup.setup import make_setup
from tests.screen.driver import Screen
from tests.workbench.test_tensors import bring, npz, told, trace

B, H, T, D = 2, 3, 2, 6


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def tensors(batch=B, **names):
    q, k, v = (drawn(batch, H, T, D, seed=seed) for seed in range(3))
    return {names.get("q", "q"): q.numpy(), names.get("k", "k"): k.numpy(), names.get("v", "v"): v.numpy()}


def right_weights(mask):
    """By torch's own attention, of the first sequence."""
    q, k = drawn(B, H, T, D), drawn(B, H, T, D, seed=1)
    unit = torch.eye(T, dtype=torch.float64).expand(B, H, T, T)
    return functional.scaled_dot_product_attention(q, k, unit, attn_mask=mask)[:1]


def assert_weights(screen, mask):
    assert torch.allclose(trace(screen)["weights"], right_weights(mask), rtol=0, atol=1e-12)


def test_a_mask_of_two_readings_waits_and_the_screen_stays_as_it_was():
    mask = np.array([[True, False], [True, True]])
    screen = bring(Screen(), ("t.npz", npz(**tensors(), attention_mask=mask)))
    before = screen.fact()
    assert screen.setup().run.file is None and "attention_mask must have one meaning" in " ".join(screen.errors())
    options = screen.widget("waiting_mask_mask").options
    assert options[:2] == ["(B, S): True or 1 = may attend", "(T, S): True or 1 = may attend"]
    screen.set("waiting_mask_mask", "mask:B.S:allowed")
    assert screen.errors() == [] and screen.fact() != before
    assert_weights(screen, torch.from_numpy(mask)[:, None, None])
    assert "as mask (B, S): True or 1 = may attend" in told(screen).replace("**", "")
    screen.set("mask_mask", "mask:T.S:allowed")  # the other one is a click away
    assert_weights(screen, torch.from_numpy(mask))
    screen.press("undo")
    assert_weights(screen, torch.from_numpy(mask)[:, None, None])


def test_a_mask_that_waits_can_be_left_out():
    screen = bring(Screen(), ("t.npz", npz(**tensors(), attn_mask=np.eye(T, dtype=bool))))
    screen.set("waiting_mask_mask", "none")
    assert screen.errors() == []
    assert_weights(screen, None)
    assert "Not read: attn_mask (2, 2)." in told(screen).replace("**", "")


def test_a_mask_under_the_name_of_a_library_needs_no_answer():
    padding = np.array([[False, True], [False, False]])
    screen = bring(Screen(), ("t.npz", npz(**tensors(), key_padding_mask=padding)))
    assert_weights(screen, torch.from_numpy(~padding)[:, None, None])
    assert "key_padding_mask (2, 2) as mask of keys (B, S): True or 1 = blocked" in told(screen).replace("**", "")


def test_the_numbers_of_a_float_mask_are_added_to_the_scores():
    mask = drawn(T, T, seed=5)
    mask[0, 1] = torch.finfo(torch.float32).min
    screen = bring(Screen(), ("t.npz", npz(**tensors(), attn_mask=mask.numpy())))
    assert screen.errors() == []
    assert_weights(screen, mask)
    assert trace(screen)["bias"][0, 0].tolist() == [[mask[0, 0], 0.0], mask[1].tolist()]
    assert not trace(screen)["allowed"][0, 0, 0, 1] and "bias" in screen.steps()
    assert "attn_mask (2, 2) as mask (T, S): numbers added to the scores" in told(screen).replace("**", "")
    screen.set("normaliser", "sigmoid")
    assert torch.equal(trace(screen)["biased_scores"], trace(screen)["scaled_scores"] + trace(screen)["bias"])


def test_a_bias_beside_a_mask_has_a_role_of_its_own():
    bias, allowed = drawn(T, T, seed=5), np.array([[True, False], [True, True]])
    screen = bring(Screen(), ("t.npz", npz(**tensors(), allowed_mask=allowed, attn_bias=bias.numpy())))
    screen.set("waiting_mask_mask", "mask:T.S:allowed")  # (B, S) would fit as well
    assert_weights(screen, bias.masked_fill(~torch.from_numpy(allowed), -torch.inf))
    assert "attn_bias (2, 2) as bias (T, S): numbers added to the scores" in told(screen).replace("**", "")


def test_a_bias_of_other_sizes_can_be_left_out():
    screen = bring(Screen(), ("t.npz", npz(**tensors(), attn_bias=drawn(7, 9).numpy())))
    assert "attn_bias must broadcast to (B, H, T, S) = (2, 3, 2, 2): its shape is (7, 9)" in " ".join(screen.errors())
    screen.set("waiting_bias", None)
    assert screen.errors() == []
    assert_weights(screen, None)


def test_a_causal_flag_and_lengths_are_masks_in_force():
    lengths, is_causal = np.array([1, T]), np.array(True)
    screen = bring(Screen(), ("t.npz", npz(**tensors(), lengths=lengths, is_causal=is_causal)))
    allowed = torch.ones(T, T, dtype=torch.bool).tril() & (torch.arange(T) < torch.from_numpy(lengths)[:, None, None])
    assert_weights(screen, allowed[:, None])
    shown = told(screen).replace("**", "")
    assert "is_causal as mask (T, S): each query may attend to keys up to its own place" in shown
    assert "lengths (2) as mask of keys (B): this many keys may be attended to; the rest are padding" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("query_states", "key_states", "value_states"), "npz"),
        (("layer.0.q_proj", "layer.0.k_proj", "layer.0.v_proj"), "json"),
    ],
)
def test_arrays_under_the_names_of_libraries_are_read_and_said(names, kind):
    arrays = tensors(**dict(zip("qkv", names, strict=True)))
    content = npz(**arrays) if kind == "npz" else json.dumps({name: a.tolist() for name, a in arrays.items()}).encode()
    screen = bring(Screen(), (f"t.{kind}", content))
    assert screen.errors() == []
    assert_weights(screen, None)
    shown = told(screen).replace("**", "")
    assert f"t.{kind}: Read: {names[0]} (2, 3, 2, 6) as q, {names[1]} (2, 3, 2, 6) as k" in shown


@pytest.mark.slow
def test_tokens_stand_before_heads_under_the_names_of_transformer_lens():
    turned = {f"blocks.0.attn.hook_{name}": array.swapaxes(1, 2) for name, array in tensors().items()}
    screen = bring(Screen(), ("t.npz", npz(**turned)))
    assert_weights(screen, None)


def test_what_is_not_read_is_named_with_why():
    pickled = np.array([{"a": 1}], dtype=object)
    more = {"loss": np.array(0.3), "hidden_states": np.ones((2, 5)), "model": np.array("gpt2"), "things": pickled}
    screen = bring(Screen(), ("t.npz", npz(**tensors(), **more, is_causal=np.array(False), bias=drawn(T).numpy())))
    shown = told(screen).replace("**", "")
    for named in ("loss", "hidden_states (2, 5)", "model (a text)", "things (pickled Python objects)", "is_causal"):
        assert named in shown
    assert "bias (2)" in shown and "Not read: " in shown
    assert_weights(screen, None)


@pytest.mark.slow
def test_the_roles_can_be_said_before_anything_was_read():
    a, b, c = tensors().values()
    screen = bring(Screen(), ("t.npz", npz(a=a, b=b, c=c)))
    for role, name in zip("qkv", "abc", strict=True):
        screen.set(f"waiting_{role}", name)
    assert screen.errors() == []
    assert_weights(screen, None)


@pytest.mark.slow
def test_maps_alone_are_sent_to_their_page():
    screen = bring(Screen(), ("t.npz", npz(attention=np.ones((2, 3, 3)))))
    assert "it holds attention maps, attention, which the page of maps shows" in " ".join(screen.errors())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "masks"), [("npz", None), ("json", ("causal",))])
def test_our_own_export_opens_again_with_its_numbers(kind, masks):
    shown, _ = compute_run(make_setup(masks=masks).run)
    content = (
        npz_bytes(shown, Provenance("t", "?")) if kind == "npz" else json_text(shown, Provenance("t", "?")).encode()
    )
    screen = bring(Screen(), (f"run.{kind}", content))
    assert screen.errors() == []
    assert isinstance(shown, Trace) and torch.allclose(trace(screen)["weights"], shown["weights"], rtol=0, atol=1e-12)
    assert "agree with what is computed here" in told(screen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("q.npy", b"\x93NUMPY", "header of an NPY file"),
        ("t.json", b'{"q": [[1, 2]], "k": [[1, 2]], "v": [[1], [2, 3]]}', "equally long"),
        ("t.json", b'{"q": [[1, NaN]], "k": [[1, 2]], "v": [[1, 2]]}', "finite numbers or -inf"),
        ("t.json", b"[" * 5000, "deep"),
        ("t.json", b'{"a":' * 200 + b"1" + b"}" * 200, "may be nested at most"),
        ("t.json", json.dumps({str(n): [1] for n in range(1000)}).encode(), "at most 512 arrays"),
    ],
)
def test_what_cannot_be_read_is_refused_where_it_is_missed(name, content, code):
    screen = bring(Screen(), (name, content))
    assert code in " ".join(screen.errors()) and screen.setup().run.file is None


def test_a_mask_that_cannot_be_read_is_not_left_out_in_silence():
    file = io.BytesIO()
    np.savez(file, **tensors(), attn_mask=np.array([None, 1], dtype=object))
    screen = bring(Screen(), ("t.npz", file.getvalue()))
    assert "pickled Python objects" in " ".join(screen.errors()) and screen.setup().run.file is None


@pytest.mark.slow
def test_the_line_is_said_in_chinese():
    screen = bring(
        Screen(lang="zh"), ("t.npz", npz(**tensors(), key_padding_mask=np.zeros((B, T), bool), loss=np.ones(3)))
    )
    shown = told(screen).replace("**", "")
    assert "key_padding_mask (2, 2)（作为键的掩码，(B, S)：True 或 1 表示屏蔽）" in shown
    assert "未读取：loss (3)。" in shown
