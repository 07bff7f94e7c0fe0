"""Draws the accordions of the lesson on decoding with a key/value cache."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from attention_core import Trace
from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.cache_pictures import CacheTriangle, triangle_picture
from attention_core.drawing.curves import Curve, curves
from attention_core.explanation.layout import panel
from attention_core.learned.language.fill_in_middle import MIDDLE_FIGURES, MIDDLE_LANGUAGE
from attention_core.learned.language.shipped import other_form
from attention_core.learned.language.writing import guess_from_both, guess_from_left, try_words
from attention_core.record.number_text import (
    GIB,
    MIB,
    TIB,
    format_exact,
    format_fixed,
    format_grouped,
    format_or_scientific,
    format_percent,
)
from attention_core.variants.decoding_work import (
    STATE_ABSENT,
    STATE_AGAIN,
    STATE_COMPUTED,
    STATE_KEPT,
    cache_bytes,
    cache_states,
    kv_bytes,
    latent_bytes,
    total_work,
)
from attention_core.variants.kv_cache import gap_to_full
from attention_core.variants.linear_recurrence import count_state_numbers, gap_to_map, with_linear_states
from attention_core.verification.precision import PRECISIONS
from pages.export.page_links import link_to_workbench
from pages.lessons.decoding.written import Written
from pages.lessons.frame import Lesson, Tabs
from pages.lessons.pictures import show_panels, show_step_picture, show_word_shares
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names, quote_token, say_bytes, show_sentence
from pages.panels.chart import show_chart, show_curve_chart
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, pick_place, slide
from pages.runs.cache import decoding_steps_for, trace_for
from pages.runs.model_runs import model_vocabulary
from pages.session.labels import Selection, current_palette, selection_of
from pages.setup.link_values import read_link_count
from pages.setup.setup import Setup, make_setup
from pages.site.words import escape_markdown, say

# ---- drawer "count": how much does the cache save? -------------------------------------------------------------------
DECODED_LENGTHS = (16, 64, 256, 1024, 4096)
MOST_TRIANGLE_WORDS = 12  # most words along a side of a triangle, so that its cells are legible with a projector
TRIANGLE_STATES = {
    "with": (STATE_COMPUTED, STATE_KEPT, STATE_ABSENT),
    "without": (STATE_COMPUTED, STATE_AGAIN, STATE_ABSENT),
}  # name of a triangle -> the kinds of cells that its legend explains


def show_counted_keys(written: Written) -> None:
    """Shows how many keys each decoding step computes for the generated words; asks how many a longer text needs."""
    names = written.words[:MOST_TRIANGLE_WORDS]
    count = len(names)
    values = {name: format_grouped(total_work(count, cached=name == "cached").keys) for name in ("cached", "again")}
    show_sentence("lessons.decoding.triangles", count=count, **values)
    with st.container(horizontal=True, gap="medium"):
        show_triangles(names)
    ask_for_key_count()


def show_triangles(names: Sequence[str]) -> None:
    """Draws two triangles, with and without a cache, of the keys that each decoding step computes.

    names: the names of the tokens.
    """

    def describe_cell(step: int, token: int, state: str) -> str:
        return say("lessons.decoding.cell", step=names[step], token=names[token])

    for kind, states in TRIANGLE_STATES.items():
        is_cached = kind == "with"
        computed = total_work(len(names), cached=is_cached)
        title = say(f"lessons.decoding.{kind}", keys=computed.keys)
        triangle = CacheTriangle(title, cache_states(len(names), cached=is_cached))
        legend = {state: say(f"lessons.decoding.state.{state}") for state in states}
        picture = triangle_picture(triangle, names, len(names) - 1, describe_cell, legend, current_palette())
        show_chart(picture, f"decoding_{kind}", say("lessons.decoding.alt", title=title), lambda cell: None)


def ask_for_key_count() -> None:
    """Asks how many keys are computed for a long text without a cache; shows the answer after the visitor's guess.

    The answer comes with a chart of the number of keys by length.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            length = slide("length", DECODED_LENGTHS, 256, format_grouped)
        right = total_work(length, cached=False).keys  # T(T + 1)/2
        guesses = (length, 2 * length, right, length**2)
        known = predict([format_grouped(count) for count in guesses], {guesses.index(right)})
    if not known:
        return
    show_sentence(
        "lessons.decoding.counted",
        length=format_grouped(length),
        cached=format_grouped(total_work(length).keys),
        again=format_grouped(right),
    )
    show_key_curves(length)


