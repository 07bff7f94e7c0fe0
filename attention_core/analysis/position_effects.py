"""The effect of positions: none on attention without them, RoPE's rotations and shifts, and the terms of a score."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.plain_checks import require_not_negative, require_one_of, require_positive, require_whole
from attention_core.mechanism.positions import ROPE, SINUSOIDAL, pair_columns, rope_frequency
from attention_core.mechanism.scores import SCORE_DIMS, SCORES
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Trace

Point = tuple[float, float]


# ---- no positions: the same words in another order -------------------------------------------------------------------
def shuffle_order(count: int, seed: int) -> tuple[int, ...]:
    """Sample a shuffle of `count` words: which word is at each position; the same on any machine.

    Two or more words never keep their order. Raises AttentionError for numbers that are not whole, a seed below 0 and a
    count below 1.

    >>> shuffle_order(5, seed=1)
    (4, 0, 1, 2, 3)
    """
    generator = np.random.default_rng(require_not_negative("seed", seed))
    order = generator.permutation(require_positive("count", count)).tolist()
    if order == sorted(order):
        order = order[1:] + order[:1]
    return tuple(order)


def distance_after_reordering(
    permuted: Trace, plain: Trace, order: tuple[int, ...], step: str = "output"
) -> Float[Tensor, " T"]:
    """Measure how far each word's numbers move if the words are put into another order.

    permuted: the run of the words in that order. plain: the run of the words in the first order. order: which word
    is at each position. step: one with axes (B, T, width).

    Returns the largest difference of each word, at its position in `plain`: all 0, up to rounding, for attention
    without positions. Source: Lee et al. 2019, Set Transformer, property 1.

    >>> import torch
    >>> from attention_core import attend
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]).double()
    >>> distance_after_reordering(attend(x[[2, 0, 1]]), attend(x), (2, 0, 1)).max() < 1e-12
    tensor(True)
    """
    words = range(len(order))
    places = sorted(words, key=order.__getitem__)  # the position of each word of `plain` now
    restored = permuted[step][:, places]  # (B, T, width)
    distances = abs_difference(restored, plain[step])
    return distances.amax((0, 2))  # (B, T, width) -> (T,)


# ---- RoPE: a rotation of pairs ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Rotation:
    """Two numbers of q or k as a point of a plane, before and after its rotation; `angle` is in radians."""

    before: Point
    after: Point
    angle: float


def rope_rotation(trace: Trace, role: str, index: tuple[int, int, int], pair: int) -> Rotation:
    r"""Return RoPE's rotation of one pair of a query or a key: $R_p$ turns it by $p\,/\,base^{2i/d_k}$.

    trace: a run with RoPE. role: "q" or "k". index: batch, head and token. pair: i, from 0. Source: Su et al. 2021,
    equations 13 and 15.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> found = rope_rotation(attend_qkv(q, q, q, config=AttentionConfig(positions=["rope"])), "q", (0, 0, 1), 0)
    >>> found.before, [round(number, 3) for number in found.after], found.angle  # cos 1, sin 1
    ((1.0, 0.0), [0.54, 0.841], 1.0)
    """
    operation = trace.step(role).operation
    params = operation.params
    width = trace.step(role).shape[-1]
    columns = pair_columns(pair, width, params["style"])
    vector_before = trace[operation.reads[0]][index]  # (d_k,)
    vector_after = trace[role][index]
    before = [vector_before[column].item() for column in columns]
    after = [vector_after[column].item() for column in columns]
    position = index[-1] + params["first_position"]
    frequency = rope_frequency(pair, width, **{name: params[name] for name in ("base", "scaling", "factor", "trained")})
    return Rotation(
        before=tuple(before),
        after=tuple(after),
        angle=position * frequency,
    )


def with_shifted_positions(trace: Trace, by: int) -> Trace:
    r"""Compute a run again with all its positions shifted by `by`.

    Scores with RoPE stay the same up to rounding, since $(R_m q)^\top R_n k$ depends on n - m alone; with ALiBi
    they stay exactly, since only distances count; with sinusoids, which are added to the words, they move.

    trace: any run. by: a whole number, which may be below 0. Raises AttentionError (a ValueError) if `by` is not whole.
    Source: Su et al. 2021, equation 16.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).double()
    >>> trace = attend_qkv(q, q, q, config=AttentionConfig(positions=["rope"]))
    >>> further = with_shifted_positions(trace, 7)
    >>> torch.equal(further["q"], trace["q"]), torch.allclose(further["scores"], trace["scores"])
    (False, True)
    """
    require_whole("by", by)
    steps = {}
    values = {}
    for name, step in trace.steps.items():
        if step.operation is None:
            values[name] = step.value
            steps[name] = step
            continue
        operation = shift_operation(step.operation, by)
        values[name] = operation.apply(values)
        steps[name] = replace(step, value=values[name], operation=operation)
    return replace(trace, steps=steps)


def shift_operation(operation: Operation, by: int) -> Operation:
    """Return an operation that uses positions (RoPE, sinusoidal) with its positions shifted; any other unchanged."""
    if operation.faces not in (ROPE, SINUSOIDAL):
        return operation
    first_position = operation.params["first_position"] + by
    params = {**operation.params, "first_position": first_position}
    return replace(operation, params=params)


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
