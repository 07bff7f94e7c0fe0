"""Which attention for which task: every row is computed, and leads to a place without a refusal."""

import json
from functools import cache
from urllib.parse import parse_qsl

import pytest

from attention_core.variants.task_costs import TASK_COSTS, task_cost
from pages.site.words import load_app_texts
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

UNITS = {"en": {10**9: "billion", 10**6: "million"}, "zh": {10**8: "亿", 10**4: "万"}}


def written(count, lang):
    """Three digits and a unit of the language from a million on, else all digits."""
    if count < 10**6:
        return f"{count:,}"
    unit, name = next((unit, name) for unit, name in UNITS[lang].items() if unit <= count)
    return f"{float(f'{count / unit:.3g}'):g} {name}"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_task_says_what_it_takes_at_the_chosen_length(lang):
    lesson = Lesson("choice", lang=lang)
    for length in (1024, 64):
        lesson.set("length", length)
        for task in TASK_COSTS:
            cost = task_cost(task, length)
            assert lesson.says(load_app_texts(lang)[f"lessons.choice.name.{task}"])
            assert lesson.says(f"**{written(cost.multiply_adds, lang)}**")
            assert cost.kept is None or lesson.says(written(cost.kept, lang))


@pytest.mark.parametrize("lang, every", [("en", "1.07 billion multiply-adds"), ("zh", "10.7 亿次乘加")])
def test_the_headline_says_large_counts_in_the_units_of_the_language(lang, every):
    """2 x 1,024 x 1,024 x 512 products: 1,073,741,824."""
    assert every in Lesson("choice", lang=lang, length="1024").fact()


@pytest.mark.parametrize(
    "slug, english, chinese", [("choice", "picture", "zh_picture"), ("glossary", "en_it_sink", "zh_ta_sink")]
)
def test_a_link_leads_to_the_example_in_the_language_of_the_page(slug, english, chinese):
    for lang, own, other in (("en", english, chinese), ("zh", chinese, english)):
        opened = {"all": "True"} if slug == "glossary" else {}
        links = [link.proto.query_string for link in Lesson(slug, **opened, lang=lang).at.get("page_link")]
        examples = [part for link in links for part in link.split("&")]
        assert f"ex={own}" in examples and f"ex={other}" not in examples


@cache
def links_by_task(lang):
    """The page ("" is the workbench) and the parameters of each row's link, as the page has it."""
    links = [link.proto for link in Lesson("choice", lang=lang).at.get("page_link")]
    return {task: (link.page, dict(parse_qsl(link.query_string))) for task, link in zip(TASK_COSTS, links, strict=True)}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("task", TASK_COSTS)
def test_every_row_opens_a_state_that_is_all_read(task, lang):
    slug, link = links_by_task(lang)[task]
    opened = Lesson(slug, **link, lang=lang) if slug else Screen(**link, lang=lang)
    assert not opened.errors()
    if "open" in link:
        assert any(box.proto.expanded for box in opened.at.expander)


def test_every_task_has_a_picture_of_its_own():
    """The causal one leaves half of the pairs but the diagonal blank: 7 words, 21 pairs."""
    lesson = Lesson("choice")
    parts = {task: lesson.parts(f"task_{task}")[0] for task in TASK_COSTS}
    pictures = {task: json.loads(part.proto.json)["shapes"] for task, part in parts.items()}
    assert len({str(shapes) for shapes in pictures.values()}) == len(TASK_COSTS)
    assert [kind for kind, *_ in pictures["write"]].count("frame") == 7 * 6 // 2
    assert [kind for kind, *_ in pictures["long"]].count("frame") == 7 * 7 - 7 - 2 * 6
