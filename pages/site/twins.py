"""Examples of which the other language has its own: a link leads to that of the page's language."""

CHINESE_TWINS = {"picture": "zh_picture", "en_it_sink": "zh_ta_sink"}


def link_in_language(link: dict[str, str], language: str) -> dict[str, str]:
    """The same link with the example in a language, where there is one.

    >>> link_in_language({"ex": "picture", "t": "1"}, "zh")
    {'ex': 'zh_picture', 't': '1'}
    >>> link_in_language({"kv": "1"}, "zh")
    {'kv': '1'}
    """
    example = link.get("ex")
    if language != "zh" or example not in CHINESE_TWINS:
        return link
    return link | {"ex": CHINESE_TWINS[example]}
