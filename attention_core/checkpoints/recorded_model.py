"""Defines RecordedModel: a whole model that was recorded while it read a text, as a ReadModel of this text."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from hashlib import sha256

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.whole_run import PartRow, WholeRun
from attention_core.learned.language.read_model import OTHERS, RECORDED, Tokens
from attention_core.record.bounded_cache import BoundedCache, count_memory
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.transformer.stack import Stack, run_stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights

DIGEST_CHARS = 16
MAX_RESULT_BYTES, MAX_RESULTS = 256 * 2**20, 256  # the most that a model keeps of what is computed with it


class RecordedModel:
    """A recorded whole model, as a ReadModel; the attributes and methods are described there.

    It reads the text of its recording; if each of its words reads only those before it, also the beginnings of this
    text. `find_model` finds it by its name as long as the object exists.

    whole: the model as a stack of the core. title: its name for people. words: the pieces of the text, as they are
    shown. show: a function that returns the text to show for a row of the unembedding table. logits: those that the
    model returned, (B, T, V); None for none.

    Raises AttentionError: stack_heads, if the layers have different numbers of heads.
    """

    language = None
    questions = ()
    reads_all = False

    def __init__(
        self, whole: WholeRun, title: str, words: Tokens, show: Callable[[int], str], logits: Tensor | None = None
    ):
        self.whole, self.title, self.words, self.show = whole, title, words, show
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
        """A digest of the model's name, the text, and the recorded vectors of each layer, which follow from both."""
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
        """The proof of the part that comes nearest to its bound."""
        return max(self.whole.proof(), key=lambda row: row.apart / row.bound)

    @cached_property
    def vocabulary(self) -> Tokens:
        """The text to show for each row of the unembedding table; () without one."""
        weights = self.whole.weights.unembedding
        rows = 0 if weights is None else len(weights.table)
        return tuple(map(self.show, range(rows)))

    def count_read(self, tokens: Tokens) -> int:
        """Return how many words of the text some tokens are. Raises AttentionError (text_not_recorded)."""
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
        """Run the model from its first vectors on; each part reads the result of the part before it."""
        count = self.count_read(tokens)

        def run() -> Stack:
            with torch.inference_mode():
                return run_stack(self.whole.x[:, :count], self.whole.weights, self.whole.config)

        return self.cache.get(("run_linked", count), run)

    def words_of_sum(self, word: int | None) -> tuple[int, ...]:
        """Return the word that is looked at: of a large vocabulary not all logits are split."""
        return () if word is None else (word,)

    def unembedding(self) -> tuple[UnembeddingWeights, UnembeddingConfig]:
        """Return the weights and the settings of the unembedding."""
        return self.whole.weights.unembedding, self.whole.config.unembedding

    def question_of(self, layer: int, head: int) -> None:
        """Return None: no head is asked."""

    def answer_logits(self, stack: Stack, question: int) -> Float[Tensor, "B T V"]:
        """Raise KeyError: the model answers no question."""
        raise KeyError(question)


def looks_ahead(attention: Trace) -> bool:
    """Return whether some query may attend to a later key."""
    return "allowed" not in attention or bool(attention["allowed"].triu(1).any())
