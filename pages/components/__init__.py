"""Small parts of the screen that Streamlit has no widget for. Their data is shown as text, never parsed as HTML."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.components.fetched_scripts import make_loader

COMPONENTS_FOLDER = Path(__file__).parent
COMPONENTS: dict[str, "Component"] = {}  # all of them, by name


@dataclass(frozen=True)
class Component:
    """A part of the screen. script: a module that gives away what draws it. html: what it draws into. style: of that.
    mount: puts it on the page."""

    name: str
    script: str
    html: str
    style: str
    mount: Callable

    def __call__(self, **options) -> object:
        """Puts it on the page, as st.components.v2.component says."""
        return self.mount(**options)


def make_component(
    name: str,
    html: str,
    *shared: str,
    is_fetched: bool = False,
    constants: Mapping[str, object] | None = None,
    **options,
) -> Component:
    """Makes a component from the .js and .css files of its name, and those that it shares with others.

    is_fetched: whether a browser fetches its script once, instead of getting it with every message. constants: that the
    script begins with, by name. options: as of st.components.v2.component.
    """
    parts = (*shared, name)
    script = write_constants(constants or {}) + join_files(parts, "js")
    style = join_files(parts, "css")
    js = make_loader(name, script) if is_fetched else script
    mount = st.components.v2.component(name, html=html, css=style or None, js=js, **options)
    COMPONENTS[name] = Component(name, script, html, style, mount)
    return COMPONENTS[name]


def write_constants(constants: Mapping[str, object]) -> str:
    """Constants as a script says them.

    >>> write_constants({"SIZES": [1, 2]})
    'const SIZES = [1, 2];\\n'
    """
    return "".join(f"const {name} = {json.dumps(value)};\n" for name, value in constants.items())


def join_files(parts: Iterable[str], kind: str) -> str:
    """The texts of the parts' files of a kind, of those that have one."""
    names = [f"{part}.{kind}" for part in parts]
    return "\n".join(read_part(name) for name in names if (COMPONENTS_FOLDER / name).exists())


def read_part(file_name: str) -> str:
    """The text of a file of this folder."""
    return (COMPONENTS_FOLDER / file_name).read_text("utf-8")


