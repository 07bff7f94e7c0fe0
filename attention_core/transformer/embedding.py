"""Embeds words, with every step recorded: looks up table rows, and adds positions and a norm if the config has them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import check_class, check_finite, check_kinds, shape_of
from attention_core.mechanism.config import AttentionConfig, Choice, GivenChoices
from attention_core.mechanism.parameters import names_of
from attention_core.mechanism.plain_checks import is_whole, require_one_of
from attention_core.mechanism.plan import plan_input_positions, run_plan
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Operand, product_cell
from attention_core.record.trace import Faces, Operation, Step, Trace
from attention_core.transformer.part_norms import (
    AFTER,
    NormWeights,
    check_norm_choices,
    check_norm_weights,
    norm_weight_dims,
    plan_norms,
)

Ids = tuple[tuple[int, ...], ...]  # row indices of words in the table, for B texts of T words
X_DIMS = ("B", "T", "D")
INPUT_POSITIONS = tuple(name for name, position in POSITIONS.items() if position.place == "input")


# ---- look up: each word's row of the table ---------------------------------------------------------------------------
def look_up(table: Float[Tensor, "V D"], *, ids: Ids) -> Float[Tensor, "B T D"]:
    rows = torch.tensor(ids, device=table.device)  # (B, T)
    return table[rows]  # (V, D) -> (B, T, D)


def look_up_numpy(table, *, ids):
    texts = [[table[row] for row in text] for text in ids]  # B texts of T vectors (D,)
    return np.array(texts)


def look_up_formula(table, *, ids):
    return rf"{table}[\mathrm{{word}}]"


def look_up_cell(index, table: Operand, *, ids) -> Cell:
    b, t, m = index
    return product_cell(table[ids[b][t], m])


LOOK_UP = Faces(look_up, look_up_numpy, look_up_formula, look_up_cell, sign="E", motion="place")


# ---- times the root of the width (Vaswani et al. 2017, section 3.4) --------------------------------------------------
def times_root(embedded: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
    return embedded * math.sqrt(embedded.shape[-1])


def times_root_numpy(embedded):
    return np.sqrt(embedded.shape[-1]) * embedded


def times_root_formula(embedded):
    return rf"\sqrt{{D}}\,{embedded}"


def times_root_cell(index, embedded: Operand) -> Cell:
    D = embedded.shape[-1]
    return product_cell(embedded[index], Constant(math.sqrt(D), f"√{D}"))


TIMES_ROOT = Faces(times_root, times_root_numpy, times_root_formula, times_root_cell, sign="× √D", motion="scale")


# ---- choices and weights ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class EmbeddingConfig:
    """The settings of an embedding.

    times_root: whether the rows of the table are multiplied by √D. positions: the positions added to the input, as
    names or (name, params) pairs from POSITIONS. norms: the norms after the last step.

    Raises AttentionError (a ValueError) for an unknown choice or a number out of range.

    >>> EmbeddingConfig(positions=["sinusoidal"]).positions
    (('sinusoidal', {'base': 10000.0}),)
    """

    times_root: bool = False
    positions: tuple[Choice, ...] = ()
    norms: tuple[Choice, ...] = ()

    if TYPE_CHECKING:  # the fields are tuples of Choice, but names are taken as well

        def __init__(
            self,
            times_root: bool = False,
            positions: GivenChoices = (),
            norms: GivenChoices = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        positions = AttentionConfig(positions=self.positions).positions
        for name, _ in positions:
            require_one_of("position", name, INPUT_POSITIONS)
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "norms", check_norm_choices(self.norms, AFTER))


@dataclass(frozen=True, eq=False, kw_only=True)
class EmbeddingWeights(NormWeights):
    """The learned tensors of an embedding.

    table (V, D): one row per word. w_places (N, D): one row per position, for learned positions. The other tensors are
    those of the norms.
    """

    table: Float[Tensor, "V D"]
    w_places: Float[Tensor, "N D"] | None = None


def embed(ids: object, weights: EmbeddingWeights, config: EmbeddingConfig | None = None) -> Trace:
    r"""Look up words in a table, and add their positions, with every step recorded.

    $x = E[\mathrm{word}]$, or $\sqrt{D}\,E[\mathrm{word}]$; then $x + P$ with positions, and last a norm.

    ids: the row indices of the words, as a list of T whole numbers or B such lists. weights: the table and the other
    learned tensors. config: the scaling, the positions and the norms.

    Returns a Trace, whose last step is (B, T, D). Raises AttentionError (a ValueError) that says what must hold and
    what was given. Sources: Vaswani et al. 2017, sections 3.4, 3.5; learned positions: Gehring et al. 2017, section
    3.1.

    >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> embed([1, 0], EmbeddingWeights(table=table))["x"]
    tensor([[[3., 4.],
             [1., 2.]]])
    """
    config = config or EmbeddingConfig()
    check_class("weights", weights, EmbeddingWeights)
    check_class("config", config, EmbeddingConfig)
    check_embedding(weights, config)
    texts = check_ids(ids, len(weights.table))
    dims = {"table": ("V", "D"), "w_places": ("N", "D"), **norm_weight_dims(config.norms)}
    inputs = {name: Step(name, tensor, dims[name]) for name, tensor in weights.given().items()}
    trace = run_plan(inputs, plan_look_up(texts, config))
    attention = AttentionConfig(positions=config.positions)
    positions = plan_input_positions(attention, inputs, trace.step("x"), heads=1, first_position=0)
    step = positions[-1].output if positions else "x"
    return trace.then(*positions, *plan_norms(config.norms, AFTER, "output", step, X_DIMS))


def check_embedding(weights: EmbeddingWeights, config: EmbeddingConfig) -> None:
    """Raise AttentionError if a tensor of an embedding is missing or does not fit the others."""
    given = weights.given()
    check_kinds({"table": weights.table, **given})
    if weights.table.dim() != 2:
        raise AttentionError("weight_shape", weight="table", axes="(V, D)", shape=shape_of(weights.table))
    needed = {weight: name for name, _ in config.positions for weight in names_of(POSITIONS[name].weights)}
    for weight, name in needed.items():
        if weight not in given:
            raise AttentionError("missing_weight", kind=name, weight=weight)
    if "w_places" in given and "w_places" not in needed:
        raise AttentionError("unowned_weight", weight="w_places", kind="learned")
    D = weights.table.shape[1]
    check_norm_weights(config.norms, given, {"D": D, "D_out": D})
    check_finite(given)


def check_ids(given: object, rows: int) -> Ids:
    """Check the given ids, and return them as B texts of T ids each.

    rows: the number of rows of the table. Raises AttentionError: ids_form, ids_range.
    """
    if isinstance(given, Tensor):
        given = given.tolist()
    texts = given if isinstance(given, list | tuple) else ()
    if texts and all(is_whole(row) for row in texts):
        texts = [texts]
    is_nested = all(isinstance(text, list | tuple) and all(map(is_whole, text)) for text in texts)
    if not texts or not is_nested or len({len(text) for text in texts}) > 1 or not texts[0]:
        raise AttentionError("ids_form", given=repr(given)[:40])
    for text in texts:
        for row in text:
            if not 0 <= row < rows:
                raise AttentionError("ids_range", last=rows - 1, given=row)
    return tuple(tuple(text) for text in texts)


def plan_look_up(ids: Ids, config: EmbeddingConfig) -> list[Operation]:
    """Return the operations that look up the words' rows and, if chosen, multiply these by √D; the last step is x."""
    params: Mapping[str, object] = {"ids": ids}
    if not config.times_root:
        return [Operation("x", X_DIMS, ("table",), LOOK_UP, params)]
    rows = Operation("embedded", X_DIMS, ("table",), LOOK_UP, params)
    return [rows, Operation("x", X_DIMS, ("embedded",), TIMES_ROOT)]
