"""What all lessons have in common: they open, remember, refuse, restore, and lead to the workbench."""

import json
import math
import statistics
from dataclasses import fields
from functools import cache
from itertools import combinations

import pytest

from attention_core.drawing.palette import Palette
from pages.app.page_list import list_pages
from pages.lessons.frame import Tabs
from pages.lessons.start.card_pictures import draw_card
from pages.site.catalog import ADVANCED, COURSE, DOORS, LESSONS, PAGES, PAGES_BY_SLUG, PAGES_FOLDER, PATH
from pages.site.words import LANGUAGES, escape_markdown, load_app_texts, use_language
from tests.screen.driver import plain, unpack, walk
from tests.screen.lesson import Lesson, record_of
from tests.session.test_hostile_words import HOSTILE


def drawers(slug):
    """The names that open the drawers of a lesson; the last one is that of its sources, its method and its code."""
    record = record_of(slug)
    return [*record.drawers, "code" if record.code else "method"]


PRESSED = ("button_group", "select_slider")  # set by what stands on them


def ends(widget):
    """The first and the last of what a control can be set to."""
    if widget.type in ("selectbox", *PRESSED):
        return [widget.options[0], widget.options[-1]]
    if widget.type == "toggle":
        return [True, False]
    if widget.type in ("slider", "number_input"):
        return [widget.min, widget.max]
    return []


@cache
def open_first(slug):
    """A lesson as it opens, for tests that only read it."""
    return Lesson(slug, lang="en")


def wide(picture):
    """The name of a picture, without the sign of the one that a phone shows in its place."""
    return picture.removesuffix("_narrow")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", LESSONS)
def test_a_lesson_opens_computed_with_its_question_and_a_lecturer_reveals_every_answer(slug, lang):
    lesson = Lesson(slug, lang=lang)
    assert lesson.says(load_app_texts(lang)[f"lessons.{slug}.question"])
    assert lesson.errors() == [] and lesson.raw_symbols() == []
    assert lesson.has_picture()
    (seen,) = lesson.parts("seen_drawers")
    assert json.loads(seen.proto.json)["drawn"] == [f"{slug}.drawer.{name}" for name in drawers(slug)]
    hidden = lesson.charts()
    lesson.ran(next(t for t in lesson.at.toggle if t.key == "c_reveal").set_value(True).run)
    assert {*map(wide, lesson.charts())} >= {*map(wide, hidden)}
    assert all("?" not in [*lesson.table(picture).get("text", [])] for picture in lesson.charts())


@pytest.mark.parametrize("slug", LESSONS)
def test_the_words_of_a_lesson_name_the_drawers_and_tabs_of_its_record(slug):
    """Search and lectures read the names of drawers from the words: they stand below the lessons."""
    record = record_of(slug)
    assert record.slug == slug and 1 <= len(record.drawers) <= 4
    for words in map(load_app_texts, LANGUAGES):
        assert [*record.drawers] == names_under(f"lessons.{slug}.drawer.", words)
        for draw in record.drawers.values():
            if isinstance(draw, Tabs):
                assert {*draw.tabs} == {*names_under(f"lessons.{slug}.option.{draw.control}.", words)}


def names_under(beginning, words):
    return [key.removeprefix(beginning) for key in words if key.startswith(beginning)]


@pytest.mark.slow
@pytest.mark.parametrize("slug", LESSONS)
def test_all_drawers_open_from_a_cold_link_and_every_control_goes_to_its_ends(slug):
    lesson = Lesson(slug, open=",".join(drawers(slug)), lang="en")
    assert lesson.errors() == []
    for name in lesson.widgets():
        widget = lesson.widgets().get(name)  # another control may have taken it away
        for value in ends(widget) if widget else []:
            lesson.choose(name, value) if widget.type in PRESSED else lesson.set(name, value)
    again = Lesson(slug, **lesson.link())
    assert again.link() == lesson.link()
    assert again.texts() == lesson.texts()


@pytest.mark.parametrize("slug", LESSONS)
def test_what_of_a_link_cannot_be_read_is_named_and_the_rest_is_shown(slug):
    lesson = Lesson(slug, nonsense="1", open="nowhere", lang="en")
    assert len(lesson.errors()) == 2
    assert any("nonsense=1" in error and "nothing here is called nonsense" in error for error in lesson.errors())
    assert any("open=nowhere" in error and "cannot be read" in error for error in lesson.errors())
    assert lesson.has_picture()


