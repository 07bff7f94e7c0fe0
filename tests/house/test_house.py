"""The rules of the house: who may import whom, where numbers and words live, what never stands in the code."""

import ast
import importlib
import inspect
import json
import os
import re
import string
import subprocess
import sys
import tomllib
import unicodedata
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import FunctionType

import pytest

import attention_core
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.files.attention_maps import MAP_BOUNDS
from attention_core.inputs.files.qkv_file import ROLES
from attention_core.inputs.handmade_heads import HEAD_KINDS, POSITION_COLUMNS
from attention_core.inputs.tokenizer import ORIGINS
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import names_of
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import REFUSAL_SENTENCES
from attention_core.record.trace import Faces
from attention_core.verification.mistakes import MISTAKE_SENTENCES as CAUSES
from pages.panels.canvas_map import CANVAS_TEXT_KEYS
from pages.panels.model_guess import STARTLING
from pages.panels.word_roles import NOT_KNOWN
from pages.setup.setup import DTYPES
from pages.setup.word_roles import known_roles
from pages.site.catalog import LESSONS, PAGES, PAGES_BY_SLUG
from pages.site.words import CONTENT_FOLDER, LANGUAGES, flatten, load_app_texts
from pages.workbench.layer_controls import WIRING_OPTIONS
from pages.workbench.matrix_changes import PAIR_MATRICES

