"""Says whether the sentence on the screen is like the model's training sentences, or whether the language model only
guesses.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from attention_core.learned.language.guessing import (
    SURE,
    Judgement,
    Reference,
    judge_sentence,
    read_student_figures,
)
from attention_core.learned.language.read_model import find_model
from attention_core.learned.language.shipped import load_recipe, other_form
from attention_core.record.number_text import format_fixed, format_percent
from pages.panels.model_rail import words_of_model
from pages.runs.model_runs import model_sentences_of
from pages.session.collected import collected
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, has, say

MOST_NAMED_WORDS = 4  # most words named that surprise the model or that it does not know
MOST_NAMED_STAND_INS = 8  # most words named for which the model reads a substitute
MOST_REFERENCES = 3  # most pronouns for which a text names the noun that the model chose
SIGN = ":material/help:"  # icon of the warning that the model guesses about a sentence
SIGN_KEY = "lesson_guess"  # session key of the warning about the lesson's sentence
STARTLING = "startling"  # origin of a known word that the model finds less probable than words usually are


def judge_screen(screen: ScreenState) -> tuple[tuple[str, ...], Judgement] | None:
    """Returns the words of the sentence, and how surprising the sentence is to the model.

    None if the screen shows none of this app's own language models.
    """
    words = words_of_model(screen)
    if words is None or len(words) < 2:
        return None
    kind = model_sentences_of(screen.setup.run)
    if find_model(kind.model).language is None:
        return None
    return words, judge_sentence(kind.model, kind.read(words))


def mark_startling(screen: ScreenState, origins: Sequence[str]) -> tuple[str, ...]:
    """Returns the origin of each word's vector; STARTLING for a known word to which the model gives an unusually low
    probability.
    """
    judged = judge_screen(screen)
    if judged is None:
        return tuple(origins)
    words, judgement = judged
    marked = list(origins)
    for place in judgement.startling:
        if place < len(marked) and marked[place] == "learned" and len(words) <= len(marked):
            marked[place] = STARTLING
    return tuple(marked)


# ---- the part of the page --------------------------------------------------------------------------------------------
def guess_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the judgement depends: the model and its sentence, but not the layer."""
    return (resolve_run(screen.setup.run).model, judge_screen(screen))


@page_part(guess_dependencies)
def show_judgement(screen: ScreenState) -> None:
    """Shows texts on how well the language model knows the sentence; shows nothing if no language model is used.

    If the model guesses, a warning says so, and why. For each of the first pronouns of the sentence, a text names three
    answers to the question of which noun the pronoun refers to: the answer of the model, the answer of the other form
    of this model (encoder or decoder), and the answer of a simple rule; if the model does not guess, only the first
    answer is visible, and the others are in a tooltip. Another text names the words for which the
    model reads another word, because its vocabulary lacks them.
    """
    judged = judge_screen(screen)
    if judged is None:
        return
    words, judgement = judged
    name = resolve_run(screen.setup.run).model
    told = [tell_reference(name, words, each) for each in judgement.references[:MOST_REFERENCES]]
    read = tell_stand_ins(screen, words)
    if judgement.outside:
        st.warning(" ".join((tell_guess(words, judgement), *told, *tell_large_weight(judgement), *read)), icon=SIGN)
    elif judgement.references:
        answers = [tell_answer(words, each) for each in judgement.references[:MOST_REFERENCES]]
        figures = vars(read_student_figures()[name])
        measured = say("guess.blind", **figures)
        note = " ".join((*answers, say("guess.blind_short", **figures), *read))
        st.caption(note, help=" ".join((*told, measured)))
    elif read:
        st.caption(read[0])


def tell_large_weight(judgement: Judgement) -> list[str]:
    """Returns the text that a large weight does not make a guess right, if a guessed answer has one; else []."""
    weights = [each.answer.weight for each in judgement.references[:MOST_REFERENCES] if each.doubts]
    largest = max(weights, default=0.0)
    return [say("guess.large_weight", percent=format_percent(largest))] if largest >= SURE else []


def tell_stand_ins(screen: ScreenState, words: Sequence[str]) -> list[str]:
    """Returns texts on everyday words outside the vocabulary, and on the word that the model reads instead of each.

    Returns [] if there are no such words.
    """
    kind = model_sentences_of(screen.setup.run)
    origins = kind.look_up(tuple(words)).origins
    named = {}
    for word, token, origin in zip(words, kind.read(tuple(words)), origins, strict=True):
        if origin == "stand_in" and any(char.isalnum() for char in word):
            role = f"role_of_word.{token.strip('<>')}"
            read = say(role) if token.startswith("<") and has(role) else token
            named[word] = say("guess.stand_in", word=escape_markdown(word), read=escape_markdown(read))
    listed = say("fact.comma").join(list(named.values())[:MOST_NAMED_STAND_INS])
    return [say("guess.stand_ins", words=listed)] if named else []


