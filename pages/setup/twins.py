"""Replaces English examples and sentences in links by their Chinese counterparts, for pages in Chinese."""

from pages.setup.setup import STARTS

CHINESE_TWINS = {"picture": "zh_picture", "en_it_sink": "zh_ta_sink"}
CHINESE_SENTENCES = {"Tom laughed": "汤姆笑了"}


def link_in_language(slug: str, link: dict[str, str], language: str) -> dict[str, str]:
    """Returns the query parameters of a page, with example and sentence replaced by counterparts in another language,
    if any.

    >>> link_in_language("cross", {"ex": "picture", "t": "1"}, "zh")
    {'ex': 'zh_picture', 't': '1'}
    >>> link_in_language("workbench", {"kv": "1"}, "zh")
    {'ex': 'zh_ta', 'kv': '1'}
    >>> link_in_language("workbench", {"kv": "1"}, "en")
    {'kv': '1'}
    """
    if language != "zh":
        return link
    begun = {"ex": STARTS[language]} if slug == "workbench" else {}  # only a link of the workbench needs an example
    twins = CHINESE_TWINS | CHINESE_SENTENCES
    return begun | {key: twins.get(value, value) for key, value in link.items()}
