"""Compares an older and a newer published model part by part, each as a small layer with the model's mechanisms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from attention_core import Trace
from attention_core.drawing.specifications import Picture
from attention_core.examples.published_models import PUBLISHED_MODELS, LayerKind, PublishedModel, scale_down
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.record.number_text import format_grouped
from pages.export.page_links import link_to_workbench
from pages.lessons.models.parts import VARIANT_FINDERS, name_kind, say_part, say_what_for, tell_apart
from pages.lessons.opened_cell import FoundRuns
from pages.lessons.pictures import RunPicture, draw_picture, make_weights_map, show_opened_arithmetic
from pages.lessons.sentences import join_with_commas, quote_token
from pages.panels.live_choice import LiveChoice, LiveChoices
from pages.panels.live_frames import LiveCells, pack_live_cells, tell_live
from pages.runs.cache import cache_by_setup, keep_latest, trace_for
from pages.session.labels import current_palette, selection_of
from pages.session.opened_drawers import show_drawer
from pages.session.staged import is_one_screen
from pages.setup.choice_text import write_choice, write_mask, write_position
from pages.setup.setup import Setup
from pages.site.words import current_language, say

MAP_CELL_PX, MAP_ROOM_PX = 30.0, 400.0  # px: width of a cell, and largest width of each of two maps
MODELS = tuple(PUBLISHED_MODELS.values())
MODEL_KEYS = tuple(PUBLISHED_MODELS)


@dataclass(frozen=True)
class Side:
    """One of the two compared models, with the small layer that represents it.

    part: "old" or "new". kind: the kind of layer that is shown. setup: the Setup (settings of a run) of the small
    layer.
    """

    part: str
    model: PublishedModel
    kind: LayerKind
    setup: Setup

    @cached_property
    def trace(self) -> Trace:
        """The run of the Setup, stored here because the page has more layers than the cache of a thread."""
        return trace_for(self.setup)


def make_side(part: str, model: PublishedModel, kind: LayerKind, base: Setup) -> Side:
    """Returns the Side of a model with one of its kinds of layer.

    part: "old" or "new". base: the Setup with the words.
    """
    return Side(part, model, kind, make_small_layer(kind, base))


def name_dated(model: PublishedModel) -> str:
    """Returns the name of a model with its year."""
    return say("lessons.models.dated", model=model.name, year=model.year)


def name_layer(side: Side) -> str:
    """Returns the name of a model, with the kind of layer if the model has several kinds."""
    if len(side.model.kinds) == 1:
        return side.model.name
    return say("lessons.models.layer_of", model=side.model.name, kind=name_kind(side.kind.name))


def make_side_map(side: Side, title: str | None = None) -> RunPicture:
    """Returns a picture of the selected head's weights in the small layer of a model.

    title: the title of the picture; None for the name of the layer.
    """
    trace = side.trace
    selection = selection_of(trace, side.setup)
    title = title or say("lessons.models.map_title", layer=name_layer(side))
    return make_weights_map(side.part, trace, selection, title, MAP_ROOM_PX, MAP_CELL_PX, outlined=False)


@dataclass(frozen=True)
class ShownLayers:
    """The attention maps and texts of the small layers of all models.

    cells: the cells of each map, none of which is open. told: for each small layer, the text about what it represents
    and what it leaves out.
    """

    cells: LiveCells
    told: Sequence[str]


def list_shown_layers(base: Setup, sides: Sequence[Side]) -> ShownLayers:
    """Returns the attention maps and texts of all models, from a cache.

    base: the Setup with the words. sides: a small layer of each model.
    """
    return latest_layers(base, current_language(), current_palette().ground, sides)


# The maps and texts are cached together: even finding all runs in their own cache takes longer than drawing.
@keep_latest
def latest_layers(base: Setup, language: str, ground: str, _sides: Sequence[Side]) -> ShownLayers:
    layers = [cached_layer(side.setup, name_layer(side), language, ground, side) for side in _sides]
    maps, told = zip(*layers, strict=True)
    return ShownLayers(pack_live_cells(maps), told)


@cache_by_setup
def cached_layer(setup: Setup, layer: str, language: str, ground: str, _side: Side) -> tuple[Picture, str]:
    return make_side_map(_side).picture, tell_side(_side)


def tell_side(side: Side) -> str:
    """Returns the text about what a small layer represents and what it leaves out."""
    scale = tell_scale(side.model, side.kind, side.trace)
    return f"{scale} {tell_left_out(side.model, side.kind, side.trace)}"


def show_sides(*sides: Side) -> None:
    """Shows the layers of two models side by side, each with a map, a text and a link to the workbench."""
    pictures = [make_side_map(side) for side in sides]
    for column, side, picture in zip(st.columns(2, gap="medium"), sides, pictures, strict=True):
        with column, st.container(gap="xsmall"):
            draw_picture(picture)
            st.caption(tell_side(side))
            link_to_workbench(side.setup, side.part)
    for picture in pictures:
        show_opened_arithmetic(picture, "stretch")


def show_followed_sides(choices: Mapping[str, LiveChoice], sides: Sequence[Side], shown: ShownLayers) -> None:
    """Shows two layers, each of which follows the slider that selects its model.

    choices: {"old" or "new": its slider}. sides: a small layer of each model, in the order of the sliders' options.
    shown: the maps and texts of all models.
    """
    pictures = []
    for column, (part, choice) in zip(st.columns(2, gap="medium"), choices.items(), strict=True):
        picture = follow_side_map(part, choice, sides[choice.position], shown.cells)
        pictures.append(picture)
        with column, st.container(gap="xsmall"):
            draw_picture(picture)
            tell_live(choice, f"models_told_{part}", shown.told, "caption")
            link_to_workbench(sides[choice.position].setup, part, say("lessons.models.open"))
    for picture in pictures:
        show_opened_arithmetic(picture, "stretch")


def follow_side_map(part: str, choice: LiveChoice, side: Side, cells: LiveCells) -> RunPicture:
    """Returns one picture with the attention maps of all models, of which the browser shows the one at the slider's
    position.

    part: "old" or "new". side: the layer at the slider's current position. cells: the cells of all maps.
    """
    picture = cells.pictures[choice.position]
    alt = say("lessons.models.map_alt")
    setup = side.setup
    runs = FoundRuns([""], lambda name: trace_for(setup))
    return RunPicture(part, picture, runs, alt, followed=choice, cells=cells)


def tell_sight(old: Side, new: Side) -> str:
    """Returns the sentence about the words to which the last word may attend, in the older and in the newer layer."""
    seen = [cached_seen_words(side.setup, side) for side in (old, new)]
    words = [join_with_commas(say("fact.quoted", key=word) for word in each) for each in seen]
    return say(
        "lessons.models.sight",
        word=seen[0][-1],
        old=old.model.name,
        new=new.model.name,
        old_count=len(seen[0]),
        new_count=len(seen[1]),
        old_words=words[0],
        new_words=words[1],
    )


@cache_by_setup
def cached_seen_words(setup: Setup, _side: Side) -> list[str]:
    """Returns the words to which the last word may attend, from a cache."""
    allowed = _side.trace["masked_scores"][0, 0, -1].isfinite()  # (S,)
    return [quote_token(_side.trace, "S", place) for place, is_seen in enumerate(allowed.tolist()) if is_seen]


def link_to_both(old: Side, new: Side, key: str) -> None:
    """Shows a link that opens both layers in the workbench, the older layer as A and the newer layer as B."""
    both = new.setup.with_fields(against=old.setup.run, pinned="values")
    link_to_workbench(both, key, say("lessons.models.both"))


# ---- part by part ----------------------------------------------------------------------------------------------------
def list_parts(model: PublishedModel) -> dict[str, object]:
    """Returns, for a model, {part of an attention layer: a key}; two models have equal keys if they have the same
    variant of the part.
    """
    return {part: tell_apart(model, part) for part in VARIANT_FINDERS}


def list_changed_parts(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Returns the names of the layer parts, such as "masks", in which two models differ.

    old, new: for each model, {part: a key that differs if models differ in it}.
    """
    return [part for part in VARIANT_FINDERS if old[part] != new[part]]


