"""Defines how a notebook gets the picture of a Trace, an Explanation, a Proof, a Diagnosis or a Stack."""

from importlib import import_module


class NotebookPicture:
    """An object that a notebook shows as an HTML picture."""

    def _repr_html_(self) -> str:
        """Return the picture as HTML; Jupyter, VS Code and Colab call this method to show an object.

        The module that draws is imported at the first call and by its name, because it imports the classes that it
        draws, and `import attention_core` need not wait for it.
        """
        return import_module("attention_core.notebook.pictures").draw_html(self)
