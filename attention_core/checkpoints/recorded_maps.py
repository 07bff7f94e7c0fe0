"""Groups the recorded layers of a text by kind of attention map: encoder, decoder, or cross-attention from decoder to
encoder.
"""

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
MAPS_A_LAYER = 3  # kinds of maps in an encoder-decoder: encoder, decoder, cross


def most_pieces(config: "PreTrainedConfig") -> int:
    """Return the largest number of tokens of a text for which the attention maps of all heads still fit in a file.

    config: the model's config; if it does not state the number of layers or heads, 1 is assumed.
    """
    own = config.get_text_config()
    counts = [getattr(own, name, 1) for name in ("num_hidden_layers", "num_attention_heads")]
    maps = math.prod(count for count in counts if isinstance(count, int) and count > 0)
    if getattr(config, "is_encoder_decoder", False):
        maps *= MAPS_A_LAYER
    return min(MAX_MAP_SIDE, math.isqrt(MAP_BOUNDS.numbers // maps))


@dataclass(frozen=True, eq=False)
class RecordedMaps:
    """The attention maps of a recorded text, in groups of layers with equal numbers of heads, queries and keys.

    layers: for each group, the indices of its layers in the recording. words: the tokens of the text, or, for an
    encoder-decoder, of the encoder's text. further_words: the tokens of the decoder's text.
    """

    recording: Recording
    words: tuple[str, ...]
    further_words: tuple[str, ...] = ()

    @cached_property
    def groups(self) -> dict[tuple, list[int]]:
        """{(kind, H, T, S): the indices of the layers}, in the order of the recording."""
        groups: dict[tuple, list[int]] = {}
        for number, call in enumerate(self.recording.calls):
            _, H, T, S = call.sizes
            kind = kind_of(call.name) if self.further_words else ""
            groups.setdefault((kind, H, T, S), []).append(number)
        return groups

    @cached_property
    def file(self) -> MapFile:
        """The maps as if they were read from a file of maps: each group is an array (L, H, T, S) of weights that the
        core computed.

        Raises AttentionError (a ValueError): too_many_numbers if the maps have more numbers than a file may have.
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
        """Return the attention maps of layers with equal sizes as one group."""
        weights = [self.recording.run(layer).trace["weights"][0].numpy() for layer in layers]
        names = tuple(self.recording.calls[layer].name for layer in layers)
        array = np.stack(weights)
        return MapGroup(NUMBER_PATTERN.sub("#", names[0]), kind, array, array.shape[1:], names, (LAYERS_AND_HEADS,))

    def number_of(self, group: MapGroup, layer: int) -> int:
        """Return the index in the recording of a layer, given by its group and its index in the group."""
        return list(self.groups.values())[self.file.groups.index(group)][layer]
