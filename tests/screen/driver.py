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
from streamlit.commands import page_config
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.bidi_component import serialization
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.runtime import fragment
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.testing.v1.element_tree import Block, ElementTree

from pages.runs import cache
from pages.session.side_panel import LINK_KEY, PANEL_KEY, row_key
from pages.setup.resolve import config_of
from pages.site.controls import CONTROLS, FILE, MATRICES, MORE, RESEARCH
from pages.site.words import WORD_JOINER
from pages.workbench.layer_controls import USUAL_HEAD_COUNTS
from pages.workbench.mask_controls import CAUSAL, CUSTOM, RARE_MASKS, list_usual_masks
from pages.workbench.parameter_controls import NORMS, RARE_POSITIONS, list_modifiers, list_usual_positions

LONGEST_RUN = 250  # seconds: a page that is not drawn by then hangs; on a busy machine a long one took more than 60
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
# The drawers of the workbench, which show nothing while they are closed.
DRAWERS = ("export", "proof", "arrays", "step_drawer", "model_figures")
ON_THE_LINE_OF_THE_TEXT = ("pasted_lines", "swap_word", "examples")  # beside it; what is refused stands under the line
PANELS = (MORE, RESEARCH, MATRICES, FILE)  # of which one stands beside the picture
ROWS = [control.row for control in CONTROLS.values() if control.row] + ["cut", "ramp"]  # "device" is a popover
PANEL_OF = {control.widget: control.panel for control in CONTROLS.values()}
PARTS_OF_CHOICES = {  # what a visitor chooses at several places -> those places, each with a function of what it offers
    "masks": {"causal": lambda: [CAUSAL], "masks": list_usual_masks, "rare_masks": lambda: RARE_MASKS},
    "positions": {"positions": list_usual_positions, "rare_positions": lambda: RARE_POSITIONS},
    "modifiers": {"norms": lambda: NORMS, "modifiers": list_modifiers},
}
config.set_option("client.showErrorDetails", "full")
# Every AppTest looks through all installed packages for components; none comes or goes while tests run.
manifest_scanner.scan_component_manifests = cached(manifest_scanner.scan_component_manifests)
# Every run of an AppTest compiles its scripts anew; none changes while tests run.
local_script_runner.ScriptCache = app_test.ScriptCache = cached(app_test.ScriptCache)
# Every run makes a mock of the server anew, which takes a twentieth of the run; one serves them all.
app_test.MagicMock = cached(app_test.MagicMock)
# Every run decodes the icon of the app anew, which stays the same.
page_config._get_favicon_string = cached(page_config._get_favicon_string)
# Streamlit looks for data frames in everything that a component is given; ours are given none.
serialization.is_dataframe_like = lambda value: False
# Streamlit copies, at each part of a page, what it needs to draw that part alone later; an AppTest draws whole pages.
fragment.deepcopy = lambda kept: kept
# Streamlit copies the whole state for every box of text or choices, to look up one key in it.
SafeSessionState.filtered_state = property(lambda state: state)
# Streamlit hashes every message, for a cache in the browser.
script_run_context.populate_hash_if_needed = lambda message: None
# Streamlit looks for a newer request at every access to the state; an AppTest sends its next one after a run.
ScriptRunner._maybe_handle_execution_control_request = lambda runner: None
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True


def wait_for_script(runner, timeout):
    """Waits for the end of the run's thread; Streamlit's own function looks a thousand times a second."""
    runner._script_thread.join(timeout)
    assert runner.script_stopped(), f"the page was not drawn in {timeout} s"


local_script_runner.require_widgets_deltas = wait_for_script


def iterate_listed_nodes(tree):
    """Iterates over all nodes of a page from a list; Streamlit climbs through all blocks for each type of element."""
    if "nodes" not in vars(tree):
        tree.nodes = [*Block.__iter__(tree)]
    return iter(tree.nodes)


ElementTree.__iter__ = iterate_listed_nodes


