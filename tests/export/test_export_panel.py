"""The export panel: on every page with a run, nothing made before it is asked for, files that hold what is seen."""

import html
import io
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pandas as pd
import pytest
import streamlit as st
import torch
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attention_core.documents.exercise_sheet import exercise_sheet
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from attention_core.inputs.files.attention_maps import read_attention_maps
from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.circuits import word_circuit
from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.readout import sum_model
from attention_core.record.number_text import format_exact
from pages.export.downloads import file_name
from pages.lectures.script import Lecture, load_shipped_lecture
from pages.presentation.lecture_files import make_slide_show
from pages.setup.codec import setup_from_link
from pages.setup.setup import Setup
from pages.site.catalog import LESSONS
from pages.site.words import LANGUAGES, load_app_texts, use_language
from tests.screen.driver import WORDS, Screen, it_to_dog, unpack
from tests.screen.lesson import Lesson
from tests.session.test_hostile_words import HOSTILE


class Files(dict):
    """What the panel offers: how each file is made, by its name."""

    def made(self, ending):
        """The one file of this ending, made as the server makes it: in a thread that no session belongs to."""
        (make,) = [make for name, make in self.items() if name.endswith(ending)]
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(make).result()


@pytest.fixture
def files(monkeypatch):
    offered, draw = Files(), st.download_button

    def noted(label, data, *rest, **more):
        offered[rest[0] if rest else more["file_name"]] = data
        return draw(label, data, *rest, **more)

    monkeypatch.setattr(st, "download_button", noted)
    return offered


def opened(slug, **link):
    """A lesson with the panel open."""
    return open_panel(Lesson(slug, **link))


def open_panel(lesson):
    """Draw the lesson again with the panel open."""
    lesson.at.session_state["export"] = True
    return lesson.ran(lesson.at.run)


def opened_by(address):
    """The Setup that an address opens."""
    setup, refused = setup_from_link(dict(parse_qsl(urlsplit(address).query)))
    assert refused == []
    return setup


@pytest.mark.parametrize(("language", "named"), [("en", "other"), ("zh", "虚词")])
def test_files_name_the_numbers_of_a_word_as_the_screen_does(language, named, files):
    screen = Screen("export", lang=language)
    shown = screen.flow()["names"]["D"]
    about = json.loads(bytes(np.load(io.BytesIO(files.made("npz")))["about"]))
    assert about["labels"]["D"] == json.loads(files.made("json"))["about"]["labels"]["D"] == shown and named in shown


def test_what_is_offered_is_what_there_is():
    labels = [button.proto.label for button in Screen("export").at.get("download_button")]
    documents = ["Page (HTML)", "Handout A4", "Handout Letter", "LaTeX", "Jupyter notebook"]
    assert labels == ["SVG", "PNG", "CSV", *documents, "PyTorch script", "NumPy script", "NPZ", "JSON"]
    inputs = "Inputs of script and notebook, attention_inputs.npz: keep both beside it"  # 1,053,696 numbers
    assert inputs in [button.proto.label for button in Screen("export", ex="eight_heads").at.get("download_button")]


@pytest.mark.parametrize("lang, slug", [("en", "start"), ("zh", "start"), *(("en", slug) for slug in LESSONS)])
def test_every_page_with_a_run_has_the_panel(lang, slug, files):
    lesson = Lesson(slug, lang=lang)
    shown = [block.proto.popover.label for block in lesson.at.get("popover")]
    assert (load_app_texts(lang)["export.title"] in shown) == (slug != "cost")  # which measures, and shows no run
    assert not files
    if slug != "cost":
        open_panel(lesson)
        kinds = {name.rpartition(".")[2] for name in files}
        assert kinds >= {"csv", "npz", "py"}
        assert ("json" in kinds) == (slug != "models")  # whose matrices of 512 x 512 are too large for it


def test_a_lessons_files_hold_its_run_and_lead_to_it_in_the_workbench(files, monkeypatch):
    monkeypatch.setattr(ContextProxy, "url", property(lambda self: "https://attention.example.edu/app/qkv?ex=en_it"))
    opened("qkv", guess="0")
    told = json.loads(files.made("json"))
    assert told["about"]["link"].startswith("https://attention.example.edu/app/?")
    weights = next(step for step in told["steps"] if step["name"] == "weights")["values"]
    assert weights[0][0][5][3] == pytest.approx(it_to_dog(2**-0.5))
    assert Screen(**dict(parse_qsl(urlsplit(told["about"]["link"]).query))).weight(5, 3) == weights[0][0][5][3]


