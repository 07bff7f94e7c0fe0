"""Glossary and history: every line leads to a place where what it names is seen."""

import json
import math
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import pytest

from pages.lessons.glossary.sign_pictures import SIGN_PICTURES, draw_sign, surprise
from pages.lessons.history.milestone_pictures import draw_milestone
from pages.runs.cache import trace_for
from pages.setup.codec import setup_from_link
from pages.setup.setup import make_setup
from pages.setup.twins import link_in_language
from pages.site.milestones import MILESTONES
from pages.site.signs import GLOSSARY_SIGNS
from pages.site.words import LANGUAGES, load_app_texts
from tests.screen.lesson import Lesson

LED_TO = [(sign.slug, sign.link) for sign in GLOSSARY_SIGNS] + [*MILESTONES.values()]
PLACES = {  # each place once to which signs or milestones lead in English; in Chinese, where that is another place
    f"{slug}?{urlencode(link_in_language(slug, link, lang))}-{lang}": (slug, link_in_language(slug, link, lang), lang)
    for slug, link in LED_TO
    for lang in LANGUAGES
    if lang == "en" or link_in_language(slug, link, lang) != link
}


def links(page):
    return [(link.proto.page or "workbench", link.proto.query_string) for link in page.at.get("page_link")]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_sign_stands_there_with_its_name_in_both_languages(lang):
    glossary = Lesson("glossary", lang=lang, all="True")
    for sign in GLOSSARY_SIGNS:
        assert f"${sign.latex}$" in [text.value for text in glossary.at.markdown], sign
        for each in LANGUAGES if lang == "zh" else ("en",):
            assert glossary.says(load_app_texts(each)[f"lessons.glossary.name.{sign.key}"]), sign
    assert len(links(glossary)) == len(GLOSSARY_SIGNS)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_group_names_its_signs_and_draws_them_once_it_is_open(lang):
    words = load_app_texts(lang)
    groups = list(dict.fromkeys(sign.group for sign in GLOSSARY_SIGNS))
    glossary = Lesson("glossary", lang=lang)
    lines = [drawer.label for drawer in glossary.at.expander]
    assert len(lines) == len(groups) and links(glossary) == []
    for group, line in zip(groups, lines, strict=True):
        names = [words[f"lessons.glossary.name.{sign.key}"] for sign in GLOSSARY_SIGNS if sign.group == group]
        assert words[f"lessons.glossary.group.{group}"] in line and all(name in line for name in names), group
    glossary.at.session_state["glossary.group.masks"] = True
    glossary.ran(glossary.at.run)
    assert len(links(glossary)) == sum(sign.group == "masks" for sign in GLOSSARY_SIGNS)


def test_every_sign_has_a_picture_that_stays_on_its_field():
    assert {sign.key for sign in GLOSSARY_SIGNS} == {*SIGN_PICTURES}
    parts = [part for part in Lesson("glossary", all="True").at.get("bidi_component") if "-sign_" in part.proto.id]
    assert len(parts) == len(GLOSSARY_SIGNS)
    for part in parts:
        shapes = json.loads(part.proto.json)["shapes"]
        numbers = [number for _, _, _, *numbers in shapes for number in numbers if not isinstance(number, str)]
        assert shapes and all(-1 <= number <= 161 for number in numbers), part.proto.id


def test_the_pictures_of_signs_have_the_numbers_of_their_runs():
    """By hand: the shares of 2, 1, 0, -1; the causal triangle of seven words; -ln 0.03; the names of a matrix' axes."""
    bars = [shape[-1] for shape in draw_sign("softmax") if shape[:2] == ("rect", "share")]
    powers = [math.exp(number) for number in (2, 1, 0, -1)]
    assert bars == pytest.approx([74 * power / sum(powers) for power in powers], abs=0.06)
    assert sum(shape[0] == "frame" for shape in draw_sign("causal")) == 21
    assert surprise(np.array([0.03, 1.0])) == pytest.approx([-math.log(0.03), 0.0])
    assert [shape[-1] for shape in draw_sign("q") if shape[0] == "text"] == ["T", "dₖ"]


