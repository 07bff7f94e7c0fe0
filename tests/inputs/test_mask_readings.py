"""Masks of files under the names of libraries: each reading against the library itself, and what waits."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.documents.number_files import npz_bytes
from attention_core.documents.provenance import Provenance
from attention_core.inputs.files.contents import read_contents
from attention_core.inputs.files.mask_readings import (
    MASK_AXES,
    POLARITIES,
    MaskReading,
    are_same_pairs,
    list_mask_readings,
    mask_to_bias,
    read_mask,
)
from attention_core.inputs.files.qkv_file import UploadPart, cut_upload_part, guess_array_roles, read_roles

B, H, T, S, D = 2, 3, 5, 7, 4
SIZES = (B, H, T, S)


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def random_mask(*shape, seed=1):
    """True = may attend; every query has a key."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    mask[..., 0] = True
    return mask


def weights_by_torch(mask, q, k):
    """What torch's own attention gives: the values are unit vectors, so that its output is its weights."""
    unit = torch.eye(S, dtype=q.dtype).expand(*q.shape[:2], S, S)
    return functional.scaled_dot_product_attention(q, k, unit, attn_mask=mask)


def weights_of_file(answers=None, **masks):
    q, k = drawn(B, H, T, D), drawn(B, H, S, D, seed=2)
    arrays = {"q": q.numpy(), "k": k.numpy(), "v": drawn(B, H, S, 2, seed=3).numpy(), **masks}
    uploaded = read_roles(arrays, guess_array_roles(arrays), answers=answers or {})
    trace = attend_qkv(uploaded.q, uploaded.k, uploaded.v, allowed=uploaded.allowed, bias=uploaded.bias)
    return trace["weights"], (q, k)


def assert_weights(right_mask, answers=None, /, **masks):
    """right_mask: True = may attend, or numbers to add; (B, H, T, S) or what broadcasts to it."""
    weights, (q, k) = weights_of_file(answers, **masks)
    right = weights_by_torch(right_mask if right_mask.dtype == torch.bool else right_mask.double(), q, k)
    assert torch.allclose(weights, right.nan_to_num(), rtol=0, atol=1e-12)


def multi_head_weights(attn_mask=None, key_padding_mask=None):
    """The weights of torch.nn.MultiheadAttention whose projections change nothing, by its own reading of its masks."""
    q, k = drawn(B, H, T, D), drawn(B, H, S, D, seed=2)
    layer = torch.nn.MultiheadAttention(H * D, H, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(H * D).repeat(3, 1))
        merged = [each.transpose(1, 2).flatten(2) for each in (q, k, k)]
        _, weights = layer(*merged, attn_mask=attn_mask, key_padding_mask=key_padding_mask, average_attn_weights=False)
    return weights


KEYS = random_mask(B, S)
PAIRS = random_mask(T, S)
FINFO = torch.finfo(torch.float32).min


@pytest.mark.parametrize("name", ["key_padding_mask", "src_key_padding_mask", "layer.0.memory_key_padding_mask"])
def test_a_key_padding_mask_is_read_as_multihead_attention_reads_it(name):
    weights, _ = weights_of_file(**{name: (~KEYS).numpy()})
    assert torch.allclose(weights, multi_head_weights(key_padding_mask=~KEYS), rtol=0, atol=1e-12)
    weights, _ = weights_of_file(**{name: (~KEYS).numpy().astype(np.uint8)})
    assert torch.allclose(weights, multi_head_weights(key_padding_mask=~KEYS), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(T, S), (B * H, T, S)])
def test_an_attn_mask_is_asked_for_and_read_as_either_library_reads_it(shape):
    blocked = ~random_mask(*shape)
    with pytest.raises(AttentionError) as asked:
        weights_of_file(attn_mask=blocked.numpy())
    assert asked.value.code == "mask_readings"
    weights, _ = weights_of_file({"mask": MaskReading("", "blocked")}, attn_mask=blocked.numpy())
    assert torch.allclose(weights, multi_head_weights(attn_mask=blocked), rtol=0, atol=1e-12)
    assert_weights(
        ~blocked.reshape(B, H, T, S) if len(shape) == 3 else ~blocked,
        {"mask": MaskReading("", "allowed")},
        attn_mask=(~blocked).numpy(),
    )


