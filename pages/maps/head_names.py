"""Names the ablated heads (heads that are switched off) of an opened model."""

from pages.runs.checkpoint_store import RecordedText
from pages.site.words import say

MAX_NAMED_HEADS = 12  # most heads that are named; further heads are only counted


def name_heads_off(text: RecordedText) -> str:
    """Returns the names of the heads that are ablated in a model, as a list in a sentence; "" if there are none.

    The list is cut after MAX_NAMED_HEADS names.
    """
    off = text.wanted.off
    listed = say("lessons.maps.off.between").join(name_recorded_head(text, *head) for head in off[:MAX_NAMED_HEADS])
    rest = len(off) - MAX_NAMED_HEADS
    return say("lessons.maps.off.more", heads=listed, count=rest) if rest > 0 else listed


def name_recorded_head(text: RecordedText, number: int, head: int) -> str:
    """Returns the name of a head, such as "layer 2, head 1", after the kind of its maps if there are several kinds.

    number: the index of the layer in the recording, from 0.
    """
    for (kind, *_), layers in text.maps.groups.items():
        if number in layers:
            name = say("all_heads.name", layer=layers.index(number) + 1, head=head + 1)
            return say("lessons.maps.off.of_kind", kind=say(f"lessons.maps.kind.{kind}"), name=name) if kind else name
    return ""
