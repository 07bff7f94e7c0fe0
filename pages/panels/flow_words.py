"""Writes the texts of the flow picture (the animation of a query): names of parts and heads, sentences about rows."""

from collections.abc import Mapping, Sequence
from functools import cache

from attention_core import Trace
from attention_core.explanation.facts import RowFact, accident, row_fact
from attention_core.explanation.head_habits import HeadHabit, head_habit
from pages.panels.head_maps import head_name, row_sentence
from pages.session.labels import name_token, why_it_asks
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.site.words import current_language, get_text_template, load_app_texts, say

STOP = "flow.stop."  # prefix of the text keys of the motions (stages of the query's animation)
CLEAR_KINDS = ("most", "only")  # kinds of rows with most of their weight on one word, which the headline names
MAX_TOLD_ROWS = 256  # most rows of all heads together for which every row is described, not only the selected one
HEADS_TEXTS = (
    *("label", "all", "both", "random", "layers", "why", "why_one", "why_random"),
    *("choose", "choose_touch", "read", "cell"),
    *("minus", "row", "same_row", "random_difference", "choose_unlike", "more_one", "more_other"),
    *("points", "scale", "scales"),
)
# kind of input -> name of what attention relates, in the sentence about why one attends and in the row of other keys
GIVEN = {
    "sentence": "words",
    "recorded": "words",
    "matrix": "rows",
    "code": "rows",
    "qkv": "tensors",
    "file": "tensors",
}
NEAR_OFFSETS = {-1: "before", 0: "itself", 1: "after"}


def flow_text(screen: ScreenState, drawn_keys: int | None) -> dict:
    """Returns the texts of the flow picture (the animation of a query); some have placeholders that the browser fills.

    drawn_keys: how many keys are drawn if the run is cut, else None.
    """
    given = GIVEN[resolve_run(screen.setup.run).mode]
    others = screen.trace.sizes()["S"] - (drawn_keys or 0)
    motions = list_motions(current_language())
    return {
        "headline": get_text_template("flow.headline"),
        "evenly": get_text_template("flow.evenly"),
        "nothing": get_text_template("flow.nothing"),
        "tied": get_text_template("flow.tied"),
        "legend": {sign: say(f"flow.legend.{sign}") for sign in ("plus", "minus", "zero")},
        "motive": get_text_template(f"flow.motive.{given}"),
        "others": say(f"flow.others.{given}", count=others),
        "together": get_text_template("flow.together"),
        "asks": say("flow.asks"),
        "rest": say("flow.rest"),
        "play": say("flow.play"),
        "pause": say("flow.pause"),
        "bar": say("flow.bar"),
        "keys": say("flow.keys"),
        "map_keys": say("flow.map_keys"),
        "enter_types": say("flow.enter_types"),
        "enter_opens": say("flow.enter_opens"),
        "steps": say("flow.steps"),
        "made_of": say("flow.made_of", step="{step}"),
        "dashed": say("flow.dashed", step="{step}"),
        "before": get_text_template("flow.before"),
        "sunk": get_text_template("flow.sunk"),
        "waits": say("flow.waits"),
        "random": say("flow.habit.random"),
        "differs": get_text_template("flow.differs"),
        "views": {view: say(f"flow.view.{view}") for view in ("flow", "heads", "map")},
        "missing_views": [],
        "compare": say("flow.compare"),
        "compare_help": say("flow.compare_help"),
        "heads": heads_text(),
        "names": {motion: say(f"flow.stop.{motion}") for motion in motions},
        "heard": {kind: get_text_template(f"flow.heard.{kind}") for kind in ("vector", "pair", "share", "tie")},
        "stops": {motion: get_text_template(f"flow.told.{motion}") for motion in motions},
    }


def heads_text() -> dict[str, str]:
    """Returns {name: text} of the texts in the view of all heads; some have placeholders that the browser fills."""
    return {name: get_text_template(f"flow.heads.{name}") for name in HEADS_TEXTS}


