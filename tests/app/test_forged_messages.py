"""What a browser sends may be anything: each part of each page refuses what it did not ask for, and the page stands.

The messages go to what a part calls, all of them in one run; then the page is drawn with what is left of them.
"""

import math
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import ScriptControlException
from streamlit.runtime.state.session_state_proxy import SessionStateProxy

from pages import components
from pages.session import setup_state
from pages.setup.setup import setup_from_link, setup_to_link
from pages.site.catalog import PAGES, PAGES_FOLDER
from tests.screen.fixtures import (  # noqa: F401
    every_change_draws_the_whole_page,
    labels_are_read_in_the_language_of_the_screen,
)
from tests.screen.lesson import Lesson

PLACES = [None, True, False, "0", "", "<b>", "x" * 5000, 0, -1, 0.5, 1.0, math.nan, math.inf, -math.inf, 10**25]
PLACES += [10**400, [], [0], {}, {"a": [1]}, [[[0]]]]
CELL, INDEX = {"step": "weights", "index": [0, 0, 0, 0]}, [0, 0, 0, 0]
OF_PART = {"part": "1.attention", "step": "weights", "index": INDEX}
SENT = {  # by event, messages of the shapes that parts send
    "again": [True],
    "chosen": [0, [0, 0], "dot"],
    "choices": [{"word_temperature": 1.5}, {"word_seed": 3}, {"word_top_k": 2}],
    "clicked": [CELL, {"step": "now:weights", "index": INDEX}, 0],
    "done": ["word", "back", "again", "take"],
    "drawn": [True],
    "followed": [CELL, {"step": "1.attention/weights", "index": INDEX}],
    "gap": [{"at": 1, "words": ["南京", "市"]}],
    "guessed": [1],
    "head": [[1, 0]],
    "kind": [{"part": "1.attention", "head": 0, "kind": "off"}],
    "looked": [{"query": 0, "head": 0, "step": "weights", "stop": None}, {"query": 0, "head": 0, "layer": 1}, "q"],
    "merges": [3],
    "moved": ["next", "undo", [0, 1], [[1, 2], [3, 4]], [1, 2, 3]],
    "norms": [True],
    "opened": [0, "cost", INDEX, CELL, OF_PART, {"row": 0, "column": 0}, {"stop": 0, **OF_PART}],
    "order": [{"by": "layer", "least": 0.0, "from": None, "to": None}],
    "painted": [{"cells": [[0, 1], [1, 1]], "to": 1}],
    "pair": [{"part": "1.attention", "head": 0, "pair": [1, 0]}],
    "picked": [5],
    "place": [1],
    "pressed": [["q", 0, 0]],
    "released": [
        {"handle": "temperature", "value": 2},
        {"handle": "q", "batch": 0, "head": 0, "place": 0, "vector": [1.0, 2.0]},
        0.5,
    ],
    "role": ["thing", {"word": "pizza", "role": "thing"}],
    "row": [1],
    "stop": [1],
    "target": [3],
    "temperature": [1.5],
    "typed": [[{"row": 0, "column": 0, "text": "1 2", "pasted": True}], {**CELL, "text": "1"}, 0.5, 2],
    "word": [1],
}
PLACES_OF_PARTS = [(page.slug, {}) for page in PAGES] + [
    ("workbench", {"ex": "model_en_decoder", "panel": panel})
    for panel in ("sum", "heads", "what_if", "words", "circuits")
]
PLACES_OF_PARTS += [
    ("workbench", {"ex": "model_en", "panel": "words"}),
    ("workbench", {"lang": "zh", "text": "南京 市"}),
]
ON_EVERY_PAGE = ("search", "look", "shortcuts", "c_temperature")  # forged on the first alone


