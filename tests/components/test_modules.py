"""Modules of the pages are joined along their imports, and each keeps its own names."""

import pytest

from pages.components import modules
from pages.components.modules import join_modules, list_modules


@pytest.fixture
def write(monkeypatch, tmp_path):
    def write(**texts: str) -> None:
        monkeypatch.setattr(modules, "read_part", lambda name: texts[name.removesuffix(".js")])
        modules.reduce_module.cache_clear()

    yield write
    modules.reduce_module.cache_clear()


def test_what_is_imported_stands_once_and_first(write):
    write(
        page='import { b } from "./b.js";\nimport { c } from "./c.js";\n',
        b='import {\n  c,\n} from "./c.js";\n',
        c="export const c = 1;\n",
    )
    assert list_modules("page") == ["c", "b", "page"]


def test_modules_are_joined_without_comments(write):
    write(
        page='// Draws.\nimport { b as two } from "./b.js";\n\nexport default function () {\n  return two;\n}\n',
        b='/**\n * Two.\n */\nexport const b = () => own;\nconst own = "4 // 5"; // of its own\n',
    )
    assert join_modules("page") == (
        'const $b = (() => {\nconst b = () => own;\nconst own = "4 // 5";\nreturn { b };\n})();\n'
        "const $page = (() => {\nconst { b: two } = $b;\nconst $draw = function () {\nreturn two;\n}\n"
        "return { draw: $draw };\n})();\n"
        "export default $page.draw;\n"
    )


def test_code_between_two_comments_stays(write):
    write(page="/** One. */ let one;\n/** Two. */\nlet two;\n\nexport default () => [one, two];\n")
    assert "let one;\nlet two;\n" in join_modules("page")


def test_what_nothing_uses_is_left_out(write):
    write(
        page='import { a, b } from "./b.js";\n\nexport default () => b();\n\nfunction unused() {\n  return a;\n}\n',
        b='import { c } from "./c.js";\n\nexport const a = () =>\n  c;\nexport function b() {\n  return 2;\n}\n',
        c="export const c = 1;\n",
    )
    assert join_modules("page") == (
        "const $b = (() => {\nfunction b() {\nreturn 2;\n}\nreturn { b };\n})();\n"
        "const $page = (() => {\nconst { b } = $b;\nconst $draw = () => b();\nreturn { draw: $draw };\n})();\n"
        "export default $page.draw;\n"
    )


def test_modules_that_import_each_other_are_refused(write):
    write(a='import { b } from "./b.js";\n', b='import { a } from "./a.js";\n')
    with pytest.raises(ValueError, match="a -> b -> a"):
        list_modules("a")


def test_no_text_of_a_script_goes_over_lines():
    """Indents are left out where modules are joined: none may belong to a text."""
    for path in modules.COMPONENTS_FOLDER.rglob("*.js"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert line.count("`") % 2 == 0, (path.name, line)