def tell_guess(words: Sequence[str], judgement: Judgement, of_words: bool = False) -> str:
    """Returns the text on why the model guesses.

    The reasons are doubts about pronouns; for a sentence without pronouns, or with of_words, also what makes the
    sentence unlike the training sentences. of_words: whether the text is about words that the model predicts.
    """
    reasons = [tell_doubts(words, judgement, each) for each in judgement.doubted[:MOST_REFERENCES]]
    if of_words or not judgement.references:
        # the text about doubts has named the unknown words already
        told = {"unknown"} if reasons else set()
        if set(judgement.startling) <= set(judgement.unknown):
            told.add("word")  # all surprising words are unknown, so the reason "unknown" is enough
        reasons += [tell_reason(words, judgement, each) for each in judgement.reasons if each not in told]
    return say("guess.outside", reasons=say("guess.joined").join(reasons))


def tell_sign(setup: Setup, words: Sequence[str], of_words: bool = False) -> str:
    """Returns the warning that the language model of a Setup guesses, and why, in Markdown; "" if it does not guess.

    words: of one sentence, START first. of_words: whether the warning is about words that the model predicts; these are
    a guess for every sentence unlike its training sentences, whether or not a pronoun is doubtful.
    """
    if len(words) < 2:
        return ""
    kind = model_sentences_of(setup.run)
    if find_model(kind.model).language is None:
        return ""
    judgement = judge_sentence(kind.model, kind.read(tuple(words)))
    is_guess = judgement.outside or (of_words and judgement.reasons)
    return tell_guess(words, judgement, of_words) if is_guess else ""


def tell_doubts(words: Sequence[str], judgement: Judgement, reference: Reference) -> str:
    """Returns the text that says why the noun to which a pronoun refers is a guess."""
    unknown = name_words(words, judgement.unknown)
    doubts = [say(f"guess.doubt.{doubt}", words=unknown) for doubt in reference.doubts]
    pronoun = escape_markdown(words[reference.pronoun])
    return say("guess.doubted", pronoun=pronoun, reasons=say("guess.joined").join(doubts))


def name_words(words: Sequence[str], places: Sequence[int]) -> str:
    """Returns the first few distinct words at these positions as text, in quotation marks."""
    named = dict.fromkeys(say("fact.quoted", key=escape_markdown(words[place])) for place in places)
    return say("fact.comma").join(list(named)[:MOST_NAMED_WORDS])


def show_guess_sign(setup: Setup) -> None:
    """Shows the warning that a model guesses, if a lesson shows words that a model predicted for a sentence."""
    sign = tell_sign(setup, model_sentences_of(setup.run).own_words(), of_words=True)
    st.session_state[SIGN_KEY] = sign
    show_sign(sign)


def repeat_guess_sign() -> None:
    """Shows the lesson's stored guess warning again, in a separate part of the lesson on the same sentence."""
    show_sign(st.session_state.get(SIGN_KEY, ""))


def forget_guess_sign() -> None:
    """Removes the stored warning about the lesson's sentence."""
    st.session_state.pop(SIGN_KEY, None)


def show_sign(sign: str) -> None:
    """Shows a warning, also in exported files; shows nothing if `sign` is ""."""
    if sign:
        collected().warnings.append(sign)
        st.warning(sign, icon=SIGN)


def tell_reason(words: Sequence[str], judgement: Judgement, reason: str) -> str:
    """Returns the text that says why a sentence is unlike the training sentences.

    reason: one of Judgement.reasons.
    """
    places = {"unknown": judgement.unknown, "word": judgement.startling}.get(reason, ())
    return say(
        f"guess.{reason}",
        words=name_words(words, places),
        nats=format_fixed(judgement.surprise),
        usual=format_fixed(judgement.usual),
    )


def tell_reference(name: str, words: Sequence[str], reference: Reference) -> str:
    """Returns the text on the noun to which a pronoun refers, in Markdown.

    It names the answer of the model, the answer of its other form (encoder or decoder), and the nearest noun that fits.
    """

    def quote(place: int | None) -> str:
        return say("guess.nobody") if place is None else escape_markdown(words[place])

    parts = [
        ask_model(words, reference),
        tell_other_form(name, quote, reference),
        say("guess.rule", word=quote(reference.rule)),
    ]
    return "".join(parts)


def tell_answer(words: Sequence[str], reference: Reference) -> str:
    """Returns the sentence on the noun to which a pronoun refers for the model alone."""
    return say("guess.alone", answer=ask_model(words, reference))


def ask_model(words: Sequence[str], reference: Reference) -> str:
    """Returns the beginning of a sentence: the noun to which a pronoun refers for the model, and its weight.

    The text also names the word whose weights give the answer, if this is not the pronoun.
    """
    answer = reference.answer
    return say(
        "guess.answer" if answer.asked == reference.pronoun else "guess.answer_at",
        pronoun=escape_markdown(words[reference.pronoun]),
        word=say("guess.nobody") if answer.word is None else escape_markdown(words[answer.word]),
        percent=format_percent(answer.weight),
        asked=escape_markdown(words[answer.asked]),
    )


def tell_other_form(name: str, quote: Callable[[int | None], str], reference: Reference) -> str:
    """Returns the text on whether the model's other form, trained separately, gives the same answer; "" without one.

    quote: a function that writes the noun at a position.
    """
    second = other_form(name)
    if second is None or reference.second is None:
        return ""
    form = say(f"model.form.{'decoder' if load_recipe(second).causal else 'encoder'}")
    if reference.is_agreed:
        return say("guess.agreed", form=form)
    return say("guess.differs", form=form, word=quote(reference.second.word))
