"""Lists the stages of a worked example: the steps of a run that a visitor calculates by hand, in order, and their
operands.
"""

from collections.abc import Mapping
from types import MappingProxyType

from attention_core.explanation.formula import NO_NAMES, SYMBOL_COLOURS, symbol
from attention_core.explanation.shown_steps import copies_numbers, steps_copied
from attention_core.mechanism.operations import MASK, SPLIT
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

STAGES = MappingProxyType(  # stage of the calculation -> the step of the run that computes it; the stages are in order
    {
        "q": "q_projected",
        "k": "k_projected",
        "v": "v_projected",
        "scores": "scores",
        "scaled_scores": "scaled_scores",
        "weights": "weights",
        "output": "head_outputs",
    }
)


def stages_of(trace: Trace) -> dict[str, str]:
    """List the steps of a run that are calculated by hand, in order, as {step: step}, the form of STAGES.

    Masks, tables of positions and copies are no stages.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> [*stages_of(attend_qkv(*3 * [torch.eye(2)], config=AttentionConfig(masks=["causal"])))]
    ['scores', 'scaled_scores', 'weights', 'head_outputs']
    """
    stages = {}
    for name, step in trace.computed().items():
        is_mask = not step.value.is_floating_point()
        is_table = "B" not in step.dims
        is_masking = step.operation.faces == MASK
        if not (is_mask or is_table or is_masking or copies_numbers(trace, name)):
            stages[name] = name
    return stages


def calculated_cell(trace: Trace, cell: Ref) -> Ref:
    """Return the cell from which a copied cell has its number; a cell that is no copy is returned unchanged.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> trace = attend(torch.eye(2), weights=Weights(w_q=torch.eye(2)))
    >>> calculated_cell(trace, Ref("q", (0, 0, 1, 0))), calculated_cell(trace, Ref("scores", (0, 0, 1, 0)))
    (Ref(step='q_projected', index=(0, 1, 0)), Ref(step='scores', index=(0, 0, 1, 0)))
    """
    operation = trace.step(cell.step).operation
    if operation is None or operation.faces != SPLIT:
        return cell
    (source,) = trace.read_by(cell)
    return source


def operand_stages(trace: Trace, step: str) -> list[str]:
    """List the operands to show beside a step that is calculated by hand; a copy is replaced by the step that it
    copies.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> operand_stages(attend(torch.eye(2), weights=Weights(w_q=torch.eye(2))), "scores")
    ['q_projected', 'x']
    """
    stages = []
    for name in trace.step(step).operation.reads[:2]:
        if trace[name].is_floating_point():
            stages.append(steps_copied(trace, name)[-1])
    return stages


def stage_formula(
    trace: Trace, step: str, colours: Mapping[str, str] = SYMBOL_COLOURS, names: Mapping[str, str] = NO_NAMES
) -> str:
    r"""Write the LaTeX formula of a stage of the calculation with its operands' names; q, k and v stay single letters.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> stage_formula(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "weights", {})
    '\\mathrm{weights} = \\mathrm{softmax}_S(\\mathrm{scaled\\_scores})'
    """

    def write_operand(name: str) -> str:
        operation = trace.step(name).operation
        has_letter = operation is None or operation.faces == SPLIT
        if not has_letter:
            name = steps_copied(trace, name)[-1]
        return symbol(name, colours, names)

    left = symbol(step, colours, names)
    operation = trace.step(step).operation
    right = operation.formula(write_operand)
    return f"{left} = {right}"