@pytest.mark.parametrize("slug", LESSONS)
def test_hostile_links_show_texts_as_texts(slug):
    bad = "<script>alert(1)</script>[x](javascript:alert(1))"
    names = [
        key.removeprefix(f"lessons.{slug}.control.")
        for key in load_app_texts("en")
        if f"lessons.{slug}.control." in key
    ]
    lesson = Lesson(slug, **dict.fromkeys((*names, "ex", "open", "cell", "guess", "step"), bad), lang="en")
    opened = lesson.open(*drawers(slug))
    assert opened.has_picture()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_start_here_asks_one_question_and_opens_every_door(lang):
    start = Lesson("start", open="one_word", lang=lang)
    who, dog, her = ("it", "dog", "Anna") if lang == "en" else ("它", "狗", "小红")
    head = load_app_texts(lang)["place.head"].format(number=1)
    weights = "weights" if lang == "en" else "权重"
    assert start.number("hero", f"{weights} [{head}, {who}, {dog}]") == pytest.approx(0.933, abs=5e-4)
    assert [*start.table("hero")["text"]].count("?") == 7
    now = "she" if lang == "en" else "她"
    assert f"{who} / {now}" in [*start.table("hero")["text"]]  # one column for the word that is exchanged
    start.choose("guess", her)
    assert start.number("hero", f"{weights} [{head}, {who}, {her}]", row=1) == pytest.approx(0.933, abs=5e-4)
    alone = Lesson("start", ex="en_it", text="dogs bark", open="one_word")  # no word that is worth exchanging
    assert not alone.charts()
    ways = [link.proto.page for link in start.at.get("page_link")]
    beside = ["glossary", "history", "check", "printed", "puzzles", "bugs"]
    arrows = ["start", PATH[1]]  # the first one is disabled
    assert ways == [
        *arrows,
        *list(DOORS.values())[2:],
        *beside,
    ]  # the first two doors are buttons, with one's own sentence
    again = Lesson("start", **start.link())
    assert again.texts() == start.texts()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_journey_of_start_here_plays_by_itself_and_is_about_the_sentence_of_its_door(lang):
    start = Lesson("start", lang=lang)
    (journey,) = [part for part in start.at.get("bidi_component") if part.proto.id.endswith("-flow")]
    head, _ = unpack(journey.proto.bytes)
    assert head["plays"] and not head["hears"]
    assert head["words"]["T"][head["look"]["query"]] == ("it" if lang == "en" else "它")
    own = start.set("text", "Tom fed the cat and it purred")
    (journey,) = [part for part in own.at.get("bidi_component") if part.proto.id.endswith("-flow")]
    assert unpack(journey.proto.bytes)[0]["words"]["T"][3] == "cat"


# ---- the course ------------------------------------------------------------------------------------------------------
def neighbours(lesson):
    """The pages to which the arrows of a lesson lead; None where there is none."""
    words = load_app_texts("en")
    ways = {link.proto.label: link.proto for link in lesson.at.get("page_link")}
    arrows = [ways[words[f"lesson.{name}"]] for name in ("previous", "next")]
    return [None if way.disabled else way.page for way in arrows]


def test_the_question_about_the_journey_stands_before_the_doors():
    keys = [getattr(getattr(each, "proto", None), "id", "") or "" for each in walk(Lesson("start").at._tree)]
    (question,) = [place for place, key in enumerate(keys) if key.endswith("start.drawer.one_word")]
    (door,) = [place for place, key in enumerate(keys) if key.endswith("doorway_see")]
    assert question < door


