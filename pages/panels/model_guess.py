"""Whether a language model knows sentences such as the one on the screen, or guesses: said before all claims."""

from collections.abc import Callable, Sequence

import streamlit as st

from attention_core.learned.language.guessing import Judgement, Reference, judge_sentence, read_student_figures
from attention_core.learned.language.shipped import load_recipe, other_form
from attention_core.record.number_text import format_fixed, format_percent
from pages.panels.model_rail import words_of_model
from pages.runs.model_runs import model_sentences_of
from pages.session.collected import collected
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.setup import Setup, model_of
from pages.site.words import escape_markdown, has, say

MOST_NAMED_WORDS = 4  # that surprise the model, or that it does not know
MOST_NAMED_STAND_INS = 8  # words that are read as others
MOST_REFERENCES = 3  # pronouns of which the answers are told
SIGN = ":material/help:"  # beside what is a guess
SIGN_KEY = "lesson_guess"  # of this run: the sign of the lesson's own sentence
STARTLING = "startling"  # the origin of a word that surprises the model more than any word of a usual sentence


def judge_screen(screen: ScreenState) -> tuple[tuple[str, ...], Judgement] | None:
    """The words of a sentence that a language model reads, and what can be said of it; None where none reads."""
    words = words_of_model(screen)
    if words is None or len(words) < 2:
        return None
    kind = model_sentences_of(screen.setup)
    return words, judge_sentence(kind.model, kind.read(words))


def mark_startling(screen: ScreenState, origins: Sequence[str]) -> tuple[str, ...]:
    """Where the words come from, those marked that surprise the model."""
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
    """The model, and what is said of the sentence that it reads: the same whichever layer is looked at."""
    return (model_of(screen.setup), judge_screen(screen))


@page_part(guess_dependencies)
def show_judgement(screen: ScreenState) -> None:
    """That the model guesses, and why; whom each pronoun means for it, for its other form and for a simple rule."""
    judged = judge_screen(screen)
    if judged is None:
        return
    words, judgement = judged
    name = model_of(screen.setup)
    told = [tell_reference(name, words, each) for each in judgement.references[:MOST_REFERENCES]]
    read = tell_stand_ins(screen, words)
    if judgement.outside:
        st.warning(" ".join((tell_guess(words, judgement), *told, *read)), icon=SIGN)
    elif told:
        st.caption(" ".join((*told, say("guess.blind", **vars(read_student_figures()[name])), *read)))
    elif read:
        st.caption(read[0])


def tell_stand_ins(screen: ScreenState, words: Sequence[str]) -> list[str]:
    """Which everyday words the model did not learn, and what it reads for each; nothing where there are none."""
    kind = model_sentences_of(screen.setup)
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
    """That the model guesses: whom its pronouns mean, or all of a sentence unlike those that it learned.

    of_words: as in tell_sign.
    """
    reasons = [tell_doubts(words, judgement, each) for each in judgement.doubted[:MOST_REFERENCES]]
    if of_words or not judgement.references:
        told = {"unknown"} if reasons else set()  # the doubts name these words already
        if set(judgement.startling) <= set(judgement.unknown):
            told.add("word")  # it is no news that words surprise it which it does not know
        reasons += [tell_reason(words, judgement, each) for each in judgement.reasons if each not in told]
    return say("guess.outside", reasons=say("guess.joined").join(reasons))


def tell_sign(setup: Setup, words: Sequence[str], of_words: bool = False) -> str:
    """The sign that the language model of a Setup guesses, and why, in Markdown; nothing where it does not.

    words: of one sentence, START first. of_words: the sign for what the model writes or puts in a gap, which is a guess
    in each sentence unlike those that it learned, whomever a pronoun means there.
    """
    if len(words) < 2:
        return ""
    kind = model_sentences_of(setup)
    judgement = judge_sentence(kind.model, kind.read(tuple(words)))
    is_guess = judgement.outside or (of_words and judgement.reasons)
    return tell_guess(words, judgement, of_words) if is_guess else ""


def tell_doubts(words: Sequence[str], judgement: Judgement, reference: Reference) -> str:
    """Why it is a guess whom a pronoun means."""
    unknown = name_words(words, judgement.unknown)
    doubts = [say(f"guess.doubt.{doubt}", words=unknown) for doubt in reference.doubts]
    pronoun = escape_markdown(words[reference.pronoun])
    return say("guess.doubted", pronoun=pronoun, reasons=say("guess.joined").join(doubts))


def name_words(words: Sequence[str], places: Sequence[int]) -> str:
    """The first of some words, quoted, each once."""
    named = dict.fromkeys(say("fact.quoted", key=escape_markdown(words[place])) for place in places)
    return say("fact.comma").join(list(named)[:MOST_NAMED_WORDS])


def show_guess_sign(setup: Setup) -> None:
    """The sign that a model guesses, where the words of a lesson come of its own reading of a sentence."""
    sign = tell_sign(setup, model_sentences_of(setup).own_words(), of_words=True)
    st.session_state[SIGN_KEY] = sign
    show_sign(sign)


def repeat_guess_sign() -> None:
    """The same once more, where a part of the lesson stands alone that is made of the same sentence."""
    show_sign(st.session_state.get(SIGN_KEY, ""))


def forget_guess_sign() -> None:
    """A lesson is drawn: nothing guesses yet."""
    st.session_state.pop(SIGN_KEY, None)


def show_sign(sign: str) -> None:
    """A sign, if there is one; files of what is shown say it, too."""
    if sign:
        collected().warnings.append(sign)
        st.warning(sign, icon=SIGN)


def tell_reason(words: Sequence[str], judgement: Judgement, reason: str) -> str:
    """Why a sentence is none of those that the model learned."""
    places = {"unknown": judgement.unknown, "word": judgement.startling}.get(reason, ())
    return say(
        f"guess.{reason}",
        words=name_words(words, places),
        nats=format_fixed(judgement.surprise),
        usual=format_fixed(judgement.usual),
    )


def tell_reference(name: str, words: Sequence[str], reference: Reference) -> str:
    """Whom a pronoun means: what the model says, whether its other form says the same, and the nearest noun that
    fits."""

    def quote(place: int | None) -> str:
        return say("guess.nobody") if place is None else escape_markdown(words[place])

    said = say(
        "guess.answer",
        pronoun=escape_markdown(words[reference.pronoun]),
        word=quote(reference.answer.word),
        percent=format_percent(reference.answer.weight),
    )
    parts = [said, tell_other_form(name, quote, reference), say("guess.rule", word=quote(reference.rule))]
    return "".join(parts)


def tell_other_form(name: str, quote: Callable[[int | None], str], reference: Reference) -> str:
    """Whether the other form of the model answers the same: they learned apart."""
    second = other_form(name)
    if second is None or reference.second is None:
        return ""
    form = say(f"model.form.{'decoder' if load_recipe(second).causal else 'encoder'}")
    if reference.is_agreed:
        return say("guess.agreed", form=form)
    return say("guess.differs", form=form, word=quote(reference.second.word))
