"""A session without a browser: what a visitor does, and sees. Numbers are read off the pictures."""

import json
import logging
import math
import re
from functools import cache as cached
from pathlib import Path

import numpy as np
import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.proto.GapSize_pb2 import GapSize
from streamlit.testing.v1 import AppTest, app_test
from streamlit.testing.v1.element_tree import Block

from pages.runs import cache
from pages.site.words import WORD_JOINER

ROOT = Path(__file__).parents[2]
STORIES = json.loads((ROOT / "tests" / "golden" / "stories.json").read_text(encoding="utf-8"))["examples"]
WORDS = ("Anna", "fed", "the", "dog", "and", "it", "barked")
KINDS = (
    "text_input",
    "text_area",
    "number_input",
    "selectbox",
    "multiselect",
    "toggle",
    "select_slider",
    "slider",
    "button_group",
)
# The drawers, which show nothing while they are closed.
OPEN = ("more", "more_masks", "editors", "export", "proof", "arrays", "step_drawer", "model_figures")
config.set_option("client.showErrorDetails", "full")
# Every AppTest looks through all installed packages for components; none comes or goes while tests run.
manifest_scanner.scan_component_manifests = cached(manifest_scanner.scan_component_manifests)
# Every run of an AppTest compiles its scripts anew; none changes while tests run.
app_test.ScriptCache = cached(app_test.ScriptCache)
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True


