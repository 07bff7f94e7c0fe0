"""Plausible wrong layers that really run: one line of a right one written as people write it wrongly.

Every line is a function of its own, whose parameters are what it reads; what is shown is what it returns.
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
from attention_core.mechanism.config import require_one_of
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

Heads = Float[Tensor, "B H T d"]
Pairs = Float[Tensor, "B H T S"]
MaskTensor = Bool[Tensor, "#B 1 #T S"]


# ---- self-attention as a class often has it, a line a step -----------------------------------------------------------
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


# ---- the same lines written wrongly ----------------------------------------------------------------------------------
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


# ---- the tables ------------------------------------------------------------------------------------------------------
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


@dataclass(frozen=True)
class Bug:
    """One line written otherwise. code: its cause, of hypotheses.SENTENCES; line: which, of LAYER; wrong: what it is;
    padded: in a batch with padding, not under a causal mask."""

    code: str
    line: str
    wrong: LayerLine
    padded: bool = False


BUGS = (  # from easy to hard
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
    """The lines as they should be, by the names of what they make."""
    return {**LAYER_LINES, "allowed": padding_line if bug is not None and bug.padded else causal_line}


def layer_lines(bug: Bug | None = None) -> dict[str, LayerLine]:
    """The lines as they are: with a bug, one of them is another one."""
    return right_lines() if bug is None else right_lines(bug) | {bug.line: bug.wrong}


@cache
def format_line(name: str, line: LayerLine) -> str:
    """A line as it is written: what it makes, and what it returns.

    >>> format_line("scores", scores_line)
    'scores = q @ k.transpose(-2, -1)'
    """
    function = ast.parse(textwrap.dedent(inspect.getsource(line))).body[0]
    return f"{name} = {ast.unparse(function.body[-1].value)}"


def run_layer(trace: Trace, code: str | None = None) -> dict[str, Tensor]:
    """Every step that the layer makes of a run's inputs, by the names of the trace; with a bug, what that one makes.

    trace: a run of self-attention with w_q, w_k, w_v, w_o and no biases, under a causal mask or one of padding. code: a
    bug's, of BY_CODE, whose `padded` says under which; None: the layer as it should be, under a causal mask.

    Raises AttentionError: unknown_choice.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> trace = EXAMPLES["en_it_causal"].run()
    >>> bool((run_layer(trace)["weights"] - trace["weights"]).abs().max() < 1e-12)
    True
    >>> run_layer(trace, "no_scale")["scores"].shape
    torch.Size([1, 2, 7, 7])
    """
    bug = None if code is None else BUG_BY_CODE[require_one_of("code", code, tuple(BUG_BY_CODE))]
    B, T, _ = trace["x"].shape
    values: dict[str, object] = {name: trace[name] for name in ("x", "w_q", "w_k", "w_v", "w_o")}
    values |= {"B": B, "T": T, "heads": trace.sizes()["H"]}
    values["real"] = trace["allowed"][:, 0, -1, :]  # (B, S): the last query may attend to all tokens that are real
    for name, line in layer_lines(bug).items():
        values[name] = line(**{read: values[read] for read in inspect.signature(line).parameters})
    return {name: values[name] for name in LAYER_STEPS}


def with_step_reapplied(trace: Trace, step: str) -> Trace:
    """A run of somebody's numbers, with one step as it follows from those before it.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> trace = EXAMPLES["en_it_causal"].run()
    >>> broken = trace.holding(run_layer(trace, "no_scale"))
    >>> mended = with_step_reapplied(broken, "scaled_scores")
    >>> bool((mended["scaled_scores"] - trace["scaled_scores"]).abs().max() < 1e-12)
    True
    """
    return trace.holding({step: trace.reapply(step)})


def find_most_wrong_cell(trace: Trace, step: str) -> Ref:
    """The cell of a step that lies farthest from what the numbers before it give; cells that are no numbers are left
    out.

    >>> from attention_core.examples.examples import EXAMPLES
    >>> trace = EXAMPLES["en_it_causal"].run()
    >>> broken = trace.holding(run_layer(trace, "no_scale"))
    >>> find_most_wrong_cell(broken, "scaled_scores").index  # it and Anna: -6, not -4.24
    (0, 0, 5, 0)
    """
    gaps = abs_difference(trace[step], trace.reapply(step))
    return Ref(step, index_of_largest(gaps.masked_fill(gaps.isinf(), 0.0)))


@dataclass(frozen=True)
class WeightRatio:
    """How many times the smallest weight of a row the largest is, ln of it, and the gap of their scores."""

    ratio: float
    log: float
    gap: float


def row_ratio(trace: Trace, batch: int, head: int, query: int) -> WeightRatio:
    """What a ratio of weights tells: ln of it is the difference of the numbers that went into the softmax.

    Of the weights above 0; all numbers are 0, and the ratio 1, where there is none.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.tensor([[1.0]]), torch.tensor([[2.0], [5.0]]), torch.ones(2, 1))
    >>> found = row_ratio(trace, 0, 0, 0)
    >>> round(found.log, 4), found.gap
    (3.0, 3.0)
    """
    row, scores = trace["weights"][batch, head, query], trace["scores"][batch, head, query]
    real = row > 0
    if not real.any():
        return WeightRatio(1.0, 0.0, 0.0)
    most, least = int(row.argmax()), int(row.masked_fill(~real, torch.inf).argmin())
    ratio = (row[most] / row[least]).item()
    return WeightRatio(ratio, math.log(ratio), (scores[most] - scores[least]).item())
