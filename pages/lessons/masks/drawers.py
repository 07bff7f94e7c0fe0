"""Shows the accordions of the lesson on masks, and provides functions that its page uses too."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product

import numpy as np
import streamlit as st

from attention_core import Trace, to_mha_mask
from attention_core.analysis.across_layers import reachable_inputs
from attention_core.analysis.blocked_scores import (
    EMPTY_ROW_POLICIES,
    count_equal_scores,
    with_additive_mask,
    with_empty_row_policy,
)
from attention_core.analysis.target_leakage import count_copied, share_ahead, with_moved_rows
from attention_core.comparison.differences import find_moves, largest_batch_difference
from attention_core.drawing.bars import Row, row_of
from attention_core.drawing.charts import single_picture
from attention_core.drawing.specifications import Picture
from attention_core.examples.examples import EXAMPLES
from attention_core.explanation.facts import (
    PairsFact,
    accident_at,
    allowed_pairs,
    count_allowed_pairs,
    count_mask_pairs,
    mean_received_share,
    row_fact,
)
from attention_core.explanation.layout import panel
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_values import WholeMatrix
from attention_core.learned.language.guessing import next_word_chances
from attention_core.learned.language.removed_parts import REMOVED_FIGURES, count_words_alike
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_grouped, format_percent, format_row
from attention_core.record.trace import Step
from attention_core.variants.cost import count_cost
from attention_core.verification.mask_conventions import (
    compare_with_torch_layer,
    measure_mask_damage,
    with_inverted_mask,
    with_misplaced_mask,
    without_padding_mask,
)
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import (
    RunPicture,
    make_live,
    show_bar_rows,
    show_panels,
    show_run_picture,
    show_step_picture,
    show_weights_map,
)
from pages.lessons.sentences import format_gap, join_with_commas, list_place_names, quote_token, show_sentence
from pages.lessons.trained_model import EXAMPLES as MODEL_EXAMPLES
from pages.lessons.trained_model import MODELS, show_without, tell_blind
from pages.panels import canvas_map
from pages.panels.chart import show_chart
from pages.panels.link_controls import (
    MAX_LESSON_TOKENS,
    check_lesson_tokens,
    choose_option,
    pick_example,
    pick_place,
    sentence_box,
    slide,
    switch,
    text_box,
)
from pages.panels.live_choice import LiveChoice, LiveChoices, describe_followed, find_live_choice, show_live_choice
from pages.panels.live_frames import tell_live
from pages.panels.markdown_table import make_table
from pages.panels.model_guess import show_guess_sign
from pages.panels.word_changes import suggest_word, with_word
from pages.runs.cache import inputs_of, trace_for
from pages.runs.model_runs import model_sentences_of
from pages.runs.run_inputs import PAD_WORD
from pages.runs.separate_runs import run_sentences_alone
from pages.session.labels import (
    Selection,
    current_palette,
    picture_texts_for,
    place_name,
    selection_of,
    spoken_step_name,
)
from pages.setup.choice_text import read_mask
from pages.setup.resolve import config_of
from pages.setup.setup import Setup, make_setup
from pages.site.words import current_language, escape_markdown, say, say_refusal

# ---- a mask to draw on: its map, and its form as text in a link ------------------------------------------------------
BITS_PATTERN = re.compile(f"[01]{{1,{MAX_LESSON_TOKENS}}}")
Bits = tuple[str, ...]  # a mask: for each query a text such as "110"; 1 marks an allowed key, 0 a blocked one


def read_bits(text: str) -> Bits:
    """Parses "110,111" as a mask with one row per query. Raises ValueError for another format."""
    rows = tuple(text.split(","))
    if len(rows) > MAX_LESSON_TOKENS or not all(map(BITS_PATTERN.fullmatch, rows)):
        raise ValueError(text)
    return rows


def mask_bits_of(trace: Trace) -> Bits:
    """Returns the mask of a run's first head as Bits."""
    return to_bits(allowed_pairs(trace)[0, 0].numpy())


def to_bits(matrix: np.ndarray) -> Bits:
    """Converts a matrix of booleans, or of 0 and 1, to rows of text such as "110"."""
    return tuple("".join(map(str, row)) for row in matrix.astype(int))


