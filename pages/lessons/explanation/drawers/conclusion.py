"""The lesson on explanation, drawer "conclude": what may be concluded?"""

from attention_core.learned.language.vector_shares import measure_vector_shares
from attention_core.record.number_text import format_fixed, format_percent
from pages.lessons.explanation.task_texts import TaskTexts
from pages.lessons.sentences import show_sentence
from pages.site.words import current_language


def show_conclusion(_: TaskTexts) -> None:
    """Says what such a test allows to say, what not, and what no map of weights shows."""
    show_sentence("lessons.explanation.conclude")
    shares = measure_vector_shares(current_language())
    show_sentence(
        "lessons.explanation.left_out",
        embedding=format_percent(shares.embedding),
        attention=format_percent(shares.attention),
        feed_forward=format_percent(shares.feed_forward),
        words=shares.words,
        growth=format_fixed(shares.growth, 0),
    )
