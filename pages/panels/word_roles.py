"""What the words of a sentence are that the dictionary of the example does not have: a choice under each."""

from collections.abc import Callable

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import OTHER, Lexicon, printable_token
from pages.panels.setup_controls import mirror_field, show_refusal, try_change
from pages.runs.run_inputs import RunInputs
from pages.setup.setup import Setup
from pages.setup.word_roles import read_word_roles, with_word_role
from pages.site.words import escape_markdown, say

MAX_SHOWN_CHOICES = 12  # words that get a choice; the others are counted
WORD_WIDTH, CHOICE_WIDTH = 84, 150  # px
MAX_LISTED_WORDS = 12  # of each role, in the list of the words that are known


def list_role_words(inputs: RunInputs) -> list[str]:
    """The words that are what their role says, each once; of a batch those of all sentences."""
    sequences = [(inputs.queries, inputs.word_origins), (inputs.keys, inputs.key_origins)]
    sequences += [(sentence.words, sentence.origins) for sentence in inputs.batch]
    found: dict[str, str] = {}
    for words, origins in sequences:
        for word, origin in zip(words, origins, strict=False):
            if origin == "role":
                found.setdefault(word.casefold(), word)
    return list(found.values())


def tell_word_roles(setup: Setup, inputs: RunInputs, spell: Callable[[str], str] = escape_markdown) -> str:
    """What the words count as that the dictionary does not have; nothing where it has all. spell: how words are
    written in it."""
    lexicon = EXAMPLES[setup.example].lexicon
    words = list_role_words(inputs)
    if lexicon is None or not words:
        return ""
    if len(lexicon.roles) == 1:
        return say("roles.none", words=join_words(words, spell))
    chosen = read_word_roles(setup.word_roles)
    told = []
    for word in words[:MAX_SHOWN_CHOICES]:
        role = say(f"role_of_word.{lexicon.role_of(word, chosen)}")
        told.append(say("roles.counted", word=spell(printable_token(word)), role=role))
    return say("roles.told", words=say("fact.comma").join(told))


def join_words(words: list[str], spell: Callable[[str], str] = escape_markdown) -> str:
    """The first of some words, with commas."""
    return say("fact.comma").join(spell(printable_token(word)) for word in words[:MAX_SHOWN_CHOICES])


def show_role_choices(setup: Setup, inputs: RunInputs) -> None:
    """A choice under each word that the dictionary does not have, and which words it has."""
    lexicon = EXAMPLES[setup.example].lexicon
    words = list_role_words(inputs)
    if lexicon is None or not words:
        return
    offers_choice = len(lexicon.roles) > 1
    caption = "roles.choose" if offers_choice else "roles.none"
    st.caption(say(caption, words=join_words(words)), help=describe_known_words(lexicon))
    if not offers_choice:
        return
    with st.container(gap="xxsmall"):
        for number, word in enumerate(words[:MAX_SHOWN_CHOICES]):
            show_role_choice(setup, lexicon, word, number)
    more = len(words) - MAX_SHOWN_CHOICES
    if more > 0:
        st.caption(say("roles.more", count=more))
    show_refusal("word_roles")


def show_role_choice(setup: Setup, lexicon: Lexicon, word: str, number: int) -> None:
    """What one word is."""
    key = f"c_role{number}"

    def choose_role() -> None:
        role = st.session_state[key]
        given = None if role == OTHER else role
        try_change("word_roles", word_roles=with_word_role(setup.word_roles, word.casefold(), given))

    mirror_field(key, "word_roles", lexicon.role_of(word, read_word_roles(setup.word_roles)))
    name = escape_markdown(printable_token(word))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(name, width=WORD_WIDTH)
        st.selectbox(
            name,
            list(lexicon.roles),
            format_func=lambda role: say(f"role_of_word.{role}"),
            key=key,
            on_change=choose_role,
            label_visibility="collapsed",
            width=CHOICE_WIDTH,
        )


def describe_known_words(lexicon: Lexicon) -> str:
    """The words that the dictionary has, by their roles; without roles in one row."""
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
