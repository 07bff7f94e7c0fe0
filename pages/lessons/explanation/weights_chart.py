"""The learned weights of both texts as bars."""

from attention_core.drawing.bars import bar_rows, row_of
from attention_core.learned.tasks.evidence import answer
from pages.lessons.explanation import drawers
from pages.lessons.learned.classifiers import (
    predict_text_class,
    setup_for_classifier,
)
from pages.lessons.opened_cell import get_opened_cell
from pages.lessons.pictures import show_picture
from pages.panels.link_controls import option_labels
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, picture_texts_for, place_names, spoken_share
from pages.site.words import say

WEIGHT_BARS_WIDTH_PX = 460  # pixels of the bars beside it


def draw_weights(texts: drawers.TaskTexts) -> None:
    """The learned weights of both texts."""
    for task, (network, text) in texts.items():
        trace, verdict = trace_for(setup_for_classifier(task, network, text)), predict_text_class(task, network, text)
        told = {"name": verdict.name, "share": spoken_share(verdict.share), "task": option_labels("task")(task)}
        title = say("lessons.explanation.row_task" if answer(task, text) else "lessons.explanation.row_guess", **told)
        rows = [row_of(title, trace, "weights", (0, 0, 0))]
        names, opened = place_names(trace, "S", trace.sizes()["S"]), get_opened_cell(f"own_{task}", {"": trace})
        how = {"height": 70.0, "whole": True, "room": WEIGHT_BARS_WIDTH_PX}
        picture = bar_rows(rows, names, picture_texts_for(trace), current_palette(), opened, **how)
        show_picture(f"own_{task}", picture, {"": trace}, title)


def largest_classifier_weight(task: str, network: str, text: str) -> float:
    """The largest weight."""
    return float(trace_for(setup_for_classifier(task, network, text))["weights"].max())