@cache  # the names of motions are cached, because every picture needs them
def list_motions(language: str) -> tuple[str, ...]:
    """Returns the motions (stages of the query's animation) for which a language has texts."""
    return tuple(key.removeprefix(STOP) for key in load_app_texts(language) if key.startswith(STOP))


# ---- heads -----------------------------------------------------------------------------------------------------------
def list_heads(screen: ScreenState, facts: Mapping[int, Sequence[RowFact]]) -> list[dict[str, str]]:
    """Returns the data of each head: its name, with and without its role, and a text about the pattern of its weights
    (habit).

    facts: {head: facts about its rows}, for the heads that were analysed; other heads have the habit "".
    """
    trace = screen.trace
    heads = []
    for head in range(trace.sizes()["H"]):
        is_read = head in facts
        habit = say_habit(trace, head_habit(trace, facts[head])) if is_read else ""
        name = head_name(screen.setup, screen.inputs, head)
        heads.append({"name": name, "short": say("place.head", number=head + 1), "habit": habit})
    return heads


def say_habit(trace: Trace, habit: HeadHabit) -> str:
    """Returns a head's habit (the pattern of its weights) in a few words."""
    if habit.kind == "offset":
        return say_offset(habit.offset)
    if habit.kind == "key":
        return say("flow.habit.key", key=name_token(trace, "S", habit.key))
    if habit.kind == "forced" and "masked_scores" not in trace:
        return say("flow.habit.forced_given")  # maps from a file do not say which cells a mask blocks
    pairs = []
    for query, key in habit.pairs:
        pair = say("flow.habit.pair", query=name_token(trace, "T", query), key=name_token(trace, "S", key))
        pairs.append(pair)
    if habit.kind == "tied":
        query, _ = habit.pairs[0]
        return say("flow.habit.tied", query=name_token(trace, "T", query), count=habit.count)
    return say(f"flow.habit.{habit.kind}", pairs=say("fact.comma").join(pairs))


def say_offset(offset: int) -> str:
    """Returns the text for a head that attends at a fixed offset from the query."""
    near = NEAR_OFFSETS.get(offset)
    if near:
        return say(f"flow.offset.{near}")
    return say("flow.habit.back" if offset < 0 else "flow.habit.on", count=abs(offset))


# ---- rows ------------------------------------------------------------------------------------------------------------
def list_facts(trace: Trace, facts: Mapping[int, Sequence[RowFact]]) -> list[list[dict | None]]:
    """Returns the description of each row of each head.

    If there are many rows, every description is None. The server then sends the browser only the description of the
    selected row, when the selection changes.
    """
    sizes = trace.sizes()
    heads, queries = sizes["H"], sizes["T"]
    if heads * queries > MAX_TOLD_ROWS:
        return [[None] * queries for _ in range(heads)]
    return [[tell_row(trace, fact) for fact in facts[head]] for head in range(heads)]


def make_fact(screen: ScreenState) -> dict:
    """Returns the description of the selected row of weights.

    For a new sentence, it also says why the app selected this query.
    """
    trace, selection = screen.trace, screen.selection
    told = tell_row(trace, row_fact(trace, selection.head, selection.query, selection.batch))
    return told | {"why": tell_why(screen)}


def tell_why(screen: ScreenState) -> str:
    """Returns the text that says why the app selected this query by default.

    Returns "" if the visitor selected the query, or if the sentence is the example's own.
    """
    why = why_it_asks(screen.trace, screen.setup, screen.selection)
    if why is None:
        return ""
    return say(f"flow.why.{why}", query=name_token(screen.trace, "T", screen.selection.query))


def tell_row(trace: Trace, fact: RowFact) -> dict:
    """Returns the description of a row of weights as a sentence, with three facts for the browser.

    clear: whether the row attends to one word, with weights that do not result from random numbers. random: whether its
    weights result from random numbers. sunk: the share of the attention sink.
    """
    found = accident(trace, fact)
    is_clear = fact.kind in CLEAR_KINDS and found is None
    text = row_sentence(trace, fact, found, spell=str)
    return {"clear": is_clear, "random": found is not None, "text": text, "sunk": fact.sunk}
