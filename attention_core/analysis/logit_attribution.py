"""Computes how each layer of a stack changes the logits of the next word, by the logit lens and by direct logit
attribution.

A head adds a weighted sum of the attended words' values, multiplied by its rows of W_o. So what it adds to a logit is a
sum over the attended words, too (Elhage et al. 2021, A Mathematical Framework for Transformer Circuits, "OV circuit").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_contributions import CONTRIBUTE
from attention_core.analysis.parts_of_sum import DIVIDE_PARTS, ROOT_MEAN_SQUARE
from attention_core.analysis.residual_sum import NORMED_OUTPUT, OUTPUT_NORMS, SumPlan, check_words, own_name, read_norm
from attention_core.mechanism.norms import CENTRE, LAYER_NORM, RMS_NORM
from attention_core.mechanism.plan import run_plan
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand, product_cell
from attention_core.record.trace import Faces, Operation, Step, Trace
from attention_core.transformer.stack import ENCODER, UNEMBEDDING, Stack

WORD_PUSHES = "word_pushes"


def logit_lens(stack: Stack) -> dict[str, Trace]:
    r"""Return {name of a part: a Trace of its words' probabilities}, for which the unembedding reads the vectors after
    that part.

    $\mathrm{softmax}_V(\mathrm{norm}(x_l)\,E^\top)$ with the stack's own last norm and unembedding table.

    stack: one with an unembedding; if it has an encoder, only the decoder's parts count. Raises AttentionError (a
    ValueError) for a stack without an unembedding. Source: nostalgebraist 2020, interpreting GPT: the logit lens.
    """
    return {name: read_as_words(stack[UNEMBEDDING], stack[name]) for name in lens_parts(stack)}


def lens_parts(stack: Stack) -> list[str]:
    """Return the names of the parts after which the logit lens reads the vectors. Raises AttentionError as logit_lens
    does.
    """
    if UNEMBEDDING not in stack.parts:
        raise AttentionError("part_missing", name="the logit lens", part=UNEMBEDDING, choices=", ".join(stack.parts))
    names = list(stack.parts)
    before = names[: names.index(UNEMBEDDING)]
    return [name for name in before if not name.startswith(ENCODER)]


def read_as_words(unembedding: Trace, part: Trace) -> Trace:
    """Compute the logits of the next word from the last step of a part, such as an attention layer, by the
    unembedding."""
    last = part.steps[next(reversed(part.steps))]
    inputs = {**unembedding.inputs(), "x": Step("x", last.value, ("B", "T", "D"))}
    operations = [step.operation for step in unembedding.computed().values()]
    return run_plan(inputs, operations)


# ---- whole parts: heads and biases together --------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class WholePart:
    """A part of a stack, such as an attention layer, and what it adds in total to the vector of one word.

    members: the indices of its summands (heads, biases) in the stack's residual and logit sums. added: the sum of these
    summands. push: what `added` adds to the logit of one word.
    """

    name: str
    members: tuple[int, ...]
    added: Float[Tensor, " D"]
    push: float


def name_whole_part(label: str) -> str:
    """Return the name of the part, such as "1.attention", to which a summand of the residual stream (a head, a bias)
    belongs.

    >>> [name_whole_part(label) for label in ("embedding.positions", "1.attention.head_1", "1.feed_forward")]
    ['embedding', '1.attention', '1.feed_forward']
    """
    first, *others = label.split(".")
    return f"{first}.{others[0]}" if first.isdigit() else first


def whole_parts(stack: Stack, at: int, word: int) -> list[WholePart]:
    r"""Sum what each part of a stack adds to the vector of one word, and its direct logit attribution.

    $\mathrm{push} = \sum_{m \in \mathrm{part}} \mathrm{push}_m$; the pushes of all parts sum to the logit.

    stack: one with the parts that with_residual_sum and with_logit_sum add. at: the position of the word. word: the row
    of the unembedding table whose logit is attributed; if with_logit_sum was given words, the place among them. Source:
    Elhage et al. 2021, "logit attribution".

    >>> from attention_core.learned.language.readout import sum_model
    >>> parts = whole_parts(sum_model("en_asked_decoder", ("<start>", "the", "dog")), at=2, word=7)
    >>> [part.name for part in parts][:3]
    ['embedding', '1.attention', '1.feed_forward']
    """
    sums, logits = stack["residual_sum"], stack["logit_sum"]
    found = []
    labels = sums.labels["part"]
    for name, members in groupby(range(len(labels)), key=lambda member: name_whole_part(labels[member])):
        rows = list(members)
        added = sums["parts"][rows, 0, at].sum(0)  # (members, D) -> (D,)
        push = logits["pushes"][rows, 0, at, word].sum()
        found.append(WholePart(name, tuple(rows), added, float(push)))
    return found


def pushes_by_kind(parts: Sequence[WholePart]) -> dict[str, float]:
    """Sum the direct logit attributions over all layers, by kind of part: "embedding", "attention" and so on.

    parts: the parts of one stack, from whole_parts.
    """
    found: dict[str, float] = {}
    for part in parts:
        kind = part.name.rpartition(".")[2]
        found[kind] = found.get(kind, 0.0) + part.push
    return found


# ---- aim: the direction that raises the logit of a word, before the norm divides -------------------------------------
def aim_at(gain: Float[Tensor, " D"], table: Float[Tensor, "V D"], *, word: int) -> Float[Tensor, " D"]:
    return gain * table[word]


def aim_at_numpy(gain, table, *, word):
    return np.multiply(table[word], gain)


def aim_at_formula(gain, table, *, word):
    return rf"{gain} \odot {table}_{{{word}}}"


def aim_at_cell(index, gain: Operand, table: Operand, *, word) -> Cell:
    (m,) = index
    return product_cell(gain[m], table[word, m])


AIM_AT = Faces(aim_at, aim_at_numpy, aim_at_formula, aim_at_cell, sign="⊙ E")


# ---- carry: how far what a head would write of each word lies in that direction --------------------------------------
def carry(written: Float[Tensor, "B H S D"], aim: Float[Tensor, " D"]) -> Float[Tensor, "B H S"]:
    return written @ aim  # (B, H, S, D) x (D) -> (B, H, S)


def carry_numpy(written, aim):
    return np.einsum("bhsd,d->bhs", written, aim)


def carry_formula(written, aim):
    return rf"{written} \cdot {aim}"


def carry_cell(index, written: Operand, aim: Operand) -> Cell:
    terms = []
    for m in range(aim.shape[0]):
        terms.append((written[(*index, m)], aim[m]))
    return Cell(tuple(terms))


CARRY = Faces(carry, carry_numpy, carry_formula, carry_cell, sign="· aim", motion="match")


# ---- push: that times the weight, over the root of the last norm -----------------------------------------------------
def push_by_word(
    weights: Float[Tensor, "B H T S"], carried: Float[Tensor, "B H S"], root: Float[Tensor, "B T"]
) -> Float[Tensor, "B H T S"]:
    pushed = weights * carried.unsqueeze(2)  # (B, H, T, S) x (B, H, 1, S)
    return pushed / root[:, None, :, None]  # (B, 1, T, 1)


def push_by_word_numpy(weights, carried, root):
    return np.einsum("bhts,bhs,bt->bhts", weights, carried, 1 / root)


def push_by_word_formula(weights, carried, root):
    return rf"\dfrac{{{weights} \odot {carried}}}{{{root}}}"


def push_by_word_cell(index, weights: Operand, carried: Operand, root: Operand) -> Cell:
    b, h, t, s = index
    return Cell(((weights[index], carried[b, h, s]), (root[b, t],)), function="quotient")


PUSH_BY_WORD = Faces(
    push_by_word, push_by_word_numpy, push_by_word_formula, push_by_word_cell, sign="· w", motion="add"
)


# ---- appended to a stack ---------------------------------------------------------------------------------------------
def with_word_pushes(stack: Stack, word: int) -> Stack:
    r"""Add the part "word_pushes" to a stack: what each head adds to a logit, split by attended word.

    $\mathrm{push}_{h,t,s} = A_{h,t,s}\,\dfrac{(v_{h,s} W_{o,h}) \cdot (g \odot E_w)}{\mathrm{rms}(x_t)}$. Its sum over
    s is the push of head h at t, as in with_logit_sum. For a LayerNorm the mean of $g \odot E_w$ is taken away, which
    is the same as taking the mean of each $v_{h,s} W_{o,h}$ away, and rms is that of $x_t$ without its mean.

    stack: a run with an unembedding after one norm, whose other norms come before layers. word: the table row of the
    word w whose logit is attributed.

    Its steps `attention_1_pushes` and so on are (B, H, T, S), one per layer. Raises AttentionError (a ValueError) for
    an unknown word, a stack without an unembedding, and a stack in which a head's push is not a sum over attended
    words. Source: Elhage et al. 2021.

    >>> from attention_core.learned.language.reading import run_model
    >>> stack = run_model("en_asked_decoder", ("<start>", "the", "dog"))
    >>> with_word_pushes(stack, word=7)["word_pushes"]["attention_1_pushes"].shape
    torch.Size([1, 4, 3, 3])
    """
    check_stack(stack, word)
    (norm,) = last_norms(stack)
    plan, root = plan_root(stack, norm)
    reading = read_norm(stack[UNEMBEDDING], norm)
    plan = plan.reading(stack, UNEMBEDDING, reading.gain, "table")
    reads = (own_name(UNEMBEDDING, reading.gain), own_name(UNEMBEDDING, "table"))
    plan, aim = plan.then(Operation("aim", ("D",), reads, AIM_AT, {"word": word})), "aim"
    if reading.is_centred:
        plan, aim = plan.then(Operation("aim_centred", ("D",), ("aim",), CENTRE)), "aim_centred"
    for part in attention_parts(stack):
        plan = push_of_layer(plan, stack, part, aim, root)
    inputs = {name: Step(name, reading.value, plan.dims[name]) for name, reading in plan.reads.items()}
    words = stack[UNEMBEDDING].labels.get("T")
    trace = run_plan(inputs, list(plan.operations))
    return stack.then(WORD_PUSHES, trace.labelled(T=words, S=words) if words else trace, plan.reads)


def plan_root(stack: Stack, norm: Step) -> tuple[SumPlan, str]:
    """Return the SumPlan with the divisor of the last norm, computed or fixed, and the name of the divisor's step."""
    normed, *reads = norm.operation.reads
    if norm.operation.faces is DIVIDE_PARTS:
        held, _ = reads
        return SumPlan().reading(stack, UNEMBEDDING, held), own_name(UNEMBEDDING, held)
    plan = SumPlan().reading(stack, UNEMBEDDING, normed)
    reads_root = (own_name(UNEMBEDDING, normed),)
    return plan.then(Operation("root", ("B", "T"), reads_root, ROOT_MEAN_SQUARE, norm.operation.params)), "root"


