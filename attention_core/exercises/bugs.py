"""Defines self-attention with one function per line of code, and bugs: wrong lines that run without raising an error.

The parameters of each function are the values that its line reads, and its return expression is the line that the app
shows.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.comparison.differences import index_of_largest
from attention_core.comparison.distances import abs_difference
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.expressions import Ref
from attention_core.record.python_source import parse_source
from attention_core.record.trace import Trace

Heads = Float[Tensor, "B H T d"]
Pairs = Float[Tensor, "B H T S"]
MaskTensor = Bool[Tensor, "#B 1 #T S"]


# ---- the right lines -------------------------------------------------------------------------------------------------
def split_line(B: int, T: int, heads: int) -> Callable[[Tensor], Heads]:
    return lambda y: y.view(B, T, heads, -1).transpose(1, 2)


def query_line(split: Callable, x: Tensor, w_q: Tensor) -> Heads:
    return split(x @ w_q)


def key_line(split: Callable, x: Tensor, w_k: Tensor) -> Heads:
    return split(x @ w_k)


def value_line(split: Callable, x: Tensor, w_v: Tensor) -> Heads:
    return split(x @ w_v)


def causal_line(T: int) -> MaskTensor:
    return torch.ones(T, T, dtype=torch.bool).tril()


def padding_line(real: Bool[Tensor, "B S"]) -> MaskTensor:
    return real[:, None, None, :]


def scores_line(q: Heads, k: Heads) -> Pairs:
    return q @ k.transpose(-2, -1)


def scaled_line(scores: Pairs, q: Heads) -> Pairs:
    return scores / math.sqrt(q.shape[-1])


def masked_line(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return scaled_scores.masked_fill(~allowed, -math.inf)


def softmax_line(masked_scores: Pairs) -> Pairs:
    return torch.softmax(masked_scores, dim=-1)


def mix_line(weights: Pairs, v: Heads) -> Heads:
    return weights @ v


def merge_line(head_outputs: Heads, B: int, T: int) -> Float[Tensor, "B T width"]:
    return head_outputs.transpose(1, 2).reshape(B, T, -1)


def project_line(concat: Float[Tensor, "B T width"], w_o: Tensor) -> Float[Tensor, "B T D_out"]:
    return concat @ w_o


# ---- wrong versions of these lines -----------------------------------------------------------------------------------
def masked_where_allowed(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return scaled_scores.masked_fill(allowed, -math.inf)


def strictly_causal(T: int) -> MaskTensor:
    return torch.ones(T, T, dtype=torch.bool).tril(-1)


def softmax_over_queries(masked_scores: Pairs) -> Pairs:
    return torch.softmax(masked_scores, dim=-2)


def masked_afterwards(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return torch.softmax(scaled_scores, dim=-1) * allowed


def masked_by_zero(scaled_scores: Pairs, allowed: MaskTensor) -> Pairs:
    return scaled_scores.masked_fill(~allowed, 0.0)


def causal_one_ahead(T: int) -> MaskTensor:
    return torch.ones(T, T, dtype=torch.bool).tril(1)


def padding_of_queries(real: Bool[Tensor, "B S"]) -> MaskTensor:
    return real[:, None, :, None]


def key_reshaped(q: Heads, k: Heads, B: int, T: int, heads: int) -> Pairs:
    return q @ k.reshape(B, heads, -1, T)


def split_at_once(B: int, T: int, heads: int) -> Callable[[Tensor], Heads]:
    return lambda y: y.view(B, heads, T, -1)


def merged_at_once(head_outputs: Heads, B: int, T: int) -> Float[Tensor, "B T width"]:
    return head_outputs.reshape(B, T, -1)


def value_by_w_k(split: Callable, x: Tensor, w_k: Tensor) -> Heads:
    return split(x @ w_k)


def unscaled_line(scores: Pairs) -> Pairs:
    return scores


# ---- the layer -------------------------------------------------------------------------------------------------------
LayerLine = Callable[..., object]
LAYER_LINES: Mapping[str, LayerLine] = MappingProxyType(
    {
        "split": split_line,
        "q": query_line,
        "k": key_line,
        "v": value_line,
        "allowed": causal_line,
        "scores": scores_line,
        "scaled_scores": scaled_line,
        "masked_scores": masked_line,
        "weights": softmax_line,
        "head_outputs": mix_line,
        "concat": merge_line,
        "output": project_line,
    }
)
LAYER_STEPS = ("q", "k", "v", "scores", "scaled_scores", "masked_scores", "weights", "head_outputs", "concat", "output")


@cache
def format_line(name: str, line: LayerLine) -> str:
    """Format a line as in the source of the layer: the name of its step, "=", and the expression that it returns.

    >>> format_line("scores", scores_line)
    'scores = q @ k.transpose(-2, -1)'
    """
    source = textwrap.dedent(inspect.getsource(line))
    function = parse_source(source).body[0]
    returned = function.body[-1].value
    return f"{name} = {ast.unparse(returned)}"


# ---- the bugs --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Bug:
    """A bug of an attention layer: one line replaced by a wrong one.

    code: the code of the bug, a key of MISTAKE_SENTENCES. line: the key in LAYER_LINES of the replaced line. wrong: the
    wrong line. padded: True if the bug is visible in a batch with padding and not under a causal mask.
    """

    code: str
    line: str
    wrong: LayerLine
    padded: bool = False


BUGS = (  # sorted from easy to hard
    Bug("mask_inverted", "masked_scores", masked_where_allowed),
    Bug("causal_too_strict", "allowed", strictly_causal),
    Bug("softmax_queries", "weights", softmax_over_queries),
    Bug("mask_after_softmax", "weights", masked_afterwards),
    Bug("mask_as_zero", "masked_scores", masked_by_zero),
    Bug("causal_too_loose", "allowed", causal_one_ahead),
    Bug("padding_on_queries", "allowed", padding_of_queries, padded=True),
    Bug("k_not_transposed", "scores", key_reshaped),
    Bug("split_not_transposed", "split", split_at_once),
    Bug("merge_not_transposed", "concat", merged_at_once),
    Bug("v_from_w_k", "v", value_by_w_k),
    Bug("no_scale", "scaled_scores", unscaled_line),
)
BUG_BY_CODE = MappingProxyType({bug.code: bug for bug in BUGS})


def right_lines(bug: Bug | None = None) -> dict[str, LayerLine]:
    """Return the lines of the correct layer, by the names of the steps that they compute.

    bug: if its `padded` is True, the line of the mask is the one for padding, else the causal one.
    """
    lines = dict(LAYER_LINES)
    if bug is not None and bug.padded:
        lines["allowed"] = padding_line
    return lines


def layer_lines(bug: Bug | None = None) -> dict[str, LayerLine]:
    """Return the lines of the layer; if a bug is given, its wrong line replaces the right one."""
    lines = right_lines(bug)
    if bug is not None:
        lines[bug.line] = bug.wrong
    return lines


def run_layer(trace: Trace, code: str | None = None) -> dict[str, Tensor]:
    """Compute every step of the layer from the inputs of a run, as {name of the run's step: value}.

    trace: a run of self-attention with w_q, w_k, w_v, w_o and no biases, under a causal mask or a padding mask. code: a
    key of BUG_BY_CODE, whose `padded` decides the mask; None for the correct layer, under a causal mask.

    Raises AttentionError: unknown_choice.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> trace = EXAMPLES["en_it_causal"].run()
    >>> bool((run_layer(trace)["weights"] - trace["weights"]).abs().max() < 1e-12)
    True
    >>> run_layer(trace, "no_scale")["scores"].shape
    torch.Size([1, 2, 7, 7])
    """
    bug = None
    if code is not None:
        require_one_of("code", code, tuple(BUG_BY_CODE))
        bug = BUG_BY_CODE[code]
    values = inputs_of_lines(trace)
    for name, line in layer_lines(bug).items():
        reads = inspect.signature(line).parameters
        operands = {read: values[read] for read in reads}
        values[name] = line(**operands)
    return {name: values[name] for name in LAYER_STEPS}


def inputs_of_lines(trace: Trace) -> dict[str, object]:
    """Return the values of a run that the lines of the layer read: x, the four matrices, its sizes, and which tokens
    are real.
    """
    B, T, _ = trace.step("x").shape
    values: dict[str, object] = {"B": B, "T": T, "heads": trace.sizes()["H"]}
    for name in ("x", "w_q", "w_k", "w_v", "w_o"):
        values[name] = trace[name]
    values["real"] = trace["allowed"][:, 0, -1, :]  # (B, S): the last query may attend to all tokens except padding
    return values


def find_most_wrong_cell(trace: Trace, step: str) -> Ref:
    """Find the cell of a step that is farthest from its value recomputed from its operands.

    Infinite differences are ignored.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> trace = EXAMPLES["en_it_causal"].run()
    >>> broken = trace.holding(run_layer(trace, "no_scale"))
    >>> find_most_wrong_cell(broken, "scaled_scores").index  # it and Anna: -6, not -4.24
    (0, 0, 5, 0)
    """
    right = trace.reapply(step)
    gaps = abs_difference(trace[step], right)
    finite_gaps = gaps.masked_fill(gaps.isinf(), 0.0)
    return Ref(step, index_of_largest(finite_gaps))


@dataclass(frozen=True)
class WeightRatio:
    """The ratio of a row's largest weight to its smallest, the ratio's natural logarithm, and the difference of the two
    scores.
    """

    ratio: float
    log: float
    gap: float


def row_ratio(trace: Trace, batch: int, head: int, query: int) -> WeightRatio:
    """Return the ratio of the largest to the smallest weight of a row, its logarithm, and the difference of the two
    scores.

    Only weights above 0 count; if there is none, the ratio is 1, and its logarithm and the difference of scores are 0.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.tensor([[1.0]]), torch.tensor([[2.0], [5.0]]), torch.ones(2, 1))
    >>> found = row_ratio(trace, 0, 0, 0)
    >>> round(found.log, 4), found.gap
    (3.0, 3.0)
    """
    weights = trace["weights"][batch, head, query]  # (S,)
    scores = trace["scores"][batch, head, query]  # (S,)
    is_zero = ~(weights > 0)
    if is_zero.all():
        return WeightRatio(1.0, 0.0, 0.0)
    most = weights.argmax()
    least = weights.masked_fill(is_zero, torch.inf).argmin()
    ratio = weights[most] / weights[least]
    gap = scores[most] - scores[least]
    return WeightRatio(
        ratio.item(),
        log=math.log(ratio.item()),
        gap=gap.item(),
    )