def forged(good: object) -> Iterator[object]:
    """A message with another value at each of its places, without one of them, with one more, and far too long."""
    yield from PLACES
    if isinstance(good, dict):
        yield good | {"more": 1}
        for name, value in good.items():
            yield {other: good[other] for other in good if other != name}
            yield from (good | {name: place} for place in forged(value))
    if isinstance(good, list):
        yield [*good, 0]
        yield good * 500
        for at, value in enumerate(good):
            yield good[:at] + good[at + 1 :]
            yield from ([*good[:at], place, *good[at + 1 :]] for place in forged(value))


def list_messages(event: str) -> list[object]:
    """All that is sent of an event: good and forged, each once."""
    return list({repr(each): each for good in SENT[event] for each in (good, *forged(good))}.values())


class Forger:
    """Hands all messages of an event to what a part calls, when the part sends anything."""

    def __init__(self):
        self.events: dict[str, list[str]] = {}  # of each part on the page, by its key
        self.raised: list[tuple] = []
        self.key = self.sent = None
        self.is_forging = False

    def mount(self, component: components.Component, **options: object) -> object:
        """A part as it is on the page, whose messages are forged."""
        key = options.get("key")
        for name, call in options.items():
            event = re.fullmatch("on_(.*)_change", name)
            if event:
                self.events.setdefault(key, []).append(event[1])
                options[name] = self.make_forgery(key, event[1], call)
        return component.mount(**options)

    def make_forgery(self, key: str, event: str, call: Callable[[], None]) -> Callable[[], None]:
        """What is called in the place of what the page calls."""

        def forge() -> None:
            self.key = key if self.is_forging else None
            for message in list_messages(event) if self.is_forging else [None]:
                self.sent = SimpleNamespace(**{event: message})
                try:
                    call()
                    check_setup()
                except ScriptControlException:  # the page is to be drawn anew
                    check_setup()
                except Exception as error:
                    self.raised.append((key, event, repr(message)[:200], repr(error)))
            self.key = None

        return forge


def check_setup() -> None:
    """Whatever was sent, the Setup is one that a link can say."""
    if not setup_state.has_begun():
        return
    setup = setup_state.current_setup()
    link = setup_to_link(setup)
    read, unread = setup_from_link(link)
    assert (setup_to_link(read), unread) == (link, [])


@pytest.fixture
def forger(monkeypatch):
    forger, get = Forger(), SessionStateProxy.__getitem__
    is_sent = lambda key: key is not None and key == forger.key  # noqa: E731
    monkeypatch.setattr(components.Component, "__call__", lambda part, **options: forger.mount(part, **options))
    monkeypatch.setattr(
        SessionStateProxy, "__getitem__", lambda state, key: forger.sent if is_sent(key) else get(state, key)
    )
    return forger


def forge_all(forger: Forger, slug: str, link: dict[str, str], but: tuple[str, ...] = ()) -> list[tuple]:
    """Forges every message of every part of a page. but: parts left out. Gives what raised."""
    lesson = Lesson(slug, **link)
    for key, events in [(key, events) for key, events in forger.events.items() if key not in but]:
        for event in dict.fromkeys(events):
            if event == "drawn":
                continue
            if not lesson.parts(key):  # a message before has closed it
                lesson = Lesson(slug, **link)
            forger.is_forging = True
            lesson.send_part(key, event, "anything")
            forger.is_forging = False
    return forger.raised


def test_all_that_parts_send_is_forged():
    sources = [path.read_text("utf-8") for path in PAGES_FOLDER.rglob("*.py")]
    named = {event for source in sources for event in re.findall(r"\bon_([a-z]+)_change", source)}
    assert named == SENT.keys()


@pytest.mark.parametrize("slug", ["cross", "scores"])
def test_a_forged_message_is_refused(forger, slug):
    assert forge_all(forger, slug, {}, ("search", "arrows")) == []


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "link"), PLACES_OF_PARTS, ids=str)
def test_a_forged_message_of_any_part_is_refused(forger, slug, link):
    assert forge_all(forger, slug, link, ON_EVERY_PAGE if link or slug != "workbench" else ()) == []
    assert forger.events
