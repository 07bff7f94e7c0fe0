"""The lesson on explanation, drawer "witness": do weights, gradients and leaving out agree?"""

from attention_core import Trace
from attention_core.drawing.bars import Row, row_of
from attention_core.learned.tasks.evidence import answer
from pages.lessons.explanation.task_texts import TaskTexts, choose_task
from pages.lessons.learned.classifiers import predict_text_class, trace_with_attributions
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import list_place_names, show_sentence
from pages.session.labels import spoken_share
from pages.site.words import say


def show_witnesses(_: bool, texts: TaskTexts) -> None:
    """Shows weights, gradient x input and leave-one-out of the same text, one below the other."""
    task = choose_task("witness_task")
    network, text = texts[task]
    trace = trace_with_attributions(task, network, text)
    verdict = predict_text_class(task, network, text)
    key = f"witness_{task}" if answer(task, text) else "witness_guess"
    show_sentence(f"lessons.explanation.{key}", name=verdict.name, share=spoken_share(verdict.share))
    weights_title = say("lessons.explanation.row_weights")
    gradient_title = say("lessons.explanation.row_gradient", name=verdict.name)
    left_out_title = say("lessons.explanation.row_left_out", name=verdict.name)
    rows = [
        row_of(weights_title, trace, "weights", (0, 0, 0)),
        row_of(gradient_title, trace, "gradient_x_input", (0,)),
    ]
    left_out = row_of(left_out_title, trace, "left_out", (0,))
    show_witness_rows("witness", rows, trace)
    show_witness_rows("left_out", [left_out], trace)  # a logit and a share have no scale in common


def show_witness_rows(name: str, rows: list[Row], trace: Trace) -> None:
    """Shows rows of bars under the symbols of a text."""
    symbols = list_place_names(trace, "S")
    alt = say("lessons.explanation.alt_witness")
    show_bar_rows(name, rows, symbols, {"": trace}, trace, alt, whole=True)
