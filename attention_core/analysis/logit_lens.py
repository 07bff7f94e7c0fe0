"""The logit lens: which words a stack would predict after each of its parts, if it ended there."""

from attention_core.mechanism.plan import run_plan
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from attention_core.transformer.stack import ENCODER, UNEMBEDDING, Stack


def logit_lens(stack: Stack) -> dict[str, Trace]:
    r"""Return the unembedding of the vectors after each part, as if they were the last, by the part's name.

    $\mathrm{softmax}_V(\mathrm{norm}(x_l)\,E^\top)$ with the stack's own last norm and table.

    stack: one with an unembedding; of one with an encoder, the decoder's parts. Raises AttentionError (a ValueError)
    for a stack without an unembedding. Source: nostalgebraist 2020, interpreting GPT: the logit lens.
    """
    if UNEMBEDDING not in stack.parts:
        raise AttentionError("part_missing", name="the logit lens", part=UNEMBEDDING, choices=", ".join(stack.parts))
    names = list(stack.parts)
    before = names[: names.index(UNEMBEDDING)]
    parts = [name for name in before if not name.startswith(ENCODER)]
    return {name: read_as_words(stack[UNEMBEDDING], stack[name]) for name in parts}


def read_as_words(unembedding: Trace, part: Trace) -> Trace:
    """Run the unembedding's operations on the output of a part."""
    last = part.steps[next(reversed(part.steps))]
    inputs = {**unembedding.inputs(), "x": Step("x", last.value, ("B", "T", "D"))}
    operations = [step.operation for step in unembedding.computed().values()]
    return run_plan(inputs, operations)
