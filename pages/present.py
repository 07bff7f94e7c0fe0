"""A lecture, shown: one scene after the other in large type, with keys; and the desk where it is built."""

import streamlit as st

from pages.shared import (
    controls,
    editors,
    input_controls,
    lecture_desk,
    lectures,
    mask_controls,
    speaker_notes,
    stage,
)

lectures.enter()
if lectures.talk().view == lectures.NOTES:
    lectures.begin_notes()
    speaker_notes.notes()
elif lectures.talk().beat is None:
    lecture_desk.desk()
else:
    if lectures.talk().drawer:
        with st.sidebar:
            input_controls.input_controls()
            mask_controls.mask_controls()
            controls.scale_control()
            controls.temperature_control()
    stage.stage()
    if lectures.talk().drawer:
        editors.editors()
