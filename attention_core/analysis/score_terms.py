"""The effect of positions on a score: its terms of words and of positions, and its change with distance alone."""

from dataclasses import replace
from itertools import product

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.mechanism.scores import SCORE_DIMS, SCORES
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Trace


# ---- alone: the positions of every sentence without its words --------------------------------------------------------
def positions_alone(x: Float[Tensor, "B T D"], table: Float[Tensor, "T D"]) -> Float[Tensor, "B T D"]:
    return table.expand_as(x)  # (T, D) -> (B, T, D)


def positions_alone_numpy(x, table):
    return np.broadcast_to(table, x.shape)


def positions_alone_formula(x, table):
    return table


def positions_alone_cell(index, x: Operand, table: Operand) -> Cell:
    _, t, column = index
    return Cell(((table[t, column],),))


POSITIONS_ALONE = Faces(positions_alone, positions_alone_numpy, positions_alone_formula, positions_alone_cell)

SCORE_PARTS = ("content", "position")  # of words, of positions


def with_score_parts(trace: Trace) -> Trace:
    r"""Add the four parts of a run's scores: content_content, content_position, position_content, position_position.

    $(x_i + p_i) W_q W_k^\top (x_j + p_j)^\top$ is $x_i W_q W_k^\top x_j^\top$ (word to word) + $x_i W_q W_k^\top
    p_j^\top$ (word to place) + $p_i W_q W_k^\top x_j^\top$ (place to word) + $p_i W_q W_k^\top p_j^\top$ (place to
    place): their sum is `scores`. The biases b_q and b_k belong to the content. Before the parts come their q and k
    (`q_content`, `q_position` and so on), by the run's own operations; RoPE, if it is chosen too, turns both.

    trace: a run of attend with positions that are added to x, such as sinusoidal, and a score that is a product of q
    and k: dot, scaled_dot or general. Raises AttentionError (a ValueError) for another score, KeyError for a run
    without these positions. Source: Dai et al. 2019, Transformer-XL, section 3.3, the terms (a) to (d).

    >>> import torch
    >>> from attention_core import attend
    >>> trace = with_score_parts(attend(torch.eye(3).double(), config=AttentionConfig(positions=["sinusoidal"])))
    >>> parts = [f"{one}_{other}" for one in SCORE_PARTS for other in SCORE_PARTS]
    >>> torch.allclose(sum(trace[part] for part in parts), trace["scores"])
    True
    """
    score = score_operation(trace)
    q, k, *own = score.reads
    for role in (q, k):
        for part in SCORE_PARTS:
            operations = plan_score_part(trace, role, part)
            new = [operation for operation in operations if operation.output not in trace]
            trace = trace.then(*new)
    for one, other in product(SCORE_PARTS, repeat=2):
        operation = replace(
            score,
            output=f"{one}_{other}",
            dims=SCORE_DIMS,
            reads=(f"{q}_{one}", f"{k}_{other}", *own),
        )
        trace = trace.then(operation)
    return trace


def score_operation(trace: Trace) -> Operation:
    """Return the operation that computes the scores. Raises AttentionError if they are no product of q and k."""
    step = "computed_scores" if "computed_scores" in trace else "scores"
    operation = trace.step(step).operation
    names = {}
    for name, score in SCORES.items():
        last_operation = score.operations[-1]
        names[last_operation.faces, last_operation.reads[1]] = name  # faces alone do not identify a score
    require_one_of("score", names[operation.faces, operation.reads[1]], ("dot", "scaled_dot", "general"))
    return operation


def plan_score_part(trace: Trace, role: str, part: str) -> list[Operation]:
    """Return the operations that compute q or k once more from an input, from its words or its positions alone."""
    chain, positioned = find_chain(trace, role)
    source = positioned.removeprefix("positioned_")
    operations = []
    read = source
    if part == "position":
        read = f"{source}_position"
        alone = Operation(
            read,
            dims=trace.step(source).dims,
            reads=trace.step(positioned).operation.reads,  # the input and its table of positions
            faces=POSITIONS_ALONE,
        )
        operations.append(alone)
    for operation in chain:
        weights = operation.reads[1:]
        if part == "position":  # the biases belong to the content
            weights = [weight for weight in weights if not weight.startswith("b_")]
        output = f"{operation.output}_{part}"
        operations.append(replace(operation, output=output, reads=(read, *weights)))
        read = output
    return operations


def find_chain(trace: Trace, role: str) -> tuple[list[Operation], str]:
    """Return the operations from an input with its positions to q or k, in order, and the name of the input's step.

    Raises KeyError if the chain ends at an input that has no positions.
    """
    chain = []
    name = role
    while not name.startswith("positioned_"):
        operation = trace.step(name).operation
        if operation is None:
            raise KeyError(f"there is no step 'positioned_{name}': the steps are {', '.join(trace.steps)}")
        chain.insert(0, operation)
        name = operation.reads[0]
    return chain, name


# ---- the effect of distance alone ------------------------------------------------------------------------------------
def score_by_distance(vector: Float[Tensor, " d"], distances: int, config: AttentionConfig) -> Trace:
    r"""Compute the scores of a vector with itself 0, 1, 2, ... positions away: the effect of distance alone.

    With RoPE $q^\top R_n q = \sum_i |q_i|^2 \cos(n \theta_i)$ over the pairs i, whose length at distance 0 is the whole
    score; with ALiBi the score less $m_h n$. Without positions all scores are equal.

    vector: (d,), the query, at position 0, and each key. distances: the number of keys, at 0, 1, ... config: its
    positions (rope, alibi), score, scale and heads, of which each gets the vector; without masks. Returns a run, T = 1,
    S = distances, labelled with the distances. Raises AttentionError (a ValueError) as attend_qkv does. Source: Su et
    al. 2021, equation 16 and section 3.4.3 (long-term decay); Press et al. 2022, section 3.

    >>> import torch
    >>> rope = AttentionConfig(score="dot", positions=["rope"])
    >>> score_by_distance(torch.tensor([1.0, 0.0]), 3, rope)["scores"].flatten()  # cos 0, cos 1, cos 2
    tensor([ 1.0000,  0.5403, -0.4161])
    """
    require_positive("distances", distances)
    keys = vector.expand(1, config.heads, distances, len(vector))  # (d,) -> (1, H, S, d)
    query = keys[:, :, :1]  # (1, H, 1, d)
    trace = attend_qkv(query, keys, keys, config=config)
    words = tuple(str(distance) for distance in range(distances))
    return trace.labelled(S=words)
