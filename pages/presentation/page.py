"""A lecture, shown: one scene after the other in large type, with keys; and the desk where it is built."""

import streamlit as st

from pages.lectures import talk
from pages.presentation import desk, speaker_notes, stage
from pages.workbench import input_controls, mask_controls, matrix_editors, mechanism_controls

talk.enter()
if talk.talk().view == talk.NOTES:
    talk.begin_notes()
    speaker_notes.notes()
elif talk.talk().beat is None:
    desk.desk()
else:
    if talk.talk().drawer:
        with st.sidebar:
            input_controls.input_controls()
            mask_controls.mask_controls()
            mechanism_controls.scale_control()
            mechanism_controls.temperature_control()
    stage.stage()
    if talk.talk().drawer:
        matrix_editors.editors()