def pack_mask(bits: Bits, trace: Trace) -> WholeMatrix:
    """Returns a mask as a WholeMatrix for a Setup, cut or extended to the tokens of a run; added cells are allowed."""
    sizes = trace.sizes()
    T = sizes["T"]
    S = sizes["S"]
    matrix = np.ones((T, S))
    for query, row in enumerate(bits[:T]):
        allowed = [int(bit) for bit in row[:S]]
        matrix[query, : len(allowed)] = allowed
    return pack_matrix(matrix)


def find_empty_row(trace: Trace) -> int | None:
    """Returns the index of the first query that may not attend to any word; None if there is none."""
    for query, bits in enumerate(mask_bits_of(trace)):
        if "1" not in bits:
            return query
    return None


def block_query(bits: Bits, query: int) -> Bits:
    """Returns the mask with every key blocked for one query.

    query: the index of the query.
    """
    rows = list(bits)
    rows[query] = "0" * len(rows[query])
    return tuple(rows)


def mask_brush(trace: Trace, take: Callable[[Bits], None], window: LiveChoice | None) -> None:
    """Shows the mask of a run as a map on which the visitor can draw.

    take: a callback that gets the mask after each stroke. window: the slider that the mask follows, or None.
    """
    pairs = allowed_pairs(trace)[0, 0].numpy().astype(float)  # (T, S)
    follows = window and describe_followed(window)
    canvas_map.show_paintable_mask(trace, pairs, lambda drawn: take(to_bits(drawn)), follows)


# ---- masks side by side as maps of check marks: the named masks, and the reader's own mask ---------------------------
CUSTOM_MASK = "custom"  # the mask that the visitor draws or chooses; its step is allowed_custom
TICK_CELL_PX = 24.0  # px: side of a cell, small because a check mark needs less room than a number


def named_mask_texts(window: int) -> dict[str, str]:
    """Returns {name of a mask: its text in a Setup} for the masks that the lesson compares.

    window: how many words a mask with a window reaches to each side.
    """
    return {
        "causal": "causal",
        "local": f"local:{window}",
        "sliding": f"sliding:{window + 1}",  # the window of "sliding" includes the query
        "local_global": f"local_global:{window}:0",
    }


def list_shown_masks(masks: Trace) -> list[str]:
    """Returns the names of the masks to show.

    CUSTOM_MASK is among them unless the visitor's mask equals a named mask.
    """
    names = list(named_mask_texts(1))
    own = masks[f"allowed_{CUSTOM_MASK}"].squeeze()
    for name in names:
        if own.equal(masks[f"allowed_{name}"].squeeze()):
            return names
    return [*names, CUSTOM_MASK]


def run_all_masks(own: Setup, masked: Setup, window: int) -> Trace:
    """Returns one run in which every mask is a step: the named masks with this window, and the visitor's mask.

    masked: the Setup under the visitor's mask; the mask becomes the step allowed_custom.
    """
    masks = tuple(named_mask_texts(window).values())
    other = trace_for(masked)
    custom = pack_mask(mask_bits_of(other), other)
    return trace_for(own.with_fields(masks=masks, allowed=custom))


def reach_after_layers(masks: Trace, layers: int) -> Trace:
    """Returns a run in which each mask is replaced by its receptive field (T, S): the inputs that reach each output
    after several layers.
    """
    steps = {}
    for name in list_shown_masks(masks):
        step = f"allowed_{name}"
        one_layer = masks[step][0, 0]  # (T, S)
        steps[step] = Step(step, reachable_inputs(one_layer, layers), ("T", "S"))
    return Trace(steps, masks.labels)


def label_mask(name: str) -> str:
    """Returns the title of a mask."""
    return say("lessons.masks.above") if name == CUSTOM_MASK else say(f"lessons.masks.option.mask.{name}")


def make_tick_map(masks: Trace, step: str, title: str, chosen: Ref | None = None) -> Picture:
    """Draws the mask in one step of a run as a map with check marks.

    chosen: the cell whose arithmetic is open.
    """
    words = picture_texts_for(masks)
    return single_picture(
        [panel(masks, step)],
        masks,
        words,
        current_palette(),
        [title],
        chosen,
        most=TICK_CELL_PX,
    )


