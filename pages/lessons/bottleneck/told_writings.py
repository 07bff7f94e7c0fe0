"""The lesson on one vector: what is said of how exactly a network writes, and of what it writes."""

from collections.abc import Mapping, Sequence

from attention_core.learned.training.wider_vector import LONGER, WIDER, read_wider_vector
from attention_core.record.number_text import format_percent
from pages.lessons.learned.learning import TrainingRecord, load_shipped_training
from pages.lessons.learned.writers import (
    WRITING_TASKS,
    WritingResult,
    shorten_writing,
)
from pages.lessons.sentences import join_with_commas
from pages.panels.link_controls import option_labels
from pages.site.words import escape_markdown, say


def describe_exactness(kind: str, record: TrainingRecord, step: int) -> str:
    """Says how much of what is measured, and no longer than what was trained, a network writes exactly."""
    task, _, _ = record.course.partition("_")
    share = format_percent(record.mean_at(step, WRITING_TASKS[task].longest))
    return say("lessons.bottleneck.right", kind=option_labels("kind")(kind), share=share)


def tell_fact(task: str, step: int, parts: str) -> str:
    """Says how exactly each network writes after a step. parts: of each, as describe_exactness says it."""
    longest = WRITING_TASKS[task].longest
    return say(f"lessons.bottleneck.fact_{task}", step=f"{step:,}", parts=parts, longest=longest)


def tell_bottleneck(task: str) -> str:
    """Says what the supplied networks of a task show of one vector after the last step of their training."""
    records = {kind: load_shipped_training(f"{task}_{kind}") for kind in ("additive", "one")}
    longest = WRITING_TASKS[task].longest
    shares = {kind: format_percent(record.mean_at(record.steps[-1], longest)) for kind, record in records.items()}
    one = records["one"]
    lost = find_lost_length(one.places, one.figures_at(one.steps[-1]))
    if task == "reversal":
        shares |= {"longest": longest}
        shares |= describe_other_vectors(one.places, lost)
    return say(f"lessons.bottleneck.shown_{task}", length=lost, **shares)


def describe_other_vectors(places: Sequence[int], length: int) -> dict[str, object]:
    """How a vector that is trained longer, and a wider one, write texts of a length; where the wider one is lost."""
    rows = read_wider_vector()
    wider = rows[WIDER]
    return {
        "longer": format_percent(rows[LONGER].exact_at(length)),
        "wider": format_percent(wider.exact_at(length)),
        "width": wider.width,
        "wider_length": find_lost_length(places, wider.exact),
    }


def find_lost_length(places: Sequence[int], figures: Sequence[float]) -> int | None:
    """The shortest length from which on no text was written exactly; None: there is none."""
    lost = None
    for length, share in zip(reversed(places), reversed(figures), strict=True):
        if share > 0:
            break
        lost = length
    return lost


def describe_writing(kind: str, result: WritingResult) -> str:
    """Says what a network writes, and whether that is right."""
    mark = {True: "right", False: "wrong", None: "unknown"}[result.right]
    written = say("lessons.bottleneck.nothing")
    if result.written:
        written = escape_markdown(shorten_writing(result.written))
    return say(f"lessons.bottleneck.writes_{mark}", kind=option_labels("kind")(kind), written=written)


def tell_writings(text: str, results: Mapping[str, WritingResult], is_known: bool) -> str:
    """Says what each network makes of a text. is_known: whether anybody can say what is right."""
    parts = [describe_writing(kind, result) for kind, result in results.items()]
    key = "becomes" if is_known else "guess"
    return say(f"lessons.bottleneck.{key}", text=escape_markdown(text), parts=join_with_commas(parts))
