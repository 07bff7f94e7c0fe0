"""Charts as files: the same cells, numbers and words as the table that a browser draws, and nothing else."""

import os
import re
import subprocess
import sys
from html import escape
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from PIL import Image

from attention_core import AttentionConfig, attend, attend_qkv
from attention_core.documents.formulas import SVG_NAMESPACE, typeset_formula
from attention_core.documents.picture_files import (
    FILE_MARGIN_PX,
    PNG_SCALE,
    missing_letters,
    png_bytes,
    svg_size,
    svg_text,
    vega_svg,
)
from attention_core.documents.provenance import Provenance
from attention_core.drawing.charts import head_map
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from attention_core.drawing.specifications import FONT
from attention_core.drawing.text_layout import PictureTexts, wrap_text
from attention_core.explanation.formula import formula

LINK = "https://attention.example.edu/?ex=en_it&mask=causal&t=5"
IMPRINT = Provenance("who & <what>", LINK, ("Random: x, from seed 3.",))
SVG = "{http://www.w3.org/2000/svg}"
KEYS = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], dtype=torch.float64)


def words(labels=("one", "two", "three")):
    return PictureTexts(lambda ref: f"{ref.step} {ref.index}", lambda axis, position: labels[position])


def run(**config):
    return attend_qkv(KEYS, KEYS, KEYS, config=AttentionConfig(**config))


def drawn(trace, palette=LIGHT_PALETTE, imprint=IMPRINT, labels=("one", "two", "three"), **how):
    picture = head_map(trace, 0, words(labels), palette, query=1, title="head 1", **how)
    return svg_text(picture, imprint, palette, formula(trace, "weights", palette.families()))


