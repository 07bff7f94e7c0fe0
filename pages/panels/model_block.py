"""The model around the layer on the screen: what each part adds to a word's vector, and which words come out of it."""

import re
from dataclasses import dataclass, field, replace

import numpy as np
import streamlit as st
import torch

from attention_core import Trace
from attention_core.explanation.arithmetic import explain
from attention_core.learned.language.readout import answer_questions, likeliest_words
from attention_core.learned.language.shipped import load_recipe
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_percent
from attention_core.transformer.stack import EMBEDDING, UNEMBEDDING, Stack
from pages import components
from pages.panels.arithmetic import format_cell_number, make_piece_data
from pages.panels.model_rail import name_model_head, open_layer, words_of_model
from pages.panels.setup_controls import try_change
from pages.runs.model_runs import model_sentences_of, model_stack, model_vocabulary
from pages.session.cell_clicks import is_valid_index
from pages.session.fragments import page_part, redraw
from pages.session.labels import current_palette, describe_cell, inline_step_name, name_token
from pages.session.view import ScreenState
from pages.setup.setup import layer_of, without_view
from pages.site.words import escape_markdown, say

SUM, LOGITS = "residual_sum", "logit_sum"
MOST_WORDS = 8  # that may come out, and are shown
LOOK_KEY = "model_block"


@dataclass(frozen=True)
class BlockCell:
    """A number of the model's run: the part, and the cell in it."""

    part: str
    ref: Ref


@dataclass(frozen=True)
class BlockLook:
    """What is looked at in the model.

    run: of which sentence. target: the word whose logit the parts push; the likeliest where it is None. trail: the
    numbers that were followed, the last one is open."""

    run: tuple = ()
    target: int | None = None
    trail: tuple[BlockCell, ...] = ()


@dataclass(frozen=True)
class BlockView:
    """What is drawn. stack: the run of the model. at: the place of the word that is looked at."""

    name: str
    tokens: tuple[str, ...]
    stack: Stack
    at: int
    layer: int
    look: BlockLook = field(default_factory=BlockLook)

    @property
    def target(self) -> int:
        """The word whose logit the parts push."""
        if self.look.target is not None:
            return self.look.target
        return int(self.stack[UNEMBEDDING]["logits"][0, self.at].argmax())


# ---- the part of the page --------------------------------------------------------------------------------------------
def block_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The run, the word and the layer that are looked at, and what is open."""
    if words_of_model(screen) is None:
        return ()
    palette = current_palette().ground
    look = st.session_state.get(LOOK_KEY)
    return (without_view(screen.setup), screen.selection.batch, screen.selection.query, palette, look)


@page_part(block_dependencies)
def show_block(screen: ScreenState) -> None:
    """The sum that a word's vector is, and what comes out; nothing where no language model reads the sentence."""
    view = view_block(screen)
    if view is None:
        return
    word = escape_markdown(name_token(view.stack[SUM], "T", view.at))
    st.markdown(f"#### {say('block.title', word=word)}")
    st.caption(describe_sum(view, word))
    if not is_as_trained(screen, view):
        st.caption(say("block.changed", layer=view.layer))
    components.model_block(
        data=make_block_data(screen, view),
        key="block",
        on_opened_change=lambda: open_sent(view, st.session_state["block"].opened),
        on_target_change=lambda: take_target(view, st.session_state["block"].target),
        on_head_change=lambda: take_head(view, st.session_state["block"].head),
    )
    show_open_number(view)


def view_block(screen: ScreenState) -> BlockView | None:
    """What is drawn of a screen; None where no language model reads it."""
    words = words_of_model(screen)
    if words is None:
        return None
    kind = model_sentences_of(screen.setup)
    stack = model_stack(screen.setup, words)
    run = (kind.model, kind.read(words))
    look = st.session_state.get(LOOK_KEY)
    if look is None or look.run != run:
        look = BlockLook(run)
    return BlockView(*run, stack, min(screen.selection.query, len(words) - 1), layer_of(screen.setup), look)


def is_as_trained(screen: ScreenState, view: BlockView) -> bool:
    """Whether the layer on the screen runs as it does in the model."""
    own, shown = view.stack[f"{view.layer}.attention"]["output"], screen.trace["output"]
    own = own[0]  # (T, D)
    shown = shown[min(screen.selection.batch, len(shown) - 1), : len(own)]
    return own.shape == shown.shape and torch.allclose(own, shown.to(own.dtype))


