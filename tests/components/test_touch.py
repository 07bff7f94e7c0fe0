"""Which of two hints is shown: the one for a finger, or the one for a keyboard and a mouse."""

import pytest

from tests.components.in_node import call_in_node

HINT = """(isCoarse, texts) => {
    globalThis.matchMedia = (query) => ({ matches: isCoarse && query === "(pointer: coarse)" });
    return hintOf(texts, "how");
}"""


@pytest.mark.parametrize(
    ("is_coarse", "texts", "hint"),
    [
        (True, {"how": "Click a head.", "how_touch": "Touch a head."}, "Touch a head."),
        (False, {"how": "Click a head.", "how_touch": "Touch a head."}, "Click a head."),
        (True, {"how": "Drag a bar."}, "Drag a bar."),
    ],
)
def test_a_finger_is_told_to_touch_and_a_mouse_to_click(is_coarse, texts, hint):
    assert call_in_node("touch", HINT, is_coarse, texts) == hint
