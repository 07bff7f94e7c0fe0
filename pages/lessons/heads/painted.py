"""The lesson on heads: the words painted in their colours, and the colour that flows to a word along each head."""

from collections.abc import Mapping, Sequence

from attention_core import Trace
from attention_core.analysis.carried_numbers import find_carried
from pages import components
from pages.session.collected import show_moving
from pages.session.labels import place_name
from pages.site.words import get_text_template, say

PAINTED_TEXTS = ("own", "with_two", "with_one", "brings", "flows", "comma", "paints", "unpainted", "colour", "and")


def show_painted(
    runs: Mapping[str, Trace], shown: str, names: Sequence[str], query: int, colour: int, known: bool
) -> None:
    """Shows whose colour comes to which word.

    runs: as two heads and as one; shown: the one whose ribbons are drawn. query: the word that is looked at first; who
    looks at another one asks nobody. colour: the column of the output that it is. known: whether what comes out of one
    head may be seen."""
    run = runs[shown]
    seen = ("two", "one") if known else ("two",)
    data = {
        "words": list(names),
        "query": query,
        "shown": shown,
        "own": run["x"][0, :, colour].tolist(),
        "heads": describe_heads(run, colour),
        "out": {name: runs[name]["output"][0, :, colour].tolist() for name in seen},
        "text": {name: get_text_template(f"lessons.heads.painted.{name}") for name in PAINTED_TEXTS}
        | {"alt": say("lessons.heads.painted.alt")},
    }
    show_moving(components.painted_words, data=data, key="heads_painted")


def describe_heads(run: Trace, colour: int) -> list[dict[str, object]]:
    """What each head shares out, and the colour that it carries from each word."""
    carried = find_carried(run, colour)[0]  # (H, S)
    heads = []
    for head, weights in enumerate(run["weights"][0]):
        heads.append(
            {
                "name": place_name(run, "H", head),
                "weights": weights.tolist(),
                "carried": carried[head].tolist(),
            }
        )
    return heads
