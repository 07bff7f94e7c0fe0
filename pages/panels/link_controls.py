"""What a reader chooses in a lesson: kept for the session, said by the link, checked wherever it comes from.

A control has a name, under which its choice stands in the link, and a reader that makes a value of a text or refuses
it. Its words stand in the lesson's content: control.<name>, and option.<name>.<option> for each of its options.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from attention_core.inputs.tokenizer import MAX_TEXT
from attention_core.record.errors import AttentionError
from pages.runs.cache import material_of
from pages.runs.token_vectors import spelled
from pages.setup.setup import BESIDES, LONGEST, MOST, MOST_NAMED, Setup, count, member
from pages.site.words import apart, has, language, literal, say, sentence

MOST_TOKENS = 16  # of a sentence in a lesson, whose pictures have a number for each; the workbench takes more
ALWAYS = ("ex", "open", "cell", "guess", "step")  # what the link of any lesson may say besides its controls


@dataclass
class Kept:
    """What a session keeps of a lesson: choices by name, as far as they are not the default; parts of the link that no
    control asked for yet, since it stands in a closed drawer; parts that could not be read; refused choices."""

    chosen: dict[str, object] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    unread: list[tuple[str, str]] = field(default_factory=list)
    refused: dict[str, AttentionError] = field(default_factory=dict)


def enter(slug: str) -> None:
    """Makes a lesson the one that is drawn. Who comes from elsewhere finds it as the link says, or as it was left."""
    lessons = st.session_state.setdefault("lessons", {})
    link = {key: text for key, text in st.query_params.to_dict().items() if key not in BESIDES}
    if slug not in lessons or (st.session_state["arrived"] and link):
        known = {key: text for key, text in link.items() if is_known(slug, key) and len(text) <= LONGEST}
        unknown = [(key[:40], link[key][:40]) for key in link if key not in known and not key.startswith("utm_")]
        lessons[slug] = Kept(waiting=known, unread=unknown[:MOST_NAMED])
    st.session_state["lesson"] = slug


def is_known(slug: str, name: str) -> bool:
    """Whether a lesson has a choice of this name."""
    return name in ALWAYS or has(f"lessons.{slug}.control.{name}")


def slug() -> str:
    """The lesson that is drawn."""
    return st.session_state["lesson"]


def kept() -> Kept:
    """What the session keeps of it."""
    return st.session_state["lessons"][slug()]


# ---- a choice --------------------------------------------------------------------------------------------------------
def choice(name: str, default: object, read: Callable[[str], object]) -> object:
    """What was chosen under a name, else what the link says, else the default."""
    own = kept()
    if name in own.waiting:
        text = own.waiting.pop(name)
        try:
            own.chosen[name] = read(text)
        except (ValueError, OverflowError):
            own.unread.append((name, text[:40]))
    return own.chosen.get(name, default)


def take(name: str, given: object, default: object, read: Callable[[str], object]) -> None:
    """Keeps what a control was set to, or why it cannot be. A browser may send anything: it is read as a link is."""
    own = kept()
    try:
        value = default if given is None or given == default else read(spoken(given))
    except AttentionError as refusal:
        own.refused[name] = refusal
        return
    except (ValueError, OverflowError):
        return
    own.refused.pop(name, None)
    own.chosen.pop(name, None)
    own.unread.clear()
    if value != default:
        own.chosen[name] = value


def keep(name: str, value: object) -> None:
    """Keeps a choice that was made without a control; None: the default."""
    kept().chosen.pop(name, None)
    if value is not None:
        kept().chosen[name] = value


def drawn(
    name: str, value: object, default: object, read: Callable[[str], object], label: str | None = None, of: str = ""
) -> dict[str, object]:
    """What every control is drawn with: its words, its key, what it holds, and what happens when it is set. of: makes
    it another control than the one of the same name that was drawn before."""
    key = f"{slug()}.{name}{of}"
    if name not in kept().refused or key not in st.session_state:  # what was refused stays in its control
        if key not in st.session_state or st.session_state[key] != value:  # set anew, it undoes a later press
            st.session_state[key] = value
        kept().refused.pop(name, None)
    label = say(f"lessons.{slug()}.control.{name}") if label is None else label
    return {"label": label, "key": key, "on_change": lambda: take(name, st.session_state.get(key), default, read)}


def show_refused(name: str) -> None:
    """The sentence of a refusal, at its control."""
    if name in kept().refused:
        st.error(sentence(kept().refused[name]), icon=":material/error:")


def spoken(value: object) -> str:
    """A choice as the link says it: parts, and parts of parts, between commas."""
    return ",".join(map(spoken, value)) if isinstance(value, tuple | list) else str(value)


# ---- the controls ----------------------------------------------------------------------------------------------------
def option(name: str) -> Callable[[str], str]:
    """The words of a control's options."""
    return lambda of: say(f"lessons.{slug()}.option.{name}.{of}")


def choose(
    name: str, options: Sequence[str], default: str | None = None, words: Callable[[str], str] | None = None, **how
) -> str:
    """One of a few named choices, all in sight; the default, or the first, where none was chosen, or none of these.
    words: of an option, where the lesson has none of its own. how: as st.segmented_control."""
    default = options[0] if default is None else default
    read = member(options)
    value = choice(name, default, read)
    value = value if value in options else default
    st.segmented_control(
        **drawn(name, value, default, read),
        options=options,
        format_func=words or option(name),
        required=True,
        wrap=True,  # into several rows on a phone, also in a row of controls
        **how,
    )
    return value


