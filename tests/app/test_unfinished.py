"""What a reload would end is told to the browser, which says so afterwards."""

import json

import pytest

from tests.screen.driver import Screen


def told(screen):
    (part,) = screen.parts("unfinished")
    return json.loads(part.proto.json)


@pytest.mark.parametrize(("name", "key"), [("training", "trainings"), ("maps", "maps_file")])
def test_what_only_the_session_has_is_told_to_the_browser(name, key):
    screen = Screen()
    assert told(screen)["held"] == []
    screen.at.session_state[key] = {}
    screen.ran(screen.at.run)
    assert told(screen)["held"] == []  # nothing was begun
    screen.at.session_state[key] = {"dates": None}
    screen.ran(screen.at.run)
    assert told(screen)["held"] == [name]
    assert told(screen)["ended"][name]


def test_each_session_has_a_name_of_its_own():
    assert told(Screen())["session"] != told(Screen())["session"]
