"""Shows the accordions of the lesson on published models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from attention_core.comparison.differences import find_moves
from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.examples.published_models import GEMMA_3_12B, PUBLISHED_MODELS, PublishedModel
from attention_core.record.number_text import GIB, MIB, format_grouped, format_or_scientific, format_percent
from attention_core.variants.decoding_work import cache_bytes, latent_bytes
from attention_core.verification.precision import PRECISIONS
from pages.export.page_links import link_to_workbench
from pages.lessons.frame import Lesson
from pages.lessons.models.pairs import Side, link_to_both, make_side, make_side_map, name_part, show_sides
from pages.lessons.models.parts import VARIANT_FINDERS, say_part
from pages.lessons.pictures import show_side_by_side
from pages.lessons.prompts import predict
from pages.lessons.sentences import say_bytes, show_sentence
from pages.panels.link_controls import choose_option
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.panels.live_frames import show_followed_curves, tell_live
from pages.session.labels import current_palette
from pages.site.words import escape_markdown, has, say

# ---- how many bytes of keys and values a published model keeps, and their chart --------------------------------------
CACHE_DTYPE = "bfloat16"  # dtype of cached keys and values: two bytes per number
TEXT_LENGTHS = tuple(2**power for power in range(8, 18))  # text lengths in tokens: 256 to 131,072
CHART_WIDTH_PX, CHART_HEIGHT_PX = 720, 260  # px: size of a chart's plot area


def count_cache_bytes(model: PublishedModel, tokens: int, is_windowed: bool = True) -> int:
    """Returns the bytes of keys and values that all layers cache after `tokens` tokens; 0 for a model without a cache.

    is_windowed: whether layers with a window drop keys and values outside the window.
    """
    kept = 0
    for kind in model.kinds:
        if not kind.is_cached:
            continue
        window = kind.window if is_windowed else None
        common = {"dtype": PRECISIONS[CACHE_DTYPE], "layers": kind.count, "window": window}
        if model.latent is not None:
            d_c, d_r = model.latent
            kept += latent_bytes(tokens, d_c=d_c, d_r=d_r, **common)
        else:
            width = model.head_width
            kept += cache_bytes(tokens, kv_heads=model.kv_heads, d_k=width, d_v=width, **common)
    return kept


def count_bytes_beyond(model: PublishedModel, window: int) -> int:
    """Returns the bytes that another token adds to a model's cache once its window is full."""
    return count_cache_bytes(model, window + 1) - count_cache_bytes(model, window)


def share_kept(model: PublishedModel) -> float:
    """Returns the ratio of the size of a model's cache with windows to its size without windows, at the model's context
    length.
    """
    return count_cache_bytes(model, model.context) / count_cache_bytes(model, model.context, is_windowed=False)


def tell_cache(model: PublishedModel, tokens: int) -> str:
    """Returns the sentence on the bytes that a model caches after `tokens` tokens."""
    name = f"**{model.name}**"
    kept = count_cache_bytes(model, tokens)
    if not kept:
        return say("lessons.models.keeps_nothing", model=name)
    if model.context is not None and tokens > model.context:
        return say("lessons.models.too_long", model=name, context=format_grouped(model.context))
    return say("lessons.models.keeps", model=name, tokens=format_grouped(tokens), size=say_bytes(kept))


def show_cache_chart(tokens: LiveChoice, models: Mapping[str, PublishedModel]) -> None:
    """Shows the size of each model's cache by the count of tokens.

    tokens: the slider that a vertical line follows. models: {name of a colour: the model whose curve has this colour}.
    """
    palette = current_palette()
    drawn = []
    for colour, model in models.items():
        lengths = [length for length in TEXT_LENGTHS if model.context is None or length <= model.context]
        sizes = [count_cache_bytes(model, length) for length in lengths]
        if any(sizes):
            drawn.append(Curve(model.name, lengths, sizes, getattr(palette, colour)))
    axes = (tokens_axis(), bytes_axis())
    picture = curves(drawn, *axes, palette, width=CHART_WIDTH_PX, height=CHART_HEIGHT_PX)
    show_followed_curves(tokens, "models_cache", picture, axes, say("lessons.models.cache_alt"))


def tokens_axis() -> Axis:
    """Returns the axis of the count of tokens, from 256 to 131,072, with a logarithmic scale."""
    shown = (256, 4096, 131072)
    return Axis(
        say("lessons.models.axis_tokens"),
        TEXT_LENGTHS[0],
        TEXT_LENGTHS[-1],
        log=True,
        values=shown,
        texts=tuple(map(format_grouped, shown)),
    )


def bytes_axis() -> Axis:
    """Returns the axis of the bytes of a cache, from 1 MiB to 64 GiB, with a logarithmic scale."""
    shown = (MIB, GIB, 64 * GIB)
    return Axis(
        say("lessons.models.axis_bytes"),
        MIB,
        64 * GIB,
        log=True,
        values=shown,
        texts=tuple(map(say_bytes, shown)),
    )