def show_runs_side_by_side(name: str, runs: Mapping[str, Trace], selection: Selection) -> None:
    """Shows the weights of one head in each of two runs, as attention maps.

    runs: {end of the title's key: run}.
    """
    with st.container(horizontal=True):
        for part, run in runs.items():
            head = place_name(run, "H", selection.head)
            title = say(f"lessons.masks.title_{part}", head=head)
            with st.container(width="content"):
                show_weights_map(f"{name}_{part}", run, selection, title)


# ---- drawer "future", tab: the mask as a matrix of 0 and −∞ that is added to the scores ------------------------------
def show_added_mask(own: Setup, setup: Setup) -> None:
    """Shows a mask as a matrix of 0 and −∞, and that adding it to the scores equals replacing scores by −∞.

    own: the Setup without a mask. setup: the Setup under the visitor's mask.
    """
    masked = trace_for(setup)
    if "allowed" not in masked:
        show_sentence("lessons.masks.same")
        return
    trace = with_additive_mask(masked)
    selection = selection_of(trace_for(own), own)
    equal, count = count_equal_scores(trace)
    show_sentence("lessons.masks.added", equal=equal, of=count)
    panels = [panel(trace, step, selection.at) for step in ("additive_mask", "added_scores")]
    head = place_name(trace, "H", selection.head)
    titles = [say(f"lessons.masks.title_{part.step}", head=head) for part in panels]
    show_panels("added", panels, trace, titles, say("lessons.masks.added_alt"))


# ---- drawer "future", tab: inputs and targets of a language model, one word apart ------------------------------------
def show_shifted_targets(_own: Setup, _setup: Setup) -> None:
    """Shows the input of a language model at each position, the target at that position, and the target's
    probability.
    """
    setup = sentence_box(make_setup(example=MODEL_EXAMPLES[current_language()]), "said")
    show_guess_sign(setup)
    kind = model_sentences_of(setup.run)
    words = kind.own_words()
    chances = next_word_chances(kind.model, kind.read(words))
    read, wanted = words[:-1], words[1:]
    st.markdown(say("lessons.masks.shifted", first=escape_markdown(read[0]), second=escape_markdown(wanted[0])))
    st.markdown(draw_table(read, wanted, chances))
    say_copying(words)
    figures = REMOVED_FIGURES.rows[MODELS[current_language()]]
    closed = say(
        "lessons.masks.diagonal",
        count=format_grouped(figures.words),
        whole=format_fixed(figures.whole),
        closed=format_fixed(figures.diagonal),
        whole_alike=format_grouped(count_words_alike(figures.whole)),
        closed_alike=format_grouped(count_words_alike(figures.diagonal)),
    )
    st.markdown("".join((closed, tell_blind({"closed": figures.diagonal}))))
    link_to_workbench(setup, "shifted")


def say_copying(words: tuple[str, ...]) -> None:
    """Shows how many targets an untrained layer that copies its input gets right, if the targets are shifted by one
    position, and if they are not.
    """
    copied = count_copied(words)
    show_sentence(
        "lessons.masks.copied",
        same=copied.same,
        rows=copied.rows,
        shifted=copied.shifted,
        others=copied.shifted_rows,
    )


def draw_table(read: tuple[str, ...], wanted: tuple[str, ...], chances: list[float]) -> str:
    """Returns a Markdown table with a column for each position: input, target and the target's probability."""
    places = [say("lessons.masks.row_place"), *map(str, range(1, len(read) + 1))]
    lines = {
        "read": map(escape_markdown, read),
        "wanted": map(escape_markdown, wanted),
        "chance": map(format_fixed, chances),
    }
    rows = []
    for name, cells in lines.items():
        title = say(f"lessons.masks.row_{name}")
        rows.append([f"**{title}**", *cells])
    return make_table(places, rows)


