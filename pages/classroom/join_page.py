"""Writes the page on which somebody types the code of a room."""

from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from attention_core.documents.html import policy_digest
from attention_core.inputs.tokenizer import printable_token
from pages.classroom.rooms import CODE_LENGTH
from pages.site.words import say, use_language

TEMPLATE = Path(__file__).parent / "join.html"
STYLE = """
:root { color-scheme: light dark }
body { font: 1.1rem/1.5 "Source Sans 3", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; margin: 0 }
form { max-width: 26rem; margin: 12vh auto; padding: 0 1.2rem }
input, button { font: inherit; min-height: 2.75rem; border-radius: 8px; border: 1px solid #8a9099; padding: 0 .8rem }
input { display: block; width: 100%; box-sizing: border-box; font-size: 2rem; letter-spacing: .2em }
button { margin-top: 1rem; background: #0067a5; color: #ffffff; width: 100% }
:focus-visible { outline: 3px solid #d97706 }
"""


def write_join_page(languages: str, code: str) -> str:
    """Returns the page that asks for the code of a room, as HTML.

    languages: the browser's languages, as in its Accept-Language header; the first of them decides between Chinese and
    English. code: the code that was not found; "" if none was given.
    """
    template = Environment(autoescape=True, trim_blocks=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    shown = printable_token(code[: 2 * CODE_LENGTH])
    with use_language("zh" if languages.strip().lower().startswith("zh") else "en"):
        return template.render(
            language=say("app.tag"),
            policy=policy_digest(STYLE),
            style=Markup(STYLE),
            title=say("present.room.title"),
            unknown=say("present.room.unknown", code=shown) if code else "",
            label=say("present.room.code"),
            most=4 * CODE_LENGTH,
            join=say("present.room.join"),
        )