def test_the_path_begins_with_the_question_and_each_lesson_leads_to_the_next():
    assert PATH == ("start", "qkv", "softmax", "scale", "masks", "heads", "positions", "decoding")
    assert len(ADVANCED) == 12 and not {*PATH} & {*ADVANCED}
    for slug, before, after, place in (
        ("start", None, "qkv", "Lesson 1 of 8"),
        ("qkv", "start", "softmax", "Lesson 2 of 8"),
        ("decoding", "positions", "tokens", "Lesson 8 of 8"),
        ("tokens", "decoding", "scores", "Advanced, 1 of 12"),
        ("models", "decoder", None, "Advanced, 12 of 12"),
    ):
        lesson = open_first(slug)
        assert neighbours(lesson) == [before, after] and lesson.says(place), slug


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_menu_has_the_path_first_and_says_what_is_advanced(lang):
    words = load_app_texts(lang)
    learn = [page for page in list_pages_in(lang)[words["section.learn"]] if page.visibility == "visible"]
    assert [page.url_path for page in learn] == [*COURSE, "glossary", "history"]
    assert [page.title for page in learn[:2]] == [f"1 · {words['page.start']}", f"2 · {words['page.qkv']}"]
    word = {"en": "Advanced · ", "zh": "进阶 · "}[lang]
    assert [page.url_path for page in learn if page.title.startswith(word)] == [*ADVANCED]
    practise = [page.url_path for page in list_pages_in(lang)[words["section.practise"]]]
    assert practise == ["check", "printed", "puzzles", "bugs"]


def list_pages_in(lang):
    """The pages by the titles of their menus, as the router has them."""
    with use_language(lang):
        return list_pages()


