"""Trains the included networks, chooses the best seed, and measures when a model guesses.

The seed is chosen on one half of the held-out texts, the measurements are made on the other. Guesses are recognised by
a high surprise, and by answers that differ from those of a simple rule.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention_core.learned.grammar import Text
from attention_core.learned.language.batches import OTHER_CATEGORIES
from attention_core.learned.language.measures import (
    CLEAR,
    MOST_ROWS,
    Place,
    all_weights,
    find_places,
    held_out_texts,
)
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.language.network_folder import STORED_DTYPE, NetworkFolder
from attention_core.learned.language.questions import find_answer
from attention_core.learned.language.reading import UNKNOWN
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import LANGUAGE_MODELS, load_model, other_form, read_figures
from attention_core.learned.language.simple_rule import nearest_fitting
from attention_core.learned.language.surprise import number_words, surprises_of_texts
from attention_core.learned.language.training import LanguageTraining, TrainingRecipe

CHECKPOINT_FOLDER = Path(".training")  # the default folder of the command line for training checkpoints
KEPT_EVERY = 250  # number of steps between two checkpoints
FIGURE_DECIMALS = 4


def make_model(networks: NetworkFolder, name: str, folder: Path, tell: Callable[[str], object]) -> None:
    """Train a network with each seed of its recipe, measure each trained network, and save the best in the package.

    folder: the folder of the checkpoints, from which interrupted training continues. tell: a function that is called
    with a message about the progress.
    """
    recipe = networks.recipes[name]
    models = {seed: train_model(recipe, seed, folder, tell) for seed in recipe.seeds}
    chosen_by = {seed: recipe.measure(model, "choose") for seed, model in models.items()}
    best = max(recipe.seeds, key=lambda seed: sum(chosen_by[seed].get(name, 0.0) for name in recipe.choosing))
    reports = {seed: round_figures(recipe.measure(model, "report")) for seed, model in models.items()}
    batch = recipe.draw(torch.Generator().manual_seed(recipe.seeds[0]))
    row = {
        "seed": best,
        "steps": recipe.steps,
        "texts": batch.count * recipe.steps,  # approximate: batches differ in their number of texts
        "figures": reports[best],
        "others": {str(seed): figures for seed, figures in reports.items() if seed != best},
    }
    networks.ship(models[best], name, row)
    tell(f"{name}: seed {best}, {reports[best]}")


def measure_guesses_again(name: str) -> None:
    """Measure again how often an included language model guesses, alone and compared with its other form, and store the
    results.
    """
    model, second = (load_model(each, torch.float32) if each else None for each in (name, other_form(name)))
    columns = measure_guesses(model, RECIPES[name].language, second)
    rounded = {column: round_figures(figures) for column, figures in columns.items()}
    LANGUAGE_MODELS.write_row(name, asdict(read_figures()[name]) | rounded)


def train_model(recipe: TrainingRecipe, seed: int, folder: Path, tell: Callable[[str], object]) -> nn.Module:
    """Train a network to its last step, from its checkpoint if there is one, and round its weights to the stored
    precision.
    """
    training = LanguageTraining(recipe, seed)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recipe.name}.{seed}.safetensors"
    training.take_up(path)
    while not training.done:
        loss = training.advance()
        if training.step % KEPT_EVERY == 0 or training.done:
            training.keep(path)
            tell(f"{recipe.name}, seed {seed}: step {training.step} of {recipe.steps}, {loss:.2f} nats")
    model = training.model.requires_grad_(False)
    for tensor in model.parameters():
        tensor.copy_(tensor.to(STORED_DTYPE))
    return model


def round_figures(figures: dict[str, float]) -> dict[str, float]:
    """Round the numbers of a dict to FIGURE_DECIMALS decimals."""
    return {name: round(figure, FIGURE_DECIMALS) for name, figure in figures.items()}


# ---- when a model guesses --------------------------------------------------------------------------------------------
USUAL = 0.98  # share of usual texts whose surprise must be below the limit
LEARNED_PARTS = ("held", "train")  # texts that count as usual: with held-out pairs of nouns, and as in training
Tokens = tuple[str, ...]


class Told(NamedTuple):
    """The answers of a model and of a simple rule for one pronoun, and whether each is right.

    group: the group of measure_guesses in which the pronoun counts, "" for none. noun: the model's answer, a position.
    right, rule_right: whether the answer of the model, and that of the rule, is the noun to which the pronoun refers.
    weight: the largest weight of the model's head.
    """

    group: str
    noun: str | None
    right: bool
    rule_right: bool
    weight: float


def measure_guesses(model: LanguageModel, language: str, second: LanguageModel | None) -> dict[str, dict[str, float]]:
    """Measure how surprising a model finds usual texts ("limits"), and how often its answers are right ("guesses").

    The limits are chosen on one half of the held-out texts, and all else is measured on the other half.

    limits: "surprise" (the mean per word, in nats) and "word" (the largest in a text). Of texts like the training
    texts, 98 of 100 are below each limit. guesses: "outside_held", "outside_train" and "outside_frames" are the shares
    of texts above a limit, among texts with held-out pairs, any texts, and held-out frames. If the model answers
    questions, its accuracy for pronouns is in "one_fits", "two_fit" and "frames". The suffix "_rule" marks the accuracy
    of the simple rule, "_kinds" and "_unknown" that of the model if categories, or <unknown>, replace all nouns in its
    input. "clear_wrong" is the share of wrong answers with a weight over CLEAR. "auc" is how often a right answer has a
    larger weight than a wrong one. With a second model, "agreed" is how often both name the same noun, and
    "agreed_right" and "differing_right" are the accuracy of the first model if both agree and if they differ.
    """
    limits = measure_limits(model, language)
    figures = {}
    for part in (*LEARNED_PARTS, "frames"):
        surprises = surprises_of_part(model, language, part, "report")
        outside = [bool(each.mean() > limits["surprise"] or each.max() > limits["word"]) for each in surprises]
        figures[f"outside_{part}"] = sum(outside) / len(outside)
    if model.shape.answers == "heads":
        figures |= measure_answers(model, language, second)
    return {"limits": limits, "guesses": figures}


# ---- surprise --------------------------------------------------------------------------------------------------------
def measure_limits(model: LanguageModel, language: str) -> dict[str, float]:
    """Return limits of surprise that 98 of 100 texts like the training texts stay below."""
    found = [each for part in LEARNED_PARTS for each in surprises_of_part(model, language, part, "choose")]
    means = torch.stack([each.mean() for each in found])
    largest = torch.stack([each.max() for each in found])
    return {"surprise": float(means.quantile(USUAL)), "word": float(largest.quantile(USUAL))}


def surprises_of_part(model: LanguageModel, language: str, part: str, half: str) -> list[Float[Tensor, " T-1"]]:
    """Return the surprise of each word in the held-out texts of a part, one tensor per text.

    half: a key of SEEDS.
    """
    return surprises_of_texts(model, language, [text.words for text in held_out_texts(language, part, half)])


# ---- answers ---------------------------------------------------------------------------------------------------------
def measure_answers(model: LanguageModel, language: str, second: LanguageModel | None) -> dict[str, float]:
    """Measure the accuracy of the model's answers and of the simple rule.

    The results of measure_weights and measure_agreement are included.
    """
    figures: dict[str, float] = {}
    readings = {"": read_words, "_kinds": read_categories, "_unknown": read_unknown}
    for ending, read in readings.items():
        told = list(answers_to_texts(model, language, "held", read))
        if not ending:
            told += answers_to_texts(model, language, "frames", read)
            figures |= measure_weights(told)
            figures |= measure_agreement(told, second, language) if second else {}
        for group in ("one_fits", "two_fit", "frames"):
            rows = [each for each in told if each.group == group]
            if rows:
                figures[group + ending] = share(each.right for each in rows)
            if rows and not ending:
                figures[f"{group}_rule"] = share(each.rule_right for each in rows)
    return figures


def measure_weights(told: list[Told]) -> dict[str, float]:
    """Measure how well a head's largest weight separates right answers from wrong answers.

    "clear_wrong" is the share of wrong answers with a weight over CLEAR; "auc" is how often a right answer has a larger
    weight than a wrong one.
    """
    right = torch.tensor([each.weight for each in told if each.right])
    wrong = torch.tensor([each.weight for each in told if not each.right])
    is_larger = (right[:, None] > wrong).double()  # (right, wrong)
    is_equal = (right[:, None] == wrong).double()
    auc = (is_larger + is_equal / 2).mean()  # area under the ROC curve (Fawcett 2006, section 8)
    return {"clear_wrong": share(wrong > CLEAR), "auc": float(auc)}


def measure_agreement(told: list[Told], second: LanguageModel, language: str) -> dict[str, float]:
    """Measure how often a second model names the same noun, and the first model's accuracy if both agree and if they
    differ.

    The names of the results are "agreed", "agreed_right" and "differing_right".
    """
    others = [each for part in ("held", "frames") for each in answers_to_texts(second, language, part, read_words)]
    same = [one.right for one, other in zip(told, others, strict=True) if one.noun == other.noun]
    differing = [one.right for one, other in zip(told, others, strict=True) if one.noun != other.noun]
    agreed = len(same) / len(told)
    return {"agreed": agreed, "agreed_right": share(same), "differing_right": share(differing)}


def share(holds: Iterable[bool]) -> float:
    """Return the share of values that are true."""
    each = [bool(one) for one in holds]
    return sum(each) / len(each)


def answers_to_texts(model: LanguageModel, language: str, part: str, read: Callable[[Text], Tokens]) -> Iterator[Told]:
    """Yield the answers of a model and of the simple rule about each pronoun in the held-out texts of a part of the
    grammar.

    read: a function that takes a text and returns the tokens that the model reads.
    """
    by_length: dict[int, list[Text]] = {}
    for text in held_out_texts(language, part, "report"):
        by_length.setdefault(len(text.words), []).append(text)
    for texts in by_length.values():
        for start in range(0, len(texts), MOST_ROWS):
            some = texts[start : start + MOST_ROWS]
            tokens = [read(text) for text in some]
            words = torch.stack([number_words(language, each) for each in tokens])
            last = all_weights(model, words)[:, -1]  # (B, H, T, S): the weights of the last layer
            for text, own, weights in zip(some, tokens, last, strict=True):
                for place in find_places([text], "pronoun"):
                    answer = find_answer(weights, model.shape.causal, own, place.at)
                    rule = nearest_fitting(language, text.words, place.at)
                    rights = (is_meant(place, answer.word), is_meant(place, rule))
                    noun = None if answer.word is None else text.words[answer.word]
                    yield Told(group_of(place, part), noun, *rights, answer.weight)


def group_of(place: Place, part: str) -> str:
    """Return in which group ("one_fits", "two_fit", "frames") measure_guesses counts a pronoun; "" if in none."""
    if place.others:
        of_frames = {"held": "two_fit", "frames": "frames"}
        return of_frames[part] if place.text.frame else ""
    return "one_fits" if part == "held" else ""


def is_meant(place: Place, word: int | None) -> bool:
    """Return whether the word at a position is the noun to which a pronoun refers, or another mention of it.

    place: the pronoun and its noun. word: the position; None counts as False.
    """
    return word is not None and place.text.words[word] == place.text.words[place.to]


# ---- tokens read for nouns -------------------------------------------------------------------------------------------
def read_words(text: Text) -> Tokens:
    """Return the words of a text as the model reads them in the unchanged variant."""
    return text.words


def read_categories(text: Text) -> Tokens:
    """Return the words of a text, with each noun replaced by its category."""
    return replace_nouns(text, None)


def read_unknown(text: Text) -> Tokens:
    """Return the words of a text, with each noun replaced by <unknown>."""
    return replace_nouns(text, UNKNOWN)


def replace_nouns(text: Text, token: str | None) -> Tokens:
    """Return the words of a text with each noun replaced by a token, or by its category if the token is None."""
    return tuple(
        (token or category) if category and category not in OTHER_CATEGORIES else word
        for word, category in zip(text.words, text.kinds, strict=True)
    )
