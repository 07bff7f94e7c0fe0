"""Tensors from a file: which array is what, which axes they have, what a mask means, and the part that is looked at."""

import math

import numpy as np
import pytest
import torch

from attention_core import AttentionError, attend_qkv
from attention_core.inputs.files.mask_readings import MaskReading, mask_to_added, read_mask
from attention_core.inputs.files.qkv_file import (
    UploadPart,
    cut_upload_part,
    guess_roles,
    largest_upload_part,
    read_roles,
)
from attention_core.verification.diagnosis import first_difference

B, H, KV, T, S, D, V = 2, 6, 3, 5, 7, 11, 13


def arrays(**more):
    random = np.random.default_rng(3)
    shapes = {"q": (B, H, T, D), "k": (B, KV, S, D), "v": (B, KV, S, V)}
    return {name: random.normal(size=shape) for name, shape in shapes.items()} | more


ALLOWED = {"mask": MaskReading("", "allowed")}  # what somebody said of a mask whose name does not say it


def brought(named=None, answers=ALLOWED, **more):
    named = arrays(**more) if named is None else named
    return read_roles(named, guess_roles(named), answers=answers)


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["q", "k", "v"], {"q": "q", "k": "k", "v": "v"}),
        (
            ["Query", "KEY", "value", "attn_weights"],
            {"q": "Query", "k": "KEY", "v": "value", "weights": "attn_weights"},
        ),
        (["h.0.q", "h.0.k", "h.0.v", "h.0.out"], {"q": "h.0.q", "k": "h.0.k", "v": "h.0.v", "output": "h.0.out"}),
        (["q", "query", "k", "v", "attn_mask"], {"q": "q", "k": "k", "v": "v", "mask": "attn_mask"}),
        (["a", "b"], {}),
        (["query_states", "key_states", "value_states"], {"q": "query_states", "k": "key_states", "v": "value_states"}),
        (["l.0.hook_q", "l.0.hook_k", "l.0.hook_v"], {"q": "l.0.hook_q", "k": "l.0.hook_k", "v": "l.0.hook_v"}),
        (["q_0", "q_1", "k_0", "v_0"], {"q": "q_0", "k": "k_0", "v": "v_0"}),
        (["hook_q", "hook_rot_q", "hook_k", "hook_rot_k"], {"q": "hook_rot_q", "k": "hook_rot_k"}),
        (["queryHeads", "key-heads", "Value_Layer"], {"q": "queryHeads", "k": "key-heads", "v": "Value_Layer"}),
        (["W_Q", "w_k", "q_proj.weight", "v_proj.bias", "hook_attn_scores"], {"bias": "v_proj.bias"}),
        (["blocks.0.attn.hook_pattern", "hook_z"], {"weights": "blocks.0.attn.hook_pattern", "output": "hook_z"}),
        (["attention_mask", "causal_mask"], {"mask": "causal_mask", "padding": "attention_mask"}),
        (
            ["allowed", "bias", "lengths", "bias_custom"],
            {"mask": "allowed", "bias": "bias", "padding": "lengths"},
        ),
        (["attention_mask", "attn_bias"], {"mask": "attention_mask", "bias": "attn_bias"}),
        (["key_padding_mask", "attn_mask"], {"mask": "attn_mask", "padding": "key_padding_mask"}),
    ],
)
def test_names_tell_what_an_array_is(names, roles):
    assert guess_roles(names) == roles


def test_heads_before_tokens_and_behind_are_told_apart():
    named = arrays()
    turned = {name: array.swapaxes(1, 2) for name, array in named.items()}
    one, other = brought(named), brought(turned)
    assert (one.axes, other.axes) == ("B H T d", "B T H d")
    assert (one.fits, other.fits) == (("B H T d",), ("B T H d",))
    for role in "qkv":
        assert torch.equal(getattr(one, role), getattr(other, role))
        assert torch.equal(getattr(one, role), torch.from_numpy(named[role]))


