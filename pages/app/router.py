"""The main script of Streamlit: puts the repository on sys.path, lists the pages, and runs the chosen page."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from pages.app import warming  # noqa: E402

warming.wait()  # waits for the thread that imports heavy modules, because two threads must not import them at once

import streamlit as st  # noqa: E402

from attention_core.drawing.text_layout import text_width  # noqa: E402
from pages import components  # noqa: E402
from pages.app.page_list import list_pages  # noqa: E402
from pages.app.reconnection import come_back, is_back  # noqa: E402
from pages.app.sent_values import leave_out_unusable_values  # noqa: E402
from pages.app.unfinished import show_unfinished  # noqa: E402
from pages.lectures.kept_lecture import keep_lecture  # noqa: E402
from pages.lessons.learned.trainings import stop_trainings  # noqa: E402
from pages.session.fragments import draw_whole_page  # noqa: E402
from pages.site.words import LANGUAGES, current_language, get_text_template, load_app_texts, say  # noqa: E402

# The texts that Streamlit itself writes on a page, in English only.
STREAMLIT_WORDS = ("apply", "done", "apply_lines", "submit", "submit_lines", "nothing", "skip")
STREAMLIT_TEXTS = "streamlit.exact."  # prefix of the keys of translations of those texts

# The name of the app, in a colour that is readable in both themes.
WORDMARK_SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="32"><text x="0" y="24" font-size="22"
font-weight="600" fill="#8a56c2" font-family="'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif">
{title}</text></svg>"""

leave_out_unusable_values()
if st.query_params.get("lang") in LANGUAGES and "lang" not in st.session_state:
    st.session_state["lang"] = st.query_params["lang"]
title = say("app.title")
st.set_page_config(page_title=title, page_icon=str(ROOT / "pages" / "app" / "icon.png"), layout="wide")
st.logo(WORDMARK_SVG.format(title=title, width=round(text_width(title, 22))), size="large")
chosen_page = st.navigation(list_pages(), position="top")
# True if the visitor changed the page
st.session_state["arrived"] = st.session_state.get("page") != chosen_page.url_path
st.session_state["begins"] = st.session_state["arrived"] and not is_back()  # True if the page is drawn from scratch
st.session_state["page"] = chosen_page.url_path
if st.session_state["arrived"]:
    stop_trainings(st.session_state.get("trainings", {}))  # stops the trainings that were started on the former page
come_back()


def draw_page() -> None:
    """Draws the chosen page, and around it what all pages share, such as a message about a lost connection."""
    words = {name: say(f"streamlit.{name}") for name in STREAMLIT_WORDS}
    (other,) = LANGUAGES.keys() - {current_language()}
    names = [key.removeprefix(STREAMLIT_TEXTS) for key in load_app_texts(other) if key.startswith(STREAMLIT_TEXTS)]
    texts = [
        [load_app_texts(other)[f"streamlit.exact.{name}"], get_text_template(f"streamlit.exact.{name}")]
        for name in names
    ]
    components.spoken(data={"language": say("app.tag"), "words": words, "texts": texts}, key="spoken")
    chosen_page.run()
    keep_lecture()
    components.connection(data={"text": say("app.unconnected")}, key="connection")
    show_unfinished()


draw_whole_page(draw_page)