def test_a_step_is_chosen_and_its_numbers_are_those_on_the_screen(files):
    screen = Screen("export", step="scores")
    assert "attention_en_it_scores.csv" in files
    files.clear()
    screen.set("export", "weights")
    table = pd.read_csv(io.StringIO(files.made("csv")), skiprows=3)
    row = table[(table["T_label"] == "it") & (table["S_label"] == "dog") & (table["H"] == 0)]
    assert row["value"].item() == screen.weight(5, 3)
    before = files.made("csv").splitlines()[:3]
    assert before[0] == "# Anna fed the dog and it barked"
    assert opened_by(before[1].removeprefix("# ")) == screen.setup()
    assert before[2] == "# Made with Attention Explorer (MIT licence). Built by hand: x, w_q, w_k, w_v, w_o."


def test_a_picture_is_the_one_on_the_screen(files):
    screen = Screen("export", step="weights", lang="zh", head="0")
    files.clear()
    screen.set("export", "map")
    svg, weights = files.made("svg"), screen.numbers("weights")[0, 0]
    for (query, key), weight in np.ndenumerate(weights):
        assert f"权重 [头 1, {WORDS[query]}, {WORDS[key]}]: {format_exact(weight)}" in svg
    assert "头 1：指代谁？" in svg and "Anna fed the dog and it barked" in svg
    assert files.made("png").startswith(b"\x89PNG")
    files.clear()
    screen.set("export", "scores")
    assert "kᵀ · 头 1 · 2 × 7" in files.made("_scores.svg")


def test_no_picture_has_an_address_and_the_credit_beside_it_has_it(files):
    screen = Screen("export", step="scores")
    for option in ("scores", "map"):
        files.clear()
        screen.set("export", option)
        assert "?ex=" not in files.made(".svg") and "http://localhost" not in files.made(".svg")
    credit = screen.at.code[0].value
    assert credit.startswith("Made with Attention Explorer (MIT licence). Built by hand")
    assert opened_by(credit.rpartition(" ")[2]) == screen.setup()
    files.clear()
    screen.set("export_transparent", True)
    assert f'fill="{LIGHT_PALETTE.ground}"/><text' not in files.made(".svg")


def test_a_picture_has_the_colours_of_the_theme_that_it_is_asked_for_in(files, monkeypatch):
    """Also where the thread that makes it cannot ask the session for its theme."""
    theme = property(lambda self: SimpleNamespace(type="dark" if get_script_run_ctx() else None))
    monkeypatch.setattr(ContextProxy, "theme", theme)
    screen = Screen("export", step="scores")
    for option in ("scores", "masked_scores", "map"):
        files.clear()
        screen.set("export", option)
        svg = files.made(f"_{option}.svg")
        assert DARK_PALETTE.ground in svg and DARK_PALETTE.ink in svg
        assert LIGHT_PALETTE.ink not in svg and LIGHT_PALETTE.outline not in svg


def test_a_machine_without_the_letters_offers_svg_alone_and_says_so(files):
    screen = Screen("export", text="Anna saw \U00012000")  # cuneiform, which no font here has
    assert [name for name in files if name.endswith(".svg")] and not [name for name in files if name.endswith(".png")]
    assert any("no font for \U00012000, so a PNG would show boxes" in caption for caption in screen.captions())


@pytest.mark.parametrize("lang, seven", [("en", "seed 7"), ("zh", "种子 7")])
def test_documents_say_what_is_on_the_screen_and_how_it_was_made(lang, seven, files):
    screen = Screen("export", lang=lang, ex="source_004", mask="local:2", seed="7", text="Zog x1 x2 x3", temp="2")
    words = load_app_texts(lang)
    latex, first = files.made("tex"), json.loads(files.made("ipynb"))["cells"][0]["source"]
    notebook = re.sub(r"&#(\d+);", lambda code: chr(int(code[1])), "".join(first))
    assert screen.fact() in notebook
    pages = [html.unescape(files.made(ending)) for ending in ("page.html", "A4.html", "Letter.html")]
    for page in pages:
        assert screen.fact() in page and words["export.page.steps"] in page
    for text in (latex.replace("{-}", "-").replace("{,}", ","), notebook, *pages):
        assert seven in text and "Zog x1 x2 x3" in text
        assert opened_by(re.search(r"\?[^}) ]*lang=[a-z]+", text)[0]) == screen.setup()
    assert f"{words['masks.local']} 2" in latex
    cells = json.loads(files.made("ipynb"))["cells"]
    needs = {"en": "# Needs nothing but PyTorch.", "zh": "# 只需要 PyTorch。"}[lang]
    assert any(needs in "".join(cell["source"]) for cell in cells)
    assert needs in files.made("torch.py") and needs.replace("PyTorch", "NumPy") in files.made("numpy.py")
    assert words["export.setting"].format(name=words["control.temperature"], value="2") in latex


