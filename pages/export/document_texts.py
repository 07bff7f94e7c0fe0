"""What documents say of a run: where it is from, its sentence, how it was made, and what stands over its matrices."""

from functools import partial
from urllib.parse import urlencode

from attention_core import Trace
from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.provenance import Provenance
from attention_core.explanation.layout import Panel
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.number_text import format_short
from pages.panels.head_maps import fact_sentence
from pages.panels.input_origins import describe_origins
from pages.panels.step import make_panel_title
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens
from pages.session.addresses import page_address
from pages.session.labels import Selection, picture_texts_for, place_name
from pages.setup.mask_spec import write_mask
from pages.setup.setup import Setup, config_of, input_mode_of, to_address
from pages.site.catalog import PAGES
from pages.site.words import current_language, say

MAX_DOCUMENT_TITLE_CHARS = 80  # characters


def make_run_provenance(setup: Setup) -> Provenance:
    """The sentence, the link to this very state in the workbench, and where its numbers come from."""
    material = inputs_of(setup)
    title = (
        printable_token(spell_tokens(material.queries, setup))
        if input_mode_of(setup) == "sentence"
        else say(f"example.{setup.example}")
    )
    title = title if len(title) <= MAX_DOCUMENT_TITLE_CHARS else title[: MAX_DOCUMENT_TITLE_CHARS - 1] + "…"
    link = workbench_address() + "?" + urlencode(to_address(setup, current_language()) | {"lang": current_language()})
    return Provenance(title, link, (say("app.title"), describe_origins(setup, material, spell=str)))


def workbench_address() -> str:
    """Where the workbench is reached, which is the first page."""
    root, _, page = page_address().rpartition("/")
    return f"{root}/" if page in {entry.slug for entry in PAGES} else page_address()


def make_document_texts(trace: Trace, setup: Setup, look: Selection) -> DocumentTexts:
    """How documents of a run speak, in the language of the session."""
    sentence = fact_sentence(trace, look, spell=str)
    return DocumentTexts(
        say("app.tag"),
        sentence,
        list_run_settings(trace, setup),
        picture_texts_for(trace),
        partial(matrix_heading, trace),
        say_more_heads,
    )


def matrix_heading(trace: Trace, drawn: Panel) -> str:
    """What stands over a matrix; of one that is a query's own, also whose."""
    places = dict(zip(trace.step(drawn.step).dims[:-2], drawn.refs[0][0].index, strict=False))
    whose = [place_name(trace, "T", places["T"])] if "T" in places else []
    return " · ".join([make_panel_title(trace, drawn), *whose])


def say_more_heads(count: int) -> str:
    """That so many heads are left out."""
    return say("export.more", count=count)


def list_run_settings(trace: Trace, setup: Setup) -> tuple[str, ...]:
    """How a run was made, a line each: what is usual is not said, except for the score."""
    config, sizes = config_of(setup), trace.sizes()
    scale = "" if config.scale is None else format_short(config.scale)
    temperature = "" if config.temperature == 1 else format_short(config.temperature)
    shared = "" if sizes["H_kv"] == sizes["H"] else str(sizes["H_kv"])
    masks = [mask_name(name, params) for name, params in config.masks]
    masks += [say("masks.custom")] if setup.allowed is not None else []
    positions = [say(f"positions.{name}") for name, _ in config.positions]
    said = {
        "score": say(f"score.{config.score}"),
        "scale": scale,
        "temperature": temperature,
        "heads": str(sizes["H"]),
        "kv_heads": shared,
        "masks": say("fact.comma").join(masks),
        "positions": say("fact.comma").join(positions),
        "dtype": say(f"dtype.{setup.dtype}"),
    }
    lines = [say("export.setting", name=say(f"control.{name}"), value=value) for name, value in said.items() if value]
    return (*lines, ", ".join(f"{dim} = {size}" for dim, size in sizes.items() if "·" not in dim))


def mask_name(name: str, params: dict) -> str:
    """A mask with its numbers."""
    return " ".join([say(f"masks.{name}"), *write_mask(name, params).split(":")[1:]])
