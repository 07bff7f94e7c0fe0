"""The Chinese counterparts of examples and sentences, for links in the language of the page."""

from pages.setup.setup import STARTS

CHINESE_TWINS = {"picture": "zh_picture", "en_it_sink": "zh_ta_sink"}
CHINESE_SENTENCES = {"Tom laughed": "汤姆笑了"}


def link_in_language(slug: str, link: dict[str, str], language: str) -> dict[str, str]:
    """Returns the link of a page with its example and sentence in another language, if counterparts exist there.

    >>> link_in_language("cross", {"ex": "picture", "t": "1"}, "zh")
    {'ex': 'zh_picture', 't': '1'}
    >>> link_in_language("workbench", {"kv": "1"}, "zh")
    {'ex': 'zh_ta', 'kv': '1'}
    >>> link_in_language("workbench", {"kv": "1"}, "en")
    {'kv': '1'}
    """
    if language != "zh":
        return link
    begun = {"ex": STARTS[language]} if slug == "workbench" else {}  # empty for a lesson, whose link needs no example
    twins = CHINESE_TWINS | CHINESE_SENTENCES
    return begun | {key: twins.get(value, value) for key, value in link.items()}
