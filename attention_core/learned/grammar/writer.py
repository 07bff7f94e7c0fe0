"""Writes scenes (the contents of texts) as words; this class has the steps that both languages share."""

from attention_core.learned.grammar.page import VERB_CATEGORY, Page
from attention_core.learned.grammar.scene import Clause, Mention, Phrase, Place, Pronoun, Said, Thing
from attention_core.learned.grammar.templates import BEFORE_VERB, DONE, OWNED, PART, TELLING, VERB, WORD

SUBJECT_CASE, OBJECT_CASE, OWNER_CASE = range(3)


class Places:
    """The positions in a text of a clause's parts; None for a part that is absent, [] if there are no objects."""

    __slots__ = ("deciding", "objects", "subject", "verb")

    def __init__(self):
        self.subject: int | None = None
        self.verb: int | None = None
        self.deciding: int | None = None
        self.objects: list[int] = []


class Writer(Page):
    """Writes the parts of scenes into a Page (a text while it is written); subclasses write the words of one language.

    A subclass per language writes phrases, mentions, verbs, qualities and places.
    """

    __slots__ = ()

    # ---- defined by each language ------------------------------------------------------------------------------------
    def words_of(self, phrase: Phrase) -> tuple[str, ...]:
        """Return the words of a phrase in this language."""
        raise NotImplementedError

    def pronoun_of(self, thing: Thing, case: int) -> str:
        """Return the pronoun of a thing in a grammatical case."""
        raise NotImplementedError

    def question_word(self, thing: Thing) -> str:
        """Return the question word for a thing, such as "who" or "what"."""
        raise NotImplementedError

    def write_mention(self, mention: Mention) -> int:
        """Write a noun with its modifiers, and return its position."""
        raise NotImplementedError

    def write_place(self, place: Place) -> None:
        """Write the place of an action."""
        raise NotImplementedError

    def write_quality(self, said: Said, clause: Clause) -> int:
        """Write a quality with its degree, and return its position."""
        raise NotImplementedError

    def write_verb(self, step: object, clause: Clause) -> int:
        """Write a verb in the form for the clause's mood (tense and negation), and return its position."""
        raise NotImplementedError

    def write_clause(self, clause: Clause) -> int | None:
        """Write a clause, and return the position of its verb."""
        raise NotImplementedError

    def write_before_verb(self, clause: Clause) -> None:
        """Write the words of a clause that a template marks by @, such as the time and the negation before a verb."""
        raise NotImplementedError

    def write_done(self, clause: Clause) -> None:
        """Write 了 at the place that the template marks by 了?, if the clause needs it."""
        raise NotImplementedError

    # ---- parts -------------------------------------------------------------------------------------------------------
    def write(self, part: Clause | Phrase | Place | Mention | Pronoun) -> None:
        """Write a clause, phrase, place, mention or pronoun by the method for its type."""
        if isinstance(part, Clause):
            self.write_clause(part)
        elif isinstance(part, Phrase):
            self.write_phrase(part)
        elif isinstance(part, Place):
            self.write_place(part)
        else:
            self.write_thing(part)

    def write_phrase(self, phrase: Phrase) -> None:
        """Write the words of a fixed phrase."""
        self.words += self.words_of(phrase)
        self.marks.append((id(phrase), len(self.words) - 1))

    def write_thing(self, node: Mention | Pronoun, case: int = SUBJECT_CASE) -> int:
        """Write a thing by its noun or its pronoun, and return the position of that word."""
        if isinstance(node, Pronoun):
            return self.add_pronoun(node, node.thing, self.pronoun_of(node.thing, case))
        return self.write_mention(node)

    # ---- clauses -----------------------------------------------------------------------------------------------------
    def write_steps(self, clause: Clause, steps: tuple) -> Places:
        """Write a clause by the steps of its template; return the positions of the clause's parts."""
        places = Places()
        for code, payload in steps:
            if code == WORD:
                self.words.append(payload)
            elif code == PART:
                self.write_part(clause, payload, places)
            elif code == VERB:
                places.verb = self.write_verb(payload, clause)
                self.kinds.setdefault(places.verb, VERB_CATEGORY)
                self.marks.append((id(clause.event), places.verb))
            elif code == BEFORE_VERB:
                self.write_before_verb(clause)
            elif code == DONE:
                self.write_done(clause)
            elif code == TELLING:
                places.deciding = self.add_word(payload, (id(clause.event), TELLING))
            elif code == OWNED:
                self.write_owner(clause.parts[payload].thing)
        return places

    def write_owner(self, owner: Thing) -> None:
        """Write the possessive pronoun of an owner: his, her, its or their."""
        self.add_pronoun(owner, owner, self.pronoun_of(owner, OWNER_CASE))

    def write_part(self, clause: Clause, name: str, places: Places) -> None:
        """Write the part `name` of a clause, or nothing if the clause omits it, as a relative clause omits the
        described noun."""
        part = clause.parts[name]
        if name == clause.gap:
            return
        if name == clause.asks:
            self.write_asked(clause, name)
        elif name == "x":
            places.subject = self.write_thing(part)
        elif name in "yz":
            places.objects.append(self.write_thing(part, OBJECT_CASE))
        elif name == "q":
            places.deciding = self.write_quality(part, clause)
        elif name == "w":
            self.write_phrase(part)
        elif name == "c":
            self.write_clause(part)
        else:
            self.write_errand(clause, part, places)

    def write_asked(self, clause: Clause, name: str) -> None:
        """Write a question word in place of a part of the clause."""
        self.add_word(self.question_word(clause.parts[name].thing), (id(clause.event), "asks"))

    def write_errand(self, clause: Clause, errand: Clause, places: Places) -> None:
        """Write an action that somebody goes to do or wants to do, and link its verb to that person."""
        verb = self.write_clause(errand)
        doer = errand.parts["x"].thing
        at = places.subject if doer is clause.parts["x"].thing else self.named.get(doer)
        if at is not None and verb is not None:
            self.link_subject(verb, at)

    def link_clause(self, clause: Clause, places: Places) -> None:
        """Link the parts of a written clause to each other.

        If the clause's subject is a pronoun, the verb or quality is linked to the noun that the pronoun refers to.
        """
        if places.verb is not None:
            for at in places.objects:
                self.link_object(at, places.verb)
        subject = places.subject
        if subject is None:
            return
        if places.verb is not None:
            self.link_subject(places.verb, subject)
        is_pronoun = isinstance(clause.parts["x"], Pronoun)
        deciding = places.verb if places.deciding is None and is_pronoun else places.deciding
        if deciding is not None:
            self.link_deciding(deciding, clause.parts["x"].thing, subject)
