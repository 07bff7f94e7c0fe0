"""The parameters that the mechanisms declare, as settings that can be swept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from attention_core import Trace
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.parameters import Parameter
from attention_core.mechanism.positions import POSITIONS
from pages.runs.run_inputs import RunInputs
from pages.setup.choice_text import write_choice, write_position
from pages.setup.resolve import config_of, to_positions_field
from pages.setup.setup import Setup
from pages.site.words import say
from pages.workbench.modifier_controls import write_modifiers
from pages.workbench.sweep_values import SetupChange, SweptValue

TABLES = (POSITIONS, MODIFIERS, NORMALISERS)


@dataclass(frozen=True)
class SweptParameter:
    """A parameter of a mechanism, as a setting that can be swept. owner: the mechanism's name. others: all parameters
    that the mechanism declares.
    """

    owner: str
    parameter: Parameter
    others: tuple[Parameter, ...]

    def chosen(self, setup: Setup) -> Mapping[str, object] | None:
        """Returns the mechanism's current parameters; None if the mechanism is not chosen."""
        config = config_of(setup.run)
        return dict((*config.positions, *config.modifiers, config.normaliser)).get(self.owner)

    def values(self, setup: Setup, trace: Trace, inputs: RunInputs) -> tuple[SweptValue, ...]:
        """Returns the values to sweep; () if the parameter has no effect here."""
        params = self.chosen(setup)
        usual = {parameter.name: parameter.usual for parameter in self.others}
        beside = self.parameter.beside
        if params is None or (beside and params[beside] == usual[beside]):
            return ()
        return self.parameter.words or self.parameter.swept

    def now(self, setup: Setup, trace: Trace, inputs: RunInputs) -> SweptValue | None:
        """Returns the current value; None if the mechanism is not chosen."""
        params = self.chosen(setup)
        return None if params is None else params[self.parameter.name]

    def change(self, setup: Setup, value: SweptValue) -> SetupChange:
        """Returns the changed fields of a Setup for another value of this parameter."""
        config = config_of(setup.run)
        params = {**self.chosen(setup), self.parameter.name: value}
        if self.owner in NORMALISERS:
            return {"normaliser": write_choice(self.owner, params, NORMALISERS)}
        if self.owner in MODIFIERS:
            return {"modifiers": write_modifiers({**dict(config.modifiers), self.owner: params})}
        positions = {**dict(config.positions), self.owner: params}
        return {"positions": to_positions_field(setup.run, tuple(write_position(*each) for each in positions.items()))}

    def format_value(self, value: SweptValue) -> str:
        """Formats a value: the label of a word, or a number without trailing zeros."""
        return say(f"parameter_word.{value}") if self.parameter.words else f"{value:g}"


def list_swept_parameters() -> Iterator[tuple[str, SweptParameter]]:
    """Yields every parameter that can be swept, with its name."""
    for table in TABLES:
        for owner, entry in table.items():
            for parameter in entry.parameters:
                if parameter.words or parameter.swept:
                    yield f"{owner}_{parameter.name}", SweptParameter(owner, parameter, entry.parameters)
