"""Measures how positions affect attention: reordered words without positions, RoPE's rotations, parts of a score."""

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
    """Sample a random order of `count` words, the same on any machine: entry i is the index of the word at position i.

    With two or more words, the order is never the original one. Raises AttentionError if a number is not whole, if the
    seed is below 0, or if the count is below 1.

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
    """Measure how far each word's row of a step moves if the words are put into another order.

    permuted: the run of the reordered words. plain: the run of the words in their original order. order: the index in
    `plain` of the word at each position of `permuted`. step: the name of a step with axes (B, T, width).

    Returns the largest absolute difference of each word, in the order of `plain`; without positions, all are 0 up to
    rounding. Source: Lee et al. 2019, Set Transformer, property 1.

    >>> import torch
    >>> from attention_core import attend
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]).double()
    >>> distance_after_reordering(attend(x[[2, 0, 1]]), attend(x), (2, 0, 1)).max() < 1e-12
    tensor(True)
    """
    words = range(len(order))
    places = sorted(words, key=order.__getitem__)  # position in `permuted` of each word of `plain`
    restored = permuted[step][:, places]  # (B, T, width)
    distances = abs_difference(restored, plain[step])
    return distances.amax((0, 2))  # (B, T, width) -> (T,)


# ---- RoPE: a rotation of pairs ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Rotation:
    """Two components of a query or key as a point in a plane, before and after RoPE rotates it by `angle` radians."""

    before: Point
    after: Point
    angle: float


def rope_rotation(trace: Trace, role: str, index: tuple[int, int, int], pair: int) -> Rotation:
    r"""Return how RoPE rotates one pair of components of a query or key: $R_p$ rotates the pair by
    $p\,/\,base^{2i/d_k}$ radians.

    trace: a run with RoPE. role: "q" or "k". index: batch, head and token; the token is at position p. pair: i, from 0.
    Source: Su et al. 2021, equations 13 and 15.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> found = rope_rotation(attend_qkv(q, q, q, config=AttentionConfig(positions=["rope"])), "q", (0, 0, 1), 0)
    >>> found.before, [round(number, 3) for number in found.after], found.angle  # cos 1, sin 1
    ((1.0, 0.0), [0.54, 0.841], 1.0)
    """
    operation = trace.step(role).operation
    params = operation.params
    width = trace.step(role).shape[-1] if params["columns"] is None else params["columns"]
    columns = pair_columns(pair, width, params["style"])
    vector_before = trace[operation.reads[0]][index]  # (d_k,)
    vector_after = trace[role][index]
    before = [vector_before[column].item() for column in columns]
    after = [vector_after[column].item() for column in columns]
    position = index[-1] + params["first_position"]
    names = ("base", "scaling", "factor", "trained", "pair_factors")
    frequency = rope_frequency(pair, width, **{name: params[name] for name in names})
    return Rotation(
        before=tuple(before),
        after=tuple(after),
        angle=position * frequency,
    )


def with_shifted_positions(trace: Trace, by: int) -> Trace:
    r"""Compute a run again with all its positions shifted by `by`.

    With RoPE the scores stay the same up to rounding, because $(R_m q)^\top R_n k$ depends only on n - m. With ALiBi
    they stay exactly the same, because only distances count. With sinusoids, which are added to the words' vectors, the
    scores change.

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
    """Add `by` to the positions that an operation (RoPE or sinusoidal) uses; return any other operation unchanged."""
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

SCORE_PARTS = ("content", "position")  # the two summands of a token's vector: its content (the word), and its position


def with_score_parts(trace: Trace) -> Trace:
    r"""Split a run's scores into four steps: content_content, content_position, position_content, position_position.

    $(x_i + p_i) W_q W_k^\top (x_j + p_j)^\top$ is $x_i W_q W_k^\top x_j^\top$ (word to word) + $x_i W_q W_k^\top
    p_j^\top$ (word to position) + $p_i W_q W_k^\top x_j^\top$ (position to word) + $p_i W_q W_k^\top p_j^\top$
    (position to position): their sum is `scores`. The biases b_q and b_k belong to the content. The queries and keys of
    content and position (`q_content`, `q_position` and so on) are added as steps too, computed by the run's own
    operations. If the run uses RoPE as well, both are rotated.

    trace: a run of attend with positions that are added to x, such as sinusoidal, and a score that is a product of q
    and k: dot, scaled_dot or general. Raises AttentionError (a ValueError) for another score, KeyError for a run
    without such positions. Source: Dai et al. 2019, Transformer-XL, section 3.3, the terms (a) to (d).

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
    """Return the operation that computes the scores, if it is a product of q and k.

    Raises AttentionError for any other score function.
    """
    step = "computed_scores" if "computed_scores" in trace else "scores"
    operation = trace.step(step).operation
    names = {}
    for name, score in SCORES.items():
        last_operation = score.operations[-1]
        names[last_operation.faces, last_operation.reads[1]] = name  # two scores may share faces
    require_one_of("score", names[operation.faces, operation.reads[1]], ("dot", "scaled_dot", "general"))
    return operation


def plan_score_part(trace: Trace, role: str, part: str) -> list[Operation]:
    """Return the operations that compute q or k only from the words or only from the positions.

    role: the step to compute, a query or a key. part: "content" for the words, "position" for the positions.
    """
    chain, positioned = find_chain(trace, role)
    source = positioned.removeprefix("positioned_")
    operations = []
    read = source
    if part == "position":
        read = f"{source}_position"
        alone = Operation(
            read,
            dims=trace.step(source).dims,
            reads=trace.step(positioned).operation.reads,  # the step of the input, and the step of its position table
            faces=POSITIONS_ALONE,
        )
        operations.append(alone)
    for operation in chain:
        weights = operation.reads[1:]
        if part == "position":  # the biases b_q and b_k belong to the content
            weights = [weight for weight in weights if not weight.startswith("b_")]
        output = f"{operation.output}_{part}"
        operations.append(replace(operation, output=output, reads=(read, *weights)))
        read = output
    return operations


def find_chain(trace: Trace, role: str) -> tuple[list[Operation], str]:
    """Return the operations that lead from an input with added positions to q or k, and the name of that input's step.

    The operations are in the order of computation. Raises KeyError if q or k is computed from an input without
    positions.
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
    r"""Compute the scores of a vector with itself 0, 1, 2, ... positions away, to show the effect of distance alone.

    With RoPE the score is $q^\top R_n q = \sum_i |q_i|^2 \cos(n \theta_i)$ over the pairs i of components, and at
    distance 0 the score is the sum of their squared lengths. With ALiBi the score falls by $m_h n$. Without positions
    all scores are equal.

    vector: (d,), used as the query at position 0 and as every key. distances: the number of keys, at positions 0, 1,
    ... config: the positions (rope, alibi), score, scale and number of heads, each of which gets the whole vector; it
    must have no masks. Returns a run, T = 1, S = distances, labelled with the distances. Raises AttentionError (a
    ValueError) as attend_qkv does. Source: Su et al. 2021, equation 16 and section 3.4.3 (long-term decay); Press et
    al. 2022, section 3.

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