def push_of_layer(plan: SumPlan, stack: Stack, part: str, aim: str, root: str) -> SumPlan:
    """Add to the plan the operations that compute, for one layer, what each head adds to the logit from each attended
    word.

    aim: the step that has the direction of the word. root: the step that has the divisor of the last norm.
    """
    plan = plan.reading(stack, part, "v", "w_o", "weights")
    names = {step: own_name(part, step) for step in ("v", "w_o", "weights", "written", "carried", "pushes")}
    return plan.then(
        Operation(names["written"], ("B", "H", "S", "D"), (names["v"], names["w_o"]), CONTRIBUTE),
        Operation(names["carried"], ("B", "H", "S"), (names["written"], aim), CARRY),
        Operation(names["pushes"], SCORE_DIMS, (names["weights"], names["carried"], root), PUSH_BY_WORD),
    )


def attention_parts(stack: Stack) -> list[str]:
    """Return the names of the self-attention parts of a stack."""
    return [part for part in stack.parts if part.endswith(".attention")]


def last_norms(stack: Stack) -> list[Step]:
    """Return the steps of the unembedding that are norms."""
    steps = stack[UNEMBEDDING].computed().values()
    return [step for step in steps if step.operation.faces in (RMS_NORM, LAYER_NORM, DIVIDE_PARTS)]


