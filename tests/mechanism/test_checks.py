"""What the core refuses: every code that attend, attend_qkv and AttentionConfig can raise, with its full sentence."""

import ast
import math
import pickle
from pathlib import Path

import pytest
import torch

import attention_core
from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.mechanism import checks
from attention_core.mechanism.masks import MASKS as KNOWN_MASKS
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import REFUSAL_SENTENCES

CORE = Path(attention_core.__file__).parent
ENTRANCES = (
    "parameters.py",
    "plain_checks.py",
    "arguments.py",
    "attention.py",
    "checks.py",
    "config.py",
    "pair_inputs.py",
    "plan.py",
    "positions.py",
)  # the rooms behind attend and attend_qkv


def x(*shape: int) -> torch.Tensor:
    """A tensor whose shape is all that counts."""
    return torch.ones(shape, dtype=torch.float64)


def spoilt(value: float, *index: int) -> torch.Tensor:
    """One number of a (5, 3) tensor that is not finite."""
    tensor = x(5, 3)
    tensor[index] = value
    return tensor


def spoilt_bias(value: float) -> torch.Tensor:
    """A bias (5, 7) with one number that is not finite."""
    bias = x(5, 7)
    bias[4, 1] = value
    return bias


def run(**arguments):
    """attend on (2, 5, 6), two heads, with the given weights and config."""
    config = {"heads": 2, **arguments.pop("config", {})}
    weights = Weights(**{name: arguments.pop(name) for name in list(arguments) if name[1] == "_"})
    return attend(arguments.pop("query", x(2, 5, 6)), weights=weights, config=AttentionConfig(**config), **arguments)


def run_qkv(q=None, k=None, v=None, *, config=None, weights=None, **arguments):
    """attend_qkv on B 2, H 3, T 5, S 7, with the given weights and config."""
    q, k, v = (
        default if given is None else given
        for given, default in ((q, x(2, 3, 5, 11)), (k, x(2, 3, 7, 11)), (v, x(2, 3, 7, 13)))
    )
    config, weights = AttentionConfig(**(config or {})), Weights(**(weights or {}))
    return attend_qkv(q, k, v, config=config, weights=weights, **arguments)


def masked(*masks):
    return run_qkv(config={"masks": masks})


def additive(**weights):
    given = {"w_aq": x(11, 17), "w_ak": x(11, 17), "v_a": x(17), **weights}
    return run_qkv(config={"score": "additive"}, weights={name: w for name, w in given.items() if w is not None})


UNSQUEEZE = "add the missing axis with unsqueeze(1) or unsqueeze(0)"
MASKS = f"mask must be one of {', '.join(KNOWN_MASKS)}"

