"""Reads the attention maps of any model from a file: the weights of each head, and the words of queries and keys.

The file has neither q nor k, so the maps can be drawn and measured, but not recomputed. A file may have maps of several
kinds, and the axes of an array may have several possible meanings: all are listed, the likeliest first.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

import numpy as np
import torch

from attention_core.inputs.files.array_names import CAMEL_PATTERN, NUMBER_PATTERN, name_stem, numbers_in, plain_name
from attention_core.inputs.files.contents import FileContents, Texts, read_contents
from attention_core.inputs.files.map_words import FoundWords, check_words, count_sentences, find_words, list_near_words
from attention_core.inputs.files.qkv_file import guess_roles
from attention_core.inputs.files.stored_arrays import FileBounds, list_first_names, printable_name, refuse_not_finite
from attention_core.inputs.given_maps import SUM_TOLERANCE, AttentionMaps
from attention_core.inputs.matrix_text import MAX_MAGNITUDE
from attention_core.record.errors import AttentionError

MAP_NAMES = (
    *("attention", "attentions", "attn", "weights", "maps", "patterns", "pattern", "attn_weights", "attention_weights"),
    *("attention_probs", "attn_probs", "probs", "attention_map", "attention_maps", "attn_map", "attn_maps", "att"),
    *("attention_matrix", "attention_matrices", "attn_matrix", "attn_output_weights", "alphas", "self_attn"),
    *("multihead_attn", "last_attn", "cross", "encoder", "decoder"),
)
KIND_PREFIX = re.compile(r"^(?:(?:encoder|decoder|enc|dec|cross|self)_)+")
TOKEN_NAMES = ("tokens", "queries", "keys", "words")
AMBIGUOUS_NAMES = ("encoder", "decoder", "cross")  # names that may mean attention maps, or texts that label them
AVERAGED_NAME = "attn_output_weights"  # name of torch.nn.MultiheadAttention's weights, averaged over heads (B, T, S)
MAX_MAP_HEADS = 1_024  # most attention maps in a file (layers times heads)
MAX_MAP_SIDE = 1_024  # most queries, and most keys, of an attention map
# Limits of a binary file, in bytes and in numbers; a JSON file has the limits ARRAY_BOUNDS.
MAP_BOUNDS = FileBounds(10_000_000, 2_500_000)
MAX_NOTE_CHARS = 300
MAX_SERIES_NUMBERS = 2  # names in a series of arrays differ in at most two numbers, a layer and a head
SERIES_AXES = (("head", "H"), ("sent", "B"), ("sample", "B"), ("example", "B"), ("batch", "B"), ("step", "B"))
# Number of axes before (T, S) -> possible meanings of these axes, the likeliest first.
READINGS = {0: ("",), 1: ("H", "L", "B"), 2: ("L H", "B H"), 3: ("L B H", "B L H")}
SERIES_READINGS = {0: ("",), 1: ("H", "B", "L"), 2: ("BH", "LH", "LB")}  # the same for each array of a series


@dataclass(frozen=True, eq=False)
class MapGroup:
    """Attention maps of one kind: one array, or a series of arrays, such as one per layer.

    name: the name of the array; for a series, with # instead of its numbers. kind: "encoder", "decoder", "cross"
    (between the two), or "" if unknown. array: the attention maps, without axes of length 1 before (T, S). shape: the
    shape of each array in the file. members: the names of the arrays. readings: possible meanings of the axes before
    (T, S), such as "L H", the likeliest first.
    """

    name: str
    kind: str
    array: np.ndarray
    shape: tuple[int, ...]
    members: tuple[str, ...]
    readings: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of queries and the number of keys."""
        return self.array.shape[-2:]

    def count_sentences(self, axes: str) -> int:
        """Return the number of sentences in the batch for axes such as "B H T S"; 1 if there is no axis B."""
        sizes = dict(zip(axes.split(), self.array.shape, strict=False))
        return sizes.get("B", 1)

    def arrange(self, axes: str, sentence: int = 0) -> np.ndarray:
        """Return the attention maps as (L, H, T, S), reading their axes as `axes`; of a batch, the maps of one
        sentence.

        axes: one of the possible meanings of the axes, such as "L H". sentence: the index in the batch. Raises
        AttentionError.
        """
        if axes not in self.readings:
            raise AttentionError("unknown_choice", name="axes", choices=", ".join(self.readings), given=axes[:20])
        letters, maps = axes.split(), self.array
        if "B" in letters:
            count = self.count_sentences(axes)
            if not 0 <= sentence < count:
                raise AttentionError("part_outside", name="batch", size=count, given=sentence + 1)
            maps = np.take(maps, sentence, axis=letters.index("B"))
            letters.remove("B")
        if letters == ["H", "L"]:
            maps = maps.swapaxes(0, 1)  # (H, L, T, S) -> (L, H, T, S)
        sizes = [maps.shape[letters.index(axis)] if axis in letters else 1 for axis in "LH"]
        return maps.reshape(*sizes, *self.sizes)


