"""Writes a scene (who does what) in Chinese, with measure words, particles such as 了, and clauses with 的 before a
noun.
"""

from attention_core.learned.grammar.page import QUALITY_CATEGORY, noun_category
from attention_core.learned.grammar.scene import Clause, Mention, Phrase, Place, Relative, Said, Thing
from attention_core.learned.grammar.writer import Writer

PRONOUNS = {
    ("f", False): "她",
    ("m", False): "他",
    ("n", False): "它",
    ("f", True): "她们",
    ("m", True): "他们",
    ("n", True): "它们",
}
SPEAKERS = {"i": "我", "we": "我们", "you": "你"}
MANY_PEOPLE = ("们",)  # plural suffix after nouns for persons; other nouns have a determiner instead
QUESTION_WORDS = {"place": ("在", "哪里"), "time": ("什么时候",), "why": ("为什么",), "how": ("怎么",)}
ASKED_WITH_DE = ("place", "time", "how")  # in the past, these questions end with 的, and the verb has no 了
LASTING = ("正在",)  # words for an action in progress, which a place in the clause replaces


def may_mean(thing: Thing, other: Thing) -> bool:
    """Return whether the Chinese pronoun for one thing could also refer to another thing."""
    return thing.many == other.many and thing.gender in other.noun.genders


