"""What a browser sends may be anything: each part of each page refuses what it did not ask for, and the page stands.

Good and forged messages are made of what each component declares. First each event of each component alone; then all of
them on the pages, handed to what each part calls, and the page is drawn with what is left of them.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner_utils.exceptions import ScriptControlException
from streamlit.runtime.state.session_state_proxy import SessionStateProxy

from pages import components
from pages.components import COMPONENTS
from pages.components.messages import (
    MISSING,
    AnyOf,
    Anything,
    Flag,
    ListOf,
    Maybe,
    Number,
    OneOf,
    Place,
    Text,
    UnfitMessage,
    Whole,
    read,
    resolve,
)
from pages.panels import toolbar, word_changes
from pages.panels.model_panels import PANELS
from pages.session import setup_state
from pages.setup.codec import setup_from_link, setup_to_link
from pages.site.catalog import PAGES, PAGES_FOLDER
from tests.screen.fixtures import (  # noqa: F401
    a_page_is_drawn_at_once,
    every_change_draws_the_whole_page,
    labels_are_read_in_the_language_of_the_screen,
)
from tests.screen.lesson import Lesson

PLACES = [None, True, False, "0", "", "<b>", "x" * 5000, 0, -1, 0.5, 1.0, math.nan, math.inf, -math.inf, 10**25]
PLACES += [10**400, [], [0], {}, {"a": [1]}, [[[0]]]]
GOOD_TEXTS = {  # of fields whose texts a run knows, texts that some of the runs below know
    "step": ("weights", "now:weights", "1.attention/weights"),
    "part": ("1.attention",),
    "word": ("pizza",),
    "role": ("thing",),
    "text": ("1 2",),
    "by": ("layer",),
    "words": ("南京", "市"),
}
OTHER_MODULES = (toolbar, word_changes)  # which make components of their own
EVENTS = [(name, event) for name, part in COMPONENTS.items() for event in part.sends]


# ---- messages of a shape ---------------------------------------------------------------------------------------------
def list_good(shape: object, given: Mapping, field: str = "") -> list[object]:
    """Messages of a shape, as JSON says them."""
    match shape:
        case None:
            return [None]
        case Anything():
            return list(GOOD_TEXTS.get(field, (1, 0)))
        case Flag():
            return [True, False]
        case Whole(least, _):
            return [max(0, resolve(least, given)), max(1, resolve(least, given))]
        case Place(count):
            return [0, resolve(count, given) - 1] if resolve(count, given) else []
        case Number(least, most):
            return [min(max(1.5, resolve(least, given)), resolve(most, given)), resolve(least, given)]
        case Text():
            return list(GOOD_TEXTS.get(field, ("nothing",)))
        case OneOf(values):
            return [*resolve(values, given)][:3]
        case ListOf(shape=item):
            return [[0, 0, 0, 0]] if field == "index" else [[each] for each in list_good(item, given, field)]
        case AnyOf(shapes):
            return [good for each in shapes for good in list_good(each, given, field)]
        case Maybe(shape=item):
            return [*list_good(item, given, field), MISSING]
        case tuple():
            parts = [list_good(each, given, field) for each in shape]
            return [[part[0] for part in parts], [part[-1] for part in parts]] if all(parts) else []
        case dict():
            return list_good_objects(shape, given)
    raise AssertionError(shape)


def list_good_objects(fields: dict[str, object], given: Mapping) -> list[dict]:
    """Objects of named fields: the first of each, and each other one beside the first of all else."""
    parts = {name: list_good(each, given, name) for name, each in fields.items()}
    if not all(parts.values()):
        return []
    first = {name: part[0] for name, part in parts.items()}
    others = [first | {name: each} for name, part in parts.items() for each in part[1:]]
    return [{name: each for name, each in made.items() if each is not MISSING} for made in (first, *others)]


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


def list_messages(shape: object, given: Mapping | None) -> list[object]:
    """All that is sent of an event: good and forged, each once."""
    good_ones = list_good(shape, given or {})
    return list({repr(each): each for good in good_ones for each in (good, *forged(good))}.values())


def as_read(message: object) -> object:
    """A good message as a page gets it: lists are tuples."""
    if isinstance(message, list):
        return tuple(map(as_read, message))
    return {name: as_read(each) for name, each in message.items()} if isinstance(message, dict) else message


# ---- what is of a shape ----------------------------------------------------------------------------------------------
ROWS = {"rows": 3, "names": ("a", "b"), "counted": lambda: 2}
FITTING = [
    (None, None, None),
    (Flag(), False, False),
    (Whole(), -7, -7),
    (Whole(1, "rows"), 3, 3),
    (Place("rows"), 2, 2),
    (Place("counted"), 1, 1),
    (Number(), 10**25, 10**25),
    (Number(0, 1), 0.5, 0.5),
    (Text(3), "abc", "abc"),
    (OneOf("names"), "b", "b"),
    (OneOf((0, 1)), 1, 1),
    (ListOf(Flag(), 2), [True, False], (True, False)),
    (ListOf(Place("rows"), 9, leaves_out=True), [0, 3, True, "x", 2], (0, 2)),
    ((Whole(), Text(1)), [4, "x"], (4, "x")),
    (AnyOf((None, Whole())), 5, 5),
    (AnyOf((None, Whole())), None, None),
    ({"a": Whole()}, {"a": 1}, {"a": 1}),
    (Anything(), ["x"], ["x"]),
    ({"a": Maybe(Whole())}, {}, {}),
    ({"a": Maybe(Whole())}, {"a": 1}, {"a": 1}),
]
UNFIT = [
    *[(None, each) for each in (0, False, "", [])],
    *[(Flag(), each) for each in (0, 1, "true", None)],
    *[(Whole(), each) for each in (True, 1.0, "1", None, 2**53, -(2**53), 10**400, math.nan, [1])],
    *[(Whole(1, "rows"), each) for each in (0, 4)],
    *[(Place("rows"), each) for each in (-1, 3, True, 1.0, "1", None)],
    (Place("counted"), 2),
    *[(Number(), each) for each in (True, "1", None, math.nan, math.inf, -math.inf, 10**400, [1.0])],
    *[(Number(0, 1), each) for each in (-0.1, 1.1)],
    *[(Text(3), each) for each in ("abcd", 3, None, ["a"])],
    *[(OneOf("names"), each) for each in ("c", "", None, 0, ["a"], {"a": 1})],
    *[(OneOf((0, 1)), each) for each in (True, False, 1.0, "1")],
    *[(ListOf(Flag(), 2), each) for each in ([True] * 3, [0], "xx", None, {})],
    *[((Whole(), Text(1)), each) for each in ([4], [4, "x", 0], ["x", 4], "4x", {"0": 4, "1": "x"})],
    *[(AnyOf((None, Whole())), each) for each in (False, "x", 0.5)],
    *[({"a": Whole()}, each) for each in ({}, {"b": 1}, {"a": 1, "b": 2}, {"a": None}, [["a", 1]], "a", None)],
    ({"a": Maybe(Whole())}, {"a": None}),
    ({"a": Anything()}, {}),
]


@pytest.mark.parametrize(("shape", "sent", "expected"), FITTING, ids=repr)
def test_what_is_of_a_shape_is_read(shape, sent, expected):
    found = read(shape, sent, ROWS)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(("shape", "sent"), UNFIT, ids=lambda each: repr(each)[:60])
def test_what_is_of_no_such_shape_is_refused(shape, sent):
    with pytest.raises(UnfitMessage):
        read(shape, sent, ROWS)


# ---- each event of each component ------------------------------------------------------------------------------------
def give_names(shape: object) -> dict[str, object]:
    """Numbers or values for the names in a shape."""
    match shape:
        case OneOf(str() as name):
            return {name: ("one", "two")}
        case Place(str() as name):
            return {name: 3}
        case Number(least, most) | Whole(least, most):
            return {name: end for name, end in ((least, -2.0), (most, 2.0)) if isinstance(name, str)}
        case ListOf() | Maybe():
            return give_names(shape.shape)
        case AnyOf(shapes):
            return give_names(shapes)
        case tuple():
            return {name: each for part in shape for name, each in give_names(part).items()}
        case dict():
            return give_names(tuple(shape.values()))
    return {}


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_a_handler_gets_what_its_component_declares_and_nothing_else(name, event, monkeypatch):
    part, taken, mounted = COMPONENTS[name], [], {}
    shape = part.sends[event]
    given = give_names(shape)
    sent = SimpleNamespace()
    monkeypatch.setattr(components, "st", SimpleNamespace(session_state={"part": sent}))
    heard = replace(part, mount=lambda **options: mounted.update(options))
    heard(key="part", given=given, **{f"on_{event}": taken.append})
    good_ones = {repr(each) for each in list_good(shape, given)}
    assert good_ones
    for message in list_messages(shape, given):
        taken.clear()
        setattr(sent, event, message)
        mounted[f"on_{event}_change"]()  # raises nothing
        if repr(message) in good_ones:
            assert taken == [as_read(message)]
        for value in taken:
            assert repr(read(shape, value, given)) == repr(value)


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_what_nobody_asked_for_is_ignored(name, event):
    part = COMPONENTS[name]
    for message in list_messages(part.sends[event], give_names(part.sends[event])):
        heard = replace(part, mount=lambda sent=message, **options: SimpleNamespace(**{event: sent}))
        found = getattr(heard(key="part"), event)  # raises nothing, though no number or value is given
        assert found is None or repr(read(part.sends[event], found)) == repr(found)


def test_what_is_sent_without_a_handler_is_given_where_it_fits():
    heard = replace(COMPONENTS["cards"], mount=lambda **options: SimpleNamespace(opened=options["data"]))
    opened = {repr(each): heard(data=each, key="cards", given={"lessons": ("masks",)}).opened for each in PLACES}
    assert set(opened.values()) == {None}
    assert heard(data="masks", key="cards", given={"lessons": ("masks",)}).opened == "masks"


def test_a_handler_of_what_no_component_declares_is_refused():
    heard = replace(COMPONENTS["cards"], mount=lambda **options: None)
    with pytest.raises(ValueError, match="cards sends opened: got on_chosen"):
        heard(key="cards", on_chosen=print)


def test_a_page_that_gives_no_limit_for_a_handler_is_refused():
    heard = replace(COMPONENTS["cards"], mount=lambda **options: None)
    with pytest.raises(ValueError, match="what cards sends is checked by lessons: not given"):
        heard(key="cards", given={"lesson": ("masks",)}, on_opened=print)


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_declares_all_that_its_script_sends(name):
    script = COMPONENTS[name].script
    told = set(re.findall(r'(?:setTriggerValue|trigger|tell)\("(\w+)"', script))
    declared = set(COMPONENTS[name].sends)
    if "class Flow " in script:  # the picture tells through another component
        declared |= COMPONENTS["flow/look"].sends.keys()
    if name != "flow/look":
        assert told == declared


def test_no_page_checks_by_hand_what_a_browser_sent():
    events = "|".join(sorted({event for _, event in EVENTS}))
    by_hand = {
        "reads an event": rf"session_state\[[^\]]+\]\.({events})\b",
        "hears an event": r"\bon_[a-z]+_change\b",
        "asks for a type": r"\btype\(\w+\) (is|in|==) ",
    }
    rooms = ("session", "panels", "export", "workbench", "lessons", "practice", "presentation", "maps")
    found = []
    for room in rooms:
        for path in sorted((PAGES_FOLDER / room).rglob("*.py")):
            source = path.read_text("utf-8")
            found += [(path.name, name) for name, pattern in by_hand.items() if re.search(pattern, source)]
    assert not found


# ---- on the pages ----------------------------------------------------------------------------------------------------
PLACES_OF_PARTS = [(page.slug, {}) for page in PAGES] + [
    ("workbench", {"ex": "model_en_decoder", "panel": panel}) for panel in PANELS
]
PLACES_OF_PARTS += [
    ("workbench", {"ex": "model_en", "panel": "words"}),
    ("workbench", {"lang": "zh", "text": "南京 市"}),
]
ON_EVERY_PAGE = ("search", "look", "shortcuts", "c_temperature")  # forged on the first alone


class Forger:
    """Hands all messages of an event to what a part calls, when the part sends anything."""

    def __init__(self):
        self.events: dict[str, list[str]] = {}  # of each part on the page, by its key
        self.raised: list[tuple] = []
        self.key = self.sent = None
        self.is_forging = False

    def mount(self, put: Callable, part: components.Component, options: dict) -> object:
        """A part as it is on the page, whose messages are forged."""
        heard = [event for event in part.sends if f"on_{event}" in options]
        for event in heard:
            assert give_names(part.sends[event]).keys() <= (options.get("given") or {}).keys(), (part.name, event)

        def mount(**made: object) -> object:
            for event in heard:
                self.events.setdefault(made["key"], []).append(event)
                name = f"on_{event}_change"
                made[name] = self.make_forgery(made["key"], event, made[name], part.sends[event], options.get("given"))
            return part.mount(**made)

        return put(replace(part, mount=mount), **options)

    def make_forgery(
        self, key: str, event: str, call: Callable[[], None], shape: object, given: Mapping | None
    ) -> Callable[[], None]:
        """What is called in the place of what the page calls."""

        def forge() -> None:
            self.key = key if self.is_forging else None
            for message in list_messages(shape, given) if self.is_forging else [None]:
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
    put = components.Component.__call__
    monkeypatch.setattr(components.Component, "__call__", lambda part, **options: forger.mount(put, part, options))
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


@pytest.mark.parametrize("slug", ["cross", "scores"])
def test_a_forged_message_is_refused(forger, slug):
    assert forge_all(forger, slug, {}, ("search", "arrows")) == []


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "link"), PLACES_OF_PARTS, ids=str)
def test_a_forged_message_of_any_part_is_refused(forger, slug, link):
    assert forge_all(forger, slug, link, ON_EVERY_PAGE if link or slug != "workbench" else ()) == []
    assert forger.events
