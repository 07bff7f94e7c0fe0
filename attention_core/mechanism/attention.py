"""Defines attend and attend_qkv, which plan the operations of a run, apply them, and return all values as a Trace."""

from collections.abc import Mapping

from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.pair_inputs import PairInputs
from attention_core.mechanism.plan import prepare, prepare_qkv, run_plan
from attention_core.record.trace import Trace


def attend(
    query: Float[Tensor, "*B T D"],
    key: Float[Tensor, "*B S D_key"] | None = None,
    value: Float[Tensor, "*B S D_value"] | None = None,
    *,
    weights: Weights | None = None,
    config: AttentionConfig | None = None,
    allowed: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
    keep: Bool[Tensor, "..."] | None = None,
    replacement: Float[Tensor, "..."] | None = None,
    what_if: Mapping[str, Float[Tensor, "..."]] | None = None,
) -> Trace:
    r"""Compute attention from the inputs to the output, with every step recorded.

    $Q = X_q W_q + b_q$ (likewise K, V), per head $A = \mathrm{softmax}(QK^\top/\sqrt{d_k} + \mathrm{bias})$, $Z = AV$,
    output $= \mathrm{concat}(Z) W_o + b_o$. Score, scale, masks and positions come from the config.

    query (T, D) or (B, T, D). key (S, D_key), by default the query. value (S, D_value), by default the key. weights:
    see Weights; a projection that is None is skipped. allowed: boolean (T, S) or (B, H, T, S), True = may attend,
    combined with the config's masks. bias: finite numbers, (T, S) or (B, H, T, S), added to the scaled scores, and to
    the biases of the config's positions. keep: boolean, True for the weights that dropout keeps (None: sampled with
    config.dropout_seed). replacement: weights that replace the computed ones. what_if: a mapping from "scores" or
    "weights" to numbers, (T, S) or (B, H, T, S), to use instead of the computed ones; NaN keeps the computed number.
    Axes of length 1 broadcast.

    Returns a Trace; Trace["weights"] is (B, H, T, S). Raises AttentionError (a ValueError) that says what must hold and
    what was given. Sources: Vaswani et al. 2017, equation 1 and section 3.2.2; a bias for each pair: Raffel et al. 2020
    (T5), Press et al. 2022 (ALiBi); over two dimensions: Liu et al. 2021 (Swin), equation 4.

    >>> import torch
    >>> x = torch.eye(3)
    >>> trace = attend(x, weights=Weights(w_q=x, w_k=x, w_v=x), config=AttentionConfig(masks=["causal"]))
    >>> trace["weights"][0, 0, 0]
    tensor([1., 0., 0.])
    """
    inputs, plan = prepare(
        query,
        key,
        value,
        weights=weights or Weights(),
        config=config or AttentionConfig(),
        pairs=PairInputs(allowed, bias, keep, replacement, what_if or {}),
    )
    return run_plan(inputs, plan)


def attend_qkv(
    q: Float[Tensor, "..."],
    k: Float[Tensor, "..."],
    v: Float[Tensor, "..."],
    *,
    config: AttentionConfig | None = None,
    weights: Weights | None = None,
    allowed: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
    keep: Bool[Tensor, "..."] | None = None,
    replacement: Float[Tensor, "..."] | None = None,
    what_if: Mapping[str, Float[Tensor, "..."]] | None = None,
) -> Trace:
    r"""Compute attention for given q, k and v, such as the tensors of a trained head or of a checkpoint.

    $Z = \mathrm{softmax}(qk^\top/\sqrt{d_k} + \mathrm{bias})\,v$, then concat and $W_o$, if given.

    q (T, d_k) or (B, H, T, d_k). k (S, d_k) or (B, H_kv, S, d_k). v (S, d_v) or (B, H_kv, S, d_v). Tensors with three
    axes raise an error, because the first axis could be B or H. weights: w_o, b_o and those of the score. The numbers
    of heads are those of the tensors; the other arguments are as in attend. If the config has RoPE, it rotates q and k.

    Returns a Trace of every step. Raises AttentionError (a ValueError) that says what must hold and what was given.
    Sources: Vaswani et al. 2017, equation 1; grouped keys and values: Ainslie et al. 2023.

    >>> import torch
    >>> trace = attend_qkv(torch.tensor([[0.0, 2**0.5]]), torch.eye(2), torch.eye(2))
    >>> trace["weights"].flatten()            # 1/(1 + e) and e/(1 + e)
    tensor([0.2689, 0.7311])
    >>> biased = attend_qkv(torch.zeros(1, 2), torch.eye(2), torch.eye(2), bias=torch.tensor([[0.0, 1.0]]))
    >>> biased["biased_scores"].flatten(), biased["weights"].flatten()
    (tensor([0., 1.]), tensor([0.2689, 0.7311]))
    """
    inputs, plan = prepare_qkv(
        q,
        k,
        v,
        weights=weights or Weights(),
        config=config or AttentionConfig(),
        pairs=PairInputs(allowed, bias, keep, replacement, what_if or {}),
    )
    return run_plan(inputs, plan)
