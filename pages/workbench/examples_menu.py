"""Shows the menu of examples: a dozen in four groups, with small attention maps, and a search over all examples."""

import numpy as np
import streamlit as st

from attention_core.drawing.small_pictures import Box, Shape, map_shapes, shrink_map
from attention_core.examples.examples import EXAMPLES
from pages.components import examples
from pages.runs.cache import cache_measurement, trace_for
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.labels import current_palette, selection_of
from pages.setup.setup import RunSetup, Setup, make_setup
from pages.site.findable import list_examples
from pages.site.words import current_language, get_text_template, say

MENU_KEY = "examples"  # session key: whether the menu is open
# Group -> {name of a place in the menu: the example at this place in each language}.
MENU = {
    "words": {
        "pronoun": {"en": "en_it", "zh": "zh_ta"},
        "subject": {"en": "en_subject", "zh": "zh_subject"},
        "question": {"en": "en_question", "zh": "zh_question"},
    },
    "models": {
        "model": {"en": "model_en", "zh": "model_zh"},
        "writer": {"en": "model_en_decoder", "zh": "model_zh_decoder"},
        "translator": {"en": "translator", "zh": "translator"},
    },
    "hands": {
        "plane": {"en": "en_plane", "zh": "zh_plane"},
        "built": {"en": "built_heads", "zh": "zh_built_heads"},
        "sink": {"en": "en_it_sink", "zh": "zh_ta_sink"},
    },
    "numbers": {
        "worked": {"en": "source_004", "zh": "source_004"},
        "random": {"en": "eight_heads", "zh": "zh_model_layer"},
        "picture": {"en": "picture", "zh": "zh_picture"},
    },
}
SQUARE: Box = (43.0, 8.0, 74.0, 74.0)  # the rectangle of a small picture that the map fills, FIELD of examples.js
MOST_ROWS = 20  # a map with more rows or columns is drawn smaller


def is_example_changed(setup: Setup) -> bool:
    """Returns whether the run of the Setup differs from the run of its example."""
    return setup.run != RunSetup(example=setup.run.example)


def name_screen(setup: Setup) -> str:
    """Returns the name of the example on the screen, and whether it was changed."""
    name = say(f"example.{setup.run.example}")
    if setup.run.file:
        return say("examples.file")
    if setup.run.recorded:
        return say("examples.recorded")
    return say("examples.changed", name=name) if is_example_changed(setup) else name


def examples_dependencies(setup: Setup) -> tuple[object, ...]:
    """Returns the values whose change redraws the menu of examples."""
    is_open = st.session_state.get(MENU_KEY, False)
    return (setup.run.example, is_example_changed(setup), setup.run.file, setup.run.recorded, is_open)


def show_examples_menu(setup: Setup) -> None:
    """Shows a button that opens the menu of examples; a chosen example replaces the whole Setup.

    The button's tooltip and the menu name the example on the screen. The pictures are computed when the menu is opened.
    """
    name = name_screen(setup)
    opened = st.popover(
        say("examples.title"),
        key=MENU_KEY,
        help=say("examples.now", name=name),
        on_change="rerun",
    )
    if not opened.open:
        return
    text = {word: say(f"examples.{word}") for word in ("search", "nothing", "again")}
    count = say("examples.count", shown=sum(map(len, MENU.values())), count=len(EXAMPLES))
    text |= {"found": get_text_template("examples.found"), "now": f"{say('examples.now', name=name)} · {count}"}
    data = {
        "groups": [describe_group(group) for group in MENU],
        "all": describe_all(),
        "current": setup.run.example,
        "changed": is_example_changed(setup),
        "language": current_language(),
        "text": text,
        "palette": vars(current_palette()),
    }
    with opened:
        examples(data=data, key="examples_menu", given={"examples": EXAMPLES}, on_chosen=open_chosen)


def open_chosen(chosen: dict) -> None:
    """Opens the chosen example and closes the menu.

    If the current example is chosen, it is opened again only if the browser showed it as changed ("again"): a message
    that arrives late or twice must not undo changes.
    """
    name, setup = chosen["name"], setup_state.current_setup()
    st.session_state[MENU_KEY] = False
    if name != setup.run.example or (chosen["again"] and is_example_changed(setup)):
        setup_state.open_example(name)
    redraw()


def describe_group(group: str) -> dict:
    """Returns the data of a group of the menu for the browser: its title and its examples."""
    described = []
    for place, by_language in MENU[group].items():
        name = by_language[current_language()]
        described.append({"name": name, **describe_place(place), "shapes": draw_example(name)})
    return {"title": say(f"examples.group.{group}"), "examples": described}


def describe_place(place: str) -> dict[str, str]:
    """Returns the title and the description of a place in the menu."""
    return {part: say(f"examples.place.{place}.{part}") for part in ("title", "detail")}


def describe_all() -> list[dict]:
    """Returns an entry of the search for each example: its titles and descriptions in each language and those in the
    menu.
    """
    in_menu = {}
    for places in MENU.values():
        for place, by_language in places.items():
            in_menu[by_language[current_language()]] = describe_place(place)
    entries = []
    for found in list_examples():
        name = found.link["ex"]
        shown = in_menu.get(name, {"title": "", "detail": ""})
        titles = found.titles | {"menu": shown["title"]}
        details = found.details | {"menu": shown["detail"]}
        entries.append({"name": name, "titles": titles, "details": details, "sign": ""})
    return entries


@cache_measurement
def draw_example(name: str) -> list[Shape]:
    """Returns the shapes of the attention map of an example's selected head; grey if its matrices are random.

    Blocked cells are omitted: at this size, their frames would look like numbers.
    """
    setup = make_setup(example=name)
    trace = trace_for(setup)
    head = selection_of(trace, setup).head
    weights = trace["weights"][0, head].numpy()
    allowed = np.isfinite(trace["masked_scores"][0, head].numpy())
    is_random = EXAMPLES[name].origin == "random"
    cells = map_shapes(shrink_map(weights, MOST_ROWS), shrink_map(allowed, MOST_ROWS), SQUARE, random=is_random)
    return [cell for cell in cells if cell[0] == "rect"]