def describe_sum(view: BlockView, word: str) -> str:
    """That the vector is the sum of its parts, as closely as was measured, and what the pushes are."""
    total = view.stack[SUM]["parts_sum"][0, view.at]
    end = view.stack[UNEMBEDDING]["x"][0, view.at]
    trace = view.stack[LOGITS]
    (divisor,) = (name for name in trace.steps if "_divisor_of_" in name)
    return say(
        "block.about",
        word=word,
        count=len(trace.labels["part"]),
        target=escape_markdown(model_vocabulary(view.name)[view.target]),
        apart=f"{float((total - end).abs().max()):.0e}",
        divisor=format_fixed(float(trace[divisor][0, view.at])),
    )


# ---- what is drawn ---------------------------------------------------------------------------------------------------
def make_block_data(screen: ScreenState, view: BlockView) -> bytes:
    """All that the component draws: rows of numbers, words that come out, answers."""
    strips = Strips(view)
    rows = [*make_layer_rows(screen, view, strips), *make_end_rows(view, strips)]
    form = "decoder" if load_recipe(view.name).causal else "encoder"
    data = {
        "rows": rows,
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
    """The embedding, and layer by layer what each head and the feed-forward layer add; under those of the layer on the
    screen the steps of its feed-forward layer; behind each layer the word that would come out there."""
    own = f"{view.layer}.feed_forward"
    rows, layer = [], 0
    for n in range(len(view.stack[SUM].labels["part"])):
        row = make_part_row(screen, view, strips, n)
        if row["layer"] != layer:
            layer = row["layer"]
            rows.append({"kind": "group", "name": say("model.layer", layer=layer)})
        rows.append(row)
        if row["part"] == own:
            rows += make_inner_rows(view, strips, own)
        if row["part"].endswith(".feed_forward"):
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
        values = self.view.stack[part][step][index].numpy().astype(np.float32)
        first = sum(map(len, self.numbers))
        self.numbers.append(values)
        return {"first": first, "count": len(values), "cell": {"part": part, "step": step, "index": index}}

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
            sign = step.operation.faces.sign
            row = {"kind": "inner", "name": say(f"block.inner.{name}"), "sign": sign}
            rows.append({**strips.add(part, name, (0, view.at)), **row})
    return rows


def make_end_rows(view: BlockView, strips: Strips) -> list[dict]:
    """The sum, and the norm behind it, out of which the logits are read."""
    (normed,) = (name for name in view.stack[UNEMBEDDING].computed() if "_normed_" in name)
    total = view.stack[LOGITS]["pushes_sum"][0, view.at, view.target]
    push = {"part": LOGITS, "step": "pushes_sum", "index": (0, view.at, view.target)}
    sum_row = {"kind": "sum", "name": say("block.part.sum"), "sign": "Σ"}
    norm_row = {"kind": "norm", "name": say("block.inner.rms_normed_x")}
    return [
        {**strips.add(SUM, "parts_sum", (0, view.at)), **sum_row, "push": float(total), "push_cell": push},
        {**strips.add(UNEMBEDDING, normed, (0, view.at)), **norm_row},
    ]


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
            "word": model_vocabulary(view.name)[number],
            "number": number,
            "share": float(probabilities[number]),
            "chosen": number == view.target,
            "share_cell": {"part": UNEMBEDDING, "step": "probabilities", "index": index},
        }
        rows.append(row)
    return rows


def make_answer_rows(view: BlockView) -> list[dict]:
    """What the model answers to each question at the word."""
    rows = []
    for question, probabilities in answer_questions(view.name, view.tokens).items():
        share, number = probabilities[view.at].max(-1)
        word = model_vocabulary(view.name)[int(number)]
        rows.append({"question": say(f"model.question.{question}"), "word": word, "share": float(share)})
    return rows


# ---- an open number --------------------------------------------------------------------------------------------------
def show_open_number(view: BlockView) -> None:
    """The arithmetic of the number that is open; each of its operands leads on, across all parts to the embedding."""
    if not view.look.trail:
        return
    cell = view.look.trail[-1]
    trace = view.stack[cell.part]
    pieces = explain(trace, cell.ref.step, cell.ref.index)
    title = escape_markdown(f"{name_cell_part(cell.part)} · {describe_cell(trace, cell.ref)}")
    st.markdown(f"**{title}** = {format_cell_number(trace, cell.ref)}")
    data = {
        "trail": [make_step_back(view.stack, each) for each in view.look.trail[:-1]],
        "pieces": [] if pieces.cell is None else [make_piece(trace, cell.part, each) for each in pieces.pieces],
        "colours": current_palette().families(),
        "label": say("arithmetic.trail"),
    }
    follow = lambda: follow_sent(view, st.session_state["block_sum"].followed)  # noqa: E731
    components.arithmetic(data=data, key="block_sum", on_followed_change=follow)
    st.caption(say("arithmetic.rounded" if data["pieces"] else "arithmetic.input"))


