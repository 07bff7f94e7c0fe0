"""Glossary and history: every line leads to a place where what it names is seen."""

import pytest

from pages.site.milestones import MILESTONES
from pages.site.signs import GLOSSARY_SIGNS
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

PLACES = [(sign.key, sign.slug, sign.link) for sign in GLOSSARY_SIGNS]


def links(page):
    return [(link.proto.page or "workbench", link.proto.query_string) for link in page.at.get("page_link")]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_sign_stands_there_with_its_name_in_both_languages(lang):
    glossary = Lesson("glossary", lang=lang)
    for sign in GLOSSARY_SIGNS:
        assert f"${sign.latex}$" in [text.value for text in glossary.at.markdown], sign
        for each in LANGUAGES if lang == "zh" else ("en",):
            assert glossary.says(load_app_texts(each)[f"lessons.glossary.name.{sign.key}"]), sign
    assert len(links(glossary)) == len(GLOSSARY_SIGNS)


def test_a_sign_is_found_by_any_of_its_names():
    glossary = Lesson("glossary", lang="en").set("find", "查询")
    assert glossary.says("**query**") and not glossary.says("**key**")
    assert glossary.link()["find"] == "查询"
    assert not glossary.says("No matching symbol.")
    assert links(glossary.set("find", "no such thing")) == []
    assert glossary.says("No matching symbol.")


@pytest.mark.parametrize("key, slug, link", PLACES, ids=[key for key, *_ in PLACES])
def test_where_a_sign_leads_it_is_seen(key, slug, link):
    if slug == "workbench":
        screen = Screen(**link)
        assert screen.errors() == []
        assert screen.setup().step == link.get("step")
        return
    lesson = Lesson(slug, **link)
    assert lesson.errors() == []
    assert lesson.charts()


@pytest.mark.parametrize("milestone", MILESTONES)
def test_where_a_milestone_leads_it_is_seen(milestone):
    slug, link = MILESTONES[milestone]
    lesson = Lesson(slug, **link)
    assert lesson.errors() == []
    assert lesson.charts()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_history_is_told_in_the_order_of_the_years(lang):
    history = Lesson("history", lang=lang)
    years = [int(text.strip("*")) for text in history.texts() if text.strip("*").isdigit()]
    assert years == sorted(years) and len(years) == len(MILESTONES)
    assert len(links(history)) == len(MILESTONES)


LIMITS = {"en": ("limit", "the longer the sentence"), "zh": ("局限", "句子越长")}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_limits_of_one_vector_are_told_of_who_found_them(lang):
    """Sutskever et al. write that long sentences were no difficulty; Cho et al. show where they are."""
    told = {name: load_app_texts(lang)[f"lessons.history.{name}"] for name in MILESTONES}
    claimed, found = LIMITS[lang]
    assert claimed not in told["2014_seq2seq"]
    assert "On the Properties of Neural Machine Translation" in told["2014_cho"] and found in told["2014_cho"]
    assert MILESTONES["2014_cho"] == ("bottleneck", {"task": "reversal"})  # where a curve falls with the length


def test_the_curve_of_one_vector_falls_with_the_length():
    lesson = Lesson("bottleneck", task="reversal", lang="en")
    points = lesson.table("hero")
    one = points[(points["name"] == "one vector") & (points["kind"] == "point")].sort_values("x")["y"]
    assert one.iloc[0] > 0.9 and one.iloc[-1] < 0.1


@pytest.mark.parametrize("slug, asks", [("glossary", False), ("history", False), ("start", True)])
def test_only_what_hides_an_answer_can_reveal_it(slug, asks):
    assert ("c_reveal" in [toggle.key for toggle in Lesson(slug).at.toggle]) is asks
