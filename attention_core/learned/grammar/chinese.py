"""A scene in Chinese: measure words, 了, 正在 and 不, clauses with 的 before their noun, places before the verb."""

from attention_core.learned.grammar.moods import Mood
from attention_core.learned.grammar.page import QUALITY_CATEGORY, VERB_CATEGORY, Page, noun_category
from attention_core.learned.grammar.scene import Clause, Mention, Phrase, Place, Pronoun, Said, Thing
from attention_core.learned.grammar.templates import BEFORE_VERB, DONE, OWNED, PART, TELLING, VERB, WORD

PRONOUNS = {
    ("f", False): "她",
    ("m", False): "他",
    ("n", False): "它",
    ("f", True): "她们",
    ("m", True): "他们",
    ("n", True): "它们",
}
SPEAKERS = {"i": "我", "we": "我们", "you": "你"}
MANY_PEOPLE = ("们",)  # what makes a noun of persons many, in place of a word before it


def may_mean(thing: Thing, other: Thing) -> bool:
    """Tell whether the Chinese pronoun of a thing fits another thing, too."""
    return thing.many == other.many and thing.gender in other.noun.genders


def pronoun_of(thing: Thing) -> str:
    """Give the pronoun of a thing."""
    return SPEAKERS[thing.speaker] if thing.speaker else PRONOUNS[thing.gender, thing.many]


def write(page: Page, part: object) -> None:
    """Write a part of a scene: a clause, or words that stand for themselves."""
    if isinstance(part, Clause):
        write_clause(page, part)
    elif isinstance(part, Phrase):
        write_phrase(page, part)
    elif isinstance(part, Place):
        write_place(page, part)
    else:
        write_thing(page, part)


def write_phrase(page: Page, phrase: Phrase) -> None:
    """Write words that stand for themselves."""
    page.words += phrase.chinese
    page.marks.append((id(phrase), len(page.words) - 1))


# ---- things ----------------------------------------------------------------------------------------------------------
def write_thing(page: Page, node: Mention | Pronoun) -> int:
    """Write a thing by its noun or its pronoun, and give the position."""
    if isinstance(node, Pronoun):
        return page.write_pronoun(node, node.thing, pronoun_of(node.thing), may_mean)
    return write_mention(page, node)


def write_mention(page: Page, mention: Mention) -> int:
    """Write a noun with all that stands before it."""
    thing, determiner, quality, relative, owner = mention
    noun = thing.noun
    words = page.words
    is_many_people = determiner.chinese == MANY_PEOPLE
    verb = write_relative(page, relative) if relative else None
    if owner:
        page.write_pronoun(owner, owner, pronoun_of(owner), may_mean)
        if not noun.is_kin:
            words.append("的")
    elif not is_many_people:
        before = determiner.chinese[:1] if noun.is_kin and determiner.is_owner else determiner.chinese
        words += [noun.measure if word == "M" else word for word in before]
    if quality:
        at = len(words)
        words.append(quality.chinese)
        page.kinds[at] = QUALITY_CATEGORY
        page.marks.append((id(quality), at))
        if quality.needs_de:
            words.append("的")
    at = page.write_noun(mention, thing, noun.chinese, noun_category(noun, False))
    if thing.surname:
        page.write_surname(thing, thing.surname.chinese)
    if is_many_people:
        words.append("们")
    if verb is not None:
        link_relative(page, relative, verb, at)
    return at


def write_relative(page: Page, relative) -> int | None:
    """Write what says which one is meant, before its noun, and give the position of its verb."""
    if isinstance(relative, Place):
        write_thing(page, relative.mention)
        page.words += relative.relation.chinese
        page.marks.append((id(relative.relation), len(page.words) - 1))
        page.words.append("的")
        return None
    verb = write_clause(page, relative.clause)
    page.words.append("的")
    return verb


def link_relative(page: Page, relative, verb: int, head: int) -> None:
    """Link the verb of a clause before a noun with the noun."""
    if relative.clause.gap == "x":
        page.link_subject(verb, head)
    else:
        page.link_object(head, verb)


def write_place(page: Page, place: Place) -> None:
    """Write where something is done: 在 公园 里."""
    page.words.append("在")
    write_thing(page, place.mention)
    page.words += place.relation.chinese
    page.marks.append((id(place.relation), len(page.words) - 1))


