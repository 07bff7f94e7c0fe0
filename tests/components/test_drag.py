"""What a hand moves: a message waits until the arrow keys rest, and the pointer pressed last is followed."""

import pytest

from tests.components.in_node import call_in_node

REST = """(acts) => {
  let [now, calls, timers] = [0, [], []];
  globalThis.setTimeout = (act, ms) => timers.push({ act, at: now + ms });
  globalThis.clearTimeout = (id) => id && (timers[id - 1] = null);
  const rest = new Rest(() => calls.push(now));
  for (const act of acts) {
    if (typeof act === "string") rest[act]();
    else {
      now = act;
      timers.forEach((timer, i) => timer && timer.at <= now && ((timers[i] = null), timer.act()));
    }
  }
  return [calls, rest.isOn];
}"""


@pytest.mark.parametrize(
    ("acts", "told"),
    [
        (["begin", 499], [[], True]),
        (["begin", 500, 5000], [[500], False]),
        (["begin", 300, "begin", 700, 800], [[800], False]),  # after the last of two presses
        (["begin", 100, "end", 5000], [[100], False]),  # something else is sent: now, and not again
        (["end"], [[], False]),
        (["begin", "drop", 5000], [[], False]),
    ],
)
def test_what_rests_is_told_once_after_the_last_press(acts, told):
    assert call_in_node("drag", REST, acts) == told


FOLLOW = """(events) => {
  const element = new EventTarget();
  const captured = [];
  element.setPointerCapture = (id) => captured.push(id);
  const heard = [];
  for (const [type, pointerId] of events) {
    if (type === "pointerdown") {
      const hand = {};
      for (const name of ["move", "release", "cancel"]) hand[name] = () => heard.push(`${name} ${pointerId}`);
      followPointer(element, { pointerId }, hand);
    } else element.dispatchEvent(Object.assign(new Event(type), { pointerId }));
  }
  return [captured, heard];
}"""


def test_of_two_pointers_the_one_pressed_last_is_followed_until_it_is_let_go():
    events = ["down 1", "move 1", "down 2", "move 1", "move 2", "up 1", "up 2", "move 2", "down 3", "cancel 3", "up 3"]
    given = [[f"pointer{kind}", int(number)] for kind, number in map(str.split, events)]
    assert call_in_node("drag", FOLLOW, given) == [[1, 2, 3], ["move 1", "move 2", "release 2", "cancel 3"]]


def test_an_arrow_key_is_heard_by_nothing_else():
    press = """(key) => {
      const heard = [];
      const event = { key, preventDefault: () => heard.push("default"), stopPropagation: () => heard.push("others") };
      return [arrowOf(event) ?? null, heard];
    }"""
    assert call_in_node("drag", press, "ArrowUp") == [[0, 1], ["default", "others"]]
    assert call_in_node("drag", press, "Enter") == [None, []]