def test_axes_can_be_said():
    named = {name: array[0] for name, array in arrays().items()}
    with pytest.raises(AttentionError):
        brought(named)  # three axes have two readings
    heads = read_roles(named, guess_roles(named), "H T d")
    assert heads.q.shape == (1, H, T, D)
    batch = read_roles({name: array[:, 0] for name, array in arrays().items()}, guess_roles(named), "B T d")
    assert batch.q.shape == (B, 1, T, D)


def test_a_missing_array_is_named():
    with pytest.raises(AttentionError, match="v must be one of the arrays of the file: it has q, k"):
        read_roles({"q": np.zeros((1, 2)), "k": np.zeros((1, 2))}, {"q": "q", "k": "k"})


def test_a_mask_of_truth_values_in_both_conventions():
    mask = torch.tensor([[True, False], [True, True]])
    allowed = mask_to_added(mask, MaskReading("T S", "allowed"), (1, 1, 2, 2))
    assert allowed.tolist() == [[[[0.0, -math.inf], [0.0, 0.0]]]]
    blocked = mask_to_added(mask, MaskReading("T S", "blocked"), (1, 1, 2, 2))
    assert blocked.tolist() == [[[[-math.inf, 0.0], [-math.inf, -math.inf]]]]


def test_an_additive_mask():
    mask = torch.tensor([[0.0, -torch.inf], [-1e9, -0.0]])
    added = mask_to_added(mask, MaskReading("T S", "added"), (1, 1, 2, 2))
    assert added.tolist() == [[[[0.0, -math.inf], [-math.inf, 0.0]]]]
    assert mask_to_added(torch.tensor([[0.0, -3.0]]), MaskReading("B S", "added"), (1, 1, 2, 2)).tolist() == [
        [[[0.0, -3.0]]]
    ]
    with pytest.raises(AttentionError, match="a mask of whole numbers must be 0"):
        read_mask("mask", torch.tensor([[0, -3]]), (1, 1, 2, 2))


@pytest.mark.parametrize(
    ("shape", "code"),
    [
        ((B, H, T + 1, S), "shape_fits_scores"),
        ((T, B, S), "shape_fits_scores"),
        ((1, B, H, T, S), "shape_fits_scores"),
        ((B, H, T, S), "mask_readings"),  # "mask" does not say what True means
        ((B, T, S), "mask_readings"),
    ],
)
def test_a_mask_with_two_readings_or_none_is_refused(shape, code):
    with pytest.raises(AttentionError) as caught:
        brought(answers={}, mask=np.ones(shape, dtype=bool))
    assert caught.value.code == code


def test_a_mask_of_three_axes_is_read_where_one_reading_is_left():
    mask = np.random.default_rng(0).random((H, T, S)) < 0.5
    named = {name: array[:1] for name, array in arrays().items()} | {"mask": mask}
    assert torch.equal(brought(named).allowed, torch.from_numpy(mask)[None])
    named = {name: array[:, :1] for name, array in arrays().items()} | {"mask": mask[:B]}
    part = cut_upload_part(brought(named), UploadPart(1, (0, 1), (0, T), (0, S)))
    assert torch.equal(part.allowed, torch.from_numpy(mask[1])[None, None])


def test_what_does_not_fit_its_step_is_not_cut_to_fit():
    """Averaged over the heads, one query too many: of a part, both would have its sizes."""
    averaged, longer = np.ones((H, T, S)), np.ones((B, H, T + 1, D + 1))
    named = arrays(weights=averaged, output=longer)
    everything = read_roles(named, guess_roles(named), "B H T d")
    part = cut_upload_part(everything, UploadPart(1, (0, 2), (0, T), (0, S)))
    assert part.given["weights"].shape == averaged.shape and part.given["head_outputs"].shape == longer.shape
    assert not first_difference(run(part), part.given).first.fits