def show_key_curves(length: int) -> None:
    """Draws the number of computed keys by length, with and without a cache.

    length: the length that a vertical line marks.
    """
    palette = current_palette()
    drawn = []
    for name, colour, is_cached in (("cached", palette.k, True), ("again", palette.x, False)):
        counted = [total_work(each, cached=is_cached).keys for each in DECODED_LENGTHS]
        drawn.append(Curve(say(f"lessons.decoding.picture.way_{name}"), DECODED_LENGTHS, counted, colour))
    x = Axis(
        say("lessons.decoding.axis_tokens"),
        *(DECODED_LENGTHS[0], DECODED_LENGTHS[-1]),
        log=True,
        values=DECODED_LENGTHS,
        texts=tuple(map(format_grouped, DECODED_LENGTHS)),
    )
    most = total_work(DECODED_LENGTHS[-1], cached=False).keys
    y = decade_axis(say("lessons.decoding.axis_keys"), [DECODED_LENGTHS[0], most])
    show_curve_chart(curves(drawn, x, y, palette, at=length), "decoding_keys", say("lessons.decoding.keys_alt"))


# ---- drawer "size": how many bytes does the cache hold? --------------------------------------------------------------
MODEL_HEADS, MODEL_HEAD_WIDTH = 32, 128  # per layer: 32 query heads of width 128, so the model's width is 4,096
LATENT_WIDTH, TURNED_WIDTH = 4 * MODEL_HEAD_WIDTH, MODEL_HEAD_WIDTH // 2  # widths of what each token caches
CACHE_WINDOWS = {"all": None, "last_4096": 4096, "last_1024": 1024}  # name of a window -> its tokens; None: no window
# option -> number of key/value heads; None: a cached latent
KV_HEAD_COUNTS = {"each": MODEL_HEADS, "grouped": 8, "multi": 1, "latent": None}
MODEL_LAYERS = (1, 12, 32, 80)
OWN_WINDOW = 3  # window in tokens for the visitor's text, which is short
CACHE_LENGTHS = (256, 1024, 4096, 16384, 65536, 131072)
CACHE_AXIS_TOKENS, CACHE_AXIS_BYTES = (1024, 4096, 16384, 65536), (MIB, GIB, TIB)  # ticks of the cache chart's axes
CACHE_AXIS_START_BYTES = 262_144  # bytes at which the vertical axis of the cache chart begins


@dataclass(frozen=True)
class CachedModel:
    """The settings of a model that decide the size of its cache.

    kv_heads: the number of key/value heads of each layer; None if a latent is cached instead. window: a key of
    CACHE_WINDOWS. dtype: one of PRECISIONS.
    """

    kv_heads: int | None
    window: str
    layers: int
    dtype: str

    @property
    def plain(self) -> "CachedModel":
        """The same model with a key/value head for each query head and without a window."""
        return replace(self, kv_heads=MODEL_HEADS, window="all")

    def bytes_after(self, tokens: int) -> int:
        """Returns the bytes of the cache after `tokens` tokens."""
        common = {"dtype": PRECISIONS[self.dtype], "layers": self.layers, "window": CACHE_WINDOWS[self.window]}
        if self.kv_heads is None:
            return latent_bytes(tokens, d_c=LATENT_WIDTH, d_r=TURNED_WIDTH, **common)
        return cache_bytes(tokens, kv_heads=self.kv_heads, d_k=MODEL_HEAD_WIDTH, d_v=MODEL_HEAD_WIDTH, **common)


def show_cache_size(written: Written) -> None:
    """Shows the size of a model's cache by text length, and the size for the visitor's text."""
    with st.container(horizontal=True):
        heads = choose_option("kv_heads", tuple(KV_HEAD_COUNTS))
        window = choose_option("window", tuple(CACHE_WINDOWS))
        dtype = choose_option("dtype", ("float32", "bfloat16", "float16"), "float16", lambda name: say(f"dtype.{name}"))
    with st.columns(2)[0], st.container(horizontal=True):
        layers = slide("layers", MODEL_LAYERS, 32)
        length = slide("tokens", CACHE_LENGTHS, 4096, format_grouped)
    model = CachedModel(KV_HEAD_COUNTS[heads], window, layers, dtype)
    say_cache_size(model, length)
    show_cache_chart(model, length)
    show_cache_of_own_text(written.whole(), model)