def write_quality(page: Page, said: Said, is_denied: bool) -> int:
    """Write a quality with its degree, and give the position of the quality."""
    quality, degree = said
    words = page.words
    at = len(words)
    if quality.predicate:
        words += quality.predicate
    elif is_denied:
        words.append(quality.chinese)
    else:
        at += len(degree.before)
        words += degree.before
        words.append(quality.chinese)
        words += degree.behind
    page.kinds[at] = QUALITY_CATEGORY
    page.marks.append((id(said), at))
    return at


# ---- clauses ---------------------------------------------------------------------------------------------------------
def write_clause(page: Page, clause: Clause) -> int | None:
    """Write a clause, and give the position of its verb, or of the quality that stands for one."""
    event, parts, mood, _, _, gap, asks = clause
    words = page.words
    subject = parts["x"]
    subject_at = verb_at = deciding = None
    objects = []
    is_denied_alone = mood.negative and event.denial
    is_done = mood.done and not gap and asks not in ASKED_WITH_DE
    for code, payload in event.denial if is_denied_alone else event.chinese:
        if code == WORD:
            words.append(payload)
        elif code == VERB:
            word, mark = payload
            verb_at = len(words)
            words.append(word)
            page.kinds[verb_at] = VERB_CATEGORY
            page.marks.append((id(event), verb_at))
            if is_done and mark == "*":
                words.append("了")
        elif code == BEFORE_VERB:
            write_before_verb(page, clause, () if is_denied_alone else None)
        elif code == PART:
            part = parts[payload]
            if payload == asks:
                page.marks.append(((id(clause.event), "asks"), len(words)))
                words.append(question_word(part.thing))
            elif payload == gap:
                continue
            elif payload == "x":
                subject_at = write_thing(page, part)
            elif payload == "q":
                deciding = write_quality(page, part, mood.negative)
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
                objects.append(write_thing(page, part))
        elif code == OWNED:
            page.write_pronoun((clause, payload), parts[payload].thing, pronoun_of(parts[payload].thing), may_mean)
            words.append("的")
        elif code == DONE:
            if is_done:
                words.append("了")
        elif code == TELLING:
            deciding = len(words)
            words.append(payload)
            page.marks.append(((id(event), TELLING), deciding))
    if asks == "?":
        words.append("吗")
    elif asks in ASKED_WITH_DE and mood.done:
        words.append("的")
    if verb_at is None:
        verb_at = deciding
    else:
        for at in objects:
            page.link_object(at, verb_at)
    if subject_at is not None:
        page.link_clause(subject, subject_at, verb_at, deciding, may_mean)
    return verb_at


ASKED_WITH_DE = ("place", "time", "how")  # 的 ends the question, and no 了 follows the verb
QUESTION_WORDS = {"place": ("在", "哪里"), "time": ("什么时候",), "why": ("为什么",), "how": ("怎么",)}


def question_word(thing: Thing) -> str:
    """Give 谁 or 什么."""
    return "什么" if thing.gender == "n" else "谁"


def write_before_verb(page: Page, clause: Clause, before: tuple[str, ...] | None) -> None:
    """Write what stands between subject and verb: the time, 都, what the mood says, the place.

    before: what the mood says, where the clause says it in its own way.
    """
    words = page.words
    mood = clause.mood
    if clause.time:
        write_phrase(page, clause.time)
    if clause.asks in ("time", "why"):
        write_question_word(page, clause)
    subject = clause.parts["x"]
    if not clause.gap and isinstance(subject, Mention) and subject.determiner.is_total:
        words.append("都")
    if before is None:
        before = words_of_mood(clause, mood)
    words += before
    if clause.asks in ("place", "how"):
        write_question_word(page, clause)
    if clause.place:
        write_place(page, clause.place)


def write_question_word(page: Page, clause: Clause) -> None:
    """Write what asks for a time, a place, a reason or a way."""
    page.words += QUESTION_WORDS[clause.asks]
    page.marks.append(((id(clause.event), "asks"), len(page.words) - 1))


def words_of_mood(clause: Clause, mood: Mood) -> tuple[str, ...]:
    """Give what a mood puts before the verb."""
    is_at_place = clause.place or clause.asks == "place"
    if is_at_place and mood.before == ("正在",):
        return ()
    return mood.before_state if clause.event.is_state else mood.before
