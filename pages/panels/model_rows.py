"""The rows of the model around the layer on the screen: what each part adds, the words that come out, the answers."""

import numpy as np

from attention_core.learned.language.readout import answer_questions, likeliest_words
from attention_core.learned.language.shipped import load_recipe
from attention_core.record.number_text import format_percent
from attention_core.transformer.stack import EMBEDDING, UNEMBEDDING
from pages import components
from pages.panels.model_look import LOGITS, SUM, BlockView
from pages.panels.model_rail import name_model_head
from pages.panels.word_choices import describe_temperature
from pages.runs.model_runs import model_vocabulary
from pages.session.labels import current_palette
from pages.session.view import ScreenState
from pages.site.words import say

MOST_WORDS = 8  # that may come out, and are shown


def make_block_data(screen: ScreenState, view: BlockView) -> bytes:
    """All that the component draws: rows of numbers, words that come out, answers."""
    strips = Strips(view)
    rows = [*make_layer_rows(screen, view, strips), *make_end_rows(view, strips)]
    form = "decoder" if load_recipe(view.name).causal else "encoder"
    data = {
        "rows": rows,
        "temperature": describe_temperature(screen.setup),
        "logits": strips.add(UNEMBEDDING, "logits", (0, view.at)),
        "words": make_word_rows(view),
        "answers": make_answer_rows(view),
        "palette": vars(current_palette()),
        "text": {
            "words": say(f"block.words.{form}"),
            "answers": say("block.answers"),
            "push": say("block.push", word=model_vocabulary(view.name)[view.target]),
            "vector": say("block.vector"),
            "keys": say("block.keys"),
        },
    }
    return components.pack_bytes({**data, "numbers": strips.pack()})


def make_layer_rows(screen: ScreenState, view: BlockView, strips: "Strips") -> list[dict]:
    """The embedding, and layer by layer what each head and the feed-forward layer add, with the steps in it; behind
    each layer the word that would come out there."""
    rows, layer = [], 0
    for n in range(len(view.stack[SUM].labels["part"])):
        row = make_part_row(screen, view, strips, n)
        if row["layer"] != layer:
            layer = row["layer"]
            rows.append({"kind": "group", "name": say("model.layer", layer=layer)})
        rows.append(row)
        if row["part"].endswith(".feed_forward"):
            rows += make_inner_rows(view, strips, row["part"])
            rows.append({"kind": "group", "name": describe_lens(view, row["part"])})
    return rows


def describe_lens(view: BlockView, part: str) -> str:
    """Which word would come out if the model ended after a part."""
    shares, numbers = likeliest_words(view.name, view.tokens)[part]
    word = model_vocabulary(view.name)[int(numbers[view.at])]
    return say("block.lens", word=word, percent=format_percent(float(shares[view.at])))


class Strips:
    """The numbers of all rows, one behind the other."""

    def __init__(self, view: BlockView):
        self.view = view
        self.numbers: list[np.ndarray] = []

    def add(self, part: str, step: str, index: tuple[int, ...]) -> dict:
        """The numbers along the last axis of a step; how the component finds them, and the cell that each is."""
        cell = {"part": part, "step": step, "index": index}
        return {**self.add_numbers(self.view.stack[part][step][index].numpy()), "cell": cell}

    def add_numbers(self, values: np.ndarray) -> dict:
        """Numbers that are no step; how the component finds them."""
        first = sum(map(len, self.numbers))
        self.numbers.append(values.astype(np.float32))
        return {"first": first, "count": len(values), "cell": None}

    def pack(self) -> bytes:
        """All numbers as bytes."""
        return np.concatenate(self.numbers).tobytes()


def make_part_row(screen: ScreenState, view: BlockView, strips: Strips, n: int) -> dict:
    """What one part adds, and how far it pushes the logit of the word."""
    label = view.stack[SUM].labels["part"][n]
    index = (n, 0, view.at)
    push = {"part": LOGITS, "step": "pushes", "index": (*index, view.target)}
    return {
        **strips.add(SUM, "parts", index),
        **name_part(screen, label),
        "kind": "part",
        "push": float(view.stack[LOGITS]["pushes"][(*index, view.target)]),
        "push_cell": push,
    }


def name_part(screen: ScreenState, label: str) -> dict:
    """What a part is called, its layer, and the head that it opens, if it is one."""
    if label == EMBEDDING:
        return {"part": label, "name": say("block.part.embedding"), "layer": 0, "opens": None}
    layer, kind, *head = label.split(".")
    if not head:
        return {"part": label, "name": say(f"block.part.{kind}"), "layer": int(layer), "opens": None}
    number = int(head[0].removeprefix("head_")) - 1
    name = name_model_head(screen.setup, int(layer), number)
    if name.isdigit():
        name = say("block.part.head", head=name)
    return {"part": label, "name": name, "layer": int(layer), "opens": [int(layer), number]}


def make_inner_rows(view: BlockView, strips: Strips, part: str) -> list[dict]:
    """The steps of a feed-forward layer, each from the one before."""
    trace = view.stack[part]
    rows = []
    for name, step in trace.computed().items():
        if "T" in step.dims and name not in ("output", "residual"):
            sign = step.operation.sign
            row = {"kind": "inner", "within": part, "name": say(f"block.inner.{name}"), "sign": sign}
            rows.append({**strips.add(part, name, (0, view.at)), **row})
    return rows


def make_end_rows(view: BlockView, strips: Strips) -> list[dict]:
    """The sum, and the norm behind it, if there is one, out of which the logits are read."""
    norms = [name for name in view.stack[UNEMBEDDING].computed() if "_normed_" in name]
    total = view.stack[LOGITS]["pushes_sum"][0, view.at, view.target]
    push = {"part": LOGITS, "step": "pushes_sum", "index": (0, view.at, view.target)}
    sum_row = {"kind": "sum", "name": say("block.part.sum"), "sign": "Σ"}
    rows = [{**strips.add(SUM, "parts_sum", (0, view.at)), **sum_row, "push": float(total), "push_cell": push}]
    for normed in norms:
        norm_row = {"kind": "norm", "name": say("block.inner.rms_normed_x")}
        rows.append({**strips.add(UNEMBEDDING, normed, (0, view.at)), **norm_row})
    return rows


def make_word_rows(view: BlockView) -> list[dict]:
    """The likeliest words, and the one that was chosen, each with its probability."""
    trace = view.stack[UNEMBEDDING]
    logits, probabilities = trace["logits"][0, view.at], trace["probabilities"][0, view.at]
    likeliest = logits.topk(MOST_WORDS).indices.tolist()
    shown = likeliest if view.target in likeliest else [*likeliest[:-1], view.target]
    rows = []
    for number in shown:
        index = (0, view.at, number)
        row = {
            "word": trace.labels["V"][number],
            "number": number,
            "share": float(probabilities[number]),
            "chosen": number == view.target,
            "share_cell": {"part": UNEMBEDDING, "step": "probabilities", "index": index},
        }
        rows.append(row)
    return rows


def make_answer_rows(view: BlockView) -> list[dict]:
    """What the model answers to each question at the word: of which nothing is asked, it answers the word itself."""
    rows = []
    for question, probabilities in answer_questions(view.name, view.tokens).items():
        share, number = probabilities[view.at].max(-1)
        word = model_vocabulary(view.name)[int(number)]
        if word == view.tokens[view.at]:
            word = say("block.itself")
        rows.append({"question": say(f"model.question.{question}"), "word": word, "share": float(share)})
    return rows
