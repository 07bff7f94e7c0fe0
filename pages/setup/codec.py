"""Writes Setups as links, and parses links and their fields; a link states only the differences from the example."""

from collections.abc import Container, Mapping
from dataclasses import fields
from urllib.parse import parse_qsl, urlencode

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.handmade_heads import HEAD_KINDS
from attention_core.inputs.matrix_link import read_chosen, read_matrix, write_matrix
from attention_core.inputs.matrix_values import ChosenNumbers, MatrixValue
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import shipped_names, weights_revision
from attention_core.learned.training.snapshots import read_recipe
from attention_core.learned.translation.recipes import TRANSLATORS
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError
from pages.setup.choice_text import read_choice, read_mask, read_position
from pages.setup.link_values import (
    make_choice_reader,
    make_choices_reader,
    make_member_reader,
    make_numbered_reader,
    read_array_roles,
    read_link_count,
    read_link_digest,
    read_link_indices,
    read_link_number,
    read_mask_answer,
    read_short_text,
)
from pages.setup.map_link import read_map_link
from pages.setup.model_fields import HEAD_ORDER_READERS, WORD_CHOICE_ENDS, make_word_choice_reader, read_writing_link
from pages.setup.resolve import resolve_run
from pages.setup.setup import (
    AXIS_ORDERS,
    CHOSEN_FIELDS,
    DTYPES,
    MATRIX_FIELDS,
    PANEL_NAMES,
    WIRING,
    Comparison,
    RunSetup,
    Setup,
    View,
    make_setup,
    start_in,
)
from pages.setup.stated_cut import TextReader, keep_cuts, state_cuts
from pages.setup.what_if import read_changes, read_intervention
from pages.setup.word_roles import read_word_role

MAX_LINK_CHARS = 100_000  # most characters of an address; servers refuse much longer ones
MAX_UNKNOWN_KEYS_NAMED = 6  # most unknown keys of a link that are listed, so that the errors fit on the screen
# keys of a link that are not fields of a Setup
OTHER_LINK_KEYS = ("lang", "embed", "embed_options", "control", "side_panel")
REVISION_KEY = "rev"  # link key of a fingerprint of the language model's weights, to notice if the weights changed
LINK_KEYS_BY_FIELD = {
    "example": "ex",
    "context_text": "ctx",
    "word_roles": "role",
    "heads": "heads",
    "kv_heads": "kv",
    "temperature": "temp",
    "masks": "mask",
    "positions": "pos",
    "modifiers": "mod",
    "normaliser": "norm",
    "token": "t",
}
DEFAULTS = {
    field.name: field.default
    for part in (RunSetup, View, Comparison)
    for field in fields(part)
    if field.name not in LEARNED_TENSORS
} | dict.fromkeys(LEARNED_TENSORS)  # field of a Setup -> its default, in the order in which a link has the fields


def link_key_of(name: str) -> str:
    """Returns the short name under which a link has a field of a Setup, such as "ex" for "example"."""
    return LINK_KEYS_BY_FIELD.get(name, name)


LINK_KEYS = frozenset(map(link_key_of, DEFAULTS)) | {REVISION_KEY}


# ---- writing ---------------------------------------------------------------------------------------------------------
def setup_to_link(setup: Setup) -> dict[str, str]:
    """Returns the query parameters of a Setup: its differences from its example."""
    link = {}
    for name, default in DEFAULTS.items():
        value = setup.value_of(name)
        if value != default:
            link[link_key_of(name)] = format_link_value(value)
    texts = {} if setup.run.cut else cut_texts_of(setup)
    if stated := texts and state_cuts(tuple(texts.values()), text_reader_of(setup.run)):
        link["cut"] = stated  # "cut" states how the texts are split into words, in case the word lists change later
    revision = revision_of(setup.run)
    return link if revision is None else link | {REVISION_KEY: revision}


def format_link_value(value: object) -> str:
    """Returns the value of a field as the text of a query parameter."""
    if isinstance(value, MatrixValue | ChosenNumbers):
        return write_matrix(value)
    if isinstance(value, RunSetup):
        return run_to_query(value)
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def run_to_query(run: RunSetup) -> str:
    """Returns the fields of a run as one query string, which the field `against` of another link can contain."""
    return urlencode(setup_to_link(Setup(run)))


def to_address(setup: Setup, language: str) -> dict[str, str]:
    """Returns the query parameters of a Setup's address: its differences from its example.

    Without any difference, the only parameter is the example, unless sessions in this language start with it.
    """
    link = setup_to_link(setup)
    return link if link or start_in(language) == setup else {link_key_of("example"): setup.run.example}


def check_link_length(setup: Setup) -> None:
    """Raises AttentionError if the address of a Setup is too long to be opened again."""
    given = len(urlencode(setup_to_link(setup)))
    if given > MAX_LINK_CHARS:
        raise AttentionError("link_too_long", limit=MAX_LINK_CHARS, given=given)


