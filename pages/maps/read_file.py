"""Applies the visitor's options to the maps of a file: words instead of pieces, one block of two texts, and others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from attention_core.analysis.map_reading import AS_THEY_ARE, MapReading, ReadMaps, leave_out_first, read_maps
from attention_core.inputs.given_maps import AttentionMaps
from attention_core.inputs.word_maps import (
    BLOCKS,
    WordGroups,
    cut_block,
    find_second_sentence,
    group_pieces,
    join_words,
)
from attention_core.record.errors import AttentionError
from pages.panels.lesson_choices import current_lesson_choices, get_choice, take_choice
from pages.panels.link_controls import choose_option, link_control
from pages.panels.map_reading import fit_reading, reading_of
from pages.setup.link_values import make_member_reader, read_link_count
from pages.setup.map_link import read_map_link, read_map_parts, write_map_reading
from pages.site.words import say

# link keys of the options: reading, block, second text, words
READING, BLOCK, SECOND, PIECES = "maps", "block", "second", "words"
WHOLE = "all"  # the option to show all pairs of words instead of one block
SIDE = "side"  # link key: which maps are shown while heads are ablated
WITHOUT, CHANGE = "without", "change"  # the maps with ablated heads, or their difference from the maps with all heads
KnownWords = tuple[Sequence[WordGroups], int | None]  # (words of queries and keys, index of the second text)


# ---- words and sentences ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class WordChoice:
    """The visitor's choice of words and of a block of two texts.

    is_joined: whether words are shown instead of pieces. words: the words of queries and of keys; () to infer them from
    how the pieces are spelled. block: the block, or WHOLE. second: the index in the shown maps of where the second text
    begins.
    """

    is_joined: bool = False
    words: Sequence[WordGroups] = ()
    block: str = WHOLE
    second: int = 0

    def apply(self, maps: AttentionMaps) -> AttentionMaps:
        """Returns the maps with the chosen words and block of texts; if nothing is chosen, the maps unchanged."""
        if self.is_joined:
            maps = join_words(maps, *self.words)
        return maps if self.block == WHOLE else cut_block(maps, self.second, self.block)


def show_word_choices(given: AttentionMaps, known: KnownWords | None = None) -> WordChoice:
    """Shows the choices of words instead of pieces (subword tokens), and of one block of two texts; returns them.

    A choice without effect on these maps is not shown. known: the words of the pieces, and where a second text begins;
    None to infer both from how the pieces are spelled.
    """
    if known is None:
        groups = [*group_pieces(given.queries), *group_pieces(given.keys)]
        second = find_second_sentence(given.keys) if given.is_self_attention else None
        words = ()
    else:
        words, second = known
        groups = [places for axis in words for places in axis.places]
    has_pieces = any(len(places) > 1 for places in groups)
    chosen = WordChoice(words=words)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if has_pieces:
            joins = link_control(PIECES, False, lambda text: make_member_reader(("True",))(text) == "True")
            joins.draw(st.toggle, help=say("lessons.maps.words_help"))
            if joins.value:
                chosen = replace(chosen, is_joined=True)
                given = chosen.apply(given)
                second = move_second(given, second, words)
        return chosen if second is None else show_blocks(given, second, chosen)


def move_second(joined: AttentionMaps, second: int | None, words: Sequence[WordGroups]) -> int | None:
    """Returns the index of the word with which the second text begins, from `second`, the index of its first piece."""
    if second is None or not words:
        return find_second_sentence(joined.keys) if second is not None else None
    _, keys = words
    return next(place for place, pieces in enumerate(keys.places) if second in pieces)


def show_blocks(given: AttentionMaps, second: int, chosen: WordChoice) -> WordChoice:
    """Shows the choice of a block (one of two texts with one of two texts), and of where the second text begins;
    returns the WordChoice.

    second: the position after the first separator, the default. chosen: the choice of words.
    """
    block = choose_option(BLOCK, (WHOLE, *BLOCKS), WHOLE)
    if block == WHOLE:
        return chosen
    last = len(given.keys)
    control = link_control(SECOND, second + 1, read_link_count, range(2, last + 1))
    control.draw(st.number_input, min_value=2, max_value=last, step=1, width=140, help=say("lessons.maps.second_help"))
    return replace(chosen, block=block, second=control.value - 1)


# ---- other numbers ---------------------------------------------------------------------------------------------------
def can_be_read(given: AttentionMaps) -> bool:
    """Returns whether a file's numbers are attention weights; only for these the page offers the options of maps."""
    return not given.fault and bool((given.maps >= 0).all())


def current_reading(given: AttentionMaps) -> MapReading:
    """Returns the options that the visitor chose for the maps, without options that do not fit these maps."""
    parts = get_choice(READING, (), read_map_link)
    if not can_be_read(given):
        return AS_THEY_ARE
    layers, heads, _, keys = given.maps.shape
    return fit_reading(read_map_parts(parts), layers * heads, keys)


def take_reading(chosen: Mapping) -> None:
    """Stores the options that the visitor chose for the maps, or the error if they are refused."""
    try:
        parts = write_map_reading(reading_of(chosen))
    except AttentionError as error:
        current_lesson_choices().refuse(READING, error)
    else:
        take_choice(READING, parts, (), read_map_link)


def without_first(given: AttentionMaps, reading: MapReading) -> AttentionMaps:
    """Returns the maps, without the first key if the visitor's options exclude it, to compute measures without this
    key, too.
    """
    if not reading.without_first:
        return given
    return AttentionMaps(leave_out_first(given.maps), given.queries, given.keys[1:])


def read_given(given: AttentionMaps, reading: MapReading) -> ReadMaps:
    """Returns all maps of a file, layer by layer, after applying the options of a MapReading."""
    weights = given.maps.flatten(0, 1)  # (L, H, T, S) -> (L H, T, S)
    return read_maps(weights, given.seen.expand_as(weights), reading)