def test_which_attention_stands_in_the_lesson_on_cost_and_opens_by_its_link():
    assert not PAGES_BY_SLUG["choice"].is_in_menu
    assert "choice" in [link.proto.page for link in open_first("cost").at.get("page_link")]
    assert Lesson("choice", lang="en").says(load_app_texts("en")["lessons.choice.question"])
    assert [page.slug for page in PAGES if not page.is_in_menu] == ["choice"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_page_asks_before_it_names_a_query_or_a_key(lang):
    start = Lesson("start", lang=lang)
    said = [text.value for text in start.at.markdown]
    words = load_app_texts(lang)
    asked, told = (words[f"lessons.start.{part}"] for part in ("question", "intro"))
    assert 0 <= said.index(f"#### {asked}") < said.index(told)
    assert not [word for word in ("query", "key", "value", "查询", "键", "值") if word in asked + told]


SHOWN_METHOD = {"en": "Sources and method", "zh": "来源与方法"}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", ["qkv", "encoder", "bottleneck"])  # the second has a drawer that is called code
def test_sources_method_and_code_stand_behind_one_line(slug, lang):
    words = load_app_texts(lang)
    closed = Lesson(slug, lang=lang)
    assert closed.at.expander[-1].label == SHOWN_METHOD[lang]
    behind = [words[f"lessons.{slug}.sources"][:40], *([words["code.title"]] if record_of(slug).code else [])]
    if slug == "bottleneck":
        behind.append(words["lessons.bottleneck.how"][:40])
    assert not [text for text in behind if closed.says(text)] and not closed.at.code
    opened = Lesson(slug, lang=lang, open=drawers(slug)[-1])
    assert [text for text in behind if opened.says(text)] == behind


# ---- the cards -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_card_shows_each_lesson_by_a_picture_of_its_own(lang):
    (part,) = [part for part in Lesson("start", lang=lang).at.get("bidi_component") if part.proto.id.endswith("-cards")]
    data = json.loads(part.proto.json)
    cards = [*data["path"], *data["advanced"]]
    words = load_app_texts(lang)
    assert [card["slug"] for card in cards] == list(COURSE) and len(data["path"]) == len(PATH)
    titles = [f"{number} · {words[f'page.{slug}']}" for number, slug in enumerate(PATH, start=1)]
    assert [card["title"] for card in cards] == [*titles, *(words[f"page.{slug}"] for slug in ADVANCED)]
    assert [card["question"] for card in cards] == [words[f"lessons.{slug}.question"] for slug in COURSE]
    for one, other in combinations(cards, 2):
        assert one["shapes"] != other["shapes"], f"the cards of {one['slug']} and {other['slug']} show one picture"
    colours = {field.name for field in fields(Palette)}
    for card in cards:
        for kind, colour, strength, *numbers in card["shapes"]:
            assert kind in ("rect", "frame", "line", "dot", "path", "arc") and colour in colours and 0 <= strength <= 1
            assert all(math.isfinite(number) and -1 <= number <= 161 for number in numbers), (card["slug"], kind)


def test_a_card_shows_the_numbers_that_its_lesson_opens_on():
    """The shares of 2, 1, 0, -1 by hand: the heights of the purple bars, of 70."""
    bars = [shape for shape in draw_card("softmax", "en") if shape[:2] == ("rect", "share")]
    powers = [math.exp(number) for number in (2, 1, 0, -1)]
    assert [bar[-1] for bar in bars] == pytest.approx([70 * power / sum(powers) for power in powers], abs=0.06)


def test_what_a_browser_makes_up_opens_no_lesson():
    for made_up in ("../etc", "present", 7, None, ["qkv"], {"slug": "qkv"}):
        assert Lesson("start").send_part("cards", "opened", made_up).charts() == {}


@pytest.mark.parametrize("slug", LESSONS)
def test_no_lesson_is_solved_before_anybody_has_answered(slug):
    assert visit_of(open_first(slug)) == {"slug": slug, "solved": False}


def test_a_right_answer_solves_a_lesson_and_a_wrong_one_does_not():
    for guess, solved in (("dog", True), ("fed", False)):
        assert visit_of(Lesson("qkv").choose("guess", guess))["solved"] is solved


def visit_of(lesson):
    """What a lesson tells the browser to keep."""
    (part,) = [part for part in lesson.at.get("bidi_component") if part.proto.id.endswith("-visited")]
    return json.loads(part.proto.json)


NUMBERED = {"en": "{} lessons, {} to {} minutes each", "zh": "{} 课，每课 {} 到 {} 分钟"}
MINUTES = (2, 3)  # of a question


@pytest.mark.parametrize("lang", LANGUAGES)
def test_start_here_says_how_long_a_lesson_takes(lang):
    """A question and, in most lessons, four behind it."""
    questions = statistics.mode(len(drawers(slug)) for slug in LESSONS)  # the code is none: the first one is
    assert questions == 5
    wanted = NUMBERED[lang].format(len(PATH), *(minutes * questions for minutes in MINUTES))
    assert Lesson("start", lang=lang).says(wanted)


CHOOSING = ("choose_option", "choose_options", "choose_beginning", "predict", "bet")  # what puts choices in sight


@pytest.mark.parametrize("slug", LESSONS)
def test_choices_go_into_a_second_row_on_a_phone(slug):
    lesson = open_first(slug)
    groups = [group for group in lesson.at.get("button_group") if group.proto.id.rpartition("-")[2].startswith(slug)]
    assert all(group.proto.wrap for group in groups)
    page = (PAGES_FOLDER / "lessons" / slug / "page.py").read_text(encoding="utf-8")
    assert groups or not any(f"{call}(" in page for call in CHOOSING), f"{slug}: the choices of its page are not found"


def test_a_refusal_stands_under_its_box():
    lesson = Lesson("softmax").set("logits", "1e999, nan")
    ((error,), box) = lesson.at.error, lesson.widgets()["logits"]
    groups = [[*part.children.values()] for part in lesson.at.main if hasattr(part, "children")]
    assert any([*map(id, group)] == [id(box), id(error)] for group in groups)  # no third beside them in one row


CUT_AT_SIGNS = ("decoding", "encoder", "tokens")  # lessons whose model reads each sign as a word of its own
HAVE_SENTENCE = [slug for slug in LESSONS if f"lessons.{slug}.control.text" in load_app_texts("en")]


@pytest.mark.parametrize("slug", CUT_AT_SIGNS)
def test_a_model_reads_hostile_words_sign_by_sign(slug):
    for words in zip(HOSTILE[::6], HOSTILE[3::6], strict=True):
        lesson = Lesson(slug, text=" ".join(words), open=",".join(drawers(slug)), lang="en")
        assert lesson.widgets()["text"].value == " ".join(words) and lesson.errors() == []
        told = [text.value for text in (*lesson.at.markdown, *lesson.at.caption)]
        for word in words:
            assert not [text for text in told if word in text and escape_markdown(word) not in text], word


@pytest.mark.parametrize("slug", [slug for slug in HAVE_SENTENCE if slug not in CUT_AT_SIGNS])
def test_hostile_words_are_shown_as_they_are(slug):
    for words in (HOSTILE[::2], HOSTILE[1::2]):
        lesson = Lesson(slug, text="|".join(words), open=",".join(drawers(slug)), lang="en")
        assert lesson.widgets()["text"].value == "|".join(words)
        told = [text.value for text in (*lesson.at.markdown, *lesson.at.caption, *lesson.at.error)]
        told += [widget.label for widget in lesson.widgets().values()]
        assert any(plain(text) != text and any(word in plain(text) for word in words) for text in told)
        for text, word in ((text, word) for text in told for word in words if word in plain(text)):
            assert escape_markdown(word) in text, (word, text)