def say_cache_size(model: CachedModel, length: int) -> None:
    """Shows the size of a model's cache, and its size without shared heads and without a window."""
    size = say_bytes(model.bytes_after(length))
    plain = say_bytes(model.plain.bytes_after(length))
    key = "size_plain" if size == plain else "size"
    if model.kv_heads is None:
        key = "size_latent"
    show_sentence(
        f"lessons.decoding.{key}",
        tokens=format_grouped(length),
        layers=model.layers,
        kv=model.kv_heads,
        d_c=LATENT_WIDTH,
        d_r=TURNED_WIDTH,
        dtype=model.dtype,
        size=size,
        plain=plain,
    )


def show_cache_of_own_text(setup: Setup, model: CachedModel) -> None:
    """Runs a layer with the model's settings on the visitor's text; shows the size of its cache, by formula and
    measured.

    setup: the visitor's text. model: the chosen settings.
    """
    masks = ("causal",) if model.window == "all" else (f"sliding:{OWN_WINDOW}",)
    own = setup.with_fields(layer=1, dtype=model.dtype, masks=masks)
    if model.kv_heads is None:
        show_latents_of_own_text(own.with_fields(modifiers=("latent",), positions=("decoupled_rope",)))
        return
    own = own.with_fields(kv_heads=1 if model.kv_heads < MODEL_HEADS else None)
    last_step = decoding_steps_for(own)[-1]
    sizes = last_step.sizes()
    widths = {"d_k": sizes["d_k"], "d_v": sizes["d_v"]}
    dtype = PRECISIONS[model.dtype]
    closed = cache_bytes(sizes["S"], kv_heads=sizes["H_kv"], dtype=dtype, **widths)
    show_sentence(
        "lessons.decoding.own",
        closed=closed,
        held=kv_bytes(last_step),
        each=dtype.itemsize,
        S=sizes["S"],
        H_kv=sizes["H_kv"],
        window=OWN_WINDOW,
        **widths,
    )
    link_to_workbench(own, "size")


def show_latents_of_own_text(setup: Setup) -> None:
    """Shows the size of the cached latents of the visitor's text in bytes, by formula and measured."""
    last_step = decoding_steps_for(setup)[-1]
    sizes = last_step.sizes()
    dtype = PRECISIONS[setup.run.dtype]
    widths = {"d_c": sizes["d_c"], "d_r": sizes["d_r"]}
    show_sentence(
        "lessons.decoding.own_latent",
        closed=latent_bytes(sizes["S"], dtype=dtype, **widths),
        held=kv_bytes(last_step),
        each=dtype.itemsize,
        S=sizes["S"],
        window=OWN_WINDOW,
        **widths,
    )
    link_to_workbench(setup, "size")


def show_cache_chart(model: CachedModel, length: int) -> None:
    """Draws the size of a model's cache by length, and its size without shared heads and without a window.

    length: the number of tokens that a vertical line in the chart marks.
    """
    palette = current_palette()
    colours = {model.plain: palette.x, model: palette.k}
    drawn = []
    for each, colour in colours.items():
        is_compared = each != model
        curve = make_cache_curve(each, colour, dashed=is_compared)
        drawn.append(curve)
    picture = curves(drawn, tokens_axis(), bytes_axis(), palette, at=length)
    show_curve_chart(picture, "decoding_size", say("lessons.decoding.size_alt"))


def make_cache_curve(model: CachedModel, colour: str, dashed: bool) -> Curve:
    """Returns the curve of the size of a model's cache, by the number of tokens."""
    kept = say(f"lessons.decoding.option.window.{model.window}")
    name = say("lessons.decoding.curve", kv=model.kv_heads, kept=kept)
    if model.kv_heads is None:
        name = say("lessons.decoding.curve_latent", kept=kept)
    sizes = [model.bytes_after(tokens) for tokens in CACHE_LENGTHS]
    return Curve(name, CACHE_LENGTHS, sizes, colour, dashed)


