"""The lesson on explanation, drawer "conclude": what may be concluded?"""

from pages.lessons.explanation.task_texts import TaskTexts
from pages.lessons.sentences import show_sentence


def show_conclusion(_: TaskTexts) -> None:
    """Says what such a test allows to say, and what not."""
    show_sentence("lessons.explanation.conclude")
