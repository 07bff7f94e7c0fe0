"""The keyframes of a query's way through the picture of a run, and the colour, sign and scale of its parts."""

from dataclasses import dataclass

from attention_core.drawing.flow import FlowPart
from attention_core.explanation.formula import colour_family
from attention_core.record.trace import Trace


@dataclass(frozen=True)
class FlowStop:
    """A keyframe of a query's way: the parts that appear in it, and the motion of their operands."""

    motion: str
    parts: tuple[str, ...]


def flow_stops(parts: tuple[FlowPart, ...]) -> tuple[FlowStop, ...]:
    """The keyframes of a query's way, in the order of computation.

    Vectors with the same motion share a keyframe; the keys' vectors that are summed appear with the sum, and so does
    what is added to a step. Shares take two keyframes: each score as a power, then all powers divided by their sum.
    """
    late = {name for part in parts if part.mixes for name in part.reads}
    stops: list[FlowStop] = []
    waiting: list[str] = []
    for part in parts:
        if part.motion == "given":
            continue
        is_table = not part.reads
        if is_table or (part.role == "row" and part.name in late):
            waiting.append(part.name)
            continue
        brought = [name for name in waiting if name in part.reads]
        waiting = [name for name in waiting if name not in brought]
        names = (*brought, part.name)
        motion = "output" if part.motion == "ask" and part.after else part.motion
        if motion == "share":
            stops.append(FlowStop("power", names))
        comes_along = bool(stops) and stops[-1].motion == motion and part.role in ("row", "lane")
        if comes_along:
            names = (*stops.pop().parts, *names)
        stops.append(FlowStop(motion, names))
    return tuple(stops)


# ---- colour, sign and scale of parts ---------------------------------------------------------------------------------
def part_family(part: FlowPart) -> str:
    """The colour family of a part: "q", "k", "v", "x" or "share"."""
    if part.is_share:
        return "share"
    if part.after:
        return "v"
    return colour_family(part.name) or "x"


def part_sign(trace: Trace, part: FlowPart) -> str:
    """The sign above a part: the symbol of a vector, else the operation."""
    symbol = colour_family(part.name)
    if symbol and not part.after:
        return symbol
    operation = trace.step(part.name).operation
    return operation.sign if operation else part.name


def largest_numbers(trace: Trace, parts: tuple[FlowPart, ...]) -> dict[str, float]:
    """The magnitude that fills a cell or a bar of each part; all scores share one, so that a division is visible."""
    largest = {}
    for part in parts:
        sizes = trace[part.name].abs().nan_to_num_(0.0, posinf=0.0)  # in place: a second copy takes 16 MB
        largest[part.name] = float(sizes.max()) if sizes.numel() else 0.0
    scores = [part.name for part in parts if part.role == "pair" and not part.is_share]
    top = max((largest[name] for name in scores), default=0.0)
    return largest | dict.fromkeys(scores, top)
