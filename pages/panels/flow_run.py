"""Computes, once per run, the data of the flow picture that do not depend on the selection."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core import Trace
from attention_core.drawing.flow import (
    FlowGraph,
    FlowPart,
    flow_parts,
    flow_stops,
    largest_numbers,
    part_family,
    part_sign,
)
from attention_core.explanation.facts import RowFact
from attention_core.explanation.formula import SYMBOL_LETTERS, colour_family
from attention_core.explanation.formula_tree import Tree, formula_tree
from attention_core.explanation.head_habits import list_row_facts
from pages.panels.flow_numbers import (
    Products,
    describe_product,
    find_product,
    is_too_large,
    list_unsent_matrices,
    pack_steps,
)
from pages.runs.cache import cache_by_setup
from pages.session.labels import inline_step_name
from pages.session.view import ScreenState
from pages.setup.setup import RunSetup
from pages.site.words import current_language, has, say

MAX_READ_ROWS = 2048  # if all heads have more rows, only those of the selected head are analysed


@dataclass(frozen=True)
class FlowRun:
    """The data of the flow picture that depend on the run, and not on the selection.

    parts: the drawn steps. described: these parts as data for the browser, with names in the page's language. largest:
    {part: the number whose bar fills a cell}. steps, numbers: the whole run, if it is sent as a whole, else {} and b"";
    at most MAX_WHOLE_NUMBERS of 8 bytes, no more than the Trace that is cached too.
    """

    parts: tuple[FlowPart, ...]
    described: list[dict]
    stops: list[dict]
    largest: dict[str, float]
    steps: dict[str, dict]
    numbers: bytes


def flow_run_for(screen: ScreenState) -> FlowRun:
    """Returns the FlowRun of the screen, as a copy of the cached one, so that the caller may change it."""
    return cached_flow_run(screen.setup.run, current_language(), screen.trace)


def list_motions(screen: ScreenState) -> tuple[str, ...]:
    """Returns the names of the animation's motions in order, each name once."""
    return tuple(dict.fromkeys(stop["motion"] for stop in flow_run_for(screen).stops))


@cache_by_setup
def cached_flow_run(run: RunSetup, language: str, _trace: Trace) -> FlowRun:
    graph = FlowGraph(_trace)
    parts = flow_parts(graph)
    is_whole = not is_too_large(_trace)
    unsent = list_unsent_matrices(_trace)
    products = {name: describe_product(_trace, name, unsent) for name in _trace.steps}
    steps, numbers = pack_steps(graph, products) if is_whole else ({}, b"")
    return FlowRun(
        parts=parts,
        described=describe_parts(graph, parts, products),
        stops=[vars(stop) for stop in flow_stops(parts)],
        largest=largest_numbers(_trace, parts),
        steps=steps,
        numbers=numbers,
    )


def describe_parts(graph: FlowGraph, parts: Sequence[FlowPart], products: Products) -> list[dict]:
    """Returns the data of each part (drawn step) for the browser: colour, symbol, label, formula, and the step that a
    click opens.
    """
    formulas = list_formulas(graph, parts)
    described = []
    for part in parts:
        looks = {
            "family": part_family(part),
            "sign": part_sign(graph.trace, part),
            "label": name_column(part.name),
            "short": name_shortly(graph.trace, part),
            "opens": find_product(graph, products, part.name),
            "formula": formulas.get(part.name),
        }
        described.append(vars(part) | looks)
    return described


def name_column(step: str) -> str:
    """Returns the label of a step's column in the picture: a word if there is one, else the step's short name."""
    key = f"flow.column.{step}"
    return say(key) if has(key) else inline_step_name(step)


def name_shortly(trace: Trace, part: FlowPart) -> str:
    """Returns a shorter label of a step's column, for a narrow picture: a shorter word if there is one, else its
    symbol.
    """
    key = f"flow.short.{part.name}"
    return say(key) if has(key) else part_sign(trace, part)


# ---- rows ------------------------------------------------------------------------------------------------------------
def row_facts_for(screen: ScreenState) -> dict[int, list[RowFact]]:
    """Returns how each query distributes its weight, as {head: facts about its rows}; with many rows, only for the
    selected head.
    """
    sizes, selection = screen.trace.sizes(), screen.selection
    are_few = sizes["H"] * sizes["T"] <= MAX_READ_ROWS
    heads = tuple(range(sizes["H"])) if are_few else (selection.head,)
    return cached_row_facts(screen.setup.run, selection.batch, heads, screen.trace)


@cache_by_setup
def cached_row_facts(run: RunSetup, batch: int, heads: tuple[int, ...], _trace: Trace) -> dict[int, list[RowFact]]:
    return {head: list_row_facts(_trace, head, batch) for head in heads}


# ---- the formula of each part ----------------------------------------------------------------------------------------
SPECIAL_CHARACTERS = "\\{}_^&"


def list_formulas(graph: FlowGraph, parts: Sequence[FlowPart]) -> dict[str, Tree]:
    """Returns the equation of each computed part as a tree of MathML elements, by the part's name."""
    writer = FormulaWriter(graph, parts)
    return {part.name: writer.write_equation(part.name) for part in parts if graph.trace.steps[part.name].operation}


class FormulaWriter:
    """Writes formulas with the symbols of the flow picture; a step that is not drawn is replaced by its own formula."""

    def __init__(self, graph: FlowGraph, parts: Sequence[FlowPart]):
        self.trace = graph.trace
        self.graph = graph
        self.families = {part.name: part_family(part) for part in parts}

    def write_equation(self, name: str) -> Tree:
        """Returns the equation of a part, with its symbol on the left, as a tree of MathML elements."""
        return formula_tree(f"{self.write_symbol(name)} = {self.write_right(name)}")

    def write_right(self, name: str) -> str:
        """Returns the right side of a step's equation in LaTeX, with brackets around a sum inside a product."""
        step = self.trace.steps[name]
        is_move = name in self.graph.moves

        def write(operand: str) -> str:
            text = self.write_operand(operand)
            return f"({text})" if " + " in text and not is_move else text

        right = step.operation.formula(write)
        return right.replace(r"\text{else}", rf"\text{{{say('formula.else')}}}")

    def write_operand(self, name: str) -> str:
        """Returns an operand in LaTeX: as a symbol if it is drawn, an input or a mask, else as the right side of its
        equation.
        """
        step = self.trace.steps[name]
        is_named = name in self.families or step.operation is None or name in self.graph.marks
        return self.write_symbol(name) if is_named else self.write_right(name)

    def write_symbol(self, name: str) -> str:
        """Returns a step's symbol in LaTeX, coloured as the step: its letter if it has one, else its short name."""
        text = SYMBOL_LETTERS.get(name)
        if text is None:
            escaped = "".join(f"\\{sign}" if sign in SPECIAL_CHARACTERS else sign for sign in inline_step_name(name))
            text = rf"\mathrm{{{escaped}}}"
        family = self.families.get(name) or colour_family(name)
        return rf"\textcolor{{{family}}}{{{text}}}" if family else text
