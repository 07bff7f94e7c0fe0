"""One word's vector on its way through a model as it stands in a file: at the end, with the words that come out."""

import numpy as np

from attention_core.drawing.part_sum import PartRow, WordSum, part_sum
from attention_core.drawing.specifications import Picture
from pages.panels.model_look import SUM, BlockView
from pages.session.labels import current_palette, whole_share

OWN_ROWS = ("part", "sum", "norm")  # those that are not folded


def draw_walk(view: BlockView, data: dict) -> Picture:
    """The end of the walk. data: as its component draws it."""
    numbers = np.frombuffer(data["numbers"], dtype=np.float32)
    parts = []
    for row in data["rows"]:
        if row["kind"] in OWN_ROWS:
            vector = numbers[row["first"] :][: row["count"]]
            parts.append(PartRow(row["kind"], row["name"], vector, row.get("push")))
    word = WordSum(
        words=view.stack[SUM].labels["T"],
        at=view.at,
        titles=tuple(data["text"][title] for title in ("vector", "push", "words")),
        shares=[(each["word"], each["share"]) for each in data["words"]],
        write=whole_share,
    )
    return part_sum(word, parts, current_palette())
