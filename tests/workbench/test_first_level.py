"""What stands in sight on the workbench, and the way to what does not: a press, the search, a link."""

import json

import pytest

from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.positions import POSITIONS
from pages.session.side_panel import row_key
from pages.site.controls import CONTROLS, MATRICES, MORE, RESEARCH
from pages.site.findable import list_findable
from pages.site.words import load_app_texts, strip_markup
from pages.workbench.mask_controls import CAUSAL, CUSTOM, RARE_MASKS, list_usual_masks
from pages.workbench.parameter_controls import NORMS, RARE_POSITIONS, list_modifiers, list_usual_positions
from tests.screen.driver import WORDS, Screen, it_to_dog, walk

FOUND = list_findable()
SOUGHT = {
    **{"heads": "heads", "head count": "heads", "头数": "heads", "头的个数": "heads"},
    **{"matrix x": "matrix", "paste": "matrix", "矩阵": "matrix", "粘贴": "matrix"},
    **{"file": "file", "upload": "file", "npz": "file", "文件": "file", "上传": "file"},
    **{"w_q": "editors", "csv": "editors", "spreadsheet": "editors", "表格": "editors"},
    **{"gpu": "device", "cpu": "device", "cuda": "device", "device": "device", "计算设备": "device", "显卡": "device"},
    **{"causal mask": "masks", "因果": "masks", "sliding window": "windows", "custom mask": "windows"},
    **{"√d": "scale", "缩放": "scale", "temperature": "temperature", "温度": "temperature"},
    **{"trained": "mode", "训练好的": "mode", "layernorm": "norms", "dilated": "rare_masks", "mla": "modifiers"},
    **{"precision": "dtype", "bfloat16": "dtype", "精度": "dtype", "gqa": "kv_heads", "rope": "positions"},
    **{"t5": "rare_positions", "sigmoid": "normaliser", "encoder": "cross"},
}
PROOF = "to_masks.drawer.future"
FIRST_LEVEL = [
    *("c_way", "c_text", "c_heads", "c_any_heads", "c_causal", "c_scale_on", "c_temperature", "more"),
]


class ClosedScreen(Screen):
    """The workbench as it opens: nothing is opened to look for something."""

    def seek(self, find, key=""):
        return find()


def control_keys(screen):
    keys = [node.key for node in walk(screen.at._tree) if getattr(node, "key", None)]
    return keys + [each.proto.id.rpartition("-")[2] for each in screen.at.get("bidi_component")]


def rows(screen):
    """The rows of the panel, by name: what holds now."""
    shown = {}
    for block in walk(screen.at._tree):
        key = getattr(getattr(block, "proto", None), "id", "") or ""
        if "line_" in key:
            shown[key.rpartition("line_")[2]] = next(node.value for node in walk(block) if node.type == "markdown")
    return shown


def test_each_promise_is_a_control_on_the_first_level():
    screen = ClosedScreen()
    keys = control_keys(screen)
    assert [key for key in FIRST_LEVEL if key not in keys] == []
    (device,) = [node for node in walk(screen.at._tree) if node.type == "popover" and "row_device" in node.proto.id]
    assert device.proto.popover.label.startswith("CPU")
    screen = ClosedScreen().set("heads", 4)
    assert screen.link() == {"heads": "4"} and len(screen.flow()["head_names"]) == 4
    assert screen.set("causal", True).link()["mask"] == "causal" and screen.blocked() == 21
    assert screen.set("scale_on", False).link()["scale"] == "1.0"
    assert [widget.value for widget in (screen.widget("causal"), screen.widget("scale_on"))] == [True, False]
    screen.set("causal", False).set("scale_on", True).set("heads", 2)
    assert (screen.blocked(), screen.weight(5, 3)) == (0, pytest.approx(it_to_dog(2**-0.5), abs=1e-12))


