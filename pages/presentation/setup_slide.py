"""Makes the slides of a file for those scenes of a lecture that show the workbench."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attention_core.documents.exercise_sheet import cell_exercise
from attention_core.documents.picture_files import svg_text
from attention_core.documents.provenance import Provenance
from attention_core.documents.slides import MovingPart, Slide, SlideExercise, SlideFrame, SlidePicture
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.exercises.stages import stages_of
from attention_core.explanation.formula import formula
from attention_core.explanation.shown_steps import explain_shown
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_percent
from attention_core.record.trace import Trace
from pages import components
from pages.export.document_texts import make_document_texts, make_run_provenance
from pages.export.step_picture import StepPicture
from pages.lectures.script import Scene
from pages.panels.flow_data import Showing
from pages.panels.flow_numbers import is_too_large
from pages.panels.flow_picture import make_journey_data
from pages.panels.flow_run import list_motions
from pages.panels.head_maps import fact_sentence
from pages.panels.model_panels import tell_run_guess
from pages.presentation.scene_steps import get_focus_cell, make_cell_picture, sizes_sentence, steps_leading_to
from pages.runs.cache import check_computable, trace_for
from pages.session import setup_state
from pages.session.labels import Selection, chosen_cell, describe_cell, formula_names, inline_step_name, name_token
from pages.session.linked_setup import find_source_error, keep_computable_fields
from pages.session.view import ScreenState, make_screen_state
from pages.setup.codec import link_key_of
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal

MAX_SHOWN_SHARES = 4  # most keys whose weights a sentence names
LEAST_SHOWN_SHARE = 0.005  # a smaller weight rounds to 0 % and is not named, unless it is the largest
HEAD_AXES = {"B", "H", "T"}
OTHER_STEPS = ("head_outputs", "scaled_scores", "scores", "output", "q_projected", "v_projected")  # best first
MAX_TOLD_HEADS = 4  # most heads whose weights are written beside a picture
MAX_SHOWN_NUMBERS = 8  # most numbers of an output that are written out


@dataclass(frozen=True)
class SlidesBefore:
    """The content of earlier slides in a file, which later slides do not repeat.

    motions: the keyframes of the query's animation that were shown. exercises: the exercises that were given.
    """

    motions: tuple[str, ...] = ()
    exercises: tuple[SlideExercise, ...] = ()


@dataclass(frozen=True)
class ShownScene:
    """A scene of a lecture to export, with the state of the workbench and the cell that the scene is about.

    provenance: the origin of its pictures (settings and link). before: the content of earlier slides.
    """

    scene: Scene
    screen: ScreenState
    focus: Ref
    provenance: Provenance
    before: SlidesBefore = SlidesBefore()


def make_run_picture(setup: Setup, title: str, address: str) -> tuple[SlidePicture, tuple[MovingPart, ...]]:
    """Returns the attention map of a run as a picture, and the animation of its query as a moving part.

    address: the address of the workbench.
    """
    screen = make_screen_state(setup, None)
    provenance = replace(make_run_provenance(setup, address), title=title)
    scene = Scene(setup, title, steps=("journey", "map"))
    shown = ShownScene(scene, screen, get_focus_cell(screen), provenance)
    return draw_map_of_query(shown), list_moving(shown)


def make_computable_screen(setup: Setup) -> tuple[ScreenState, dict[str, AttentionError]]:
    """Returns (ScreenState of a Setup without the fields that cannot be computed, {such a field: its error}).

    Raises AttentionError if the recorded model or the file that the Setup names is not there.
    """
    setup, refused = keep_computable_fields(setup, check_computable)
    missing = find_source_error(refused)
    if missing is not None:
        raise missing
    setup, _ = setup_state.drop_missing(setup, trace_for(setup))
    return make_screen_state(setup, None), refused


def list_shown_motions(scene: Scene) -> tuple[str, ...]:
    """Returns the keyframes of the query's animation that a scene of a lecture shows; () if it shows no animation."""
    if not isinstance(scene.shown, Setup) or "journey" not in scene.steps:
        return ()
    try:
        screen, _ = make_computable_screen(scene.shown)
    except AttentionError:
        return ()
    return list_motions(screen)


