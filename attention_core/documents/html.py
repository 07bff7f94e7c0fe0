"""HTML documents in a single file, with a security policy that allows no request.

Every text is inserted by a template that escapes it. Styles and scripts are in the file, and its policy allows them by
their digests: no other text in the file, such as a user's, can become a style or a script.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from attention_core.documents.formula_svg import SVG_NAMESPACE, typeset_formula
from attention_core.documents.tables import on_dark_screens
from attention_core.drawing.palette import DARK_PALETTE
from attention_core.explanation.formula import SYMBOL_COLOURS

TEMPLATES = Path(__file__).parent / "templates"


@cache
def template_environment() -> Environment:
    """The environment of the templates, which escapes every value except Markup."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(template: str, style: str, script: str = "", pictures: bool = False, **values: object) -> str:
    """A document from a template of this package. style, script: their texts, the only ones that the policy allows.
    pictures: whether it may show pictures from data URLs.
    """
    rules = (
        "default-src 'none'",
        *(["img-src data:"] if pictures else []),
        f"style-src {policy_digest(style)}",
        f"script-src {policy_digest(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    page = template_environment().get_template(template)
    return page.render(
        policy="; ".join(rules),
        style=Markup(style),
        script=Markup(script),
        **values,
    )


def policy_digest(text: str) -> str:
    """CSP hash source of an inline style or script; 'none' if the text is empty.

    >>> policy_digest("")
    "'none'"
    """
    if not text:
        return "'none'"
    digest = sha256(text.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"


def read_template_part(name: str) -> str:
    """The text of a style or script file of this package."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def dark_symbol_style() -> str:
    """The style that gives the symbols of formulas the colours of the dark theme, if the device prefers dark."""
    dark_colours = DARK_PALETTE.families()
    rules = []
    for family, colour in SYMBOL_COLOURS.items():
        rules.append(f'[fill="{colour}"]{{fill:{dark_colours[family]}}}')
    return on_dark_screens("".join(rules))


def typeset_formulas(texts: Sequence[str], size: float = 18.0) -> tuple[Markup, Mapping[str, Markup]]:
    """The outlines of all letters, each once, and the SVG of every formula, which refers to them."""
    outlines = {}
    pictures = {}
    for text in texts:
        drawn = typeset_formula(text, "currentColor", size)
        outlines |= dict.fromkeys(drawn.outlines)
        pictures[text] = Markup(drawn.svg)
    letters = "".join(outlines)
    shared = f'<svg xmlns="{SVG_NAMESPACE}" width="0" height="0" aria-hidden="true">{letters}</svg>'
    return Markup(shared), pictures