# ---- the sources of the models' numbers ------------------------------------------------------------------------------
def show_read_sources() -> None:
    """Shows a list of the sources of each model's numbers, with notes if sources differ."""
    show_sentence("lessons.models.reading")
    lines = []
    for key, model in PUBLISHED_MODELS.items():
        note = f"lessons.models.note.{key}"
        read = say("lessons.models.read", model=model.name, source=escape_markdown(model.source))
        lines.append(f"- {read} {say(note)}" if has(note) else f"- {read}")
    st.markdown("\n".join(lines))


# ---- the table of published models, each with a link to its layer in the workbench -----------------------------------
TABLE_COLUMN_WIDTHS = (5, 4, 5, 5, 3)  # relative widths: model, three columns of layer parts, bytes with a link
TABLE_PARTS = (("positions",), ("heads",), ("masks", "score", "modifiers", "normaliser"))  # layer parts of each column
USUAL_PARTS = {
    "score": "scaled_dot",
    "modifiers": "plain",
    "normaliser": "softmax",
}  # layer part -> its most common variant, which the table omits


def show_model_table(layers: Sequence[Side], texts: Sequence[str], shows_bytes: bool) -> None:
    """Shows a table with one row for each published model, from the oldest to the newest.

    layers: for each model, a small layer with the same mechanism. texts: for each model, the sentence that says what
    this layer represents. shows_bytes: whether the rows show the bytes of the cache, which answer the question above.
    """
    st.caption(say("lessons.models.table"))
    seen: set[str] = set()
    for key, layer, text in zip(PUBLISHED_MODELS, layers, texts, strict=True):
        with st.container(border=True):  # a border keeps a row's five cells together on a phone
            show_model_row(key, layer, text, shows_bytes, seen)
        seen |= {f"{part}.{find(layer.model)}" for part, find in VARIANT_FINDERS.items()}


def show_model_row(key: str, layer: Side, text: str, shows_bytes: bool, seen: set[str]) -> None:
    """Shows the row of one model in the table of models.

    layer: the model's small layer. text: the sentence about this layer. shows_bytes: whether the row has the bytes that
    a token adds to the cache. seen: the variants of layer parts that earlier models have; other variants are bold.
    """
    model = layer.model
    at_name, *at_parts, at_size = st.columns(TABLE_COLUMN_WIDTHS, vertical_alignment="center", gap="xsmall")
    with at_name, st.container(gap=None):
        st.markdown(say("lessons.models.row_name", year=model.year, model=model.name))
        sizes = say("lessons.models.sizes", layers=model.layers, width=format_grouped(model.width))
        st.caption(f"{sizes}  \n{escape_markdown(model.source)}")
    for column, parts in zip(at_parts, TABLE_PARTS, strict=True):
        column.markdown(tell_parts(model, parts, seen))
    with at_size, st.container(gap=None):
        st.markdown(tell_bytes(model) if shows_bytes else say("lessons.models.hidden_bytes"))
        link_to_workbench(layer.setup, f"row_{key}", say("lessons.models.open"), text)


def tell_parts(model: PublishedModel, parts: Sequence[str], seen: set[str]) -> str:
    """Returns the text about a model's variants of some layer parts, with new variants in bold.

    parts: names of layer parts, such as "masks". seen: the variants that earlier models have.
    """
    said = []
    for part in parts:
        value = VARIANT_FINDERS[part](model)
        if USUAL_PARTS.get(part) == value:
            continue
        text = say_part(model, part)
        said.append(text if f"{part}.{value}" in seen else f"**{text}**")
    return say("lessons.models.dot").join(said)


def tell_bytes(model: PublishedModel) -> str:
    """Returns the sentence about the bytes that a token adds to a model's cache."""
    kept = count_cache_bytes(model, 1)
    if not kept:
        return say("lessons.models.no_cache")
    windows = [kind.window for kind in model.kinds if kind.window is not None]
    if not windows:
        return say("lessons.models.a_token", size=say_bytes(kept))
    later = count_bytes_beyond(model, *windows)
    return say(
        "lessons.models.a_token_then",
        size=say_bytes(kept),
        later=say_bytes(later),
        window=format_grouped(*windows),
    )


# ---- drawer "read": which parts does each model have, what does it cache, and from which source? ---------------------
GUESSED_MODELS = ("gpt_2", "llama_7b", "llama_2_70b", "gpt_oss_120b")  # models offered in the guess


def show_model_list(layers: Sequence[Side], texts: Sequence[str]) -> None:
    """Asks for a guess, then shows the table of all models with their cached bytes, and the sources of the numbers.

    layers: for each model, a small layer with the same mechanism. texts: for each model, the sentence that says what
    this layer represents.
    """
    is_answered = ask_for_most_bytes()
    show_model_table(layers, texts, is_answered)
    show_read_sources()


