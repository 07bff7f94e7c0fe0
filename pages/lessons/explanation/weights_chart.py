"""The learned weights of both texts as bars."""

from attention_core.drawing.bars import row_of
from attention_core.learned.tasks.evidence import answer
from pages.lessons.explanation.task_texts import TaskTexts
from pages.lessons.learned.classifiers import predict_text_class, setup_for_classifier
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import list_place_labels
from pages.panels.link_controls import option_labels
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share
from pages.site.words import say

WEIGHT_BARS_HEIGHT_PX, WEIGHT_BARS_WIDTH_PX = 70.0, 336  # of the bars beside the dumbbells


def draw_weights(texts: TaskTexts) -> None:
    """Draws the learned weights of both texts."""
    for task, (network, text) in texts.items():
        draw_text_weights(task, network, text)


def draw_text_weights(task: str, network: str, text: str) -> None:
    """Draws the learned weights of a text under what the classifier says of it."""
    trace = trace_for(setup_for_classifier(task, network, text))
    verdict = predict_text_class(task, network, text)
    key = "row_task" if answer(task, text) else "row_guess"
    title = say(
        f"lessons.explanation.{key}",
        name=verdict.name,
        share=spoken_share(verdict.share),
        task=option_labels("task")(task),
    )
    show_bar_rows(
        f"own_{task}",
        [row_of(title, trace, "weights", (0, 0, 0))],
        list_place_labels(trace, "S"),
        {"": trace},
        trace,
        title,
        height=WEIGHT_BARS_HEIGHT_PX,
        whole=True,
        room=WEIGHT_BARS_WIDTH_PX,
    )


def largest_classifier_weight(task: str, network: str, text: str) -> float:
    """The largest weight that a classifier gives to a place of a text."""
    trace = trace_for(setup_for_classifier(task, network, text))
    return trace["weights"].max().item()
