"""The lesson on cost, drawer "stored": must the map be stored?"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.online_softmax import count_blocks, refs_by_key, with_online_softmax
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.bars import Row
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_grouped, format_row
from attention_core.variants.cost import attention_cost
from attention_core.variants.timed_kinds import TIMED_WIDTH
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_bar_rows, show_step_picture
from pages.lessons.sentences import format_gap, list_place_labels, list_place_names, show_sentence
from pages.panels.link_controls import pick_example, pick_place, sentence_box, slide
from pages.runs.cache import trace_for
from pages.session.labels import Selection, name_token, selection_of
from pages.site.words import say

LONG_TEXT_TOKENS = 2048  # tokens: what a stored map would take


def show_online_softmax() -> None:
    """Shows the row of one word block by block: a running maximum, a running sum, and the output so far."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta", name="of"), "said")
        trace = trace_for(setup)
        names = list_place_names(trace, "S")
        query = pick_place("asks", names, selection_of(trace, setup).query)
    setup = replace(setup, token=query)
    selection = selection_of(trace, setup)
    block, seen = choose_blocks(names)
    streamed = with_online_softmax(trace, block)
    say_numbers_so_far(streamed, selection, block, seen)
    show_running_numbers(streamed, selection, block, seen)
    output = f"seen_outputs_{seen}"
    show_sentence("lessons.cost.divided", mixed=f"mixed_{seen}", output=output)
    show_step_picture("seen", streamed, output, selection)
    pairs = attention_cost(T=LONG_TEXT_TOKENS, D=TIMED_WIDTH).stored["weights"]
    show_sentence(
        "lessons.cost.kept",
        tokens=format_grouped(LONG_TEXT_TOKENS),
        pairs=format_grouped(pairs),
        block=block,
    )
    link_to_workbench(setup, "stored")


def choose_blocks(names: Sequence[str]) -> tuple[int, int]:
    """Asks how many of the keys a block has, and how many of the blocks were seen."""
    numbers = list(range(1, len(names) + 1))
    with st.columns(2)[0], st.container(horizontal=True):
        block = slide("block", numbers, min(2, len(names)))
        count = count_blocks(len(names), block)
        seen = slide("seen", numbers[:count], count) if count > 1 else count
    return block, seen


def say_numbers_so_far(streamed: Trace, selection: Selection, block: int, seen: int) -> None:
    """Says the largest score, the sum and the output after so many blocks, and how far outputs are from attention's."""
    row = (0, selection.head, selection.query)
    outputs = streamed[f"seen_outputs_{seen}"]  # (B, H, T, d_v)
    gap = abs_difference(outputs, streamed["head_outputs"]).max().item()
    count = count_blocks(streamed.sizes()["S"], block)
    key = "some_seen"
    if seen == count:
        key = "all_seen" if count > 1 else "all_at_once"
    show_sentence(
        f"lessons.cost.{key}",
        seen=seen,
        count=count,
        maximum=format_fixed(streamed[f"maximum_{seen}"][row].item()),
        sum=format_fixed(streamed[f"total_{seen}"][row].item()),
        z=format_row(outputs[row].tolist()),
        gap=format_gap(gap),
    )


def show_running_numbers(streamed: Trace, selection: Selection, block: int, seen: int) -> None:
    """Shows the scores of the keys seen so far, with the running maximum and the running sum at each."""
    names = list_place_labels(streamed, "S")
    row = (0, selection.head, selection.query)
    maxima = refs_by_key("maximum", row, len(names), block, seen)
    sums = refs_by_key("total", row, len(names), block, seen)
    scores = [Ref("masked_scores", (*row, key)) for key, _ in enumerate(maxima)]
    score_title = say("lessons.cost.row_scores", word=name_token(streamed, "T", selection.query))
    rows = [
        Row(score_title, streamed, scores),
        Row(say("lessons.cost.row_maximum"), streamed, maxima),
        Row(say("lessons.cost.row_sum"), streamed, sums),
    ]
    alt = say("lessons.cost.blocks_alt")
    show_bar_rows("blocks", rows, names, {"": streamed}, streamed, alt)