def name_step(cell: BlockCell) -> str:
    """What a step is called on the way to an open number; in a sum, whose steps are of many parts, by that part."""
    made = re.fullmatch(r"([a-z_]+)_(\d+)_([a-z]+)", cell.ref.step)
    if cell.part in (SUM, LOGITS) and made:
        kind, layer, step = made.groups()
        return f"{name_cell_part(f'{layer}.{kind}')}: {say(f'block.step.{step}')}"
    if cell.part in (SUM, LOGITS):
        return name_cell_part(cell.part)
    return f"{name_cell_part(cell.part)}: {inline_step_name(cell.ref.step)}"


def name_cell_part(part: str) -> str:
    """What a part is called beside one of its numbers."""
    layer, _, kind = part.rpartition(".")
    name = say(f"block.part.{kind}")
    return f"{say('model.layer', layer=layer)}, {name}" if layer else name


def make_piece(trace: Trace, part: str, piece: object) -> dict:
    """A piece of arithmetic whose operand is named with its part."""
    data = make_piece_data(trace, piece)
    if "step" in data:
        data["step"] = f"{part}/{data['step']}"
    return data


def make_step_back(stack: Stack, cell: BlockCell) -> dict:
    """A number that was passed, to go back to."""
    return {
        "text": name_step(cell),
        "title": describe_cell(stack[cell.part], cell.ref),
        "step": f"{cell.part}/{cell.ref.step}",
        "index": list(cell.ref.index),
    }


def find_maker(stack: Stack, cell: BlockCell) -> BlockCell:
    """Where a number was made: what a part begins with is a step of another one."""
    source = stack.source_of(cell.part, cell.ref)
    while source is not None:
        cell = BlockCell(*source)
        source = stack.source_of(cell.part, cell.ref)
    return cell


# ---- what is done in it ----------------------------------------------------------------------------------------------
def read_cell(view: BlockView, sent: object) -> BlockCell | None:
    """A cell that a browser names, {"part", "step", "index"}, where the run has it."""
    match sent:
        case {"part": str(part), "step": str(step), "index": [*index]} if all(type(place) is int for place in index):
            ref = Ref(step, tuple(index))
            if part in view.stack.parts and view.stack[part].holds(ref.step, ref.index):
                return BlockCell(part, ref)
    return None


def open_sent(view: BlockView, sent: object) -> None:
    """Opens the number that a browser names."""
    cell = read_cell(view, sent)
    if cell is not None:
        keep_look(view, trail=(find_maker(view.stack, cell),))


def follow_sent(view: BlockView, sent: object) -> None:
    """Goes on to an operand, or back to a number that was passed."""
    match sent:
        case {"step": str(name), "index": index}:
            part, _, step = name.partition("/")
            cell = read_cell(view, {"part": part, "step": step, "index": index})
            if cell is None:
                return
            trail = view.look.trail
            if cell in trail:
                keep_look(view, trail=trail[: trail.index(cell) + 1])
            else:
                keep_look(view, trail=(*trail, find_maker(view.stack, cell)))


def take_target(view: BlockView, number: object) -> None:
    """Another word's logit is looked at."""
    if is_valid_index(number, len(model_vocabulary(view.name))):
        keep_look(view, target=number, trail=())


def take_head(view: BlockView, sent: object) -> None:
    """Opens the head whose part was clicked, in the picture above."""
    match sent:
        case [layer, head] if f"{layer}.attention" in view.stack.parts:
            if not is_valid_index(head, view.stack[f"{layer}.attention"].sizes()["H"]):
                return
            if layer == view.layer:
                try_change("layer", head=head)
            else:
                open_layer(layer, view.at, head)


def keep_look(view: BlockView, **changes: object) -> None:
    """Keeps what is looked at, and draws it."""
    st.session_state[LOOK_KEY] = replace(view.look, **changes)
    redraw()