ROOT = Path(__file__).parents[2]
CORE = sorted(path for path in (ROOT / "attention_core").rglob("*.py") if path.name != "__main__.py")
PAGE_CODE = sorted((ROOT / "pages").rglob("*.py"))
THIN = [path for path in PAGE_CODE if path.stem == "page"]
DRAWERS = [path for path in PAGE_CODE if path.stem == "drawers"]
CODE = [*CORE, *PAGE_CODE, ROOT / "app.py"]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TEXTS = [
    path
    for folder in ("attention_core", "pages", ".streamlit")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".js", ".css", ".toml", ".json", ".md", ".html", ".svg")
] + [ROOT / "app.py"]
README = ROOT / "README.md"
GUIDES = [README, *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md")), *sorted((ROOT / "docs").glob("*.md"))]

# The rooms from the ground up: a package may import those of earlier rows alone.
CORE_ROWS = (
    "record",
    "mechanism",
    "comparison explanation transformer",
    "analysis",
    "verification learned",
    "inputs",
    "variants examples checkpoints",
    "exercises",
    "drawing",
    "documents",
    "notebook",
)
PAGE_ROWS = (
    "site setup components workers",
    "runs classroom",
    "session",
    "panels lectures",
    "export",
    "workbench lessons",
    "practice presentation maps app",
)


def room_of(path):
    """A file of the core as its modules are imported, such as "learned.dates"."""
    return ".".join(path.relative_to(ROOT / "attention_core").with_suffix("").parts)


def name_of(path):
    return str(path.relative_to(ROOT))


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes_by_kind(path):
    """The nodes of a file's syntax tree by their class, for rules that look at every file."""
    found = defaultdict(list)
    for node in ast.walk(tree(path)):
        found[type(node)].append(node)
    return found


def nodes(path, *kinds):
    return [node for kind in kinds for node in nodes_by_kind(path)[kind]]


@cache
def imports(path):
    """The modules that a file imports, anywhere in it; `from package import module` counts as the module."""
    found = set()
    for node in nodes(path, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            continue
        assert node.level == 0, f"{name_of(path)} imports relatively"
        parts = {f"{node.module}.{alias.name}" for alias in node.names}
        found |= {part for part in parts if is_module(part)} or {node.module}
    return found


@cache
def is_module(dotted):
    place = ROOT / dotted.replace(".", "/")
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def tops(path):
    return {module.partition(".")[0] for module in imports(path)}


def dotted(node):
    """a.b.c of an expression that is one."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else None
    return node.id if isinstance(node, ast.Name) else None


# ---- arrows run one way ----------------------------------------------------------------------------------------------
@cache
def modules_of_the_core():
    """The modules that a process has which imported the package, and then every module of it."""
    names = ["attention_core", *(f"attention_core.{room_of(path)}" for path in CORE if path.stem != "__init__")]
    script = "import importlib, json, sys, attention_core\nfirst = [*sys.modules]\n"
    script += f"for name in {names}: importlib.import_module(name)\nprint(json.dumps([first, [*sys.modules]]))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_core_knows_no_web_framework():
    _, modules = modules_of_the_core()
    assert {"streamlit", "pages", "app"}.isdisjoint(name.partition(".")[0] for name in modules)


def test_importing_the_package_leaves_the_charts_library_out():
    first, _ = modules_of_the_core()
    assert "attention_core" in first and "altair" not in first


def test_altair_is_imported_in_one_file():
    warm = {"app.py"}  # the entry imports it early, so that no visitor waits for it, and uses nothing of it
    known = {name_of(path) for path in CODE if "altair" in tops(path)}
    assert known - warm == {"attention_core/drawing/specifications.py"}
    used = {dotted(node) for node in nodes(ROOT / "app.py", ast.Attribute)}
    assert not any(name and name.startswith("altair") for name in used)


@pytest.mark.parametrize("root, rows", [("attention_core", CORE_ROWS), ("pages", PAGE_ROWS)])
def test_a_package_imports_only_what_stands_below_it(root, rows):
    level = {name: number for number, row in enumerate(rows) for name in row.split()}
    assert set(level) == {path.parent.name for path in (ROOT / root).glob("*/__init__.py")}
    for path in (ROOT / root).rglob("*/*.py"):
        own = path.relative_to(ROOT / root).parts[0]
        for module in imports(path):
            package = module.partition(".")[2].partition(".")[0]
            if module.startswith(f"{root}.") and package != own:
                assert level[package] < level[own], f"{name_of(path)} imports {module}"


def test_the_core_imports_no_page_and_pages_no_test():
    for path in CORE:
        assert not {"streamlit", "pages", "app", "tests"} & tops(path), name_of(path)
    for path in PAGE_CODE:
        assert not {"app", "tests"} & tops(path), name_of(path)


def test_what_a_screen_shows_is_computed_without_a_screen():
    for name in ("setup/setup", "runs/compute"):
        assert "streamlit" not in tops(ROOT / "pages" / f"{name}.py")


def test_no_lesson_imports_another():
    slugs = {path.parent.name for path in (ROOT / "pages" / "lessons").glob("*/page.py")}
    for slug in slugs:
        for path in (ROOT / "pages" / "lessons" / slug).rglob("*.py"):
            others = {module.split(".")[2] for module in imports(path) if module.startswith("pages.lessons.")}
            assert not (slugs - {slug}) & others, name_of(path)


def test_the_entry_imports_nothing_heavy():
    own = {module for module in imports(ROOT / "app.py") if module.startswith(("pages", "attention_core", "tests"))}
    names = ["connections", "document_head", "forwarding", "health", "left_visitors", "log_lines", "metrics"]
    names += ["page_files", "reconnection", "room_routes", "security", "upload_room", "warming"]
    first = [f"pages.app.{name}" for name in names]
    assert own <= {"pages.app", "pages.site.settings", *first}
    light = f"import sys, {', '.join(first)}; print({{'torch', 'altair', 'pandas'}} & {{*sys.modules}})"
    assert subprocess.run([sys.executable, "-c", light], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"


def test_no_circle():
    graph = {}
    for path in CODE:
        module = name_of(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        graph[module] = {name for name in imports(path) if is_module(name)}
    assert list(TopologicalSorter(graph).static_order())


def names_used(path):
    """(own name, used name) of every definition of a file: None where what uses it stands in no definition."""
    for top in tree(path).body:
        for node in ast.walk(top):
            used = getattr(node, "id", None) or getattr(node, "attr", None)
            names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else [used]
            yield from ((getattr(top, "name", None), name) for name in names)


# What notebooks use and pages do not: attention block by block, and as a recurrence; the number that a cell says; the
# code of one step.
FOR_NOTEBOOKS = {"attend_blockwise", "attend_linear", "evaluate", "operation_source", "read_attention_maps"}
FOR_NOTEBOOKS_ALONE = {"notebook.pictures", "variants.blockwise_softmax"}  # the first by its name, late
PROGRAMS = {"checkpoints.hub_process"}  # started by its path, not imported: a process that needs no torch


def test_nothing_of_the_core_is_there_for_tests_alone():
    code = [*CODE, ROOT / "attention_core" / "learned" / "__main__.py"]
    used = {name for path in code for own, name in names_used(path) if own != name}
    defined = {top.name for path in CORE for top in tree(path).body if isinstance(top, ast.FunctionDef | ast.ClassDef)}
    assert defined - used - {*attention_core.__all__} == FOR_NOTEBOOKS
    imported = {module for path in code for module in imports(path)}
    rooms = {room_of(path) for path in CORE if path.stem != "__init__"}
    assert {room for room in rooms if f"attention_core.{room}" not in imported} == FOR_NOTEBOOKS_ALONE | PROGRAMS


# ---- pages are thin --------------------------------------------------------------------------------------------------
MATHEMATICS = {"bmm", "cosine_similarity", "dot", "einsum", "exp", "inner", "log_softmax", "matmul", "outer", "softmax"}


@pytest.mark.parametrize("path", [*THIN, *DRAWERS], ids=name_of)
def test_a_page_holds_no_torch_and_no_mathematics_of_attention(path):
    assert "torch" not in tops(path)
    assert [f"{name_of(path)}:{line} computes" for line in lines_that_attend(tree(path))] == []


def lines_that_attend(code):
    """The lines that multiply matrices or call what attention is computed with; adding and counting may stand."""
    found = []
    for node in ast.walk(code):
        called = node.func if isinstance(node, ast.Call) else None
        name = getattr(called, "attr", getattr(called, "id", ""))
        is_product = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)
        if is_product or name in MATHEMATICS:
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("names[len(names) - 1]\nseen = query + 1\nhalf = width // 8", []),
        ("a = 1\nscores = q @ k", [2]),
        ("x @= w", [1]),
        ("trace['scores'].softmax(-1)", [1]),
        ("np.exp(scores)", [1]),
        ("from math import exp\nexp(1)", [2]),
        ("np.einsum('td,sd->ts', q, k)", [1]),
    ],
)
def test_a_page_may_count_and_add_and_not_attend(code, lines):
    assert lines_that_attend(ast.parse(code)) == lines


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_the_catalog_lists_the_pages_there_are():
    assert [page.slug for page in PAGES] == list(dict.fromkeys(page.slug for page in PAGES))
    assert {page.path for page in PAGES} == {*THIN}


# ---- words -----------------------------------------------------------------------------------------------------------
def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_files_and_keys():
    files = [
        {path.relative_to(CONTENT_FOLDER / language) for path in (CONTENT_FOLDER / language).rglob("*")}
        for language in LANGUAGES
    ]
    assert files[0] == files[1]
    assert {path.name for path in CONTENT_FOLDER.iterdir()} == set(LANGUAGES)
    assert set(load_app_texts("en")) == set(load_app_texts("zh"))
    assert {key for key in load_app_texts("en") if key.startswith("error.")} == {
        f"error.{code}" for code in REFUSAL_SENTENCES
    }


@pytest.mark.parametrize("family, sentences", [("error", REFUSAL_SENTENCES), ("cause", CAUSES)])
def test_english_refusals_and_causes_are_the_cores_own(family, sentences):
    own = tomllib.loads((CONTENT_FOLDER / "en" / "labels.toml").read_text(encoding="utf-8"))
    assert family not in own
    assert all(load_app_texts("en")[f"{family}.{code}"] == sentence for code, sentence in sentences.items())


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty_and_every_placeholder_has_a_name(language):
    for key, text in load_app_texts(language).items():
        assert isinstance(text, str) and text.strip(), key
        assert placeholders(text) == placeholders(load_app_texts("en")[key]), key
        assert all(name.isidentifier() for name in placeholders(text)), key


def test_chinese_stands_with_its_own_punctuation():
    beside = re.compile(r"[\u3400-\u9fff][,:;?!()]|[,:;?!()][\u3400-\u9fff]")
    for path in filter(Path.is_file, (CONTENT_FOLDER / "zh").rglob("*")):
        if path.suffix == ".toml":
            texts = dict(flatten(tomllib.loads(path.read_text(encoding="utf-8"))))
        else:
            texts = {name_of(path): path.read_text(encoding="utf-8")}
        for key, text in texts.items():
            assert not beside.search(text), (key, beside.search(text)[0])


def test_chinese_writes_a_percentage_without_a_space():
    """What the code writes stands on pages of both languages, so no number that is filled in has its sign there."""
    content = [path for path in (CONTENT_FOLDER / "zh").rglob("*") if path.is_file()]
    places = [*((path, r"[\d}]\s%") for path in content), *((path, r"\}\s%") for path in PAGE_CODE)]
    found = {name_of(path): re.findall(apart, path.read_text(encoding="utf-8")) for path, apart in places}
    assert {name: signs for name, signs in found.items() if signs} == {}


def test_every_box_for_a_file_speaks_the_language_of_the_page():
    boxes = [path for path in PAGE_CODE if any(node.attr == "file_uploader" for node in nodes(path, ast.Attribute))]
    assert [*map(name_of, boxes)] == ["pages/panels/file_box.py"]


def test_english_holds_chinese_only_where_it_quotes_a_sentence():
    for key, text in load_app_texts("en").items():
        unquoted = re.sub("“[^”]*”", "", text)
        if not key.startswith("example."):
            assert not re.search(r"[\u3000-\u9fff\uff00-\uffef]", unquoted), key


def texts_of(language):
    """Every text of a language by its key, those of its lectures too."""
    found = dict(load_app_texts(language))
    for path in sorted((CONTENT_FOLDER / language / "lectures").rglob("*.json")):
        found |= {f"{path.name}:{at}": text for at, text in enumerate(strings(json.loads(path.read_text("utf-8"))))}
    return found


def strings(value):
    """Every text in what a JSON file holds."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings(part)]


def shown_asterisks(text):
    """Where a run of asterisks neither opens nor closes what it should, so that Markdown shows it: CommonMark 6.2."""
    found, opened = [], False
    for run in re.finditer(r"(?<![\\*])\*+", text):
        before, after = text[: run.start()][-1:] or " ", text[run.end() :][:1] or " "
        near, far = (before, after) if opened else (after, before)
        flanks = not near.isspace() and (not is_punctuation(near) or far.isspace() or is_punctuation(far))
        found += [] if flanks else [text[max(run.start() - 12, 0) : run.end() + 12]]
        opened = not opened
    return found + (["left open"] if opened else [])


def is_punctuation(letter):
    return unicodedata.category(letter)[0] in "PS"


@pytest.mark.parametrize("value", ["字", "5", "（5）"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_asterisk_of_markdown_is_left_on_the_screen(language, value):
    """Bold that closes behind a full stop, directly before a letter, closes for no Markdown reader."""
    assert shown_asterisks("**这些数。**其中") and not shown_asterisks("**这些数**，其中 **5** 个")
    shown = {key: shown_asterisks(filled(text, value)) for key, text in texts_of(language).items()}
    assert {key: places for key, places in shown.items() if places} == {}


def filled(text, value):
    """A text without its code, the same value in all its places."""
    return re.sub(r"\{\w+\}", value, re.sub(r"`[^`]*`", "", text))


def keys_written():
    """The keys that stand in the code: whole texts, and patterns of the f-strings that make one.

    What is filled in stands for one part of a key; where it comes first, for one that is written somewhere as a text.
    """
    paths = PAGE_CODE
    texts = {node.value for path in paths for node in nodes(path, ast.Constant) if isinstance(node.value, str)}
    first = "(" + "|".join(re.escape(text) for text in sorted(texts) if re.fullmatch(r"\w+", text)) + ")"
    patterns = []
    for node in (node for path in paths for node in nodes(path, ast.JoinedStr)):
        written = [re.escape(part.value) if is_text(part) else r"[^.]+" for part in node.values]
        if "\\." in "".join(written):
            written[0] = first if written[0] == r"[^.]+" else written[0]
            patterns.append(re.compile("".join(written)))
    return texts, patterns


def said(path):
    """Every key that is written out for say(), has() and show_sentence(), with the call."""
    for call in nodes(path, ast.Call):
        if dotted(call.func) in ("say", "has", "words.say", "words.has", "show_sentence") and call.args:
            for node in ast.walk(call.args[0]):
                if isinstance(node, ast.JoinedStr) or is_text(node):
                    yield call, node


def test_every_word_is_used():
    texts, patterns = keys_written()
    unused = [
        key
        for key in load_app_texts("en")
        if key not in texts and not any(pattern.fullmatch(key) for pattern in patterns)
    ]
    assert unused == []


def test_every_key_that_is_said_exists_and_gets_its_values():
    found = 0
    for path in PAGE_CODE:
        for call, node in said(path):
            if is_text(node) and "." in node.value and not inside_an_f_string(call, node):
                found += 1
                assert node.value in load_app_texts("en"), f"{name_of(path)}:{call.lineno} {node.value}"
                given = {keyword.arg for keyword in call.keywords}
                wanted = placeholders(load_app_texts("en")[node.value])
                assert None in given or wanted <= given, f"{name_of(path)}:{call.lineno} {wanted - given}"
            elif isinstance(node, ast.JoinedStr) and is_text(node.values[0]):
                start = node.values[0].value
                assert any(key.startswith(start) for key in load_app_texts("en")), (
                    f"{name_of(path)}:{call.lineno} {start}"
                )
    assert found > 40


@pytest.mark.parametrize("slug", LESSONS)
def test_a_lesson_has_words_for_its_controls_and_drawers_and_no_others(slug):
    paths = sorted(PAGES_BY_SLUG[slug].path.parent.rglob("*.py"))
    written = {node.value for path in paths for node in nodes(path, ast.Constant) if isinstance(node.value, str)}
    own = {"text", "guess", "one", "other", "seed", "rate", "device"}  # as shared controls are called
    for key in load_app_texts("en"):
        if re.match(rf"lessons\.{slug}\.(control|option|drawer)\.", key):
            assert {*key.split(".")[3:]} <= written | own, key


def inside_an_f_string(call, node):
    return any(node in ast.walk(text) for text in ast.walk(call) if isinstance(text, ast.JoinedStr))


def test_families_of_words_are_as_large_as_what_they_name():
    families = {
        "cause": set(CAUSES),
        "score": set(SCORES),
        "masks": {*MASKS, "custom"},
        "parameter": {"causal_offset"}
        | {
            f"{name}_{number}"
            for choices in (MASKS, MODIFIERS, NORMALISERS, POSITIONS)
            for name in choices
            for number in names_of(choices[name].parameters)
            if (name, number) != ("alibi", "slopes")  # which only a notebook says
        },
        "parameter_word": {
            word for position in POSITIONS.values() for each in position.parameters for word in each.words
        },
        "positions": set(POSITIONS),
        "modifiers": set(MODIFIERS),
        "normaliser": set(NORMALISERS),
        "dtype": set(DTYPES),
        "device": {"cpu", "cuda"},
        "no_gpu": {"built_without", "not_found", "mac"},
        "example": set(EXAMPLES),
        "dim": {*POSITION_COLUMNS, *(dim for example in EXAMPLES.values() for dim in example.dims)},
        "built": set(HEAD_KINDS),
        "built_role": set(HEAD_KINDS),
        "wiring": set(WIRING_OPTIONS),
        "page": {page.slug for page in PAGES},
        "section": {page.section for page in PAGES},
        "origin.word": {*ORIGINS, "role", "stand_in", "unknown", STARTLING, "typed", "padding"},
        "origin.group": {*ORIGINS, "typed", "given", "removed", "brought", "drawn"},
        "role_of": set(ROLES),
        "role_of_word": {*known_roles(), NOT_KNOWN},
        "edited": {*PAIR_MATRICES, *(f"about_{name}" for name in PAIR_MATRICES)},
        "canvas": {*CANVAS_TEXT_KEYS, "paint", "paint_touch", "look", "look_touch", "axes", "note", "mask"},
        "origin.matrix": {*ORIGINS, "typed", "given"},
        "proof.by": set(re.findall(r'"(numpy|shown|sdpa|mha|rows|blocked|\w+)", ', proof_checks())),
    }
    for family, names in families.items():
        there = {key.removeprefix(f"{family}.") for key in load_app_texts("en") if key.startswith(f"{family}.")}
        assert there == names, family
    for key in load_app_texts("en"):
        if key.startswith("role."):
            _, name, head = key.split(".")
            assert int(head) <= EXAMPLES[name].heads


def proof_checks():
    """The witnesses' names as the proof writes them: the second argument of compare() and Check()."""
    calls = nodes(ROOT / "attention_core" / "verification" / "proof.py", ast.Call)
    second = [
        call.args[1] for call in calls if dotted(call.func) in ("check_step", "ProofCheck") and len(call.args) > 1
    ]
    return "".join(f'"{node.value}", ' for node in second if is_text(node))


# ---- what never stands in the code -----------------------------------------------------------------------------------
DRAWS = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial")


def test_randomness_is_a_generators_own():
    for path in CODE:
        assert "random" not in tops(path) and "secrets" not in tops(path), name_of(path)
        for node in nodes(path, ast.Attribute):
            name = dotted(node) or ""
            place = f"{name_of(path)}:{node.lineno} {name}"
            assert name not in ("torch.manual_seed", "torch.seed", "torch.random", "torch.initial_seed"), place
            assert not re.match(r"torch\.(cuda|mps)\.(manual_seed|seed)", name), place
            assert not re.match(r"(np|numpy)\.random\.(?!default_rng|Generator|RandomState)", name), place
        for call in nodes(path, ast.Call):
            name = dotted(call.func) or ""
            if name in {f"torch.{draw}" for draw in DRAWS}:
                given = {keyword.arg for keyword in call.keywords}
                assert "generator" in given, f"{name_of(path)}:{call.lineno} {name}"
            if name.endswith(("default_rng", "RandomState")):
                assert call.args, f"{name_of(path)}:{call.lineno} {name}"


CHANGING = {  # one visitor's or one room's state, or what one call gathers; all other records may be shared
    "BrowserCopy",
    "CallRecord",
    "CollectedPart",
    "CellStyles",
    "LectureSession",
    "LessonChoices",
    "LinkedState",
    "Load",
    "LookOrder",
    "ReadScores",
    "RecordedText",
    "Room",
    "RunInputs",
    "WorkbenchState",
}


def test_a_record_is_never_changed():
    changing = set()
    for path in CODE:
        for record in nodes(path, ast.ClassDef):
            written = [ast.unparse(decorator) for decorator in record.decorator_list]
            if any("dataclass" in each and "frozen=True" not in each for each in written):
                changing.add(record.name)
    assert changing == CHANGING


def test_nothing_is_run_or_unpacked_that_came_from_outside():
    for path in CODE:
        place = name_of(path)
        assert not {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "ctypes"} & tops(path), place
        for call in nodes(path, ast.Call):
            name = dotted(call.func) or ""
            assert name not in ("eval", "exec", "__import__", "torch.load", "os.system", "st.html"), (place, name)
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            assert "unsafe_allow_html" not in keywords, place
            assert "unsafe_allow_javascript" not in keywords, place
            assert getattr(keywords.get("allow_pickle"), "value", False) is False, place
            assert getattr(keywords.get("shell"), "value", False) is False, place


def test_parts_of_the_screen_show_texts_as_texts():
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bfetch\(")
    scripts = [path for path in TEXTS if path.suffix in (".js", ".html", ".svg")]
    assert scripts
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        if name_of(path) == "pages/components/connection.js":  # asks the app's own server whether it answers
            assert "/_stcore/health`;" in text
            text = text.replace("await fetch(health, ", "", 1)
        if name_of(path) == "pages/components/room.js":  # tells the app's own server where a lecturer stands
            text = text.replace("await fetch(`${backendAddress()}/room/place?", "", 1)
        if path.name == "follow.js":  # a page of the app's own server sends it an answer
            text = text.replace('await fetch("room/answer" + location.search, ', "", 1)
        assert not forbidden.search(text), name_of(path)


XML_NAMES = re.compile(r"http://www\.w3\.org/(2000/svg|1998/Math/MathML)\b")  # names, which nobody opens


def test_no_address_of_another_host():
    address = re.compile(r"https?:(?://|\\/)|wss?://|[\"'(]//\w|@import|XMLHttpRequest|WebSocket|sendBeacon")
    for path in TEXTS:
        found = address.search(XML_NAMES.sub("", path.read_text(encoding="utf-8")))
        assert not found, (name_of(path), found[0])


def test_no_usage_is_reported():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["browser"]["gatherUsageStats"] is False


def test_the_server_takes_the_largest_file_that_is_read_and_each_box_says_its_own_bound():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["maxUploadSize"] == MAP_BOUNDS.megabytes
    calls = [call for path in PAGE_CODE for call in nodes(path, ast.Call)]
    boxes = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "file_box"]
    assert len(boxes) >= 6
    assert all("max_upload_size" in {word.arg for word in call.keywords} for call in boxes)


def test_no_path_of_one_machine():
    for path in [*TEXTS, *TESTS, *GUIDES, ROOT / "pyproject.toml", ROOT / ".pre-commit-config.yaml"]:
        text = path.read_text(encoding="utf-8")
        found = re.search(r"(?<![\w.~}\])/])/(?:home|root|Users|work|workspace|opt)/\w", text)
        assert not found, (name_of(path), found[0])


# ---- faces -----------------------------------------------------------------------------------------------------------
FACES = ("torch", "numpy", "formula", "cell")


def every_face():
    """(module, name of the Faces, which face, its function) for each operation of the core."""
    seen = []
    for path in CORE:
        module = importlib.import_module(
            ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        )
        for name, value in vars(module).items():
            if isinstance(value, Faces) and not any(value is faces for _, _, faces in seen):
                seen.append((module, name, value))
    return [(module, name, face, getattr(faces, face)) for module, name, faces in seen for face in FACES]


def test_every_operation_says_its_motion():
    motions = set(load_app_texts("en"))
    for score in SCORES.values():
        assert all(f"flow.stop.{operation.faces.motion}" in motions for operation in score.operations)
    assert all(f"flow.stop.{position.faces.motion}" in motions for position in POSITIONS.values())


def test_there_are_the_operations_of_every_table():
    named = {id(function) for *_, function in every_face()}
    assert len(every_face()) >= 4 * 20
    for score in SCORES.values():
        assert all(id(operation.faces.torch) in named for operation in score.operations)
    assert all(id(mask.faces.torch) in named for mask in MASKS.values())


def test_every_face_is_a_plain_function_whose_source_is_complete():
    for module, name, face, function in every_face():
        place = f"{module.__name__}.{name}.{face}"
        assert isinstance(function, FunctionType), place
        assert function.__closure__ is None and "<" not in function.__qualname__, place
        assert getattr(sys.modules[function.__module__], function.__name__) is function, place
        assert inspect.getsource(function).startswith(f"def {function.__name__}("), place


def test_the_twins_know_no_torch_and_the_originals_no_numpy():
    for module, name, face, function in every_face():
        words = {node.id for node in ast.walk(ast.parse(inspect.getsource(function))) if isinstance(node, ast.Name)}
        if face == "numpy":
            assert "torch" not in words, f"{module.__name__}.{name}"
        if face == "torch":
            assert "np" not in words, f"{module.__name__}.{name}"


# ---- what is public says what it does --------------------------------------------------------------------------------
def readme_imports():
    """The names of the core that the README's Python blocks import."""
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    found = set()
    for node in (node for block in blocks for node in ast.walk(ast.parse(block))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("attention_core"):
            found |= {(node.module, alias.name) for alias in node.names}
    return found


def public_names():
    """What is public: what the package lists, what the README imports, what pages import."""
    found = {("attention_core", name) for name in attention_core.__all__} | readme_imports()
    for path in PAGE_CODE:
        for node in nodes(path, ast.ImportFrom):
            if node.module.startswith("attention_core"):
                found |= {(node.module, alias.name) for alias in node.names}
    return sorted(found)


def lacks_docstring(module, name):
    """Whether a public class or function has no docstring, or a public method of the class has none."""
    if is_module(f"{module}.{name}"):
        importlib.import_module(f"{module}.{name}")
    value = getattr(importlib.import_module(module), name)
    if not inspect.isclass(value) and not inspect.isfunction(value):
        return False
    members = vars(value).items() if inspect.isclass(value) else ()
    methods = [member for key, member in members if isinstance(member, FunctionType) and not key.startswith("_")]
    return not all(each.__doc__ for each in (value, *methods))


def test_what_is_public_has_a_docstring():
    names = public_names()
    assert len(names) > 500
    assert [f"{module}.{name}" for module, name in names if lacks_docstring(module, name)] == []


def test_the_package_lists_what_the_readme_shows():
    assert readme_imports() and all(name in attention_core.__all__ for _, name in readme_imports())
    assert attention_core.__all__ == sorted(attention_core.__all__)
    assert all(hasattr(attention_core, name) for name in attention_core.__all__)


def test_every_module_says_what_it_is():
    assert all(ast.get_docstring(tree(path)) for path in CODE)


def test_the_formulas_of_docstrings_are_spelled_as_latex_reads_them():
    """Two backslashes before a word are a line break and the word; a control character was one backslash too few.

    Both need a backslash or a control character in the file: only such files are parsed.
    """
    for path in [*CODE, *TESTS]:
        if not re.search(r"[\\\x00-\x09\x0b-\x1f]", path.read_text(encoding="utf-8")):
            continue
        for node in nodes(path, ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
            prose, _, _ = (ast.get_docstring(node, clean=False) or "").partition(">>>")  # a doctest prints any text
            found = re.search(r"\\\\[A-Za-z]|[\x00-\x09\x0b-\x1f]", prose)
            assert not found, f"{name_of(path)}, {getattr(node, 'name', 'module')}: {found[0]!r}"


# ---- dependencies, README, checks ------------------------------------------------------------------------------------
def requirements():
    files = ("requirements.txt", "requirements-models.txt", "tests/requirements.txt")
    lines = [line for name in files for line in (ROOT / name).read_text().splitlines()]
    return [line for line in lines if line.strip() and not line.startswith(("-c ", "-r "))]


def test_requirements_are_exact():
    for line in requirements():
        assert re.fullmatch(r"[a-z0-9-]+==\d+(\.\d+)+(\.post\d+)?", line), line


def dependency_table():
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")][2:]
    return {name.strip(" `"): reason.strip() for packages, reason in rows for name in packages.split(",")}


def test_the_docs_say_why_each_dependency_is_there():
    table = dependency_table()
    assert set(table) == {line.partition("==")[0] for line in requirements()}
    assert all(table.values())


IMPORTED_AS = {"vl-convert-python": "vl_convert", "python-pptx": "pptx", "pillow": "PIL"}


def test_what_is_imported_is_required_or_comes_with_python():
    names = [line.partition("==")[0] for line in requirements()]
    required = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in names}
    own = {"attention_core", "pages", "app", "tests"}
    for path in CODE:
        foreign = tops(path) - set(sys.stdlib_module_names) - own
        assert foreign <= required, (name_of(path), foreign - required)


TEST_COMMAND = (
    "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt -r tests/requirements.txt "
    "&& .venv/bin/python -m pytest"
)


def test_the_check_runs_the_readmes_test_command():
    blocks = re.findall(r"```\w*\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    commands = [
        line.strip() for block in blocks for line in block.splitlines() if line.strip().startswith(TEST_COMMAND)
    ]
    assert len(commands) == 1
    assert commands[0] in [line.strip() for line in (ROOT / ".ci" / "run").read_text().splitlines()]


LINTERS = {
    "ruff check": "ruff check",
    "ruff format": "ruff format --check",
    "flake8": (
        "flake8 --isolated --select=WPS200,WPS221,WPS509,WPS224 --max-line-complexity=22 --max-jones-score=11"
        " attention_core pages app.py"
    ),
}


def test_the_check_and_the_commit_hooks_run_the_same_linters():
    check = (ROOT / ".ci" / "run").read_text()
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    for hook, command in LINTERS.items():
        assert f".venv/bin/{command}" in check
        assert f".venv/bin/{hook}" in hooks
    assert LINTERS["flake8"].removesuffix(" attention_core pages app.py") in hooks


def house_map():
    """The section of the README that says what is in which room."""
    return README.read_text(encoding="utf-8").partition("\n## The map of the house\n")[2].partition("\n## ")[0]


def test_the_map_of_the_house_names_every_room():
    text = README.read_text(encoding="utf-8").partition("\n## The map of the house\n")[2].partition("\n## ")[0]
    rooms = [path.parent for path in ROOT.glob("attention_core/*/__init__.py")]
    rooms += [path.parent for path in ROOT.glob("pages/*/__init__.py")]
    assert [name_of(room) for room in rooms if f"`{name_of(room)}/`" not in text] == []
    for named in re.findall(r"`((?:attention_core|pages|tests)/[\w/.]+)`", text):
        assert (ROOT / named).exists(), named


def test_torch_is_told_to_wait_asleep_before_it_is_imported():
    script = "import app, os, sys; print(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"
    told = {name: text for name, text in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=told, capture_output=True, text=True, check=True
    )
    assert done.stdout == "passive False\n"


def gets_entered_value(given):
    """Whether the callback of a widget comes from when_entered; "rerun" and "ignore" call nothing."""
    match given:
        case ast.Constant(value="rerun" | "ignore") | ast.Call(func=ast.Name(id="when_entered")):
            return True
        case ast.Name(id="on_change"):  # of an argument, or of an assignment that is looked at, too
            return True
    return False


def test_the_callback_of_a_widget_gets_what_was_entered():
    """One that reads the session by the widget's key fails if the page was left (tests/session/test_left_pages.py)."""
    by_hand = []
    for path in PAGE_CODE:
        given = [each.value for each in nodes(path, ast.keyword) if each.arg in ("on_change", "on_select")]
        assigned = [each for each in nodes(path, ast.Assign) if ast.unparse(each.targets[0]) == "on_change"]
        given += [each.value for each in assigned]
        by_hand += [(name_of(path), ast.unparse(each)) for each in given if not gets_entered_value(each)]
    assert not by_hand
