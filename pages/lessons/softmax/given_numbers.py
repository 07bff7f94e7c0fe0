"""The lesson on softmax: the numbers that a reader gives, as the scores of a run of one query."""

from collections.abc import Sequence

from attention_core import Trace
from attention_core.inputs.given_scores import as_scores, read_logits
from attention_core.record.number_text import format_term
from pages.panels.link_controls import text_box
from pages.setup.setup import Setup

ONLY_ROW = (0, 0, 0)  # the only sentence, head and query
MAX_TYPED_LOGITS = 16  # numbers that stand beside each other and can be read


def ask_for_numbers(name: str, start: str) -> Sequence[float]:
    """Asks for numbers. name: of the box; start: what stands in it before anybody types."""
    return read_typed_numbers(text_box(name, start, read_typed_numbers))


def read_typed_numbers(text: str) -> Sequence[float]:
    """Reads typed numbers. Raises AttentionError for what is none, and for too many."""
    return read_logits(text, MAX_TYPED_LOGITS)


def setup_with_scores(numbers: Sequence[float], shift: float = 0.0, **choices) -> Setup:
    """The Setup whose scores these numbers are. shift: what is added to each. choices: other fields of the Setup."""
    return Setup(example="one_query", score="dot", **as_scores(numbers, shift), **choices)


def name_if_divided(setup: Setup) -> str:
    """How the keys of sentences on slopes end: the softmax reads the numbers themselves, or each divided by τ."""
    return "" if setup.temperature == 1 else "_divided"


def list_scores(trace: Trace) -> list[str]:
    """The scores of a run of one query as texts."""
    scores = trace.step("scores").window(B=0, H=0, T=0)  # (S,)
    return [format_term(score) for score in scores]
