"""The time of the picture: played, dragged and gone along stop by stop, by a clock that the test sets."""

import pytest

from tests.components.in_node import call_in_node

ASK, MATCH, GATHER = STOPS = [{"motion": motion} for motion in ("ask", "match", "gather")]  # 2000, 3400, 2300 ms
SET_UP = """(stops, isCalm, acts) => {
  let now = 0;
  performance.now = () => now;
  globalThis.matchMedia = () => ({ matches: isCalm });
  const told = { frames: 0, rests: 0 };
  const journey = new Journey(() => told.frames++, () => told.rests++);
  journey.take(stops);
  const clock = (time) => journey.advance((now = time));
  const know = (...motions) => (journey.known = new Set(motions));
  const seen = [];
  for (const [act, ...given] of acts) {
    const answer = { clock, know }[act]?.(...given) ?? journey[act]?.(...given);
    seen.push(act === "stepBy" ? answer : Math.round(1000 * journey.progress) / 1000);
  }
  return { seen, told, moves: journey.isMoving, at: journey.told };
}"""


def go(*acts, is_calm: bool = False) -> dict:
    return call_in_node("flow/journey", SET_UP, STOPS, is_calm, [list(act) for act in acts])


def test_playing_takes_the_time_of_each_stop_and_holds_between_two():
    play = ("begin", {"plays": True, "begins": "start"})
    done = go(play, *[("clock", time) for time in (0, 1000, 2000, 2400, 2460, 4160)])
    assert done["seen"] == [0, 0, 0.5, 1, 1, 1, 1.5]  # 450 ms between two stops, then half of 3400 ms
    assert done["moves"]


def test_playing_ends_at_the_end_and_rests_there_once():
    done = go(("begin", {"plays": True, "begins": "start"}), *[("clock", time) for time in range(0, 12000, 500)])
    assert done["seen"][-1] == 3
    assert (done["moves"], done["told"]["rests"]) == (False, 1)


def test_a_movement_that_is_finished_for_paper_is_at_its_target_and_rests():
    playing = go(("begin", {"plays": True, "begins": "start"}), ("clock", 0), ("clock", 1000), ("finish",))
    assert (playing["seen"][-1], playing["moves"], playing["told"]["rests"]) == (3, False, 1)
    gliding = go(("scrub", 0), ("stepBy", 1), ("clock", 100), ("finish",))
    assert (gliding["seen"][-1], gliding["moves"]) == (1, False)
    assert go(("scrub", 1.5), ("finish",))["seen"] == [1.5, 1.5]  # stays where the visitor stopped it


def test_where_nothing_may_move_a_stop_is_there_at_once():
    done = go(
        ("begin", {"plays": True, "begins": "start"}), ("clock", 0), ("clock", 1600), ("clock", 1616), is_calm=True
    )
    assert done["seen"] == [0, 1, 1, 2]


def test_a_step_glides_to_the_next_stop():
    done = go(("scrub", 0), ("stepBy", 1), ("clock", 750), ("clock", 1500))  # three quarters of 2000 ms
    assert done["seen"] == [0, True, 0.5, 1]
    assert not done["moves"]


def test_a_step_goes_on_from_where_the_step_before_leads():
    done = go(("scrub", 0), ("stepBy", 1), ("stepBy", 1), ("clock", 100_000))
    assert done["seen"][-1] == 2


def test_a_stop_that_is_clicked_plays_from_its_beginning_and_rests_at_its_end():
    done = go(("scrub", 3), ("playStop", 1), ("clock", 1275), ("clock", 2550))  # three quarters of 3400 ms
    assert done["seen"] == [3, 1, 1.5, 2]
    assert (done["moves"], done["told"]["rests"]) == (False, 2)
    assert go(("playStop", 1), is_calm=True)["seen"] == [2]


def test_there_is_no_step_beyond_the_ends():
    assert go(("scrub", 3), ("stepBy", 1))["seen"] == [3, False]
    assert go(("scrub", 0), ("stepBy", -1))["seen"] == [0, False]


def test_known_stops_are_passed():
    done = go(("know", "match"), ("scrub", 1), ("stepBy", 1), ("clock", 100_000))
    assert done["seen"][-1] == 3


@pytest.mark.parametrize(
    ("progress", "stop", "share"), [(0, ASK, 0), (0.25, ASK, 0.25), (1, ASK, 1), (1.5, MATCH, 0.5), (3, None, 0)]
)
def test_the_stop_that_is_told_has_just_ended_or_is_under_way(progress, stop, share):
    assert go(("scrub", progress))["at"] == {"stop": stop, "share": share}


def test_a_journey_at_its_end_stays_at_the_end_of_other_stops():
    done = go(("scrub", 3), ("take", [*STOPS, ASK]), ("scrub", 1.5), ("take", [ASK]))
    assert done["seen"] == [3, 4, 1.5, 1]
