"""Compares what a model returns for a text before and after a change, such as without some heads (ablation)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.next_pieces import find_shares, writes_on
from attention_core.checkpoints.opened_model import OpenedModel
from attention_core.checkpoints.pieces import MASKS
from attention_core.checkpoints.recording import Recording
from attention_core.checkpoints.text_inputs import TextInputs
from attention_core.inputs.tokenizer import printable_token

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class PieceChange:
    """A token ("piece") of the vocabulary with its probabilities before and after a change of the model, such as an
    ablation."""

    number: int
    shown: str
    before: float
    after: float


def find_predicted_place(opened: OpenedModel, inputs: TextInputs) -> int | None:
    """Return the index of the token at which a model predicts a token: the last one, or the first mask of a masked
    language model.

    None if the model predicts no tokens, or if the text has no mask.
    """
    if writes_on(opened):
        return len(inputs.further_shown or inputs.shown) - 1
    if opened.model.get_output_embeddings() is None or inputs.begun is not None:
        return None
    tokens = [piece.token for piece in inputs.pieces.pieces]
    return next((place for place, token in enumerate(tokens) if token in MASKS), None)


def fills_masks(opened: OpenedModel) -> bool:
    """Return whether a model predicts the token behind a mask: it returns logits of its vocabulary, which has a mask,
    and does not generate text.
    """
    if writes_on(opened) or opened.tokenizer is None or opened.tokenizer.mask is None:
        return False
    return opened.model.get_output_embeddings() is not None and not opened.model.config.is_encoder_decoder


def list_labels(model: "PreTrainedModel", logits: Tensor | None) -> tuple[str, ...]:
    """Return the names of the classes whose logits a classifier returned, as its config has them (id2label).

    (): the logits are those of tokens, or there are none.
    """
    if logits is None or model.get_output_embeddings() is not None:
        return ()
    named = model.config.id2label or {}
    if len(named) != logits.shape[-1]:
        return ()
    return tuple(printable_token(str(label)) for _, label in sorted(named.items()))


def list_piece_changes(
    opened: OpenedModel, before: Float[Tensor, " V"], after: Float[Tensor, " V"], count: int
) -> list[PieceChange]:
    """Return the `count` likeliest tokens before a change of a model, then those that are among the likeliest only
    after the change.

    before, after: the logits of one place. Raises AttentionError (not_finite) if they have no softmax.
    """
    shares = [find_shares(logits) for logits in (before, after)]
    likeliest = [share.topk(min(count, len(share))).indices.tolist() for share in shares]
    numbers = dict.fromkeys([*likeliest[0], *likeliest[1]])  # ordered, without repetitions
    return [
        PieceChange(number, opened.tokenizer.show(number), *(float(share[number]) for share in shares))
        for number in numbers
    ]


def last_vectors(recording: Recording) -> Float[Tensor, "N D"] | None:
    """Return a model's result for the first text, one vector per token: its logits, or else its last vectors.

    It is a single vector if the model returned one for the whole text, such as the logits of a classifier; None if it
    returned neither.
    """
    found = [getattr(recording.outputs, name, None) for name in ("logits", "last_hidden_state")]
    for tensor in (*found, recording.outputs):
        if isinstance(tensor, Tensor) and tensor.dim() > 1:
            return tensor[0].reshape(-1, tensor.shape[-1])
    return None
