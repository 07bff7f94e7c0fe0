"""Writes a scene (who does what) in English, with articles, agreement, auxiliary verbs, and relative clauses after
their noun.
"""

from attention_core.learned.grammar.concepts import Verb
from attention_core.learned.grammar.moods import BASE, DID, DOES, IS, PAST, SINGULAR, THIRD, WAS, Mood
from attention_core.learned.grammar.page import QUALITY_CATEGORY, noun_category
from attention_core.learned.grammar.scene import Clause, Mention, Phrase, Place, Relative, Said, Thing
from attention_core.learned.grammar.templates import VERB
from attention_core.learned.grammar.writer import OBJECT_CASE, Writer

PRONOUNS = {  # gender of a thing, or a speaker -> the pronouns as subject, object and owner
    "f": ("she", "her", "her"),
    "m": ("he", "him", "his"),
    "n": ("it", "it", "its"),
    "they": ("they", "them", "their"),
    "i": ("i", "me", "my"),
    "we": ("we", "us", "our"),
    "you": ("you", "you", "your"),
}
SOUNDS_LIKE_CONSONANT = ("useful", "uniform", "university", "european", "one")
SOUNDS_LIKE_VOWEL = ("hour", "honest")
QUESTION_WORDS = {"place": ("where",), "time": ("when",), "why": ("why",), "how": ("how",), "?": ()}


def may_mean(thing: Thing, other: Thing) -> bool:
    """Return whether the English pronoun for one thing could also refer to another thing."""
    if thing.many or other.many:
        return thing.many and other.many
    return thing.gender in other.noun.genders


def article_before(word: str) -> tuple[str]:
    """Return the indefinite article before a word, "a" or "an", as a tuple of one word.

    >>> article_before("old"), article_before("useful"), article_before("honest")
    (('an',), ('a',), ('an',))
    """
    if word.startswith(SOUNDS_LIKE_CONSONANT):
        return ("a",)
    vowel = word[0] in "aeiou" or word.startswith(SOUNDS_LIKE_VOWEL)
    return ("an",) if vowel else ("a",)


def is_plain_be(verb: Verb, mood: Mood) -> bool:
    """Return whether a verb in a mood is a form of "be" that needs no auxiliary verb, such as "was" or "are not"."""
    if verb.base != "be":
        return False
    is_alone = not mood.auxiliary and mood.form in (THIRD, PAST)
    return is_alone or (mood.auxiliary in (DOES, DID) and mood.between == ("not",))


class EnglishWriter(Writer):
    """Writes the clauses of a scene (who does what) and its mentions of persons and things in English."""

    __slots__ = ()

    def may_mean(self, thing: Thing, other: Thing) -> bool:
        """Return whether the English pronoun for one thing could also refer to another thing."""
        return may_mean(thing, other)

    def words_of(self, phrase: Phrase) -> tuple[str, ...]:
        """Return the English words of a fixed phrase, such as a time or a conjunction."""
        return phrase.english

    def pronoun_of(self, thing: Thing, case: int) -> str:
        """Return the English pronoun for a thing, in one of its three forms.

        case: the index of the form: as subject, object or owner.
        """
        third = "they" if thing.many else thing.gender
        key = thing.speaker or third
        return PRONOUNS[key][case]

    def question_word(self, thing: Thing) -> str:
        """Return the question word for a thing, "who" or "what"."""
        return "what" if thing.gender == "n" else "who"

    # ---- things ------------------------------------------------------------------------------------------------------
    def write_mention(self, mention: Mention) -> int:
        """Write a noun with its determiner, adjective and relative clause; return the position of the noun."""
        thing, determiner, quality, relative, owner = mention
        noun = thing.noun
        word = noun.plural if thing.many else noun.word
        if owner:
            self.write_owner(owner)
        elif determiner.english == ("a",):
            self.words += article_before(quality.word if quality else word)
        else:
            self.words += determiner.english
        if quality:
            self.add_word(quality.word, id(quality), QUALITY_CATEGORY)
        at = self.add_noun(mention, thing, word, noun_category(noun, thing.many))
        if thing.surname:
            self.add_surname(thing, thing.surname.word)
        if relative:
            self.write_relative(relative, at)
        return at

    def write_relative(self, relative: Relative | Place, head: int) -> None:
        """Write a relative clause or a place after the noun that it describes.

        head: the position of the noun.
        """
        if isinstance(relative, Place):
            self.write_place(relative)
            return
        self.words.append(relative.pronoun)
        verb = self.write_clause(relative.clause)
        if relative.clause.gap == "x":
            self.link_subject(verb, head)
        else:
            self.link_object(head, verb)

    def write_place(self, place: Place) -> None:
        """Write the place of a thing or of an action: "under the table"."""
        self.write_phrase(place.relation)
        self.write_thing(place.mention, OBJECT_CASE)

    def write_quality(self, said: Said, clause: Clause) -> int:
        """Write an adjective as predicate with its degree, such as "very tall"; return the position of the
        adjective.
        """
        self.words += said.degree.english
        return self.add_word(said.quality.word, id(said), QUALITY_CATEGORY)

    # ---- clauses -----------------------------------------------------------------------------------------------------
    def write_clause(self, clause: Clause) -> int:
        """Write a clause; return the position of its verb."""
        if clause.asks not in ("", "x"):
            self.write_question_words(clause)
        places = self.write_steps(clause, clause.event.english)
        if clause.place:
            self.write_place(clause.place)
        if clause.time:
            self.write_phrase(clause.time)
        self.link_clause(clause, places)
        return places.verb

    def write_verb(self, step: Verb, clause: Clause) -> int:
        """Write a verb with the auxiliaries of the clause's mood (tense, negation); return the position of the main
        verb.
        """
        if clause.asks not in ("", "x"):
            return self.write_rest_of_verb(step, clause.mood)
        words = self.words
        mood = clause.mood
        agreement = clause.parts["x"].thing.agreement
        if is_plain_be(step, mood):
            at = len(words)
            words.append((WAS if mood.past else IS)[agreement])
            words += mood.between
            self.kinds[at] = ""
            return at
        if mood.auxiliary:
            words.append(mood.auxiliary[agreement])
        words += mood.between
        is_base = mood.form == THIRD and agreement != SINGULAR
        words.append(step[BASE if is_base else mood.form])
        return len(words) - 1

    # ---- questions ---------------------------------------------------------------------------------------------------
    def write_asked(self, clause: Clause, name: str) -> None:
        """Write "who" or "what" as the subject, if the clause asks for its subject.

        Other question words are written before the clause.
        """
        if name == "x":
            super().write_asked(clause, name)

    def write_question_words(self, clause: Clause) -> None:
        """Write what precedes the subject in a question: the question word and the auxiliary verb."""
        asked = clause.asks
        if asked not in QUESTION_WORDS:
            super().write_asked(clause, asked)
        for word in QUESTION_WORDS.get(asked, ()):
            self.add_word(word, (id(clause.event), "asks"))
        mood = clause.mood
        done = DID if mood.past else DOES
        verb = next(payload for code, payload in clause.event.english if code == VERB)
        forms = mood.auxiliary or done
        if is_plain_be(verb, mood):
            forms = WAS if mood.past else IS
        self.words.append(forms[clause.parts["x"].thing.agreement])

    def write_rest_of_verb(self, verb: Verb, mood: Mood) -> int:
        """Write what follows the subject in a question: the rest of the verb group; return the position of the verb."""
        self.words += mood.between
        if not is_plain_be(verb, mood):
            self.words.append(verb[mood.form] if mood.auxiliary else verb.base)
        return len(self.words) - 1
