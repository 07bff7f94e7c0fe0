"""One word for each thing: what stands under "not" in the table of terms stands in no text of the app."""

import re
from pathlib import Path

import pytest

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
