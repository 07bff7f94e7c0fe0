"""The formula of each part of the picture, as its operation writes it, each symbol in the colour of its object."""

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
    """The equation of every part that is computed, as a tree of MathML elements."""
    writer = FormulaWriter(graph, parts)
    return {part.name: writer.write_equation(part.name) for part in parts if graph.trace.step(part.name).operation}


class FormulaWriter:
    """Writes formulas with the names that stand in the picture; what is not drawn stands as what it is made of."""

    def __init__(self, graph: FlowGraph, parts: Sequence[FlowPart]):
        self.trace = graph.trace
        self.graph = graph
        self.parts = {part.name: part for part in parts}

    def write_equation(self, name: str) -> Tree:
        """A part's symbol, and what it is made of."""
        return formula_tree(f"{self.write_symbol(name)} = {self.write_right(name)}")

    def write_right(self, name: str) -> str:
        """What a step is made of. A sum in a product stands in brackets."""
        step = self.trace.step(name)
        is_move = self.graph.is_move(step)

        def write(operand: str) -> str:
            text = self.write_operand(operand)
            return f"({text})" if " + " in text and not is_move else text

        right = step.operation.formula(write)
        return right.replace(r"\text{else}", rf"\text{{{say('formula.else')}}}")

    def write_operand(self, name: str) -> str:
        """The symbol of a step, or what it is made of where it is not drawn."""
        step = self.trace.step(name)
        is_named = name in self.parts or step.operation is None or is_mark(step)
        return self.write_symbol(name) if is_named else self.write_right(name)

    def write_symbol(self, name: str) -> str:
        """The letter of a step, else its name over the column, in its colour."""
        text = SYMBOL_LETTERS.get(name)
        if text is None:
            escaped = "".join(f"\\{sign}" if sign in SPECIAL_CHARACTERS else sign for sign in inline_step_name(name))
            text = rf"\mathrm{{{escaped}}}"
        part = self.parts.get(name)
        family = part_family(part) if part else colour_family(name)
        return rf"\textcolor{{{family}}}{{{text}}}" if family else text
