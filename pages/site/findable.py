"""Builds the search index: pages, controls, accordions, symbols of the glossary, papers of the history, examples."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from attention_core.examples.examples import EXAMPLES
from pages.site.catalog import COURSE, LESSONS, PAGES
from pages.site.controls import CONTROLS
from pages.site.milestones import MILESTONES
from pages.site.signs import GLOSSARY_SIGNS
from pages.site.words import LANGUAGES, load_app_texts, split_bold, strip_markup


@dataclass(frozen=True)
class Findable:
    """An entry of the search index.

    kind: a key of [search.kind]. titles, details: {language: text without markup}. slug, link: the page to open, and
    the page's query parameters. sign: the key of a symbol in the glossary; "" for any other entry.
    """

    kind: str
    slug: str
    titles: dict[str, str]
    details: dict[str, str]
    link: dict[str, str] = field(default_factory=dict)
    sign: str = ""


@cache
def list_findable() -> tuple[Findable, ...]:
    """Returns all entries of the search index: pages first, then controls, accordions, symbols, papers and examples."""
    return (*list_pages(), *list_controls(), *list_drawers(), *list_signs(), *list_milestones(), *list_examples())


def list_pages() -> Iterator[Findable]:
    """Yields an entry for each page, with the question of its lesson if it has one."""
    for page in PAGES:
        kind = "lesson" if page.slug in COURSE else "page"
        yield Findable(kind, page.slug, read(f"page.{page.slug}"), read(f"lessons.{page.slug}.question"))


def list_controls() -> Iterator[Findable]:
    """Yields each control of the workbench with its search words."""
    for name, control in CONTROLS.items():
        yield Findable("control", "workbench", read(control.label), read(f"search.control.{name}"), {"control": name})


def list_drawers() -> Iterator[Findable]:
    """Yields each accordion of the lessons with the title of its lesson."""
    for slug in LESSONS:
        beginning = f"lessons.{slug}.drawer."
        for key in load_app_texts("en"):
            if key.startswith(beginning):
                link = {"open": key.removeprefix(beginning)}
                yield Findable("drawer", slug, read(key), read(f"page.{slug}"), link)


def list_signs() -> Iterator[Findable]:
    """Yields each symbol of the glossary with its meaning."""
    for sign in GLOSSARY_SIGNS:
        name, meaning = read(f"lessons.glossary.name.{sign.key}"), read(f"lessons.glossary.text.{sign.key}")
        yield Findable("sign", sign.slug, name, meaning, sign.link, sign.key)


def list_milestones() -> Iterator[Findable]:
    """Yields each paper on the history page: its year and authors, and what it contributed."""
    for milestone, (slug, link) in MILESTONES.items():
        year = milestone.partition("_")[0]
        titles, details = {}, {}
        for language in LANGUAGES:
            _, names, *rest = split_bold(raw(f"lessons.history.{milestone}", language))
            titles[language] = f"{year} · {names}"
            details[language] = strip_markup("".join(rest)).strip(",，：: ")
        yield Findable("history", slug, titles, details, link)


def list_examples() -> Iterator[Findable]:
    """Yields each example of the workbench with its tokens."""
    for name, example in EXAMPLES.items():
        words = " ".join((*example.tokens, *(example.context_tokens or ())))
        yield Findable("example", "workbench", read(f"example.{name}"), dict.fromkeys(LANGUAGES, words), {"ex": name})


# ---- words -----------------------------------------------------------------------------------------------------------
def read(key: str) -> dict[str, str]:
    """Returns {language: text of a key without markup}; the text is "" if a language lacks it."""
    return {language: strip_markup(raw(key, language)) for language in LANGUAGES}


def raw(key: str, language: str) -> str:
    """Returns the text of a key in a language, with its markup; "" if there is none."""
    return load_app_texts(language).get(key, "")
