"""Chooses the query with which a new sentence opens: a pronoun, or else the word whose weights are farthest from
uniform."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.explanation.facts import EQUAL_WEIGHT_GAP, allowed_pairs, find_row_beyond_itself
from attention_core.record.trace import Trace

PRONOUNS = (  # third-person pronouns by kind, in order of preference
    frozenset(
        [
            "it",
            "he",
            "she",
            "they",
            "him",
            "her",
            "them",
            "它",
            "他",
            "她",
            "它们",
            "他们",
            "她们",
            "牠",
            "她們",
            "他們",
        ]
    ),
    frozenset(["his", "hers", "its", "their", "theirs"]),
    frozenset(["himself", "herself", "itself", "themselves", "oneself", "自己"]),
)
APOSTROPHES = str.maketrans("’ʼ`", "'''")  # maps every kind of apostrophe to '


class AskingWord(NamedTuple):
    """The row of weights that a page selects first, and the reason.

    why: "only", there is no other word; "pronoun", the row's word is the only pronoun of the sentence; "last_pronoun",
    it is the last of several pronouns; "last_of_kind", it is the last pronoun of the preferred kind; "uneven", the
    row's weights are the farthest from uniform; "uneven_tie", the row is the last of several that are equally far from
    uniform; "beyond", the row has the largest weight on another word; "even", all rows are uniform.
    """

    head: int
    query: int
    why: str


def find_pronoun(words: Sequence[str]) -> int | None:
    """Find the position of the pronoun to select first: the last pronoun of the preferred kind; None without a pronoun.

    The last pronoun is chosen because the most words are before it, to which it can refer.

    >>> find_pronoun(["He", "told", "Emma", "that", "she", "was", "late", "for", "her", "own", "party"])
    8
    >>> find_pronoun(["It's", "its", "own", "fault"]), find_pronoun(["dogs", "bark"])
    (0, None)
    """
    for places in list_pronouns(words):
        if places:
            return places[-1]
    return None


def list_pronouns(words: Sequence[str]) -> list[list[int]]:
    """List the positions of the pronouns in a sentence, one list per kind of PRONOUNS: personal, possessive, reflexive.

    >>> list_pronouns(["He", "told", "her", "his", "name"])
    [[0, 2], [3], []]
    """
    stems = [word.casefold().translate(APOSTROPHES).partition("'")[0] for word in words]
    return [[place for place, stem in enumerate(stems) if stem in kind] for kind in PRONOUNS]


def why_pronoun_asks(words: Sequence[str], place: int) -> str:
    """Return why the pronoun at this position is selected first, as a value of AskingWord.why.

    >>> why_pronoun_asks(["It", "barks"], 0), why_pronoun_asks(["He", "lost", "his", "dog"], 0)
    ('pronoun', 'last_of_kind')
    """
    places = sorted(chain.from_iterable(list_pronouns(words)))
    if len(places) == 1:
        return "pronoun"
    return "last_pronoun" if place == places[-1] else "last_of_kind"


def find_asking_word(
    trace: Trace,
    words: Sequence[str],
    batch: int = 0,
    head: int | None = None,
    *,
    first: int = 0,
    past_itself: bool = False,
) -> AskingWord:
    r"""Find the row of weights with which the page of a new sentence opens: a pronoun's row, or the row farthest from
    uniform.

    If the sentence has a pronoun, it is the pronoun's row in the head in which this row is farthest from uniform.
    Otherwise it is the row of any word and head that is farthest from uniform. The distance is the total variation
    $\frac{1}{2} \sum_s |w_s - \bar w|$ over the allowed keys, where $\bar w$ is their mean. Of equally far rows, that
    of the first head and of the last word in it is chosen.

    words: the words of the sentence, one for each query; later queries are padding. head: the only head whose rows are
    searched; None for all. first: the position of the first word that may be chosen, which comes after a start token.
    past_itself: True if most words attend to themselves, as in a language model; then only the weight on another word
    counts.

    >>> from attention_core import attend_qkv
    >>> k = torch.tensor([[0.0, 0.0], [0.0, 9.0]])
    >>> find_asking_word(attend_qkv(k, k, k), ["dogs", "bark"]), find_asking_word(attend_qkv(k, k, k), ["it", "barks"])
    (AskingWord(head=0, query=1, why='uneven'), AskingWord(head=0, query=0, why='pronoun'))
    """
    pronoun = find_pronoun(words)
    why = None if pronoun is None else why_pronoun_asks(words, pronoun)
    if len(words) - first == 1:
        pronoun, why = first, "only"
    if past_itself and head is None:
        found_head, query = find_row_beyond_itself(trace, pronoun, batch, first)
        return AskingWord(found_head, query, why or "beyond")
    distances = distances_from_even(trace, batch, past_itself, head)[:, : len(words)]  # (H, T)
    if pronoun is not None:
        of_pronoun = distances[:, pronoun]  # (H,)
        found_head = int((of_pronoun >= of_pronoun.max() - EQUAL_WEIGHT_GAP).nonzero()[0])  # ties: the first head
        return AskingWord(found_head if head is None else head, pronoun, why)
    largest = distances[:, first:].max()
    among_largest = distances >= largest - EQUAL_WEIGHT_GAP
    among_largest[:, :first] = False
    found_head = int(among_largest.any(-1).nonzero()[0])
    equals = among_largest[found_head].nonzero()
    why = "uneven" if len(equals) == 1 else "uneven_tie"
    if past_itself:
        why = "beyond"
    if largest <= EQUAL_WEIGHT_GAP:
        why = "even"
    return AskingWord(found_head if head is None else head, int(equals[-1]), why)


def distances_from_even(
    trace: Trace, batch: int = 0, past_itself: bool = False, head: int | None = None
) -> Float[Tensor, "H T"]:
    """Compute how far each row of weights is from uniform weights; with past_itself, the row's largest weight on
    another word.

    head: the only head whose rows are measured; None for all heads.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[0.0], [9.0]]), torch.tensor([[0.0], [9.0]])
    >>> distances_from_even(attend_qkv(q, k, k))
    tensor([[0.0000, 0.5000]], dtype=torch.float64)
    """
    heads = slice(None) if head is None else slice(head, head + 1)
    weights = trace["weights"][batch, heads].detach().double().nan_to_num().cpu()  # (H, T, S): a copy, changed below
    hidden = ~allowed_pairs(trace)[batch, heads].cpu()
    if past_itself:
        is_itself = torch.eye(*weights.shape[-2:], dtype=torch.bool)
        return weights.masked_fill_(is_itself, 0.0).amax(-1)
    weights.masked_fill_(hidden, 0.0)
    mean = weights.sum(-1, keepdim=True) / (~hidden).sum(-1, keepdim=True).clamp_min(1)
    return weights.sub_(mean).abs_().masked_fill_(hidden, 0.0).sum(-1) / 2