def plain(markdown):
    """What Markdown that `literal` wrote shows."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(WORD_JOINER, "")


class Screen:
    """One session. Every run must end without an exception.

    It opens with the drawers that are named. The others are closed, until something is looked for that is not on the
    screen: then all are opened, as a visitor does who looks for it.
    """

    outside = "en"  # the language of the session that runs, for what AppTest asks outside of it

    def __init__(self, *drawers, **link):
        self.at = AppTest.from_file(ROOT / "pages" / "app" / "router.py", default_timeout=LONGEST_RUN)
        self.at.query_params.update(link)
        self.opened = {*drawers}
        for drawer in drawers:
            self.mark_open(drawer)
        self.at.run()
        assert not self.at.exception, [(e.message, e.stack_trace) for e in self.at.exception]
        Screen.outside = self.language = self.look()["language"][:2]
        if self.look()["awaits"]:  # the browser has the picture, and asks for the rest
            self.click_part("rest", "drawn", True)

    def ran(self, act, *args):
        Screen.outside = self.language
        act(*args)
        assert not self.at.exception, [(e.message, e.stack_trace) for e in self.at.exception]
        self.language = self.look()["language"][:2]
        return self

    def open(self, *drawers):
        """Opens drawers; all of them where none is named."""
        self.at.session_state[row_key("device")] = True
        closed = {*(drawers or DRAWERS)} - self.opened
        for drawer in closed:
            self.mark_open(drawer)
        self.opened |= closed
        return self.ran(self.at.run) if closed else self

    def mark_open(self, drawer):
        """Opens a drawer, or a panel with all its rows, when the page runs the next time."""
        if drawer not in PANELS:
            self.at.session_state[drawer] = True
            return
        self.at.session_state[PANEL_KEY] = drawer
        for row in ROWS:
            self.at.session_state[row_key(row)] = True

    def open_panel(self, panel):
        """Opens a panel with all its rows in the place of the one that is open."""
        self.mark_open(panel)
        for drawer in self.opened - {*PANELS}:  # Streamlit forgets those that were in another panel
            self.mark_open(drawer)
        return self.ran(self.at.run)

    def seek(self, find, key=""):
        """What is found on the screen; where that is nothing, in the panel of this control, or wherever it is."""
        panel = PANEL_OF.get(f"c_{key}")
        if not find() and panel:
            self.open_panel(panel)
        elif not find() and key == "device":
            self.at.session_state[row_key(key)] = True
            self.ran(self.at.run)
        if not find():
            self.open()
        for other in PANELS:
            if not find():
                self.open_panel(other)
        return find()

    # ---- what a visitor does
    def widget(self, key):
        found = self.seek(lambda: self.widgets(key), key)
        assert len(found) == 1, (key, found)
        return found[0]

    def widgets(self, key):
        """The widgets of this name that are on the screen: none, or one."""
        named = {widget.key: widget for kind in KINDS for widget in self.at.get(kind)}
        numbered = re.compile(rf"c_{key}_\d+")  # where something else moves the widget, too
        names = [f"c_{key}"] if f"c_{key}" in named else [name for name in named if numbered.fullmatch(name or "")]
        return [named[name] for name in names]

    def set(self, key, value):
        if (key, value) == ("mode", "file"):
            key = "way"
        if key == "heads" and value not in USUAL_HEAD_COUNTS:
            key = "any_heads"
        if key in PARTS_OF_CHOICES:
            return self.choose_several(key, value)
        self.seek(lambda: self.parts(f"c_{key}") or self.widgets(key), key)
        if self.parts(f"c_{key}"):  # a slider that the picture follows
            is_typed = self.slider(key)["typed"] is not None
            return self.click_part(f"c_{key}", "typed" if is_typed else "released", value)
        return self.ran(self.widget(key).set_value(value).run)

    def open_examples(self):
        """Opens the menu of examples, and gives what the browser draws of it."""
        self.at.session_state["examples"] = True
        self.ran(self.at.run)
        (menu,) = self.parts("examples_menu")
        return json.loads(menu.proto.json)

    def choose_example(self, name, again=False):
        """Opens the menu of examples and presses one of them."""
        self.open_examples()
        return self.click_part("examples_menu", "chosen", {"name": name, "again": again})

    def name(self):
        """The example that the button of the examples names."""
        (button,) = [block for block in self.at.get("popover") if block.proto.id.endswith("-examples")]
        return button.proto.popover.help

    def choose_several(self, key, names):
        """Chooses masks, positions or modifiers at each place that offers some of them, where something changes."""
        run = self.setup().run
        now = [name for name, _ in getattr(config_of(run), key)]
        if key == "masks" and run.allowed is not None:
            now.append(CUSTOM)
        for place, list_offered in PARTS_OF_CHOICES[key].items():
            chosen, chosen_now = ([name for name in given if name in list_offered()] for given in (names, now))
            if chosen != chosen_now:
                self.ran(self.widget(place).set_value(bool(chosen) if place == CAUSAL else chosen).run)
        return self

    def press(self, key):
        if key == "other_language":  # Streamlit closes what has another title then: a visitor opens it again
            beside = [self.at.session_state[PANEL_KEY]] if PANEL_KEY in self.at.session_state else []
            for drawer in {*self.opened, *beside} - {None}:
                self.mark_open(drawer)
        button, *_ = self.seek(lambda: [button for button in self.at.button if button.key == key])
        return self.ran(button.click().run)

    def press_labelled(self, label):
        button, *_ = self.seek(lambda: [button for button in self.at.button if button.label == label])
        return self.ran(button.click().run)

    def paste(self, text):
        """Into the box of the weight editors."""
        return self.ran(self.paste_box().set_value(text).run)

    def paste_box(self):
        return self.seek(lambda: [area for area in self.at.text_area if area.key.startswith("p_")])[0]

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
        (editor,) = self.seek(lambda: [frame for frame in self.at.get("dataframe") if frame.proto.id])
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
        return self.send(self.chart(picture).proto.id, string_value=json.dumps(points))

    def look_at(self, **look):
        """Another query, head or step is looked at in the flow."""
        now = self.look()
        wanted = {name: look.get(name, now[name]) for name in ("query", "head", "step", "stop")}
        return self.click_part("look", "looked", wanted)

    def click_part(self, name, event, value):
        (part,) = self.seek(lambda: self.parts(name))
        trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
        return self.send(trigger, json_trigger_value=json.dumps([{"event": event, "value": value}]))

    def open_map(self):
        """The weights of the head that is looked at, as a map."""
        return self.look_at(step="weights")

    # ---- what a visitor sees
    def charts(self):
        return {chart.proto.id.rpartition("-")[2]: chart for chart in self.at.get("vega_lite_chart")}

    def chart(self, picture):
        self.seek(lambda: picture in self.charts())
        return self.charts()[picture]

    def table(self, picture):
        return convert_arrow_bytes_to_pandas_df(self.chart(picture).proto.data.data)

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
        self.seek(lambda: self.parts(f"c_{key}") or self.widgets(key), key)
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

    def swap(self):
        """The exchange of a word that is offered; None if none is."""
        return next((plain(button.label) for button in self.at.button if button.key == "swap_word"), None)

    def parts(self, name):
        """The parts of this name that are on the screen: none, or one."""
        return [part for part in self.at.get("bidi_component") if part.proto.id.endswith(f"-{name}")]

    def pieces(self):
        return self.look()["sum"]["pieces"]

    def follow(self, step, index):
        """A click on a number of the arithmetic, or on a cell of the way back."""
        return self.click_part("look", "followed", {"step": step, "index": index})

    def captions(self):
        """What stands small anywhere, in the drawers, too."""
        self.open()
        return [plain(caption.value) for caption in self.at.caption]

    def errors(self):
        return [plain(error.value) for error in self.at.error]

    def link(self):
        """What the address says of the Setup, without the panel beside the picture."""
        return {key: text for key, text in dict(self.at.query_params).items() if key != LINK_KEY}

    def panel_link(self):
        """What the address says of the panel beside the picture."""
        return dict(self.at.query_params).get(LINK_KEY)

    def setup(self):
        return self.at.session_state["setup"]

    def error_at(self, key):
        """The refusal that stands directly under a control."""
        moved = re.compile(rf"{re.escape(key)}(_\d+)?")

        def from_control():
            order = [node for node in walk(self.at._tree) if getattr(node, "key", None) or node.type == "error"]
            order = [node for node in order if not str(getattr(node, "key", None)).startswith(ON_THE_LINE_OF_THE_TEXT)]
            places = (n for n, node in enumerate(order) if moved.fullmatch(getattr(node, "key", None) or ""))
            return order[next(places, len(order)) :]

        _, *following = self.seek(from_control, key.removeprefix("c_"))
        return plain(following[0].value) if following and following[0].type == "error" else None


def unpack(whole):
    """What a component was told, and the bytes that came with it, by name."""
    length = int.from_bytes(whole[:4], "little")
    head = json.loads(whole[4 : 4 + length])
    at, found = 4 + length + -length % 4, {}
    for key, size in head["bytes"].items():
        found[key] = whole[at : at + size]
        at += size + -size % 4
    return head, found


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
