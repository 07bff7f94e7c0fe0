"""The LaTeX document: every number is the run's, no word is a command, and it compiles where a TeX is installed."""

import re
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, attend
from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.latex_document import (
    ESCAPED_SIGNS,
    TYPESET_SIGNS,
    escape_latex,
    latex_document,
    number_latex,
)
from attention_core.documents.provenance import Provenance
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.shown_steps import shown_steps
from tests.explanation.test_scripts import RUNS, trace_of
from tests.session.test_hostile_words import HOSTILE

LINK = "https://attention.example.edu/?ex=en_it&x=%3D1%25&y=~#top"
IMPRINT = Provenance("A title: 50 % of #1", LINK, ("Random: x_y, from seed 3.",))
NAMES = ("Anna", "fed", "the", "dog", "and", "it", "barked")


def telling(labels=NAMES, sentence="Head 1 — “it” gives 93 %."):
    words = PictureTexts(
        str, lambda axis, position: labels[position % len(labels)] if axis in ("T", "S") else str(position + 1)
    )
    return DocumentTexts("en", sentence, ("Score: scaled_dot",), words, lambda part: part.step, "and {} more".format)


@cache
def document(name):
    return latex_document(trace_of(name), {}, IMPRINT, telling())


def groups(text):
    """How deep braces stand at the end; never below nothing on the way."""
    depth = 0
    text = re.sub(r"^%.*|\\url\{[^{}]*\}", "", text, flags=re.MULTILINE)  # comments; an address, which has no braces
    for sign in re.sub(r"\\[\\{}]", "", text):
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    return depth


def arrays(text):
    """The numbers of every matrix: (step, rows of texts without the labels), in order."""
    for part in text.split(r"\bigskip")[1:]:
        for title, body in re.findall(
            r"\\small ([^\n]*)}\\nopagebreak\n\n?.*?\\hline\n(.*?)\n\\end\{array}", part, re.DOTALL
        ):
            yield (
                title.replace("{-}", "-").replace(r"\_", "_"),
                [[cell.strip() for cell in row.removesuffix(r" \\").split(" & ")[1:]] for row in body.split("\n")],
            )


def as_float(text):
    if text == r"\mathrm{NaN}":
        return float("nan")
    digits, _, power = text.replace(r"\infty", "inf").partition(r"\cdot 10^")
    return float(digits) * 10.0 ** int(power.strip("{}") or 0)


@pytest.mark.parametrize("name", [*RUNS])
def test_groups_and_environments_are_balanced(name):
    text = document(name)
    assert groups(text) == 0
    open_ones = []
    for which, environment in re.findall(r"\\(begin|end)\{(\w+)}", text):
        if which == "begin":
            open_ones.append(environment)
        else:
            assert open_ones.pop() == environment
    assert open_ones == []
    assert text.count(r"\begin{document}") == text.count(r"\end{document}") == 1
    outside = re.sub(r"\$[^$]*\$", "", re.sub(r"\\\$", "", text))
    assert "$" not in outside  # every formula that begins ends
    assert text.isascii() or text.startswith("% !TEX program = xelatex") or re.search("[\u00a1-\u00ff]", text)


@pytest.mark.parametrize("name", [*RUNS])
def test_every_number_is_the_runs_and_every_step_is_there(name):
    trace, found = trace_of(name), {}
    for title, rows in arrays(document(name)):
        found.setdefault(title, []).append(np.array([[as_float(cell) for cell in row] for row in rows]))
    assert [*found] == shown_steps(trace)
    for step, written in found.items():
        value = (
            trace[step]
            .detach()
            .double()
            .reshape(-1, *trace[step].shape[-2:] if trace[step].dim() > 1 else (1, trace[step].shape[0]))
        )
        dims = trace.step(step).dims[:-2]
        heads = [size for dim, size in zip(dims, trace[step].shape, strict=False) if dim in ("H", "H_kv")]
        assert len(written) == min(4, heads[0] if heads else 1)
        per_head = trace[step].detach().double()
        for axis in reversed(range(len(dims))):  # everything but the heads at its first place
            per_head = per_head if dims[axis] in ("H", "H_kv") else per_head.select(axis, 0)
        per_head = per_head if heads else per_head[None]
        for head, matrix in enumerate(written):
            expected = per_head[head].reshape(-1, value.shape[-1]).numpy()[: matrix.shape[0], : matrix.shape[1]]
            assert matrix.shape == tuple(min(12, size) for size in (value.shape[-2], value.shape[-1]))
            np.testing.assert_allclose(matrix, expected, rtol=0.006, atol=0.0050001)  # two decimals, or three digits


