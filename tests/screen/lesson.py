"""A lesson without a browser: what a reader does there, and sees."""

import json
import math
import re
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.screen.driver import KINDS, LONGEST_RUN, ROOT, Screen, plain, unpack


def record_of(slug: str):
    """The record of a lesson."""
    return import_module(f"pages.lessons.{slug}.drawers").LESSON


def told_text(data: dict, position: int) -> str:
    """A sentence that follows a slider, as Markdown."""
    pieces = [f"**{piece}**" if number % 2 else piece for number, piece in enumerate(data["texts"][position])]
    return ("##### " if data["kind"] == "heading" else "") + "".join(pieces)


def told_to(part) -> object:
    """What a part of the page was told; in a picture that follows sliders with the rows that came as bytes."""
    if not part.proto.bytes:
        return json.loads(part.proto.json or "null", parse_constant=pytest.fail)
    head, found = unpack(part.proto.bytes)
    rows = json.loads(found["rows"], parse_constant=pytest.fail) if "rows" in found else {}
    return head | rows


FIGURE_PATTERN = re.compile(r"\**([−\d.e]*\d)(?: × 10([⁻⁰¹²³⁴-⁹]+))?")
FORMULA_OR_CODE = re.compile(r"\$[^$]+\$|`[^`]*`")
RAW_SYMBOL = re.compile(r"(?<![\w.])[A-Za-z]\\?_[A-Za-z0-9]{1,2}\b")
PLAIN_SIGNS = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")


