"""Compares a user's own attention layer with a run, from its input x to its output, alone or in a test."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.attention import attend
from attention_core.mechanism.checks import check_class, check_tensors
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.errors import AttentionError
from attention_core.verification.diagnosis import (
    Diagnosis,
    diagnose,
    diagnose_steps,
    last_step,
    mask_of,
    name_returned_steps,
    pair_arguments,
)

HARMLESS = {"heads_averaged"}  # codes of causes that are another form of right numbers


def weights_of_linears(
    q: torch.nn.Linear | None = None,
    k: torch.nn.Linear | None = None,
    v: torch.nn.Linear | None = None,
    o: torch.nn.Linear | None = None,
) -> Weights:
    """Return the matrices and biases of torch.nn.Linear layers as Weights: w_q is q.weight.T, b_q is q.bias.

    q, k, v, o: the projections to q, k, v and the output, None for those that the layer lacks. Raises AttentionError (a
    ValueError) for anything but a torch.nn.Linear. Source: torch.nn.Linear, whose weight is (out, in).

    >>> linear = torch.nn.Linear(2, 3)
    >>> {name: tuple(tensor.shape) for name, tensor in weights_of_linears(q=linear).given().items()}
    {'w_q': (2, 3), 'b_q': (3,)}
    """
    found = {}
    for role, linear in {"q": q, "k": k, "v": v, "o": o}.items():
        if linear is None:
            continue
        check_class(role, linear, torch.nn.Linear)
        found[f"w_{role}"] = linear.weight.detach().T
        if linear.bias is not None:
            found[f"b_{role}"] = linear.bias.detach()
    return Weights(**found)


def diagnose_layer(
    function: Callable[..., object],
    x: Float[Tensor, "*B T D"],
    key: Float[Tensor, "*B S D_key"] | None = None,
    value: Float[Tensor, "*B S D_value"] | None = None,
    *,
    weights: Weights,
    config: AttentionConfig | None = None,
    allowed: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
    tolerance: float | torch.dtype | None = None,
) -> Diagnosis:
    r"""Compare your attention layer with attend, from x to the output: the first step that differs, with its causes.

    $\mathrm{output} = \mathrm{concat}(\mathrm{softmax}(QK^\top/\sqrt{d_k})\,V)\,W_o + b_o$ with $Q = x W_q + b_q$.

    function: your torch.nn.Module or function. It is called once as function(x), or function(x, key) or function(x,
    key, value) if these are given, and, as by diagnose, with the mask (B, H, T, S), True = may attend, under the
    parameter attn_mask, mask or allowed, and with `bias` under attn_bias or bias. It returns the output (B, T, D_out);
    or (output, weights), the weights (B, H, T, S), (B, T, S) if they are averaged over the heads, or None; or a dict of
    steps keyed by the trace's names. An error that it raises is not caught.

    x: (T, D) or (B, T, D); key (S, D_key), value (S, D_value), likewise. weights: the layer's matrices in row
    convention; weights_of_linears makes them of torch.nn.Linear layers. config, allowed, bias: the arguments of attend.
    tolerance: a number relative to a step's largest magnitude, or a dtype whose rounding is tolerated; None for the
    coarsest dtype of x and of what the function returned.

    Raises AttentionError (a ValueError) as attend does, and if the function returns anything else. Source: Vaswani et
    al. 2017, section 3.2.2.

    >>> x = torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]])
    >>> w = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    >>> def mine(x):
    ...     q, k, v = x @ w.T, x @ w, x @ w  # a weight of nn.Linear is transposed; q has it twice
    ...     return torch.softmax(q @ k.T / 2**0.5, dim=-1) @ v
    >>> print(diagnose_layer(mine, x, weights=Weights(w_q=w, w_k=w, w_v=w)).causes[0])
    transposed: w_q; the weight of a torch.nn.Linear is (out, in)
    """
    inputs = {"x": x, "key": key, "value": value}
    given = {name: tensor for name, tensor in inputs.items() if tensor is not None}
    check_tensors(given)
    copies = {name: tensor.clone() for name, tensor in given.items()}  # the function may change its arguments
    query = copies.pop("x")
    trace = attend(query, **copies, weights=weights, config=config, allowed=allowed, bias=bias)
    *_, last = given
    positional = list(inputs.values())[: list(inputs).index(last) + 1]
    with torch.no_grad():
        returned = function(*positional, **pair_arguments(function, mask_of(trace, x), bias))
    return diagnose_steps(trace, name_returned_steps(returned, last_step(trace)), tolerance, first=x)


def assert_attention(function: Callable[..., object], *inputs: Tensor, **arguments: object) -> None:
    """Fail with the sentence of the diagnosis if an attention function or layer gives other numbers than it should.

    function: your own. inputs: q, k and v, as for diagnose; or x, or x and key, or, if `weights` has projections, x,
    key and value, as for diagnose_layer. arguments: the further arguments of that function.

    Weights that are averaged over the heads, as torch.nn.MultiheadAttention returns them, do not fail. Raises
    AssertionError with the text of the diagnosis, and AttentionError (a ValueError) as these functions do. For tests
    with pytest.

    >>> q = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    >>> assert_attention(lambda q, k, v: torch.softmax(q @ k.mT / 2**0.5, dim=-1) @ v, q, q, q)
    """
    __tracebackhide__ = True  # pytest then shows the line of the test that fails
    weights = arguments.get("weights")
    if not 1 <= len(inputs) <= 3:
        raise AttentionError("inputs_count", given=len(inputs))
    projects = isinstance(weights, Weights) and any(name in weights.given() for name in ("w_q", "w_k", "w_v"))
    is_layer = projects or len(inputs) < 3 or "key" in arguments
    found = diagnose_layer(function, *inputs, **arguments) if is_layer else diagnose(function, *inputs, **arguments)
    harmless = {step for cause in found.causes or () if cause.code in HARMLESS for step in cause.steps}
    wrong = [each.step for each in found.comparisons if not each.agrees and each.step not in harmless]
    if wrong:
        raise AssertionError(str(found))
