"""Shows the page "present": a lecture's scenes in large type, the presenter view, or the overview of the lecture."""

import streamlit as st

from pages.lectures import lecture_session
from pages.presentation import desk, speaker_notes, stage
from pages.site.words import say
from pages.workbench import matrix_editors, sentence_box, settings_line

CONTROLS_WIDTH_PX = 250  # px: width of the column of run controls beside a scene

lecture_session.enter_lecture()
session = lecture_session.get_lecture_session()
if session.view == lecture_session.NOTES_VIEW:
    if session.scene_step is None:
        lecture_session.start_lecture()
    speaker_notes.show_notes()
elif session.scene_step is None:
    desk.show_desk()
else:
    shows_controls = session.drawer and session.missing is None
    # a container that always exists, so that an animation is not interrupted
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="stretch"):
            stage.show_stage()
        if shows_controls:
            with st.container(width=CONTROLS_WIDTH_PX):
                sentence_box.show_input_of_scene()
                settings_line.show_settings_of_scene()
    if shows_controls:
        matrix_editors.show_origins()
        editors = st.expander(say("editor.title"), icon=":material/edit:", key="editors", on_change="rerun")
        if editors.open:
            with editors:
                matrix_editors.show_editors()
