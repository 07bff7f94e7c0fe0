"""The workbench draws its picture first; with what follows, it is the page that is drawn at once."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.session import fragments
from tests.screen.driver import ROOT, Screen
from tests.screen.kept_parts import KeptPartsScreen

draw_first = fragments.draw_first


@pytest.mark.parametrize("link", [{}, {"ex": "model_en_decoder"}, {"lang": "zh", "mode": "qkv"}])
def test_the_picture_comes_first_and_with_the_rest_the_page_is_whole(link, monkeypatch):
    at_once = KeptPartsScreen(**link)
    asked = []
    monkeypatch.setattr(fragments, "draw_first", draw_first)
    with monkeypatch.context() as nobody_asks:
        nobody_asks.setattr(KeptPartsScreen, "click_part", lambda screen, *message: asked.append(message))
        screen = KeptPartsScreen(**link)
    drawn = screen.at.session_state["drawn"]
    assert {name for name, shows in drawn.items() if shows != fragments.NOT_DRAWN} == {
        "show_flow",
        "show_look",
        "keep_lecture",
        "ask_for_rest",
    }
    assert asked == [("rest", "drawn", True)]  # as a browser does that has the picture
    assert screen.click_part(*asked[0]).parts_drawn() == at_once.parts_drawn()


def component_names(at):
    """The components of a page in the order in which they stand there."""
    return [part.proto.id.rpartition("-")[2] for part in at.get("bidi_component")]


def test_what_is_held_back_is_asked_for_behind_all_that_the_page_begins_with(monkeypatch):
    monkeypatch.setattr(fragments, "draw_first", draw_first)
    # Streamlit drops what a new run's parts have not sent yet, and sends what comes behind them: its page then stops
    begun = AppTest.from_file(ROOT / "pages" / "app" / "router.py", default_timeout=60).run()
    first, *names = component_names(begun)
    assert first == "spoken"  # with the style sheet
    assert names == ["flow", "look", "seeker", "kept_lecture", "connection", "unfinished", "rest"]
    last = max(node for node in begun.main.children)
    assert begun.main.children[last].get("bidi_component")[0].proto.id.endswith("-rest")
    assert "rest" not in component_names(Screen().at)