# ---- drawer "future": does an output depend on later words? ----------------------------------------------------------
def show_later_word(own: Setup, setup: Setup) -> None:
    """Shows controls to replace a word, and how far each output moves because of it, without and with the visitor's
    mask.
    """
    free = trace_for(own)
    names = list_place_names(free, "T")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = pick_place("changed", names, len(names) - 1)
        new = text_box("into", suggest_word(own, place), partial(with_word, own, place))
    runs = {}
    rows = []
    masks = [say(f"masks.{name}") for name, _ in config_of(setup.run).masks]
    values = {
        "mask": join_with_commas(masks) or say("row.off"),
        "before": place,
        "old": quote_token(free, "T", place),
        "new": escape_markdown(new),
    }
    for name, setup_of_run in (("free", own), ("masked", setup)):
        changed = trace_for(with_word(setup_of_run, place, new))
        runs[name] = with_moved_rows(changed, trace_for(setup_of_run))
        title = say(f"lessons.masks.moved_{name}", mask=values["mask"])
        row = row_of(title, runs[name], "moved", (0,), name)
        rows.append(row)
        values[name] = count_moved_words(row.values[:place])
    show_sentence("lessons.masks.leaked" if place else "lessons.masks.leaked_none", **values)
    names = list_place_names(runs["masked"], "T")
    alt = say("lessons.masks.leak_alt")
    show_bar_rows("leak", rows, names, runs, runs["masked"], alt)
    link_to_workbench(with_word(setup, place, new), "leak")


def count_moved_words(moved: Sequence[float]) -> str:
    """Returns a part of a sentence: how many of the earlier words get another output. The argument is how far each
    output moves.
    """
    count = sum(value > 0 for value in moved)
    number = {len(moved): "all", 0: "none"}.get(count, "some")
    return say(f"lessons.masks.leaked_words.{number}", count=count)


def show_changed_steps(own: Setup, setup: Setup) -> None:
    """Shows the first step that the visitor's mask changes, and the later steps that change because of it.

    own: the Setup without a mask. setup: the Setup under the visitor's mask.
    """
    now = trace_for(setup)
    before = trace_for(own)
    moved = find_moves(now, before)
    if not moved:
        show_sentence("lessons.masks.same")
        return
    first, *later = moved
    same = [step for step in now.computed() if step in before and step not in moved]
    steps = {
        "same": escape_markdown(join_with_commas(map(spoken_step_name, same))),
        "first": escape_markdown(spoken_step_name(first)),
        "later": escape_markdown(join_with_commas(map(spoken_step_name, later))),
    }
    pairs = count_allowed_pairs(now)
    show_sentence("lessons.masks.parts", blocked=pairs.blocked, of=pairs.of, **steps)
    show_step_picture("step", now, "masked_scores", selection_of(before, own))


def show_reach_by_layers(own: Setup, setup: Setup) -> None:
    """Shows, under every mask, the inputs that reach each output after several layers (its receptive field)."""
    layers = slide("layers", range(1, 9), 2)
    masks = run_all_masks(own, setup, 1)
    heard = reach_after_layers(masks, layers)
    names = list_place_names(masks, "T")
    # {mask: (S,) booleans, whether an input reaches the output of the last word}
    last_rows = {name: heard[f"allowed_{name}"][-1] for name in list_shown_masks(masks)}
    under_which = [escape_markdown(label_mask(name)) for name, row in last_rows.items() if row[0]]
    words = {
        "layers": layers,
        "under": join_with_commas(under_which) or say("lessons.masks.nobody"),
        "first": escape_markdown(names[0]),
        "last": escape_markdown(names[-1]),
    }
    show_sentence("lessons.masks.heard", **words)
    with st.container(horizontal=True, gap=None):
        for name, row in last_rows.items():
            count = int(row.sum())
            title = say("lessons.masks.hears", name=label_mask(name), count=count, T=len(names))
            picture = make_tick_map(heard, f"allowed_{name}", title)
            show_chart(picture, f"masks_layers_{name}", title, lambda _: None)


