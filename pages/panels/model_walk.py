"""Draws how a model builds a word's vector: what each component adds, and what the logit lens predicts after it."""

from collections.abc import Callable

import numpy as np
import torch

from attention_core.analysis.logit_attribution import WholePart, logit_lens, whole_parts
from attention_core.drawing.part_sum import PartRow, WordSum, part_sum
from attention_core.drawing.specifications import Picture
from attention_core.record.number_text import format_fixed, format_percent
from attention_core.transformer.stack import UNEMBEDDING
from pages import components
from pages.panels.model_look import LOGITS, SUM, BlockView, keep_look, open_sent, show_open_number
from pages.panels.model_rows import MOST_WORDS, Strips, make_end_rows, make_inner_rows, make_word_rows
from pages.session.collected import collect_still, collected, show_moving
from pages.session.labels import current_palette, whole_share
from pages.site.words import escape_markdown, say

FILE_ROWS = ("part", "sum", "norm")  # kinds of rows that an exported file includes


def show_walk(find: Callable[[], BlockView], key: str) -> None:
    """Shows the components whose sum is a word's vector, with a slider, and the arithmetic of the opened number.

    find: a function that returns a run with the residual sum, the logit sum and labelled axes; it is called again after
    a click. key: the key of the picture on the page.
    """
    view = find()
    data = make_walk_data(view)
    told = [stop["told"] for stop in data["walk"]["stops"]]
    collected().facts += map(escape_markdown, told)
    collect_still(lambda: draw_walk(view, data), told[-1])
    show_moving(
        components.model_block,
        data=components.pack_bytes(data),
        key=key,
        given={"vocabulary": len(view.stack[UNEMBEDDING].labels["V"])},
        on_opened=lambda cell: open_sent(find(), cell),
        on_target=lambda number: keep_look(find(), target=number, trail=()),
    )
    show_open_number(view, find)


def make_walk_data(view: BlockView) -> dict[str, object]:
    """Returns the data of the picture: rows of numbers, positions of the slider, predicted words."""
    strips = Strips(view)
    rows, ends = make_rows(view, strips)
    rows += make_end_rows(view, strips)
    word = view.stack[UNEMBEDDING].labels["V"][view.target]
    return {
        "rows": rows,
        "walk": {
            "stops": make_stops(view, ends, len(rows) - 1),
            "label": say("walk.label"),
            "play": say("walk.play"),
            "pause": say("walk.pause"),
        },
        "words": make_word_rows(view),
        "answers": [],
        "palette": vars(current_palette()),
        "text": {
            "words": say("walk.words"),
            "push": say("block.push", word=word),
            "vector": say("block.vector", count=view.stack[SUM]["parts"].shape[-1]),
            "keys": say("block.keys"),
        },
        "numbers": strips.pack(),
    }


# ---- the rows --------------------------------------------------------------------------------------------------------
def parts_of(view: BlockView) -> list[WholePart]:
    """Returns what each component of the model adds to the selected word's vector and to the target word's logit."""
    return whole_parts(view.stack, view.at, view.target)


def make_rows(view: BlockView, strips: Strips) -> tuple[list[dict], dict[str, int]]:
    """Returns the rows of each component and of its heads, biases or inner steps.

    Also returns {component: index of its last row}.
    """
    rows, ends = [], {}
    for part in parts_of(view):
        rows.append(make_part_row(view, strips, part))
        if len(part.members) > 1:
            rows += [make_member_row(view, strips, part.name, each) for each in part.members]
        elif part.name.endswith(".feed_forward"):
            rows += make_inner_rows(view, strips, part.name)
        ends[part.name] = len(rows) - 1
    return rows, ends


def make_part_row(view: BlockView, strips: Strips, part: WholePart) -> dict:
    """Returns the row of a component: the vector that it adds, and its contribution to the target word's logit.

    If the contribution is a single number of the run, the row also has the cell of this number.
    """
    layer, _, kind = part.name.rpartition(".")
    name = say(f"block.part.{kind}")
    if layer:
        name = say("walk.part", layer=layer, part=name)
    row = {"kind": "part", "part": part.name, "name": name, "opens": None}
    if len(part.members) == 1:
        (number,) = part.members
        return {**strips.add(SUM, "parts", (number, 0, view.at)), **row, **make_push(view, number)}
    return {**strips.add_numbers(part.added.numpy()), **row, "push": part.push, "push_cell": None}