def tokens_axis() -> Axis:
    """Returns the axis for the number of tokens."""
    return Axis(
        say("lessons.decoding.axis_tokens"),
        CACHE_LENGTHS[0],
        CACHE_LENGTHS[-1],
        log=True,
        values=CACHE_AXIS_TOKENS,
        texts=tuple(map(format_grouped, CACHE_AXIS_TOKENS)),
    )


def bytes_axis() -> Axis:
    """Returns the axis for the bytes of a cache."""
    return Axis(
        say("lessons.decoding.axis_size"),
        CACHE_AXIS_START_BYTES,
        TIB,
        log=True,
        values=CACHE_AXIS_BYTES,
        texts=tuple(map(say_bytes, CACHE_AXIS_BYTES)),
    )


# ---- drawer "kept": what is in the cache? ----------------------------------------------------------------------------
HANDMADE_EXAMPLES = {"model_en_decoder": "en_it_causal", "model_zh_decoder": "zh_ta"}  # model -> example built by hand


def setup_for_handmade_decoder(written: Written) -> Setup:
    """Returns the Setup of a short sentence in the text's language, with matrices built by hand so that its numbers are
    easy to read.
    """
    return make_setup(example=HANDMADE_EXAMPLES[written.setup.run.example], masks=("causal",))


def show_cache_contents(written: Written) -> None:
    """Shows the keys and values that the cache contains at a decoding step, and how positions change them."""
    kind = choose_option("positions", ("none", "rope", "alibi"))
    positions = None if kind == "none" else (kind,)
    placed = setup_for_handmade_decoder(written).with_fields(positions=positions)
    steps = decoding_steps_for(placed)
    full = trace_for(placed)
    selection = selection_of(full, placed)
    gap = gap_to_full(steps, full, "k")
    word = quote_token(full, "T", selection.query)
    show_sentence(f"lessons.decoding.kept_{kind}", gap=format_exact(gap), word=word)
    alone = steps[selection.query]
    selection_alone = replace(selection, query=0)  # the only query of a decoding step has index 0
    show_step_picture("cache", alone, "k", selection_alone)
    if kind == "alibi":
        show_step_picture("bias", alone, "biased_scores", selection_alone)
    link_to_workbench(placed, "kept")


# ---- drawer "kept", tab: must every query be compared with every key? ------------------------------------------------
LINEAR_ATTENTION = {"score": "linear", "normaliser": "share", "masks": ("causal",)}


def show_linear_state(written: Written) -> None:
    """Shows linear attention in two forms: as a matrix of weights, and as a state of fixed size that sums tokens."""
    setup = setup_for_handmade_decoder(written).with_fields(**LINEAR_ATTENTION)
    trace = trace_for(setup)
    query = pick_place("reads", list_place_names(trace, "T"), selection_of(trace, setup).query)
    setup = setup.with_fields(token=query)
    seen = query + 1
    longer = with_linear_states(trace, seen)
    say_state_size(longer, seen)
    show_state(longer, seen, selection_of(trace, setup))
    link_to_workbench(setup, "state")


def say_state_size(longer: Trace, seen: int) -> None:
    """Shows the size of the state, and the largest difference between the results of linear attention's two forms.

    longer: a run with the states of linear attention (with_linear_states). seen: the number of tokens read so far.
    """
    sizes = longer.sizes()
    show_sentence(
        "lessons.decoding.linear_state",
        seen=seen,
        d_k=sizes["d_k"],
        d_v=sizes["d_v"],
        numbers=format_grouped(count_state_numbers(sizes["d_k"], sizes["d_v"])),
        gap=format_or_scientific(gap_to_map(longer, seen)),
    )


