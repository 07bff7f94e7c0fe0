"""What stands in sight on the workbench, and the way to what does not: a press, the search, a link."""

import json

import pytest

from attention_core.mechanism.masks import MASKS
from pages.site.controls import CONTROLS
from pages.site.findable import list_findable
from pages.workbench.mask_controls import MASKS_IN_SIGHT
from tests.screen.driver import Screen, walk

FOUND = list_findable()
SOUGHT = {
    **{"heads": "heads", "head count": "heads", "头数": "heads", "头的个数": "heads"},
    **{"matrix": "mode", "matrix x": "mode", "file": "mode", "upload": "mode", "paste": "mode", "npz": "mode"},
    **{"矩阵": "mode", "文件": "mode", "上传": "mode", "粘贴": "mode"},
    **{"w_q": "editors", "csv": "editors", "spreadsheet": "editors", "表格": "editors"},
    **{"gpu": "device", "cpu": "device", "cuda": "device", "device": "device", "计算设备": "device", "显卡": "device"},
    **{"mask": "masks", "causal": "masks", "掩码": "masks", "因果": "masks", "scale": "scale", "缩放": "scale"},
    **{"temperature": "temperature", "温度": "temperature", "trained": "learned", "训练好的": "learned"},
    **{"precision": "dtype", "bfloat16": "dtype", "精度": "dtype", "gqa": "kv_heads", "rope": "positions"},
}


class ClosedScreen(Screen):
    """The workbench as it opens: no drawer is open, and none is opened to look for something."""

    def seek(self, find, key=""):
        return find()


def control_keys(screen):
    return [node.key for node in walk(screen.at._tree) if getattr(node, "key", None)]


def test_heads_and_the_way_to_matrices_stand_above_the_masks_without_a_drawer():
    keys = control_keys(ClosedScreen())
    assert keys.index("c_text") < keys.index("c_heads") < keys.index("c_mode") < keys.index("c_masks")
    screen = ClosedScreen().set("heads", 4)
    assert screen.link() == {"heads": "4"} and len(screen.flow()["head_names"]) == 4
    assert screen.set("mode", "matrix").widget("x").value.split("\n")[0].split() == ["1", "0", "0", "0"]


def test_three_masks_are_in_sight_and_the_others_behind_one_press():
    screen = ClosedScreen()
    assert screen.widget("masks").options == ["causal", "local window", "padding"]
    screen.set("masks", ["causal"])
    assert not [widget for widget in screen.at.number_input if widget.key == "c_causal_offset"]
    screen.press("switch_masks")
    assert len(screen.widget("masks").options) == len(MASKS) + 1
    assert screen.widget("causal_offset").value == 0
    screen.set("masks", ["causal", "dilated"]).press("switch_masks")
    assert screen.widget("masks").options == ["causal", "local window", "dilated", "padding"]  # what is chosen is seen
    assert screen.link()["mask"].startswith("causal,dilated")


def test_the_numbers_of_a_chosen_mask_are_in_sight_of_the_causal_one_where_a_link_says_another():
    assert ClosedScreen(mask="causal:1").widget("causal_offset").value == 1
    assert ClosedScreen().set("masks", ["local"]).held("local_window") == 1
    assert ClosedScreen().set("masks", ["padding"]).widget("padding_lengths").value == 6
    assert set(MASKS_IN_SIGHT) < set(MASKS)


@pytest.mark.parametrize(("typed", "control"), SOUGHT.items())
def test_the_search_finds_a_control_by_the_words_that_people_use(typed, control):
    (found,) = [found for found in FOUND if found.kind == "control" and found.link == {"control": control}]
    assert typed in "\n".join([*found.titles.values(), *found.details.values()]).lower()


def test_every_control_that_can_be_found_is_on_the_workbench():
    keys = control_keys(Screen().open())
    for control in CONTROLS.values():
        assert any(key == control.widget or key.startswith(f"{control.widget}_") for key in keys) or Screen().parts(
            control.widget
        ), control


def test_what_is_chosen_in_the_search_opens_what_it_stands_in_and_keeps_the_screen():
    screen = ClosedScreen(mask="causal")
    number = next(number for number, found in enumerate(FOUND) if found.link == {"control": "device"})
    assert "c_device" not in control_keys(screen)
    screen.click_part("search", "chosen", number)
    assert "c_device" in control_keys(screen) and screen.link() == {"mask": "causal"}
    assert sought_widget(screen) == "c_device"


def test_a_link_leads_to_a_control_and_one_that_there_is_not_is_named():
    screen = ClosedScreen(control="dtype", mask="causal")
    assert "c_dtype" in control_keys(screen) and screen.link() == {"mask": "causal"}
    assert sought_widget(screen) == "c_dtype"
    screen = ClosedScreen(control="nowhere")
    assert screen.at.session_state["workbench"].unread == [("control", "nowhere")]


def sought_widget(screen):
    (part,) = screen.parts("seeker")
    return json.loads(part.proto.json)["widget"]
