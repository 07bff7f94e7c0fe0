"""The main column of the workbench: the picture, the effect of the last change, and the opened step."""

from pages.panels import (
    flow_picture,
    head_maps,
    model_controls,
    model_guess,
    model_panels,
    step,
    translation,
)
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.workbench import change, compare, compared_maps, diagnosis, listing, sentences


def show_picture() -> None:
    """Shows the sentences of a batch, the picture, the effect of the last change, and the opened step."""
    show_batch()
    model_guess.show_judgement()
    translation.show_translation()
    flow_picture.show_flow()
    flow_picture.show_look()
    show_run()
    model_panels.show_panel_choice()
    model_panels.show_model_proof()
    model_panels.show_panel()
    model_controls.show_model_figures()
    listing.show_example_listing()
    show_opened_step()


@page_part(sentences.batch_dependencies)
def show_batch(screen: ScreenState) -> None:
    """Shows the choice of a sentence of the batch."""
    sentences.show_sentences(screen)


def run_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the run, the run before and the sentence about both; also the selection if maps or a file are shown."""
    is_comparison = screen.setup.comparison.run_a is not None
    is_looked_at = is_comparison or screen.shows_difference or screen.inputs.brought is not None
    before = setup_state.setup_before()
    said = change.describe_last_change(screen) if before is not None and not is_comparison else None
    return (screen.setup if is_looked_at else screen.setup.run, screen.setup.comparison.against, before, said)


@page_part(run_dependencies)
def show_run(screen: ScreenState) -> None:
    """Shows the comparison of two runs; without one, the diagnosis of a file and the effect of the last change."""
    is_comparison = screen.setup.comparison.run_a is not None
    if is_comparison:
        compare.show_comparison(screen, compared_maps.make_compared_maps(screen))
        return
    diagnosis.show_diagnosis(screen)
    change.show_last_change(screen)
    if screen.shows_difference:
        head_maps.show_head_pictures(screen, head_maps.make_head_pictures(screen))


@page_part(step.step_dependencies)
def show_opened_step(screen: ScreenState) -> None:
    """Shows the panel of the opened step."""
    step.show_step_panel(screen)