class ChineseWriter(Writer):
    """Writes the clauses of a scene (who does what) and its mentions of persons and things in Chinese."""

    __slots__ = ()

    def may_mean(self, thing: Thing, other: Thing) -> bool:
        """Return whether the Chinese pronoun for one thing could also refer to another thing."""
        return may_mean(thing, other)

    def words_of(self, phrase: Phrase) -> tuple[str, ...]:
        """Return the Chinese words of a fixed phrase, such as a time or a conjunction."""
        return phrase.chinese

    def pronoun_of(self, thing: Thing, case: int) -> str:
        """Return the pronoun of a thing; for an owner, followed by 的.

        case: ignored, because Chinese has no cases.
        """
        return SPEAKERS[thing.speaker] if thing.speaker else PRONOUNS[thing.gender, thing.many]

    def question_word(self, thing: Thing) -> str:
        """Return the question word for a thing: 谁 for a person or animal, else 什么."""
        return "什么" if thing.gender == "n" else "谁"

    # ---- things ------------------------------------------------------------------------------------------------------
    def write_mention(self, mention: Mention) -> int:
        """Write a mention of a thing: the noun, preceded by its relative clause, determiner and adjective; return the
        noun's position."""
        thing, _, quality, relative, _ = mention
        noun = thing.noun
        verb = self.write_relative(relative) if relative else None
        self.write_determiner(mention)
        if quality:
            self.add_word(quality.chinese, id(quality), QUALITY_CATEGORY)
            if quality.needs_de:
                self.words.append("的")
        at = self.add_noun(mention, thing, noun.chinese, noun_category(noun, False))
        if thing.surname:
            self.add_surname(thing, thing.surname.chinese)
        if mention.determiner.chinese == MANY_PEOPLE and not mention.owner:
            self.words.append("们")
        if verb is not None:
            self.link_relative(relative, verb, at)
        return at

    def write_determiner(self, mention: Mention) -> None:
        """Write the owner of a thing or its determiner, such as 她 的 or 那 只.

        Before nouns for relatives, 我 is written without 的.
        """
        noun = mention.thing.noun
        determiner = mention.determiner
        if mention.owner:
            self.write_owner(mention.owner)
            if not noun.is_kin:
                self.words.append("的")
        elif determiner.chinese != MANY_PEOPLE:
            is_short = noun.is_kin and determiner.is_owner
            before = determiner.chinese[:1] if is_short else determiner.chinese
            self.words += [noun.measure if word == "M" else word for word in before]

    def write_relative(self, relative: Relative | Place) -> int | None:
        """Write a relative clause or a place before its noun, followed by 的.

        Return the position of the verb for a clause, None for a place.
        """
        verb = None
        if isinstance(relative, Place):
            self.write_thing(relative.mention)
            self.write_phrase(relative.relation)
        else:
            verb = self.write_clause(relative.clause)
        self.words.append("的")
        return verb

    def link_relative(self, relative: Relative, verb: int, head: int) -> None:
        """Link the verb of a relative clause to the noun that the clause describes, as its subject or object.

        verb, head: the positions of the verb and of the noun.
        """
        if relative.clause.gap == "x":
            self.link_subject(verb, head)
        else:
            self.link_object(head, verb)

    def write_place(self, place: Place) -> None:
        """Write the place where something is done: 在 公园 里."""
        self.words.append("在")
        self.write_thing(place.mention)
        self.write_phrase(place.relation)

    def write_quality(self, said: Said, clause: Clause) -> int:
        """Write an adjective as predicate with its degree, such as 很 高; return the position of the adjective."""
        quality, degree = said
        if quality.predicate:
            first, *others = quality.predicate
            at = self.add_word(first, id(said), QUALITY_CATEGORY)
            self.words += others
            return at
        if clause.mood.negative:
            return self.add_word(quality.chinese, id(said), QUALITY_CATEGORY)
        self.words += degree.before
        at = self.add_word(quality.chinese, id(said), QUALITY_CATEGORY)
        self.words += degree.behind
        return at

    # ---- clauses -----------------------------------------------------------------------------------------------------
    def write_clause(self, clause: Clause) -> int | None:
        """Write a clause; return the position of its verb, or of its adjective if it has no verb."""
        event = clause.event
        is_denied_alone = clause.mood.negative and event.denial
        places = self.write_steps(clause, event.denial if is_denied_alone else event.chinese)
        if clause.asks == "?":
            self.words.append("吗")
        elif clause.asks in ASKED_WITH_DE and clause.mood.done:
            self.words.append("的")
        if places.verb is None:
            places.verb = places.deciding
        self.link_clause(clause, places)
        return places.verb

    def write_verb(self, step: tuple[str, str], clause: Clause) -> int:
        """Write a verb, followed by 了 if the action is completed; return the verb's position.

        step: (verb, mark); 了 may follow only a verb whose mark is "*".
        """
        word, mark = step
        at = len(self.words)
        self.words.append(word)
        if mark == "*":
            self.write_done(clause)
        return at

    def write_done(self, clause: Clause) -> None:
        """Write 了 after the verb if the clause's action is completed.

        Relative clauses, and questions that end with 的, have no 了.
        """
        if clause.mood.done and not clause.gap and clause.asks not in ASKED_WITH_DE:
            self.words.append("了")

    def write_before_verb(self, clause: Clause) -> None:
        """Write the words between subject and verb: the time, 都 (all), the words of the mood, and the place."""
        if clause.time:
            self.write_phrase(clause.time)
        if clause.asks in ("time", "why"):
            self.write_adverb_asked(clause)
        subject = clause.parts["x"]
        if not clause.gap and isinstance(subject, Mention) and subject.determiner.is_total:
            self.words.append("都")
        self.words += self.words_of_mood(clause)
        if clause.asks in ("place", "how"):
            self.write_adverb_asked(clause)
        if clause.place:
            self.write_place(clause.place)

    def write_adverb_asked(self, clause: Clause) -> None:
        """Write the question word (when, where, why, how) before the verb, if the clause asks for one of these."""
        *before, word = QUESTION_WORDS[clause.asks]
        self.words += before
        self.add_word(word, (id(clause.event), "asks"))

    def words_of_mood(self, clause: Clause) -> tuple[str, ...]:
        """Return the words of a clause's mood before the verb, such as 正在 or 不.

        Returns () if the event has a separate template for negated clauses, or if the clause has a place, which
        replaces 正在.
        """
        mood = clause.mood
        is_at_place = clause.place or clause.asks == "place"
        if (mood.negative and clause.event.denial) or (is_at_place and mood.before == LASTING):
            return ()
        return mood.before_state if clause.event.is_state else mood.before
