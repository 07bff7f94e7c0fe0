"""Parts of a page are known by their names: no two may have the same one."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.session import fragments
from tests.screen.driver import ROOT, Screen


@pytest.fixture
def names(monkeypatch):
    """No part is known yet."""
    for known in ("PART_DEPENDENCIES", "DRAWING"):
        monkeypatch.setattr(fragments, known, {})
    return fragments.PART_DEPENDENCIES


def module(name):
    """A module that has one part."""
    space = {"__name__": name, "part": fragments.page_part}
    exec("@part(lambda scene: None)\ndef strip(scene): ...", space)
    return space


def test_a_second_part_of_one_name_is_refused(names):
    module("pages.panels.one")
    first = names["strip"]
    with pytest.raises(ValueError, match=r"strip is in pages\.panels\.one and pages\.panels\.other"):
        module("pages.panels.other")
    assert names["strip"] is first


def test_a_second_part_of_one_name_in_the_same_module_is_refused(names):
    space = module("pages.panels.one")
    with pytest.raises(ValueError, match=r"strip is in pages\.panels\.one and pages\.panels\.one"):
        exec("@part(lambda scene: None)\ndef strip(scene): ...", space)


def test_a_module_that_is_loaded_anew_enters_its_parts_again(names):
    module("pages.panels.one")
    first = names["strip"]
    module("pages.panels.one")
    assert names["strip"] is not first


def component_names(at):
    """The components of a page in the order in which they stand there."""
    return [part.proto.id.rpartition("-")[2] for part in at.get("bidi_component")]


def test_what_is_held_back_is_asked_for_behind_all_that_the_page_begins_with():
    # Streamlit drops what a new run's parts have not sent yet, and sends what comes behind them: its page then stops
    begun = AppTest.from_file(ROOT / "pages" / "app" / "router.py", default_timeout=60).run()
    assert component_names(begun) == ["flow", "look", "seeker", "rest"]
    last = max(node for node in begun.main.children)
    assert begun.main.children[last].get("bidi_component")[0].proto.id.endswith("-rest")
    assert "rest" not in component_names(Screen().at)