# ---- drawer "wirings", tab: the first word as an attention sink ------------------------------------------------------
def show_attention_sink(_own: Setup, _setup: Setup) -> None:
    """Shows a head with an attention sink: queries that match nothing attend to the first word."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sink = sentence_box(pick_example("en_it_sink", "zh_ta_sink", zh="zh_ta_sink", name="starts"), "sink")
        if switch("causal"):
            sink = sink.with_fields(masks=("causal",))
    trace = trace_for(sink)
    selection = selection_of(trace, sink)
    first = quote_token(trace, "T", 0)
    queries = range(trace.sizes()["T"])
    resting = [query for query in queries if row_fact(trace, selection.head, query).keys == (0,)]
    percent = format_percent(mean_received_share(trace, selection.head, 0))
    if trace.chance:
        show_sentence("lessons.masks.sink_random", first=first, percent=percent)
    elif resting:
        last = resting[-1]
        share = trace["weights"][0, selection.head, last, 0].item()
        values = {
            "count": len(resting),
            "T": len(queries),
            "share": format_fixed(share),
            "word": quote_token(trace, "T", last),
            "percent": percent,
        }
        show_sentence("lessons.masks.sink", first=first, **values)
    value = trace.step("v").window(B=0, H_kv=selection.kv, S=0)
    effect = "costs" if value.any() else "free"
    show_sentence(f"lessons.masks.{effect}", first=first, value=format_row(value))
    show_weights_map("sink", trace, selection, place_name(trace, "H", selection.head))
    link_to_workbench(sink, "sink")


# ---- drawer "wirings", tabs: encoder, decoder, masked words ----------------------------------------------------------
MASK_TOKEN = "[MASK]|"  # the bar at the end keeps [MASK] together as a single token


def show_encoder_wiring(own: Setup, _setup: Setup) -> None:
    """Shows the attention of an encoder, which has no mask, so that each word attends to the words on both sides."""
    trace = trace_for(own)
    selection = selection_of(trace, own)
    pairs = count_allowed_pairs(trace)
    weights = trace["weights"][0, selection.head]  # (T, S)
    ahead = format_percent(share_ahead(weights))
    key = "encoder_random" if trace.chance else "encoder"
    show_sentence(f"lessons.masks.{key}", kept=pairs.kept, of=pairs.of, percent=ahead)
    title = place_name(trace, "H", selection.head)
    show_weights_map("encoder", trace, selection, title)


def show_decoder_wiring(_own: Setup, _setup: Setup) -> None:
    """Shows the attention of a decoder: causal self-attention, and cross-attention to all words of another sentence."""
    with st.container(horizontal=True):
        across = sentence_box(make_setup(example="cross_en_zh"), "target")
        across = sentence_box(across, "source", "context_text")
    own = across.with_fields(cross=False, context_text=None, masks=("causal",))
    runs = {"self": own, "cross": across}
    counts = {}
    for name, run in runs.items():
        pairs = count_allowed_pairs(trace_for(run))
        counts[f"{name}_kept"] = pairs.kept
        counts[f"{name}_of"] = pairs.of
    show_sentence("lessons.masks.decoder", **counts)
    with st.container(horizontal=True):
        for name, run in runs.items():
            trace = trace_for(run)
            selection = selection_of(trace, run)
            title = say(f"lessons.masks.title_{name}")
            with st.container(width="content"):
                show_weights_map(f"decoder_{name}", trace, selection, title)
    link_to_workbench(across, "decoder")


def show_masked_word(own: Setup, _setup: Setup) -> None:
    """Shows two ways to hide a word: the token [MASK], to which words still attend, and a mask that blocks the word."""
    free = trace_for(own)
    selection = selection_of(free, own)
    names = list_place_names(free, "T")
    most_attended = row_fact(free, selection.head, selection.query).keys[0]
    place = pick_place("gone", names, most_attended)
    hidden = with_word(own, place, MASK_TOKEN)
    # the mask in which no query may attend to the hidden word
    bits = tuple(f"{row[:place]}0{row[place + 1 :]}" for row in mask_bits_of(free))
    blocked = own.with_fields(allowed=pack_mask(bits, free))
    traces = {"token": trace_for(hidden), "column": trace_for(blocked)}
    values = {"word": escape_markdown(names[place])}
    for name, trace in traces.items():
        values[name] = format_percent(mean_received_share(trace, selection.head, place))
        pairs = count_allowed_pairs(trace)
        values[f"{name}_kept"] = pairs.kept
        values["of"] = pairs.of  # the number of all pairs is the same in both runs
    show_sentence("lessons.masks.masked", **values)
    show_runs_side_by_side("masked", traces, selection)
    link_to_workbench(hidden, "masked")


# ---- drawer "pairs", tab: sentences of different lengths in one batch ------------------------------------------------
def show_padded_batch(own: Setup) -> None:
    """Shows two sentences of different lengths in one batch; a switch selects whether their padding is masked."""
    shipped = EXAMPLES[own.run.example].batch.splitlines()[-1]

    def check(text: str) -> None:
        check_lesson_tokens(inputs_of(own.with_fields(more=text)).queries)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        other = text_box("other", shipped, check)
        kind = choose_option("with", ("padding", "both"))
        hidden = switch("hidden", True)
    together = own.with_fields(more=other, masks=("causal",) if kind == "both" else None)
    say_farthest_step(together, hidden)
    head = selection_of(trace_for(own), own).head
    first = together.with_fields(sentence=0, head=head)
    second = together.with_fields(sentence=1, head=head, token=None)
    with st.container(horizontal=True):
        for number, setup in enumerate((first, second)):
            with st.container(width="content"):
                show_padded_sentence(f"batch_{number}", setup, hidden)
    link_to_workbench(together, "batch")


def say_farthest_step(together: Setup, hidden: bool) -> None:
    """Shows the largest difference between a batch and separate runs of its sentences, over all steps.

    hidden: whether the padding of the batch is masked.
    """
    step, gap = largest_batch_difference(run_with_padding(together, hidden), run_sentences_alone(together.run))
    found = "exact"
    if gap:
        found = "alone" if hidden else "seen"
    show_sentence(f"lessons.masks.{found}", step=escape_markdown(step), gap=format_gap(gap))


def run_with_padding(setup: Setup, hidden: bool) -> Trace:
    """Returns the run of a batch with its padding masked, or without this mask if `hidden` is False."""
    trace = trace_for(setup)
    return trace if hidden else without_padding_mask(trace)


def show_padded_sentence(name: str, setup: Setup, hidden: bool) -> None:
    """Shows one sentence of a batch as an attention map, and the weight that the selected query gives to padding."""
    trace = run_with_padding(setup, hidden)
    selection = selection_of(trace_for(setup), setup)
    show_weights_map(name, trace, selection, place_name(trace, "B", selection.batch))
    shares = trace.step("weights").window(
        B=selection.batch,
        H=selection.head,
        T=selection.query,
    )  # (S,)
    to_padding = []
    for share, word in zip(shares, trace.labels["S"], strict=True):
        if word == PAD_WORD:
            to_padding.append(share)
    lost = sum(to_padding)
    is_random = lost and accident_at(trace, selection.query, ())
    text = "to_padding_random" if is_random else "to_padding"
    query = quote_token(trace, "T", selection.query)
    st.caption(say(f"lessons.masks.{text}", query=query, percent=format_percent(lost)))


# ---- drawer "pairs": which pairs are kept? ---------------------------------------------------------------------------
TABLE_LENGTHS = (8, 16, 32, 64, 128, 256, 512)  # lengths in tokens for which the table counts allowed pairs


def show_pairs(own: Setup, setup: Setup) -> None:
    """Shows one of two things by the visitor's choice: how many pairs each mask allows, or a padded batch of sentences.

    own: the Setup without a mask. setup: the Setup under the visitor's mask.
    """
    if choose_option("pairs", ("patterns", "batch")) == "patterns":
        show_patterns(own, setup)
    else:
        show_padded_batch(own)


def show_patterns(own: Setup, setup: Setup) -> None:
    """Shows the masks side by side, the counts of allowed pairs, and that the multiply-adds stay the same."""
    window = find_live_choice("window", range(1, 9), 1)
    length = find_live_choice("length", TABLE_LENGTHS, 64)
    with st.container(horizontal=True):
        show_live_choice(window)
        show_live_choice(length)
    show_pattern_maps(own, setup, window)
    free, masked = count_work_of_run(own), count_work_of_run(setup)
    show_sentence("lessons.masks.work", free=free, masked=masked)
    places = product(length.options, window.options)
    tables = [write_pairs_table(*place) for place in places]
    tell_live(LiveChoices(follows=(length, window)), "masks_pairs", tables, "table")


def count_work_of_run(setup: Setup) -> int:
    """Counts the multiply-adds of a run."""
    cost = count_cost(trace_for(setup))
    return sum(cost.multiply_adds.values())


def show_pattern_maps(own: Setup, setup: Setup, window: LiveChoice) -> None:
    """Shows every mask as a map that follows the slider of the window, titled with the number of allowed pairs."""
    runs = [run_all_masks(own, setup, each) for each in window.options]
    with st.container(horizontal=True, gap=None):
        for name in list_shown_masks(runs[window.position]):
            maps = [draw_pattern(name, *each, setup) for each in zip(runs, window.options, strict=True)]
            with st.container(width="content"):
                show_run_picture(make_live(window, maps, label_mask(name)))


def draw_pattern(name: str, masks: Trace, window: int, setup: Setup) -> RunPicture:
    """Draws a mask as a map of check marks, titled with its number of allowed pairs.

    A click on a cell opens the comparison that decides whether the pair is allowed. masks: the run with all masks.
    setup: the Setup under the visitor's mask.
    """
    if name == CUSTOM_MASK:
        pairs = count_allowed_pairs(trace_for(setup))
    else:
        pairs = count_pairs_by_mask(masks.sizes()["T"], window)[name]
    title = say("lessons.masks.pairs", name=label_mask(name), kept=pairs.kept, of=pairs.of)
    pattern = f"pattern_{name}"
    picture = make_tick_map(masks, f"allowed_{name}", title, get_opened_ref(pattern, masks))
    return RunPicture(pattern, picture, {"": masks}, title)


@cache
def count_pairs_by_mask(length: int, window: int) -> dict[str, PairsFact]:
    """Returns {name of a mask: the pairs of query and key that it allows among `length` words}."""
    masks = named_mask_texts(window)
    return {name: count_mask_pairs(length, read_mask(text)) for name, text in masks.items()}


def write_pairs_table(length: int, window: int) -> str:
    """Returns a Markdown table of the pairs that each named mask allows in a text of `length` tokens."""
    lines = [say("lessons.masks.head", length=length)]
    for name, pairs in count_pairs_by_mask(length, window).items():
        line = say(
            "lessons.masks.row",
            name=label_mask(name),
            kept=f"{pairs.kept:,}",
            of=f"{pairs.of:,}",
            share=f"{pairs.share:.2%}",
        )
        lines.append(line)
    return "\n".join(lines)


# ---- drawer "nothing", two tabs: a mask that code interprets by another convention -----------------------------------
def show_mask_conventions(own: Setup, setup: Setup) -> None:
    """Shows the error of code that takes True in the visitor's mask as blocked, and the result of torch's own layer."""
    trace = trace_for(setup)
    if "allowed" not in trace:
        show_sentence("lessons.masks.no_mask")
        return
    wrong = with_inverted_mask(trace)
    show_mask_damage("lessons.masks.inverted", wrong, trace)
    selection = selection_of(trace_for(own), own)
    show_runs_side_by_side("conventions", {"kept": trace, "blocked": wrong}, selection)
    theirs = compare_with_torch_layer(trace, trace["allowed"], wrong)
    mended = compare_with_torch_layer(trace, to_mha_mask(trace["allowed"]), trace)
    if theirs is None:
        show_sentence("lessons.masks.no_torch")
        return
    show_sentence(
        "lessons.masks.torch",
        rows=theirs.rows,
        gap=format_gap(theirs.gap),
        lost=theirs.lost,
        mended=format_gap(mended.gap),
        empty=mended.lost,
    )


def show_misplaced_axis(own: Setup, setup: Setup) -> None:
    """Shows a mask with its heads on the wrong axis: torch raises an error, or silently broadcasts the mask."""
    trace = trace_for(setup)
    if "allowed" not in trace:
        show_sentence("lessons.masks.no_mask")
        return
    T = trace.sizes()["T"]
    d_k, d_v = trace.step("k").shape[-1], trace.step("v").shape[-1]
    many = setup.with_fields(heads=slide("heads", range(1, 17), T), d_k=d_k, d_v=d_v)
    run = trace_for(many)
    try:
        wrong = with_misplaced_mask(run)
    except AttentionError as refusal:
        st.error(say_refusal(refusal), icon=":material/error:")
        key = "refused" if many.run.heads > 1 else "refused_one"
        show_sentence(f"lessons.masks.{key}", T=T, heads=many.run.heads)
        return
    show_mask_damage("lessons.masks.misplaced", wrong, run)
    selection = selection_of(trace_for(own), own)
    heads = range(many.run.heads)
    selection = replace(selection, head=min(selection.head, len(heads) - 1))
    show_runs_side_by_side("axes", {"intended": run, "applied": wrong}, selection)
    link_to_workbench(many, "axes")


def show_mask_damage(key: str, wrong: Trace, right: Trace) -> None:
    """Shows how many pairs and weights a wrong mask changed, and which weight changed most."""
    found = measure_mask_damage(wrong, right)
    if found.largest is None:
        show_sentence("lessons.masks.no_damage")
        return
    worst = describe_worst_weight(found.largest.index, wrong, right)
    show_sentence(key, pairs=found.pairs, of=found.of, weights=found.weights, worst=worst)


def describe_worst_weight(index: tuple[int, ...], wrong: Trace, right: Trace) -> str:
    """Returns a sentence about a weight under the wrong and the right mask; "" if it depends on random numbers.

    index: (batch, head, query, key) of the weight. wrong, right: the runs under both masks.
    """
    _, head, query, key = index
    if accident_at(right, query, [key]):
        return ""
    return say(
        "lessons.masks.worst",
        head=place_name(right, "H", head),
        query=quote_token(right, "T", query),
        key=quote_token(right, "S", key),
        before=format_fixed(right["weights"][index].item()),
        now=format_fixed(wrong["weights"][index].item()),
    )


# ---- drawer "nothing": what if a word may not attend to any word? ----------------------------------------------------
EMPTY_ROW_BARS_PX = 46.0  # px: height of each of the five rows of bars


def show_empty_row(own: Setup, setup: Setup) -> None:
    """Blocks all keys of one query, and shows its weights under each of EMPTY_ROW_POLICIES, such as zeros or NaN."""
    trace = trace_for(setup)
    selection = selection_of(trace_for(own), own)
    names = list_place_names(trace, "T")
    empty = find_empty_row(trace)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = pick_place("row", names, selection.query if empty is None else empty)
        dtype = choose_option("dtype", ("float64", "float32", "float16"))
    bits = block_query(mask_bits_of(trace), row)
    masked = own.with_fields(allowed=pack_mask(bits, trace), dtype=dtype)
    place = (0, selection.head, row)
    runs = {}
    rows = []
    for policy in EMPTY_ROW_POLICIES:
        runs[policy] = with_empty_row_policy(trace_for(masked), policy)
        title = say(f"lessons.masks.treated_{policy}", dtype=dtype)
        row_of_policy = row_of(title, runs[policy], "weights", place, policy)
        rows.append(row_of_policy)
    word = escape_markdown(names[row])
    show_sentence("lessons.masks.treated", word=word, **count_policies(rows))
    alt = say("lessons.masks.treated_alt")
    show_bar_rows("row", rows, names, runs, trace, alt, height=EMPTY_ROW_BARS_PX)
    gap = largest_gap_of_other_rows(runs, bits)
    show_sentence("lessons.masks.others", gap=format_gap(gap))
    link_to_workbench(masked, "row")


def count_policies(rows: list[Row]) -> dict[str, int]:
    """Counts the policies for rows without an allowed key: "seen" if blocked words get a weight above 0, "lost" if
    weights are NaN.

    rows: the same row of weights under each policy.
    """
    leaking = []
    lost = []
    for row in rows:
        if any(value > 0 for value in row.values):
            leaking.append(row)
        if any(value != value for value in row.values):  # True for NaN, which alone differs from itself
            lost.append(row)
    return {"seen": len(leaking), "lost": len(lost)}


def largest_gap_of_other_rows(runs: Mapping[str, Trace], bits: Bits) -> float:
    """Returns how far outputs differ at most between the policies, for words with at least one allowed key.

    runs: {policy: run}. bits: the mask.
    """
    filled = [query for query, row in enumerate(bits) if "1" in row]
    gaps = []
    for run in runs.values():
        moved = with_moved_rows(run, runs["zero"])["moved"][0]  # (T,)
        gaps.extend(moved[filled].tolist())
    return max(gaps, default=0.0)


LESSON = Lesson(
    "masks",
    drawers={
        "future": Tabs(
            "future",
            {
                "change": show_later_word,
                "step": show_changed_steps,
                "added": show_added_mask,
                "layers": show_reach_by_layers,
                "shifted": show_shifted_targets,
            },
            below=partial(show_without, "mask"),
        ),
        "wirings": Tabs(
            "wiring",
            {
                "encoder": show_encoder_wiring,
                "decoder": show_decoder_wiring,
                "masked": show_masked_word,
                "first": show_attention_sink,
            },
        ),
        "pairs": show_pairs,
        "nothing": Tabs(
            "nothing", {"row": show_empty_row, "conventions": show_mask_conventions, "axes": show_misplaced_axis}
        ),
    },
    code=("masked_scores", "weights", "allowed", "head_outputs"),
)
