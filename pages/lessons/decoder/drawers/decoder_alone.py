"""The decoder's lesson, drawer "alone": what falls away in a decoder that stands alone?"""

from collections.abc import Iterable

import streamlit as st

from attention_core.learned.language.reading import run_model
from attention_core.learned.language.shipped import load_recipe
from attention_core.transformer.stack import ENCODER
from pages.export.page_links import link_to_workbench
from pages.lessons.decoder.translated import Written
from pages.lessons.sentences import show_sentence
from pages.panels.markdown_table import make_table
from pages.runs.cache import inputs_of
from pages.runs.model_runs import model_sentences_of
from pages.setup.setup import Setup
from pages.site.words import current_language, say

EXAMPLES = {"en": "model_en_decoder", "zh": "model_zh_decoder"}
PARTS = ("encoder", "embedding", "attention", "cross", "feed_forward", "unembedding")


def show_decoder_alone(written: Written) -> None:
    """Shows the parts of the translator beside those of a language model that writes, as both ran."""
    setup = Setup(example=EXAMPLES[current_language()])
    kind = model_sentences_of(setup)
    alone = run_model(kind.model, kind.read(inputs_of(setup).queries))
    show_sentence("lessons.decoder.alone", layers=load_recipe(kind.model).shape().layers)
    columns = (count_parts(written.stack.parts), count_parts(alone.parts))
    head = [say(f"lessons.decoder.column.{name}") for name in ("part", "translator", "alone")]
    st.markdown(make_table(head, list_rows(columns)))
    link_to_workbench(setup, "alone", say("lessons.decoder.alone_door"))


def count_parts(names: Iterable[str]) -> dict[str, int]:
    """How many parts of each kind a run has; all of an encoder are one kind."""
    kinds = ["encoder" if name.startswith(ENCODER) else name.rpartition(".")[2] for name in names]
    return {kind: kinds.count(kind) for kind in PARTS}


def list_rows(columns: tuple[dict[str, int], ...]) -> list[list[str]]:
    """How often each part stands in the runs, "–" where it falls away."""
    rows = []
    for kind in PARTS:
        counts = [str(column[kind] or "–") for column in columns]
        rows.append([say(f"lessons.decoder.part.{kind}"), *counts])
    return rows
