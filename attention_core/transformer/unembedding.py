"""Computes the unembedding, from vectors to words: a last norm, logits, top-k, top-p and the softmax."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import as_batch, check_class, check_finite, check_kinds, shape_of
from attention_core.mechanism.config import Choice, GivenChoices
from attention_core.mechanism.normalisers import SOFTMAX
from attention_core.mechanism.operations import SCALE
from attention_core.mechanism.plain_checks import require_finite, require_positive
from attention_core.mechanism.plan import run_plan
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand, product_cell, row_terms
from attention_core.record.number_text import format_short
from attention_core.record.trace import Faces, Operation, Step, Trace
from attention_core.transformer.part_norms import (
    BEFORE,
    NormWeights,
    check_norm_choices,
    check_norm_weights,
    norm_weight_dims,
    plan_norms,
)

LOGIT_DIMS = ("B", "T", "V")


# ---- logits: each vector's product with each word's row --------------------------------------------------------------
def meet_rows(
    x: Float[Tensor, "*B T D"], table: Float[Tensor, "V D"], bias: Float[Tensor, " V"] | None = None
) -> Float[Tensor, "*B T V"]:
    logits = x @ table.mT  # (..., T, D) x (D, V) -> (..., T, V)
    return logits if bias is None else logits + bias


def meet_rows_numpy(x, table, bias=None):
    logits = np.einsum("...m,vm->...v", x, table)
    return logits if bias is None else np.add(logits, bias)


def meet_rows_formula(x, table, bias=None):
    product = rf"{x}\,{table}^{{\top}}"
    return product if bias is None else f"{product} + {bias}"


def meet_rows_cell(index, x: Operand, table: Operand, bias: Operand | None = None) -> Cell:
    *place, v = index
    terms = [(x[(*place, m)], table[v, m]) for m in range(table.shape[1])]
    if bias is not None:
        terms.append((bias[v],))
    return Cell(tuple(terms))


MEET_ROWS = Faces(meet_rows, meet_rows_numpy, meet_rows_formula, meet_rows_cell, sign="· Eᵀ", motion="match")


# ---- choose: what belongs to some words alone, of the table or of the bias -------------------------------------------
def choose_words(table: Float[Tensor, "V ..."], *, words: tuple[int, ...]) -> Float[Tensor, "V' ..."]:
    rows = torch.tensor(words, device=table.device)  # (V')
    return table[rows]  # (V, ...) -> (V', ...)


def choose_words_numpy(table, *, words):
    return np.take(table, words, axis=0)


def choose_words_formula(table, *, words):
    return rf"{table}[\mathrm{{words}}]"


def choose_words_cell(index, table: Operand, *, words) -> Cell:
    v, *column = index
    return product_cell(table[(words[v], *column)])


CHOOSE_WORDS = Faces(
    choose_words, choose_words_numpy, choose_words_formula, choose_words_cell, sign="E", motion="place"
)


# ---- top-k: the k largest logits stay, with those that tie with the last (Fan et al. 2018, section 5.2) --------------
def keep_largest(logits: Float[Tensor, "*B T V"], *, k: int) -> Float[Tensor, "*B T V"]:
    falling, _ = logits.sort(dim=-1, descending=True)  # (..., T, V)
    place = min(k, logits.shape[-1]) - 1
    return logits.masked_fill(logits < falling[..., place, None], float("-inf"))


def keep_largest_numpy(logits, *, k):
    rising = np.sort(logits, axis=-1)  # (..., T, V)
    place = max(rising.shape[-1] - k, 0)
    return np.where(logits < rising[..., place, None], -np.inf, logits)


def keep_largest_formula(logits, *, k):
    return rf"\mathrm{{top}}_{{{k}}}({logits})"


def keep_largest_cell(index, logits: Operand, *, k) -> Cell:
    *place, v = index
    row = row_terms(logits, place, logits.shape[-1])
    return Cell((row[v], (Constant(float(k), str(k)),), *row), function="top_k")


KEEP_LARGEST = Faces(
    keep_largest, keep_largest_numpy, keep_largest_formula, keep_largest_cell, sign="top k", motion="mask"
)


# ---- top-p: the likeliest words stay that hold a share of p together (Holtzman et al. 2020, section 3.1) -------------
def keep_share(logits: Float[Tensor, "*B T V"], *, p: float) -> Float[Tensor, "*B T V"]:
    falling, _ = logits.sort(dim=-1, descending=True)  # (..., T, V)
    shares = torch.softmax(falling, dim=-1)
    likelier = shares.cumsum(-1) - shares  # (..., T, V): total probability of all likelier words
    count = (likelier < p).sum(-1, keepdim=True)  # (..., T, 1): number of kept words, at least 1
    return logits.masked_fill(logits < falling.gather(-1, count - 1), float("-inf"))


def keep_share_numpy(logits, *, p):
    falling = -np.sort(-logits, axis=-1)  # (..., T, V)
    powers = np.exp(falling - falling[..., :1])
    shares = powers / powers.sum(-1, keepdims=True)
    likelier = np.cumsum(shares, axis=-1) - shares
    count = (likelier < p).sum(-1, keepdims=True)
    return np.where(logits < np.take_along_axis(falling, count - 1, axis=-1), -np.inf, logits)


def keep_share_formula(logits, *, p):
    return rf"\mathrm{{nucleus}}_{{{format_short(p)}}}({logits})"


def keep_share_cell(index, logits: Operand, *, p) -> Cell:
    *place, v = index
    row = row_terms(logits, place, logits.shape[-1])
    return Cell((row[v], (Constant(float(p), format_short(p)),), *row), function="top_p")


KEEP_SHARE = Faces(keep_share, keep_share_numpy, keep_share_formula, keep_share_cell, sign="top p", motion="mask")


# ---- the softmax over all words --------------------------------------------------------------------------------------
def share_words_formula(logits):
    return rf"\mathrm{{softmax}}_V({logits})"


SHARE_WORDS = Faces(SOFTMAX.torch, SOFTMAX.numpy, share_words_formula, SOFTMAX.cell, sign="%", motion="share")


# ---- choices and weights ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class UnembeddingConfig:
    """The settings of an unembedding.

    norms: the norms before it, as names or (name, params) pairs. temperature: divides the logits. top_k: only this many
    words with the largest logits stay; None keeps all. top_p: of these, only the likeliest stay that together have this
    probability.

    Raises AttentionError (a ValueError) for an unknown choice or a number out of range.
    """

    norms: tuple[Choice, ...] = ()
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    if TYPE_CHECKING:  # the fields are tuples of Choice, but names are taken as well

        def __init__(
            self,
            norms: GivenChoices = (),
            temperature: float = 1.0,
            top_k: int | None = None,
            top_p: float = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        require_finite("temperature", self.temperature)
        if self.temperature <= 0:
            raise AttentionError("positive_number", name="temperature", given=self.temperature)
        if self.top_k is not None:
            require_positive("top_k", self.top_k)
        require_finite("top_p", self.top_p)
        if not 0 < self.top_p <= 1:
            raise AttentionError("share_range", name="top_p", given=self.top_p)
        object.__setattr__(self, "norms", check_norm_choices(self.norms, BEFORE))


@dataclass(frozen=True, eq=False, kw_only=True)
class UnembeddingWeights(NormWeights):
    """The learned tensors of an unembedding.

    table (V, D): one row per word; it may be the embedding's table. b_words (V): the bias of each word's logit. The
    other tensors are those of the norms.
    """

    table: Float[Tensor, "V D"]
    b_words: Float[Tensor, " V"] | None = None


def unembed(x: Float[Tensor, "*B T D"], weights: UnembeddingWeights, config: UnembeddingConfig | None = None) -> Trace:
    r"""Compute a logit and a probability for each word of the table, with every step recorded.

    $\mathrm{logits} = \mathrm{norm}(x)\,E^\top + b$, $\mathrm{probabilities} =
    \mathrm{softmax}_V(\mathrm{logits}/\tau)$ over the words that top_k and then top_p leave; every other word has the
    logit $-\infty$.

    x (T, D) or (B, T, D). weights: see UnembeddingWeights; torch.nn.Linear(D, V) stores its matrix in this layout.
    config: see UnembeddingConfig.

    Returns a Trace; Trace["probabilities"] is (B, T, V). Raises AttentionError (a ValueError) that says what must hold
    and what was given. Sources: Vaswani et al. 2017, section 3.4; a table in common with the embedding: Press, Wolf
    2017; top-k: Fan et al. 2018, section 5.2; top-p: Holtzman et al. 2020, section 3.1.

    >>> import torch
    >>> unembed(torch.zeros(1, 2), UnembeddingWeights(table=torch.eye(2)))["probabilities"]
    tensor([[[0.5000, 0.5000]]])
    """
    config = config or UnembeddingConfig()
    check_class("weights", weights, UnembeddingWeights)
    check_class("config", config, UnembeddingConfig)
    check_kinds({"x": x, "table": weights.table, **weights.given()})
    x = as_batch("x", x)
    check_unembedding(x, weights, config)
    dims = {"table": ("V", "D"), "b_words": ("V",), **norm_weight_dims(config.norms)}
    inputs = {"x": Step("x", x, ("B", "T", "D"))}
    inputs |= {name: Step(name, tensor, dims[name]) for name, tensor in weights.given().items()}
    return run_plan(inputs, plan_unembedding(inputs, config))


def check_unembedding(x: Tensor, weights: UnembeddingWeights, config: UnembeddingConfig) -> None:
    """Raise AttentionError if the table does not fit x, or if a needed weight is missing."""
    D = x.shape[-1]
    table, b_words = weights.table, weights.b_words
    if table.dim() != 2 or table.shape[1] != D:
        raise AttentionError("weight_shape", weight="table", axes=f"(V, {D})", shape=shape_of(table))
    if b_words is not None and shape_of(b_words) != (len(table),):
        raise AttentionError("weight_shape", weight="b_words", axes=f"({len(table)},)", shape=shape_of(b_words))
    check_norm_weights(config.norms, weights.given(), {"D": D})
    check_finite({"x": x, **weights.given()})


def plan_unembedding(inputs: dict[str, Step], config: UnembeddingConfig) -> list[Operation]:
    """Return the operations from x to the probabilities."""
    plan = plan_norms(config.norms, BEFORE, "x", "x", inputs["x"].dims)
    read = plan[-1].output if plan else "x"
    bias = [name for name in ("b_words",) if name in inputs]
    plan.append(Operation("logits", LOGIT_DIMS, (read, "table", *bias), MEET_ROWS))
    return [*plan, *plan_word_choices(config, len(inputs["table"].value))]


def plan_word_choices(config: UnembeddingConfig, words: int) -> list[Operation]:
    """Return the operations from the logits to the probabilities. words: the number of logits."""
    plan: list[Operation] = []

    def add(name: str, faces: Faces, **params: float) -> None:
        read = plan[-1].output if plan else "logits"
        plan.append(Operation(name, LOGIT_DIMS, (read,), faces, params))

    if config.temperature != 1:
        add("scaled_logits", SCALE, factor=1.0, temperature=float(config.temperature))
    if config.top_k is not None and config.top_k < words:
        add("top_k_logits", KEEP_LARGEST, k=config.top_k)
    if config.top_p < 1:
        add("top_p_logits", KEEP_SHARE, p=float(config.top_p))
    add("probabilities", SHARE_WORDS)
    return plan


def choose_from_logits(logits: Float[Tensor, "B T V"], config: UnembeddingConfig | None = None) -> Trace:
    """Compute the probability of each word from logits that are given, with every step recorded.

    logits: those that a model returned. config: the temperature, top_k and top_p; its norms are not used.

    Returns a Trace; Trace["probabilities"] is (B, T, V).

    >>> choose_from_logits(torch.zeros(1, 1, 4))["probabilities"]
    tensor([[[0.2500, 0.2500, 0.2500, 0.2500]]])
    """
    given = {"logits": Step("logits", logits, LOGIT_DIMS)}
    return run_plan(given, plan_word_choices(config or UnembeddingConfig(), logits.shape[-1]))
