"""README and docs: the notebook lines run, links lead to files, pages are short, the version is one fact."""

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
DOCS = sorted((ROOT / "docs").glob("*.md"))
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
MAX_LINES = 150  # of a page that is read in one sitting


def name_of(path):
    return str(path.relative_to(ROOT))


# ---- the notebook ----------------------------------------------------------------------------------------------------
def test_the_notebook_lines_run_and_give_what_they_promise():
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(BLOCK, "README", "exec"), names)
    assert "masked_softmax_numpy" in printed.getvalue()
    assert names["trace"]["weights"].dim() == 4
    assert names["explain"](names["trace"], "scores", (0, 0, 1, 0)).text == re.search(r"'(.*= −6\.00)'", BLOCK).group(1)
    assert names["prove"](names["trace"]).passed


def test_they_are_ten_at_most():
    assert len([line for line in BLOCK.splitlines() if line.strip()]) <= 10


def test_the_readme_opens_with_a_moving_picture_that_is_small_enough_to_send():
    picture = ROOT / re.search(r"!\[[^]]+\]\(([^)]+)\)", README.split("## ")[0]).group(1)
    assert 100_000 < picture.stat().st_size < 1_500_000
    assert picture.read_bytes().count(b"\x21\xf9\x04") > 50  # a control block before each frame of a GIF


# ---- links and lengths -----------------------------------------------------------------------------------------------
def linked_files(path):
    """The files that a page links to, as they stand in it; a link outside code, without its place on the page."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", prose)]
    return [target for target in found if target and "://" not in target]


@pytest.mark.parametrize("path", GUIDES, ids=name_of)
def test_every_link_leads_to_a_file(path):
    missing = [target for target in linked_files(path) if not (path.parent / target).exists()]
    assert missing == []


def test_every_page_of_docs_is_linked_in_the_readme():
    linked = {(ROOT / target).resolve() for target in linked_files(ROOT / "README.md")}
    assert [name_of(path) for path in DOCS if path.resolve() not in linked] == []


@pytest.mark.parametrize("path", GUIDES, ids=name_of)
def test_a_page_is_read_in_one_sitting(path):
    if path.name != "CHANGELOG.md":  # it grows with the years
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


# ---- the version -----------------------------------------------------------------------------------------------------
def test_the_version_is_the_same_wherever_it_stands():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited.group(1) == version
    released = re.findall(r"^## \[(\d\S*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert released[0] == version


def named_paths(path):
    """The files and folders of this project that a page names in code style."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r"`((?:attention_core|pages|tests|docs)/[\w./-]*[\w/])`", text)


@pytest.mark.parametrize("path", [path for path in GUIDES if path.name != "CHANGELOG.md"], ids=name_of)
def test_every_path_that_is_named_exists(path):
    assert [named for named in named_paths(path) if not (ROOT / named).exists()] == []
