"""A session without a browser: what a visitor does, and sees. Numbers are read off the pictures."""

import json
import logging
import math
import re
from functools import cache as cached
from pathlib import Path

import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

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
OPEN = ("editors", "export", "proof", "arrays")  # the drawers, which show nothing while they are closed
config.set_option("client.showErrorDetails", "full")
# Every AppTest looks through all installed packages for components; none comes or goes while tests run.
manifest_scanner.scan_component_manifests = cached(manifest_scanner.scan_component_manifests)
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
        self.language, self.drawn = "en", {}
        self.ran(self.at.run)

    def ran(self, act, *args):
        Screen.outside = self.language
        act(*args)
        assert not self.at.exception, [(e.message, e.stack_trace) for e in self.at.exception]
        self.language = self.tiles()["language"][:2]
        before, self.drawn = self.drawn, self.parts_drawn()
        for name, (shows, drawn) in self.drawn.items():
            if name != "show_run" and before.get(name, (None,))[0] == shows:  # a browser would have kept it
                assert before[name][1] == drawn, name
        return self

    def parts_drawn(self):
        """What each part of the page says that it shows, and all that it drew."""
        main, sidebar = self.at._tree.children[0], self.at._tree.children[1]
        _, page = main.children.values()  # before it stands the part that shows nothing and lets a page come back
        blocks = [*sidebar.children.values(), *page.children.values()]
        shown = self.at.session_state["drawn"]
        return {
            name: (shows, [drawn_by(node) for node in walk(block)])
            for (name, shows), block in zip(shown.items(), blocks, strict=True)
        }

    # ---- what a visitor does
    def widget(self, key):
        found = [widget for kind in KINDS for widget in self.at.get(kind) if widget.key == f"c_{key}"]
        assert len(found) == 1, (key, found)
        return found[0]

    def set(self, key, value):
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
        turn = int(self.table(picture)["turn"].iloc[0])
        points = {"selection": {"cell": [{"step": step, "index": index, "turn": turn}]}}
        return self.send(self.charts()[picture].proto.id, string_value=json.dumps(points))

    def click_part(self, name, event, value):
        (part,) = self.parts(name)
        trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
        return self.send(trigger, json_trigger_value=json.dumps([{"event": event, "value": value}]))

    # ---- what a visitor sees
    def charts(self):
        return {chart.proto.id.rpartition("-")[2]: chart for chart in self.at.get("vega_lite_chart")}

    def table(self, picture):
        return convert_arrow_bytes_to_pandas_df(self.charts()[picture].proto.data.data)

    def weight(self, query, key, head=0):
        """The number behind a cell of a head's map."""
        cells = self.table(f"map{head}")
        (row,) = cells[cells["index"] == f"0,{head},{query},{key}"].to_dict("records")
        return float(row["value"].replace("−", "-"))

    def blocked(self, head=0):
        cells = self.table(f"map{head}")
        return int((cells["kind"] == "blocked").sum())

    def maps(self):
        return [name for name in self.charts() if name.startswith("map")]

    def packed(self, name):
        """What a canvas was told, and the bytes that came with it, by name."""
        (part,) = self.parts(name)
        whole = part.proto.bytes
        length = int.from_bytes(whole[:4], "little")
        head = json.loads(whole[4 : 4 + length])
        at, found = 4 + length + -length % 4, {}
        for key, size in head["bytes"].items():
            found[key] = whole[at : at + size]
            at += size + -size % 4
        return head, found

    def steps(self):
        """The steps on the strip, in order."""
        return [small["opens"] for small in self.packed("strip")[0]["maps"]]

    def open_step(self, step):
        """A click on a small map of the strip."""
        assert step in self.steps()
        return self.click_part("strip", "opened", step)

    def fact(self):
        (found,) = [text.value for text in self.at.markdown if text.value.startswith("##### ")]
        return plain(found.removeprefix("##### "))

    def tiles(self, name="tiles"):
        (part,) = self.parts(name)
        return json.loads(part.proto.json, parse_constant=pytest.fail)  # NaN is no JSON

    def parts(self, name):
        """The parts of this name that are on the screen: none, or one."""
        return [part for part in self.at.get("bidi_component") if part.proto.id.endswith(f"-{name}")]

    def arithmetic(self):
        (part,) = self.parts("arithmetic")
        return json.loads(part.proto.json)

    def pieces(self):
        return self.arithmetic()["pieces"]

    def follow(self, step, index):
        """A click on a number of the arithmetic, or on a cell of the way back."""
        return self.click_part("arithmetic", "followed", {"step": step, "index": index})

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
        at = next(n for n, node in enumerate(order) if getattr(node, "key", None) == key)
        following = order[at + 1 : at + 2]
        return plain(following[0].value) if following and following[0].type == "error" else None


KNOWN = ("value", "raw_value", "raw_values", "set_value", "deferred_file_id")  # to the browser already, or to nobody


def drawn_by(node):
    """An element as the browser has it: what it is, and what stands in it."""
    if node.proto is None:
        return node.type
    proto = type(node.proto).FromString(node.proto.SerializeToString())
    for field in {*KNOWN} & {*getattr(proto.DESCRIPTOR, "fields_by_name", ())}:
        proto.ClearField(field)
    there = node.type in ("button", "file_uploader")  # a moment's value, and what the browser itself holds
    return node.type, str(proto), None if there else repr(getattr(node, "value", None))


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