def choose_several(name: str, options: Sequence[str], default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Any number of named choices, all in sight."""

    def read(text: str) -> tuple[str, ...]:
        return tuple(map(member(options), filter(None, text.split(","))))

    value = choice(name, default, read)
    st.pills(
        **drawn(name, list(value), list(default), read),
        options=options,
        format_func=option(name),
        selection_mode="multi",
        wrap=True,
    )
    return value


def choose_place(name: str, labels: Sequence[str], label: str | None = None) -> int | None:
    """One of several positions by their labels, such as the tokens of a sentence; None where none was chosen."""
    read = place_of(len(labels))
    value = choice(name, None, read)
    value = value if value is None or value < len(labels) else None
    texts = apart([literal(text) for text in labels])
    st.pills(
        **drawn(name, value, None, read, label), options=range(len(labels)), format_func=texts.__getitem__, wrap=True
    )
    return value


def pick_place(name: str, labels: Sequence[str], default: int, **how) -> int:
    """The same in a list that opens, where there is always one."""
    read = place_of(len(labels))
    value = choice(name, default, read)
    value = value if value < len(labels) else default
    st.selectbox(
        **drawn(name, value, default, read),
        options=range(len(labels)),
        format_func=labels.__getitem__,
        filter_mode=None,
        **how,
    )
    return value


def place_of(size: int) -> Callable[[str], int]:
    """A reader of one of so many positions."""
    return lambda text: int(member([str(at) for at in range(size)])(text))


def switch(name: str, default: bool = False) -> bool:
    """On or off."""
    read = lambda text: member(("True", "False"))(text) == "True"  # noqa: E731
    value = choice(name, default, read)
    st.toggle(**drawn(name, value, default, read))
    return value


def slide(
    name: str,
    options: Sequence[float],
    default: float,
    written: Callable[[float], str] = "{:g}".format,
    others: Sequence[float] = (),
    moves: bool = False,
    **how,
) -> float:
    """One of a row of numbers on a slider; the default, where what was chosen is none of them any more. others: what a
    link may say besides, because other choices offer it. moves: whether the default moves by itself; with each it is
    another slider, as a browser that knows the old one only still says it. how: as st.select_slider."""
    known = {str(number): number for number in (*options, *others)}
    read = lambda text: known[member(known)(text)]  # noqa: E731
    value = choice(name, default, read)
    value = value if value in options else default
    control = drawn(name, value, default, read, of=f".{default}" if moves else "")
    st.select_slider(**control, options=options, format_func=written, **how)
    return value


def whole(name: str, default: int, **how) -> int:
    """A whole number, 0 or more, typed or stepped. how: as st.number_input."""
    value = choice(name, default, count)
    st.number_input(**drawn(name, value, default, count), min_value=0, max_value=MOST, step=1, **how)
    return value


def text_box(name: str, default: str, check: Callable[[str], object], tall: bool = False, **how) -> str:
    """A text that `check` must take (it raises AttentionError for any other); the last one that it took. tall: of
    several lines."""
    value, read = typed(name, default, check), taken(check)
    widget = st.text_area if tall else st.text_input
    with st.container(width=how.pop("width", "stretch")):  # the refusal under the box, also in a row of controls
        widget(**drawn(name, value, default, read), max_chars=MAX_TEXT, **how)
        show_refused(name)
    return value


def typed(name: str, default: str, check: Callable[[str], object]) -> str:
    """What text_box gives, without the box: for one that is not always in sight."""
    return choice(name, default, taken(check))


def taken(check: Callable[[str], object]) -> Callable[[str], str]:
    """A reader of the texts that `check` takes."""

    def read(text: str) -> str:
        check(text)
        return text

    return read


def sentence_box(setup: Setup, name: str = "text", part: str = "text", most: int = MOST_TOKENS) -> Setup:
    """The reader's own sentence in the place of an example's; part: the field of the Setup that holds it; most: of its
    tokens, where no picture has a number for each."""
    material = material_of(setup)
    own = spelled(material.keys if part == "context_text" else material.queries, setup)

    def check(text: str) -> None:
        typed = material_of(replace(setup, **{part: text}))
        for tokens in (typed.queries, typed.keys):
            check_tokens(tokens, most)

    text = text_box(name, own, check)
    return setup if text == own else replace(setup, **{part: text})


def check_tokens(tokens: Sequence[str], most: int = MOST_TOKENS) -> None:
    """Raises AttentionError where a sentence is too long for a lesson."""
    if len(tokens) > most:
        raise AttentionError("lesson_tokens", limit=most, given=len(tokens))


def pick_example(*names: str, zh: str | None = None, name: str = "ex") -> Setup:
    """One of a few examples to begin with. zh: the one that who reads Chinese finds, where that is not the first. name:
    of the choice, where a lesson has several."""
    usual = zh if zh and language() == "zh" else names[0]
    read = member(names)
    value = choice(name, usual, read)
    keep(name, value)  # always in the link: what it opens must not depend on who opens it
    st.selectbox(
        **drawn(name, value, None, read, say("control.example")),
        options=names,
        format_func=lambda example: say(f"example.{example}"),
        filter_mode=None,
    )
    return Setup(example=value)


# ---- the link --------------------------------------------------------------------------------------------------------
def show_link() -> None:
    """Writes what was chosen into the address bar, where it is not there yet."""
    own = kept()
    link = own.waiting | {name: spoken(value) for name, value in own.chosen.items()}
    if "lang" in st.session_state:
        link["lang"] = st.session_state["lang"]
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)