def test_both_masks_of_a_layer_are_in_force_together():
    added = torch.zeros(T, S, dtype=torch.float64).masked_fill(~PAIRS, -torch.inf)
    weights, _ = weights_of_file(attn_mask=added.numpy(), key_padding_mask=(~KEYS).numpy())
    padding = torch.zeros(B, S, dtype=torch.float64).masked_fill(~KEYS, -torch.inf)
    assert torch.allclose(weights, multi_head_weights(added, padding), rtol=0, atol=1e-12)
    weights, (q, k) = weights_of_file(causal_mask=np.tri(T, S, S - T, dtype=bool), attention_mask=KEYS.numpy())
    both = torch.ones(T, S).tril(S - T).bool() & KEYS[:, None, None]
    assert torch.allclose(weights, weights_by_torch(both, q, k), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int64, np.int8, np.float32, np.float64])
@pytest.mark.parametrize("name", ["attention_mask", "encoder_attention_mask"])
def test_one_may_attend_in_an_attention_mask_of_transformers(name, dtype):
    assert_weights(KEYS[:, None, None], **{name: KEYS.numpy().astype(dtype)})


def test_all_zeros_of_whole_numbers_allow_nobody_and_all_ones_everybody():
    for kind in (np.int64, np.uint8, bool):
        weights, _ = weights_of_file(attention_mask=np.zeros((B, S), kind))
        assert (weights == 0).all()
        assert_weights(torch.ones(T, S).bool(), attention_mask=np.ones((B, S), kind))


@pytest.mark.parametrize("low", [-np.inf, FINFO, -1e9, -10000.0, float(torch.tensor(-1e4).bfloat16()), -65504.0])
@pytest.mark.parametrize("shape", [(T, S), (B, 1, T, S), (B, 1, 1, S), (1, 1, T, S), (H, T, S), (B, H, T, S)])
@pytest.mark.parametrize("name", ["attn_mask", "extended_attention_mask", "bias", "mask"])
def test_large_negative_numbers_block_whatever_the_name(low, shape, name):
    allowed = random_mask(*shape)
    added = np.where(allowed.numpy(), 0.0, low)
    assert_weights(allowed if len(shape) != 3 else allowed[None], **{name: added})


def test_zeros_in_floating_point_block_nothing_where_they_are_added():
    for name, shape in (("attn_mask", (T, S)), ("causal_mask", (T, S)), ("mask", (B, 1, T, S))):
        assert_weights(torch.ones(T, S).bool(), **{name: np.zeros(shape, np.float32)})
    with pytest.raises(AttentionError) as asked:  # one is "may attend" in transformers, and none is here
        weights_of_file(attention_mask=np.zeros((B, S), np.float32))
    assert asked.value.code == "mask_readings"


def test_where_there_are_as_many_sequences_as_queries_a_mask_of_two_axes_waits():
    """The example of two sequences of two tokens: as (T, S) it is wrong by 0.6."""
    q, k = drawn(2, 2, 2, 6), drawn(2, 2, 2, 6, seed=2)
    arrays = {"q": q.numpy(), "k": k.numpy(), "v": k.numpy(), "attention_mask": np.array([[True, False], [True, True]])}
    roles = guess_array_roles(arrays)
    with pytest.raises(AttentionError, match=r"attention_mask must have one meaning: its shape \(2, 2\)") as asked:
        read_roles(arrays, roles)
    assert asked.value.values["likely"] == [MaskReading("B S", "allowed"), MaskReading("T S", "allowed")]
    for axes, right in (("B S", [0, 0]), ("T S", [0, 1])):
        uploaded = read_roles(arrays, roles, answers={"mask": MaskReading(axes, "allowed")})
        weights = attend_qkv(uploaded.q, uploaded.k, uploaded.v, allowed=uploaded.allowed)["weights"]
        assert weights[0, 0, :, 1].ne(0).int().tolist() == right
        assert uploaded.masks["mask"] == MaskReading(axes, "allowed") and len(uploaded.mask_fits["mask"]) == 4


