"""What each part of a stack added to one word's vector in total: its heads and biases together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from jaxtyping import Float
from torch import Tensor

from attention_core.transformer.stack import Stack


@dataclass(frozen=True, eq=False)
class WholePart:
    """A part of a stack and what it added in total.

    members: the positions of its summands in the sums of the stack. added: their sum. push: the direct logit
    attribution of that sum for a word.
    """

    name: str
    members: tuple[int, ...]
    added: Float[Tensor, " D"]
    push: float


def list_members(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The parts of a stack, each with the positions of its summands. labels: of all summands, in order.

    >>> list_members(("embedding", "embedding.positions", "1.attention.head_1", "1.attention.b_o", "1.feed_forward"))
    {'embedding': (0, 1), '1.attention': (2, 3), '1.feed_forward': (4,)}
    """
    numbered = groupby(enumerate(labels), key=lambda each: name_whole_part(each[1]))
    return {part: tuple(number for number, _ in members) for part, members in numbered}


def name_whole_part(label: str) -> str:
    """The name of the part to which a summand, such as a head or a bias, belongs."""
    first, *others = label.split(".")
    return f"{first}.{others[0]}" if first.isdigit() else first


def whole_parts(stack: Stack, at: int, word: int) -> list[WholePart]:
    r"""Add up what each part of a stack added to the vector of one word, and its direct logit attribution.

    $\mathrm{push} = \sum_{m \in \mathrm{part}} \mathrm{push}_m$, whose sum over all parts is the logit.

    stack: one with both sums, see with_residual_sum and with_logit_sum. at: the position of the word. word: the row of
    the table whose logit is meant. Source: Elhage et al. 2021, "logit attribution".

    >>> from attention_core.learned.language.readout import sum_model
    >>> parts = whole_parts(sum_model("en_asked_decoder", ("<start>", "the", "dog")), at=2, word=7)
    >>> [part.name for part in parts][:3]
    ['embedding', '1.attention', '1.feed_forward']
    """
    sums, logits = stack["residual_sum"], stack["logit_sum"]
    found = []
    for name, members in list_members(sums.labels["part"]).items():
        rows = list(members)
        added = sums["parts"][rows, 0, at].sum(0)  # (members, D) -> (D,)
        push = logits["pushes"][rows, 0, at, word].sum()
        found.append(WholePart(name, members, added, float(push)))
    return found


def pushes_by_kind(parts: Sequence[WholePart]) -> dict[str, float]:
    """Add up the direct logit attributions of each kind of part over all layers: "embedding", "attention" and so on.

    parts: of a stack, see whole_parts.
    """
    found: dict[str, float] = {}
    for part in parts:
        kind = part.name.rpartition(".")[2]
        found[kind] = found.get(kind, 0.0) + part.push
    return found