# ---- the part that is looked at --------------------------------------------------------------------------------------
def run(part):
    return attend_qkv(part.q, part.k, part.v, allowed=part.allowed)


def test_a_part_of_heads_and_queries_gives_the_numbers_of_the_whole():
    mask = np.random.default_rng(0).random((T, S)) < 0.6
    everything = brought(mask=mask)
    full = run(everything)
    part = run(cut_upload_part(everything, UploadPart(1, (2, 4), (1, 3), (0, S))))
    assert torch.equal(part["weights"][0], full["weights"][1, 2:6, 1:4])
    assert torch.allclose(part["head_outputs"][0], full["head_outputs"][1, 2:6, 1:4], rtol=0, atol=1e-15)
    assert torch.equal(part["allowed"][0, 0], torch.from_numpy(mask[1:4]))


def test_what_the_file_holds_is_cut_alike():
    full = run(brought())
    given = {"scores": full["scores"], "weights": full["weights"], "output": full["head_outputs"]}
    everything = brought(**{name: tensor.numpy() for name, tensor in given.items()})
    part = cut_upload_part(everything, UploadPart(1, (2, 2), (1, 3), (0, S)))
    assert torch.equal(part.given["scores"], full["scores"][1:2, 2:4, 1:4])
    assert torch.equal(part.given["head_outputs"], full["head_outputs"][1:2, 2:4, 1:4])
    fewer_keys = cut_upload_part(everything, UploadPart(1, (2, 2), (1, 3), (2, 3)))
    assert torch.equal(fewer_keys.given["scores"], full["scores"][1:2, 2:4, 1:4, 2:5])
    assert set(fewer_keys.given) == {"scores"}  # weights are made of all keys


def test_a_concatenated_output_belongs_to_all_heads():
    full = run(brought())
    everything = brought(output=full["concat"].numpy())
    assert torch.equal(
        cut_upload_part(everything, UploadPart(0, (0, H), (2, 3), (0, S))).given["concat"], full["concat"][:1, 2:5]
    )
    assert cut_upload_part(everything, UploadPart(0, (0, 2), (2, 3), (0, S))).given == {}


def test_as_much_as_may_be_looked_at():
    big = brought({name: np.zeros((1, heads, 40, 2)) for name, heads in {"q": 12, "k": 3, "v": 3}.items()})
    assert largest_upload_part(big, most_heads=16, most_tokens=512, most_pairs=2**21) == UploadPart(
        0, (0, 12), (0, 40), (0, 40)
    )
    assert largest_upload_part(big, most_heads=10, most_tokens=32, most_pairs=2**21) == UploadPart(
        0, (0, 8), (0, 32), (0, 32)
    )
    assert largest_upload_part(big, most_heads=16, most_tokens=512, most_pairs=5 * 1600).heads == (0, 4)
    assert largest_upload_part(big, most_heads=16, most_tokens=512, most_pairs=1).heads == (0, 4)  # one group at least


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (UploadPart(2, (0, 2), (0, 1), (0, 1)), "part_outside"),
        (UploadPart(0, (0, 8), (0, 1), (0, 1)), "part_outside"),
        (UploadPart(0, (0, 2), (4, 2), (0, 1)), "part_outside"),
        (UploadPart(0, (0, 2), (0, 0), (0, 1)), "part_outside"),
        (UploadPart(0, (1, 2), (0, 1), (0, 1)), "part_groups"),
        (UploadPart(0, (0, 3), (0, 1), (0, 1)), "part_groups"),
    ],
)
def test_a_part_that_is_not_there(part, code):
    with pytest.raises(AttentionError) as caught:
        cut_upload_part(brought(), part)
    assert caught.value.code == code


@pytest.mark.parametrize("shape", [(), (5,)])
def test_an_output_of_fewer_axes_than_a_matrix_is_refused(shape):
    with pytest.raises(AttentionError) as refused:
        brought(output=np.zeros(shape))
    assert (refused.value.code, refused.value.values["shape"]) == ("rank", shape)
