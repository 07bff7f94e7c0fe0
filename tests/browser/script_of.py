"""A module of the pages as a script that gives a test its functions."""

from pages.components.modules import variable_of, write_constants


def script_of(name: str) -> str:
    """A script after which what a module of pages/components exports is there by its name."""
    return f"{write_constants(name)}Object.assign(window, {variable_of(name)});\n"
