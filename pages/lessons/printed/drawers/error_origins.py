"""The lesson on the worked example, drawer "begin": where did the errors begin?"""

from attention_core.exercises.marking import Mark
from attention_core.exercises.stages import STAGES
from attention_core.exercises.worked_example import CheckedWork, wrong_through_slip
from attention_core.record.expressions import Ref
from pages.lessons.printed.printed_stages import describe_slip, name_stage
from pages.lessons.sentences import join_with_commas, show_sentence
from pages.lessons.worked_example import count_marked_numbers, make_written_part, show_work
from pages.panels.link_controls import pick_place
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

CHAIN_ROWS = (("q", "k", "v"), ("scores", "scaled_scores", "weights", "output"))  # of the chain of stages


def show_error_origins(checked: CheckedWork, _: Setup) -> None:
    """Shows all stages with their marks, and what one slip alone makes wrong."""
    slips = []
    for step in STAGES.values():
        slips.extend(checked.cells(step, Mark.SLIP))
    reached = []
    if slips:
        slip = choose_slip(checked, slips)
        reached = [slip, *show_reached_cells(checked, slip)]
    else:
        show_sentence("lessons.printed.no_slip")
    rows = []
    for stages in CHAIN_ROWS:
        parts = []
        for stage in stages:
            part = make_written_part(checked, STAGES[stage], count_title(checked, stage), place="chain")
            parts.append(part)
        rows.append(parts)
    show_work("begin", checked, rows, reached=reached)


def choose_slip(checked: CheckedWork, slips: list[Ref]) -> Ref:
    """Asks for one of the slips."""
    stage_of = name_stages_by_step()
    names = []
    for slip in slips:
        name = describe_slip(checked, slip, stage_of[slip.step])
        names.append(name)
    return slips[pick_place("slip", names, 0)]


def show_reached_cells(checked: CheckedWork, slip: Ref) -> list[Ref]:
    """Says how many later numbers a slip alone makes wrong, and gives their cells."""
    stage_of = name_stages_by_step()
    reached = []
    counts = []
    for step, wrong in wrong_through_slip(checked, slip).items():
        cells = wrong.nonzero().tolist()
        reached.extend(Ref(step, tuple(index)) for index in cells)
        if cells:
            counts.append(say("lessons.printed.reached_step", step=stage_of[step], count=len(cells)))
    if counts:
        show_sentence("lessons.printed.reached", steps=escape_markdown(join_with_commas(counts)))
    else:
        show_sentence("lessons.printed.reached_none")
    return reached


def name_stages_by_step() -> dict[str, str]:
    """The names of the stages by the steps of a run."""
    return {step: name_stage(stage) for stage, step in STAGES.items()}


def count_title(checked: CheckedWork, stage: str) -> str:
    """A stage with its counts, by the signs of the marks."""
    counts = count_marked_numbers(checked.marked[STAGES[stage]])
    return say("lessons.printed.counted", stage=name_stage(stage), **counts)
