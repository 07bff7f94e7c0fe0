"""Makes attention maps of words from attention maps of subword tokens ("pieces"), and cuts the map of a sentence pair
into blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.inputs.given_maps import AttentionMaps
from attention_core.inputs.subwords import GOES_ON, show_subwords
from attention_core.record.errors import AttentionError

SEPARATORS = ("[SEP]", "</s>", "<sep>", "<|sep|>")  # tokens that separate two sentences
BLOCKS = ("AA", "AB", "BA", "BB")  # blocks of a map: first the sentence of the queries, then that of the keys


def group_pieces(tokens: Sequence[str]) -> list[list[int]]:
    """Return the positions of the tokens of each word; a tokenizer's marks show where words begin.

    >>> group_pieces(["[CLS]", "walk", "##ing", "dogs"]), group_pieces(["un", "happy", "Ġcat"])
    ([[0], [1, 2], [3]], [[0, 1], [2]])
    """
    groups: list[list[int]] = []
    for place, (token, shown) in enumerate(zip(tokens, show_subwords(tokens), strict=True)):
        if groups and shown != token and shown.startswith(GOES_ON):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


@dataclass(frozen=True)
class WordGroups:
    """The words of one axis of an attention map: each word's text, and the positions of its tokens ("pieces")."""

    shown: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]


def group_by_marks(tokens: Sequence[str], shown: Sequence[str]) -> WordGroups:
    """Return the words that tokens form according to the tokenizer's marks. shown: the texts of the tokens."""
    groups = group_pieces(tokens)
    return WordGroups(spell_words(shown, groups), tuple(map(tuple, groups)))


def join_words(
    given: AttentionMaps, queries: WordGroups | None = None, keys: WordGroups | None = None
) -> AttentionMaps:
    r"""Return attention maps of words: the sum over the tokens ("pieces") of a key's word, the mean over those of a
    query's word.

    queries, keys: the words; None finds them by the marks of the tokens.

    $w'_{TS} = \frac{1}{|T|} \sum_{t \in T} \sum_{s \in S} w_{ts}$; a row that sums to 1 still does.

    Source: Clark et al. 2019, "What Does BERT Look At?", section 4.1.

    >>> weights = torch.tensor([[[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]]])
    >>> joined = join_words(AttentionMaps(weights, ("a", "go", "##es"), ("a", "go", "##es")))
    >>> joined.maps.tolist(), joined.keys
    ([[[[0.5, 0.5], [0.5, 0.5]]]], ('a', 'goes'))
    """
    queries = queries or group_by_marks(given.queries, given.shown_queries)
    keys = keys or group_by_marks(given.keys, given.shown_keys)
    by_word = sum_groups(given.maps, keys.places)  # (L, H, T, words)
    sizes = torch.tensor([len(places) for places in queries.places])[:, None]
    maps = sum_groups(by_word.transpose(-1, -2), queries.places).transpose(-1, -2) / sizes
    return AttentionMaps(maps, queries.shown, keys.shown)


def sum_groups(numbers: Float[Tensor, "*rows S"], groups: Sequence[Sequence[int]]) -> Float[Tensor, "*rows words"]:
    """Return, for each group, the sum of the numbers at the group's positions."""
    return torch.stack([numbers[..., list(places)].sum(-1) for places in groups], dim=-1)


def spell_words(shown: Sequence[str], groups: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Return the text of each word, joined from the shown texts of its tokens, without the sign … that marks a
    continued word.
    """
    words = []
    for first, *rest in groups:
        words.append(shown[first] + "".join(shown[place].removeprefix(GOES_ON) for place in rest))
    return tuple(words)


def find_second_sentence(tokens: Sequence[str]) -> int | None:
    """Return the position at which a second sentence begins, the first token after separators; None if there is none.

    >>> find_second_sentence(["[CLS]", "a", "[SEP]", "b", "[SEP]"]), find_second_sentence(["[CLS]", "a", "[SEP]"])
    (3, None)
    >>> find_second_sentence(["<s>", "a", "</s>", "</s>", "b", "</s>"])
    4
    """
    for place in range(1, len(tokens)):
        if tokens[place - 1] in SEPARATORS and tokens[place] not in SEPARATORS:
            return place
    return None


def cut_block(given: AttentionMaps, second: int, block: str) -> AttentionMaps:
    """Return the weights from one sentence to another, not normalised: a row sums to 1 only over the keys of both
    sentences.

    second: the position at which sentence B begins. block: one of BLOCKS; "AB" has the queries of A and the keys of B.

    Raises AttentionError (a ValueError): unknown_choice; second_sentence if one of the sentences would be empty.

    >>> maps = AttentionMaps(torch.arange(9.0).reshape(1, 1, 3, 3), ("a", "b", "c"), ("a", "b", "c"))
    >>> cut_block(maps, 2, "AB").maps.tolist(), cut_block(maps, 2, "AB").keys
    ([[[[2.0], [5.0]]]], ('c',))
    """
    if block not in BLOCKS:
        raise AttentionError("unknown_choice", name="block", choices=", ".join(BLOCKS), given=repr(block))
    count = len(given.keys)
    if not given.is_self_attention or not 0 < second < count:
        raise AttentionError("second_sentence", limit=count - 1, given=second)
    parts = {"A": slice(0, second), "B": slice(second, count)}
    rows, columns = (parts[name] for name in block)
    return AttentionMaps(given.maps[..., rows, columns], given.queries[rows], given.keys[columns])
