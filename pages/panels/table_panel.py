"""The opened step as a table: for keyboards and screen readers, to search, to sort, to copy and to save."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.session.labels import place_names
from pages.session.view import Scene
from pages.site.words import say

if TYPE_CHECKING:
    import pandas as pd


def show_table(scene: Scene) -> None:
    """The matrix that is looked at, all its digits, rows and columns called as on the map."""
    step = scene.setup.step
    if step is None or step not in scene.trace:
        return
    drawer = st.expander(say("table.title"), icon=":material/table:", key="table", on_change="rerun")
    if drawer.open:
        with drawer:
            st.dataframe(table(scene, step))


def table(scene: Scene, step: str) -> "pd.DataFrame":
    """The last two axes of a step as the map draws them: numbers, or differences where the map shows those."""
    import pandas as pd  # a third of a second, which no page needs to begin

    trace = scene.drawn(step)
    found = trace.step(step)
    values = found.window(**found.leading(scene.look.at))
    rows, columns = ("", *found.dims)[-2:] if values.ndim == 1 else found.dims[-2:]
    values = values.reshape(-1, values.shape[-1])
    named = [
        place_names(trace, axis, size) if axis else [step]
        for axis, size in zip((rows, columns), values.shape, strict=True)
    ]
    return pd.DataFrame(values, index=named[0], columns=named[1])