def check_link_values(parts: Mapping[str, object]) -> None:
    """Raises AttentionError for a value that a link cannot contain.

    The check is needed because a browser may send values that no control offers.
    """
    for name, value in parts.items():
        if value == DEFAULTS[name] or isinstance(value, MatrixValue | ChosenNumbers):
            continue
        text, read = format_link_value(value), FIELD_READERS.get(name, str)
        try:
            read_back = read(text)
        except (ValueError, OverflowError):
            read_back = None
        if read_back != value:
            raise AttentionError("link_cannot_say", name=name, given=text[:40])


def revision_of(run: RunSetup) -> str | None:
    """Returns the fingerprint of the weights of a run's language model or translator.

    Returns None if the run uses no model that is supplied with the app.
    """
    resolved = resolve_run(run)
    if resolved.translator is not None:
        return TRANSLATORS.revision(resolved.translator)
    return weights_revision(resolved.model) if resolved.model in shipped_names() else None


# ---- the segmentation of Chinese texts -------------------------------------------------------------------------------
# fields whose texts are split into words, in the order of "cut"
CUT_TEXT_FIELDS = ("text", "context_text", "more", "other_text", "circuit_words")


def cut_texts_of(setup: Setup) -> dict[str, str]:
    """Returns {field: typed text to split into words}; {} for a trained network, whose tokens are symbols."""
    if resolve_run(setup.run).network is not None:
        return {}
    texts = {name: setup.value_of(name) for name in CUT_TEXT_FIELDS}
    return {name: text for name, text in texts.items() if text and not text.isascii()}


def text_reader_of(run: RunSetup) -> TextReader:
    """Returns the reader that splits a run's typed texts into words: by the grammar's words or by a dictionary.

    For a language model or translator, the reader uses the words of the grammar, else the example's dictionary.
    """
    resolved = resolve_run(run)
    if resolved.model is not None or resolved.translator is not None:
        return TextReader(None)
    lexicon = EXAMPLES[run.example].lexicon
    return TextReader(frozenset() if lexicon is None else frozenset(lexicon.vectors))


def with_stated_cut(setup: Setup, stated: str) -> Setup:
    """Returns a Setup whose texts are split into words of the lengths that the query parameter "cut" of a link states.

    Raises ValueError if "cut" does not fit the texts.
    """
    texts = cut_texts_of(setup)
    kept = keep_cuts(tuple(texts.values()), stated, text_reader_of(setup.run))
    return setup.with_fields(**dict(zip(texts, kept, strict=True)))


def state_text_cut(run: RunSetup, text: str) -> str:
    """Returns the word lengths of one text as the query parameter "cut"; "" if the text is not split by a word list."""
    is_cut = resolve_run(run).network is None and not run.cut and not text.isascii()
    return state_cuts((text,), text_reader_of(run)) if is_cut else ""


def keep_text_cut(run: RunSetup, text: str, stated: str) -> str:
    """Returns a text of a run, split into words of the lengths that the query parameter "cut" of a link states.

    Raises ValueError if "cut" does not fit the text.
    """
    (kept,) = keep_cuts((text,), stated, text_reader_of(run))
    return kept


# ---- reading ---------------------------------------------------------------------------------------------------------
def setup_from_link(link: Mapping[str, str]) -> tuple[Setup, list[tuple[str, str]]]:
    """Returns the Setup of a link, and the parts of the link that could not be parsed, as (key, text).

    The fields of such parts keep their defaults. Unknown keys, from typing errors or newer versions, count as such
    parts. So does the fingerprint of a language model whose weights the app no longer includes; the newest weights are
    used instead. Campaign marks (utm_...) are ignored.
    """
    values, refused = {}, []
    stated = link.get("cut", "characters")
    if stated != "characters":
        link = {key: text for key, text in link.items() if key != "cut"}
    for name in DEFAULTS:
        key = link_key_of(name)
        if key not in link:
            continue
        text = link[key]
        read = FIELD_READERS.get(name, str)
        try:
            if len(text) > MAX_LINK_CHARS:
                raise ValueError
            values[name] = read(text)
        except (ValueError, OverflowError):
            refused.append((key, text[:40]))
    for name in name_unused(make_setup(**values).run):
        del values[name]
        refused.append((link_key_of(name), link[link_key_of(name)][:40]))
    setup = make_setup(**values)
    if stated != "characters":
        try:
            setup = with_stated_cut(setup, stated[:MAX_LINK_CHARS])
        except ValueError:
            refused.append(("cut", stated[:40]))
    revision = revision_of(setup.run)
    if revision is not None and link.get(REVISION_KEY, revision) != revision:
        refused.append((REVISION_KEY, link[REVISION_KEY][:40]))
    return setup, refused + list_unknown_parts(link, LINK_KEYS.union(OTHER_LINK_KEYS))


