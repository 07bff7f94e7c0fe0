"""The arguments of a run as steps: each with its value and the names of its axes, none with an operation."""

from collections.abc import Mapping

from attention_core.mechanism.arguments import Arguments
from attention_core.mechanism.axes import Shapes, head_dims, input_dims, projected_dims
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.positions import positions_at
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.trace import Step

Inputs = dict[str, Step]


def make_input_steps(arguments: Arguments, config: AttentionConfig) -> Inputs:
    """The inputs, the weights, and what is given about pairs of tokens, as steps in this order."""
    shapes = arguments.shapes
    widths = {name: tensor.shape[-1] for name, tensor in arguments.inputs.items()}
    steps: Inputs = {}
    for name, tensor in arguments.inputs.items():
        if name in shapes:  # q, k and v are given themselves
            dims = head_dims(name, shapes)
            name = head_step(config, name)
        else:
            dims = input_dims(name, widths)
        steps[name] = Step(name, tensor, dims)
    dims_of_weights = weight_dims(shapes, arguments.sources, widths)
    for name, tensor in arguments.weights.given().items():
        dims = dims_of_weights[name]
        if tensor.dim() > len(dims):  # a score's weight, of which each head has its own
            dims = ("H", *dims)
        steps[name] = Step(name, tensor, dims)
    for name, tensor in arguments.pairs.items():
        steps[name] = Step(name, tensor, SCORE_DIMS)
    return steps


def head_step(config: AttentionConfig, role: str) -> str:
    """What q, k or v is called once it is cut into heads: a name of its own where positions change it afterwards."""
    is_turned = role != "v" and positions_at(config.positions, "heads")
    return f"{role}_heads" if is_turned else role


def weight_dims(
    shapes: Shapes,
    sources: Mapping[str, str],
    widths: Mapping[str, int],
) -> dict[str, tuple[str, ...]]:
    """The axes of every weight that there may be; those of a score's weight where all heads share it.

    sources: which of the inputs q, k and v are made of. widths: of all inputs.
    """
    *_, d_q = head_dims("q", shapes)
    *_, d_k = head_dims("k", shapes)
    columns_of_w_a = f"{d_k}'" if d_q == d_k else d_k  # two axes of one step have two names
    dims = {
        "w_o": ("H·d_v", "D_out"),
        "b_o": ("D_out",),
        "w_a": (d_q, columns_of_w_a),
        "w_aq": (d_q, "A"),
        "w_ak": (d_k, "A"),
        "v_a": ("A",),
    }
    for role, source in sources.items():
        *_, rows = input_dims(source, widths)
        *_, columns = projected_dims(role, shapes)
        dims[f"w_{role}"] = (rows, columns)
        dims[f"b_{role}"] = (columns,)
    return dims
