"""The sentence, the maps of the heads and the strip of all steps, drawn from a Trace."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from attention_core import Trace, charts
from attention_core.numerals import exact
from attention_core.reading import row_fact
from attention_core.tokens import shown
from pages.shared import state
from pages.shared.components import tiles
from pages.shared.inputs import UNCHANGED, Material
from pages.shared.places import chart, chosen_cell, kv_of, looked_at, open_cell, palette, short_name, token, words_for
from pages.shared.runs import computed_part, trace_of
from pages.shared.setup import Setup
from pages.shared.words import has, literal, say


def show_tiles(trace: Trace, material: Material, head: int, query: int) -> None:
    """The tokens; under each the share that the chosen one gives it. Keys of another sequence stand in a second row."""
    shares = trace.step("weights").window(B=0, H=head, T=query)
    crossed = material.crossed
    rows = [("tiles", material.queries, material.word_origins, chose_query, None if crossed else shares)]
    if crossed:
        rows.append(("keys", material.keys, material.key_origins, chose_key, shares))
    for name, words, origins, chosen, given in rows:
        tokens = [tile(word, origins, i, given) for i, word in enumerate(words)]
        data = {"tokens": tokens, "chosen": query if name == "tiles" else -1, "label": say(f"{name}.label")}
        tiles(
            data=data | {"language": say("app.tag"), "colour": palette().share},
            key=name,
            width="content",
            on_chosen_change=chosen,
        )


def show_origins(setup: Setup, material: Material) -> None:
    """Where the numbers come from: built by hand, random, edited."""
    names: dict[str, list[str]] = {}
    for name, origin in material.origins.items():
        seed = material.seeds.get(name)
        called = say("origin.allowed") if name == "allowed" else name
        names.setdefault(origin, []).append(called if seed is None else say("origin.seeded", name=called, seed=seed))
    parts = [say(f"origin.group.{origin}", names=say("fact.comma").join(group)) for origin, group in names.items()]
    st.caption(" ".join([*parts, *([dashed_words(setup, material)] if material.random_words() else [])]))


def dashed_words(setup: Setup, material: Material) -> str:
    """Which words got a random vector."""
    words = [literal(shown(word)) for word in material.random_words()]
    return say("tiles.some_random", words=say("fact.comma").join(words), seed=setup.seed)


def tile(word: str, origins: tuple[str, ...], i: int, shares: np.ndarray | None) -> dict:
    """A tile: its word, where its vector comes from, the share it receives."""
    origin = origins[i] if origins else "typed"
    text = {"text": shown(word), "origin": origin, "title": say(f"origin.word.{origin}", word=shown(word))}
    if shares is None:
        return text | {"share": None}
    share = float(shares[i])
    return text | {"share": share if math.isfinite(share) else None, "title": f"{text['title']} · {exact(share)}"}


def chose_query() -> None:
    """A token was chosen: it asks now."""
    chosen = st.session_state["tiles"].chosen
    if isinstance(chosen, int) and 0 <= chosen < trace_of(state.current()).sizes()["T"]:
        state.look(token=chosen, head=None, cell=None)


def chose_key() -> None:
    """A key was chosen: the weight that it receives is opened."""
    chosen, trace = st.session_state["keys"].chosen, trace_of(state.current())
    head, query = looked_at(trace, state.current())
    if isinstance(chosen, int) and 0 <= chosen < trace.sizes()["S"]:
        open_cell("weights", (0, head, query, chosen))


def fact_sentence(trace: Trace, head: int, query: int, spell: Callable[[str], str] = literal) -> str:
    """What the chosen query does in a head, in one sentence with its number. spell: how tokens are written in it."""
    fact = row_fact(trace, head, query)
    count, percent = fact.possible, f"{100 * fact.share:.0f}"
    words = {"head": head + 1, "query": spell(token(trace, "T", query)), "percent": percent, "count": count}
    if fact.kind == "nothing":
        return say("fact.nothing", **words)
    if fact.kind == "overflow":
        return say("fact.overflow", **words)
    if fact.kind == "even":
        return say("fact.even", **words)
    keys = [spell(token(trace, "S", key)) for key in fact.keys]
    if fact.kind == "several":
        *most, last = [say("fact.quoted", key=key) for key in keys]
        return say("fact.several", keys=say("fact.and", others=say("fact.comma").join(most), last=last), **words)
    if fact.kind == "nearly" and percent == f"{100 / count:.0f}":
        return say("fact.close", **words)
    if fact.kind in ("only", "nearly"):
        return say(f"fact.{fact.kind}", key=keys[0], **words)
    kind = "most" if count == trace.sizes()["S"] else "most_allowed"
    return say(f"fact.{kind}", key=keys[0], ratio=f"{fact.ratio:.1f}", **words)


TOGETHER = (2, 20)  # up to so many heads of so many tokens are all shown large
TALL = 12  # tokens: a map of more would push the steps off the screen
LONG = 8  # keys: beyond, the colours of an even row are hard to tell from those of an empty one


def show_pictures(trace: Trace, setup: Setup, material: Material, head: int, query: int) -> None:
    """Two heads side by side; of more heads, or many tokens, one large and all of them small. Then the strip."""
    sizes = trace.sizes()
    if sizes["H"] <= TOGETHER[0] and (sizes["H"] == 1 or max(sizes["T"], sizes["S"]) <= TOGETHER[1]):
        with st.container(horizontal=True, gap="small"):
            for number in range(sizes["H"]):
                show_head_map(trace, setup, material, number, query)
    elif sizes["T"] <= TALL:
        with st.container(horizontal=True, gap="small"):
            show_head_map(trace, setup, material, head, query)
            show_all_heads(trace, setup, head, across=4)
    else:
        show_all_heads(trace, setup, head, across=8)
        show_strip(trace, setup, head, query)
        show_head_map(trace, setup, material, head, query)
        return
    show_strip(trace, setup, head, query)


def show_head_map(trace: Trace, setup: Setup, material: Material, number: int, query: int) -> None:
    """One head's weights."""
    with st.container(width="content", gap=None):
        st.markdown(head_title(setup, material, number))
        picture = charts.head_map(
            trace, number, words_for(trace), palette(), chosen_cell(trace, setup), query, setup.ramp == "times"
        )
        chart(picture, f"map{number}", fact_sentence(trace, number, query, spell=str))