REFUSALS = [
    # ---- tensors
    ("not_a_class", lambda: attend(x(2, 3), weights={"w_q": x(3, 3)}), "weights must be Weights: got dict"),
    ("not_a_class", lambda: attend_qkv(*3 * [x(2, 3)], config="causal"), "config must be AttentionConfig: got str"),
    ("not_a_tensor", lambda: attend([[1.0]]), "x must be a torch.Tensor: got list"),
    ("not_a_tensor", lambda: run(w_q=[[1.0]]), "w_q must be a torch.Tensor: got list"),
    ("not_a_tensor", lambda: run_qkv(allowed=[[True]]), "allowed must be a torch.Tensor: got list"),
    ("not_floating", lambda: attend(x(5, 3).long()), "x must hold floating-point numbers: got torch.int64"),
    ("not_floating", lambda: attend(x(5, 3).bool()), "x must hold floating-point numbers: got torch.bool"),
    ("not_floating", lambda: run_qkv(x(2, 3, 5, 11) * 1j), "q must hold floating-point numbers: got torch.complex128"),
    ("not_floating", lambda: run(w_v=x(6, 6).int()), "w_v must hold floating-point numbers: got torch.int32"),
    (
        "not_dense",
        lambda: attend(x(5, 3).to_sparse()),
        "x must be a dense tensor, which stores every number: got torch.sparse_coo",
    ),
    (
        "no_arithmetic",
        lambda: attend(x(5, 3).to(torch.float8_e4m3fn)),
        "x must be float64, float32, bfloat16 or float16, which torch can compute with: got torch.float8_e4m3fn",
    ),
    (
        "number_not_negative",
        lambda: AttentionConfig(positions=[("rope", {"mscale": -0.5})]),
        "mscale must be a finite number, 0 or more: got -0.5",
    ),
    ("not_finite", lambda: attend(spoilt(math.nan, 1, 2)), "x must be finite everywhere: nan at (1, 2)"),
    ("not_finite", lambda: attend(spoilt(math.inf, 4, 0)), "x must be finite everywhere: inf at (4, 0)"),
    (
        "not_finite",
        lambda: attend_qkv(x(5, 3), spoilt(-math.inf, 0, 1), x(5, 3)),
        "k must be finite everywhere: -inf at (0, 1)",
    ),
    (
        "not_finite",
        lambda: run_qkv(replacement=torch.full((5, 7), math.nan).double()),
        "replacement must be finite everywhere: nan at (0, 0)",
    ),
    ("not_finite", lambda: run_qkv(bias=spoilt_bias(math.nan)), "bias must be finite everywhere: nan at (4, 1)"),
    (
        "bias_blocks",
        lambda: run_qkv(bias=spoilt_bias(-math.inf)),
        "bias must be finite everywhere, because a pair is blocked by allowed=False, not by a bias: -inf at (4, 1)",
    ),
    ("empty", lambda: attend(x(0, 3)), "x must hold at least one number: its shape is (0, 3)"),
    ("empty", lambda: run_qkv(v=x(2, 3, 7, 0)), "v must hold at least one number: its shape is (2, 3, 7, 0)"),
    (
        "dtype_differs",
        lambda: run_qkv(k=x(2, 3, 7, 11).float()),
        "all inputs must share one dtype: k is torch.float32, q is torch.float64",
    ),
    (
        "dtype_differs",
        lambda: run(w_o=x(6, 6).half()),
        "all inputs must share one dtype: w_o is torch.float16, x is torch.float64",
    ),
    (
        "device_differs",
        lambda: run_qkv(v=torch.empty(2, 3, 7, 13, dtype=torch.float64, device="meta")),
        "all inputs must lie on one device: v is on meta, q on cpu",
    ),
    # ---- shapes
    ("rank", lambda: attend(x(3)), "x must have the axes (T, d) or (B, T, d): its shape is (3,)"),
    ("rank", lambda: attend(x(2, 3, 5, 7)), "x must have the axes (T, d) or (B, T, d): its shape is (2, 3, 5, 7)"),
    (
        "rank",
        lambda: attend(x(5, 3), x(7, 3), x(7)),
        "value must have the axes (T, d) or (B, T, d): its shape is (7,)",
    ),
    (
        "rank",
        lambda: run_qkv(k=x(2, 3, 7, 11, 1)),
        "k must have the axes (T, d) or (B, H, T, d): its shape is (2, 3, 7, 11, 1)",
    ),
    (
        "rank",
        lambda: run_qkv(allowed=x(7).bool()),
        "allowed must have the axes (T, S) or (B, H, T, S): its shape is (7,)",
    ),
    (
        "rank_qkv",
        lambda: run_qkv(x(2, 5, 11)),
        f"q must be (T, d) or (B, H, T, d): (2, 5, 11) could be (B, T, d) or (H, T, d); {UNSQUEEZE}",
    ),
    (
        "rank_qkv",
        lambda: attend_qkv(x(5, 3), x(5, 3), x(2, 5, 3)),
        f"v must be (T, d) or (B, H, T, d): (2, 5, 3) could be (B, T, d) or (H, T, d); {UNSQUEEZE}",
    ),
    (
        "rank_allowed",
        lambda: run_qkv(allowed=x(2, 5, 7).bool()),
        f"allowed must be (T, S) or (B, H, T, S): (2, 5, 7) could be (B, T, S) or (H, T, S); {UNSQUEEZE}",
    ),
    (
        "rank_allowed",
        lambda: run_qkv(keep=x(2, 5, 7).bool(), config={"dropout": 0.5}),
        f"keep must be (T, S) or (B, H, T, S): (2, 5, 7) could be (B, T, S) or (H, T, S); {UNSQUEEZE}",
    ),
    (
        "rank_allowed",
        lambda: run_qkv(replacement=x(3, 5, 7)),
        f"replacement must be (T, S) or (B, H, T, S): (3, 5, 7) could be (B, T, S) or (H, T, S); {UNSQUEEZE}",
    ),
    (
        "allowed_not_bool",
        lambda: run_qkv(allowed=x(5, 7)),
        "allowed must be a boolean tensor (allowed: True = may attend; keep: True = kept): got torch.float64",
    ),
    (
        "shape_fits_scores",
        lambda: run_qkv(allowed=x(7, 5).bool()),
        "allowed must broadcast to (B, H, T, S) = (2, 3, 5, 7): its shape is (7, 5)",
    ),
    (
        "shape_fits_scores",
        lambda: run_qkv(allowed=x(3, 2, 5, 7).bool()),
        "allowed must broadcast to (B, H, T, S) = (2, 3, 5, 7): its shape is (3, 2, 5, 7)",
    ),
    (
        "rank_allowed",
        lambda: run_qkv(bias=x(3, 5, 7)),
        f"bias must be (T, S) or (B, H, T, S): (3, 5, 7) could be (B, T, S) or (H, T, S); {UNSQUEEZE}",
    ),
    ("not_floating", lambda: run_qkv(bias=x(5, 7).bool()), "bias must hold floating-point numbers: got torch.bool"),
    ("not_a_tensor", lambda: run_qkv(bias=0.5), "bias must be a torch.Tensor: got float"),
    (
        "dtype_differs",
        lambda: run_qkv(bias=x(5, 7).float()),
        "all inputs must share one dtype: bias is torch.float32, q is torch.float64",
    ),
    (
        "shape_fits_scores",
        lambda: run_qkv(bias=x(7, 5)),
        "bias must broadcast to (B, H, T, S) = (2, 3, 5, 7): its shape is (7, 5)",
    ),
    (
        "shape_fits_scores",
        lambda: run_qkv(replacement=x(5, 6)),
        "replacement must broadcast to (B, H, T, S) = (2, 3, 5, 7): its shape is (5, 6)",
    ),
    (
        "batch_differs",
        lambda: attend(x(2, 5, 3), x(3, 7, 3)),
        "query, key and value must have the same batch size: query is (2, 5, 3), key is (3, 7, 3)",
    ),
    (
        "batch_differs",
        lambda: run_qkv(v=x(1, 3, 7, 13)),
        "query, key and value must have the same batch size: query is (2, 3, 5, 11), v is (1, 3, 7, 13)",
    ),
    (
        "keys_values",
        lambda: run_qkv(v=x(2, 3, 6, 13)),
        "there must be as many values as keys: k is (7, 11), v is (6, 13)",
    ),
    ("widths_differ", lambda: attend(x(5, 4), x(7, 3)), "k must have the width of q: q is (5, 4), k is (7, 3)"),
    (
        "widths_differ",
        lambda: run_qkv(k=x(2, 3, 7, 13), config={"score": "cosine"}),
        "k must have the width of q: q is (5, 11), k is (7, 13)",
    ),
    # ---- weights
    (
        "projection_width",
        lambda: run(w_k=x(5, 6)),
        "w_k must have as many rows as x has columns: x is (2, 5, 6), w_k is (5, 6)",
    ),
    (
        "projection_width",
        lambda: run(w_o=x(7, 6)),
        "w_o must have as many rows as concat has columns: concat is (T, 6), w_o is (7, 6)",
    ),
    ("weight_shape", lambda: run(w_q=x(6)), "w_q must be (d_in, d_out): its shape is (6,)"),
    ("weight_shape", lambda: run(w_o=x(2, 3, 6)), "w_o must be (H * d_v, D_out): its shape is (2, 3, 6)"),
    (
        "weight_shape",
        lambda: run_qkv(config={"score": "general"}, weights={"w_a": x(13, 11)}),
        "w_a must be (11, 11) or (3, 11, 11): its shape is (13, 11)",
    ),
    (
        "weight_shape",
        lambda: additive(w_ak=x(2, 11, 17)),
        "w_ak must be (11, 17) or (3, 11, 17): its shape is (2, 11, 17)",
    ),
    (
        "bias_width",
        lambda: run(w_q=x(6, 4), b_q=x(6)),
        "b_q must have as many numbers as w_q has columns: b_q is (6,), w_q is (6, 4)",
    ),
    (
        "bias_width",
        lambda: run(w_o=x(6, 4), b_o=x(1, 4)),
        "b_o must have as many numbers as w_o has columns: b_o is (1, 4), w_o is (6, 4)",
    ),
    ("bias_alone", lambda: run(b_v=x(6)), "b_v needs w_v: a bias is added to a projection, and there is none"),
    (
        "bias_alone",
        lambda: run_qkv(weights={"b_o": x(39)}),
        "b_o needs w_o: a bias is added to a projection, and there is none",
    ),
    ("missing_weight", lambda: run_qkv(config={"score": "general"}), "'general' needs w_a"),
    ("missing_weight", lambda: additive(v_a=None), "'additive' needs v_a"),
    (
        "unused_weight",
        lambda: run_qkv(weights={"w_q": x(11, 11)}),
        "w_q has no place here: q, k and v are given already projected",
    ),
    (
        "unowned_weight",
        lambda: run(w_a=x(3, 3)),
        "w_a has no place here: 'general', which would read it, is not chosen",
    ),
    ("missing_weight", lambda: run_qkv(config={"normaliser": "sinks"}), "'sinks' needs sinks"),
    (
        "no_input",
        lambda: run_qkv(weights={"w_gate": x(11, 39)}, config={"modifiers": ["gate"]}),
        "'gate' reads the input from which q, k and v are computed: here q, k and v were given directly",
    ),
    (
        "needs_positive",
        lambda: AttentionConfig(normaliser="share"),
        "'share' divides each score by the sum of its row, so none may be below 0: use it with the score 'linear', "
        "without a bias or positions that are added to scores, and without a factor or a chosen score below 0",
    ),
    (
        "needs_positive",
        lambda: run_qkv(bias=x(5, 7), config={"score": "linear", "normaliser": "share"}),
        "'share' divides each score by the sum of its row, so none may be below 0: use it with the score 'linear', "
        "without a bias or positions that are added to scores, and without a factor or a chosen score below 0",
    ),
    (
        "hidden_too_large",
        lambda: attend_qkv(
            x(4096, 1),
            x(4096, 1),
            x(4096, 1),
            config=AttentionConfig("additive"),
            weights=Weights(w_aq=x(1, 3), w_ak=x(1, 3), v_a=x(3)),
        ),
        "the tanh layer would need 402653184 bytes, but the limit is 268435456: use fewer tokens or a narrower layer",
    ),
    # ---- heads
    (
        "heads_split",
        lambda: run(config={"heads": 4}),
        "the width of x must be divisible by the number of its heads: width 6, heads 4",
    ),
    (
        "heads_split",
        lambda: run(w_k=x(6, 5), config={"kv_heads": 2}),
        "the width of w_k must be divisible by the number of its heads: width 5, heads 2",
    ),
    (
        "heads_groups",
        lambda: AttentionConfig(heads=3, kv_heads=2),
        "heads must be divisible by kv_heads: heads 3, kv_heads 2",
    ),
    (
        "heads_groups",
        lambda: run_qkv(k=x(2, 2, 7, 11), v=x(2, 2, 7, 13)),
        "heads must be divisible by kv_heads: heads 3, kv_heads 2",
    ),
    (
        "heads_given",
        lambda: run_qkv(config={"heads": 5}),
        "config and tensors must name the same number of heads: config says 5, q has 3",
    ),
    (
        "heads_given",
        lambda: run_qkv(config={"heads": 3, "kv_heads": 1}),
        "config and tensors must name the same number of heads: config says 1, k has 3",
    ),
    # ---- numbers of the config
    ("positive_integer", lambda: AttentionConfig(heads=0), "heads must be a positive whole number: got 0"),
    ("positive_integer", lambda: AttentionConfig(heads=2.0), "heads must be a positive whole number: got 2.0"),
    ("positive_integer", lambda: AttentionConfig(kv_heads=True), "kv_heads must be a positive whole number: got True"),
    ("positive_integer", lambda: masked(("sliding", {"window": 0})), "window must be a positive whole number: got 0"),
    ("whole_number", lambda: masked(("causal", {"offset": 1.5})), "offset must be a whole number: got 1.5"),
    ("whole_number", lambda: masked(("padding", {"lengths": (3, "4")})), "lengths must be a whole number: got '4'"),
    ("whole_number", lambda: AttentionConfig(dropout_seed=None), "dropout_seed must be a whole number: got None"),
    ("whole_number", lambda: masked(("local", {"window": 0.5})), "window must be a whole number: got 0.5"),
    ("not_negative", lambda: masked(("local", {"window": -1})), "window must be a whole number, 0 or more: got -1"),
    ("at_most", lambda: AttentionConfig(dropout_seed=2**31), "dropout_seed must be at most 2147483647: got 2147483648"),
    ("at_most", lambda: masked(("causal", {"offset": -(2**70)})), f"offset must be at most 2147483647: got -{2**70}"),
    (
        "not_listed",
        lambda: masked(("padding", {"lengths": 5})),
        "lengths must be a tuple or a list of numbers: got 5",
    ),
    (
        "not_listed",
        lambda: AttentionConfig(positions=[("alibi", {"slopes": 0.5})]),
        "slopes must be a tuple or a list of numbers: got 0.5",
    ),
    ("choice_form", lambda: masked(5), "masks must be names or (name, parameters) pairs: got 5"),
    ("choice_form", lambda: masked(("local", 1)), "masks must be names or (name, parameters) pairs: got ('local', 1)"),
    (
        "choice_form",
        lambda: AttentionConfig(positions=7),
        "positions must be names or (name, parameters) pairs: got 7",
    ),
    (
        "choice_form",
        lambda: masked(("causal", {"offset": 2}, {"window": 1})),
        "masks must be names or (name, parameters) pairs: got ('causal', {'offset': 2}, {'window': 1})",
    ),
    ("positive_number", lambda: AttentionConfig(temperature=0), "temperature must be a finite number above 0: got 0"),
    (
        "positive_number",
        lambda: AttentionConfig(positions=[("rope", {"base": -1.0})]),
        "base must be a finite number above 0: got -1.0",
    ),
    ("finite_number", lambda: AttentionConfig(scale=math.nan), "scale must be a finite number: got nan"),
    ("finite_number", lambda: AttentionConfig(scale="2"), "scale must be a finite number: got '2'"),
    ("finite_number", lambda: AttentionConfig(temperature=math.inf), "temperature must be a finite number: got inf"),
    ("probability", lambda: AttentionConfig(dropout=1), "dropout must be at least 0 and below 1: got 1"),
    ("probability", lambda: AttentionConfig(dropout=-0.1), "dropout must be at least 0 and below 1: got -0.1"),
    # ---- choices
    (
        "unknown_choice",
        lambda: AttentionConfig("softmax"),
        f"score must be one of {', '.join(SCORES)}: got 'softmax'",
    ),
    ("unknown_choice", lambda: masked("casual"), f"{MASKS}: got 'casual'"),
    (
        "unknown_choice",
        lambda: AttentionConfig(positions=["absolute"]),
        f"position must be one of {', '.join(POSITIONS)}: got 'absolute'",
    ),
    (
        "unknown_choice",
        lambda: AttentionConfig(positions=[("rope", {"style": "neox"})]),
        "style must be one of interleaved, half: got 'neox'",
    ),
    ("unknown_choice", lambda: AttentionConfig(replace="mean"), "replace must be one of uniform: got 'mean'"),
    ("unknown_parameter", lambda: masked(("causal", {"window": 3})), "causal takes offset: got window"),
    (
        "unknown_parameter",
        lambda: masked(("padding", {"lengths": (3, 4), "offset": 1})),
        "padding takes lengths: got offset",
    ),
    (
        "unknown_parameter",
        lambda: AttentionConfig(positions=[("alibi", {"slope": 1.0})]),
        "alibi takes slopes: got slope",
    ),
    ("missing_parameter", lambda: masked("local"), "local needs window"),
    ("missing_parameter", lambda: masked(("local_global", {"window": 1})), "local_global needs global_tokens"),
    ("chosen_twice", lambda: masked("causal", "causal"), "causal may be chosen only once: it was chosen twice"),
    (
        "offsets_differ",
        lambda: masked(("causal", {"offset": 0}), ("sliding", {"window": 3, "offset": 1})),
        "causal masks must agree on one offset: got [0, 1]",
    ),
    ("at_most", lambda: masked(("sliding", {"window": 2**70})), f"window must be at most 2147483647: got {2**70}"),
    ("at_most", lambda: run_qkv(config={"heads": 10**30}), f"heads must be at most 2147483647: got {10**30}"),
    ("finite_number", lambda: run_qkv(config={"scale": 10**400}), f"scale must be a finite number: got 1{39 * '0'}"),
    # ---- choices that do not fit the tensors
    (
        "lengths_count",
        lambda: masked(("padding", {"lengths": (3, 4, 5)})),
        "lengths must hold a number for each of the 2 sequences: got 3",
    ),
    (
        "lengths_range",
        lambda: masked(("padding", {"lengths": (3, 8)})),
        "lengths must lie between 0 and S = 7: got 8",
    ),
    (
        "lengths_range",
        lambda: masked(("padding", {"lengths": (-1, 3)})),
        "lengths must lie between 0 and S = 7: got -1",
    ),
    (
        "tokens_range",
        lambda: masked(("local_global", {"window": 1, "global_tokens": (0, 7)})),
        "global_tokens must lie between 0 and 6, the last position: got 7",
    ),
    (
        "tokens_range",
        lambda: masked(("local_global", {"window": 1, "global_tokens": (-1,)})),
        "global_tokens must lie between 0 and 6, the last position: got -1",
    ),
    (
        "tokens_range",
        lambda: masked(("causal", {"offset": 4}), ("local_global", {"window": 1, "global_tokens": (9,)})),
        "global_tokens must lie between 0 and 8, the last position: got 9",  # the queries stand at 4 to 8
    ),
    (
        "even_width",
        lambda: run_qkv(config={"positions": ["rope"]}),
        "RoPE rotates numbers in pairs, so the width must be even: it is 11",
    ),
    (
        "rope_columns",
        lambda: run_qkv(config={"positions": [("rope", {"columns": 12})]}),
        "RoPE rotates columns in pairs: their number must be even and at most 11: got 12",
    ),
    (
        "pair_factors_count",
        lambda: run_qkv(config={"positions": [("rope", {"columns": 6, "pair_factors": (1.0, 0.5)})]}),
        "RoPE multiplies the angle of each of its 3 pairs of columns by a factor of its own: got 2 factors",
    ),
    (
        "even_halves",
        lambda: run_qkv(config={"modifiers": ["differential"]}),
        "differential attention cuts q and k into halves, so their width must be even: it is 11",
    ),
    (
        "slopes_count",
        lambda: run_qkv(config={"positions": [("alibi", {"slopes": (1.0, 0.5)})]}),
        "ALiBi needs one slope for each of the 3 heads: got 2",
    ),
    (
        "slopes_count",
        lambda: run_qkv(config={"positions": [("alibi", {"slopes": ()})]}),
        "ALiBi needs one slope for each of the 3 heads: got 0",
    ),
    (
        "few_places",
        lambda: attend(x(5, 5), weights=Weights(w_places=x(4, 5)), config=AttentionConfig(positions=["learned"])),
        "a learned table has a row for each place, from 0 on: 4 rows do not cover the places 0 to 4",
    ),
    (
        "no_input",
        lambda: run_qkv(config={"positions": ["sinusoidal"]}),
        "'sinusoidal' reads the input from which q, k and v are computed: here q, k and v were given directly",
    ),
    (
        "keep_without_dropout",
        lambda: run_qkv(keep=x(5, 7).bool()),
        "keep belongs to dropout: set dropout in the config",
    ),
    (
        "replacement_twice",
        lambda: run_qkv(replacement=x(5, 7), config={"replace": "uniform"}),
        "weights can be replaced only once: by replace='uniform' or by a tensor, not by both",
    ),
    (
        "replacement_twice",
        lambda: run_qkv(replacement=x(5, 7), what_if={"weights": x(5, 7)}),
        "weights can be replaced only once: by replace='replacement' or by a tensor, not by both",
    ),
    (
        "unknown_choice",
        lambda: run_qkv(what_if={"output": x(5, 7)}),
        "what_if must be one of scores, weights: got 'output'",
    ),
    (
        "shape_fits_scores",
        lambda: run_qkv(what_if={"scores": x(5, 6)}),
        "what_if['scores'] must broadcast to (B, H, T, S) = (2, 3, 5, 7): its shape is (5, 6)",
    ),
    (
        "not_finite",
        lambda: run_qkv(what_if={"scores": torch.full((5, 7), math.inf).double()}),
        "what_if['scores'] must be finite everywhere: inf at (0, 0, 0, 0)",
    ),
    (
        "no_input_residual",
        lambda: run_qkv(config={"residual": True}),
        "the residual adds x to the output, and q, k, v were given without it",
    ),
    (
        "residual_width",
        lambda: attend(x(5, 4), weights=Weights(w_v=x(4, 7)), config=AttentionConfig(residual=True)),
        "the residual adds x to the output, so both must be equally wide: x has 4 columns, the output 7",
    ),
]


