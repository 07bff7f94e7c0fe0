"""Each test names what an added lesson, panel, mask, score or puzzle still lacks, and the file where it is missing."""

import ast
import dataclasses
import importlib
import inspect
import re
from itertools import product

import pytest
import torch

from attention_core.exercises.puzzles import PUZZLES
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import Parameter, names_of
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from pages.components import COMPONENTS
from pages.lessons.start.card_pictures import CARD_PICTURES
from pages.panels.model_panels import PANELS
from pages.setup.setup import PART_OF_FIELD
from pages.site.catalog import LESSONS, PAGES_FOLDER
from pages.site.words import LANGUAGES, load_app_texts
from tests.entries import fitting_number
from tests.house.test_house import ROOT
from tests.mechanism import attention_loops, drawn_layers, mask_pairs
from tests.screen.lesson import record_of

LESSON_TEXTS = ("question", "intro", "sources")
PUZZLE_TEXTS = ("title", "task", "done")


def assert_nothing(missing):
    """All that is missing is printed, a line each."""
    assert not missing, "\n".join(missing)


def missing_of_lesson(slug):
    """What a lesson that stands in the catalog lacks."""
    folder = PAGES_FOLDER / "lessons" / slug
    missing = [f"{slug}: write pages/lessons/{slug}/{name}" for name in files_missing(folder)]
    drawers = [] if missing else record_of(slug).drawers
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
        said = [*words_said(slug), *(f"lessons.{slug}.drawer.{name}" for name in drawers)]
        missing += [f"{slug}: {key} stands in pages/content/{language}" for key in said if key not in words]
    return missing


CONTROLS = ("slide", "find_live_choice", "switch", "choose_option", "choose_options", "choose_place", "pick_place")
SAID = {  # what asks for words: before what it is given stands this, with the name of the lesson
    **dict.fromkeys((*CONTROLS, "choose_whole_number"), "lessons.{}.control."),
    **dict.fromkeys(("say", "show_sentence", "get_text_template"), ""),
}


