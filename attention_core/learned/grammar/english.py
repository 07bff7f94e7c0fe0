"""A scene in English: articles, agreement, auxiliary verbs, relative clauses behind their noun."""

from attention_core.learned.grammar.concepts import Verb
from attention_core.learned.grammar.moods import DID, DOES, IS, PAST, SINGULAR, THIRD, WAS, Mood
from attention_core.learned.grammar.page import QUALITY_CATEGORY, VERB_CATEGORY, Page, noun_category
from attention_core.learned.grammar.scene import Clause, Mention, Phrase, Place, Pronoun, Said, Thing
from attention_core.learned.grammar.templates import OWNED, PART, TELLING, VERB, WORD

SUBJECT_CASE, OBJECT_CASE, OWNER_CASE = range(3)
PRONOUNS = {
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


def may_mean(thing: Thing, other: Thing) -> bool:
    """Tell whether the English pronoun of a thing fits another thing, too."""
    if thing.many or other.many:
        return thing.many and other.many
    return thing.gender in other.noun.genders


def pronoun_of(thing: Thing, case: int) -> str:
    """Give the pronoun of a thing."""
    third = "they" if thing.many else thing.gender
    key = thing.speaker or third
    return PRONOUNS[key][case]


def write(page: Page, part: object) -> None:
    """Write a part of a scene: a clause, or words that stand for themselves."""
    if isinstance(part, Clause):
        write_clause(page, part)
    elif isinstance(part, Phrase):
        write_phrase(page, part)
    elif isinstance(part, Place):
        write_place(page, part)
    else:
        write_thing(page, part, SUBJECT_CASE)


def write_phrase(page: Page, phrase: Phrase) -> None:
    """Write words that stand for themselves."""
    page.words += phrase.english
    page.marks.append((id(phrase), len(page.words) - 1))


# ---- things ----------------------------------------------------------------------------------------------------------
def write_thing(page: Page, node: Mention | Pronoun, case: int) -> int:
    """Write a thing by its noun or its pronoun, and give the position."""
    if isinstance(node, Pronoun):
        return page.write_pronoun(node, node.thing, pronoun_of(node.thing, case), may_mean)
    return write_mention(page, node)


def write_mention(page: Page, mention: Mention) -> int:
    """Write a noun with what stands before and behind it."""
    thing, determiner, quality, relative, owner = mention
    noun = thing.noun
    word = noun.plural if thing.many else noun.word
    if owner:
        page.write_pronoun(owner, owner, pronoun_of(owner, OWNER_CASE), may_mean)
    elif determiner.english:
        first = quality.word if quality else word
        page.words += article_before(first) if determiner.english == ("a",) else determiner.english
    if quality:
        at = len(page.words)
        page.words.append(quality.word)
        page.kinds[at] = QUALITY_CATEGORY
        page.marks.append((id(quality), at))
    at = page.write_noun(mention, thing, word, noun_category(noun, thing.many))
    if thing.surname:
        page.write_surname(thing, thing.surname.word)
    if relative:
        write_relative(page, relative, at)
    return at


def article_before(word: str) -> tuple[str]:
    """Give a or an.

    >>> article_before("old"), article_before("useful"), article_before("honest")
    (('an',), ('a',), ('an',))
    """
    if word.startswith(SOUNDS_LIKE_CONSONANT):
        return ("a",)
    vowel = word[0] in "aeiou" or word.startswith(SOUNDS_LIKE_VOWEL)
    return ("an",) if vowel else ("a",)


def write_relative(page: Page, relative, head: int) -> None:
    """Write what says which one is meant, behind its noun."""
    if isinstance(relative, Place):
        write_place(page, relative)
        return
    page.words.append(relative.pronoun)
    verb = write_clause(page, relative.clause)
    if relative.clause.gap == "x":
        page.link_subject(verb, head)
    else:
        page.link_object(head, verb)


def write_place(page: Page, place: Place) -> None:
    """Write where something is."""
    page.words += place.relation.english
    page.marks.append((id(place.relation), len(page.words) - 1))
    write_thing(page, place.mention, OBJECT_CASE)


def write_quality(page: Page, said: Said) -> int:
    """Write a quality with its degree, and give the position of the quality."""
    page.words += said.degree.english
    at = len(page.words)
    page.words.append(said.quality.word)
    page.kinds[at] = QUALITY_CATEGORY
    page.marks.append((id(said), at))
    return at


# ---- clauses ---------------------------------------------------------------------------------------------------------
def write_clause(page: Page, clause: Clause) -> int:
    """Write a clause, and give the position of its verb."""
    event, parts, mood, time, place, gap, asks = clause
    words = page.words
    subject = parts["x"]
    subject_at = verb_at = deciding = None
    objects = []
    if asks and asks != "x":
        write_question_words(page, clause)
    for code, payload in event.english:
        if code == WORD:
            words.append(payload)
        elif code == VERB:
            if asks and asks != "x":
                verb_at = write_rest_of_verb(page, payload, mood, subject.thing)
            else:
                verb_at = write_verb(page, payload, mood, subject.thing)
            page.marks.append((id(event), verb_at))
        elif code == PART:
            part = parts[payload]
            if payload in (gap, asks):
                if payload == asks == "x":
                    words.append(question_word(part.thing))
            elif payload == "x":
                subject_at = write_thing(page, part, SUBJECT_CASE)
            elif payload == "q":
                deciding = write_quality(page, part)
            elif payload == "w":
                write_phrase(page, part)
            elif payload == "c":
                write_clause(page, part)
            elif payload == "e":
                inner = write_clause(page, part)
                doer = part.parts["x"].thing
                doer_at = subject_at if doer is subject.thing else page.named.get(doer)
                if doer_at is not None:
                    page.link_subject(inner, doer_at)
            else:
                objects.append(write_thing(page, part, OBJECT_CASE))
        elif code == OWNED:
            page.write_pronoun(
                (clause, payload), parts[payload].thing, pronoun_of(parts[payload].thing, OWNER_CASE), may_mean
            )
        elif code == TELLING:
            deciding = len(words)
            words.append(payload)
            page.marks.append(((id(event), TELLING), deciding))
    if place:
        write_place(page, place)
    if time:
        write_phrase(page, time)
    for at in objects:
        page.link_object(at, verb_at)
    if subject_at is not None:
        page.link_clause(subject, subject_at, verb_at, deciding, may_mean)
    return verb_at


def write_verb(page: Page, verb: Verb, mood: Mood, subject: Thing) -> int:
    """Write a verb in its mood, and give the position of the verb itself."""
    words = page.words
    agreement = subject.agreement
    if is_plain_be(verb, mood):
        at = len(words)
        words.append((WAS if mood.past else IS)[agreement])
        words += mood.between
        return at
    if mood.auxiliary:
        words.append(mood.auxiliary[agreement])
    words += mood.between
    form = mood.form
    if form == THIRD and agreement != SINGULAR:
        form = 0
    at = len(words)
    words.append(verb[form])
    page.kinds[at] = VERB_CATEGORY
    return at


def is_plain_be(verb: Verb, mood: Mood) -> bool:
    """Tell whether the verb is a form of be that needs no other: "was", "are not"."""
    if verb.base != "be":
        return False
    alone = not mood.auxiliary and mood.form in (THIRD, PAST)
    return alone or (mood.auxiliary in (DOES, DID) and mood.between == ("not",))


# ---- questions -------------------------------------------------------------------------------------------------------
QUESTION_WORDS = {"place": ("where",), "time": ("when",), "why": ("why",), "how": ("how",), "?": ()}


def question_word(thing: Thing) -> str:
    """Give who or what."""
    return "what" if thing.gender == "n" else "who"


def write_question_words(page: Page, clause: Clause) -> None:
    """Write what stands before the subject of a question: the question word and the auxiliary verb."""
    asked = clause.asks
    words = page.words
    at = len(words)
    words += QUESTION_WORDS[asked] if asked in QUESTION_WORDS else (question_word(clause.parts[asked].thing),)
    if len(words) > at:
        page.marks.append(((id(clause.event), "asks"), at))
    agreement = clause.parts["x"].thing.agreement
    mood = clause.mood
    verb = next(payload for code, payload in clause.event.english if code == VERB)
    if is_plain_be(verb, mood):
        words.append((WAS if mood.past else IS)[agreement])
    elif mood.auxiliary:
        words.append(mood.auxiliary[agreement])
    else:
        words.append((DID if mood.past else DOES)[agreement])


def write_rest_of_verb(page: Page, verb: Verb, mood: Mood, subject: Thing) -> int:
    """Write what of the verb stands behind the subject of a question, and give the position of the verb."""
    words = page.words
    words += mood.between
    if is_plain_be(verb, mood):
        return len(words) - 1
    at = len(words)
    words.append(verb[mood.form] if mood.auxiliary else verb.base)
    page.kinds[at] = VERB_CATEGORY
    return at
