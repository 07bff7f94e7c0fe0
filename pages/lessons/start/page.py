"""Draws the start page: the animation of one query, a question about it, four links, and a card for each lesson."""

import streamlit as st

from attention_core.drawing.bars import row_of
from pages.components import cards
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, draw_drawer, draw_page_frame, follow_arrow_key, show_lesson_run
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names
from pages.lessons.start.card_pictures import draw_card
from pages.panels.flow_data import Showing
from pages.panels.flow_picture import show_journey
from pages.panels.link_controls import pick_example, sentence_box
from pages.panels.word_changes import exchange_word, find_swap_offer
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import current_palette, selection_of
from pages.session.view import make_screen_state
from pages.setup.setup import Setup, make_setup
from pages.site.catalog import ADVANCED, COURSE, DOORS, PAGES, PAGES_BY_SLUG, PATH, PageEntry
from pages.site.words import current_language, escape_markdown, say, say_title

JOURNEY_HEIGHT_PX = 345  # px: the animation and its controls fit on the first screen of a page 1280 px wide
DOOR_ICONS = {
    "see": ":material/grid_on:",
    "model": ":material/chat:",
    "learn": ":material/school:",
    "teach": ":material/slideshow:",
}


def show_doors() -> Setup:
    """Shows four links into the app; returns the Setup with the sentence that the visitor typed at the first link."""
    boxes = dict(zip(DOORS, st.columns(len(DOORS), gap="small"), strict=True))
    for door, box in boxes.items():
        boxes[door] = box.container(border=True, height="stretch", key=f"doorway_{door}")
        boxes[door].markdown(f"#### {DOOR_ICONS[door]} {say(f'lessons.start.door_{door}')}")
        boxes[door].markdown(say(f"lessons.start.behind_{door}", count=len(PATH), more=len(ADVANCED)))
    with boxes["see"]:
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        link_to_workbench(setup, "see")
    with boxes["model"]:
        example = "model_zh_decoder" if current_language() == "zh" else "model_en_decoder"
        link_to_workbench(sentence_box(make_setup(example=example), "model_text"), "model")
    for door in ("learn", "teach"):
        label = say(f"lessons.start.open_{door}")
        boxes[door].page_link(PAGES_BY_SLUG[DOORS[door]].path, label=label, icon=":material/arrow_forward:")
    return setup


def show_cards() -> None:
    """Shows a card (a small picture with a title and a question) for each lesson; a click on it opens the lesson.

    The cards of the advanced lessons are collapsed.
    """
    language = current_language()
    text = {word: say(f"lessons.start.cards.{word}") for word in ("none", "forget", "opened", "solved", "here", "path")}
    # the browser fills in both counts
    text["summary"] = say("lessons.start.cards.summary", opened="{opened}", solved="{solved}")
    text["advanced"] = say("lessons.start.cards.advanced", count=len(ADVANCED))
    data = {
        "here": "start",
        "path": [describe_card(slug, say_title(slug), language) for slug in PATH],
        "advanced": [describe_card(slug, say(f"page.{slug}"), language) for slug in ADVANCED],
        "text": text,
        "palette": vars(current_palette()),
    }
    opened = cards(data=data, key="cards", given={"lessons": COURSE}).opened
    if opened is not None:
        st.switch_page(PAGES_BY_SLUG[opened].path)


def describe_card(slug: str, title: str, language: str) -> dict:
    """Returns the data of a lesson's card for the browser: title, question, address and the shapes of its picture."""
    return {
        "slug": slug,
        "title": title,
        "question": say(f"lessons.{slug}.question"),
        "address": f"{slug}?lang={language}",
        "shapes": draw_card(slug, language),
    }


def list_pages_beside_course() -> list[PageEntry]:
    """Returns the pages of the menus *Learn* and *Practise* that are not lessons of the course."""
    return [page for page in PAGES if page.section != "explore" and page.is_in_menu and page.slug not in COURSE]


# ---- drawer "one_word": one word of the sentence is replaced, and the reader guesses the new weights -----------------
def show_exchanged_word(setup: Setup, old: str, new: str) -> None:
    """Shows the selected query's weights before a word is exchanged and, after the visitor's guess, the weights after
    it.
    """
    trace = trace_for(setup)
    changed_text = exchange_word(setup, inputs_of(setup), old, new)
    changed = trace_for(setup.with_fields(text=changed_text))
    selection = selection_of(trace, setup)
    weights = changed.step("weights").window(B=0, H=selection.head, T=selection.query)  # (S,)
    pairs = list(zip(list_place_names(trace, "T"), list_place_names(changed, "T"), strict=True))
    names = []
    for was, now in pairs:
        names.append(was if was == now else say("lessons.start.either", was=was, now=now))
    known = predict(names, {int(weights.argmax())}, say("lessons.start.guess"))
    place = (0, selection.head, selection.query)
    asking_word, _ = pairs[selection.query]
    title = say("lessons.start.row", word=asking_word)
    changed_title = say("lessons.start.row", word=new)
    rows = [
        row_of(title, trace, "weights", place, "now"),
        row_of(changed_title, changed, "weights", place, "then", hidden=not known),
    ]
    show_bar_rows("hero", rows, names, {"now": trace, "then": changed}, trace, say("lessons.start.alt"))


PAGE = Lesson("start", drawers={"one_word": show_exchanged_word})

with draw_page_frame("start") as place:
    st.markdown(f"#### {say('lessons.start.question')}")
    st.markdown(say("lessons.start.intro"))
    journey, question = st.container(), st.container()
    setup = show_doors()
    with journey:
        show_journey(make_screen_state(setup, None), Showing(plays=True, height=JOURNEY_HEIGHT_PX))
    show_lesson_run(setup, place)
    exchange = find_swap_offer(setup, inputs_of(setup))
    if exchange is not None:
        old, new = exchange
        title = say("lessons.start.ask", old=escape_markdown(old), new=escape_markdown(new))
        with question:
            draw_drawer(PAGE, "one_word", setup, old, new, title=title)
    show_cards()
    with st.container(horizontal=True):
        for entry in list_pages_beside_course():
            st.page_link(entry.path, label=say_title(entry.slug), icon=entry.icon)
    st.caption(say("lessons.start.how"))
follow_arrow_key("start")