def name_unused(run: RunSetup) -> list[str]:
    """Returns the fields of a run that name a language model, its layer or a network, although the run's example uses
    none.

    They must be refused, because the page would otherwise show the example's own kind of run.
    """
    example = EXAMPLES[run.example]
    places = {"model": example.model, "layer": example.model or run.recorded, "network": example.network}
    return [name for name, place in places.items() if place is None and getattr(run, name) is not None]


def run_from_query(text: str) -> RunSetup:
    """Parses the query string of a run, as run_to_query writes it, to a RunSetup."""
    setup, _ = setup_from_link(dict(parse_qsl(text, keep_blank_values=True)))
    return setup.run


def read_compared_run(text: str) -> RunSetup:
    """Parses the value of the field `against`: the link of the run with which another one is compared.

    Raises ValueError if any part of the run's link cannot be parsed, or if this link contains `against` itself.
    """
    parts = parse_qsl(text, keep_blank_values=True, max_num_fields=len(DEFAULTS))
    setup, refused = setup_from_link(dict(parts))
    unread = [key for key, _ in refused if key != REVISION_KEY]
    if unread or setup.comparison.against is not None:
        raise ValueError(text)
    return setup.run


def link_trouble(key: str, known: Container[str]) -> str:
    """Returns why a part of a link was not used, as the last part of a message key: "revision", "unread" or "unknown".

    known: the keys that a link can have.
    """
    if key == REVISION_KEY:
        return "revision"
    return "unread" if key in known else "unknown"


def is_campaign_mark(key: str) -> bool:
    """Returns whether a query parameter is a campaign mark (utm_...), which is not part of a page's state."""
    return key.startswith("utm_")


def list_unknown_parts(link: Mapping[str, str], known: Container[str]) -> list[tuple[str, str]]:
    """Returns the parts of a link whose keys are unknown, as (key, text); at most MAX_UNKNOWN_KEYS_NAMED parts."""
    unknown = [key for key in link if key not in known and not is_campaign_mark(key)]
    return [(key[:40], link[key][:40]) for key in unknown[:MAX_UNKNOWN_KEYS_NAMED]]


def read_changes_link(text: str) -> tuple[str, ...]:
    """Parses the interventions of a link; raises an error if a head or feed-forward layer has more than one."""
    parts = make_choices_reader(read_intervention)(text)
    read_changes(parts)
    return parts


FIELD_READERS = {
    **dict.fromkeys(MATRIX_FIELDS, read_matrix),
    **dict.fromkeys(CHOSEN_FIELDS, read_chosen),
    "example": make_member_reader(EXAMPLES),
    "network": lambda text: read_recipe(text).name,
    "model": make_member_reader(RECIPES),
    "layer": read_link_count,
    "cut": make_member_reader(("characters",)),
    "word_roles": make_choices_reader(read_word_role),
    "cross": lambda text: make_member_reader(("True", "False"))(text) == "True",
    "heads": read_link_count,
    "kv_heads": read_link_count,
    "d_k": read_link_count,
    "d_v": read_link_count,
    "sentence": read_link_count,
    "recorded": read_link_digest,
    "file": read_link_digest,
    "roles": read_array_roles,
    "axes": make_member_reader(AXIS_ORDERS),
    "part": read_link_indices,
    "polarity": make_member_reader(("blocked",)),
    "mask_as": make_choices_reader(read_mask_answer),
    "built": make_choices_reader(make_numbered_reader(HEAD_KINDS)),
    "wiring": make_choices_reader(make_member_reader(WIRING)),
    "score": make_member_reader(SCORES),
    "scale": read_link_number,
    "temperature": read_link_number,
    "masks": make_choices_reader(read_mask),
    "positions": make_choices_reader(read_position),
    "modifiers": make_choices_reader(lambda text: read_choice(text, MODIFIERS)),
    "normaliser": make_choice_reader(lambda text: read_choice(text, NORMALISERS)),
    "dtype": make_member_reader(DTYPES),
    "device": make_member_reader(("cpu", "cuda")),
    "seed": read_link_count,
    "token": read_link_count,
    "head": read_link_count,
    "cell": read_link_indices,
    "ramp": make_member_reader(("times", "shares")),
    "maps": read_map_link,
    "side": make_member_reader(("a", "b")),
    "panel": make_member_reader(PANEL_NAMES),
    **HEAD_ORDER_READERS,
    **{name: make_word_choice_reader(name) for name in WORD_CHOICE_ENDS},
    "written": read_writing_link,
    "changes": read_changes_link,
    "held": make_member_reader(("norms",)),
    "circuit_words": read_short_text,
    "against": read_compared_run,
    "pinned": make_member_reader(("values", "difference")),
}