def make_setup_slide(scene: Scene, address: str, before: SlidesBefore, frames: Sequence[SlideFrame] = ()) -> Slide:
    """Returns the slide of a scene that shows the workbench, as far as it can be computed.

    address: the address of the workbench. before: the content of earlier slides. frames: the keyframes of the query's
    animation that the browser has drawn.
    """
    screen, refused = make_computable_screen(scene.setup)
    # the warning about guesses is shown elsewhere on the slide
    provenance = replace(make_run_provenance(screen.setup, address), title=scene.title, warning="")
    warning = tell_run_guess(screen.setup)
    shown = ShownScene(scene, screen, get_focus_cell(screen), provenance, before)
    unfit = []
    for name, error in refused.items():
        unfit.append(say("present.refused", key=link_key_of(name), reason=say_refusal(error, str)))
    return Slide(
        title=scene.title,
        question=scene.question,
        answer=fact_sentence(screen.trace, screen.selection, spell=str),
        pictures=tuple(list_pictures(shown)),
        frames=tuple(frames),
        moving=list_moving(shown),
        formulas=tuple(list_formulas(shown)),
        figures=(*([warning] if warning else ()), *list_figures(shown), *unfit),
        notes=scene.note,
        minutes=scene.minutes,
        link=provenance.link,
        source=" ".join(provenance.lines[2:]),
        exercise=make_exercise(shown),
    )


# ---- pictures --------------------------------------------------------------------------------------------------------
def list_pictures(shown: ShownScene) -> list[SlidePicture]:
    """Returns a slide's pictures: the attention map at the end of the animation, and the row and column of the slide's
    cell.
    """
    steps = shown.scene.steps
    pictures = []
    if "journey" in steps or "map" in steps:
        pictures.append(draw_map_of_query(shown))
    if "cell" in steps:
        picture = make_cell_picture(shown.screen.trace, shown.focus, LIGHT_PALETTE)
        svg = svg_text(picture, shown.provenance, LIGHT_PALETTE, is_titled=False)
        pictures.append(SlidePicture(svg.encode(), describe_cell(shown.screen.trace, shown.focus)))
    return pictures


def draw_map_of_query(shown: ShownScene) -> SlidePicture:
    """Returns a picture of the selected head's attention map with the query's row marked."""
    screen, steps = shown.screen, shown.scene.steps
    can_turn = {"journey", "map"} <= {*steps} and not is_too_large(screen.trace)
    chosen = chosen_cell(screen.trace, screen.setup)
    still = StepPicture(
        trace=screen.trace,
        step="weights",
        selection=screen.selection,
        chosen=chosen if chosen and chosen.step == "weights" else None,
        palette=LIGHT_PALETTE,
        provenance=shown.provenance,
        map_title="",
    )
    svg = svg_text(still.draw_map(), still.note_shown_part(), LIGHT_PALETTE, is_titled=False)
    return SlidePicture(svg.encode(), fact_sentence(screen.trace, screen.selection, spell=str), map=can_turn)


def list_moving(shown: ShownScene) -> tuple[MovingPart, ...]:
    """Returns the animated part of a slide: the query's animation, else the attention map of its head; () for none."""
    screen, steps = shown.screen, shown.scene.steps
    has_journey = "journey" in steps
    has_map = "map" in steps and not is_too_large(screen.trace)
    if not has_journey and not has_map:
        return ()
    showing = Showing(begins="start" if has_journey else "end", known=shown.before.motions, fills=True)
    data = make_journey_data(screen, showing, None if has_journey else "weights")
    return (MovingPart(components.flow.name, data, answers=True),)


# ---- formulas and figures --------------------------------------------------------------------------------------------
def list_formulas(shown: ShownScene) -> list[str]:
    """Returns the formulas of the steps that lead to the step of the slide's cell, and then that step's formula."""
    if "symbol" not in shown.scene.steps:
        return []
    trace, step = shown.screen.trace, shown.focus.step
    names = formula_names(trace)
    return [formula(trace, name, names=names) for name in (*steps_leading_to(trace, step), step)]


def list_figures(shown: ShownScene) -> list[str]:
    """Returns sentences with the numbers in a slide's pictures: weights, output, the cell's arithmetic, sizes."""
    trace, focus, steps = shown.screen.trace, shown.focus, shown.scene.steps
    figures = []
    if "journey" in steps or "map" in steps:
        figures += list_shares(shown)
    if "journey" in steps and set(trace.step("head_outputs").dims) >= HEAD_AXES:
        figures.append(output_sentence(shown.screen))
    if "cell" in steps:
        text = explain_shown(trace, focus.step, focus.index).text or say("arithmetic.input")
        figures.append(f"{describe_cell(trace, focus)}: {text}")
    if "shapes" in steps:
        figures.append(sizes_sentence(trace, focus.step, str))
    if "model" in steps:
        figures.append(say("present.files.in_app", step=say("present.scene_step.model")))
    return figures