def make_member_row(view: BlockView, strips: Strips, part: str, number: int) -> dict:
    """Returns the row of the vector that one head or bias of a component adds.

    part: the component. number: the index of the head or bias among all summands.
    """
    label = view.stack[SUM].labels["part"][number].rpartition(".")[2]
    if label.startswith("head_"):
        name = say("block.part.head", head=label.removeprefix("head_"))
    else:
        name = say(f"walk.member.{label}")
    row = {"kind": "inner", "within": part, "name": name, "sign": ""}
    return {**strips.add(SUM, "parts", (number, 0, view.at)), **row, **make_push(view, number)}


def make_push(view: BlockView, number: int) -> dict:
    """Returns one summand's contribution to the target word's logit, and the cell of this number.

    number: the index of the summand: a component, or a head or bias of it.
    """
    index = (number, 0, view.at, view.target)
    cell = {"part": LOGITS, "step": "pushes", "index": index}
    return {"push": float(view.stack[LOGITS]["pushes"][index]), "push_cell": cell}


# ---- positions of the slider -----------------------------------------------------------------------------------------
def make_stops(view: BlockView, ends: dict[str, int], last: int) -> list[dict]:
    """Returns the positions of the slider: one after each component, and one at the end.

    ends: {component: index of its last row}. last: the index of the last row of all.
    """
    lens = read_lens(view)
    stops = []
    for part in parts_of(view):
        likeliest = lens[part.name]
        told = say_stop(view, part, *likeliest[0])
        stops.append({"row": ends[part.name], "told": told, "words": describe_words(likeliest)})
    return [*stops, {"row": last, "told": say_end(view, *likeliest[0]), "words": []}]


def say_stop(view: BlockView, part: WholePart, said: str, share: float) -> str:
    """Returns the text on a component's contribution to the logit, and on the word predicted after it by the logit
    lens.

    said: the word that the logit lens predicts. share: the word's probability.
    """
    layer, _, kind = part.name.rpartition(".")
    return say(
        f"walk.told.{kind}",
        layer=layer,
        push=format_push(part.push),
        word=name_target(view),
        said=said,
        percent=format_percent(share),
    )


def say_end(view: BlockView, said: str, share: float) -> str:
    """Returns the text that all contributions sum to the logit, and that names the predicted word.

    said: the predicted word. share: its probability.
    """
    cell = view.stack[LOGITS]["pushes_sum"][0, view.at, view.target]
    total = format_fixed(float(cell))
    return say("walk.told.end", total=total, said=said, percent=format_percent(share), word=name_target(view))


def name_target(view: BlockView) -> str:
    """Returns the target word, whose logit is shown."""
    return view.stack[UNEMBEDDING].labels["V"][view.target]


def format_push(push: float) -> str:
    """Formats a contribution to a logit with its sign.

    >>> format_push(1.5), format_push(-0.25)
    ('+1.50', '−0.25')
    """
    return f"{'+' if push >= 0 else ''}{format_fixed(push)}"


def read_lens(view: BlockView) -> dict[str, list[tuple[str, float]]]:
    """Returns {component: likeliest words with their probabilities}, predicted by the logit lens.

    The logit lens treats the sum up to this component as the model's last vector.
    """
    names = view.stack[UNEMBEDDING].labels["V"]
    found = {}
    with torch.inference_mode():
        for part, trace in logit_lens(view.stack).items():
            shares, numbers = trace["probabilities"][0, view.at].topk(MOST_WORDS)
            words = [names[number] for number in numbers.tolist()]
            found[part] = list(zip(words, shares.tolist(), strict=True))
    return found


def describe_words(found: list[tuple[str, float]]) -> list[dict]:
    """Returns predicted words and their probabilities as data for the browser."""
    return [{"word": word, "share": share} for word, share in found]


# ---- the still picture -----------------------------------------------------------------------------------------------
def draw_walk(view: BlockView, data: dict) -> Picture:
    """Returns the still picture, for a file, of what each component adds to a word's vector.

    data: the data of the animated picture, from make_walk_data.
    """
    numbers = np.frombuffer(data["numbers"], dtype=np.float32)
    parts = []
    for row in data["rows"]:
        if row["kind"] in FILE_ROWS:
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
