"""Numbers that are typed faster than the server answers: each arrives, and none that was typed since is overwritten."""

import pytest

from tests.components.in_node import call_in_node

RUN = """(acts) => {
  const outbox = new Outbox();
  return acts.map(([act, ...given]) => [outbox[act](...given) ?? null, outbox.waiting.length]);
}"""


def cell(row, column, text, **more):
    return {"row": row, "column": column, "text": text} | more


def run(*acts):
    return call_in_node("outbox", RUN, acts)


def test_what_is_not_answered_is_sent_again_with_the_next_message():
    first, second, _, waits, third = run(
        ["send", [cell(0, 1, "2")]],
        ["send", [cell(1, 1, "3")]],
        ["answer", 1],
        ["waits", 1, 1],
        ["send", [cell(2, 1, "5")]],
    )
    assert first == [{"serial": 1, "cells": [cell(0, 1, "2")]}, 1]
    assert second == [{"serial": 2, "cells": [cell(0, 1, "2"), cell(1, 1, "3")]}, 2]
    assert waits == [True, 1]
    assert third == [{"serial": 3, "cells": [cell(1, 1, "3"), cell(2, 1, "5")]}, 2]


def test_a_newer_text_of_a_cell_replaces_the_older_but_a_pasted_matrix_stays_before_it():
    pasted = cell(0, 0, "1 2", pasted=True)
    *_, last = run(["send", [cell(0, 0, "7")]], ["send", [pasted]], ["send", [cell(0, 0, "8")]])
    assert last == [{"serial": 3, "cells": [pasted, cell(0, 0, "8")]}, 2]


def test_a_grid_that_is_drawn_anew_goes_on_after_the_numbers_that_the_server_knows():
    _, sent, _, answered = run(["answer", 7], ["send", [cell(0, 0, "1")]], ["answer", 7], ["answer", 8])
    assert sent[0]["serial"] == 8 and answered == [None, 0]


@pytest.mark.parametrize(
    ("shown", "known", "number", "waits", "text"),
    [
        ("", "", "4", False, "4"),  # nothing was typed
        ("1,5", "1,5", "1.5", False, "1.5"),  # answered
        ("x", "x", "4", False, "4"),  # refused
        ("5", "", "", True, "5"),  # on the way
        ("57", "5", "5", False, "57"),  # typed since
        ("", "5", "5", False, ""),  # emptied since
    ],
)
def test_a_cell_shows_the_servers_number_unless_something_was_typed_since(shown, known, number, waits, text):
    assert call_in_node("outbox", "(...given) => textToShow(...given)", shown, known, number, waits) == text