def test_a_sign_is_found_by_any_of_its_names():
    glossary = Lesson("glossary", lang="en").set("find", "查询")
    assert glossary.says("**query**") and not glossary.says("**key**")
    assert glossary.link()["find"] == "查询"
    assert not glossary.says("No matching symbol.")
    assert links(glossary.set("find", "no such thing")) == []
    assert glossary.says("No matching symbol.")


@pytest.mark.parametrize("place", PLACES)
def test_where_a_sign_or_a_milestone_leads_it_is_seen_in_the_language_of_the_page(place):
    slug, link, lang = PLACES[place]
    if slug == "workbench":
        setup, unread = setup_from_link(link)
        assert unread == [] and setup.view.step in {None, *trace_for(setup).steps}
        assert setup.view.step == link.get("step")
        assert setup.run.example.startswith("zh_") == (lang == "zh")
        assert (setup.run.more or "").isascii() == (lang == "en" or "more" not in link)
        return
    lesson = Lesson(slug, **link, lang=lang)
    assert lesson.errors() == []
    assert lesson.has_picture()


def timeline(page):
    """What the line of years was told."""
    (part,) = page.parts("timeline")
    return json.loads(part.proto.json)["entries"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_history_is_told_in_the_order_of_the_years(lang):
    entries = timeline(Lesson("history", lang=lang))
    years = [int(entry["year"]) for entry in entries]
    assert years == sorted(years) and [entry["key"] for entry in entries] == [*MILESTONES]
    assert len({str(entry["shapes"]) for entry in entries}) == len(MILESTONES)  # each has a picture of its own
    words = load_app_texts(lang)
    for entry in entries:
        assert entry["text"] == words[f"lessons.history.{entry['key']}"]
        slug, link = MILESTONES[entry["key"]]
        address = urlsplit(entry["address"])
        assert (address.path, dict(parse_qsl(address.query))) == (slug, {"lang": lang, **link})


@pytest.mark.parametrize("made_up", ["nowhere", 3, None, ["1990_elman"]])
def test_a_milestone_that_a_browser_made_up_leads_nowhere(made_up):
    history = Lesson("history").send_part("timeline", "opened", made_up)
    assert history.errors() == [] and timeline(history)


def test_an_arrow_key_of_one_page_does_not_lead_on_from_the_lesson_that_is_opened_next():
    glossary = Lesson("glossary").send_part("arrows", "moved", "next")
    (visit,) = glossary.go_to("qkv").parts("visited")
    assert json.loads(visit.proto.json)["slug"] == "qkv"


def test_a_state_that_gates_keep_hears_farther_than_one_that_each_step_overwrites():
    """Elman's first state is heard less than that of the LSTM: the pictures' own numbers, and those of a naive loop."""
    plain, kept = (draw_milestone(name) for name in ("1990_elman", "1997_lstm"))
    (plain, *_), (kept, *_) = (
        [shape[2] for shape in shapes if shape[:2] == ("dot", "share")] for shapes in (plain, kept)
    )
    assert plain < 0.6 < kept


def test_one_vector_writes_long_texts_no_more():
    """The curve of Cho et al. ends on the line at 0."""
    line, curve = draw_milestone("2014_cho")
    heights = curve[4::2]
    assert heights[0] < 20 and heights[-1] == line[4]


def test_the_alignment_is_the_trained_networks_own():
    weights = trace_for(make_setup(example="learned_dates"))["weights"][0, 0]
    threads = [shape for shape in draw_milestone("2015_bahdanau") if shape[0] == "line"]
    assert max(shape[2] for shape in threads) == pytest.approx(weights.max().item(), abs=0.005)


def test_what_masks_leave_out_is_an_empty_frame():
    """The causal triangle and every second word, by hand, for a sentence of seven words."""
    frames = {name: sum(shape[0] == "frame" for shape in draw_milestone(name)) for name in MASKED}
    assert frames == MASKED


MASKED = {"2018_gpt": 21, "2019_child": 21 + 12, "2020_longformer": 49 - 7 - 6 - 6 - 5 - 5, "2024_sinks": 0}


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
