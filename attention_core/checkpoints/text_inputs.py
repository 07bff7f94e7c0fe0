"""Makes the inputs of an opened model from a text, for an encoder, a decoder or an encoder-decoder."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.checkpoints.opened_model import OpenedModel
from attention_core.checkpoints.pieces import Pieces
from attention_core.inputs.word_maps import WordGroups
from attention_core.record.errors import AttentionError

TEXT_INPUT = "input_ids"
KINDS, KINDS_OF_TEXTS = "token_type_ids", 2  # input with each token's text (0 or 1); texts of a pair


@dataclass(frozen=True, eq=False)
class TextInputs:
    """The inputs of a model for a text, and the text's tokens ("pieces"): those of the text, of a second text, or of
    the decoder.

    pieces: those of the text, and of the second text of a pair. begun: for an encoder-decoder, the tokens of the
    decoder's text; else None. start: the text to show for the token with which the decoder begins; "" for none.
    """

    tensors: dict[str, Tensor]
    pieces: Pieces
    begun: Pieces | None = None
    start: str = ""

    @property
    def shown(self) -> tuple[str, ...]:
        """The text to show for each token."""
        return self.pieces.shown

    @property
    def further_shown(self) -> tuple[str, ...]:
        """The text to show for each token that the decoder of an encoder-decoder reads; () for any other model."""
        if self.begun is None:
            return ()
        return (*filter(None, [self.start]), *self.begun.shown)

    def words(self, kind: str) -> tuple[WordGroups, WordGroups]:
        """Return the labels of the queries and of the keys in maps of a kind: "encoder", "decoder", "cross" or ""."""
        read = self.pieces.words
        if self.begun is None or kind == "encoder":
            return read, read
        written = self.begun.words
        if self.start:
            moved = [tuple(place + 1 for place in places) for places in written.places]
            written = WordGroups((self.start, *written.shown), ((0,), *moved))
        return written, (read if kind == "cross" else written)


def make_inputs(
    opened: OpenedModel, text: str, further: str = "", written: Sequence[int] = (), masked: int | None = None
) -> TextInputs:
    """Return the inputs of a model for a text, with the second text of a pair or the decoder's text, if there is one.

    further: for an encoder-decoder, the text that the decoder has generated so far, without its start; for any other
    model, the second text of a pair. written: the vocabulary indices of the tokens that the model generated after the
    text. masked: the index of the token that is replaced by the mask; None for none.

    Raises AttentionError: model_input if the model reads no text; no_mask if the model has no mask; at_most for a token
    that the text does not have; those of OpenedModel.cut.
    """
    model = opened.model
    if model.main_input_name != TEXT_INPUT:
        raise AttentionError("model_input", given=model.main_input_name)
    if not model.config.is_encoder_decoder:
        pieces = opened.cut(text, further, written=written)
        if masked is not None:
            if opened.tokenizer.mask is None:
                raise AttentionError("no_mask")
            pieces = pieces.hiding(masked, opened.tokenizer.mask)
        return TextInputs(keep_taken(model, pieces.tensors()), pieces)
    pieces = opened.cut(text)
    start = find_start(model)
    ids, begun = [] if start is None else [start], Pieces((), ())
    if further or written or start is None:
        begun = opened.cut(further if start is not None else further or text, is_framed=False, written=written)
    tensors = keep_taken(model, pieces.tensors())
    tensors["decoder_input_ids"] = torch.tensor([[*ids, *begun.ids]])
    shown = "" if start is None else opened.tokenizer.show(start)
    return TextInputs(tensors, pieces, begun, shown)


def find_start(model: torch.nn.Module) -> int | None:
    """Return the index of the token with which a decoder begins generating; None if the config does not state it.

    Without a start token for the decoder, it is the token that begins each text, as in transformers; without that, it
    is the padding token, with which T5 begins.
    """
    configs = (getattr(model, "generation_config", None), model.config)
    for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
        for config in configs:
            start = getattr(config, name, None)
            if type(start) is int:
                return start
    return None


def keep_taken(model: torch.nn.Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return only those inputs that a model's forward accepts.

    token_type_ids are left out unless the config has token types: GPT-2 takes them, too, but would add a word's
    embedding for each.
    """
    taken = inspect.signature(model.forward).parameters
    kept = {name: tensor for name, tensor in tensors.items() if name in taken}
    types = getattr(model.config, "type_vocab_size", None)
    if not isinstance(types, int) or types < KINDS_OF_TEXTS:
        kept.pop(KINDS, None)
    return kept
