"""Shows the page "present": the scenes of a lecture in large type, or the presenter view, or the overview of the
lecture.
"""

import streamlit as st

from pages.lectures import lecture_session
from pages.panels import model_controls
from pages.presentation import desk, speaker_notes, stage
from pages.workbench import input_controls, mask_controls, matrix_editors, mechanism_controls

CONTROLS_WIDTH_PX = 250  # in pixels: the width of the column of run controls beside a scene

lecture_session.enter_lecture()
session = lecture_session.get_lecture_session()
if session.view == lecture_session.NOTES_VIEW:
    if session.scene_step is None:
        lecture_session.start_lecture()
    speaker_notes.show_notes()
elif session.scene_step is None:
    desk.show_desk()
else:
    with st.container(horizontal=True, gap="medium"):  # always the same container, so that an animation in it continues
        with st.container(width="stretch"):
            stage.show_stage()
        if session.drawer:
            with st.container(width=CONTROLS_WIDTH_PX):
                input_controls.show_input_controls()
                model_controls.show_layer_choice()
                mask_controls.show_mask_controls()
                mechanism_controls.show_scale_control()
                mechanism_controls.show_temperature_control()
    if session.drawer:
        matrix_editors.show_origins()
        matrix_editors.show_editors()
