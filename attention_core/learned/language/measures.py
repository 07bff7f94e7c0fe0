"""Measures on held-out texts how much weight a language model's heads give to the word that answers a question."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from attention_core.learned.grammar import Text, draw_scene, minimal_pairs
from attention_core.learned.grammar.draw import DrawnNumbers
from attention_core.learned.language.batches import begin_text, word_numbers
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.questions import QUESTIONS

CLEAR = 0.6  # weight from which a head's answer counts as clear
TEXTS = 1200  # number of held-out texts per measure
MEASURED_PAIRS = 300
SEEDS = {"choose": 71, "report": 72}  # half of the held-out texts: "choose" selects a head, "report" measures it
MOST_ROWS = 256  # most texts in a batch


@dataclass(frozen=True)
class Place:
    """Two positions of a text between which a head's weight is measured: that of the query and that of the right
    answer.

    at: the position of the query, at which a question is asked. to: the position of the right answer. others: the
    positions of other possible answers.
    """

    text: Text
    at: int
    to: int
    others: tuple[int, ...]


def held_out_numbers(half: str) -> DrawnNumbers:
    """Return the generator of random numbers with which one half of the held-out texts is sampled.

    half: a key of SEEDS.
    """
    return DrawnNumbers(Generator().manual_seed(SEEDS[half]))


# ---- texts and places ------------------------------------------------------------------------------------------------
@cache
def held_out_texts(language: str, part: str, half: str, count: int = TEXTS) -> tuple[Text, ...]:
    """Return texts of a part of the grammar that training does not use, with START before each."""
    rng = held_out_numbers(half)
    return tuple(begin_text(draw_scene(rng, part=part).say(language)) for _ in range(count))


def find_places(texts: Iterable[Text], kind: str) -> Iterator[Place]:
    """Yield the positions of both words of each link of one kind in the texts, such as of a pronoun and its noun."""
    for text in texts:
        for link in text.links:
            if link.kind == kind:
                yield Place(text, link.at, link.to, link.others)


def deciding_kind(causal: bool) -> str:
    """Return the name of the question that asks which noun a pronoun refers to: "pronoun" for an encoder, "about" for a
    decoder.

    An encoder is asked at the pronoun. A decoder has not read the end of the sentence there, so it is asked at the
    later word that decides which noun is meant.
    """
    return "about" if causal else "pronoun"


# ---- weights at places -----------------------------------------------------------------------------------------------
def weights_from(model: LanguageModel, language: str, places: Sequence[Place]) -> list[Float[Tensor, "L H S"]]:
    """Return the weights of all layers and heads from each place's query to all words of its text."""
    numbers = word_numbers(language)
    found: list[Tensor | None] = [None] * len(places)
    by_length: dict[int, list[int]] = {}
    for index, place in enumerate(places):
        by_length.setdefault(len(place.text.words), []).append(index)
    for indices in by_length.values():
        for start in range(0, len(indices), MOST_ROWS):
            chosen = indices[start : start + MOST_ROWS]
            words = torch.tensor([[numbers[word] for word in places[index].text.words] for index in chosen])
            maps = all_weights(model, words)  # (B, L, H, T, S)
            for row, index in enumerate(chosen):
                found[index] = maps[row, :, :, places[index].at]
    return found


def all_weights(model: LanguageModel, words: Tensor) -> Float[Tensor, "B L H T S"]:
    """Return the weights of all layers and heads for texts of one length."""
    with torch.inference_mode():
        stack = model.run_layers(words)
    maps = [trace["weights"] for name, trace in stack.parts.items() if name.endswith(".attention")]
    return torch.stack(maps, 1)


def right_weights(rows: Sequence[Tensor], places: Sequence[Place]) -> Float[Tensor, "N L H"]:
    """Return, for each place, layer and head, the summed weight on all mentions of the right answer."""
    weights = []
    for row, place in zip(rows, places, strict=True):
        words = place.text.words[: row.shape[-1]]
        same = [at for at, word in enumerate(words) if word == place.text.words[place.to]]
        weights.append(row[..., same].sum(-1))
    return torch.stack(weights)


def best_head(weights: Float[Tensor, "N L H"]) -> tuple[int, int]:
    """Return (layer, head) of the head whose weight on the right answer is most often above CLEAR."""
    shares = (weights > CLEAR).double().mean(0) + weights.mean(0) / 10  # (L, H): ties go to the larger mean
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    return layer, head