@pytest.mark.parametrize(
    ("code", "refused", "sentence"), REFUSALS, ids=[f"{c}-{n}" for n, (c, *_) in enumerate(REFUSALS)]
)
def test_refusal(code, refused, sentence):
    with pytest.raises(AttentionError) as caught:
        refused()
    assert (caught.value.code, str(caught.value)) == (code, sentence)


def test_scalar_score_weight_is_refused():
    with pytest.raises(AttentionError, match="v_a must be"):
        additive(v_a=torch.tensor(1.0).double())


@pytest.mark.parametrize("score", ["scaled_dot", "cosine"])
def test_a_score_without_a_layer_is_not_held_to_the_layers_size(score):
    large = (1, 1, 6000, 4)  # 6000 x 6000 scores are 288 MB, more than a layer may take
    sizes = checks.size_axes({"q": large, "k": large, "v": large})
    checks.check_learned_weights(AttentionConfig(score), Weights(), sizes, 8)


def test_labels_of_another_number_or_axis_are_refused():
    trace = attend(x(5, 3))
    with pytest.raises(AttentionError, match="axis T needs 5 labels: got 1"):
        trace.labelled(T=("a",))
    with pytest.raises(AttentionError, match="axis must be one of B, T, D"):
        trace.labelled(X=("a",))


