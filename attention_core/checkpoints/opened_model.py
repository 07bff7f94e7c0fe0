"""Defines OpenedModel: a model in memory, the tokenizer of its folder, and the longest text that it reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import nn

from attention_core.checkpoints.folder_files import HUB_PREFIX, ModelFolder, cached_model
from attention_core.checkpoints.pieces import FastTokenizer, Pieces
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

COMMIT_SHOWN = 8  # number of characters shown of a commit hash
RESULTS_A_MATRIX, FLOAT_BYTES = 2, 4  # a matrix's own result, and one made of it, such as that of an activation
LENGTH_KEYS = ("max_position_embeddings", "n_positions", "max_sequence_length")


@dataclass(frozen=True, eq=False)
class OpenedModel:
    """A model in memory, in float32, on the CPU and in eval mode, with eager attention.

    folder: its files; folder.require_unchanged() raises an error if one was changed. tokenizer: None if the folder has
    no readable tokenizer; no_tokenizer is then the reason. parameters: the number of learned numbers. memory_bytes: the
    bytes of these and of the buffers. ignored: which parts of the folder are not used, and why.
    """

    folder: ModelFolder
    model: "PreTrainedModel"
    parameters: int
    memory_bytes: int
    ignored: tuple[AttentionError, ...]
    tokenizer: FastTokenizer | None
    no_tokenizer: AttentionError | None = None

    @property
    def name(self) -> str:
        """The name of the folder; for a revision in the hub's cache, owner/name and the commit."""
        path = self.folder.path
        model = cached_model(path)
        if model is None:
            return path.name
        return f"{model.name.removeprefix(HUB_PREFIX).replace('--', '/')}@{path.name[:COMMIT_SHOWN]}"

    @property
    def most_pieces(self) -> int | None:
        """The largest number of tokens ("pieces") that the model reads at once; None if neither model nor tokenizer
        states it.
        """
        said = [find_length(self.model), self.tokenizer.most if self.tokenizer else None]
        return min((each for each in said if each is not None), default=None)

    def cut(self, text: str, further: str = "", is_framed: bool = True, written: Sequence[int] = ()) -> Pieces:
        """Split a text into the tokens ("pieces") of the model; the arguments are those of FastTokenizer.cut.

        Raises AttentionError: `no_tokenizer`, without a tokenizer; too_many_pieces, no_pieces, piece_unknown; those
        of FastTokenizer.cut.
        """
        if self.tokenizer is None:
            raise self.no_tokenizer
        found = self.tokenizer.cut(text, further, is_framed, written)
        given, most = len(found.pieces), self.most_pieces
        if most is not None and given > most:
            raise AttentionError("too_many_pieces", limit=most, given=given)
        if not given:
            raise AttentionError("no_pieces")
        rows = count_known_pieces(self.model)
        for piece in found.pieces:
            if rows is not None and piece.number >= rows:
                token = printable_token(piece.token)
                raise AttentionError("piece_unknown", name=token, limit=rows, given=piece.number)
        return found


def count_run_bytes(model: nn.Module, pieces: int) -> int:
    """Return about how many bytes of memory the results of a model's run take, all of which a recorded run keeps.

    Each matrix of the model gives RESULTS_A_MATRIX vectors per token, as long as its longer side.
    """
    widths = sum(max(parameter.shape[-2:]) for parameter in model.parameters() if parameter.dim() >= 2)
    return RESULTS_A_MATRIX * FLOAT_BYTES * widths * pieces


def count_known_pieces(model: "PreTrainedModel") -> int | None:
    """Return the number of rows of a model's token embedding table; None if transformers does not know where the table
    is."""
    try:
        words = model.get_input_embeddings()
    except (NotImplementedError, AttributeError):
        return None
    return words.num_embeddings if isinstance(words, nn.Embedding) else None


def find_length(model: nn.Module) -> int | None:
    """Return the context length for which a model was made, in tokens; None if the config does not state it."""
    config = model.config.get_text_config()
    said = [getattr(config, key, None) for key in LENGTH_KEYS]
    length = next((each for each in said if type(each) is int and each > 0), None)
    for name, module in model.named_modules():
        if "position" in name and isinstance(module, nn.Embedding) and module.padding_idx is not None:
            rows = module.num_embeddings - module.padding_idx - 1  # RoBERTa numbers positions from the padding row on
            length = min(rows, length or rows)
    return length