def test_the_seed_of_what_is_random_stands_in_every_file(files):
    Screen("export", ex="source_004", text="Zog x1 x2 x3", seed="7")
    for ending in ("csv", "json", "svg"):
        assert "the vectors of Zog are random (seed 7)" in files.made(ending)
    assert "Zog are random (seed 7)" in bytes(np.load(io.BytesIO(files.made("npz")))["about"]).decode()


@pytest.mark.slow
@pytest.mark.parametrize("lang, sign", [("en", "The model guesses here: "), ("zh", "这句话模型没把握：")])
def test_that_a_model_guesses_stands_in_every_file(lang, sign, files):
    far = {"en": "The quick brown fox loves my zorb because it is lazy.", "zh": "今天股市大跌"}[lang]
    Screen("export", ex=f"model_{lang}", lang=lang, text=far)
    for ending in ("map.csv", "json", "map.svg", "ipynb", "tex", "page.html", "A4.html"):
        text = files.made(ending)
        text = json.dumps(json.loads(text), ensure_ascii=False) if ending in ("json", "ipynb") else text
        assert sign in html.unescape(text).replace("{", "").replace("}", ""), ending
    assert sign in bytes(np.load(io.BytesIO(files.made(f"{lang}.npz")))["about"]).decode()
    page = html.unescape(files.made("page.html"))
    assert page.index(sign) < page.index("<details")  # beside the sentence, not at the end alone


@pytest.mark.slow  # the screen's own sign is asked for in the tests of the model's guess
def test_no_file_says_so_of_a_sentence_that_the_model_knows(files):
    Screen("export", ex="model_en")
    assert "guesses here" not in files.made("map.svg") + files.made("page.html")


def test_what_is_too_large_for_a_file_is_refused_in_a_sentence(files):
    screen = Screen("export", ex="eight_heads", text="word " * 300)
    assert "a CSV file may hold at most 250,000 numbers: these are 720,000" in screen.captions()
    assert any("a NPZ file may hold at most 2,500,000 numbers" in caption for caption in screen.captions())
    assert not [name for name in files if name.endswith(("csv", "json", "attention_eight_heads.npz"))]
    assert (
        "一个 CSV 文件最多放 250,000 个数，这里有 720,000 个。"
        in Screen("export", ex="eight_heads", text="word " * 300, lang="zh").captions()
    )


@pytest.mark.parametrize("start", range(0, len(HOSTILE), 8))
def test_hostile_words_are_words_in_every_file(start, files):
    screen = Screen("export", text="|".join(HOSTILE[start : start + 8]))
    for name in files:
        assert re.fullmatch(r"[A-Za-z0-9_]+\.[a-z]+", name)
    labels = json.loads(files.made("json"))["about"]["labels"]["T"]
    assert labels == json.loads(bytes(np.load(io.BytesIO(files.made("npz")))["about"]))["labels"]["T"]
    assert len(labels) == len(screen.words())
    for name in files:
        assert name.endswith("png") or files.made(name)


def test_a_part_of_a_large_map_says_which(files):
    Screen("export", ex="eight_heads", text="word " * 70)
    assert re.search(r"weights · head \d · 70 × 70 \(shown: rows 1–64, columns 1–64\)", files.made("map.svg"))


def test_a_files_name_is_plain_whatever_a_part_is_called():
    assert file_name(Setup(), "csv", "../../etc/passwd\0|<>") == "attention_en_it_etc_passwd.csv"
    assert len(file_name(Setup(), "csv", "a" * 500)) < 100