def test_a_key_padding_mask_never_waits():
    q = drawn(2, 2, 2, 6).numpy()
    arrays = {"q": q, "k": q, "v": q, "key_padding_mask": np.array([[False, True], [False, False]])}
    uploaded = read_roles(arrays, guess_array_roles(arrays))
    assert uploaded.allowed.tolist() == [[[[True, False]]], [[[True, True]]]]
    assert uploaded.masks == {"padding": MaskReading("B S", "blocked")}


def test_readings_that_block_the_same_pairs_are_one():
    uploaded, reading, every = read_mask("attention_mask", torch.ones(1, S), (1, H, T, S))
    assert uploaded.all() and reading == MaskReading("B S", "allowed") and MaskReading("T S", "blocked") in every


@pytest.mark.parametrize(
    ("mask", "polarity"),
    [
        (torch.ones(T, T).tril().bool(), "allowed"),
        (torch.ones(T, T).triu(1).bool(), "blocked"),
        (torch.ones(T, T).tril(), "allowed"),
        (torch.ones(1, 1, T, T).triu(1), "blocked"),
    ],
)
def test_the_triangle_of_a_causal_mask_says_what_its_true_means(mask, polarity):
    for name in ("causal_mask", "subsequent_mask"):
        allowed, reading, _ = read_mask(name, mask, (1, H, T, T))
        assert reading.polarity == polarity
        assert allowed.broadcast_to(1, 1, T, T)[0, 0].tolist() == torch.ones(T, T).tril().bool().tolist()
    with pytest.raises(AttentionError):
        read_mask("attn_mask", mask.bool(), (1, H, T, T))  # under this name two libraries differ


def test_a_causal_mask_may_block_more_than_its_triangle():
    """Padding, or a window: no later key is allowed, whatever else is not."""
    window = torch.ones(T, T).tril().triu(-1).bool() & random_mask(B, 1, 1, T)
    for name in ("causal_mask", "sliding_window_mask", "ltor_mask"):
        for mask, polarity in ((window, "allowed"), (~window, "blocked")):
            allowed, reading, _ = read_mask(name, mask, (B, H, T, T))
            assert reading.polarity == polarity and (allowed == window).all()
    buffer = torch.ones(1, 1, T, T).tril().bool()  # of GPT-2
    assert read_mask("h.0.attn.bias", buffer, (B, H, T, T))[1].polarity == "allowed"
    both_sides = torch.ones(T, T).tril(1).triu(-1).bool()
    for mask in (both_sides, torch.ones(T, T).bool(), torch.zeros(T, T).bool()):
        with pytest.raises(AttentionError, match="choose one"):
            read_mask("sliding_mask", mask, (B, H, T, T))


def test_an_attention_mask_that_is_turned_waits():
    """Megatron's is True where it blocks: as its name says, each query would look at all later keys."""
    later = torch.ones(T, T).triu(1).bool()
    padded = later | ~random_mask(B, 1, 1, T)
    for mask in (later[None, None], padded):
        with pytest.raises(AttentionError) as asked:
            read_mask("attention_mask", mask, (B, H, T, T))
        assert {reading.polarity for reading in asked.value.values["likely"]} == {"allowed", "blocked"}
        allowed, reading, _ = read_mask("attention_mask", ~mask, (B, H, T, T))
        assert reading.polarity == "allowed" and (allowed == ~mask).all()
    left_padded = (torch.arange(S) > 0).expand(B, 1, T, S)
    for mask in (torch.ones(B, 1, T, T), torch.ones(B, 1, T, S).bool(), left_padded):
        assert read_mask("attention_mask", mask, (B, H, *mask.shape[-2:]))[1].polarity == "allowed"


