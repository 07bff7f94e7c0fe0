"""Lets the visitor choose the roles (kinds, each with a vector) of words that the dictionary or the model does not
know.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import OTHER, Lexicon, printable_token
from attention_core.learned.grammar import known_words
from attention_core.learned.language.reading import role_names
from attention_core.learned.language.shipped import load_recipe
from pages.panels.setup_controls import field_control, show_refusal, try_change
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.view import ScreenState, current_screen
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.setup.word_roles import read_word_roles, with_word_role
from pages.site.words import escape_markdown, say

MAX_SHOWN_CHOICES = 12  # most unknown words with a control, in the picture and below it; further words are only counted
WORD_WIDTH, CHOICE_WIDTH = 84, 150  # width in pixels of a word, and of the select box of its role
MAX_LISTED_WORDS = 12  # most words that the text lists for one role
NOT_KNOWN = "unknown"  # name of the role (kind) of a word outside a language model's vocabulary


@dataclass(frozen=True)
class RoleOffer:
    """The roles that an unknown word can have: kinds of words, one of whose vectors it gets.

    family: the group of texts in [roles] of the page's content. usual: the default role.
    """

    family: str
    roles: tuple[str, ...]
    usual: str

    def role_of(self, setup: Setup, word: str) -> str:
        """Returns the role (kind of word, whose vector it gets) that the visitor chose for an unknown word, else the
        default.
        """
        chosen = {each.casefold(): role for each, role in read_word_roles(setup.run.word_roles).items()}
        role = chosen.get(word.casefold(), self.usual)
        return role if role in self.roles else self.usual


def find_role_offer(setup: Setup) -> RoleOffer | None:
    """Returns the roles (kinds of words) that a Setup's unknown words can have; None if its example has no
    dictionary.
    """
    model = resolve_run(setup.run).model
    if model is not None:
        return RoleOffer("model", (NOT_KNOWN, *role_names(load_recipe(model).language)), NOT_KNOWN)
    lexicon = EXAMPLES[setup.run.example].lexicon
    return lexicon and RoleOffer("dictionary", tuple(lexicon.roles), OTHER)


def list_role_words(inputs: RunInputs) -> list[str]:
    """Returns the words of all sentences that the model or the dictionary does not know, each word once.

    Such a word gets the vector of its role (kind of word), or of unknown words.
    """
    sequences = [(inputs.queries, inputs.word_origins), (inputs.keys, inputs.key_origins)]
    sequences += [(sentence.words, sentence.origins) for sentence in inputs.batch]
    found: dict[str, str] = {}
    for words, origins in sequences:
        for word, origin in zip(words, origins, strict=False):
            if origin in ("role", NOT_KNOWN):
                found.setdefault(word.casefold(), word)
    return list(found.values())


# ---- in words --------------------------------------------------------------------------------------------------------
def tell_word_roles(setup: Setup, inputs: RunInputs, spell: Callable[[str], str] = escape_markdown) -> str:
    """Returns the text about the roles (kinds of words) that unknown words have; "" if all words are known.

    spell: a function that formats the words in the text.
    """
    offer, words = find_role_offer(setup), list_role_words(inputs)
    if offer is None or not words:
        return ""
    if len(offer.roles) == 1:
        return say("roles.none", words=join_words(words, spell))
    by_role: dict[str, list[str]] = {}
    for word in words[:MAX_SHOWN_CHOICES]:
        by_role.setdefault(offer.role_of(setup, word), []).append(word)
    told = [
        say("roles.counted", words=join_words(alike, spell), role=say(f"role_of_word.{role}"))
        for role, alike in by_role.items()
    ]
    return say(f"roles.{offer.family}.told", words=say("roles.joined").join(told))


def join_words(words: list[str], spell: Callable[[str], str] = escape_markdown) -> str:
    """Returns the first few words as a list with commas."""
    return say("fact.comma").join(spell(printable_token(word)) for word in words[:MAX_SHOWN_CHOICES])


def describe_known_words(setup: Setup) -> str:
    """Returns the text about the words that the language model or the dictionary of the example knows."""
    model = resolve_run(setup.run).model
    if model is None:
        return list_dictionary(EXAMPLES[setup.run.example].lexicon)
    return say("roles.count", count=len(known_words(load_recipe(model).language)))


def list_dictionary(lexicon: Lexicon) -> str:
    """Returns the text that lists a dictionary's words, grouped by their role (kind of word) if there are several
    roles.
    """
    listed: dict[str, list[str]] = {}
    for word, row in lexicon.vectors.items():
        role = next((name for name, numbers in lexicon.roles.items() if numbers == row), None)
        has_roles = role is not None and len(lexicon.roles) > 1
        group = say(f"role_of_word.{role}") if has_roles else say("roles.known")
        listed.setdefault(group, []).append(escape_markdown(printable_token(word)))
    lines = []
    for group, words in listed.items():
        shown = say("fact.comma").join(words[:MAX_LISTED_WORDS])
        if len(words) > MAX_LISTED_WORDS:
            shown += " …"
        lines.append(say("roles.group", group=group, words=shown))
    return "\n\n".join(lines)


# ---- the choices -----------------------------------------------------------------------------------------------------
def show_role_choices(setup: Setup, inputs: RunInputs) -> None:
    """Shows an expander with a select box for the role of each unknown word; the role is the kind of word whose vector
    it gets.

    Shows nothing if all words are known. The roles can also be chosen in the picture.
    """
    offer, words = find_role_offer(setup), list_role_words(inputs)
    if offer is None or not words:
        return
    if offer.family == "dictionary":
        tell_doubt([word for word in words if offer.role_of(setup, word) == offer.usual])
    if len(offer.roles) < 2:
        st.caption(say("roles.none", words=join_words(words)), help=describe_known_words(setup))
        return
    with st.expander(say("roles.ask", count=len(words))):
        st.caption(say(f"roles.{offer.family}.choose", words=join_words(words)), help=describe_known_words(setup))
        with st.container(gap="xxsmall"):
            for number, word in enumerate(words[:MAX_SHOWN_CHOICES]):
                show_role_choice(setup, offer, word, number)
        more = len(words) - MAX_SHOWN_CHOICES
        if more > 0:
            st.caption(say(f"roles.{offer.family}.more", count=more))
    show_refusal("word_roles")


def tell_doubt(words: list[str]) -> None:
    """Shows the sentence that an example built by hand does not know some words; nothing if the example knows all
    words.
    """
    if words:
        st.caption(say("roles.dictionary.doubt", words=join_words(words)))


def make_role_data(screen: ScreenState) -> dict | None:
    """Returns the data of the controls in the picture for the roles (kinds) of unknown words; None if all words are
    known.
    """
    setup, inputs = screen.setup, screen.inputs.at(screen.selection.batch)
    offer, unknown = find_role_offer(setup), list_role_words(screen.inputs)[:MAX_SHOWN_CHOICES]
    if offer is None or not unknown or len(offer.roles) < 2:
        return None
    keys, origins = inputs.keys, inputs.key_origins if inputs.crossed else inputs.word_origins
    words = {}
    for place, (word, origin) in enumerate(zip(keys, origins, strict=False)):
        if origin in ("role", NOT_KNOWN) and word in unknown:
            words[place] = [printable_token(word), offer.role_of(setup, word)]
    options = [[role, say(f"role_of_word.{role}")] for role in offer.roles]
    return {"options": options, "label": say("roles.label"), "words": words} if words else None


def take_role(sent: Mapping) -> None:
    """Stores the role (kind) that the visitor chose for a word in the picture, if the screen offers that role.

    sent: {"word", "role"}, from the browser.
    """
    screen, word, role = current_screen(), sent["word"], sent["role"]
    offer = find_role_offer(screen.setup)
    known = {printable_token(each): each for each in list_role_words(screen.inputs)}
    if offer is not None and role in offer.roles and word in known:
        choose_role(offer, known[word], role)


def choose_role(offer: RoleOffer, word: str, role: str) -> None:
    """Stores the role (kind of word) of an unknown word in the Setup; the default role is omitted."""
    given = None if role == offer.usual else role
    roles = setup_state.current_setup().run.word_roles
    try_change("word_roles", word_roles=with_word_role(roles, word.casefold(), given))


def show_role_choice(setup: Setup, offer: RoleOffer, word: str, number: int) -> None:
    """Shows a word and a select box for its role (the kind of word whose vector it gets)."""
    control = field_control(
        "word_roles",
        offer.role_of(setup, word),
        partial(choose_role, offer, word),
        key=f"c_role{number}",
        option_text=lambda role: say(f"role_of_word.{role}"),
    )
    name = escape_markdown(printable_token(word))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(name, width=WORD_WIDTH)
        control.draw(st.selectbox, list(offer.roles), label=name, label_visibility="collapsed", width=CHOICE_WIDTH)
