"""Writes the texts in the documents of a run: provenance, title, settings, and headings of matrices."""

from functools import partial
from urllib.parse import urlencode

from attention_core import Trace
from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.provenance import Provenance
from attention_core.explanation.layout import Panel
from attention_core.inputs.tokenizer import printable_token
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.record.number_text import format_short
from pages.panels.head_maps import fact_sentence
from pages.panels.input_origins import describe_origins
from pages.panels.model_panels import tell_run_guess
from pages.panels.step_picture import make_panel_title
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens
from pages.session.addresses import page_address
from pages.session.labels import (
    Selection,
    formula_names,
    name_choice,
    name_position_choice,
    picture_texts_for,
    place_name,
)
from pages.session.view import name_shown
from pages.setup.choice_text import write_choice, write_mask, write_position
from pages.setup.codec import to_address
from pages.setup.resolve import config_of, resolve_run
from pages.setup.setup import Setup
from pages.site.catalog import PAGES
from pages.site.words import current_language, say

MAX_DOCUMENT_TITLE_CHARS = 80  # most characters of a document's title


def make_run_provenance(setup: Setup, address: str | None = None) -> Provenance:
    """Returns the provenance of a run: sentence, workbench link, origin of the numbers, and a warning about guesses.

    address: the URL of the workbench; required if there is no session.
    """
    language = current_language()
    link_parts = to_address(setup, language) | {"lang": language}
    origins = describe_origins(setup, inputs_of(setup), spell=str)
    return Provenance(
        title=make_document_title(setup),
        link=f"{workbench_address() if address is None else address}?{urlencode(link_parts)}",
        notes=(say("export.made_with"), origins),
        warning=tell_run_guess(setup),
    )


def make_document_title(setup: Setup) -> str:
    """Returns the sentence of a run, cut to MAX_DOCUMENT_TITLE_CHARS; without a sentence, the name of the screen."""
    if resolve_run(setup.run).mode == "sentence":
        title = printable_token(spell_tokens(inputs_of(setup).queries, setup.run))
    else:
        title = name_shown(setup)
    if len(title) <= MAX_DOCUMENT_TITLE_CHARS:
        return title
    return title[: MAX_DOCUMENT_TITLE_CHARS - 1] + "…"


def workbench_address() -> str:
    """Returns the URL of the workbench, which is the first page."""
    address = page_address()
    root, _, page = address.rpartition("/")
    slugs = {entry.slug for entry in PAGES}
    return f"{root}/" if page in slugs else address


def make_document_texts(trace: Trace, setup: Setup, selection: Selection) -> DocumentTexts:
    """Returns the texts of a run's documents, in the language of the session."""
    return write_document_texts(trace, selection, list_run_settings(trace, setup))


def write_document_texts(trace: Trace, selection: Selection, settings: tuple[str, ...]) -> DocumentTexts:
    """Returns the texts of the documents of any Trace. settings: what its numbers come from, one per line."""
    return DocumentTexts(
        language=say("app.tag"),
        sentence=fact_sentence(trace, selection, spell=str),
        settings=settings,
        words=picture_texts_for(trace),
        title=partial(matrix_heading, trace),
        more=say_more_heads,
        names=formula_names(trace),
    )


def matrix_heading(trace: Trace, drawn: Panel) -> str:
    """Returns the heading of a matrix; if each query has a separate matrix, the heading also names the query."""
    title = make_panel_title(trace, drawn)
    outer_dims = trace.step(drawn.step).dims[:-2]
    first_cell = drawn.refs[0][0].index
    position = dict(zip(outer_dims, first_cell, strict=False))
    if "T" not in position:
        return title
    return f"{title} · {place_name(trace, 'T', position['T'])}"


def say_more_heads(count: int) -> str:
    """Returns the sentence that says that `count` more heads are not shown."""
    return say("export.more", count=count)


def list_run_settings(trace: Trace, setup: Setup) -> tuple[str, ...]:
    """Returns the settings of a run, one per line; the last line states the sizes of the run.

    Most settings that have their default value are omitted.
    """
    config = config_of(setup.run)
    sizes = trace.sizes()
    masks = [name_choice("masks", write_mask(*mask)) for mask in config.masks]
    if setup.run.allowed is not None:
        masks.append(say("masks.custom"))
    positions = [name_position_choice(write_position(*position)) for position in config.positions]
    modifiers = [name_choice("modifiers", write_choice(*modifier, MODIFIERS)) for modifier in config.modifiers]
    values = {
        "score": say(f"score.{config.score}"),
        "scale": "" if config.scale is None else format_short(config.scale),
        "temperature": "" if config.temperature == 1 else format_short(config.temperature),
        "heads": str(sizes["H"]),
        "kv_heads": "" if sizes["H_kv"] == sizes["H"] else str(sizes["H_kv"]),
        "masks": say("fact.comma").join(masks),
        "positions": say("fact.comma").join(positions),
        "modifiers": say("fact.comma").join(modifiers),
        "normaliser": "" if setup.run.normaliser == "softmax" else name_choice("normaliser", setup.run.normaliser),
        "dtype": say(f"dtype.{setup.run.dtype}"),
    }
    lines = []
    for name, value in values.items():
        if value:
            lines.append(say("export.setting", name=say(f"control.{name}"), value=value))
    return (*lines, list_sizes(trace))


def list_sizes(trace: Trace) -> str:
    """Returns the sizes of a run's axes as a text, such as "B = 1, T = 5"."""
    return ", ".join(f"{dim} = {size}" for dim, size in trace.sizes().items() if "·" not in dim)