def test_what_transformers_calls_a_mask_of_something_else_is_left_aside():
    arrays = {"q": drawn(B, H, T, D).numpy(), "attention_mask": KEYS.numpy(), "global_attention_mask": KEYS.numpy()}
    assert guess_array_roles(arrays) == {"q": "q", "mask": "attention_mask"}
    for name in ("mlm_mask", "assistant_mask", "completion_mask"):
        assert guess_array_roles({name: KEYS.numpy()}) == {}
    assert read_mask("perm_mask", random_mask(B, T, S).float(), SIZES)[1] == MaskReading("B T S", "blocked")  # XLNet


@pytest.mark.slow
@pytest.mark.parametrize("form", ["eager", "sdpa"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("words", [[[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]]])
def test_what_transformers_makes_is_read_as_it_means_it(form, dtype, words):
    """Its own masks of a model with a window, under the names that its code gives them."""
    from transformers import MistralConfig, masking_utils

    config = MistralConfig(hidden_size=12, num_attention_heads=3, num_hidden_layers=1, sliding_window=2)
    config._attn_implementation = form
    states, keys = torch.zeros(B, T, 12, dtype=dtype), torch.tensor(words)
    is_word = keys.bool()[:, None, None]
    causal = torch.ones(T, T).tril().bool()
    right = {
        "causal_mask": (masking_utils.create_causal_mask(config, states, keys, None), causal & is_word),
        "attention_mask": (masking_utils.create_causal_mask(config, states, keys, None), causal & is_word),
        "sliding_window_mask": (
            masking_utils.create_sliding_window_causal_mask(config, states, keys, None),
            causal.triu(-1) & is_word,
        ),
        "encoder_attention_mask": (masking_utils.create_bidirectional_mask(config, states, keys), is_word),
    }
    for name, (mask, allowed) in right.items():
        array = mask.float() if mask.is_floating_point() else mask
        read, _, _ = read_mask(name, array, (B, H, T, T))
        assert (read.expand(B, 1, T, T) == allowed).all(), name


@pytest.mark.parametrize(
    ("name", "polarity"),
    [
        ("allowed", "allowed"),
        ("may_attend", "allowed"),
        ("blocked", "blocked"),
        ("masked", "blocked"),
        ("padding", "blocked"),
        ("look_ahead_mask", "blocked"),
        ("valid_mask", "allowed"),
        ("encoder.layers.3.attention_mask", "allowed"),
        ("attentionMask", "allowed"),
        ("layer_0_attention_mask", "allowed"),
        ("mask", None),
        ("attn_mask", None),
        ("src_mask", None),
        ("tgt_mask", None),
        ("padding_mask", None),
        ("my_own_mask", None),
    ],
)
def test_what_true_means_under_a_name(name, polarity):
    mask = random_mask(B, S) if "pad" in name or "valid" in name else random_mask(T, S)
    if polarity is None:
        with pytest.raises(AttentionError, match="choose one"):
            read_mask(name, mask, SIZES)
        return
    allowed, reading, _ = read_mask(name, mask, SIZES)
    assert reading.polarity == polarity
    assert (allowed.squeeze() == (mask if polarity == "allowed" else ~mask)).all()


@pytest.mark.parametrize("name", ["head_mask", "special_tokens_mask", "q_proj.bias", "attn.bias", "is_causal"])
def test_what_is_no_mask_is_not_taken_for_one(name):
    """A bias of a layer, for example."""
    array = np.array(False) if name == "is_causal" else drawn(T).numpy() if "." in name else drawn(T, S).numpy()
    assert "mask" not in guess_array_roles({"q": array, name: array})


@pytest.mark.parametrize("mask", [[[1, 1, 2, 2, 2, 3, 3]] * T, [[0, -3, 0, 0, 0, 0, 0]] * T], ids=["parts", "below 0"])
def test_whole_numbers_that_are_no_mask_are_refused_plainly(mask):
    """Those of a packed text number its parts."""
    with pytest.raises(AttentionError) as refused:
        weights_of_file(attn_mask=np.array(mask))
    assert refused.value.code == "mask_not_additive"


# ---- masks with a bias -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["attn_mask", "mask", "attention_mask", "attn_bias", "encoder.0.position_bias"])
@pytest.mark.parametrize(
    "shape", [(T, S), (1, H, T, S), (B, 1, T, S), (B, H, T, S), (B, 1, 1, S), (B * H, T, S)], ids=str
)
@pytest.mark.parametrize("is_masked", [False, True], ids=["", "masked"])
def test_numbers_of_a_mask_are_added_as_torch_adds_them(name, shape, is_masked):
    mask = drawn(*shape, seed=7)
    if is_masked:
        mask[..., 1] = FINFO
        mask[..., 2] = -torch.inf
    right = mask.view(B, H, T, S) if shape == (B * H, T, S) else mask
    assert_weights(right, **{name: mask.numpy()})
    assert_weights(right.float(), **{name: mask.float().numpy()})


def test_whole_numbers_under_the_name_of_a_bias_are_added():
    bias = torch.arange(T * S).view(T, S) % 5 - 2
    assert_weights(bias.double(), attn_bias=bias.numpy())


def test_numbers_beside_a_mask_of_keys_are_a_bias_that_blocks_nothing():
    bias = drawn(1, 1, T, S, seed=7)
    assert_weights(
        bias.masked_fill(~KEYS[:, None, None], -torch.inf), attn_mask=bias.numpy(), attention_mask=KEYS.numpy()
    )


def test_a_bias_that_two_readings_place_differently_waits():
    """(B, T, S) or (H, T, S): with as many sentences as heads both fit."""
    bias = drawn(3, T, S)
    with pytest.raises(AttentionError) as asked:
        read_mask("attn_mask", bias, (3, 3, T, S))
    assert {reading.axes for reading in asked.value.values["likely"]} == {"B T S", "H T S"}
    sizes, answer = (3, 3, T, S), MaskReading("H T S", "added")
    assert read_mask("attn_mask", bias, sizes, answer)[1] == answer
    assert torch.equal(mask_to_bias(bias, answer, sizes), bias[None])


@pytest.mark.parametrize("positions", [[], ["alibi"]], ids=["alone", "beside ALiBi"])
def test_our_own_export_of_a_run_with_mask_and_bias_opens_with_its_weights(positions):
    config = AttentionConfig(masks=["causal"], positions=positions)
    q, k, v = drawn(1, H, T, D), drawn(1, H, S, D, seed=2), drawn(1, H, S, 2, seed=3)
    run = attend_qkv(q, k, v, config=config, bias=drawn(H, T, S, seed=7)[None], allowed=PAIRS)
    arrays = read_contents("run.npz", npz_bytes(run, Provenance("run", "?"))).arrays
    read = read_roles(arrays, guess_array_roles(arrays))
    again = attend_qkv(read.q, read.k, read.v, allowed=read.allowed, bias=read.bias)
    assert torch.allclose(again["weights"], run["weights"], rtol=0, atol=1e-12)
    assert {*read.masks} == {"mask", "bias"}


def test_the_shown_part_of_a_file_has_its_part_of_the_bias():
    bias = drawn(1, H, T, S, seed=7)
    arrays = {"q": drawn(B, H, T, D), "k": drawn(B, H, S, D, seed=2), "v": drawn(B, H, S, 2, seed=3), "attn_bias": bias}
    arrays = {name: array.numpy() for name, array in arrays.items()}
    whole = read_roles(arrays, guess_array_roles(arrays))
    part = cut_upload_part(whole, UploadPart(1, heads=(1, 2), queries=(2, 3), keys=(0, 4)))
    assert torch.equal(part.bias, bias[:, 1:3, 2:5, :4]) and part.allowed.all()


def test_every_answer_is_one_of_the_readings():
    for shape in ((S,), (B, S), (T, S), (B, T, S), (H, T, S), (B, H, T, S), (B * H, T, S)):
        likely, others = list_mask_readings("mask", torch.ones(shape).bool(), SIZES)
        for reading in (*likely, *others):
            assert reading.axes in MASK_AXES and reading.polarity in POLARITIES
            assert read_mask("mask", torch.ones(shape).bool(), SIZES, reading)[1] == reading


# ---- what a file states of its mask ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["lengths", "valid_lens", "key_value_seq_lengths", "encoder.src_lengths"])
def test_lengths_are_the_keys_that_are_words(name):
    lengths = torch.tensor([5, 3])
    assert_weights((torch.arange(S) < lengths[:, None])[:, None, None], **{name: lengths.numpy()})
    assert_weights((torch.arange(S) < lengths[:, None])[:, None, None], **{name: lengths.double().numpy()})


def test_lengths_of_each_query_are_read():
    lengths = torch.randint(1, S + 1, (B, T), generator=torch.Generator().manual_seed(4))
    assert_weights((torch.arange(S) < lengths[..., None])[:, None], valid_lens=lengths.numpy())


@pytest.mark.parametrize("flag", [np.array(True), np.array([1])])
def test_a_causal_flag_is_read_as_torch_reads_it(flag):
    q = drawn(B, H, S, D)
    arrays = {"q": q.numpy(), "k": q.numpy(), "v": q.numpy(), "is_causal": flag}
    uploaded = read_roles(arrays, guess_array_roles(arrays))
    unit = torch.eye(S, dtype=q.dtype).expand(B, H, S, S)
    right = functional.scaled_dot_product_attention(q, q, unit, is_causal=True)
    assert torch.allclose(attend_qkv(q, q, q, allowed=uploaded.allowed)["weights"], right, rtol=0, atol=1e-12)


def test_a_causal_flag_of_other_numbers_of_queries_and_keys_waits():
    with pytest.raises(AttentionError) as caught:
        weights_of_file(is_causal=np.array(True))
    assert [reading.polarity for reading in caught.value.values["likely"]] == ["causal", "causal_end"]
    pairs = torch.ones(T, S, dtype=torch.bool)
    assert_weights(pairs.tril(), {"mask": MaskReading("T S", "causal")}, is_causal=np.array(True))
    assert_weights(pairs.tril(S - T), {"mask": MaskReading("T S", "causal_end")}, is_causal=np.array(True))


def test_what_is_stated_stands_behind_arrays_and_beside_a_mask_of_keys():
    arrays = {"is_causal": np.array(True), "lengths": np.array([5, 3]), "attn_mask": PAIRS.numpy()}
    assert guess_array_roles(arrays) == {"mask": "attn_mask", "padding": "lengths"}
    beside = {"attention_mask": KEYS.numpy(), "is_causal": np.array(True)}
    assert guess_array_roles(beside) == {"mask": "is_causal", "padding": "attention_mask"}


@pytest.mark.parametrize("lengths", [[5, 3, 2], [5, 8], [-1, 2]])
def test_lengths_that_fit_no_sequence_are_refused(lengths):
    with pytest.raises(AttentionError, match="lengths must be one whole number from 0 to 7 for each of the 2"):
        weights_of_file(lengths=np.array(lengths))


def test_two_masks_are_compared_without_being_broadcast():
    """Beside the comparison of all their pairs."""
    for seed, one, other in itertools.product(range(3), [(2, 1, 1, 3), (1, 1, 1, 3)], [(1, 1, 2, 3), (1, 1, 1, 1)]):
        a, b = random_mask(*one, seed=seed), random_mask(*other, seed=seed + 1) | (seed == 0)
        for left, right in ((a, b), (b, a), (a | True, b | True)):
            every = torch.broadcast_tensors(left, right)
            assert are_same_pairs(left, right) == bool((every[0] == every[1]).all())
