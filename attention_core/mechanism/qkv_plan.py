"""The plan from the inputs to q, k and v: positions added, projected, cut into heads, turned."""

from collections.abc import Mapping

from attention_core.mechanism.axes import Shapes, head_dims, projected_dims
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.input_steps import Inputs, head_step
from attention_core.mechanism.operations import ADD, PROJECT, SPLIT
from attention_core.mechanism.positions import POSITIONS, positions_at
from attention_core.record.trace import Operation, Step

Plan = list[Operation]


def plan_qkv(
    config: AttentionConfig,
    inputs: Inputs,
    sources: Mapping[str, str],
    shapes: Shapes,
    query_offset: int,
) -> Plan:
    """From the inputs to q, k and v. sources: which input each of them is made of; empty where they are inputs."""
    plan: Plan = []
    for source in dict.fromkeys(sources.values()):  # each input once
        first_position = query_offset if source == "query" else 0
        plan += plan_input_positions(config, inputs[source], shapes, first_position)
    for role, source in sources.items():
        if positions_at(config.positions, "input"):
            source = f"positioned_{source}"
        plan += plan_projection(config, inputs, role, source, shapes)
    plan += plan_head_positions(config, "q", shapes, query_offset)
    plan += plan_head_positions(config, "k", shapes, 0)
    return plan


def plan_projection(config: AttentionConfig, inputs: Inputs, role: str, source: str, shapes: Shapes) -> Plan:
    """One of q, k and v: projected, where there is a weight for it, and cut into heads."""
    plan: Plan = []
    learned = [name for name in (f"w_{role}", f"b_{role}") if name in inputs]
    if learned:
        projection = Operation(
            output=f"{role}_projected",
            dims=projected_dims(role, shapes),
            reads=(source, *learned),
            faces=PROJECT,
        )
        plan.append(projection)
        source = projection.output
    _, heads, _, _ = shapes[role]
    split = Operation(
        output=head_step(config, role),
        dims=head_dims(role, shapes),
        reads=(source,),
        faces=SPLIT,
        params={"heads": heads},
    )
    return [*plan, split]


# ---- positions -------------------------------------------------------------------------------------------------------
def plan_input_positions(config: AttentionConfig, source: Step, shapes: Shapes, first_position: int) -> Plan:
    """An input with the positions that are added to it, if any are chosen; its first row stands at first_position."""
    chosen = positions_at(config.positions, "input")
    if not chosen:
        return []
    _, heads, _, _ = shapes["q"]
    columns = source.value.shape[-1]
    _, length, width = source.dims
    dims = (length, f"{width}_position")  # the columns of a table are frequencies, not what those of x stand for
    plan: Plan = []
    for name, params in chosen.items():
        position = POSITIONS[name]
        fitted = position.fit(params, heads, columns)
        table = Operation(
            output=f"{name}_{source.name}",
            dims=dims,
            reads=(source.name,),
            faces=position.faces,
            params={**fitted, "first_position": first_position},
        )
        plan.append(table)
    tables = [operation.output for operation in plan]
    plan += plan_sum(tables, f"positions_{source.name}", dims)
    total = plan[-1].output
    positioned = Operation(
        output=f"positioned_{source.name}",
        dims=source.dims,
        reads=(source.name, total),
        faces=ADD,
    )
    return [*plan, positioned]


def plan_sum(names: list[str], output: str, dims: tuple[str, ...]) -> Plan:
    """The step `output`, the sum of several of the same shape; nothing where there is only one."""
    plan: Plan = []
    total, *others = names
    for count, name in enumerate(others, 2):
        is_last = count == len(names)
        addition = Operation(
            output=output if is_last else f"{output}_{count}",
            dims=dims,
            reads=(total, name),
            faces=ADD,
        )
        plan.append(addition)
        total = addition.output
    return plan


def plan_head_positions(config: AttentionConfig, role: str, shapes: Shapes, first_position: int) -> Plan:
    """q or k with the positions that act in the heads, if any are chosen; its first row stands at first_position."""
    chosen = positions_at(config.positions, "heads")
    _, heads, _, width = shapes[role]
    plan: Plan = []
    read = f"{role}_heads"
    for count, (name, params) in enumerate(chosen.items(), 1):
        is_last = count == len(chosen)
        position = POSITIONS[name]
        fitted = position.fit(params, heads, width)
        turned = Operation(
            output=role if is_last else f"{role}_{name}",
            dims=head_dims(role, shapes),
            reads=(read,),
            faces=position.faces,
            params={**fitted, "first_position": first_position},
        )
        plan.append(turned)
        read = turned.output
    return plan
