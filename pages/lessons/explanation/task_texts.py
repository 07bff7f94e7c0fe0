"""The texts of the lesson on explanation, one for each classifier, and the networks that read them."""

from collections.abc import Mapping
from functools import partial

from pages.lessons.learned.classifiers import CLASSIFIER_EXAMPLES, CLASSIFIER_START_TEXTS, check_classifier_text
from pages.lessons.learned.learning import get_training_record
from pages.panels.link_controls import choose_option, option_labels, text_box

CLASSIFIER_TEXT_CONTROLS = {"lookup": "text_lookup", "vote": "text_vote"}  # the names of the boxes for the texts

TaskTexts = Mapping[str, tuple[str, str]]  # the network and the text, by task


def type_task_texts() -> TaskTexts:
    """Asks for a text for each classifier."""
    texts = {}
    for task in CLASSIFIER_EXAMPLES:
        record = get_training_record(task)
        last_step = max(record.steps)
        text = text_box(
            CLASSIFIER_TEXT_CONTROLS[task],
            CLASSIFIER_START_TEXTS[task],
            partial(check_classifier_text, task),
            width=260,
        )
        texts[task] = (record.network_at(last_step), text)
    return texts


def choose_task(name: str) -> str:
    """Asks for one of the classifiers. name: of the control."""
    return choose_option(name, tuple(CLASSIFIER_EXAMPLES), words=option_labels("task"))
