"""What the axes of a run are called: of its inputs, and of q, k and v."""

from collections.abc import Mapping

Shapes = dict[str, tuple[int, ...]]  # of q (B, H, T, d_q), k (B, H_kv, S, d_k) and v (B, H_kv, S, d_v)


def head_dims(role: str, shapes: Shapes) -> tuple[str, ...]:
    """The axes of q, k or v: the width of q is d_k too, unless the score compares different widths."""
    if role != "q":
        return ("B", "H_kv", "S", f"d_{role}")
    *_, d_q = shapes["q"]
    *_, d_k = shapes["k"]
    width = "d_k" if d_q == d_k else "d_q"
    return ("B", "H", "T", width)


def projected_dims(role: str, shapes: Shapes) -> tuple[str, ...]:
    """The axes of a projection before it is cut into heads."""
    B, heads, length, width = head_dims(role, shapes)
    return (B, length, f"{heads}·{width}")


def input_dims(source: str, widths: Mapping[str, int]) -> tuple[str, ...]:
    """The axes of an input: its width is D unless it differs from the first input's. widths: of all inputs."""
    first_width = next(iter(widths.values()))
    length = "T" if source in ("x", "query") else "S"
    width = "D" if widths[source] == first_width else f"D_{source}"
    return ("B", length, width)
