"""Order and filter of a language model's heads, as values of a link."""

from attention_core.analysis.head_measures import MEASURES
from attention_core.learned.language.head_figures import LINKS
from pages.setup.link_values import make_member_reader, read_link_count, read_link_number

BY_LAYER, BY_MOVED = "layers", "moved"  # by layer; by the difference on a second sentence
HEAD_ORDERS = (BY_LAYER, *MEASURES, *LINKS, BY_MOVED)


def read_least_share(text: str) -> float:
    """A share from 0 to 1."""
    share = read_link_number(text)
    if not 0 <= share <= 1:
        raise ValueError(text)
    return share


HEAD_ORDER_READERS = {
    "heads_by": make_member_reader(HEAD_ORDERS),
    "heads_least": read_least_share,
    "heads_from": read_link_count,
    "heads_to": read_link_count,
}
