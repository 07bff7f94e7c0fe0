"""Draws the panel of direct logit attribution: what each part of the model adds to a word's vector, and to a logit."""

from collections.abc import Iterator

import streamlit as st

from attention_core.analysis.logit_attribution import name_whole_part
from attention_core.learned.language.read_model import ReadModel, find_model
from attention_core.learned.language.readout import answer_questions, likeliest_words
from attention_core.record.number_text import format_fixed, format_percent
from attention_core.transformer.stack import UNEMBEDDING, Stack
from pages import components
from pages.panels.model import OWN, Panel, ShownRuns, Table, make_table, predicts_words
from pages.panels.model_look import (
    LOGITS,
    SUM,
    BlockView,
    changed_layer,
    keep_look,
    open_sent,
    show_open_number,
    view_block,
    view_vectors,
)
from pages.panels.model_rail import name_reading, open_head, words_of_model
from pages.panels.model_rows import MOST_WORDS, Strips, make_end_rows, make_inner_rows, make_word_rows, name_part
from pages.panels.setup_controls import show_refusal
from pages.panels.word_choices import WORD_CHOICES, describe_temperature, take_word_choices
from pages.runs.model_runs import model_of, model_sentences_of, model_vocabulary
from pages.session.collected import show_moving
from pages.session.labels import current_palette, name_token
from pages.session.view import ScreenState
from pages.site.words import escape_markdown, say


def draw_sum(screen: ScreenState) -> None:
    """Draws the vectors that heads and layers add to the selected word, and the words that the model predicts from the
    sum.
    """
    view = view_sum(screen)
    word = escape_markdown(name_token(view.stack[SUM], "T", view.at))
    st.markdown(f"#### {say('block.title', word=word)}")
    st.caption(describe_sum(view, word) if splits_logits(view) else describe_vector_sum(view, word))
    layer = changed_layer(screen)
    if layer is not None:
        st.caption(say("block.changed", layer=layer))
    show_moving(
        components.model_block,
        data=make_block_data(screen, view),
        key="block",
        given={"vocabulary": len(model_vocabulary(view.name))},
        on_opened=lambda cell: open_sent(view_sum(screen), cell),
        on_target=lambda number: keep_look(view_sum(screen), target=number, trail=()),
        on_temperature=lambda temperature: take_word_choices({"word_temperature": temperature}),
        on_head=lambda place: open_head(view_sum(screen).at, *place),
    )
    show_refusal(WORD_CHOICES)
    show_open_number(view, lambda: view_sum(screen))


def view_sum(screen: ScreenState) -> BlockView:
    """Returns the run whose sums are shown; for a model that computes no logits from its vectors, only the vectors are
    sums.
    """
    return view_block(screen) if predicts_words(model_of(screen.setup.run)) else view_vectors(screen)


def splits_logits(view: BlockView) -> bool:
    """Returns whether a run contains what each part adds to a logit (direct logit attribution)."""
    return LOGITS in view.stack.parts


def describe_sum(view: BlockView, word: str) -> str:
    """Returns the text about the error of the sum (its distance from the word's vector), and about the norm's frozen
    divisor.
    """
    total = view.stack[SUM]["parts_sum"][0, view.at]
    end = view.stack[UNEMBEDDING]["x"][0, view.at]
    trace = view.stack[LOGITS]
    divisors = [name for name in trace.steps if "_divisor_of_" in name]
    told = say(
        "block.about",
        word=word,
        count=len(trace.labels["part"]),
        target=escape_markdown(model_vocabulary(view.name)[view.target]),
        apart=f"{float((total - end).abs().max()):.0e}",
    )
    if len(divisors) != 1:  # the model has no last norm, or a norm after each layer
        return told
    return f"{told} {say('block.about_norm', divisor=format_fixed(float(trace[divisors[0]][0, view.at])))}"


