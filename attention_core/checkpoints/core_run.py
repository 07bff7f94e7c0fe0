"""Computes a recorded attention layer again by the core in float64, from the recorded q, k and v or from the layer's
input.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.call_mechanism import Mechanism, is_root_scale, read_mechanism
from attention_core.checkpoints.layer_maps import LayerMaps
from attention_core.checkpoints.named_biases import BucketTable
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace


@dataclass(frozen=True, eq=False)
class CoreRun:
    """A recorded layer as a run of the core: its Trace in float64, and the config and weights of the run.

    weights: the learned tensors; those of the projections, too, if the Trace begins at the layer's input. given: "mask"
    or "bias", if no mask or position encoding of the core equals the recorded tensor. open_rows: True for each query
    that may attend to some key; other queries have uniform weights in models, and 0 in the core.
    """

    trace: Trace
    config: AttentionConfig
    weights: Weights
    given: tuple[str, ...]
    open_rows: Bool[Tensor, "B H T"]


def run_call(call: AttentionCall, mechanism: Mechanism | None = None) -> CoreRun:
    r"""Compute a recorded layer again: $A = \mathrm{softmax}(s\, QK^\top + b)$, output $AV$, with its masks.

    mechanism: the result of read_mechanism for the call; by default it is read without tables of relative positions.

    Raises AttentionError (a ValueError) if a recorded number is not finite: layer_not_finite, which names the layer.

    >>> q = torch.tensor([[[[0.0, 2**0.5]]]])
    >>> k = torch.eye(2)[None, None]
    >>> run_call(AttentionCall("layer", q, k, k, k)).trace["weights"].flatten()            # 1/(1 + e) and e/(1 + e)
    tensor([0.2689, 0.7311], dtype=torch.float64)
    """
    require_finite_call(call)
    mechanism = mechanism or read_mechanism(call)
    weights = Weights(**mechanism.learned)
    trace = attend_qkv(
        call.q.double(),
        call.k.double(),
        call.v.double(),
        config=mechanism.config,
        weights=weights,
        allowed=mechanism.allowed,
        bias=mechanism.bias,
    )
    return CoreRun(trace, mechanism.config, weights, mechanism.given, mechanism.open_rows)


def require_finite_call(call: AttentionCall) -> None:
    """Raise AttentionError (layer_not_finite) if a number of q, k or v is infinite or NaN."""
    for name, tensor in (("q", call.q), ("k", call.k), ("v", call.v)):
        refused = ~tensor.isfinite()
        if refused.any():
            index = tuple(refused.nonzero()[0].tolist())
            value = tensor[index].item()
            raise AttentionError("layer_not_finite", layer=call.name, name=name, value=value, index=index)


def run_from_x(call: AttentionCall, maps: LayerMaps, tables: Sequence[BucketTable] = ()) -> CoreRun:
    """Compute a recorded layer again from its input: projections, norms of the heads, RoPE, then as in run_call.

    maps: the projections, norms and RoPE of the layer. Factors on q and k become part of the scale, a factor on v part
    of W_v and b_v. Keys and values have separate inputs in the Trace only if their inputs differ from that of the
    queries, as with latent attention whose queries are compressed, too: these begin at the compressed vectors.

    Raises AttentionError (a ValueError) if a recorded number is not finite.
    """
    mechanism = read_mechanism(call, tables)
    roles = {"q": maps.q, "k": maps.k, "v": maps.v}
    learned = dict(mechanism.learned)
    for role, projection in roles.items():
        matrix, bias = projection.matrix, projection.bias
        if role == "v" and projection.factor != 1:
            matrix, bias = projection.factor * matrix, None if bias is None else projection.factor * bias
        learned |= {f"w_{role}": matrix.contiguous(), f"b_{role}": bias}
        if projection.norm is not None:
            learned |= projection.norm.learned(role)
    if maps.latent is not None:
        learned |= maps.latent.learned()
    if maps.output is not None:
        bias = maps.output.bias
        learned |= {"w_o": maps.output.matrix.double().contiguous(), "b_o": None if bias is None else bias.double()}
    weights, config = Weights(**learned), add_maps(mechanism.config, maps, call.q.shape[-1])
    x, keys, values = (roles[role].x for role in "qkv")
    if maps.latent is not None:
        keys = values = maps.latent.compressed.x
    others = [] if torch.equal(keys, values) else [values]
    if others or x.shape != keys.shape or not torch.equal(x, keys):
        others = [keys, *others]
    trace = attend(x, *others, weights=weights, config=config, allowed=mechanism.allowed, bias=mechanism.bias)
    return CoreRun(trace, config, weights, mechanism.given, mechanism.open_rows)


def add_maps(config: AttentionConfig, maps: LayerMaps, width: int) -> AttentionConfig:
    """Return the config of a run that begins at the layer's input: norms, RoPE and factors are added to the config from
    q and k on.

    width: the width of a head of q.
    """
    if maps.q.norm is not None:
        config = replace(config, modifiers=(maps.q.norm.choice(), *config.modifiers))
    sharper = 1.0
    if maps.latent is not None:
        config = replace(config, modifiers=(maps.latent.choice, *config.modifiers))
    if maps.rope is not None:
        name = "rope" if maps.latent is None else "decoupled_rope"
        config = replace(config, positions=((name, maps.rope), *config.positions))
        [params] = [params for chosen, params in config.positions if chosen == name]
        sharper = POSITIONS[name].sharpens(params)
    factor = maps.q.factor * maps.k.factor / sharper
    if factor == 1:
        return config
    scale = factor * (config.scale or width**-0.5)
    return replace(config, scale=None if is_root_scale(scale, width) else scale)
