"""Registers the app's custom components, written in JavaScript; their data is shown as text, never parsed as HTML."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace

import streamlit as st

from pages.components.fetched_scripts import make_loader
from pages.components.messages import (
    CELL,
    PART_CELL,
    AnyOf,
    Anything,
    Flag,
    Given,
    ListOf,
    Maybe,
    Number,
    OneOf,
    Place,
    Shape,
    Text,
    UnfitMessage,
    Whole,
    list_names,
    read,
)
from pages.components.modules import join_modules, join_styles, list_modules, read_part

COMPONENTS: dict[str, "Component"] = {}  # name of a component -> the component

TELLING = """export default async (component) => {
  const leave = await %s(component);
  component.parentElement.dispatchEvent(new Event("component-drawn", { bubbles: true, composed: true }));
  return leave;
};
"""


@dataclass(frozen=True)
class Component:
    """A custom component of Streamlit: its JavaScript, HTML and CSS, and the events that it sends to the server.

    script: a JavaScript module whose default export draws it. html: the element that it draws into. style: the CSS of
    the component. mount: Streamlit's function that puts it on the page. sends: {event: shape of its value}.
    """

    name: str
    script: str
    html: str
    style: str
    mount: Callable
    sends: Mapping[str, Shape] = field(default_factory=dict)

    def __call__(self, given: Mapping[str, Given] | None = None, **options) -> SimpleNamespace:
        """Puts the component on the page; returns a namespace with the value of each event that has no handler.

        A value is None if nothing was sent or if its shape is wrong. on_opened=f: f is called with each value of the
        event "opened" that fits its shape. given: {name in a shape: its value}. options: further arguments of
        Streamlit's mount function. Raises ValueError for a handler of an event that the component does not declare, or
        whose shape has a name that is not given.
        """
        handlers = {event: options.pop(f"on_{event}", None) for event in self.sends}
        undeclared = [name for name in options if name.startswith("on_")]
        if undeclared:
            raise ValueError(f"{self.name} sends {', '.join(self.sends) or 'nothing'}: got {', '.join(undeclared)}")
        handled = {event: self.sends[event] for event, handle in handlers.items() if handle}
        missing = list_names(handled) - {*(given or {})}
        if missing:
            raise ValueError(f"what {self.name} sends is checked by {', '.join(missing)}: not given")
        for event, handle in handlers.items():
            options[f"on_{event}_change"] = self.make_callback(event, handle, options["key"], given)
        sent = self.mount(**options)
        unhandled = [event for event, handle in handlers.items() if handle is None]
        return SimpleNamespace(**{event: self.find_sent(event, sent, given) for event in unhandled})

    def make_callback(
        self, event: str, handle: Callable | None, key: str, given: Mapping[str, Given] | None
    ) -> Callable[[], None]:
        """Return the callback that Streamlit calls for an event.

        The callback checks the value and calls the handler; it does nothing if the handler is None.
        """

        def take_sent() -> None:
            if handle is None or key not in st.session_state:  # the page may no longer show the component
                return
            limits = {name: cache(limit) if callable(limit) else limit for name, limit in (given or {}).items()}
            try:
                value = read(self.sends[event], getattr(st.session_state[key], event, None), limits)
            except UnfitMessage:
                return
            handle(value)

        return take_sent

    def find_sent(self, event: str, sent: object, given: Mapping[str, Given] | None) -> object:
        """Return the value that the browser sent for an event; None if it sent none or one of the wrong shape."""
        value = getattr(sent, event, None)
        try:
            return None if value is None else read(self.sends[event], value, given)
        except UnfitMessage:
            return None


def make_component(
    name: str,
    html: str,
    *,
    styles: Iterable[str] = (),
    is_fetched: bool = False,
    sends: Mapping[str, Shape] | None = None,
    **options,
) -> Component:
    """Make and register a component from its JavaScript module, the modules imported there, and all style sheets.

    styles: further style sheets. is_fetched: whether a browser fetches the script once, instead of getting it with
    every message. sends: {event: shape of its value (a type of messages.py)}. options: further arguments of
    st.components.v2.component.
    """
    script = join_modules(name)
    is_isolated = options.get("isolate_styles", True)
    style = join_styles([*(["focus"] if is_isolated else []), *styles, *list_modules(name)])
    js = tell_drawn(make_loader(name, script) if is_fetched else script)
    mount = st.components.v2.component(name, html=html, css=style or None, js=js, **options)
    COMPONENTS[name] = Component(name, script, html, style, mount, sends or {})
    return COMPONENTS[name]


def tell_drawn(script: str) -> str:
    """Returns a component's script, changed so that each call of its default export informs arrival.js that the
    component was drawn.
    """
    before, _, draw = script.rpartition("export default ")
    return f"{before}{TELLING % draw.strip().removesuffix(';')}"


def pack_bytes(data: dict) -> bytes:
    """Pack a dictionary into bytes.

    The bytes are the length of a JSON text (4 bytes, little-endian), the JSON text with all values that are not bytes,
    and then the other values, each padded so that the next begins at a multiple of 4.

    >>> pack_bytes({"a": 1, "b": b"xyz"})
    b'\\x1b\\x00\\x00\\x00{"a": 1, "bytes": {"b": 3}} xyz\\x00'
    """
    plain_values = {}
    parts = []
    lengths = {}
    for name, value in data.items():
        if isinstance(value, bytes):
            lengths[name] = len(value)
            parts.append(value + bytes(-len(value) % 4))
        else:
            plain_values[name] = value
    text = json.dumps({**plain_values, "bytes": lengths}).encode()
    text_length = len(text).to_bytes(4, "little")
    text_padding = b" " * (-len(text) % 4)
    blocks = [text_length, text, text_padding, *parts]
    return b"".join(blocks)


# ---- the components --------------------------------------------------------------------------------------------------
arithmetic = make_component("arithmetic", '<div class="arithmetic"></div>', sends={"followed": CELL})
shortcuts = make_component(
    "shortcuts",
    "<div></div>",
    sends={"moved": {"first": Whole(0), "moves": ListOf(OneOf(("undo", "redo")), 100)}},
)
more_tools = make_component(
    "more_tools", '<button type="button" class="more-tools tool-button">⋯</button>', styles=("tool_button",)
)
arrows = make_component("arrows", "<div></div>", sends={"moved": OneOf(("previous", "next"))})
cards = make_component("cards", '<div class="cards"></div>', sends={"opened": OneOf("lessons")})
examples = make_component(
    "examples",
    '<div class="examples"></div>',
    is_fetched=True,
    sends={"chosen": {"name": OneOf("examples"), "again": Flag()}},
)
timeline = make_component("timeline", '<div class="timeline"></div>', sends={"opened": OneOf("milestones")})
sign_picture = make_component("sign", '<div class="sign"></div>', is_fetched=True)
scenes = make_component(
    "scenes",
    '<div class="scenes"></div>',
    is_fetched=True,
    sends={"opened": Place("scenes"), "moved": (Place("scenes"), Place("scenes"))},
)
spoken = make_component("spoken", "<div></div>")
file_words = make_component("file_words", '<div class="file-waits" role="status"></div>', isolate_styles=False)
visited = make_component("visited", "<div></div>")
BAR = {"styles": ("bar",), "isolate_styles": False}
connection = make_component("connection", '<div class="bar connection" role="status"></div>', **BAR)
unfinished = make_component("unfinished", '<div class="bar unfinished" role="status"></div>', **BAR)
MAX_KEPT_CHARS = 4_500_000  # most characters of a kept lecture; a browser stores about 5,000,000 per site
kept_lecture = make_component(
    "kept_lecture",
    "<div></div>",
    sends={
        "read": AnyOf((None, {"digest": Text(64), "text": Text(MAX_KEPT_CHARS), "changed": Flag()})),
        "removed": Flag(),
        "refused": Flag(),
    },
)
MAX_KEPT_MODELS = 5  # most names of models that a browser stores, as in kept_models.js
MAX_KEPT_NAME_CHARS = 300  # most characters of a stored name; a model with a longer name is forgotten with the session
kept_models = make_component(
    "kept_models", "<div></div>", sends={"read": ListOf(Text(MAX_KEPT_NAME_CHARS), MAX_KEPT_MODELS)}
)
seen_drawers = make_component("seen_drawers", "<div></div>", isolate_styles=False)
scroller = make_component("scroller", "<div></div>")
seeker = make_component("seeker", "<div></div>", isolate_styles=False)
MATRIX_CELL = {"row": Place("rows"), "column": Place("columns")}
MAX_SENT_CELLS = 2**18  # a matrix in one message has at most this many cells: 512 x 512
canvas = make_component(
    "canvas",
    '<div class="map"></div>',
    sends={
        "opened": CELL,
        "painted": {
            "cells": ListOf((Place("rows"), Place("columns")), MAX_SENT_CELLS, leaves_out=True),
            "to": OneOf((0, 1)),
        },
    },
)
thumbnails = make_component(
    "thumbnails",
    '<div class="thumbnails" role="group"></div>',
    sends={"opened": OneOf("opens")},
)
lectern = make_component(
    "lectern",
    read_part("lectern.html"),
    isolate_styles=False,
    sends={"moved": OneOf("ways")},
)
room = make_component(
    "room",
    '<small class="room" role="status"></small><div class="poll" hidden></div>',
    isolate_styles=False,
    sends={"kept": {"code": Text(24), "secret": Text(64)}, "lost": Flag()},
)
prompter = make_component("prompter", read_part("prompter.html"), sends={"moved": OneOf("ways")})
number_grid = make_component(
    "numbers",
    '<div><table></table><i class="made row"></i><i class="made column"></i></div>',
    sends={
        "typed": {
            "version": Text(200),
            "serial": Whole(0),
            "cells": ListOf(
                {**MATRIX_CELL, "text": Text(200_001), "pasted": Maybe(Flag())},  # limit: MOST_PASTED
                MAX_SENT_CELLS,
                leaves_out=True,
            ),
        },
        "opened": MATRIX_CELL,
    },
)
flow = make_component("flow/flow", '<div class="flow"></div>', is_fetched=True)
flow_files = make_component("flow/files", '<div class="flowfiles"></div>', is_fetched=True)
MAX_STILL_CHARS = 4_000_000  # most characters of a picture in base64
flow_stills = make_component(
    "flow/stills",
    '<div class="flowstills"></div>',
    is_fetched=True,
    sends={"drawn": {"key": Text(64), "picture": Text(MAX_STILL_CHARS)}},
)
MAP_READING = {
    **{name: Flag() for name in ("without_first", "times")},
    "least": AnyOf((None, Number())),
    "largest": AnyOf((None, Whole())),
    "mean": ListOf(Whole(0), 4096),
}  # options of maps: the fields of MapReading in attention_core/analysis/map_reading.py
look = make_component(
    "flow/look",
    "<div></div>",
    sends={
        "looked": AnyOf(
            (
                {
                    "query": Place("queries"),
                    "head": Place("heads"),
                    "layer": Whole(),
                    "stop": AnyOf((None, Text(200))),
                },
                {
                    "query": Place("queries"),
                    "head": Place("heads"),
                    "step": AnyOf((None, Text(200))),
                    "stop": AnyOf((None, Text(200))),
                },
            )
        ),
        "released": AnyOf(
            (
                {"handle": OneOf(("temperature",)), "value": Number("coolest", "hottest")},
                {
                    "handle": OneOf(("q", "k", "v")),
                    "batch": Whole(0),
                    "head": Place("heads"),
                    "place": Whole(0),
                    "vector": ListOf(Number("lowest", "highest"), 2**16),
                },
            )
        ),
        "opened": CELL,
        "followed": CELL,
        "role": {"word": Text(10_000), "role": Text(200)},
        "typed": AnyOf((None, {**CELL, "text": Text(1000)})),
        "maps": MAP_READING,
        "side": OneOf(("a", "b", "difference", "together")),
        "compared": Flag(),
    },
)
model_block = make_component(
    "model/block",
    '<div class="block"></div>',
    sends={
        "opened": PART_CELL,
        "target": Place("vocabulary"),
        "temperature": Number(),
        "head": (Whole(), Whole()),
    },
)
word_shares = make_component("model/shares", '<div class="shares"></div>')
model_heads = make_component(
    "model/heads",
    '<div class="heads"></div>',
    is_fetched=True,
    sends={
        "head": (Whole(1, "layers"), Place("heads")),
        "order": {"by": Anything(), "least": Anything(), "from": Anything(), "to": Anything()},
        "maps": MAP_READING,
    },
)
model_decoder = make_component(
    "model/decoder",
    '<div class="decoder"></div>',
    is_fetched=True,
    sends={"opened": PART_CELL, "row": Place("rows")},
)
model_shelves = make_component(
    "model/shelves",
    '<div class="shelves"></div>',
    is_fetched=True,
    sends={"opened": {"stop": Place("stops"), **PART_CELL}, "stop": Place("stops")},
)
tokens = make_component(
    "tokens",
    '<div class="tokens"></div>',
    is_fetched=True,
    sends={"merges": Place("merges")},
)
rest = make_component("rest", "<div></div>", sends={"drawn": Flag()})
live_slider = make_component(
    "flow/slider",
    '<label class="live"><div class="line"><span></span><output></output></div><input type="range"></label>',
    is_fetched=True,
    sends={"released": Number("least", "most"), "typed": Number("least_typed", "most_typed")},
)
live_text = make_component(
    "live/told",
    '<div class="told"></div>',
)
live_frames = make_component(
    "live/frames",
    '<div class="frames" role="group"></div>',
    sends={"clicked": CELL},
)
word_threads = make_component(
    "lessons/threads",
    '<div class="threads"></div>',
    is_fetched=True,
    sends={"chosen": (Place("ways"), Whole(0)), "opened": (Place("ways"), Whole(0), Whole(0))},
)
symbol_arcs = make_component(
    "lessons/arcs",
    '<div class="arcs"></div>',
    is_fetched=True,
    sends={"opened": (Place("layers"), Whole(0), Whole(0), Whole(0))},
)
beads = make_component(
    "lessons/beads",
    '<div class="beads"></div>',
    is_fetched=True,
    sends={"chosen": Place("words")},
)
neck = make_component(
    "lessons/neck",
    '<div class="neck"></div>',
    is_fetched=True,
    sends={"opened": (Whole(0), Whole(0))},
)
PLANE_ARROW = (Number("back", "reach"), Number("back", "reach"))
word_match = make_component(
    "lessons/match",
    '<div class="match"></div>',
    is_fetched=True,
    sends={"moved": (PLANE_ARROW, PLANE_ARROW), "chosen": OneOf("scores")},
)
number_columns = make_component(
    "lessons/columns",
    '<div class="columns" role="group"></div>',
    is_fetched=True,
    sends={"moved": ListOf(Number(), 1000), "clicked": CELL},
)
score_cloud = make_component(
    "lessons/cloud",
    '<div class="cloud" role="img"></div>',
    is_fetched=True,
)
row_product = make_component(
    "lessons/product",
    '<div class="product" role="group"></div>',
    is_fetched=True,
)
painted_words = make_component(
    "lessons/painted",
    '<div class="painted" role="group"></div>',
    is_fetched=True,
)
cost_areas = make_component("lessons/areas", '<div class="areas"></div>', is_fetched=True)
printed_paper = make_component(
    "lessons/paper",
    '<div class="paper" role="group"></div>',
    is_fetched=True,
    sends={"pressed": (OneOf("stages"), Whole(0), Whole(0))},
)
code_lines = make_component(
    "practice/lines",
    '<div class="lines"></div>',
    is_fetched=True,
    sends={"looked": OneOf("steps"), "guessed": Place("lines")},
)