def test_a_refusal_is_a_value_error_that_can_be_kept():
    with pytest.raises(ValueError, match="k must have the width of q") as caught:
        attend(x(5, 4), x(7, 3))
    kept = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert (kept.code, kept.values, str(kept)) == (caught.value.code, caught.value.values, str(caught.value))


def test_an_unknown_step_is_a_key_error_that_lists_the_steps():
    with pytest.raises(KeyError, match="there is no step 'attention': the steps are q, k, v, scores, scaled_scores"):
        run_qkv()["attention"]


@pytest.mark.parametrize("shape", [(5, 7), (1, 7), (5, 1), (1, 1, 1, 7), (2, 1, 5, 7), (1, 3, 5, 7), (2, 3, 5, 7)])
def test_every_broadcast_of_allowed_is_taken(shape):
    allowed = torch.rand(shape, generator=torch.Generator().manual_seed(0)) < 0.5
    trace = run_qkv(allowed=allowed)
    full = allowed.expand(2, 3, 5, 7)
    assert torch.equal(trace["masked_scores"].isneginf(), ~full)


# ---- the table is complete -------------------------------------------------------------------------------------------
def raised_in(path: Path) -> set[str]:
    """The codes in a file's AttentionError(code, ...)."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    errors = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "AttentionError"]
    codes = [part for call in errors for part in ast.walk(call.args[0]) if isinstance(part, ast.Constant)]
    return {code.value for code in codes}


def literals(path: Path) -> set[object]:
    """Every text that stands in a file's code."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.value for node in nodes if isinstance(node, ast.Constant)}


