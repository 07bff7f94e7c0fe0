"""The lesson on positions, drawer "order": what if the words are shuffled?"""

from dataclasses import replace

from attention_core import Trace
from attention_core.analysis.permutation import distance_after_reordering, shuffle_order
from attention_core.drawing.bars import row_of
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import RunPicture, make_cell_rows, show_side_by_side
from pages.lessons.sentences import format_gap, list_place_labels, list_place_names, quote_token, show_sentence
from pages.lessons.trained_model import show_without
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.setup.setup import Setup
from pages.site.words import say

POSITION_VARIANTS = {
    "nothing": {"wiring": ("bare",)},
    "built": {},
    "sinusoidal": {"wiring": ("bare",), "positions": ("sinusoidal",)},
    "alibi": {"wiring": ("bare",), "positions": ("alibi",)},
    "causal": {"wiring": ("bare",), "masks": ("causal",)},
}
OUTPUT_COLUMNS = ("colour", "animal", "action")  # the first columns of the output
ROUNDING_GAP = 1e-9  # what outputs may move by rounding alone


def show_order(setup: Setup) -> None:
    """Shows the words in another order: each takes its output with it, unless something tells positions."""
    variant = choose_option("told", tuple(POSITION_VARIANTS))
    seed = slide("shuffle", range(1, 11), 1)
    before = replace(setup, **POSITION_VARIANTS[variant])
    words = inputs_of(before).queries
    order = shuffle_order(len(words), seed)
    shuffled = tuple(words[place] for place in order)
    after = replace(before, text=spell_tokens(shuffled, before), token=None)
    plain = trace_for(before)
    permuted = trace_for(after)
    moved = distance_after_reordering(permuted, plain, order)  # (T,)
    largest = float(moved.max())
    word = quote_token(plain, "T", int(moved.argmax()))
    verdict = "stays" if largest < ROUNDING_GAP else "moves"
    show_sentence(f"lessons.positions.{verdict}", gap=format_gap(largest), word=word)
    show_side_by_side(
        make_output_rows("order_before", plain),
        make_output_rows("order_after", permuted),
    )
    link_to_workbench(after, "order")
    show_without("positions")


def make_output_rows(name: str, trace: Trace) -> RunPicture:
    """The output, a row a word, without the columns of its own place, which W_o leaves empty."""
    columns = len(OUTPUT_COLUMNS)
    rows = []
    for query, word in enumerate(list_place_names(trace, "T")):
        row = row_of(word, trace, "output", (0, query))
        rows.append(replace(row, refs=row.refs[:columns]))
    return make_cell_rows(
        name,
        rows,
        list_place_labels(trace, "D_out")[:columns],
        {"": trace},
        trace,
        corner=say(f"lessons.positions.{name}"),
    )