def plain(markdown):
    """What Markdown that `literal` wrote shows."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(WORD_JOINER, "")


class Screen:
    """One session. Every run must end without an exception."""

    outside = "en"  # the language of the session that runs, for what AppTest asks outside of it

    def __init__(self, **link):
        self.at = AppTest.from_file(ROOT / "pages" / "app" / "router.py", default_timeout=60)
        self.at.query_params.update(link)
        for drawer in OPEN:
            self.at.session_state[drawer] = True
        self.drawn = {}
        self.at.run()
        assert not self.at.exception, [(e.message, e.stack_trace) for e in self.at.exception]
        self.language = self.look()["language"][:2]
        self.click_part("rest", "drawn", True)  # the browser has the picture, and asks for the rest

    def ran(self, act, *args):
        Screen.outside = self.language
        act(*args)
        assert not self.at.exception, [(e.message, e.stack_trace) for e in self.at.exception]
        self.language = self.widget("lang").value
        before, self.drawn = self.drawn, self.parts_drawn()
        for name, (shows, drawn) in self.drawn.items():
            if name != "show_run" and before.get(name, (None,))[0] == shows:  # a browser would have kept it
                assert before[name][1] == drawn, name
        return self

    def parts_drawn(self):
        """What each part of the page says that it shows, and all that it drew."""
        _, page = self.at._tree.children[0].children.values()  # the first shows nothing and lets a page come back
        shown = self.at.session_state["drawn"]
        return {
            name: (shows, [drawn_by(node) for node in walk(block)])
            for (name, shows), block in zip(shown.items(), part_blocks(page), strict=True)
        }

    # ---- what a visitor does
    def widget(self, key):
        named = {widget.key: widget for kind in KINDS for widget in self.at.get(kind)}
        numbered = re.compile(rf"c_{key}_\d+")  # where something else moves the widget, too
        names = [f"c_{key}"] if f"c_{key}" in named else [name for name in named if numbered.fullmatch(name or "")]
        found = [named[name] for name in names]
        assert len(found) == 1, (key, found)
        return found[0]

    def set(self, key, value):
        if self.parts(f"c_{key}"):  # a slider that the picture follows
            is_typed = self.slider(key)["typed"] is not None
            return self.click_part(f"c_{key}", "typed" if is_typed else "released", value)
        return self.ran(self.widget(key).set_value(value).run)

    def press(self, key):
        return self.ran(next(button for button in self.at.button if button.key == key).click().run)

    def press_labelled(self, label):
        return self.ran(next(button for button in self.at.button if button.label == label).click().run)

    def paste(self, text):
        """Into the box of the weight editors."""
        return self.ran(self.paste_box().set_value(text).run)

    def paste_box(self):
        return next(area for area in self.at.text_area if area.key.startswith("p_"))

    def send(self, widget_id, **value):
        """What the browser sends when a part without a Python face of its own was used."""
        Screen.outside = self.language
        states = self.at._tree.get_widget_states()
        for old in [state for state in states.widgets if state.id == widget_id]:
            states.widgets.remove(old)
        state = states.widgets.add(id=widget_id)
        for kind, given in value.items():
            setattr(state, kind, given)
        return self.ran(self.at._run, states)

    def edit_cells(self, rows):
        """Numbers typed into the cells of the weight editor: {row: {column: number}}, from 0; None empties a cell."""
        (editor,) = [frame for frame in self.at.get("dataframe") if frame.proto.id]
        columns = list(editor.value.columns)
        cells = {str(row): {columns[column]: number for column, number in line.items()} for row, line in rows.items()}
        typed = {"edited_rows": cells, "added_rows": [], "deleted_rows": []}
        return self.send(editor.proto.id, string_value=json.dumps(typed))

    def click_cell(self, picture, step, index=""):
        """A click on a cell: of a picture of charts, or of the flow."""
        if picture == "flow":
            return self.click_part("look", "opened", {"step": step, "index": [*map(int, index.split(","))]})
        turn = int(self.table(picture)["turn"].iloc[0])
        points = {"selection": {"cell": [{"step": step, "index": index, "turn": turn}]}}
        return self.send(self.charts()[picture].proto.id, string_value=json.dumps(points))

    def look_at(self, **look):
        """Another query, head or step is looked at in the flow."""
        now = self.look()
        wanted = {name: look.get(name, now[name]) for name in ("query", "head", "step", "stop")}
        return self.click_part("look", "looked", wanted)

    def click_part(self, name, event, value):
        (part,) = self.parts(name)
        trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
        return self.send(trigger, json_trigger_value=json.dumps([{"event": event, "value": value}]))

    def open_map(self):
        """The weights of the head that is looked at, as a map."""
        return self.look_at(step="weights")

    # ---- what a visitor sees
    def charts(self):
        return {chart.proto.id.rpartition("-")[2]: chart for chart in self.at.get("vega_lite_chart")}

    def table(self, picture):
        return convert_arrow_bytes_to_pandas_df(self.charts()[picture].proto.data.data)

    def flow(self):
        """What the picture of the flow is drawn from."""
        head, _ = self.packed("flow")
        return head

    def numbers(self, step):
        """A step as the picture has it."""
        head, found = self.packed("flow")
        numbers = np.frombuffer(found["numbers"], np.float64)
        described = head["steps"][step]
        count = math.prod(described["shape"])
        return numbers[described["first"] :][:count].reshape(described["shape"])

    def weight(self, query, key, head=0):
        """The number behind a share."""
        cut = self.flow()["cut"]
        if cut:
            assert (cut["head"], cut["query"]) == (head, query)
            return float(self.numbers("weights")[0, 0, 0, cut["keys"].index(key)])
        return float(self.numbers("weights")[self.look()["batch"], head, query, key])

    def blocked(self, head=0):
        at = (self.look()["batch"], head)
        scores, weights = self.numbers("masked_scores")[at], self.numbers("weights")[at]
        return int((np.isneginf(scores) & (weights == 0)).sum())

    def heads(self):
        """What stands on the rail."""
        return [f"{head['name']}: {head['habit']}" for head in self.flow()["head_names"]]

    def look(self):
        """What is looked at, and the sum of the opened cell."""
        (part,) = self.parts("look")
        return json.loads(part.proto.json, parse_constant=pytest.fail)  # NaN is no JSON

    def maps(self):
        """The maps of the heads, which show how the weights changed."""
        return [name for name in self.charts() if name.startswith("map")]

    def packed(self, name):
        """What a canvas was told, and the bytes that came with it, by name."""
        (part,) = self.parts(name)
        return unpack(part.proto.bytes)

    def slider(self, key):
        """What a slider that the picture follows was told."""
        (part,) = self.parts(f"c_{key}")
        return json.loads(part.proto.json)

    def held(self, key):
        """What stands in a control."""
        return self.slider(key)["typed"]["number"] if self.parts(f"c_{key}") else self.widget(key).value

    def steps(self):
        """The steps on the strip, in order."""
        return self.flow()["strip"]

    def open_step(self, step):
        """A click on a small map of the strip."""
        assert step in self.steps()
        return self.look_at(step=step)

    def fact(self):
        """What the row does; of two runs beside each other what changed most."""
        headings = [plain(text.value) for text in self.at.markdown if text.value.startswith("##### ")]
        return headings[0].removeprefix("##### ") if headings else self.look()["fact"]["text"]

    def words(self, axis="T"):
        """The words that ask, or "S", those that are asked."""
        return self.flow()["words"][axis]

    def origins(self, axis="T"):
        """Where the vectors of the words come from."""
        return self.flow()["origins"][axis]

    def swaps(self):
        """The words that may be exchanged."""
        return [plain(button.label) for button in self.at.button if (button.key or "").startswith("swap")]

    def parts(self, name):
        """The parts of this name that are on the screen: none, or one."""
        return [part for part in self.at.get("bidi_component") if part.proto.id.endswith(f"-{name}")]

    def pieces(self):
        return self.look()["sum"]["pieces"]

    def follow(self, step, index):
        """A click on a number of the arithmetic, or on a cell of the way back."""
        return self.click_part("look", "followed", {"step": step, "index": index})

    def captions(self):
        return [plain(caption.value) for caption in self.at.caption]

    def errors(self):
        return [plain(error.value) for error in self.at.error]

    def link(self):
        return dict(self.at.query_params)

    def setup(self):
        return self.at.session_state["setup"]

    def error_at(self, key):
        """The refusal that stands directly under a control."""
        order = [node for node in walk(self.at._tree) if getattr(node, "key", None) or node.type == "error"]
        moved = re.compile(rf"{re.escape(key)}(_\d+)?")
        at = next(n for n, node in enumerate(order) if moved.fullmatch(getattr(node, "key", None) or ""))
        following = order[at + 1 : at + 2]
        return plain(following[0].value) if following and following[0].type == "error" else None


USUAL_GAP = GapSize.SMALL
KNOWN = ("value", "raw_value", "raw_values", "set_value", "deferred_file_id")  # to the browser already, or to nobody
KNOWN += ("js_content", "css_content", "html_content")  # the same in every run


def unpack(whole):
    """What a component was told, and the bytes that came with it, by name."""
    length = int.from_bytes(whole[:4], "little")
    head = json.loads(whole[4 : 4 + length])
    at, found = 4 + length + -length % 4, {}
    for key, size in head["bytes"].items():
        found[key] = whole[at : at + size]
        at += size + -size % 4
    return head, found


def drawn_by(node):
    """An element as the browser has it: what it is, and what stands in it."""
    if node.proto is None:
        return node.type
    proto = type(node.proto).FromString(node.proto.SerializeToString())
    if node.type == "bidi_component" and proto.id.endswith("-flow"):  # the look in it is where a browser begins
        head, found = unpack(proto.bytes)
        proto.bytes = repr([name_and_value for name_and_value in head.items() if name_and_value[0] != "look"]).encode()
        proto.bytes += b"".join(found.values())
    for field in {*KNOWN} & {*getattr(proto.DESCRIPTOR, "fields_by_name", ())}:
        proto.ClearField(field)
    there = node.type in ("button", "file_uploader")  # a moment's value, and what the browser itself holds
    return node.type, str(proto), None if there else repr(getattr(node, "value", None))


def part_blocks(node):
    """The parts of a page in order, through the columns and boxes that they stand in."""
    for child in node.children.values():
        if not isinstance(child, Block):
            continue
        if is_part(child):
            yield child
        else:
            yield from part_blocks(child)


def is_part(block):
    """Whether a block was made by a part: Streamlit gives it a plain one of the usual gap."""
    proto = block.proto
    is_plain = block.type == "flex_container" and not proto.allow_empty and not proto.id
    return is_plain and proto.flex_container.gap_config.gap_size == USUAL_GAP


def walk(node):
    for child in getattr(node, "children", {}).values():
        yield child
        yield from walk(child)


def softmax(scores, at):
    powers = [math.exp(score) for score in scores]
    return powers[at] / sum(powers)


def it_to_dog(sharpness):
    """The weight of dog for "it", whose scores are 6 for dog, -6 for Anna and 0 for five others, times a factor."""
    return softmax([-6 * sharpness, 0, 0, 6 * sharpness, 0, 0, 0], 3)


def score_of(screen, query, key, head=0):
    """The score of a pair on the screen's run."""
    return cache.trace_for(screen.setup())["scores"][0, head, query, key].item()