def show_all_heads(trace: Trace, setup: Setup, head: int, across: int) -> None:
    """Every head small; a click on one makes it the large one."""
    with st.container(width="content", gap=None):
        st.markdown(say("heads.all", count=trace.sizes()["H"]))
        titles = [say("place.head", number=number + 1) for number in range(trace.sizes()["H"])]
        picture = charts.head_overview(trace, titles, palette(), head, setup.ramp == "times", across)
        chart(picture, "heads", say("heads.alt"))


def ramp_switch(trace: Trace, setup: Setup) -> None:
    """Colours of the weights from 0 to 1, or in even shares: for rows so long that all weights are small."""

    def chosen() -> None:
        state.look(ramp="times" if st.session_state["c_ramp"] else None)

    if trace.sizes()["S"] > LONG:
        st.session_state["c_ramp"] = setup.ramp == "times"
        st.toggle(say("control.ramp"), key="c_ramp", on_change=chosen, help=say("help.ramp"), width="content")


def head_title(setup: Setup, material: Material, number: int) -> str:
    """A head's heading: its role, where the example gives it one and only words that it knows were exchanged."""
    title = f"**{say('place.head', number=number + 1)}**"
    role = f"role.{setup.example}.{number + 1}"
    other_words = {"text": None, "temperature": 1.0, "seed": 0, "dtype": "float64", "device": "cpu"}
    as_shipped = replace(computed_part(setup), x=None if setup.x == UNCHANGED else setup.x, **other_words)
    untouched = as_shipped == Setup(example=setup.example)
    built = untouched and "random" not in (*material.word_origins, *material.key_origins)
    return title + say("place.role", role=say(role)) if built and has(role) else title


def steps_shown(trace: Trace) -> list[str]:
    """The steps of the strip: the input of each sequence, then all that is computed, as far as it is a matrix."""
    inputs = [
        name for name in ("x", "query", "key", "value", "q", "k", "v", "q_heads", "k_heads") if name in trace.inputs()
    ]
    steps = inputs + [name for name, step in trace.computed().items() if len(step.dims) > 1]
    given = [name for name in ("allowed_custom", "allowed") if name in trace.inputs()]
    first = next(n for n, name in enumerate(steps) if name.startswith("allowed") or name == "masked_scores")
    return steps[:first] + given + steps[first:]


def show_strip(trace: Trace, setup: Setup, head: int, query: int) -> None:
    """All steps in order as small maps; a click opens one large."""
    at = {"H": head, "H_kv": kv_of(trace, head), "T": query}
    with st.container(gap=None):
        for line in charts.strip_lines(steps_shown(trace)):
            with st.container(horizontal=True, gap=None):
                for steps in line:
                    names = [short_name(step) for step in steps]
                    picture = charts.strip(trace, steps, names, at, palette(), setup.step)
                    chart(picture, f"strip_{steps[0]}", say("strip.alt"))