# ---- figures ---------------------------------------------------------------------------------------------------------
def measure_heads(model: LanguageModel, language: str, half: str = "report") -> dict[str, float]:
    """Measure how often the head of each question has a clear weight (over CLEAR) on the right word.

    one_fits: of pronouns that one noun fits. two_fit: of pronouns that two nouns fit, so that a reason decides. across:
    of verbs with another noun between verb and subject. frames: as two_fit, in sentence patterns that training leaves
    out. pairs: the share of minimal pairs with both texts right. answered: the share of minimal pairs with both answers
    right, if the model answers questions. The suffix "_count" marks the number of measured places.
    """
    causal = model.shape.causal
    kind = deciding_kind(causal)
    figures = {}
    groups = {
        "one_fits": ("held", kind, lambda place: not place.others),
        "two_fit": ("held", kind, lambda place: bool(place.others) and bool(place.text.frame)),
        "across": ("held", "subject", lambda place: bool(place.others)),
        "frames": ("frames", kind, lambda place: bool(place.others) and bool(place.text.frame)),
    }
    heads = {}
    for name, (part, link, belongs) in groups.items():
        places = [place for place in find_places(held_out_texts(language, part, half), link) if belongs(place)]
        if causal:
            places = [place for place in places if place.to <= place.at]
        if not places:
            continue
        weights = right_weights(weights_from(model, language, places), places)
        heads[link] = heads.get(link) or chosen_head(model, language, link)
        layer, number = heads[link]
        figures[name] = float((weights[:, layer, number] > CLEAR).double().mean())
        figures[f"{name}_count"] = len(places)
    figures["pairs"] = share_of_pairs(model, language, half, heads[kind])
    if model.shape.answers != "nowhere":
        figures["answered"] = share_answered(model, language, half)
    return figures


def chosen_head(model: LanguageModel, language: str, kind: str) -> tuple[int, int]:
    """Return (layer, head) of the head that answers a question.

    This is the head trained for the question if there is one, else the best head on the half of the texts for choosing.
    """
    if model.shape.answers == "heads":
        return model.shape.layers - 1, QUESTIONS.index(kind)
    places = [
        place
        for place in find_places(held_out_texts(language, "held", "choose"), kind)
        if place.to <= place.at or not model.shape.causal
    ]
    return best_head(right_weights(weights_from(model, language, places), places))


def share_answered(model: LanguageModel, language: str, half: str) -> float:
    """Return the share of minimal pairs for which the model answers right on both texts."""
    question = QUESTIONS.index(deciding_kind(model.shape.causal))
    numbers = word_numbers(language)
    right = []
    for some in pairs_by_length(pair_places(model.shape.causal, language, half)):
        words = torch.tensor([[numbers[word] for word in place.text.words] for place in some])
        with torch.inference_mode():
            sources = model.answer_source(model.run_layers(words), question)  # (B, T, read)
            asked = sources[range(len(some)), [place.at for place in some]]  # (B, read)
            answers = model.read_answers(asked, question).argmax(-1)  # (B,)
        for answer, place in zip(answers.tolist(), some, strict=True):
            right.append(answer == numbers[place.text.words[place.to]])
    return share_of_both(right)


def pairs_by_length(places: Sequence[Place]) -> list[list[Place]]:
    """Group minimal pairs by the length of their texts; both texts of a pair have equal length.

    places: the places of all texts, those of a pair next to each other. The groups keep this order.
    """
    by_length: dict[int, list[Place]] = {}
    for one, two in zip(places[::2], places[1::2], strict=True):
        by_length.setdefault(len(one.text.words), []).extend((one, two))
    return list(by_length.values())


@cache
def pair_places(causal: bool, language: str, half: str) -> tuple[Place, ...]:
    """Return the Place (query and right answer) of the question in each text of the minimal pairs, pair after pair."""
    places = []
    for pair in minimal_pairs(held_out_numbers(half), MEASURED_PAIRS, language):
        at = pair.deciding if causal else pair.pronoun
        for text, noun, other in zip(pair.texts, pair.nouns, reversed(pair.nouns), strict=True):
            places.append(Place(begin_text(text), at + 1, noun + 1, (other + 1,)))
    return tuple(places)


def share_of_pairs(model: LanguageModel, language: str, half: str, head: tuple[int, int]) -> float:
    """Return the share of minimal pairs in which a head gives the noun to which the pronoun refers more weight, in both
    texts.

    head: (layer, head).
    """
    layer, number = head
    places = pair_places(model.shape.causal, language, half)
    rows = weights_from(model, language, places)
    right = []
    for row, place in zip(rows, places, strict=True):
        mine = row[layer, number]
        right.append(bool(mine[place.to] > mine[place.others[0]]))
    return share_of_both(right)


def share_of_both(right: Sequence[bool]) -> float:
    """Return the share of pairs with both texts right.

    right: whether each text is right; the two texts of a pair are next to each other.
    """
    both = [one and two for one, two in zip(right[::2], right[1::2], strict=True)]
    return sum(both) / len(both)