def tell_pair(old: PublishedModel, new: PublishedModel, changed: Sequence[str]) -> str:
    """Returns the sentence that names two models and the layer parts in which they differ."""
    names = [name_part(part) for part in changed]
    return say(
        "lessons.models.pair" if names else "lessons.models.same_pair",
        old=name_dated(old),
        new=name_dated(new),
        count=len(names),
        all=len(VARIANT_FINDERS),
        parts=join_with_commas(names),
    )


def tell_pairs(choices: Mapping[str, LiveChoice]) -> None:
    """Shows the sentence about the two selected models, which follows both sliders."""
    parts = [list_parts(model) for model in MODELS]
    told = []
    for old, old_parts in zip(MODELS, parts, strict=True):
        for new, new_parts in zip(MODELS, parts, strict=True):
            told.append(tell_pair(old, new, list_changed_parts(old_parts, new_parts)))
    tell_live(LiveChoices(tuple(choices.values())), "models_pair", told, "heading")


def show_parts(old: PublishedModel, new: PublishedModel) -> None:
    """Shows the old and the new variant of each layer part that differs in a table, and what each variant is for in an
    accordion.
    """
    changed = list_changed_parts(list_parts(old), list_parts(new))
    if changed:
        st.markdown(tabulate_parts(changed, old, new))
    if changed and not is_one_screen():
        show_drawer(
            say("lessons.models.what_for"),
            ":material/help:",
            "models.what_for",
            lambda: show_purposes(changed, old, new),
        )
    kept = []
    for part in VARIANT_FINDERS:
        if part not in changed:
            kept.append(say("lessons.models.same_part", part=name_part(part), value=say_part(new, part)))
    if kept:
        st.caption(say("lessons.models.same", parts=say("lessons.models.semicolon").join(kept)))


