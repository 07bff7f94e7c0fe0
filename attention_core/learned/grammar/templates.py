"""Parses the templates of events in the data files into steps: fixed words, and places for the parts of a clause.

- x y z: a person, animal or thing that takes part in the event
- q: a quality with its degree; c: a clause; e: the action that somebody goes or wants to do
- eat*: a verb whose form depends on mood and subject; in Chinese 了 may follow
- sit~: a Chinese verb of an action that 了 does not follow; 了? may be elsewhere
- like=: a Chinese verb of a state: 了 never follows, and 不 negates it
- steel^: the word that decides which noun the clause is true of, if that word is neither verb nor quality
- x's: his, her, its, their: the possessive of the part x
- @: Chinese: the position of time, 不, 没有, 能, 在 …, if not after the first part
- 了?: Chinese: 了 if the clause is a single completed action
"""

from functools import cache

from attention_core.learned.grammar.concepts import find_verb

WORD, PART, VERB, OWNED, TELLING, BEFORE_VERB, DONE = range(7)  # codes of steps, which say what a step writes

Step = tuple[int, object]
VERB_MARKS = "*~="
PARTS = frozenset("xyzqcew")


@cache
def read_english(template: str) -> tuple[Step, ...]:
    """Parse an English template into steps, each (code, payload).

    >>> read_english("x open* y")[0], read_english("made of steel^")
    ((1, 'x'), ((0, 'made'), (0, 'of'), (4, 'steel')))
    """
    steps = []
    for token in template.split():
        if token.endswith("*"):
            steps.append((VERB, find_verb(token[:-1])))
        else:
            steps.append(read_plain(token))
    return tuple(steps)


@cache
def read_chinese(template: str) -> tuple[Step, ...]:
    """Parse a Chinese template into steps, each (code, payload); the payload of a verb is (its word, its mark).

    >>> read_chinese("x 过* y")
    ((1, 'x'), (5, None), (2, ('过', '*')), (1, 'y'))
    """
    steps = []
    tokens = template.split()
    if "@" not in tokens:
        behind_subject = 1 if tokens[0] == "x" else 0
        tokens.insert(behind_subject, "@")
    for token in tokens:
        if token == "@":
            steps.append((BEFORE_VERB, None))
        elif token == "了?":
            steps.append((DONE, None))
        elif token[-1] in VERB_MARKS:
            steps.append((VERB, (token[:-1], token[-1])))
        else:
            steps.append(read_plain(token))
    return tuple(steps)


def read_plain(token: str) -> Step:
    """Parse one token of a template that has the same meaning in both languages, and return its step."""
    if token in PARTS:
        return PART, token
    if token.endswith("'s") and token[:-2] in PARTS:
        return OWNED, token[:-2]
    if token.endswith("^"):
        return TELLING, token[:-1]
    return WORD, token