def show_state(longer: Trace, seen: int, selection: Selection) -> None:
    """Shows the state after some words, and the output for the last word, computed from the state.

    A click opens any number. seen: the number of words.
    """
    at = {"B": selection.batch, "H": selection.head, "H_kv": selection.kv}
    alt = say("lessons.decoding.state_alt")
    memory = [panel(longer, f"memory_{seen}", at)]
    show_panels("memory", memory, longer, [say("lessons.decoding.title_memory", seen=seen)], alt)
    outputs = [panel(longer, f"{name}_{seen}", at) for name in ("read", "linear_output")]
    titles = [say(f"lessons.decoding.title_{name}", seen=seen) for name in ("read", "linear_output")]
    show_panels("linear_output", outputs, longer, titles, alt)


# ---- drawer "middle": can a decoder fill a gap? ----------------------------------------------------------------------
FIRST_GAPS = ("did", "没")  # word hidden by default, in English or Chinese: the one that occurs in the text
MOST_CANDIDATES, LEAST_CANDIDATE_SHARE = 5, 0.001  # most words to list for the hidden word, and their least probability
TRIED_WORDS = 50  # number of words that are tried in place of the hidden word


def show_filled_gap(written: Written) -> None:
    """Shows three predictions of a hidden word: from the words before it, by trying each candidate word, and from the
    words on both sides.

    Below is the fill-in-the-middle order, in which a decoder reads the words on both sides.
    """
    with st.container(width=300):
        at = choose_gap(written)
    show_readers(written, at)
    show_order(written, at)
    tell_held_out_figures()


def choose_gap(written: Written) -> int:
    """Shows the choice of the word to hide; returns the index of the word, from 1."""
    words = written.words[1:]
    if get_choice("gap", 0, read_link_count) >= len(words):
        store_choice("gap", None)  # removes the visitor's stored index, which this shorter text lacks
    places = [place for place, word in enumerate(words) if word in FIRST_GAPS]
    usual = places[0] if places else len(words) // 2
    return 1 + pick_place("gap", words, usual)


def show_readers(written: Written, at: int) -> None:
    """Shows the likeliest words for the hidden word by each method, and the probability that each gives to that word.

    at: the index of the hidden word.
    """
    name, tokens = written.name, written.tokens
    readers = {
        "left": guess_from_left(name, tokens, at),
        "tried": try_words(name, tokens, at, TRIED_WORDS),
        "both": guess_from_both(other_form(name), tokens, at),
    }
    percents = {reader: format_percent(guess.own) for reader, guess in readers.items()}
    count = len(readers["tried"].numbers)
    show_sentence("lessons.decoding.gap", word=escape_markdown(written.words[at]), count=count, **percents)
    vocabulary = model_vocabulary(name)
    with st.container(horizontal=True, gap="large"):
        for reader, guess in readers.items():
            likeliest = guess.likeliest(MOST_CANDIDATES, LEAST_CANDIDATE_SHARE)
            words = [(vocabulary[number], share) for number, share in likeliest]
            with st.container(width=300):
                st.markdown(f"**{say(f'lessons.decoding.reader.{reader}')}**")
                show_word_shares(words, f"decoding_gap_{reader}")


def show_order(written: Written, at: int) -> None:
    """Shows the text in the order prefix, suffix, middle; the middle, which comes last, is the hidden word.

    at: the index of the hidden word.
    """
    show_sentence("lessons.decoding.order")
    st.code(" ".join(written.moved(at)), language=None, wrap_lines=True)


def tell_held_out_figures() -> None:
    """Shows the measured accuracy of predicting a hidden word of held-out English texts.

    Among the measured models is a decoder that was trained on texts in the fill-in-the-middle order.
    """
    figures = MIDDLE_FIGURES.rows[MIDDLE_LANGUAGE]
    values = {}
    for name in ("left", "both", "before", "order"):
        share, first = getattr(figures, name)
        values[name] = format_percent(share)
        values[f"{name}_first"] = format_percent(first)
    own, ordered = map(format_fixed, figures.nats)
    counts = {"texts": format_grouped(figures.texts), "steps": format_grouped(figures.steps)}
    show_sentence("lessons.decoding.middle", own=own, ordered=ordered, **counts, **values)


LESSON = Lesson(
    "decoding",
    drawers={
        "count": show_counted_keys,
        "size": show_cache_size,
        "kept": Tabs("what", {"keys": show_cache_contents, "state": show_linear_state}),
        "middle": show_filled_gap,
    },
    code=("k", "k_new", "v", "scores", "weights", "head_outputs", "output"),
)
