"""What a part of a lesson shows in a file, drawn out of sight in a session of its own."""

from streamlit.testing.v1 import AppTest


def draw_part(slug: str, name: str = "picture", language: str = "en", **choices: str) -> object:
    """The part as the files of a lecture have it. choices: as its link says them."""
    args = (slug, name, language, tuple(choices.items()))
    drawn = AppTest.from_function(draw_out_of_sight, args=args, default_timeout=120).run()
    assert not drawn.exception
    return drawn.session_state["shown"]


def draw_out_of_sight(slug: str, name: str, language: str, choices: tuple[tuple[str, str], ...]) -> None:
    """Runs as a page does, which imports for itself."""
    import streamlit as st

    from pages.lectures.kinds.lesson import LessonPart
    from pages.presentation.lesson_slide import collect_lesson_part
    from pages.site.words import use_language

    with use_language(language):
        st.session_state["shown"] = collect_lesson_part(LessonPart(slug, name, choices))