def ask_for_most_bytes() -> bool:
    """Asks which model caches the most bytes per token; returns whether the answer may be shown."""
    guessed = [PUBLISHED_MODELS[key] for key in GUESSED_MODELS]
    sizes = [count_cache_bytes(model, 1) for model in guessed]
    most = guessed[sizes.index(max(sizes))]
    known = predict([model.name for model in guessed], {guessed.index(most)})
    if known:
        show_sentence(
            "lessons.models.most",
            model=most.name,
            layers=sum(kind.count for kind in most.kinds if kind.is_cached),
            kv=most.kv_heads,
            width=most.head_width,
            size=say_bytes(max(sizes)),
            shared=say_bytes(sizes[GUESSED_MODELS.index("llama_2_70b")]),
        )
    return known


# ---- drawer "one": what does one change alone do? --------------------------------------------------------------------
FIELDS_OF_PARTS = {  # part of a layer -> the Setup field that determines it
    "positions": "positions",
    "heads": "kv_heads",
    "masks": "masks",
    "score": "score",
    "modifiers": "modifiers",
    "normaliser": "normaliser",
}


def show_one_change(old: Side, new: Side) -> None:
    """Shows the older layer with one part (such as the mask) of the newer layer.

    Says how far weights and output move.
    """
    parts = [part for part in FIELDS_OF_PARTS if take_part(old, new, part).setup != old.setup]
    if not parts:
        st.markdown(say("lessons.models.no_change"))
        return
    part = choose_option("part", parts, words=name_part)
    changed = take_part(old, new, part)
    moved = find_moves(changed.trace, old.trace)
    figures = {}
    for step in ("weights", "output"):
        figures[step] = format_or_scientific(moved[step].size) if step in moved else "0"
    show_sentence("lessons.models.one_change", part=name_part(part), old=old.model.name, new=new.model.name, **figures)
    title = say("lessons.models.with_part", model=old.model.name, part=name_part(part))
    show_side_by_side(make_side_map(replace(old, part="before")), make_side_map(changed, title))
    link_to_both(old, changed, "one")


def take_part(old: Side, new: Side, part: str) -> Side:
    """Returns the older model's layer with one part replaced by that of the newer model's layer.

    part: a key of FIELDS_OF_PARTS, such as "masks".
    """
    field = FIELDS_OF_PARTS[part]
    setup = old.setup.with_fields(**{field: new.setup.value_of(field)})
    return replace(old, part="after", setup=setup)


# ---- drawer "cache": what does a long text cost? ---------------------------------------------------------------------
def show_cache_growth(old: Side, new: Side) -> None:
    """Shows the size of both models' caches by the count of tokens, with a sentence on the selected count."""
    tokens = find_live_choice("tokens", TEXT_LENGTHS, 1024, format_grouped)
    show_live_choice(tokens, width=420)
    told = [" ".join(tell_cache(side.model, length) for side in (old, new)) for length in TEXT_LENGTHS]
    tell_live(tokens, "models_kept", told)
    show_cache_chart(tokens, {"x": old.model, "share": new.model})


# ---- drawer "layers": are all layers alike? --------------------------------------------------------------------------
MIXED_MODELS = ("gemma_3_12b", "gemma_2_9b", "gpt_oss_120b")  # models with two kinds of layer; the first is the default
GUESSED_SHARES = ("2", "17", "50", "75")  # answers offered in the guess, in percent


def show_layer_kinds(_: Side, new: Side) -> None:
    """Shows a local and a global layer of Gemma 3 12B, and asks how much of the whole cache its windows leave."""
    sides = [make_side(kind.name, GEMMA_3_12B, kind, new.setup) for kind in GEMMA_3_12B.kinds]
    show_sides(*sides)
    labels = [say("train.percent", much=percent) for percent in GUESSED_SHARES]
    right = GUESSED_SHARES.index(format_percent(share_kept(GEMMA_3_12B)))
    if predict(labels, {right}, name="left"):
        lines = [f"- {tell_share(PUBLISHED_MODELS[key])}" for key in MIXED_MODELS]
        st.markdown("\n".join(lines))


def tell_share(model: PublishedModel) -> str:
    """Returns the sentence about the share of a model's cache that its windows leave."""
    local, whole = model.kinds
    return say(
        "lessons.models.left",
        model=model.name,
        local=local.count,
        whole=whole.count,
        window=format_grouped(local.window),
        context=format_grouped(model.context),
        size=say_bytes(count_cache_bytes(model, model.context)),
        plain=say_bytes(count_cache_bytes(model, model.context, is_windowed=False)),
        share=format_percent(share_kept(model)),
    )


LESSON = Lesson(
    "models",
    drawers={
        "read": show_model_list,
        "one": show_one_change,
        "cache": show_cache_growth,
        "layers": show_layer_kinds,
    },
    code=("q", "scores", "scaled_scores", "masked_scores", "weights", "head_outputs"),
)