def test_the_scripts_print_the_number_on_the_screen(files, tmp_path):
    screen = Screen("export")
    (tmp_path / "script.py").write_text(files.made("numpy.py"), encoding="utf-8")
    printed = subprocess.run([sys.executable, "-I", "script.py"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert str(screen.weight(5, 3))[:14] in printed


@pytest.mark.parametrize("lang, she", [("en", "she"), ("zh", "她")])
def test_a_scene_of_a_lecture_is_a_page_for_phones_with_its_title_and_note(lang, she, files):
    desk = Lesson("present", lang=lang)
    desk.at.session_state["scene_files"] = True
    desk.ran(desk.at.run)
    picker = next(box for box in desk.at.selectbox if box.key == "c_scene_file")
    act = load_shipped_lecture("ten_minutes", lang).scenes[1]
    files.clear()
    desk.ran(picker.set_value(1).run)
    page = files.made("page.html")
    assert act.title in html.unescape(page) and act.note in html.unescape(page)
    assert she in page and ">0.93<" in page


# ---- a language model ------------------------------------------------------------------------------------------------
def test_the_maps_of_all_heads_open_again_on_the_page_of_maps(files):
    Screen("export", ex="model_en", text="The animal did not cross the street because it was too tired.")
    assert not any(name.endswith("what_if.csv") for name in files)
    given = read_attention_maps("heads.npz", files.made("heads.npz"))
    stack = run_model("en_asked_encoder", given.queries)
    assert given.queries == given.keys == cut_sentence("en_asked_encoder", " ".join(given.queries[1:]))
    for layer in range(3):
        assert torch.equal(given.maps[layer], stack[f"{layer + 1}.attention"]["weights"][0])


def test_the_words_before_and_after_a_change_are_a_table(files):
    screen = Screen("export", ex="model_en_decoder", t="4", panel="what_if", changes="3.ff:off")
    table = pd.read_csv(io.StringIO(files.made("what_if.csv")), skiprows=3)
    (outcome,) = (each for each in screen.packed("what_if")[0]["outcomes"] if each["title"].startswith("What comes"))
    asked = table[table["outcome_label"] == outcome["title"]]
    for run in ("before", "after"):
        shares = asked[asked["run_label"] == {"before": "as trained", "after": "with your changes"}[run]]
        assert shares["value"].sum() == pytest.approx(1, abs=1e-9)
        for row in outcome["rows"]:
            assert shares[shares["V_label"] == row["word"]]["value"].item() == row[run]


def table_of(files, name):
    """A table that was made, as a reader opens it."""
    return pd.read_csv(io.StringIO(files.made(name)), skiprows=3)


SAID = ("<start>", "the", "dog", "barked")


def test_what_each_part_adds_and_pushes_are_tables_whose_sums_close(files):
    Screen("export", ex="model_en_decoder", text="the dog barked", t="3", panel="sum")
    stack = sum_model("en_asked_decoder", SAID)
    parts = table_of(files, "parts.csv")
    added = parts[parts["T"] == 3].groupby("D")["value"].sum()
    assert added.tolist() == pytest.approx(stack["3.feed_forward"]["residual"][0, 3].tolist(), abs=1e-12)
    pushes = table_of(files, "pushes.csv")
    logits = stack["unembedding"]["logits"][0]
    target = int(logits[3].argmax())
    for place, total in pushes.groupby("T")["value"].sum().items():
        assert total == pytest.approx(float(logits[place, target]), abs=1e-10)
    assert {*pushes["T_label"]} == {*SAID}


def test_the_rollout_is_a_table(files):
    Screen("export", ex="model_en_decoder", text="the dog barked", panel="heads")
    table = table_of(files, "rollout.csv")
    stack = sum_model("en_asked_decoder", SAID)
    rolled = torch.eye(4, dtype=torch.float64)
    for layer in range(3):  # layer by layer: half of it the word itself
        mean = stack[f"{layer + 1}.attention"]["weights"][0].mean(0)
        rolled = 0.5 * mean @ rolled + 0.5 * rolled
        own = table[table["layer"] == layer]["value"].to_numpy().reshape(4, 4)
        assert own == pytest.approx(rolled.numpy(), abs=1e-12)


def test_how_probable_each_word_is_is_a_table(files):
    Screen("export", ex="model_en_decoder", text="the dog barked", t="3", panel="words")
    table = table_of(files, "next_word.csv")
    logits = sum_model("en_asked_decoder", SAID)["unembedding"]["logits"][0, 3]
    assert table["value"].tolist() == pytest.approx(logits.softmax(-1).tolist(), abs=1e-12)
    assert table["V_label"].iloc[int(logits.argmax())] == vocabulary("en")[int(logits.argmax())]


def test_words_alone_are_tables(files):
    Screen("export", ex="model_en_decoder", text="the dog barked", layer="2", panel="circuits")
    table = table_of(files, "scaled_scores.csv")
    words = table.drop_duplicates("T")["T_label"].tolist()
    scores = word_circuit("en_asked_decoder", tuple(words), 2)["2.circuit"]["scaled_scores"]
    assert table["value"].tolist() == pytest.approx(scores.flatten().tolist(), abs=1e-12)
    assert any(name.endswith("writes.csv") for name in files)


# ---- licence and source ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lang", LANGUAGES)
def test_licence_and_source_stand_on_every_picture_that_leaves(lang, files):
    """Whatever is a picture, or holds one: of the workbench, of attention maps, of an exercise, of a lecture."""
    licence = load_app_texts(lang)["export.made_with"]
    assert "MIT" in licence
    Screen("export", lang=lang)
    pictures = {name: files.made(name) for name in [*files] if name.endswith((".svg", ".html"))}
    assert len(pictures) == 4  # the map, the page, two handouts
    files.clear()
    Lesson("maps", lang=lang)
    pictures |= {name: files.made(name) for name in [*files] if name.endswith(".svg")}
    files.clear()
    lesson = Lesson("check", lang=lang)
    lesson.at.session_state["printing"] = True
    lesson.ran(lesson.at.run)
    pictures |= {name: files.made(name) for name in [*files] if name.endswith("A4.html")}
    assert len(pictures) == 7
    scene = load_shipped_lecture("ten_minutes", lang).scenes[0]
    with use_language(lang):
        show = make_slide_show(Lecture("", (scene,)), {}, "https://a.example/", "")
        sheet = exercise_sheet(show, "A4")
    for number, picture in enumerate(show.slides[0].pictures):
        pictures[f"slide {number}"] = picture.data.decode()
    pictures["sheet"] = sheet
    source = {"en": "Built by hand", "zh": "手工设计"}[lang]
    for name, text in pictures.items():
        said = html.unescape(re.sub("<[^>]*>", "", text.replace("</text>", "")))
        assert licence in said, name
        has_source = source in said or "exercise" in name or "map_" in name or name == "sheet"
        assert has_source, name


CAPTIONS = {
    "en": ["The picture of one query, as it stands", "The maps of all heads, as the view Heads shows them"],
    "zh": ["当前查询的图（与屏幕一致）", "所有头的注意力图（与“各头”视图一致）"],
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_view_offers_the_maps_of_all_heads_as_a_picture(lang):
    shown = {}
    for view in ({}, {"step": "weights"}, {"stop": "plane"}, {"stop": "heads-1"}):  # heads-1: with a second head
        screen = Screen("export", ex="en_it", lang=lang, **view)
        (part,) = [each for each in screen.at.get("bidi_component") if each.proto.id.endswith("-flow_files")]
        *flow, heads = unpack(part.proto.bytes)[0]["pictures"]
        assert [each["caption"] for each in (*flow, heads)] == CAPTIONS[lang][1 - len(flow) :]
        assert heads["file"] == "attention_en_it_all_heads" and not heads["formulas"]
        shown[view.get("stop")] = len(flow), heads["stop"]
    assert shown == {None: (1, "heads"), "plane": (1, "heads"), "heads-1": (0, "heads-1")}


def test_no_picture_is_described_before_the_panel_is_open():
    screen = Screen(ex="en_it")
    assert not [each for each in screen.at.get("bidi_component") if each.proto.id.endswith("-flow_files")]


def test_the_maps_of_all_heads_are_taken_along_as_they_are_read(files):
    screen = Screen("export", stop="heads", maps="without_first,least:0.1", lang="en")
    text = files.made("all_heads.csv")
    assert "Without “Anna”, the first token" in text and "Weights below 10 % are hidden" in text
    table = pd.read_csv(io.StringIO(text), skiprows=3)
    rest = screen.numbers("weights")[0][..., 1:]
    rest = rest / rest.sum(-1, keepdims=True)
    expected = np.where(rest >= 0.1, rest, np.nan)
    assert table["value"].to_numpy().reshape(expected.shape) == pytest.approx(expected, nan_ok=True)
    assert table["S_label"][0] == "fed"


def test_of_a_batch_that_a_model_reads_the_file_has_the_sentence_that_is_looked_at(files):
    batch = {"text": "the dog did not bark because it was tired.", "more": "Anna fed the dog.", "sentence": "1"}
    Screen("export", ex="model_en_decoder", layer="1", **batch, stop="heads", lang="en")
    table = pd.read_csv(io.StringIO(files.made("all_heads.csv")), comment="#")
    assert list(dict.fromkeys(table["T_label"])) == ["<start>", "anna", "fed", "the", "dog", "."]
