"""The texts that Streamlit writes in English only, which the app translates, are those of the installed Streamlit."""

from pathlib import Path

import pytest
import streamlit as st

from pages.site.words import load_app_texts

SCRIPTS = Path(st.__file__).parent / "static" / "static" / "js"
TEXTS = {key: text for key, text in load_app_texts("en").items() if key.startswith("streamlit.exact.")}


@pytest.fixture(scope="module")
def scripts():
    return "".join(path.read_text("utf-8") for path in SCRIPTS.glob("*.js"))


def test_streamlit_writes_each_translated_text(scripts):
    parts = {key: [*text.partition("{page}")[::2]] for key, text in TEXTS.items()}
    parts["streamlit.exact.page"] = ["You have requested page ", ", but no corresponding file was found in the app's "]
    parts["streamlit.exact.no_page"] = [
        "The page that you have requested does not seem to exist",
        "Running the app's main",
    ]
    missing = [(key, part) for key, each in parts.items() for part in each if part not in scripts]
    assert missing == []
    assert len(parts) > 35


def test_a_translation_can_be_translated_back():
    translated = [load_app_texts("zh")[key] for key in TEXTS]
    assert len(set(translated)) == len(set(TEXTS.values())) == len(TEXTS)