def describe_vector_sum(view: BlockView, word: str) -> str:
    """Returns the text about the error of the sum (its distance from the model's last vector), and why no logits are
    split.
    """
    trace = view.stack[SUM]
    last = view.stack[list_summed_parts(view.stack)[-1]]
    end = last.steps[next(reversed(last.steps))].value[0, view.at]
    apart = float((trace["parts_sum"][0, view.at] - end).abs().max())
    return say("block.about_vectors", word=word, count=len(trace.labels["part"]), apart=f"{apart:.0e}")


def list_summed_parts(stack: Stack) -> list[str]:
    """Returns the names of the parts of a run whose results are summed up, in order."""
    return [part for part in stack.parts if part != SUM]


# ---- the data of the component ---------------------------------------------------------------------------------------
def make_block_data(screen: ScreenState, view: BlockView) -> bytes:
    """Returns the data of the browser component as bytes: rows of numbers, predicted words, and answers to
    questions.
    """
    strips = Strips(view)
    model = find_model(view.name)
    if not splits_logits(view):
        return pack_vector_sum(screen, view, strips)
    rows = [
        *make_layer_rows(screen, view, strips),
        *make_end_rows(view, strips),
        *make_shift_rows(screen, view, strips),
    ]
    form = name_reading(model)
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
            "vector": say("block.vector", count=view.stack[SUM]["parts"].shape[-1]),
            "keys": say("block.keys"),
        },
    }
    return components.pack_bytes({**data, "numbers": strips.pack()})


def pack_vector_sum(screen: ScreenState, view: BlockView, strips: Strips) -> bytes:
    """Returns the data of the browser component for a model that computes no logits from its vectors: the vectors that
    are added, their lengths, and the likeliest words of the logits that were recorded, if there are any.
    """
    total = view.stack[SUM]["parts_sum"][0, view.at]
    end = {"kind": "sum", "name": say("block.part.sum"), "sign": "Σ", "push": float(total.norm()), "push_cell": None}
    rows = [*make_layer_rows(screen, view, strips), {**strips.add(SUM, "parts_sum", (0, view.at)), **end}]
    words = list_recorded_words(find_model(view.name), view.at)
    data = {
        "rows": rows,
        "temperature": None,
        "logits": strips.add_numbers([]),
        "words": [{"word": word, "share": share} for word, share in words],
        "answers": [],
        "palette": vars(current_palette()),
        "text": {
            "words": say("block.words.recorded" if words else "block.words.none"),
            "answers": "",
            "push": say("block.length"),
            "vector": say("block.vector", count=len(total)),
            "keys": say("block.keys"),
        },
    }
    return components.pack_bytes({**data, "numbers": strips.pack()})


def list_recorded_words(model: ReadModel, at: int) -> list[tuple[str, float]]:
    """Returns the likeliest words of the logits that a model returned at a position, with their probabilities; [] if it
    returned no logits.
    """
    if model.returned_logits is None:
        return []
    shares, numbers = model.returned_logits[at].double().softmax(-1).topk(MOST_WORDS)
    return [(model.show(number), share) for number, share in zip(numbers.tolist(), shares.tolist(), strict=True)]


def make_layer_rows(screen: ScreenState, view: BlockView, strips: "Strips") -> list[dict]:
    """Returns one row of data for the embedding, each head and each feed-forward layer.

    After the feed-forward layer of each layer follows a row with the word that the logit lens predicts at this point.
    """
    rows, layer = [], 0
    wholes = [name_whole_part(label) for label in view.stack[SUM].labels["part"]]
    for n, whole in enumerate(wholes):
        row = make_part_row(screen, view, strips, n)
        if row["layer"] != layer:
            layer = row["layer"]
            rows.append({"kind": "group", "name": say("model.layer", layer=layer)})
        rows.append(row)
        if row["part"].endswith(".feed_forward"):
            rows += make_inner_rows(view, strips, row["part"])
        is_end = whole.endswith(".feed_forward") and whole not in wholes[n + 1 :]
        if is_end and splits_logits(view):
            rows.append({"kind": "group", "name": describe_lens(view, whole)})
    return rows