def test_the_switch_of_the_scale_says_where_it_changes_nothing():
    screen = ClosedScreen()
    assert screen.widget("scale_on").label == "Scale ÷ √d"
    screen.set("heads", 4)  # 4 columns: each head has one
    for is_on in (False, True):
        weights = screen.numbers("weights")
        assert screen.set("scale_on", is_on).widget("scale_on").label == "Scale ÷ √1: changes nothing"
        assert (screen.numbers("weights") == weights).all()
    assert ClosedScreen(heads="4", scale="0.5").widget("scale_on").label == "Scale ÷ √d"  # here it changes something
    assert ClosedScreen(score="dot").widget("scale_on").label == "Scale: this score has none"


def test_the_proof_that_nothing_leaks_is_offered_beside_the_causal_mask():
    screen = ClosedScreen()
    assert PROOF not in control_keys(screen)
    assert PROOF in control_keys(screen.set("causal", True))


@pytest.mark.parametrize("count", [3, 8, 16])
def test_a_number_of_heads_that_does_not_divide_the_columns_adds_columns_of_zeros(count):
    screen = ClosedScreen(w_q="~0.0=9").set("heads", count)
    width = -(-4 // count)
    assert screen.errors() == [] and screen.numbers("weights").shape == (1, count, 7, 7)
    assert screen.numbers("w_q").shape == (4, count * width) and screen.numbers("w_q")[:, 4:].any() == False  # noqa: E712
    assert screen.numbers("w_q")[:, :4].tolist() == [[9, 0, 0, 0], [3, -3, 0, 0], [0, 0, 3, -3], [0, 0, 0, 0]]
    assert "W_q, W_k, W_v, W_o: the old numbers stay; the new ones are zero." in map(strip_markup, screen.captions())


@pytest.mark.parametrize("count", [3, 4, 8, 16])
def test_a_link_and_the_control_make_the_same_of_a_number_of_heads(count):
    linked, chosen = ClosedScreen(heads=str(count)), ClosedScreen().set("heads", count)
    assert linked.errors() == [] and chosen.link() == {"heads": str(count)}
    for step in ("w_q", "w_v", "w_o", "weights", "output"):
        assert (linked.numbers(step) == chosen.numbers(step)).all()
    assert chosen.set("heads", 2).numbers("w_q").shape == (4, 4)  # the matrices are again those of the example


def test_matrices_and_a_file_open_beside_the_picture_and_a_second_press_closes_them():
    screen = ClosedScreen().set("way", "matrices")
    assert "c_edited" in control_keys(screen) and screen.link() == {} and screen.widget("way").value == "matrices"
    assert screen.set("mode", "matrix").widget("x").value.split("\n")[0].split() == ["1", "0", "0", "0"]
    assert "c_edited" not in control_keys(screen.set("way", None))
    assert screen.widget("way").value == "matrices"  # the input is still a matrix
    assert screen.set("way", "sentence").link() == {} and screen.words() == list(WORDS)
    screen.set("way", "file")
    assert [box.key.rpartition("_")[0] for box in screen.at.file_uploader] == ["c_bring"]
    assert screen.press("close_panel").widget("way").value == "sentence"


@pytest.mark.parametrize(("link", "way"), [({"x": "1,2;3,4"}, "matrices"), ({"ex": "model_en"}, "model")])
def test_a_link_opens_on_its_way_in_with_its_panel(link, way):
    screen = ClosedScreen(**link)
    assert screen.widget("way").value == way
    assert bool(screen.widgets("x")) == (way == "matrices")
    if way == "matrices":
        assert screen.at.session_state["c_edited"] == "x"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_sentence_is_read_by_the_model_and_by_the_dictionary_again(language):
    screen = ClosedScreen(lang=language)
    start = screen.setup().run
    typed = {"en": "the dog saw her", "zh": "小红喂了那只狗"}[language]
    screen.set("text", typed).set("way", "model")
    assert screen.widget("way").value == "model" and screen.setup().run.example == f"model_{language}"
    assert screen.setup().run.text.replace(" ", "") == typed.replace(" ", "")
    screen.set("way", "sentence")
    assert screen.setup().run.example == start.example and screen.setup().run.text.replace(" ", "") == typed.replace(
        " ", ""
    )


def test_an_example_without_a_sentence_leads_to_the_first_one():
    assert ClosedScreen(ex="one_query").set("way", "sentence").link() == {}


def test_a_file_keeps_the_screen_until_there_is_one():
    screen = ClosedScreen(mask="causal").set("way", "file")
    assert screen.link() == {"mask": "causal"} and screen.words() == list(WORDS)


# ---- More and Research variants --------------------------------------------------------------------------------------
def test_every_choice_stands_in_exactly_one_place():
    assert sorted([CAUSAL, *list_usual_masks(), *RARE_MASKS]) == sorted([*MASKS, CUSTOM])
    assert sorted([*list_usual_positions(), *RARE_POSITIONS]) == sorted(POSITIONS)
    assert sorted([*NORMS, *list_modifiers()]) == sorted(MODIFIERS)


def test_a_row_says_what_holds_now_and_draws_its_controls_only_while_it_is_open():
    screen = ClosedScreen().press("more")
    assert not screen.widgets("positions")
    screen.at.session_state[row_key("positions")] = True
    screen.ran(screen.at.run)
    screen.set("positions", ["rope"])
    assert screen.link() == {"pos": "rope"}
    shown = [text.value for text in screen.at.markdown]
    assert f":primary[{load_app_texts('en')['positions.rope']}]" in shown


def test_a_row_that_was_opened_is_open_when_its_panel_comes_back():
    screen = ClosedScreen().press("more")
    screen.at.session_state[row_key("positions")] = True
    screen.ran(screen.at.run).set(f"panel_{MORE}", RESEARCH)
    assert not screen.widgets("positions")
    assert screen.set(f"panel_{RESEARCH}", MORE).widgets("positions") and not screen.widgets("score")
    screen.press("more").press("more")
    assert screen.widgets("positions")
    screen.at.session_state[row_key("positions")] = False
    assert not screen.ran(screen.at.run).press("more").press("more").widgets("positions")


def test_a_choice_in_one_panel_keeps_what_was_chosen_in_the_other():
    screen = Screen().set("masks", ["causal", "sliding", "dilated"]).set("positions", ["rope", "t5"])
    assert screen.link()["mask"].split(",")[0] == "causal" and "dilated" in screen.link()["mask"]
    assert [name.partition(":")[0] for name in screen.link()["pos"].split(",")] == ["rope", "t5"]
    screen.set("modifiers", ["rms_norm_before", "qk_norm"]).set("modifiers", ["qk_norm"])
    assert [each.partition(":")[0] for each in screen.setup().run.modifiers] == ["qk_norm"]


def test_the_numbers_of_a_mask_stand_with_it():
    assert Screen(mask="causal:1").widget("causal_offset").value == 1
    assert Screen().set("masks", ["local"]).held("local_window") == 1
    assert Screen().set("masks", ["padding"]).widget("padding_lengths").value == 6


def test_the_panels_change_place_and_close():
    screen = ClosedScreen().press("more")
    assert screen.at.session_state["side_panel"] == MORE
    screen.set(f"panel_{MORE}", RESEARCH)
    assert screen.at.session_state["side_panel"] == RESEARCH
    assert screen.press("more").at.session_state["side_panel"] is None
    assert "c_edited" in control_keys(ClosedScreen(MATRICES))


@pytest.mark.parametrize(
    ("panel", "opened"),
    [(MORE, ["positions", "masks"]), (RESEARCH, ["modifiers"]), (MATRICES, ["w_v"]), (MATRICES, [])],
)
def test_a_reload_keeps_the_panel_and_what_is_open_in_it(panel, opened):
    screen = ClosedScreen()
    assert screen.panel_link() is None
    if panel == MATRICES:
        screen.set("way", "matrices")
    else:
        screen.press("more")
        if panel == RESEARCH:
            screen.set(f"panel_{MORE}", RESEARCH)
    for name in opened:
        if panel == MATRICES:
            screen.set("edited", name)
        else:
            screen.at.session_state[row_key(name)] = True
            screen.ran(screen.at.run)
    again = ClosedScreen(**dict(screen.at.query_params))
    assert again.at.session_state["side_panel"] == panel and again.panel_link() == screen.panel_link()
    shown = {*control_keys(again)}
    assert all(f"c_{name}" in shown for name in opened if panel != MATRICES)
    assert panel != MATRICES or again.widget("edited").value == (opened or ["w_q"])[0]


def test_a_reload_keeps_a_panel_closed_that_its_input_would_open_and_names_one_that_there_is_not():
    closed = ClosedScreen(x="1,2;3,4").press("close_panel")
    assert not closed.widgets("x") and closed.panel_link() == "closed"
    assert not ClosedScreen(**dict(closed.at.query_params)).widgets("x")
    unknown = ClosedScreen(side_panel="nowhere:w_q")
    assert unknown.at.session_state["workbench"].unread == [("side_panel", "nowhere:w_q")]
    assert ClosedScreen(side_panel="matrices:no_such").widget("edited").value == "w_q"


# ---- the search ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("typed", "control"), SOUGHT.items())
def test_the_search_finds_a_control_by_the_words_that_people_use(typed, control):
    (found,) = [found for found in FOUND if found.kind == "control" and found.link == {"control": control}]
    assert typed in "\n".join([*found.titles.values(), *found.details.values()]).lower()


@pytest.mark.parametrize("name", CONTROLS)
def test_what_is_found_is_opened_where_it_stands(name):
    ex = {"ex": "zh_ta"} if name == "cut" else {}
    screen = ClosedScreen(control=name, **ex)
    widget = CONTROLS[name].widget
    assert any(key == widget or key.startswith(f"{widget}_") for key in control_keys(screen)), name
    assert sought_widget(screen) == widget


def test_what_is_chosen_in_the_search_opens_what_it_stands_in_and_keeps_the_screen():
    screen = ClosedScreen(mask="causal")
    number = next(number for number, found in enumerate(FOUND) if found.link == {"control": "dtype"})
    assert "c_dtype" not in control_keys(screen)
    screen.click_part("search", "chosen", number)
    assert "c_dtype" in control_keys(screen) and screen.link() == {"mask": "causal"}
    assert sought_widget(screen) == "c_dtype"


def test_a_control_that_there_is_not_is_named():
    screen = ClosedScreen(control="nowhere")
    assert screen.at.session_state["workbench"].unread == [("control", "nowhere")]


def sought_widget(screen):
    (part,) = screen.parts("seeker")
    return json.loads(part.proto.json)["widget"]


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ({}, "A word alone says little. Attention lets “{query}” look at the other words"),
        (
            {"x": "1,0,0;0,1,0;0,0,1;1,1,0;2,0,1", "heads": "1"},
            "Each row of X is a vector. Attention lets row “{query}”",
        ),
        ({"q": "1,0;0,1", "k": "1,0;0,1;1,1", "v": "1,0;0,1;1,1"}, "q, k and v are given. Query “{query}” is compared"),
        ({"ex": "code_multi_head_class"}, "Each row of X is a vector."),
    ],
)
def test_why_one_attends_is_said_in_the_words_of_what_was_given(link, told):
    screen = ClosedScreen(**link)
    assert not screen.errors() and screen.flow()["text"]["motive"].startswith(told)


def test_after_undo_the_picture_is_told_that_its_numbers_are_no_effect_of_a_change():
    screen = ClosedScreen().set("causal", True)
    assert not screen.flow()["is_moved"]
    assert screen.press("undo").flow()["is_moved"] and screen.press("redo").flow()["is_moved"]
    assert not screen.set("causal", False).flow()["is_moved"]


@pytest.mark.parametrize("given", [{}, {"x": "1,2;3,4"}])
def test_the_heading_of_the_input_stands_above_its_rows(given):
    screen = Screen(**given)
    screen.open_panel(MORE)
    assert "cross" in rows(screen)
    assert f"**{load_app_texts('en')['section_of_controls.input']}**" in [each.value for each in screen.at.markdown]


def test_tensors_q_k_v_have_no_heading_of_the_input():
    screen = Screen(q="1,2;3,4", k="1,2;3,4", v="1,2;3,4")
    screen.open_panel(MORE)
    assert not rows(screen).keys() & {"cross", "batch", "cut"}
    assert f"**{load_app_texts('en')['section_of_controls.input']}**" not in [each.value for each in screen.at.markdown]
