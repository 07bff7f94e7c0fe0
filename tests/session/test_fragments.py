"""Parts of a page are known by their names: no two may have the same one."""

import pytest

from pages.session import fragments


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