@dataclass(frozen=True, eq=False)
class MapView:
    """The attention maps to show: the index of a group of maps, the meaning of its axes, and the index of a sentence in
    the batch.
    """

    maps: AttentionMaps
    group: MapGroup
    axes: str
    sentence: int
    sentences: int
    words: FoundWords


@dataclass(frozen=True, eq=False)
class MapFile:
    """The contents of a file of attention maps.

    groups: the attention maps by kind. texts: the texts that label queries and keys. notes: {name: a text that labels
    nothing}. unread: {name: the shape of an unused array, the error of an unreadable value, or None for words that fit
    no maps}. word_names: the names of the texts that are the words of maps.
    """

    groups: tuple[MapGroup, ...]
    texts: Mapping[str, Texts] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, tuple[int, ...] | AttentionError | None] = field(default_factory=dict)
    word_names: tuple[str, ...] = ()

    @cached_property
    def sentences(self) -> int:
        """The number of sentences for which the file has words."""
        return count_sentences(self.texts)

    def view(self, group: int = 0, axes: str | None = None, sentence: int = 0) -> MapView:
        """Return the attention maps of a group with their words.

        group: the index of the group. axes: the meaning of the maps' axes, such as "L H"; None means the likeliest.
        sentence: the index in a batch. Raises AttentionError.
        """
        chosen = self.groups[group]
        axes = chosen.readings[0] if axes is None else axes
        maps = torch.from_numpy(np.ascontiguousarray(chosen.arrange(axes, sentence), dtype=np.float64))
        check_maps(chosen.name, maps)
        count = chosen.count_sentences(axes)
        words = self.find_words(chosen, sentence if "B" in axes else None, count)
        return MapView(AttentionMaps(maps, words.queries, words.keys), chosen, axes, sentence, count, words)

    def find_words(self, group: MapGroup, sentence: int | None, count: int) -> FoundWords:
        """Return the words that label a group's queries and keys.

        If each sentence has a separate array, the words stored beside that array are preferred. sentence: the index in
        the batch, None without a batch. count: the number of sentences.
        """
        stem = name_stem(group.name)
        if sentence is not None and len(group.members) % count == 0 < len(group.members) - 1:
            stem = name_stem(group.members[sentence * (len(group.members) // count)])
        return find_words(self.texts, group.sizes, group.kind, stem, sentence, count)


def read_attention_maps(file_name: str, content: bytes) -> AttentionMaps:
    """Read the attention maps of a file. Of several kinds of maps or possible orders of axes, the likeliest is chosen.

    Rows that do not sum to 1 are accepted; AttentionMaps.uneven_rows returns them.

    >>> maps = read_attention_maps("maps.json", b'{"attention": [[[1, 0], [0.5, 0.5]]], "tokens": ["a", "cat"]}')
    >>> maps.maps.shape, maps.keys, maps.uneven_rows()
    (torch.Size([1, 1, 2, 2]), ('a', 'cat'), [])
    """
    return read_map_file(file_name, content).view().maps


def read_map_file(file_name: str, content: bytes) -> MapFile:
    """Read all attention maps of a file, with their words.

    A map is (T, S), heads x T x S, layers x heads x T x S as in BertViz and CircuitsVis, or a batch of these, with an
    axis of 1 anywhere before T. Each layer, head or sentence may have a separate array, and a file may have maps of an
    encoder, of a decoder and of its cross-attention.

    file_name: the name with its ending, .json, .npz, .npy or .safetensors. content: the bytes, at most 10 MB, for JSON
    5 MB. An array counts as maps if its name is one of MAP_NAMES; if no name is, if its name means nothing else. The
    words are under "tokens", "words", "queries" and "keys", "left_text" and "right_text", "src_tokens" and "tgt_tokens"
    and the like: a text that is split at its spaces, a list of texts, or a list of these for each sentence.

    Raises AttentionError (a ValueError): maps_missing, map_axes, too_many_map_heads, map_side, map_magnitude,
    not_finite, words_count, and those of read_contents.

    >>> file = read_map_file("maps.json", b'{"attention": [[1, 0], [0.5, 0.5]], "model": "m", "loss": 3}')
    >>> [group.readings for group in file.groups], dict(file.notes), dict(file.unread)
    ([('',)], {'model': 'm'}, {'loss': ()})
    """
    contents = read_contents(file_name, content, MAP_BOUNDS)
    refuse_unread_maps(file_name, contents)
    sentences = count_sentences(contents.texts)
    groups, unread = [], dict(contents.unread)
    for members in group_names(choose_map_arrays(file_name, contents), contents.arrays):
        try:
            groups.append(make_group(members, contents, sentences))
        except AttentionError as error:
            unread |= dict.fromkeys(members, error)
    if not groups:
        raise next(error for error in unread.values())
    check_words(contents.texts, [group.sizes for group in groups], sentences)
    read = {member for group in groups for member in group.members}
    unread |= {name: array.shape for name, array in contents.arrays.items() if name not in read | unread.keys()}
    used = list_used_words(MapFile(tuple(groups), contents.texts))
    unused = {name: text for name, text in contents.texts.items() if name not in used}
    notes = {name: text[:MAX_NOTE_CHARS] for name, text in unused.items() if isinstance(text, str)}
    unread |= {name: None for name in unused if name not in notes}
    return MapFile(tuple(groups), contents.texts, notes, unread, tuple(name for name in contents.texts if name in used))


def check_maps(name: str, maps: torch.Tensor) -> None:
    """Raise AttentionError for attention maps that no page can draw: too many heads, queries or keys, or huge numbers.

    name: the array's name, for the error. maps: (L, H, T, S).
    """
    L, H, T, S = maps.shape
    if L * H > MAX_MAP_HEADS:
        raise AttentionError("too_many_map_heads", limit=MAX_MAP_HEADS, given=L * H)
    if max(T, S) > MAX_MAP_SIDE:
        raise AttentionError("map_side", name=printable_name(name), limit=MAX_MAP_SIDE, given=max(T, S))
    if maps.abs().max() > MAX_MAGNITUDE:
        raise AttentionError("map_magnitude", name=printable_name(name), limit=int(MAX_MAGNITUDE))


# ---- which arrays are maps -------------------------------------------------------------------------------------------
def is_map_name(name: str) -> bool:
    """Return whether an array's name means attention maps, such as "attn_weights" or "blocks.0.attn.hook_pattern"."""
    plain = plain_name(name)
    return plain in MAP_NAMES or KIND_PREFIX.sub("", plain) in MAP_NAMES


def kind_of(name: str) -> str:
    """Infer the kind of attention maps from their name: "encoder", "decoder" or "cross"; "" if the name is unclear.

    >>> kind_of("encoder_attentions"), kind_of("attention.Cross.attn"), kind_of("decoder.encoder_attn"), kind_of("attn")
    ('encoder', 'cross', 'cross', '')
    >>> kind_of("decoder.layers.0.multihead_attn")                                  # of torch.nn.Transformer
    'cross'
    """
    words = set(re.split(r"[^a-z]+", CAMEL_PATTERN.sub("_", name).lower()))
    is_encoder, is_decoder = bool(words & {"encoder", "enc"}), bool(words & {"decoder", "dec"})
    if "cross" in words or (is_decoder and (is_encoder or "multihead" in words)):
        return "cross"
    if is_encoder:
        return "encoder"
    return "decoder" if is_decoder else ""


def refuse_unread_maps(file_name: str, contents: FileContents) -> None:
    """Raise an error if a file's attention maps or words, recognised by their names, are unreadable, or if it has no
    array.

    It is the error of an unreadable array whose name means maps or words; if no array could be read, the error of any
    value.
    """
    for name, error in contents.unread.items():
        if plain_name(name) in TOKEN_NAMES:
            raise speak_of_words(name, error)
        if is_map_name(name) and error.code != "layer_empty":
            raise error
    for name, text in contents.texts.items():
        if is_map_name(name) and plain_name(name) not in AMBIGUOUS_NAMES and not contents.arrays:
            raise AttentionError("maps_texts", name=printable_name(name), given=printable_name(first_text(text)))
    if contents.arrays:
        return
    for error in contents.unread.values():
        raise error
    raise AttentionError("no_arrays", name=printable_name(file_name))


def speak_of_words(name: str, error: AttentionError) -> AttentionError:
    """Return the error to show for unreadable words; if their form is wrong, the error that lists the accepted
    forms."""
    shown = printable_name(name)
    match error.code:
        case "json_value":
            return AttentionError("words_form", name=shown)
        case "array_pickled":
            return AttentionError("words_pickled", name=shown)
    return error


def first_text(text: Texts) -> str:
    """Return the first text in nested lists; "" if there is none."""
    while not isinstance(text, str):
        text = text[0] if text else ""
    return text


def choose_map_arrays(file_name: str, contents: FileContents) -> list[str]:
    """Return the names of the arrays that are attention maps.

    If a file has a single array, it is chosen; else the arrays named like attention maps; else all arrays whose names
    belong to no other kind, such as "q".
    """
    arrays = contents.arrays
    if len(arrays) == 1:
        return list(arrays)
    numbers = [name for name, array in arrays.items() if array.ndim > 1 and array.dtype != bool]
    known = [name for name in numbers if is_map_name(name)]
    if known:
        ranks = {plain: rank for rank, plain in enumerate(MAP_NAMES)}
        return sorted(known, key=lambda name: ranks.get(plain_name(name), 0))
    others = [name for name in numbers if not guess_roles([name])]
    largest = 1 + SUM_TOLERANCE  # no attention weight exceeds this
    others = [name for name in others if ((arrays[name] >= 0) & (arrays[name] <= largest)).all()] or others
    if not others:
        raise AttentionError("maps_missing", name=printable_name(file_name), choices=list_first_names(arrays))
    return others


def group_names(names: Iterable[str], arrays: Mapping[str, np.ndarray]) -> list[list[str]]:
    """Group the names of arrays; a series, such as one array per layer, is one group.

    Names of a series differ in one number, or in two numbers that form a complete grid, and their arrays have equal
    shapes. Any other name is a group by itself.
    """
    series: dict[tuple, list[str]] = {}
    for name in names:
        template, _ = numbers_in(name)
        series.setdefault((template, arrays[name].shape), []).append(name)
    groups = []
    for members in series.values():
        members.sort(key=lambda name: numbers_in(name)[1])
        groups += [members] if is_whole_series(members) else [[name] for name in members]
    return groups


def is_whole_series(members: list[str]) -> bool:
    """Return whether names form a complete series: they differ in one number, or in two and every combination
    exists."""
    columns = varying_numbers(members)
    sizes = [len(set(column)) for column in columns.values()]
    return 0 < len(columns) <= MAX_SERIES_NUMBERS and int(np.prod(sizes)) == len(members)


def varying_numbers(members: list[str]) -> dict[int, tuple[int, ...]]:
    """Return {index of a number in the names: its value in each name}, for the numbers that differ between the
    names."""
    numbers = [numbers_in(name)[1] for name in members]
    columns = zip(*numbers, strict=True)
    return {place: column for place, column in enumerate(columns) if len(set(column)) > 1}


# ---- the axes of maps ------------------------------------------------------------------------------------------------
def make_group(members: list[str], contents: FileContents, sentences: int) -> MapGroup:
    """Make the MapGroup (attention maps of one kind) of an array or a series of arrays. Raises AttentionError.

    members: the names of the arrays. sentences: the number of sentences for which the file has words.
    """
    name, arrays = members[0], [contents.arrays[name] for name in members]
    array = arrays[0]
    if array.ndim < 2:
        raise AttentionError("map_axes", name=printable_name(name), shape=array.shape)
    for member, each in zip(members, arrays, strict=True):
        refuse_not_finite(member, each, minus_infinity=False)
    lead = [size for size in array.shape[:-2] if size > 1]
    series = list_series_axes(members, contents.texts)
    if series:
        varying, places = varying_numbers(members), count()
        name = NUMBER_PATTERN.sub(lambda number: "#" if next(places) in varying else number[0], members[0])
        lead = [*(len(set(column)) for column in varying.values()), *lead]
        array = np.stack(arrays)
    readings = list_readings(array.shape[:-2] if not series else tuple(lead), series)
    if not readings:
        raise AttentionError("map_axes", name=printable_name(name), shape=contents.arrays[members[0]].shape)
    said = contents.dims.get(members[0])
    if said and not series:
        readings = said_readings(said, contents.arrays[members[0]].shape) or readings
    array = array.reshape(*lead, *array.shape[-2:])
    readings = batch_first(readings, lead, sentences)
    if plain_name(name) == AVERAGED_NAME and "B" in readings:
        readings = ["B", *(axes for axes in readings if axes != "B")]
    return MapGroup(name, kind_of(members[0]), array, arrays[0].shape, tuple(members), tuple(readings))


def list_series_axes(members: list[str], texts: Mapping[str, Texts]) -> list[str]:
    """Return, for each number that differs between the names of a series, the axis that it counts: "L", "H" or "B".

    The axis is "B" if the file has different words for the arrays; else the word before the number decides, such as
    "layer"; without such a word, the first number counts layers and the second heads.
    """
    if len(members) == 1:
        return []
    template, _ = numbers_in(members[0])
    words = template.lower().split("#")
    beside = [list_near_words(texts, name_stem(member)) for member in members]
    axes = []
    if all(beside) and list(beside[0].values()) != list(beside[-1].values()):
        axes.append("B")
    for place in list(varying_numbers(members))[len(axes) :]:
        said = [axis for word, axis in SERIES_AXES if word in words[place]]
        free = [axis for axis in (*said, *"LHB") if axis not in axes]
        axes.append(free[0])
    return axes


def list_readings(lead: tuple[int, ...], series: list[str]) -> list[str]:
    """Return the possible meanings of the axes before (T, S), without axes of length 1; the likeliest meaning is first.

    lead: the lengths of these axes. series: the meanings of the first axes, inferred from the arrays' names.
    """
    counted = [size for size in lead[len(series) :] if size > 1]
    if series:
        left = [axis for axis in "LBH" if axis not in series]
        orders = [order for order in SERIES_READINGS.get(len(counted), ()) if set(order) <= set(left)]
        return [" ".join((*series, *order)) for order in orders]
    readings = list(READINGS.get(len(counted), ()))
    if len(lead) > 1 and len(counted) == 1:  # (L, 1, T, S), or (1, H, T, S)
        return ["L", "B"] if lead[0] > 1 else ["H"]
    if len(lead) > 2 and len(counted) == 2:
        return readings[:1]  # an axis of length 1 after L is a batch of one text
    return readings


def said_readings(dims: tuple[str, ...], shape: tuple[int, ...]) -> list[str]:
    """Return a list with the meaning of the maps' axes that the file states, such as "L H"; [] if the file states
    none.
    """
    if len(dims) != len(shape):
        return []
    named = [axis for axis, size in zip(dims, shape, strict=True) if size > 1 and axis not in "TS"]
    return [" ".join(named)] if set(named) <= set("BLH") else []


def batch_first(readings: list[str], lead: list[int], sentences: int) -> list[str]:
    """Sort possible meanings of axes: those whose batch is as long as the file's list of sentences come first."""
    if sentences == 1:
        return readings
    batches = [axes for axes in readings if "B" in axes]
    fitting = [axes for axes in batches if lead[axes.split().index("B")] == sentences]
    return [*fitting, *(axes for axes in readings if axes not in fitting)]


# ---- the words -------------------------------------------------------------------------------------------------------
def list_used_words(file: MapFile) -> set[str]:
    """Return the names of the texts that label queries or keys of some attention maps of a file."""
    used: set[str] = set()
    for group in file.groups:
        for axes in group.readings:
            words = file.find_words(group, 0 if "B" in axes else None, group.count_sentences(axes))
            used |= {words.queries_from, words.keys_from}
        if group.readings[0].startswith("B"):
            used |= {name for member in group.members for name in list_near_words(file.texts, name_stem(member))}
    return used