def test_every_refusal_of_the_entrances_is_in_the_table():
    raised = set().union(*(raised_in(CORE / "mechanism" / name) for name in ENTRANCES))
    assert raised == {code for code, *_ in REFUSALS}


def test_every_other_sentence_is_used_elsewhere():
    paths = [*CORE.rglob("*.py"), *(CORE.parent / "pages").rglob("*.py")]
    used = set().union(*(literals(path) for path in paths if path.name != "errors.py"))
    assert set(REFUSAL_SENTENCES) <= used


# ---- dtypes that torch does not compute with -------------------------------------------------------------------------
UNCOUNTABLE = [dtype for name, dtype in vars(torch).items() if name.startswith("float8_") or name.startswith("float4_")]


@pytest.mark.parametrize("dtype", [*UNCOUNTABLE, torch.complex64, torch.int8, torch.bool], ids=str)
def test_what_torch_does_not_compute_with_is_refused_wherever_it_is_given(dtype):
    square = torch.zeros(3, 3)
    odd = torch.zeros(3, 3, dtype=torch.uint8).view(dtype) if dtype in UNCOUNTABLE else square.to(dtype)
    dropped = AttentionConfig(dropout=0.5)
    runs = [
        lambda: attend(odd),
        lambda: attend(square, odd),
        lambda: attend(square, weights=Weights(w_q=odd)),
        lambda: attend_qkv(odd, odd, odd),
        lambda: attend_qkv(square, square, odd),
        lambda: attend_qkv(square, square, square, bias=odd),
        lambda: attend_qkv(square, square, square, replacement=odd),
        lambda: attend_qkv(square, square, square, what_if={"scores": odd}),
        lambda: attend_qkv(square, square, square, what_if={"weights": odd}),
    ]
    if dtype != torch.bool:
        runs.append(lambda: attend_qkv(square, square, square, allowed=odd))
        runs.append(lambda: attend_qkv(square, square, square, config=dropped, keep=odd))
    for run in runs:
        with pytest.raises(AttentionError) as refused:
            run()
        assert refused.value.code in ("no_arithmetic", "not_floating", "allowed_not_bool")
