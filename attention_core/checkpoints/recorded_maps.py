"""Sorts the recorded layers of a text into groups of maps of one kind: encoder, decoder, or from one to the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from attention_core.checkpoints.recording import Recording
from attention_core.inputs.files.array_names import NUMBER_PATTERN
from attention_core.inputs.files.attention_maps import MAP_BOUNDS, MAX_MAP_SIDE, MapFile, MapGroup, kind_of
from attention_core.record.errors import AttentionError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

LAYERS_AND_HEADS = "L H"
MAPS_A_LAYER = 3  # of a model with an encoder and a decoder: encoder, decoder, and from one to the other


def most_pieces(config: "PreTrainedConfig") -> int:
    """Return how many pieces a text may have so that the maps of all heads of a model are no more than a file holds.

    config: that of the model; where it does not count layers or heads, one is assumed.
    """
    own = config.get_text_config()
    counts = [getattr(own, name, 1) for name in ("num_hidden_layers", "num_attention_heads")]
    maps = math.prod(count for count in counts if isinstance(count, int) and count > 0)
    if getattr(config, "is_encoder_decoder", False):
        maps *= MAPS_A_LAYER
    return min(MAX_MAP_SIDE, math.isqrt(MAP_BOUNDS.numbers // maps))


@dataclass(frozen=True, eq=False)
class RecordedMaps:
    """The maps of a recorded text, in groups whose layers have equally many heads, queries and keys.

    layers: for each group, the numbers of its layers in the recording. words: the pieces of the text; of a model with
    an encoder and a decoder, those of the encoder's text. further_words: those of the decoder's text.
    """

    recording: Recording
    words: tuple[str, ...]
    further_words: tuple[str, ...] = ()

    @cached_property
    def groups(self) -> dict[tuple, list[int]]:
        """{(kind, H, T, S): the numbers of the layers}, in the order of the recording."""
        groups: dict[tuple, list[int]] = {}
        for number, call in enumerate(self.recording.calls):
            _, H, T, S = call.sizes
            kind = kind_of(call.name) if self.further_words else ""
            groups.setdefault((kind, H, T, S), []).append(number)
        return groups

    @cached_property
    def file(self) -> MapFile:
        """The maps as a file of maps would hold them, each group an array (L, H, T, S) of the core's own weights.

        Raises AttentionError (a ValueError): too_many_numbers if the maps are more than a file may hold.
        """
        numbers = 0
        for (_, *sizes), layers in self.groups.items():
            numbers += math.prod(sizes) * len(layers)
        if numbers > MAP_BOUNDS.numbers:
            name = self.recording.calls[0].name
            raise AttentionError("too_many_numbers", name=name, limit=MAP_BOUNDS.numbers, given=numbers)
        texts = {"tokens": list(self.words)}
        if self.further_words:
            texts = {"src_tokens": list(self.words), "tgt_tokens": list(self.further_words)}
        groups = tuple(self.make_group(key[0], layers) for key, layers in self.groups.items())
        return MapFile(groups, texts, word_names=tuple(texts))

    def make_group(self, kind: str, layers: Sequence[int]) -> MapGroup:
        """Return the maps of some layers of equal sizes."""
        weights = [self.recording.run(layer).trace["weights"][0].numpy() for layer in layers]
        names = tuple(self.recording.calls[layer].name for layer in layers)
        array = np.stack(weights)
        return MapGroup(NUMBER_PATTERN.sub("#", names[0]), kind, array, array.shape[1:], names, (LAYERS_AND_HEADS,))

    def number_of(self, group: MapGroup, layer: int) -> int:
        """Return the number in the recording of a layer of a group, counted from 0 in it."""
        return list(self.groups.values())[self.file.groups.index(group)][layer]
