"""One font: charts and components draw in that of the page; the next font has wider and higher signs."""

import tomllib
from pathlib import Path

from attention_core.drawing.specifications import FONT

ROOT = Path(__file__).parents[2]


def test_charts_name_the_fonts_of_the_page_in_its_order():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
    assert theme["font"] == FONT


def test_components_take_the_font_of_the_page():
    styles = sorted((ROOT / "pages" / "components").rglob("*.css"))
    named = [style.name for style in styles if "Source Sans" in style.read_text(encoding="utf-8")]
    assert len(styles) > 20 and named == []