class Lesson:
    """One session on one page. Every run must end without an exception."""

    def __init__(self, slug: str, **link: str):
        self.slug = slug
        self.at = AppTest.from_file(ROOT / "pages" / "app" / "router.py", default_timeout=LONGEST_RUN)
        self.at.query_params.update(link)
        Screen.outside = link.get("lang", "en")
        self.go_to(slug)

    def ran(self, act, *args) -> "Lesson":
        act(*args)
        assert not self.at.exception, [(e.message, e.stack_trace) for e in self.at.exception]
        return self

    def go_to(self, slug: str) -> "Lesson":
        # before its first run, switch_page tells pages by their files' names alone
        self.at._page_hash = calc_hash(slug)
        self.ran(self.at.run)
        awaits = [part for part in self.parts("look") if json.loads(part.proto.json)["awaits"]]
        return self.send_part("rest", "drawn", True) if awaits else self  # the workbench comes after its picture

    # ---- what a reader does
    def widgets(self) -> dict:
        """Every control of the lesson by its name."""
        found = [widget for kind in KINDS for widget in self.at.get(kind) if widget.key]
        return {w.key.split(".")[1]: w for w in found if w.key.startswith(f"{self.slug}.")}

    def set(self, name: str, value: object) -> "Lesson":
        if self.parts(f"{self.slug}.{name}"):  # a slider that the picture follows
            return self.send_part(f"{self.slug}.{name}", "released", value)
        return self.ran(self.widgets()[name].set_value(value).run)

    def open(self, *names: str) -> "Lesson":
        """Opens drawers, as a link does."""
        return Lesson(self.slug, **{**self.link(), "open": ",".join(names)})

    def press(self, key: str) -> "Lesson":
        return self.ran(next(button for button in self.at.button if button.key == key).click().run)

    def send(self, widget_id: str, **value) -> "Lesson":
        """What the browser sends for a part without a Python face."""
        states = self.at._tree.get_widget_states()
        for old in [state for state in states.widgets if state.id == widget_id]:
            states.widgets.remove(old)
        state = states.widgets.add(id=widget_id)
        for kind, given in value.items():
            setattr(state, kind, given)
        return self.ran(self.at._run, states)

    def choose(self, name: str, *shown: str) -> "Lesson":
        """Presses choices in a row by what stands on them."""
        states, widget = self.at._tree.get_widget_states(), self.widgets()[name]
        for old in [state for state in states.widgets if state.id == widget.id]:
            states.widgets.remove(old)
        states.widgets.add(id=widget.id).string_array_value.data.extend(shown)
        return self.ran(self.at._run, states)

    def send_part(self, name: str, event: str, value: object) -> "Lesson":
        """What a part without a Python face tells."""
        (part,) = self.parts(name)
        trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
        return self.send(trigger, json_trigger_value=json.dumps([{"event": event, "value": value}]))

    def type_cells(self, name: str, cells: object) -> "Lesson":
        """What a grid of number fields tells of the cells that were typed into."""
        (part,) = self.parts(name)
        told = json.loads(part.proto.json)
        return self.send_part(
            name, "typed", {"version": told["version"], "serial": told["answered"] + 1, "cells": cells}
        )

    def follow(self, picture: str, step: str, index: list[int]) -> "Lesson":
        """A click on an operand of the arithmetic under a picture, or on a cell of the way back."""
        return self.send_part(f"arithmetic_{self.slug}_{picture}", "followed", {"step": step, "index": index})

    def click_cell(self, picture: str, step: str, index: str) -> "Lesson":
        if picture in self.followers():
            cell = {"step": step, "index": [*map(int, index.split(","))]}
            return self.send_part(f"{self.slug}_{picture}", "clicked", cell)
        turn = int(self.table(picture)["turn"].iloc[0])
        points = {"selection": {"cell": [{"step": step, "index": index, "turn": turn}]}}
        return self.send(self.charts()[picture].proto.id, string_value=json.dumps(points))

    # ---- what a reader sees
    def parts(self, name: str) -> list:
        """The parts of this name that are on the page."""
        return [part for part in self.at.get("bidi_component") if part.proto.id.endswith(f"-{name}")]

    def slider(self, name: str) -> dict:
        """What a slider that the picture follows was told."""
        (part,) = self.parts(f"{self.slug}.{name}")
        return json.loads(part.proto.json)

    def following(self) -> list[tuple[str, dict]]:
        """What follows sliders: by key, what it was told."""
        return self.once_a_run("following", self.read_following)

    def once_a_run(self, name: str, read: Callable[[], object]) -> object:
        """What is read off the page under this name, until the page is drawn anew."""
        found = self.at._tree.__dict__.setdefault("found", {})
        if name not in found:
            found[name] = read()
        return found[name]

    def read_following(self) -> list[tuple[str, dict]]:
        told = [(part, told_to(part)) for part in self.at.get("bidi_component")]
        return [(part.proto.id, data) for part, data in told if isinstance(data, dict) and "position" in data]

    def followers(self) -> dict[str, dict]:
        """The pictures that follow sliders, by name; curves by what a screen reader says of them, too."""
        found = {}
        for key, data in self.following():
            if "frames" in data:
                found |= {key.partition(f"-{self.slug}_")[2]: data, data["alt"]: data}
        return found

    def rows_at(self, picture: str, position: int) -> list[dict]:
        """What stands in a picture at a position of its slider, with all that the browser takes as usual."""
        data = self.followers()[picture]
        return [{**data["usual"], **row} for row in (*data["fixed"], *data["frames"][position])]

    def charts(self) -> dict:
        """The pictures by name; curves, in which nothing is clicked, by what a screen reader says of them."""
        charts = self.at.get("vega_lite_chart")
        found = {chart.proto.id.rpartition("-")[2] or chart.proto.alt: chart for chart in charts}
        return {name.removeprefix(f"{self.slug}_"): chart for name, chart in found.items()} | self.followers()

    def table(self, picture: str) -> pd.DataFrame:
        """The cells of a picture."""
        return self.once_a_run(f"table {picture}", lambda: self.read_table(picture))

    def read_table(self, picture: str) -> pd.DataFrame:
        followers = self.followers()
        if picture in followers:
            return pd.DataFrame(self.rows_at(picture, followers[picture]["position"]))
        return convert_arrow_bytes_to_pandas_df(self.charts()[picture].proto.data.data)

    def has_picture(self) -> bool:
        """Whether anything is drawn."""
        pictures = ("flow", "tokens", *(f"{self.slug}_{name}" for name in ("walk", "threads", "shelves", "hero")))
        return bool(self.charts() or any(map(self.parts, pictures)))

    def threads(self, picture: str = "hero", way: int | None = None) -> dict[tuple[str, str], float | None]:
        """The weights between two lines of words by who asks and who is asked. way: another direction than is shown."""
        (part,) = self.parts(f"{self.slug}_{picture}")
        data = json.loads(part.proto.json, parse_constant=pytest.fail)
        shown = data["ways"][data["way"] if way is None else way]
        asking, asked = data["lines"][shown["asks"]], data["lines"][1 - shown["asks"]]
        pairs = ((asker, row) for asker, row in zip(asking, shown["weights"], strict=True))
        return {(asker, key): weight for asker, row in pairs for key, weight in zip(asked, row, strict=True)}

    def flow(self):
        """What the picture of the flow is drawn from, and its numbers."""
        (part,) = self.parts("flow")
        return unpack(part.proto.bytes)

    def flow_numbers(self, step: str):
        """A step as the picture of the flow has it."""
        head, found = self.flow()
        described = head["steps"][step]
        numbers = np.frombuffer(found["numbers"], np.float64)[described["first"] :]
        return numbers[: math.prod(described["shape"])].reshape(described["shape"])

    def weight(self, query: str, key: str, head: int = 1) -> float:
        """The share that the picture of the flow has."""
        words = self.flow()[0]["words"]
        return float(self.flow_numbers("weights")[0, head - 1, words["T"].index(query), words["S"].index(key)])

    def number(self, picture: str, what: str, row: int | None = None) -> float:
        """The number of a drawn cell by what it says, such as "weights [head 1, it, dog]"."""
        cells = self.table(picture)
        cells = cells[(cells["what"] == what) & (cells["kind"] != "chosen") & (cells["kind"] != "read")]
        (found,) = (cells if row is None else cells[cells["panel"] == f"row{row}"])["value"]
        return float(found.replace("−", "-"))

    def texts(self) -> list[str]:
        return [plain(text.value) for text in self.at.markdown] + self.told()

    def told(self, at: int | None = None) -> list[str]:
        """The sentences that follow sliders. at: another position than the one at which the slider stands."""
        told = [data for _, data in self.following() if "texts" in data and data["kind"] != "goal"]
        return [told_text(data, data["position"] if at is None else at) for data in told]

    def goals(self) -> dict[str, bool]:
        """What is said of what is to be built, and whether it is there."""
        goals = [data for _, data in self.following() if data.get("kind") == "goal"]
        found = {told_text(data, data["position"]): data["reached"][data["position"]] for data in goals}
        found |= {plain(box.value): True for box in self.at.success}
        return found | {plain(box.value): False for box in self.at.info}

    def raw_symbols(self) -> list[str]:
        """The symbols of its texts whose index is not set low, such as W_q outside of formulas and code."""
        told = [*self.at.markdown, *self.at.caption]
        return [symbol for text in told for symbol in RAW_SYMBOL.findall(FORMULA_OR_CODE.sub("", text.value))]

    def says(self, part: str) -> bool:
        return any(part in text for text in self.texts())

    def figure(self, words: str) -> float:
        """The number that one text says behind these words."""
        (behind,) = [text.partition(words)[2] for text in self.texts() if words in text]
        number, power = FIGURE_PATTERN.match(behind).groups(default="")
        return float(f"{number}e{power or 0}".translate(PLAIN_SIGNS))

    def fact(self) -> str:
        (found,) = [text for text in self.texts() if text.startswith("##### ")]
        return found.removeprefix("##### ")

    def errors(self) -> list[str]:
        return [plain(error.value) for error in self.at.error]

    def link(self) -> dict[str, str]:
        return {key: value[0] if isinstance(value, list) else value for key, value in self.at.query_params.items()}
