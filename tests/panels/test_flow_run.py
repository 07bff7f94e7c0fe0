"""What is kept of a run's picture: each language has its own, and who gets it may change it."""

import pytest

from attention_core.explanation.facts import row_fact
from pages.panels import flow_run
from pages.panels.flow_run import flow_run_for, row_facts_for
from pages.session.view import make_screen_state
from pages.setup.setup import Setup
from pages.site.words import use_language


@pytest.fixture
def screen():
    return make_screen_state(Setup(), None)


def test_each_language_has_its_own_names(screen):
    names = {}
    for language in ("en", "zh", "en"):
        with use_language(language):
            names[language] = {part["name"]: part["label"] for part in flow_run_for(screen).described}
    assert (names["en"]["weights"], names["zh"]["weights"]) == ("weights", "权重")
    letters = ("x", "q", "k", "v")
    assert [names["en"][letter] for letter in letters] == ["vector", "query", "key", "value"]
    assert [names["zh"][letter] for letter in letters] == ["向量", "查询", "键", "值"]
    assert [names["en"][step] for step in ("head_outputs", "concat", "output")] == ["sum", "all heads", "output"]
    assert [names["zh"][step] for step in ("head_outputs", "concat", "output")] == ["求和", "所有头", "输出"]
    shorter = {part["name"]: part["short"] for part in flow_run_for(screen).described}
    assert [shorter[step] for step in ("q", "concat", "output")] == ["q", "heads", "· W"]


def test_what_one_visitor_does_to_it_no_other_sees(screen):
    first = flow_run_for(screen)
    first.described.clear()
    first.steps["weights"]["kind"] = "signed"
    row_facts_for(screen)[0].clear()
    again = flow_run_for(screen)
    assert again.steps["weights"]["kind"] == "share"
    assert "weights" in [part["name"] for part in again.described]
    assert row_facts_for(screen)[0][5] == row_fact(screen.trace, head=0, query=5)


def test_of_many_rows_the_head_that_is_looked_at_is_read(screen, monkeypatch):
    assert list(row_facts_for(screen)) == [0, 1]
    monkeypatch.setattr(flow_run, "MAX_READ_ROWS", 13)  # of 14
    assert list(row_facts_for(screen)) == [screen.selection.head]