def texts(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def fills(svg):
    """The fill of each cell, by what a screen reader is told of it."""
    cells = ElementTree.fromstring(svg).iter(f"{SVG}path")
    return {path.get("aria-label"): path.get("fill") for path in cells if path.get("aria-label")}


@pytest.mark.parametrize("palette", [LIGHT_PALETTE, DARK_PALETTE], ids=["light", "dark"])
def test_a_file_shows_every_cell_of_the_table_in_its_colour_with_its_number(palette):
    trace = run(masks=["causal"])
    picture = head_map(trace, 0, words(), palette, query=1, title="head 1")
    rows = [dict(zip(picture.table, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]
    svg = drawn(trace, palette)
    told = {f"{row['what']}: {row['value']}": row["fill"] for row in rows if row["kind"] in ("cell", "blocked")}
    assert fills(svg) == told and len(told) == 9
    written = [row["text"] for row in rows if row["text"]]
    assert sorted(written) == sorted(texts(svg)[2:])  # after the title and the note
    assert svg.count("<path") + svg.count("<line") > 9 + 3  # hatches of the blocked cells, and the chosen row


def test_a_number_stands_in_the_cell_that_its_colour_fills():
    """Vega's expressions put texts into the middle of cells: read off where each is drawn."""
    root = ElementTree.fromstring(drawn(run()))
    weights = run()["weights"][0, 0]
    places = {}
    for text in root.iter(f"{SVG}text"):
        at = re.fullmatch(r"translate\(([\d.]+),([\d.]+)\)", text.get("transform", ""))
        if at and re.fullmatch(r"0\.\d\d", text.text or ""):
            places[float(at[1]), float(at[2])] = text.text
    rows = sorted({y for _, y in places})
    columns = sorted({x for x, _ in places})
    found = [[float(places[x, y]) for x in columns] for y in rows]
    assert torch.allclose(torch.tensor(found, dtype=torch.float64), weights, atol=0.005)


def test_title_formula_and_notes_stand_beside_it_and_no_address():
    svg = drawn(run())
    root = ElementTree.fromstring(svg)
    assert root.find(f"{SVG}title").text == "who & <what>" == texts(svg)[0]
    assert root.find(f"{SVG}desc").text == "who & <what> Random: x, from seed 3."
    assert texts(svg)[1] == "Random: x, from seed 3."
    labels = [part.get("aria-label") for part in root.iter(f"{SVG}g")]
    assert r"\mathrm{weights} = \mathrm{softmax}_S(\mathrm{scaled\_scores})" in labels
    assert "attention.example.edu" not in svg


@pytest.mark.parametrize("count", [1, 3, 7, 30])
def test_a_file_is_wider_than_high(count):
    x = torch.randn(count, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    svg = drawn(attend_qkv(x, x, x), labels=tuple(f"word {i}" for i in range(count)))
    root = ElementTree.fromstring(svg)
    width, height = (float(root.get(side)) for side in ("width", "height"))
    assert width / height > 1.2
    chart = next(part for part in root.iter(f"{SVG}svg") if part is not root and part.get("role") is None)
    assert float(chart.get("x")) + float(chart.get("width")) <= width


def test_a_slide_has_the_chart_alone():
    picture = head_map(run(), 0, words(), LIGHT_PALETTE)
    svg = svg_text(picture, IMPRINT, LIGHT_PALETTE, is_titled=False)
    edge = 2 * FILE_MARGIN_PX
    assert svg_size(svg) == pytest.approx(tuple(side + edge for side in svg_size(vega_svg(picture))), abs=1)


def test_a_transparent_file_has_no_background():
    picture = head_map(run(), 0, words(), LIGHT_PALETTE)
    corner = {}
    for is_transparent in (True, False):
        svg = svg_text(picture, IMPRINT, LIGHT_PALETTE, is_transparent=is_transparent)
        corner[is_transparent] = Image.open(BytesIO(png_bytes(svg))).convert("RGBA").getpixel((0, 0))
    assert corner[True][3] == 0 and corner[False] == (255, 255, 255, 255)


def test_no_word_is_markup():
    hostile = ("<script>alert(1)</script>", '"><image href="https://evil.example/x"/>', "&lt;b&gt;]]>")
    svg = drawn(run(), imprint=Provenance(hostile[0], LINK + hostile[1], hostile), labels=hostile)
    root = ElementTree.fromstring(svg)
    assert not {*root.iter(f"{SVG}script")} | {*root.iter(f"{SVG}image")}
    assert hostile[0] in root.find(f"{SVG}title").text
    assert not [value for part in root.iter() for name, value in part.items() if "href" in name and value[0] != "#"]


def test_a_png_is_the_svg_enlarged():
    svg = drawn(run())
    root, picture = ElementTree.fromstring(svg), Image.open(BytesIO(png_bytes(svg))).convert("RGB")
    assert picture.size == tuple(round(PNG_SCALE * float(root.get(side))) for side in ("width", "height"))
    cell = fills(svg)["weights (0, 0, 1, 1): " + repr(run()["weights"][0, 0, 1, 1].item())]
    assert tuple(int(cell[at : at + 2], 16) for at in (1, 3, 5)) in {c for _, c in picture.getcolors(10**6)}


def test_nothing_reaches_beyond_the_edge_and_a_long_note_is_cut_in_sight_only():
    note = "1,2;" * 5000
    svg = drawn(run(), imprint=Provenance("long " * 60, LINK, (note,)))
    root = ElementTree.fromstring(svg)
    assert note in root.find(f"{SVG}desc").text and "…" in texts(svg)
    assert float(root.get("height")) < 1500
    edges = Image.open(BytesIO(png_bytes(svg))).convert("L")
    width, height = edges.size
    border = round(PNG_SCALE * FILE_MARGIN_PX / 2)
    strips = ((0, 0, width, border), (0, height - border, width, height))
    for box in (*strips, (0, 0, border, height), (width - border, 0, width, height)):
        assert edges.crop(box).getextrema() == (255, 255)


def test_a_large_run_is_drawn_as_a_part_of_it():
    x = torch.randn(512, 4, generator=torch.Generator().manual_seed(0))
    labels = tuple(map(str, range(512)))
    svg = drawn(attend(x, config=AttentionConfig(heads=2)), labels=labels, most=16)
    assert len(fills(svg)) == 64 * 64 and len(svg) < 2_000_000


@pytest.mark.parametrize("text", ["who is meant by this", "https://attention.example.edu/?a=1&b=2", "x" * 300])
def test_lines_are_broken_without_a_loss(text):
    lines = wrap_text(text, 60, 10)
    assert "".join(lines) == text and len(lines) > 1


def test_a_formula_has_its_letters_and_no_others():
    rows = r"\begin{cases} \sin p & 2i \\%s \cos p & 2i{+}1 \end{cases}"
    glyphs = [typeset_formula(rows % room).svg.count("<use") for room in ("", "[1em]")]
    assert glyphs[0] == glyphs[1] >= 2 * len("sinp2i")  # room between two lines is none of them


def test_a_formula_has_the_ink_that_is_asked_for_beside_its_own_colours():
    drawn = typeset_formula(r"a\,\textcolor{#0067A5}{b}", "#1f2328")
    assert re.findall(r'<use [^>]*fill="(.*?)"', drawn.svg) == ["#1f2328", "#0067A5"]


# ---- letters ---------------------------------------------------------------------------------------------------------
def test_letters_that_no_font_has_are_named():
    assert missing_letters("Anna fed the dog 0.93 − × ·") == ""
    assert missing_letters("a\u0378b\U0010abcd\u0378") == "\u0378\U0010abcd"


WITHOUT = """import sys; sys.path.insert(0, sys.argv[1])
from attention_core.documents.picture_files import missing_letters
print(ascii(missing_letters("dog 狗 它 0.5")))"""
LATIN_ONLY = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}</dir></fontconfig>"""


@pytest.mark.slow
def test_a_machine_without_chinese_letters_knows_it(tmp_path):
    """By its fonts, whatever language it is set to: here all but one family are hidden from the renderer."""
    folder = next((path for path in Path("/usr/share/fonts").rglob("DejaVuSans.ttf")), None)
    if folder is None:
        pytest.skip("there is no font without Chinese letters to leave alone")
    (tmp_path / "fonts.conf").write_text(LATIN_ONLY.format(folder=folder.parent))
    settings = os.environ | {"FONTCONFIG_FILE": str(tmp_path / "fonts.conf"), "LANG": "zh_CN.UTF-8"}
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", WITHOUT, root], env=settings, capture_output=True, text=True)
    assert done.stdout.strip() == ascii("狗它"), done.stderr


def test_a_line_with_the_sign_of_a_transpose_is_drawn_in_the_font_of_the_others():
    plain, transposed = (drawn_line(f"x of every word {sign}") for sign in ("", "ᵀ"))
    letters = (0, 0, 140, 40)  # without the sign
    assert plain.crop(letters).tobytes() == transposed.crop(letters).tobytes()
    assert plain.tobytes() != transposed.tobytes()


@pytest.mark.parametrize("text, plain", [("Ġ", "G"), ("Ċ", "C"), ("ĉ", "c")])
def test_a_letter_with_a_mark_is_as_wide_as_the_letter_and_no_loose_dot_follows(text, plain):
    """The reference is a font that has the letter, asked for alone."""
    marked, alone = (widest_ink(drawn_line(each)) for each in (text, plain))
    assert abs(marked - alone) <= 2


@pytest.mark.parametrize("anchor, x", [("start", 20), ("middle", 110), ("end", 200)])
@pytest.mark.parametrize("word", ["Ġ", "ĉ", "Ġcat &amp; ĉ"])
def test_a_marked_letter_behind_chinese_is_drawn_as_alone(word, anchor, x):
    """Chinese letters are as wide as they are high, so what follows two of them stands 40 pixels further."""
    line = '<text transform="translate({x},24)" font-size="20" font-family="{font}" text-anchor="start">{text}</text>'
    style = {"font": escape(FONT)}
    behind = picture_of(line.format(x=20, text=f"狗猫{word}", **style))
    alone, before = (
        picture_of(line.format(x=60, text=word, **style)),
        picture_of(line.format(x=20, text="狗猫", **style)),
    )
    assert behind.crop((60, 0, 240, 40)).tobytes() == alone.crop((60, 0, 240, 40)).tobytes()
    assert behind.crop((0, 0, 60, 40)).tobytes() == before.crop((0, 0, 60, 40)).tobytes()
    anchored = picture_of(line.format(x=x, text=f"狗猫{word}", **style).replace('"start"', f'"{anchor}"'))
    left, _, right, _ = anchored.getchannel("A").getbbox()
    assert {"start": left - x, "middle": (left + right) / 2 - x, "end": right - x}[anchor] == pytest.approx(0, abs=3)


def widest_ink(picture):
    left, _, right, _ = picture.getchannel("A").getbbox()
    return right - left


def drawn_line(text):
    return picture_of(f'<text x="4" y="24" font-size="20" font-family="{escape(FONT)}">{text}</text>').crop(
        (0, 0, 200, 40)
    )


def picture_of(line):
    svg = f'<svg xmlns="{SVG_NAMESPACE}" width="240" height="40">{line}</svg>'
    return Image.open(BytesIO(png_bytes(svg, 1)))
