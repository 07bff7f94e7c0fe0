"""One word for each thing: what stands under "not" in the table of terms stands in no text of the app."""

import re
from pathlib import Path

import pytest

from pages.site.words import load_app_texts
from tests.house.test_house import texts_of

TABLE = Path(__file__).parents[2] / "docs" / "terms.md"


def forbidden_terms(language):
    """The cells of the last two columns: English and Chinese."""
    column = {"en": -2, "zh": -1}[language]
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 5 and not cells[0].startswith(("English", "---")):
            found += [term for term in re.split("[,、] ?", cells[column]) if term]
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_uses_a_term_that_the_table_forbids(language):
    forbidden = forbidden_terms(language)
    assert len(forbidden) >= 10
    used = [(key, term) for key, text in texts_of(language).items() for term in forbidden if term in text]
    assert used == []


def composed(text, names):
    """What stands on the screen once names are filled in: the same one in all places of a text."""
    return {re.sub(r"\{\w+\}", name, text) for name in names} if "{" in text else {text}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_makes_such_a_term_of_the_name_that_is_filled_in(language):
    """Of a head or of a step: "键值{own}" made one of the name of a head."""
    words = load_app_texts(language)
    head = words["place.head"].format(number=2)
    names = [head, *(text.replace("\n", "") for key, text in words.items() if key.startswith("step.short."))]
    assert composed("键值{own}", ["头 2"]) == {"键值头 2"}
    shown = {key: composed(text, names) for key, text in texts_of(language).items()}
    forbidden = forbidden_terms(language)
    used = [(key, term) for key, texts in shown.items() for term in forbidden if any(term in text for text in texts)]
    assert used == []
