"""The lesson on explanation, drawer "others": which other weights give the same answer?"""

from attention_core.drawing.bars import row_of
from attention_core.record.number_text import format_percent
from pages.lessons.explanation.shifts_chart import SHOWN_SWAP_KINDS
from pages.lessons.explanation.task_texts import TaskTexts, choose_task
from pages.lessons.learned.classifiers import run_with_other_weights, setup_for_classifier
from pages.lessons.pictures import show_bar_rows
from pages.lessons.sentences import list_place_labels
from pages.panels.link_controls import option_labels
from pages.runs.cache import trace_for
from pages.site.words import say


def show_other_weights(texts: TaskTexts) -> None:
    """Shows the learned weights of a text and others in their place, with what the prediction does."""
    task = choose_task("other_task")
    network, text = texts[task]
    learned = trace_for(setup_for_classifier(task, network, text))
    runs = {"learned": learned}
    title = say("lessons.explanation.row_learned")
    rows = [row_of(title, learned, "weights", (0, 0, 0), "learned")]
    for kind in SHOWN_SWAP_KINDS:
        run, shift = run_with_other_weights(network, text, kind)
        runs[kind] = run
        name = option_labels("shift")(kind)
        title = say("lessons.explanation.row_other", kind=name, shift=format_percent(shift))
        row = row_of(title, run, "weights", (0, 0, 0), kind)
        rows.append(row)
    symbols = list_place_labels(learned, "S")
    alt = say("lessons.explanation.alt_others")
    show_bar_rows("others", rows, symbols, runs, learned, alt, whole=True)
