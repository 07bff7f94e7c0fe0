"""What somebody who adds a lesson or a puzzle has forgotten is said in words, with the file in which it is missing."""

import ast
import importlib
import re
from itertools import product

import pytest

from attention_core.exercises.puzzles import PUZZLES
from pages.lessons.start.card_pictures import CARD_PICTURES
from pages.site.catalog import LESSONS, PAGES_FOLDER
from pages.site.words import LANGUAGES, load_app_texts
from tests.house.test_house import ROOT

LESSON_TEXTS = ("question", "intro", "sources")
PUZZLE_TEXTS = ("title", "task", "done")


def missing_of_lesson(slug):
    """What a lesson that stands in the catalog lacks."""
    folder = PAGES_FOLDER / "lessons" / slug
    missing = [f"{slug}: write pages/lessons/{slug}/{name}" for name in files_missing(folder)]
    if slug not in CARD_PICTURES:
        missing.append(f"{slug}: a line of CARD_PICTURES in pages/lessons/start/card_pictures.py draws its card")
    for language in LANGUAGES:
        words = load_app_texts(language)
        if f"page.{slug}" not in words:
            missing.append(f"{slug}: [page] of pages/content/{language}/labels.toml names it")
        for key in LESSON_TEXTS:
            if f"lessons.{slug}.{key}" not in words:
                missing.append(f"{slug}: {key} stands in pages/content/{language}/lessons/{slug}.toml")
        if not any(key.startswith(f"lessons.{slug}.drawer.") for key in words):
            missing.append(f"{slug}: [drawer] of pages/content/{language}/lessons/{slug}.toml names one drawer or more")
    return missing


def files_missing(folder):
    """The files of a lesson that are not there; its drawers may be a module or a folder."""
    files = [name for name in ("__init__.py", "page.py") if not (folder / name).exists()]
    has_drawers = (folder / "drawers.py").exists() or (folder / "drawers").exists()
    return files if has_drawers else [*files, "drawers.py"]


def missing_of_puzzle(name):
    """What a puzzle of the list lacks."""
    keys = [(language, f"lessons.puzzles.{text}.{name}") for language, text in product(LANGUAGES, PUZZLE_TEXTS)]
    return [
        f"{name}: [{key.split('.')[2]}] of pages/content/{language}/lessons/puzzles.toml says it"
        for language, key in keys
        if key not in load_app_texts(language)
    ]


def test_no_lesson_lacks_anything():
    assert [line for slug in LESSONS for line in missing_of_lesson(slug)] == []


def test_no_puzzle_lacks_anything():
    assert [line for name in PUZZLES for line in missing_of_puzzle(name)] == []


def test_what_is_forgotten_is_named():
    """A lesson and a puzzle of which nothing but the name is there."""
    lesson = missing_of_lesson("forgotten")
    assert len(lesson) == 4 + 2 * (2 + len(LESSON_TEXTS))
    assert "forgotten: write pages/lessons/forgotten/page.py" in lesson
    assert len(missing_of_puzzle("forgotten")) == 2 * len(PUZZLE_TEXTS)


GUIDES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("adding_a_score.md", "adding_a_lesson.md")]
BLOCKS = [block for guide in GUIDES for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL)]


@pytest.mark.parametrize("code", BLOCKS)
def test_what_the_guide_imports_is_there(code):
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.ImportFrom) or ".sinks" in node.module:  # the lesson that the guide invents
            continue
        for alias in node.names:
            assert hasattr(importlib.import_module(node.module), alias.name), f"{node.module} has no {alias.name}"
