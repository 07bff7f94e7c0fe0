"""A lecture, shown: one scene after the other in large type, with keys; and the desk where it is built."""

import streamlit as st

from pages.lectures import lecture_session
from pages.presentation import desk, speaker_notes, stage
from pages.workbench import input_controls, mask_controls, matrix_editors, mechanism_controls

lecture_session.enter_lecture()
session = lecture_session.get_lecture_session()
if session.view == lecture_session.NOTES_VIEW:
    lecture_session.start_notes_view()
    speaker_notes.show_notes()
elif session.scene_step is None:
    desk.show_desk()
elif session.drawer:
    shown, controls = st.columns([4, 1])
    with controls:
        input_controls.show_input_controls()
        mask_controls.show_mask_controls()
        mechanism_controls.show_scale_control()
        mechanism_controls.show_temperature_control()
    with shown:
        stage.show_stage()
    matrix_editors.show_editors()
else:
    stage.show_stage()
