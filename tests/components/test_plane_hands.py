"""Where the handles of the plane stand."""

import pytest

from tests.components.in_node import call_in_node

KNOB = """(tip) => {
  const temperature = { least: 0.1, most: 10 };
  const room = { boxes: { k: [0, 0] }, side: 400, unit: 1 };
  const view = { tip: () => tip, ...room, temperature: 10, data: { plane: { temperature } } };
  return new PlaneHands({ ...view, svg: new EventTarget(), root: new EventTarget() }).knob();
}"""
FAR = 70 / 2**0.5  # px: the circle of the highest temperature has a radius of 70, and the handle lies on a diagonal


@pytest.mark.parametrize(
    ("tip", "way"),
    [((200, 200), (1, 1)), ((200, 380), (1, -1)), ((380, 200), (-1, 1)), ((380, 380), (-1, -1))],
    ids=["below to the right", "above to the right", "below to the left", "above to the left"],
)
def test_the_handle_of_the_temperature_lies_where_the_panel_has_room(tip, way):
    assert call_in_node("flow/plane_hands", KNOB, list(tip)) == pytest.approx(
        [at + FAR * each for at, each in zip(tip, way, strict=True)]
    )
