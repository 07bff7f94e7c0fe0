"""Draws the page that recommends an attention variant for each task, with its cost and a link to a page about it."""

import streamlit as st

from attention_core.record.number_text import format_fixed, format_grouped
from attention_core.variants.task_costs import (
    TASK_COSTS,
    TASK_HEADS,
    TASK_WIDTH,
    TaskCost,
    growth_when_doubled,
    task_cost,
)
from pages.components import sign_picture
from pages.lessons.choice.task_pictures import draw_task
from pages.lessons.frame import draw_page_frame, show_question
from pages.lessons.sentences import say_large_count
from pages.panels.link_controls import slide
from pages.session.labels import current_palette
from pages.setup.twins import link_in_language
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import current_language, say, say_title

CHOICE_COLUMN_WIDTHS = (4, 14, 14, 7)  # relative widths of the columns: picture, task and variant, cost, link
PICTURE_HEIGHT_PX = 92
FIRST_ROUNDED_COUNT = 10**6  # least count that is written with three digits, as in "1.07 billion"
OFFERED_LENGTHS = (64, 256, 1024, 4096, 16_384)
TASK_LINKS = {  # task -> (page about its attention variant, the parameters of the link to that page)
    "translate": ("workbench", {"ex": "translator"}),
    "write": ("workbench", {"mask": "causal"}),
    "understand": ("encoder", {}),
    "relations": ("heads", {}),
    "image": ("workbench", {"ex": "picture"}),
    "align": ("workbench", {"ex": "learned_dates"}),
    "set": ("positions", {"open": "order"}),
    "long": ("cost", {"open": "skip", "pattern": "local"}),
    "serve": ("workbench", {"kv": "1"}),
    "latent": ("workbench", {"mod": "latent", "step": "latent_x"}),
    "stream": ("decoding", {"open": "kept", "what": "state"}),
}


def show_fact(length: int) -> None:
    """Shows, for a length, the multiply-adds of full attention and of two variants that leave out pairs."""
    every = task_cost("understand", length).multiply_adds
    near = task_cost("long", length).multiply_adds
    state = task_cost("stream", length).multiply_adds
    fact = say(
        "lessons.choice.fact",
        length=format_grouped(length),
        every=say_large_count(every),
        near=say_large_count(near),
        state=say_large_count(state),
    )
    st.markdown(f"##### {fact}")


def show_task(task: str, length: int) -> None:
    """Shows a task with its picture, the recommended attention variant, the reason, its cost, and a link to a page."""
    slug, link = TASK_LINKS[task]
    with st.container(border=True):  # a border keeps the columns of a task together on a phone
        at_picture, at_task, at_cost, at_link = st.columns(
            CHOICE_COLUMN_WIDTHS, vertical_alignment="center", gap="small"
        )
    with at_picture.container(height=PICTURE_HEIGHT_PX, border=False):  # reserves the picture's height
        sign_picture(data={"shapes": draw_task(task), "palette": vars(current_palette())}, key=f"task_{task}")
    at_task.markdown(
        say(
            "lessons.choice.task",
            task=say(f"lessons.choice.name.{task}"),
            variant=say(f"lessons.choice.variant.{task}"),
            why=say(f"lessons.choice.why.{task}"),
        )
    )
    at_cost.markdown(say_cost(task_cost(task, length), growth_when_doubled(task, length)))
    at_link.page_link(
        PAGES_BY_SLUG[slug].path,
        label=say_title(slug),
        icon=":material/arrow_forward:",
        query_params=link_in_language(slug, link, current_language()),
    )


def say_cost(cost: TaskCost, growth: float) -> str:
    """Returns the text about the cost of a layer: its multiply-adds, and how they grow.

    growth: the factor by which the multiply-adds grow if the length doubles.
    """
    kept = "none" if cost.kept is None else "kept"
    return say(
        "lessons.choice.cost",
        waits=format_grouped(cost.waits),
        multiply_adds=write_count(cost.multiply_adds),
        times=format_fixed(growth, 1),
        kept=say(f"lessons.choice.{kept}", count=write_count(cost.kept or 0)),
    )


def write_count(count: int) -> str:
    """Formats a count: with all its digits below a million, else rounded to three digits."""
    return format_grouped(count) if count < FIRST_ROUNDED_COUNT else say_large_count(count)


with draw_page_frame("choice"):
    show_question("choice")
    with st.container(width=300):
        length = slide("length", OFFERED_LENGTHS, 1024, format_grouped)
    show_fact(length)
    for task in TASK_COSTS:
        show_task(task, length)
    st.caption(say("lessons.choice.sources", width=TASK_WIDTH, heads=TASK_HEADS))
