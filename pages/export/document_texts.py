"""What documents say of a run: where it is from, its sentence, how it was made, and what stands over its matrices."""

from functools import partial
from urllib.parse import urlencode

from attention_core import Trace
from attention_core.documents.excerpt import Telling
from attention_core.documents.provenance import Imprint
from attention_core.explanation.layout import Panel
from attention_core.inputs.tokenizer import shown
from attention_core.record.number_text import short
from pages.panels.head_maps import fact_sentence
from pages.panels.input_origins import origins
from pages.panels.step import title_of
from pages.runs.cache import material_of
from pages.runs.token_vectors import spelled
from pages.session.addresses import base
from pages.session.labels import Look, place_name, words_for
from pages.setup.mask_spec import write_mask
from pages.setup.setup import Setup, config_of, mode, to_link
from pages.site.catalog import PAGES
from pages.site.words import language, say

LONGEST_TITLE = 80  # characters


def imprint_of(setup: Setup) -> Imprint:
    """The sentence, the link to this very state in the workbench, and where its numbers come from."""
    material = material_of(setup)
    title = shown(spelled(material.queries, setup)) if mode(setup) == "sentence" else say(f"example.{setup.example}")
    title = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    link = workbench() + "?" + urlencode(to_link(setup) | {"lang": language()})
    return Imprint(title, link, (say("app.title"), origins(setup, material, spell=str)))


def workbench() -> str:
    """Where the workbench is reached, which is the first page."""
    root, _, page = base().rpartition("/")
    return f"{root}/" if page in {entry.slug for entry in PAGES} else base()


def telling_of(trace: Trace, setup: Setup, look: Look) -> Telling:
    """How documents of a run speak, in the language of the session."""
    sentence = fact_sentence(trace, look, spell=str)
    return Telling(
        say("app.tag"), sentence, settings(trace, setup), words_for(trace), partial(heading, trace), more_heads
    )


def heading(trace: Trace, drawn: Panel) -> str:
    """What stands over a matrix; of one that is a query's own, also whose."""
    places = dict(zip(trace.step(drawn.step).dims[:-2], drawn.refs[0][0].index, strict=False))
    whose = [place_name(trace, "T", places["T"])] if "T" in places else []
    return " · ".join([title_of(trace, drawn), *whose])


def more_heads(count: int) -> str:
    """That so many heads are left out."""
    return say("export.more", count=count)


def settings(trace: Trace, setup: Setup) -> tuple[str, ...]:
    """How a run was made, a line each: what is usual is not said, except for the score."""
    config, sizes = config_of(setup), trace.sizes()
    scale = "" if config.scale is None else short(config.scale)
    temperature = "" if config.temperature == 1 else short(config.temperature)
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