# ---- checks ----------------------------------------------------------------------------------------------------------
def check_stack(stack: Stack, word: int) -> None:
    """Check that what each head of the stack adds to a logit is a sum over the attended words.

    Raises AttentionError: part_missing, unknown_choice, no_word_sum.
    """
    if UNEMBEDDING not in stack.parts:
        choices = ", ".join(stack.parts)
        raise AttentionError("part_missing", name="the push of each word", part=UNEMBEDDING, choices=choices)
    check_words(stack, [word])
    if len(last_norms(stack)) != 1:
        raise AttentionError("no_word_sum", part=UNEMBEDDING)
    for part, trace in stack.parts.items():
        if any(norm in trace for norm in (NORMED_OUTPUT, *OUTPUT_NORMS)):
            raise AttentionError("no_word_sum", part=part)
        if part.endswith(".attention") and not adds_words(trace):
            raise AttentionError("no_word_sum", part=part)


def splits_by_word(stack: Stack) -> bool:
    """Return whether what each head of a stack with an unembedding adds to a logit is a sum over the attended words."""
    try:
        check_stack(stack, word=0)
    except AttentionError:
        return False
    return True


def adds_words(trace: Trace) -> bool:
    """Return whether a layer's output is weights times values times W_o."""
    reads = trace.step("concat").operation.reads
    return "w_o" in trace and reads == ("head_outputs",)