def test_colours_and_formulas_are_the_projects():
    text = document("small")
    assert r"\definecolor{symbolq}{HTML}{0067A5}" in text
    assert r"\mathrm{scores} = \textcolor{symbolq}{Q}\,\textcolor{symbolk}{K}^{\top}" in text
    assert r"\textcolor{#" not in text


def test_where_it_is_from_is_said_twice():
    text = document("small")
    assert text.splitlines()[1:4] == [f"% {line}" for line in IMPRINT.lines]
    assert rf"\url{{{LINK}}}" in text and r"Random: x\_y{,} from seed 3." in text
    assert r"\section*{A title: 50 \% of \#1}" in text


def test_a_large_run_is_shortened_and_says_so():
    trace = attend(torch.randn(512, 64, generator=torch.Generator().manual_seed(0)), config=AttentionConfig(heads=8))
    text = latex_document(trace, {"T": 300}, IMPRINT, telling())
    assert len(text) < 150_000 and text.count("and 4 more") >= 4
    assert number_latex(trace["weights"][0, 0, 300, 300].item()) in text
    assert [len(rows) for title, rows in arrays(text) if title == "weights"] == [12] * 4


# ---- words -----------------------------------------------------------------------------------------------------------
COMMANDS = {
    **{command: sign for sign, command in ESCAPED_SIGNS.items()},
    **{text: sign for sign, text in TYPESET_SIGNS.items()},
}


def unescaped(text):
    """What LaTeX shows of an escaped text: only the commands that the house writes, each as its sign."""
    pattern = re.compile(
        "|".join(re.escape(command) for command in sorted(COMMANDS, key=len, reverse=True)) + "|(.)", re.DOTALL
    )
    shown = []
    for found in pattern.finditer(text):
        assert found[1] is None or found[1] not in r"\{}$&#%_^~", found[1]
        shown.append(found[1] or COMMANDS[found[0]])
    return "".join(shown)


@pytest.mark.parametrize(
    "word", [*HOSTILE, r"\input{/etc/passwd}", r"\end{document}", "%", "$$", "a_b^c~d", "--''``!`?`<<>>"]
)
def test_a_word_is_never_a_command(word):
    assert unescaped(escape_latex(word)) == " ".join(word.split())
    labels = (word or "empty", *NAMES)
    text = latex_document(trace_of("small"), {}, Provenance(word, LINK, (word,)), telling(labels, word))
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert groups(text) == 0 and [line for line in lines if "end{document" in line] == [r"\end{document}"]


@pytest.mark.parametrize(
    "word, engine", [("dog", "pdflatex"), ("Müßiggang", "pdflatex"), ("狗", "xelatex"), ("собака", "xelatex")]
)
def test_what_is_in_it_decides_which_tex_reads_it(word, engine):
    text = latex_document(trace_of("small"), {}, IMPRINT, telling((word,), "“it” → “dog”"))
    assert text.startswith(f"% !TEX program = {engine}\n")
    assert ("ctexart" in text) == (engine == "xelatex")


# ---- a TeX -----------------------------------------------------------------------------------------------------------
DOCUMENTS = {
    "small": lambda: document("small"),
    "everything": lambda: document("everything float64"),
    "large": lambda: document("large float64"),
    "block by block": lambda: document("block by block"),
    "hostile": lambda: latex_document(trace_of("small"), {}, IMPRINT, telling((r"\input{x}", '%$#&_^~"<>|', "--``''"))),
    "chinese": lambda: latex_document(trace_of("small"), {}, IMPRINT, telling(("它", "狗"), "头 1：“它”给“狗” 93 %。")),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_compiles(name, tmp_path):
    text = DOCUMENTS[name]()
    engine = re.match(r"% !TEX program = (\w+)", text)[1]
    if shutil.which(engine) is None:
        pytest.skip(f"there is no {engine}")
    (tmp_path / "run.tex").write_text(text, encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "run.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=240)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "run.pdf").stat().st_size > 1000
    assert "Overfull" not in done.stdout and "Missing character" not in (tmp_path / "run.log").read_text(
        errors="replace"
    )
