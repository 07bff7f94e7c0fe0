"""Writes the formulas of the flow picture, with the symbols of its columns."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from attention_core.documents.formulas import formula_shapes
from attention_core.drawing.flow import FlowGraph, FlowPart, flow_parts, part_family
from attention_core.drawing.palette import palette_for
from attention_core.explanation.formula import SYMBOL_LETTERS, colour_family
from pages.session.labels import current_palette, inline_step_name
from pages.session.view import ScreenState
from pages.site.words import say

# no colours: each family of symbols gets a CSS class, which the style sheet colours
CLASSES: Mapping[str, str] = MappingProxyType({})
SPECIAL_CHARACTERS = "\\{}_^&"
FILE_FORMULA_PX = 22.0  # letter size in a file of the picture, which is drawn for a screen 1280 px wide


def list_formulas(graph: FlowGraph, parts: Sequence[FlowPart], colours: Mapping[str, str] = CLASSES) -> dict[str, str]:
    """Returns the equation of each computed part in LaTeX, by the part's name.

    colours: {family of symbols: its colour}.
    """
    writer = FormulaWriter(graph, parts, colours)
    return {part.name: writer.write_equation(part.name) for part in parts if graph.trace.steps[part.name].operation}


def draw_formulas(screen: ScreenState) -> dict[str, dict]:
    """Returns the equation of each computed part as SVG shapes with their size, for a file of the picture."""
    graph = FlowGraph(screen.trace)
    palette = palette_for(screen.trace, current_palette())
    drawn = {}
    for part, formula in list_formulas(graph, flow_parts(graph), vars(palette)).items():
        drawn[part] = vars(formula_shapes(formula, palette.ink, FILE_FORMULA_PX))
    return drawn


class FormulaWriter:
    """Writes formulas with the symbols of the flow picture; a step that is not drawn is replaced by its own formula."""

    def __init__(self, graph: FlowGraph, parts: Sequence[FlowPart], colours: Mapping[str, str]):
        self.trace = graph.trace
        self.graph = graph
        self.families = {part.name: part_family(part) for part in parts}
        self.colours = colours

    def write_equation(self, name: str) -> str:
        """Returns the equation of a part in LaTeX, with its symbol on the left."""
        return f"{self.write_symbol(name)} = {self.write_right(name)}"

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
        """Returns an operand in LaTeX: its symbol if it is an input, a mask or a drawn step, else the right side of its
        equation.
        """
        step = self.trace.steps[name]
        is_named = name in self.families or step.operation is None or name in self.graph.marks
        return self.write_symbol(name) if is_named else self.write_right(name)

    def write_symbol(self, name: str) -> str:
        """Returns a step's symbol in LaTeX, in the step's colour: the step's letter if it has one, else
        its short name.
        """
        text = SYMBOL_LETTERS.get(name)
        if text is None:
            escaped = "".join(f"\\{sign}" if sign in SPECIAL_CHARACTERS else sign for sign in inline_step_name(name))
            text = rf"\text{{{escaped}}}"
        family = self.families.get(name) or colour_family(name)
        return rf"\textcolor{{{self.colours.get(family, family)}}}{{{text}}}" if family else text