def list_shares(shown: ShownScene) -> list[str]:
    """Returns the sentences about the weights of the selected query, in the selected head.

    If no head is selected and there are 2 to MAX_TOLD_HEADS heads, there is one sentence for each head.
    """
    trace, selection = shown.screen.trace, shown.screen.selection
    heads = range(trace.sizes()["H"])
    if shown.scene.setup.view.head is not None or not 2 <= len(heads) <= MAX_TOLD_HEADS:
        return [shares_sentence(trace, selection)]
    told = []
    for head in heads:
        sentence = shares_sentence(trace, replace(selection, head=head))
        told.append(say("present.files.of_head", head=head + 1, told=sentence))
    return told


def shares_sentence(trace: Trace, selection: Selection) -> str:
    """Returns the sentence about the query's largest weights, and about its smallest if only one key has it."""
    row = trace.step("weights").window(B=selection.batch, H=selection.head, T=selection.query)  # (S,)
    largest_first = sorted(range(len(row)), key=lambda key: -row[key])
    named = []
    for key in largest_first[:MAX_SHOWN_SHARES]:
        share = float(row[key])
        if named and share < LEAST_SHOWN_SHARE:
            break
        percent = format_percent(share)
        named.append(say("present.files.share", key=name_token(trace, "S", key), percent=percent))
    shares = say("present.comma").join(named)
    told = say("present.files.shares", query=name_token(trace, "T", selection.query), shares=shares)
    unnamed = largest_first[len(named) :]
    percents = [format_percent(float(row[key])) for key in unnamed[-2:]]
    if len({*percents}) == 2 and row[unnamed[-1]] > 0:
        told += say("present.files.least", key=name_token(trace, "S", unnamed[-1]), percent=percents[-1])
    return told


def output_sentence(screen: ScreenState) -> str:
    """Returns the sentence about the output of the selected head for the query."""
    trace, selection = screen.trace, screen.selection
    output = trace.step("head_outputs").window(B=selection.batch, H=selection.head, T=selection.query)  # (d_v,)
    numbers = [format_fixed(float(number)) for number in output[:MAX_SHOWN_NUMBERS]]
    if len(output) > MAX_SHOWN_NUMBERS:
        numbers.append("…")
    query = name_token(trace, "T", selection.query)
    return say("present.files.output", head=selection.head + 1, query=query, numbers=", ".join(numbers))


# ---- the exercise ----------------------------------------------------------------------------------------------------
def make_exercise(shown: ShownScene) -> SlideExercise | None:
    """Returns an exercise for a slide whose numbers no earlier slide has asked for; None if there is none.

    The visitor is asked for the row of the slide's cell. If that row cannot be calculated, the exercise is the query's
    weights, or else the row of another step.
    """
    trace, selection = shown.screen.trace, shown.screen.selection
    cell = shown.focus
    if cell.step not in stages_of(trace):
        cell = Ref("weights", (selection.batch, selection.head, selection.query, 0))
    question = printable_token(shown.scene.question)
    candidates = [(cell, question)]
    for step in stages_of(trace):
        if step in OTHER_STEPS:
            candidates.append((find_largest_cell(trace, step, selection), ""))
    candidates[1:] = sorted(candidates[1:], key=lambda each: OTHER_STEPS.index(each[0].step))
    for candidate, asked in candidates:
        exercise = make_row_exercise(shown.screen, candidate, asked)
        if exercise and not any(exercise.asks_same(other) for other in shown.before.exercises):
            return exercise
    return None


def make_row_exercise(screen: ScreenState, cell: Ref, task: str) -> SlideExercise | None:
    """Returns an exercise that asks the visitor to calculate the row of a cell; None if no exercise can be made of this
    row.

    task: a text before the instruction to fill in the row, or "".
    """
    texts = make_document_texts(screen.trace, screen.setup, screen.selection)
    fill = say("present.files.fill", step=inline_step_name(cell.step))
    return cell_exercise(
        screen.trace, cell, texts, say("present.files.task", question=task, fill=fill) if task else fill
    )


def find_largest_cell(trace: Trace, step: str, selection: Selection) -> Ref:
    """Returns the cell with the largest magnitude in the row that a step has for the selected query and head."""
    at = selection.at
    *outer, _ = trace.step(step).dims
    index = tuple(at.get(dim, 0) for dim in outer)
    row = trace[step][index]
    return Ref(step, (*index, int(row.abs().argmax())))
