"""HTML documents that stand alone: one file, no request, and a policy that allows none.

Every text goes through a template that escapes it. What is drawn and run stands in the file, and its policy names both
by their digest: nothing else in it is a style or a script, whatever somebody wrote.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from attention_core.documents.formula_svg import SVG, drawn_formula
from attention_core.drawing.palette import DARK
from attention_core.explanation.formula import COLOURS

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """The templates; what they are given is text unless it says that it is markup."""
    loader = FileSystemLoader(TEMPLATES)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def page(template: str, style: str, script: str = "", **values: object) -> str:
    """A document made by a template of ours. style, script: their whole text, the only ones that the policy allows."""
    policy = f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'"
    shown = {"policy": f"{policy}; form-action 'none'", "style": Markup(style), "script": Markup(script)}
    return environment().get_template(template).render(**shown, **values)


def digest(text: str) -> str:
    """What a policy says of an inline text that it allows; of none, that it allows none.

    >>> digest("")
    "'none'"
    """
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" if text else "'none'"


def part_of(name: str) -> str:
    """A style or a script of ours, as it stands in its file."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def symbols_on_dark() -> str:
    """The style that gives the symbols of formulas the colours of the dark theme, on a dark screen."""
    lit = DARK.families()
    rules = "".join(f'[fill="{colour}"]{{fill:{lit[family]}}}' for family, colour in COLOURS.items())
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}\n"


def formulas(texts: Sequence[str], size: float = 18.0) -> tuple[Markup, Mapping[str, Markup]]:
    """LaTeX as pictures: the outlines of all letters, each once, and every formula, which refers to them."""
    drawn = {text: drawn_formula(text, "currentColor", size) for text in texts}
    outlines = dict.fromkeys(outline for each in drawn.values() for outline in each.outlines)
    shared = f'<svg xmlns="{SVG}" width="0" height="0" aria-hidden="true">{"".join(outlines)}</svg>'
    return Markup(shared), {text: Markup(each.svg) for text, each in drawn.items()}
