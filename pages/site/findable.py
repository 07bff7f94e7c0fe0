"""All that the search finds: pages with their questions, controls, drawers, signs, history, examples."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from attention_core.examples.examples import EXAMPLES
from pages.site.catalog import LESSONS, PAGES
from pages.site.controls import CONTROLS
from pages.site.milestones import MILESTONES
from pages.site.signs import GLOSSARY_SIGNS
from pages.site.words import LANGUAGES, load_app_texts, split_bold, strip_markup


@dataclass(frozen=True)
class Findable:
    """One thing that can be found. kind: a key of [search.kind]. titles and details: by language, without markup.

    slug, link: the page that shows it, and that page's link. sign: as it is written in a formula, for a sign."""

    kind: str
    slug: str
    titles: dict[str, str]
    details: dict[str, str]
    link: dict[str, str] = field(default_factory=dict)
    sign: str = ""


@cache
def list_findable() -> tuple[Findable, ...]:
    """All that can be found, the most general first."""
    return (*list_pages(), *list_controls(), *list_drawers(), *list_signs(), *list_milestones(), *list_examples())


def list_pages() -> Iterator[Findable]:
    """Each page with its question, where it has one."""
    for page in PAGES:
        kind = "lesson" if page.slug in LESSONS else "page"
        yield Findable(kind, page.slug, read(f"page.{page.slug}"), read(f"lessons.{page.slug}.question"))


def list_controls() -> Iterator[Findable]:
    """Each control of the workbench, and the words by which people look for it."""
    for name, control in CONTROLS.items():
        yield Findable("control", "workbench", read(control.label), read(f"search.control.{name}"), {"control": name})


def list_drawers() -> Iterator[Findable]:
    """Each drawer of a lesson, and whose it is."""
    for slug in LESSONS:
        beginning = f"lessons.{slug}.drawer."
        for key in load_app_texts("en"):
            if key.startswith(beginning):
                link = {"open": key.removeprefix(beginning)}
                yield Findable("drawer", slug, read(key), read(f"page.{slug}"), link)


def list_signs() -> Iterator[Findable]:
    """Each sign of the glossary with its meaning."""
    for sign in GLOSSARY_SIGNS:
        name, meaning = read(f"lessons.glossary.name.{sign.key}"), read(f"lessons.glossary.text.{sign.key}")
        yield Findable("sign", sign.slug, name, meaning, sign.link, sign.key)


def list_milestones() -> Iterator[Findable]:
    """Each entry of the history: year and names, and what was brought."""
    for milestone, (slug, link) in MILESTONES.items():
        year = milestone.partition("_")[0]
        titles, details = {}, {}
        for language in LANGUAGES:
            _, names, *rest = split_bold(raw(f"lessons.history.{milestone}", language))
            titles[language] = f"{year} · {names}"
            details[language] = strip_markup("".join(rest)).strip(",，：: ")
        yield Findable("history", slug, titles, details, link)


def list_examples() -> Iterator[Findable]:
    """Each example of the workbench with its words."""
    for name, example in EXAMPLES.items():
        words = " ".join((*example.tokens, *(example.context_tokens or ())))
        yield Findable("example", "workbench", read(f"example.{name}"), dict.fromkeys(LANGUAGES, words), {"ex": name})


# ---- words -----------------------------------------------------------------------------------------------------------
def read(key: str) -> dict[str, str]:
    """The text of a key in each language, without markup; empty where there is none."""
    return {language: strip_markup(raw(key, language)) for language in LANGUAGES}


def raw(key: str, language: str) -> str:
    """The text of a key in a language; empty where there is none."""
    return load_app_texts(language).get(key, "")