def words_said(slug):
    """The keys of the words that a lesson's files ask for by a name that is written there."""
    for path in sorted((PAGES_FOLDER / "lessons" / slug).rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and call.args and getattr(call.func, "id", "") in SAID:
                name = getattr(call.args[0], "value", None)
                if isinstance(name, str):
                    yield SAID[call.func.id].format(slug) + name


def files_missing(folder):
    """The files of a lesson that are not there."""
    return [name for name in ("page.py", "drawers.py") if not (folder / name).exists()]


def missing_of_puzzle(name):
    """What a puzzle of the list lacks."""
    keys = [(language, f"lessons.puzzles.{text}.{name}") for language, text in product(LANGUAGES, PUZZLE_TEXTS)]
    return [
        f"{name}: [{key.split('.')[2]}] of pages/content/{language}/lessons/puzzles.toml says it"
        for language, key in keys
        if key not in load_app_texts(language)
    ]


def missing_of_panel(name, panel):
    """What a panel of a language model lacks. panel: its record."""
    file = f"pages/panels/model/{name}.py"
    unknown = {*panel.depends_on} - {*PART_OF_FIELD}
    missing = [f"{name}: depends_on in {file} has {each!r}, no field of Setup" for each in unknown]
    others = [other for other, each in PANELS.items() if other != name and each.place == panel.place]
    missing += [f"{name}: place {panel.place} in {file} is that of {other}" for other in others]
    keys = {
        f"model.panel.{name}": "its tab",
        f"proof.whole.ask.{panel.checked_as}": "the button of its proof",
        f"proof.whole.checked.{panel.checked_as}": "its proof when it has passed",
    }
    for (key, what), language in product(keys.items(), LANGUAGES):
        if key not in load_app_texts(language):
            missing.append(f"{name}: {key} of pages/content/{language}/labels.toml labels {what}")
    return missing


def missing_of_component(name):
    """What a component lacks: the file of its script."""
    file = f"components/{name}.js"
    return [] if (PAGES_FOLDER / file).exists() else [f"{name}: write pages/{file}"]


FAMILIES = {"score": SCORES, "masks": MASKS, "normaliser": NORMALISERS, "positions": POSITIONS, "modifiers": MODIFIERS}
FOR_NOTEBOOKS = {"alibi_slopes"}  # numbers that no page asks for
LOOPS, DRAWN = "tests/mechanism/attention_loops.py", "tests/mechanism/drawn_layers.py"
WITNESSES = {  # where an addition is computed a second time or drawn: the file, and what there has its name
    "score": {LOOPS: attention_loops.score},
    "normaliser": {LOOPS: attention_loops.normalise},
    "masks": {"tests/mechanism/mask_pairs.py": mask_pairs},
    "positions": {LOOPS: attention_loops, DRAWN: drawn_layers.Draw.choose_position},
    "modifiers": {LOOPS: attention_loops, DRAWN: drawn_layers.Draw.choose_modifier},
}


def missing_of_choice(family, name, numbers=()):
    """What a score, a mask, a normaliser, a position or a modifier lacks. numbers: those that it takes, by name."""
    keys = [(family, name), *(("parameter", f"{name}_{number}") for number in numbers)]
    missing = [
        f"{name}: {key} stands in [{table}] of pages/content/{language}/labels.toml"
        for language in LANGUAGES
        for table, key in keys
        if f"{table}.{key}" not in load_app_texts(language) and key not in FOR_NOTEBOOKS
    ]
    for file, holder in WITNESSES[family].items():
        where = file if inspect.ismodule(holder) else f"{holder.__name__} of {file}"
        if f'"{name}"' not in inspect.getsource(holder):
            missing.append(f'{name}: {where} has no line with "{name}"')
    return missing


MASKS_FILE = "attention_core/mechanism/masks.py"


def missing_of_numbers(name, parameters):
    """What the declaration of a mask's numbers lacks."""
    missing = []
    for each in parameters:
        if each.start is None:
            missing.append(f"{name}: {each.name} says in {MASKS_FILE} what a page begins with (start)")
        if each.is_whole and each.least is None and not each.moves:
            missing.append(f"{name}: {each.name} says in {MASKS_FILE} the least that it may be (least)")
    return missing


def test_no_mask_lacks_what_its_numbers_are():
    assert_nothing([line for name, mask in MASKS.items() for line in missing_of_numbers(name, mask.parameters)])


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_is_the_same_where_only_the_later_keys_are_at_hand(name):
    """The columns from key 2 on; of a mask's numbers those that name or count keys move along."""
    numbers = {each.name: fitting_number(each, 1, 5, lambda choices: choices[-1]) for each in MASKS[name].parameters}
    scores, later = torch.zeros(1, 1, 5, 5), torch.zeros(1, 1, 5, 3)
    moved = {each.name: each.for_keys_from(numbers[each.name], 2) for each in MASKS[name].parameters}
    places = ({"query_offset": 0}, {"query_offset": -2}) if MASKS[name].uses_position else ({}, {})
    allowed = [
        MASKS[name].faces.torch(keys, **each, **place).expand_as(keys)
        for keys, each, place in zip((scores, later), (numbers, moved), places, strict=True)
    ]
    assert torch.equal(allowed[0][..., 2:], allowed[1]), (
        f"{name}: blocks and a cache with a window number the keys that they have from 0. So a mask that counts from "
        f"key 0 needs in {MASKS_FILE} a parameter with moves=KEY_PLACE that says where counting begins; a parameter "
        "that says how many keys there are has moves=KEY_COUNT"
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_no_choice_of_a_layer_lacks_anything(family):
    choices = FAMILIES[family]
    numbers = {name: names_of(getattr(choice, "parameters", ())) for name, choice in choices.items()}
    assert_nothing([line for name in choices for line in missing_of_choice(family, name, numbers[name])])


def test_masks_that_place_the_query_are_those_of_the_pairs():
    placing = {name for name, pairs in mask_pairs.MASK_PAIRS.items() if pairs.places_query}
    for name in MASKS:
        assert MASKS[name].is_causal == (name in placing), (
            f"{name}: is_causal of its line in MASKS is {MASKS[name].is_causal}, "
            "and places_query of its line in MASK_PAIRS of tests/mechanism/mask_pairs.py is not"
        )


def test_no_lesson_lacks_anything():
    assert_nothing([line for slug in LESSONS for line in missing_of_lesson(slug)])


def test_no_panel_of_a_language_model_lacks_anything():
    assert_nothing([line for name, panel in PANELS.items() for line in missing_of_panel(name, panel)])


def test_no_component_lacks_its_script():
    assert_nothing([line for name in COMPONENTS for line in missing_of_component(name)])


def test_no_puzzle_lacks_anything():
    assert_nothing([line for name in PUZZLES for line in missing_of_puzzle(name)])


def test_what_is_forgotten_is_named():
    """A lesson, a panel and a puzzle of which nothing but the name is there."""
    lesson = missing_of_lesson("forgotten")
    assert len(lesson) == 3 + 2 * (2 + len(LESSON_TEXTS))
    assert "forgotten: write pages/lessons/forgotten/page.py" in lesson
    copied = dataclasses.replace(PANELS["sum"], depends_on=("forgotten_field",), checked_as="forgotten")
    panel = missing_of_panel("forgotten", copied)
    assert len(panel) == 1 + 1 + 2 * 3
    assert "forgotten: place 1 in pages/panels/model/forgotten.py is that of sum" in panel
    assert "forgotten: model.panel.forgotten of pages/content/zh/labels.toml labels its tab" in panel
    assert missing_of_component("model/forgotten") == ["model/forgotten: write pages/components/model/forgotten.js"]
    assert len(missing_of_puzzle("forgotten")) == 2 * len(PUZZLE_TEXTS)
    mask = missing_of_choice("masks", "forgotten", ["stride"])
    assert len(mask) == 2 * 2 + 1
    assert "forgotten: forgotten_stride stands in [parameter] of pages/content/zh/labels.toml" in mask
    assert 'forgotten: tests/mechanism/mask_pairs.py has no line with "forgotten"' in mask
    assert len(missing_of_numbers("forgotten", [Parameter("stride")])) == 2
    assert len(missing_of_choice("normaliser", "forgotten")) == 2 + 1
    assert len(missing_of_choice("positions", "forgotten")) == 2 + 2


GUIDES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("adding_a_score.md", "adding_a_lesson.md")]
BLOCKS = [block for guide in GUIDES for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL)]


@pytest.mark.parametrize("code", BLOCKS)
def test_what_the_guide_imports_is_there(code):
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.ImportFrom) or ".sinks" in node.module:  # the lesson that the guide invents
            continue
        for alias in node.names:
            assert hasattr(importlib.import_module(node.module), alias.name), f"{node.module} has no {alias.name}"
