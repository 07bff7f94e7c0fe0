"""Code in Chinese: every comment that a reader meets is Chinese, none is kept for nothing, and the code is the same."""

import ast
import inspect
import io
import re
import tokenize

import torch

from attention_core import attend_qkv
from attention_core.examples.code_examples import LISTINGS
from attention_core.explanation.code_comments import (
    PHRASE_START,
    REMARK_START,
    template_pattern,
    translate_comments,
)
from attention_core.explanation.scripts import MAX_LITERAL_NUMBERS, code, rows, show, show_start, title_line
from attention_core.explanation.source_closure import collect_definitions
from attention_core.explanation.traced_source import function_listing
from attention_core.variants import textbook_code
from pages.site.code_words import load_code_comments, mechanism_titles
from tests.house.test_house import every_face

CHINESE = load_code_comments("zh")
ENGLISH_WORD = re.compile(r"\b(?!ceil\b)[a-z]{3,}")
REMARKS = "(8,), strides (1,), broadcast along axis 1, not contiguous, 3 times; (2,), 3 of them"
SHAPE = re.compile(r"\([^()]*\)")
CHINESE_CHARACTER = re.compile(r"[\u3400-\u9fff\uff00-\uffef]")


def small_run():
    """A run whose inputs stand in its script."""
    q, k, v = torch.arange(6.0).view(1, 1, 2, 3), torch.ones(1, 1, 5, 3), torch.ones(1, 1, 5, 7)
    return attend_qkv(q, k, v)


def large_run(dtype):
    """A run whose script reads them from a file."""
    side = int(MAX_LITERAL_NUMBERS**0.5) + 1
    return attend_qkv(*torch.eye(side, dtype=dtype).expand(3, 1, 1, side, side))


def head_listing():
    """A function with what its lines made of a tensor that is broadcast."""
    return function_listing(textbook_code.split_by_eighth, {"x": torch.ones(1, 1, 8).expand(1, 2, 8)})


def every_source():
    """Every piece of code that a reader meets, as (where, its text)."""
    functions = [function for *_, face, function in every_face() if face in ("torch", "numpy")]
    definitions = {}
    for function in [*functions, show, show_start, rows]:
        for definition in collect_definitions([function], {}):
            definitions[definition.module, definition.name] = definition
    for definition in definitions.values():
        yield definition.name, f"{title_line(definition.title)}\n{definition.text}"
    for name, function in inspect.getmembers(textbook_code, inspect.isfunction):
        if function.__module__ == textbook_code.__name__ and "Tensor" in str(function.__annotations__.get("x")):
            yield name, inspect.getsource(function)
    for name, each in LISTINGS.items():
        yield name, each.source
    for run in (small_run(), large_run(torch.float32), large_run(torch.bfloat16)):
        for library in ("torch", "numpy"):
            yield f"script {library}", code(run, library)
    yield "listing", head_listing()


def comments_of(source):
    """The comments and docstrings of a source, without # and quotes."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_remark = token.string.startswith(REMARK_START)
        if token.type == tokenize.COMMENT and not is_remark:
            yield token.string.strip("# -")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node):
            yield ast.get_docstring(node)


def code_of(source):
    """The code without its words: comments, docstrings and printed texts."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def test_every_comment_is_chinese_and_the_code_is_the_same():
    for where, source in every_source():
        translated = translate_comments(source, CHINESE)
        assert code_of(translated) == code_of(source), where
        for english, chinese in zip(comments_of(source), comments_of(translated), strict=True):
            if ENGLISH_WORD.search(SHAPE.sub("", english)):
                assert CHINESE_CHARACTER.search(chinese), (
                    f"{where}: neither a label nor pages/content/zh/code_comments.json says {english!r} in Chinese"
                )


def test_no_comment_is_kept_for_nothing():
    texts = []
    for _, source in every_source():
        texts += comments_of(source)
        texts += re.findall(r'"(.*?)"', source)
    unused = []
    for english in CHINESE.keys() - mechanism_titles("zh").keys():
        if english.startswith(PHRASE_START):
            is_used = english.removeprefix(PHRASE_START) in REMARKS
        else:
            is_used = any(template_pattern(english).fullmatch(text) for text in texts)
        if not is_used:
            unused.append(english)
    assert not unused


def test_a_title_without_a_translation_is_the_label_of_its_mechanism():
    assert translate_comments("# ---- cosine: written anew", CHINESE).startswith("# ---- 余弦 ---")
    assert translate_comments("# ---- causal: no key after the query", CHINESE).startswith("# ---- 因果：不看")
    assert translate_comments("# ---- nothing: of ours", CHINESE).startswith("# ---- nothing: of ours ---")


def test_a_remark_keeps_its_expression():
    listed = translate_comments(head_listing(), CHINESE)
    assert "#   x: (1, 2, 8)，步长 (8, 0, 1)，沿轴广播：1，不连续\n" in listed
    assert translate_comments("#   y: (2,), strides (1,), 3 times", CHINESE) == "#   y: (2,)，步长 (1,), 3 次"


def test_a_chinese_script_prints_the_same_numbers(capsys):
    script = code(small_run(), "numpy")
    printed = []
    for source in (script, translate_comments(script, CHINESE)):
        exec(compile(source, "script", "exec"), {"__name__": "__main__"})
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "weights (1, 1, 2, 5)" in printed[1]


def test_without_translations_nothing_changes():
    for _, source in every_source():
        assert translate_comments(source, {}) == source