def tabulate_parts(changed: Sequence[str], old: PublishedModel, new: PublishedModel) -> str:
    """Returns a Markdown table: a row for each part that differs, with its variants in the old and the new model."""
    lines = [say("lessons.models.parts_head", old=old.name, new=new.name), "|---|---|---|"]
    for part in changed:
        lines.append(f"| **{name_part(part).capitalize()}** | {say_part(old, part)} | {say_part(new, part)} |")
    return "\n".join(lines)


def show_purposes(changed: Sequence[str], old: PublishedModel, new: PublishedModel) -> None:
    """Shows what the old and the new variant of each part are for, and what they cost, side by side."""
    for part in changed:
        for column, model in zip(st.columns(2, gap="medium"), (old, new), strict=True):
            column.markdown(
                say(
                    "lessons.models.part_of",
                    part=name_part(part).capitalize(),
                    model=model.name,
                    value=say_part(model, part),
                    what=say_what_for(model, part),
                )
            )


def name_part(part: str) -> str:
    """Returns the name of a layer part, such as "masks", in the page's language."""
    return say(f"lessons.models.part.{part}")


# ---- a layer of a published model as a small Setup, and what the small layer leaves out ------------------------------
SMALL_HEADS, SMALL_WINDOW = 8, 4  # sizes of a small layer: query heads, and keys in a window


def make_small_layer(kind: LayerKind, base: Setup) -> Setup:
    """Returns the Setup of a small layer with the mechanisms of a published model's layer.

    base: the Setup with the words.
    """
    config = scale_down(kind.config, SMALL_HEADS, SMALL_WINDOW)
    normaliser, params = config.normaliser
    return base.with_fields(
        score=None if config.score == "scaled_dot" else config.score,
        kv_heads=config.kv_heads,
        masks=tuple(write_mask(*mask) for mask in config.masks) or None,
        positions=tuple(write_position(*position) for position in config.positions) or None,
        modifiers=tuple(write_choice(*modifier, MODIFIERS) for modifier in config.modifiers) or None,
        normaliser=write_choice(normaliser, params, NORMALISERS),
    )


def tell_scale(model: PublishedModel, kind: LayerKind, trace: Trace) -> str:
    """Returns the text about the sizes of a small layer and of the model that it represents.

    trace: the run of the small layer.
    """
    sizes = trace.sizes()
    stands = "stand_for" if model.kv_heads < model.heads else "own_stand_for"
    if (sizes["H"], sizes["H_kv"], sizes["d_k"]) == (model.heads, model.kv_heads, model.head_width):
        stands = "own_whole"
    sentences = [
        say(
            f"lessons.models.{stands}",
            small_heads=sizes["H"],
            small_kv=sizes["H_kv"],
            small_width=sizes["d_k"],
            heads=model.heads,
            kv=model.kv_heads,
            width=model.head_width,
        )
    ]
    if kind.window is not None:
        window = say("lessons.models.window_stands_for", small=SMALL_WINDOW, window=format_grouped(kind.window))
        sentences.append(window)
    return " ".join(sentences)


def tell_latent(model: PublishedModel) -> str:
    """Returns the text about the sizes of the latent vector (MLA) in a small layer and in the model."""
    small = {name: tensor.own_sizes for name, tensor in LEARNED_TENSORS.items()}
    latent, turned = model.latent
    return say(
        "lessons.models.latent_stands_for",
        small=small["w_dkv"]["d_c"],
        small_turned=small["w_kr"]["d_r"],
        latent=latent,
        turned=turned,
    )


def tell_left_out(model: PublishedModel, kind: LayerKind, trace: Trace) -> str:
    """Returns the text about the parts of a model that a small layer leaves out.

    trace: the run of the small layer.
    """
    sentences = [
        say("lessons.models.other_layers", count=other.count, kind=name_kind(other.name))
        for other in model.kinds
        if other != kind
    ]
    positions = [name for name, _ in kind.config.positions]
    modifiers = [name for name, _ in kind.config.modifiers]
    normaliser, _ = kind.config.normaliser
    if "learned" in positions:
        rows, _ = trace["w_places"].shape
        table = say("lessons.models.table_stands_for", small=rows, places=format_grouped(model.context))
        sentences.append(table)
    if model.latent is not None:
        sentences.append(tell_latent(model))
    if "t5" in positions:
        sentences.append(say("lessons.models.few_buckets"))
    if "qk_norm" in modifiers:
        sentences.append(say("lessons.models.gains"))
    if normaliser == "sinks":
        sentences.append(say("lessons.models.sinks"))
    sentences.append(say("lessons.models.never_shown"))
    return " ".join(sentences)
