"""Defines RecordedModel: a whole model that was recorded while it read a text, as a ReadModel of this text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.whole_run import PartRow, WholeRun
from attention_core.learned.language.read_model import OTHERS, RECORDED, LayerHeads, Tokens
from attention_core.record.bounded_cache import BoundedCache, count_memory
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from attention_core.transformer.recorded_part import RecordedConfig
from attention_core.transformer.stack import LayerConfig, Stack, run_stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights

DIGEST_CHARS = 16
MAX_RESULT_BYTES, MAX_RESULTS = 256 * 2**20, 256  # cache limits: bytes, number of results


class RecordedModel:
    """A recorded whole model, as a ReadModel; the attributes and methods are described there.

    It reads the text of its recording; if each of its words reads only those before it, also the beginnings of this
    text. `find_model` finds it by its name as long as the object exists.

    whole: the model as a stack of the core. title: its name for people. words: the tokens of the text, as they are
    shown. show: a function that returns the text to show for a row of the unembedding table. logits: those that the
    model returned, (B, T, V); None for none. rows: the row of each token in this table; () if unknown. fills_masks:
    whether it predicts the token behind a mask.

    Raises AttentionError: stack_heads, if the layers have different numbers of heads.
    """

    language = None
    questions = ()
    reads_all = False

    def __init__(
        self,
        whole: WholeRun,
        title: str,
        words: Tokens,
        show: Callable[[int], str],
        logits: Tensor | None = None,
        rows: Sequence[int] = (),
        fills_masks: bool = False,
    ):
        self.whole, self.title, self.words, self.show, self.rows = whole, title, words, show, tuple(rows)
        self.fills_masks = fills_masks
        is_needed = logits is not None and whole.config.unembedding is None and logits.dim() == 3
        self.returned_logits = logits[0].detach() if is_needed else None
        self.heads = tuple(layer.attention.heads for layer in whole.config.layers)
        if len(set(self.heads)) > 1:
            raise AttentionError("stack_heads", given=", ".join(map(str, self.heads)))
        self.causal = not any(map(looks_ahead, self.attention))
        self.name = RECORDED + self.digest
        self.cache = BoundedCache(self.nbytes + MAX_RESULT_BYTES, MAX_RESULTS)  # runs share the weights of the model
        OTHERS[self.name] = self

    @property
    def attention(self) -> Iterator[Trace]:
        """The runs of the attention layers."""
        return (trace for part, trace in self.whole.stack.parts.items() if part.endswith(".attention"))

    @cached_property
    def digest(self) -> str:
        """A digest that identifies the recording: of the model's name, the text, and the recorded vectors of each
        layer."""
        digest = sha256(repr((self.title, self.words)).encode())
        for vectors in (*self.whole.model.beginnings, self.whole.model.end):
            digest.update(vectors.contiguous().numpy().tobytes())
        return digest.hexdigest()[:DIGEST_CHARS]

    @cached_property
    def nbytes(self) -> int:
        """The bytes of the weights, of the recorded vectors, and of the run of the whole text."""
        return count_memory(self.whole)

    @cached_property
    def worst(self) -> PartRow:
        """The proof of the part whose difference is largest in relation to its bound."""
        return max(self.whole.proof(), key=lambda row: row.apart / row.bound)

    @cached_property
    def vocabulary(self) -> Tokens:
        """The text to show for each row of the unembedding table, or for each logit that the model returned; () for
        none.
        """
        weights, returned = self.whole.weights.unembedding, self.returned_logits
        rows = 0 if returned is None else returned.shape[-1]
        return tuple(map(self.show, range(rows if weights is None else len(weights.table))))

    def count_read(self, tokens: Tokens) -> int:
        """Return how many words of the recorded text the given tokens make up. Raises AttentionError
        (text_not_recorded)."""
        count = len(tokens)
        is_begun = self.words[:count] == tokens
        if not is_begun or (count < len(self.words) and not self.causal):
            raise AttentionError("text_not_recorded")
        return count

    def run(self, tokens: Tokens) -> Stack:
        """Run each part from its recorded input, as WholeRun does."""
        count = self.count_read(tokens)
        if count == len(self.words):
            return self.whole.stack
        return self.cache.get(("run", count), lambda: self.run_beginning(count).stack)

    def run_beginning(self, count: int) -> WholeRun:
        """Return the model as a stack of the core on the first words of the text."""
        model = self.whole.model
        beginnings = tuple(vectors[:, :count] for vectors in model.beginnings)
        return WholeRun(replace(model, beginnings=beginnings, end=model.end[:, :count]), self.whole.rounding)

    def run_linked(self, tokens: Tokens) -> Stack:
        """Run the model from its first vectors on; each part reads the output of the part before it, not its recorded
        input."""
        count = self.count_read(tokens)

        def run() -> Stack:
            with torch.inference_mode():
                return run_stack(self.whole.x[:, :count], self.whole.weights, self.whole.config)

        return self.cache.get(("run_linked", count), run)

    def words_of_sum(self, word: int | None) -> tuple[int, ...]:
        """Return the words whose logits are split into a sum: only the selected word, because a large vocabulary would
        be too slow."""
        return () if word is None else (word,)

    def unembedding(self) -> tuple[UnembeddingWeights, UnembeddingConfig]:
        """Return the weights and the settings of the unembedding."""
        return self.whole.weights.unembedding, self.whole.config.unembedding

    def embed(self, tokens: Tokens) -> Trace:
        """Return the vectors with which the given words enter the first layer, each taken from the word's first place
        in the text.

        In models that add a vector of the place to each word, it is part of them.
        """
        x = self.whole.x[:1, self.places_of(tokens)]
        return Trace({"x": Step("x", x, ("B", "T", "D"))})

    def places_of(self, tokens: Tokens) -> list[int]:
        """Return the first place of each word in the text. Raises AttentionError (text_not_recorded)."""
        if not set(tokens) <= set(self.words):
            raise AttentionError("text_not_recorded")
        return [self.words.index(token) for token in tokens]

    def rows_of(self, tokens: Tokens) -> tuple[int, ...] | None:
        """Return the unembedding table's row for each word of the text; None for a word without a row, and for an
        unknown word."""
        weights = self.whole.weights.unembedding
        if weights is None or len(self.rows) != len(self.words):
            return None
        if max(self.rows) >= len(weights.table):
            return None
        return tuple(self.rows[place] for place in self.places_of(tokens))

    def heads_of(self, layer: int) -> LayerHeads:
        """Return the heads of a layer, with the weights and settings that were found in the recording."""
        own, *later = self.whole.config.layers[layer - 1 :]
        norms = [*list_norms(own), *(norm for each in later for norm in list_norms(each))]
        is_normed = any(name.endswith("_output") for name, _ in own.attention.modifiers)
        reaches = not (is_normed or any(name.endswith("_after") for name in norms))
        weights = self.whole.weights.layers[layer - 1].attention
        return LayerHeads(weights, own.attention, reaches_logits=reaches)

    def question_of(self, layer: int, head: int) -> None:
        """Return None: a recorded model has no head that answers questions."""

    def answer_logits(self, stack: Stack, question: int) -> Float[Tensor, "B T V"]:
        """Raise KeyError: a recorded model answers no questions."""
        raise KeyError(question)


def list_norms(layer: LayerConfig) -> list[str]:
    """Return the names of all norms of a layer and of its feed-forward layer, such as "rms_norm_after"."""
    behind = layer.feed_forward
    norms = () if behind is None or isinstance(behind, RecordedConfig) else behind.norms
    return [name for name, _ in (*layer.attention.modifiers, *norms)]


def looks_ahead(attention: Trace) -> bool:
    """Return whether any query may attend to a later key."""
    return "allowed" not in attention or bool(attention["allowed"].triu(1).any())
