"""Draws the accordions of the lesson on the decoder."""

from collections.abc import Iterable

import streamlit as st

from attention_core.analysis.logit_attribution import pushes_by_kind, whole_parts
from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.transformer.stack import ENCODER, UNEMBEDDING
from attention_core.variants.textbook_code import DecoderBlock, block_source
from pages.export.page_links import link_to_workbench
from pages.lessons.decoder.translated import Written
from pages.lessons.frame import Lesson
from pages.lessons.sentences import show_sentence
from pages.panels.markdown_table import make_table
from pages.panels.model_walk import format_push, show_walk
from pages.runs.cache import inputs_of
from pages.runs.model_runs import model_sentences_of
from pages.setup.setup import make_setup
from pages.site.words import current_language, escape_markdown, say


# ---- drawer "sum": what does each part add to the next word? ---------------------------------------------------------
def show_sum_of_parts(written: Written) -> None:
    """Shows the direct logit attribution of the next word: what each component of the translator adds to its logit."""
    view = written.view()
    pushes = pushes_by_kind(whole_parts(view.stack, view.at, view.target))
    logits = view.stack[UNEMBEDDING]["logits"]
    show_sentence(
        "lessons.decoder.sum",
        row=escape_markdown(written.target[written.row]),
        word=escape_markdown(view.stack[UNEMBEDDING].labels["V"][view.target]),
        logit=format_push(float(logits[0, view.at, view.target])),
        **{kind: format_push(push) for kind, push in pushes.items()},
    )
    show_walk(written.view, "decoder_walk")


# ---- drawer "alone": which parts does a decoder without an encoder lack? ---------------------------------------------
DECODER_EXAMPLES = {"en": "model_en_decoder", "zh": "model_zh_decoder"}
COMPARED_PARTS = ("encoder", "embedding", "attention", "cross", "feed_forward", "unembedding")


def show_decoder_alone(written: Written) -> None:
    """Shows a table that counts the components of a translator and those of a decoder-only language model."""
    setup = make_setup(example=DECODER_EXAMPLES[current_language()])
    kind = model_sentences_of(setup.run)
    alone = run_model(kind.model, kind.read(inputs_of(setup).queries))
    show_sentence("lessons.decoder.alone", layers=load_recipe(kind.model).shape().layers)
    columns = (count_parts(written.stack.parts), count_parts(alone.parts))
    head = [say(f"lessons.decoder.column.{name}") for name in ("part", "translator", "alone")]
    st.markdown(make_table(head, list_rows(columns)))
    link_to_workbench(setup, "alone", say("lessons.decoder.alone_door"))


def count_parts(names: Iterable[str]) -> dict[str, int]:
    """Counts the components ("parts") of a run by kind; those of an encoder have one kind, "encoder".

    names: the names of the parts, such as "1.attention".
    """
    kinds = ["encoder" if name.startswith(ENCODER) else name.rpartition(".")[2] for name in names]
    return {kind: kinds.count(kind) for kind in COMPARED_PARTS}


def list_rows(columns: tuple[dict[str, int], ...]) -> list[list[str]]:
    """Returns the rows of a table of components: the kind of a component, and how many of it each run has, "–" for
    none.

    columns: {kind of component: count} for each run.
    """
    rows = []
    for kind in COMPARED_PARTS:
        counts = [str(column[kind] or "–") for column in columns]
        rows.append([say(f"lessons.decoder.part.{kind}"), *counts])
    return rows


# ---- drawer "shapes": which shapes have the three attentions? --------------------------------------------------------
ATTENTION_PARTS = ("encoder.{layer}.attention", "{layer}.attention", "{layer}.cross")
ATTENTION_NAMES = ("encoder", "attention", "cross")
SHAPED_STEPS = ("q", "k", "weights", "output")


def show_shapes(written: Written) -> None:
    """Shows a table of the three attentions of a 2017 Transformer, with numbers of this run.

    The columns are queries, keys, blocked pairs and shapes.
    """
    show_sentence("lessons.decoder.shapes", T=len(written.target), S=len(written.source))
    head = [say(f"lessons.decoder.shape.{name}") for name in ("attention", "asks", "asked", "blocked")]
    rows = []
    for name, part in zip(ATTENTION_NAMES, ATTENTION_PARTS, strict=True):
        trace = written.stack[part.format(layer=written.layer)]
        who = [say(f"lessons.decoder.{column}.{name}") for column in ("name", "asks", "asked")]
        blocked = int(trace["masked_scores"][0, 0].isinf().sum())  # number of blocked pairs in one head
        shapes = [trace.step(step).shape[1:] for step in SHAPED_STEPS]  # shapes without batch axis
        rows.append([*who, str(blocked), *(" × ".join(map(str, shape)) for shape in shapes)])
    st.markdown(make_table([*head, *SHAPED_STEPS], rows))


# ---- drawer "code": the source of a whole block ----------------------------------------------------------------------
def show_whole_block(_: Written) -> None:
    """Shows the source code of a Transformer block, which a test compares with torch's own layer."""
    show_sentence("lessons.decoder.block_code")
    st.code(block_source(DecoderBlock), "python")


LESSON = Lesson(
    "decoder",
    drawers={
        "sum": show_sum_of_parts,
        "alone": show_decoder_alone,
        "shapes": show_shapes,
        "code": show_whole_block,
    },
)