def describe_lens(view: BlockView, part: str) -> str:
    """Returns the text about the logit lens after a head or layer: the word that the model would predict if it ended
    there.

    part: the name of the layer, such as "2.feed_forward".
    """
    shares, numbers = likeliest_words(view.name, view.tokens)[part]
    word = model_vocabulary(view.name)[int(numbers[view.at])]
    return say("block.lens", word=word, percent=format_percent(float(shares[view.at])))


def make_part_row(screen: ScreenState, view: BlockView, strips: Strips, n: int) -> dict:
    """Returns the row of a head or layer: the vector that it adds, and its contribution to the target word's logit.

    n: the index of the head or layer among all parts of the sum.
    """
    label = view.stack[SUM].labels["part"][n]
    return {
        **strips.add(SUM, "parts", (n, 0, view.at)),
        **name_part(screen, label),
        "kind": "part",
        **make_push(view, n),
    }


def make_shift_rows(screen: ScreenState, view: BlockView, strips: Strips) -> list[dict]:
    """Returns a row for each vector or number that is added after the sum: the shift of the last norm, and the bias of
    the logits.
    """
    rows, labels = [], view.stack[LOGITS].labels["part"]
    for n in range(len(view.stack[SUM].labels["part"]), len(labels)):
        has_vector = n < len(view.stack[LOGITS]["parts"])  # the bias is no vector: it has one number for each word
        push = make_push(view, n)
        shown = strips.add(LOGITS, "parts", (n, 0, view.at)) if has_vector else strips.add_numbers([push["push"]])
        rows.append({**shown, **name_part(screen, labels[n]), "kind": "part", **push})
    return rows


def make_push(view: BlockView, n: int) -> dict:
    """Returns what a part adds to the target word's logit, and the cell of this number. If the model has no logits,
    returns the length of the vector that the part adds.

    n: the index of the part among all parts of the logit.
    """
    if not splits_logits(view):
        return {"push": float(view.stack[SUM]["parts"][n, 0, view.at].norm()), "push_cell": None}
    index = (n, 0, view.at, view.target_place)
    cell = {"part": LOGITS, "step": "pushes", "index": index}
    return {"push": float(view.stack[LOGITS]["pushes"][index]), "push_cell": cell}


def make_answer_rows(view: BlockView) -> list[dict]:
    """Returns the likeliest answer to each question about the selected word, with its probability.

    An answer that is the selected word itself is written as "itself".
    """
    rows = []
    for question, probabilities in answer_questions(view.name, view.tokens).items():
        share, number = probabilities[view.at].max(-1)
        word = model_vocabulary(view.name)[int(number)]
        if word == view.tokens[view.at]:
            word = say("block.itself")
        rows.append({"question": say(f"model.question.{question}"), "word": word, "share": float(share)})
    return rows


# ---- proof, files and record -----------------------------------------------------------------------------------------
def list_runs(screen: ScreenState) -> ShownRuns:
    """Returns the run to prove: the run of the model, with the sums over its parts."""
    return ShownRuns((screen.setup.view.word_temperature,), lambda: {OWN: view_sum(screen).stack})


def list_tables(screen: ScreenState) -> Iterator[Table]:
    """Yields the tables to export: what each part of the model adds to each word's vector and to the target logit."""
    view = view_sum(screen)
    yield view.stack[SUM], "parts"
    if not splits_logits(view):
        return
    logits = view.stack[LOGITS]
    pushes = logits["pushes"][:, 0, :, view.target_place]  # (part, B, T, V) -> (part, T)
    yield make_table("pushes", pushes, part=logits.labels["part"], T=words_of_model(screen))


def find_run(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values that determine the panel's run: the model, the tokens, the words, and a layer that was
    changed.

    The layer in the picture is included only if the visitor changed it, because the panel shows all layers.
    """
    kind, words = model_sentences_of(screen.setup.run), words_of_model(screen)
    return (kind.model, kind.read(words), words, changed_layer(screen))


PANEL = Panel(
    place=1,
    depends_on=("word_temperature",),
    draw=draw_sum,
    runs=list_runs,
    tables=list_tables,
    run_key=find_run,
)