def pack_bytes(data: dict) -> bytes:
    """Packs a dictionary into one run of bytes, which is sent as it is: the length of a JSON text, the text, then the
    values that are bytes, each at a multiple of 4.

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


arithmetic = make_component("arithmetic", '<div class="arithmetic"></div>')
shortcuts = make_component("shortcuts", "<div></div>", "page", isolate_styles=False)
arrows = make_component("arrows", "<div></div>", "belongs", "page", isolate_styles=False)
cards = make_component("cards", '<div class="cards"></div>', "small_picture", "kept_progress")
timeline = make_component("timeline", '<div class="timeline"></div>', "belongs", "small_picture")
sign_picture = make_component("sign", '<div class="sign"></div>', "small_picture", is_fetched=True)
scenes = make_component("scenes", '<div class="scenes"></div>', "small_picture", "roving", is_fetched=True)
spoken = make_component("spoken", "<div></div>")
file_words = make_component("file_words", '<div class="file-waits" role="status"></div>', isolate_styles=False)
visited = make_component("visited", "<div></div>", "kept_progress")
seen_drawers = make_component("seen_drawers", "<div></div>", "kept_progress", isolate_styles=False)
scroller = make_component("scroller", "<div></div>")
seeker = make_component("seeker", "<div></div>", isolate_styles=False)
canvas = make_component("canvas", '<div class="map"></div>', "pixels", "rounded", "printed", "sheet", "live/position")
thumbnails = make_component("thumbnails", '<div class="thumbnails" role="group"></div>', "pixels", "roving")
lectern = make_component("lectern", read_part("lectern.html"), "belongs", "remote", isolate_styles=False)
prompter = make_component("prompter", read_part("prompter.html"), "belongs", "remote")
number_grid = make_component("numbers", '<div><table></table><i class="made row"></i><i class="made column"></i></div>')
FLOW_PARTS = (
    "pixels",
    "rounded",
    "printed",
    "flow/motion",
    "flow/shapes",
    "flow/twin",
    "flow/twin_check",
    "flow/model",
    "flow/words",
    "flow/layout",
    "flow/arrangement",
    "flow/journey",
    "flow/changes",
    "flow/views",
    "flow/sentences",
    "flow/picture/picture",
    "flow/picture/lane",
    "flow/picture/column_heads",
    "flow/picture/vectors",
    "flow/picture/merge",
    "flow/picture/meeting",
    "flow/picture/threads",
    "flow/picture/bars",
    "flow/picture/shares",
    "flow/picture/ribbons",
    "flow/picture/glow",
    "flow/picture/rings",
    "flow/flights",
    "flow/map",
    "flow/map_keys",
    "flow/flow_keys",
    "flow/cell_editor",
    "flow/role_choices",
    "flow/formulas",
    "flow/small_maps",
    "flow/plane_axes",
    "flow/plane_vectors",
    "flow/plane_hands",
    "flow/plane_controls",
    "flow/plane_goals",
    "flow/plane",
    "flow/sum",
    "flow/choice",
    "flow/bar",
    "flow/hands",
    "flow/exchange",
    "flow/flow",
)
flow = make_component("flow/flow", '<div class="flow"></div>', *FLOW_PARTS[:-1], is_fetched=True)
look = make_component("flow/look", "<div></div>")
model_block = make_component(
    "model/block", '<div class="block"></div>', "pixels", "rounded", "flow/words", "model/controls", "player"
)
word_shares = make_component("model/shares", '<div class="shares"></div>')
model_words = make_component(
    "model/words", '<div class="writing"></div>', "pixels", "rounded", "flow/words", "model/controls"
)
model_heads = make_component(
    "model/heads",
    '<div class="heads"></div>',
    "pixels",
    "rounded",
    "flow/words",
    "roving",
    "model/controls",
    "model/maps",
    is_fetched=True,
)
model_what_if = make_component(
    "model/what_if",
    '<div class="what-if"></div>',
    "pixels",
    "rounded",
    "flow/words",
    "model/controls",
    "model/maps",
    "svg",
    is_fetched=True,
)
model_decoder = make_component(
    "model/decoder",
    '<div class="decoder"></div>',
    "pixels",
    "rounded",
    "flow/words",
    "model/controls",
    "player",
    "svg",
    is_fetched=True,
)
model_shelves = make_component(
    "model/shelves",
    '<div class="shelves"></div>',
    "pixels",
    "rounded",
    "flow/words",
    "roving",
    "model/controls",
    "player",
    "svg",
    is_fetched=True,
)
model_circuits = make_component(
    "model/circuits", '<div class="circuits"></div>', "rounded", "flow/words", is_fetched=True
)
tokens = make_component(
    "tokens",
    '<div class="tokens"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "roving",
    "player",
    is_fetched=True,
)
rest = make_component("rest", "<div></div>")
live_slider = make_component(
    "flow/slider",
    '<label class="live"><div class="line"><span></span><output></output></div><input type="range"></label>',
    is_fetched=True,
)
live_text = make_component("live/told", '<div class="told"></div>', "live/position")
live_frames = make_component("live/frames", '<div class="frames" role="group"></div>', "pixels", "live/position", "svg")
word_threads = make_component(
    "lessons/threads",
    '<div class="threads"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "roving",
    "live/position",
    "svg",
    is_fetched=True,
)
symbol_arcs = make_component(
    "lessons/arcs",
    '<div class="arcs"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "roving",
    "live/position",
    "svg",
    is_fetched=True,
)
beads = make_component(
    "lessons/beads",
    '<div class="beads"></div>',
    "rounded",
    "flow/words",
    "roving",
    "live/position",
    "svg",
    is_fetched=True,
)
neck = make_component(
    "lessons/neck",
    '<div class="neck"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "player",
    "live/position",
    "svg",
    is_fetched=True,
)
word_match = make_component(
    "lessons/match",
    '<div class="match"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "roving",
    "lessons/match_twin",
    "svg",
    is_fetched=True,
)
number_columns = make_component(
    "lessons/columns",
    '<div class="columns" role="group"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "live/position",
    is_fetched=True,
)
score_cloud = make_component(
    "lessons/cloud",
    '<div class="cloud" role="img"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "live/position",
    "svg",
    is_fetched=True,
)
row_product = make_component(
    "lessons/product",
    '<div class="product" role="group"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    is_fetched=True,
)
painted_words = make_component(
    "lessons/painted",
    '<div class="painted" role="group"></div>',
    "rounded",
    "flow/words",
    "model/controls",
    "roving",
    "svg",
    is_fetched=True,
)
cost_areas = make_component(
    "lessons/areas", '<div class="areas"></div>', "model/controls", "live/position", "svg", is_fetched=True
)
printed_paper = make_component(
    "lessons/paper", '<div class="paper" role="group"></div>', "model/controls", "roving", is_fetched=True
)
code_lines = make_component("practice/lines", '<div class="lines"></div>', "model/controls", "roving", is_fetched=True)
