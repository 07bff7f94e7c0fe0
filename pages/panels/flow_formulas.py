"""The formula of each part of the picture, each symbol in the colour of its object."""

from collections.abc import Sequence

from attention_core.drawing.flow import FlowPart
from attention_core.drawing.flow_graph import FlowGraph, is_mark
from attention_core.drawing.flow_stops import part_family
from attention_core.explanation.formula import SYMBOL_LETTERS, colour_family
from attention_core.explanation.formula_tree import Tree, formula_tree
from pages.session.labels import inline_step_name
from pages.site.words import say

SPECIAL_CHARACTERS = "\\{}_^&"


def list_formulas(graph: FlowGraph, parts: Sequence[FlowPart]) -> dict[str, Tree]:
    """The equation of each computed part as a tree of MathML elements, by the part's name."""
    writer = FormulaWriter(graph, parts)
    return {part.name: writer.write_equation(part.name) for part in parts if graph.trace.step(part.name).operation}


class FormulaWriter:
    """Writes formulas with the symbols of the picture; a step that is not drawn is replaced by its own formula."""

    def __init__(self, graph: FlowGraph, parts: Sequence[FlowPart]):
        self.trace = graph.trace
        self.graph = graph
        self.parts = {part.name: part for part in parts}

    def write_equation(self, name: str) -> Tree:
        """The equation of a part: its symbol = its right side."""
        return formula_tree(f"{self.write_symbol(name)} = {self.write_right(name)}")

    def write_right(self, name: str) -> str:
        """The right side of a step's equation. A sum inside a product gets brackets."""
        step = self.trace.step(name)
        is_move = self.graph.is_move(step)

        def write(operand: str) -> str:
            text = self.write_operand(operand)
            return f"({text})" if " + " in text and not is_move else text

        right = step.operation.formula(write)
        return right.replace(r"\text{else}", rf"\text{{{say('formula.else')}}}")

    def write_operand(self, name: str) -> str:
        """The symbol of a step if it is drawn, an input or a mask; otherwise the right side of its equation."""
        step = self.trace.step(name)
        is_named = name in self.parts or step.operation is None or is_mark(step)
        return self.write_symbol(name) if is_named else self.write_right(name)

    def write_symbol(self, name: str) -> str:
        """The letter of a step, otherwise its short name, in the step's colour."""
        text = SYMBOL_LETTERS.get(name)
        if text is None:
            escaped = "".join(f"\\{sign}" if sign in SPECIAL_CHARACTERS else sign for sign in inline_step_name(name))
            text = rf"\mathrm{{{escaped}}}"
        part = self.parts.get(name)
        family = part_family(part) if part else colour_family(name)
        return rf"\textcolor{{{family}}}{{{text}}}" if family else text
