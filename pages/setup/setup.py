"""Setup: the whole state of a page as plain values, and its link, which holds only differences from the example."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, fields, make_dataclass, replace
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from attention_core import AttentionConfig
from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.handmade_heads import HEAD_KINDS, read_head_kind
from attention_core.inputs.matrix_link import read_chosen, read_matrix, write_matrix
from attention_core.inputs.matrix_values import ChosenNumbers, ChosenValue, MatrixValue
from attention_core.learned.language.reading import layer_config
from attention_core.learned.language.readout import WordChoices
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import shipped_names, weights_revision
from attention_core.learned.training.snapshots import read_recipe
from attention_core.learned.translation.reading import cross_config
from attention_core.learned.translation.recipes import TRANSLATORS
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.plain_checks import require_positive
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError
from attention_core.verification.tensor_layout import TENSOR_LAYOUTS
from pages.setup.choice_text import (
    read_choice,
    read_mask,
    read_position,
    write_choice,
    write_mask,
    write_position,
)
from pages.setup.head_order import HEAD_ORDER_READERS
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
from pages.setup.stated_cut import TextReader, keep_cuts, state_cuts
from pages.setup.what_if import read_changes, read_intervention
from pages.setup.word_choices import WORD_CHOICE_ENDS, make_word_choice_reader
from pages.setup.word_roles import read_word_role
from pages.setup.writing import read_writing_link

DTYPES = ("float64", "float32", "bfloat16", "float16")
MAX_LINK_CHARS = 100_000  # characters of an address: a server refuses much longer ones
AXIS_ORDERS = {
    name.replace(" ", ""): name for name in TENSOR_LAYOUTS
}  # "BTHd": in which order the axes of brought tensors are
MAX_RUN_PAIRS = 2**21  # 8 heads of 512 tokens: sentences x heads x queries x keys of a run
# W_q = W_k = W_v; Q and K swapped; no positions; even weights in the place of the softmax's; x + output
WIRING = ("tied", "swapped", "bare", "even", "residual")
# What a language model is asked, each a panel under the picture; the first where none is said.
PANELS_FOLDER = Path(__file__).parents[1] / "panels" / "model"  # a module for each panel of a language model
PANEL_NAMES = tuple(sorted(file.stem for file in PANELS_FOLDER.glob("[!_]*.py")))
MAX_SHOWN_HEADS = 16  # as many small maps as a screen shows
MAX_UNKNOWN_KEYS_NAMED = 6  # parts of a link that nobody knows: more of them would fill the screen with refusals


@dataclass(frozen=True)
class LayerSetup:
    """The settings of a page but for the learned tensors of mechanisms."""

    example: str = "en_it"
    text: str | None = None
    context_text: str | None = None
    cross: bool | None = None
    x: MatrixValue | None = None
    context: MatrixValue | None = None
    q: MatrixValue | None = None
    k: MatrixValue | None = None
    v: MatrixValue | None = None
    w_q: MatrixValue | None = None
    w_k: MatrixValue | None = None
    w_v: MatrixValue | None = None
    w_o: MatrixValue | None = None
    b_q: MatrixValue | None = None
    b_k: MatrixValue | None = None
    b_v: MatrixValue | None = None
    b_o: MatrixValue | None = None
    allowed: MatrixValue | None = None
    scores: ChosenValue | None = None
    weights: ChosenValue | None = None
    more: str | None = None
    word_roles: tuple[str, ...] = ()
    cut: str | None = None
    network: str | None = None
    model: str | None = None
    layer: int | None = None
    file: str | None = None
    roles: tuple[str, ...] = ()
    axes: str | None = None
    part: tuple[int, ...] | None = None
    polarity: str | None = None
    mask_as: tuple[str, ...] = ()
    built: tuple[str, ...] | None = None
    wiring: tuple[str, ...] = ()
    heads: int | None = None
    kv_heads: int | None = None
    d_k: int | None = None
    d_v: int | None = None
    score: str | None = None
    scale: float | None = None
    temperature: float = 1.0
    masks: tuple[str, ...] | None = None
    positions: tuple[str, ...] | None = None
    modifiers: tuple[str, ...] | None = None
    normaliser: str = "softmax"
    dtype: str = "float64"
    device: str = "cpu"
    seed: int = 0
    sentence: int | None = None
    token: int | None = None
    head: int | None = None
    step: str | None = None
    stop: str | None = None
    cell: tuple[int, ...] | None = None
    ramp: str | None = None
    panel: str | None = None
    heads_by: str | None = None
    heads_least: float | None = None
    heads_from: int | None = None
    heads_to: int | None = None
    word_temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    word_seed: int | None = None
    written: str | None = None
    changes: tuple[str, ...] = ()
    held: str | None = None
    other_text: str | None = None
    circuit_words: str | None = None
    against: str | None = None
    pinned: str | None = None


FurtherMatrices = make_dataclass(
    "FurtherMatrices",
    [(name, MatrixValue | None, None) for name in LEARNED_TENSORS],
    bases=(LayerSetup,),
    frozen=True,
)


class Setup(FurtherMatrices):
    """What is on the screen. None means: as the example has it.

    text, context_text: typed sentences; more: further ones, one a line, that make a batch, and sentence the one of
    them that is looked at. word_roles: what words are that the dictionary does not have, "word:role". cut:
    "characters" where Chinese is cut into characters, not into words. built: the heads built by hand, "name" or
    "offset:-1". wiring: what is changed in the layer, of WIRING. scores, weights: numbers chosen in the place of
    computed ones. network: a trained one by its recipe, which a learned example
    puts in the place of its own. file: the name of tensors that this session has brought, roles "q:number of an
    array", axes their order, part batch, heads, queries and keys as first and count, polarity "blocked" where True
    in their mask means blocked, mask_as how their masks are read, "mask:T.S:allowed".
    x, context, q, k, v, w_*, ..., allowed, and what mechanisms learn besides: each a MatrixValue, whose text in a link
    matrix_link.py reads and writes. masks, positions, modifiers, normaliser: "name" or "name:number:number".
    token: the chosen query; step and cell: what is opened; stop: the step at which the query's way rests, "start",
    "end", or "plane" where vectors are dragged. ramp: "times" where the weights' colours count in even shares,
    "shares" where they go from 0 to 1. panel: what a language model is asked, of PANEL_NAMES. heads_by, heads_least: by
    which measure all its heads stand in order, of HEAD_ORDERS, and how much of it the last one shown has; heads_from,
    heads_to: the pair of words by whose weight they stand instead.
    word_temperature, top_k, top_p: of the words that come out of it; word_seed: from which the next word is drawn, None
    for the likeliest; written: the words that it wrote behind some of the sentence's, "the dog | ate .". changes: what
    is changed in the language model, "2.1:off"; held: "norms" where they divide as they did before; other_text: a
    second sentence, whose weights a head may take. circuit_words: those that stand beside the sentence's own where
    heads are asked of words alone. against: the link of the Setup from which every map shows the difference. pinned:
    where that one is A, which stays while this one, B, is changed, and stands beside it; all other maps show B
    ("values") or B - A ("difference").
    """


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
DEFAULT_SETUP = Setup()
STARTS = {"zh": "zh_ta"}  # the example that a reader of a language finds, where that is not the default's
OTHER_LINK_KEYS = ("lang", "embed", "embed_options", "control")  # keys of a link that are no part of a Setup


def link_key_of(name: str) -> str:
    """A field's name in a link."""
    return LINK_KEYS_BY_FIELD.get(name, name)


REVISION_KEY = "rev"  # the weights of the language model with which a link was made
MATRIX_FIELDS = tuple(field.name for field in fields(Setup) if field.type == MatrixValue | None)
LINK_KEYS = frozenset(link_key_of(field.name) for field in fields(Setup)) | {REVISION_KEY}


def setup_to_link(setup: Setup) -> dict[str, str]:
    """The query parameters with the differences of a Setup from its example."""
    link = {}
    for field in fields(Setup):
        value = getattr(setup, field.name)
        if value != field.default:
            link[link_key_of(field.name)] = format_link_value(value)
    stated = stated_cut_of(setup)
    if stated:
        link["cut"] = stated
    revision = revision_of(setup)
    return link if revision is None else link | {REVISION_KEY: revision}


CUT_TEXT_FIELDS = ("text", "context_text", "more", "other_text", "circuit_words")  # in the order in which a link says


def stated_cut_of(setup: Setup) -> str:
    """The word lengths of a Setup's typed Chinese texts in link form, so that newer word lists keep them."""
    texts = cut_texts_of(setup)
    return "" if setup.cut or not texts else state_cuts(tuple(texts.values()), text_reader_of(setup))


def cut_texts_of(setup: Setup) -> dict[str, str]:
    """The typed texts by field that are segmented into words; none for a network, which reads symbols."""
    if network_of(setup) is not None:
        return {}
    texts = {name: getattr(setup, name) for name in CUT_TEXT_FIELDS}
    return {name: text for name, text in texts.items() if text and not text.isascii()}


def text_reader_of(setup: Setup) -> TextReader:
    """The word segmentation of typed texts: that of the grammar's models, or of the example's dictionary."""
    if model_of(setup) is not None or translator_of(setup) is not None:
        return TextReader(None)
    lexicon = EXAMPLES[setup.example].lexicon
    return TextReader(frozenset() if lexicon is None else frozenset(lexicon.vectors))


def with_stated_cut(setup: Setup, stated: str) -> Setup:
    """A Setup whose texts are segmented as a link states. Raises ValueError if that does not fit them."""
    texts = cut_texts_of(setup)
    kept = keep_cuts(tuple(texts.values()), stated, text_reader_of(setup))
    return replace(setup, **dict(zip(texts, kept, strict=True)))


def state_text_cut(setup: Setup, text: str) -> str:
    """The word lengths of one text in link form; empty if no word list decides them."""
    is_cut = network_of(setup) is None and not setup.cut and not text.isascii()
    return state_cuts((text,), text_reader_of(setup)) if is_cut else ""


def keep_text_cut(setup: Setup, text: str, stated: str) -> str:
    """One text of a Setup, segmented as a link states. Raises ValueError if that does not fit it."""
    (kept,) = keep_cuts((text,), stated, text_reader_of(setup))
    return kept


def revision_of(setup: Setup) -> str | None:
    """The weights of a Setup's language model or translator, by their fingerprint; None without one, or where it is not
    shipped."""
    translator, model = translator_of(setup), model_of(setup)
    if translator is not None:
        return TRANSLATORS.revision(translator)
    return weights_revision(model) if model in shipped_names() else None


def start_in(language: str) -> Setup:
    """The Setup with which a session in a language starts."""
    return Setup(example=STARTS.get(language, DEFAULT_SETUP.example))


def to_address(setup: Setup, language: str) -> dict[str, str]:
    """The query parameters of a Setup; the example if they are empty but the language starts with another Setup."""
    link = setup_to_link(setup)
    return link if link or start_in(language) == setup else {link_key_of("example"): setup.example}


def format_link_value(value: object) -> str:
    """A field's value as text of a link."""
    if isinstance(value, MatrixValue | ChosenNumbers):
        return write_matrix(value)
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_link_values(parts: Mapping[str, object]) -> None:
    """Raises AttentionError for a value that no link can hold: a browser may send what no control offers."""
    for name, value in parts.items():
        if value == getattr(DEFAULT_SETUP, name) or isinstance(value, MatrixValue | ChosenNumbers):
            continue
        text, read = format_link_value(value), FIELD_READERS.get(name, str)
        try:
            read_back = read(text)
        except (ValueError, OverflowError):
            read_back = None
        if read_back != value:
            raise AttentionError("link_cannot_say", name=name, given=text[:40])


def setup_to_query(setup: Setup) -> str:
    """The link of a Setup as one text, without view fields: the form of `against`."""
    return urlencode(setup_to_link(without_view(setup)))


def setup_from_query(text: str) -> Setup:
    """The Setup of a link given as one text."""
    setup, _ = setup_from_link(dict(parse_qsl(text, keep_blank_values=True)))
    return setup


def compared_setup_of(setup: Setup) -> Setup | None:
    """The Setup in `against`, or None."""
    return None if setup.against is None else setup_from_query(setup.against)


def pinned_setup_of(setup: Setup) -> Setup | None:
    """The Setup pinned as A, or None."""
    return None if setup.pinned is None else compared_setup_of(setup)


WHAT_IF_FIELDS = ("changes", "held", "other_text")
VIEW_FIELDS = (
    "sentence",
    "token",
    "head",
    "step",
    "stop",
    "cell",
    "ramp",
    "panel",
    *HEAD_ORDER_READERS,
    *WORD_CHOICE_ENDS,
    "written",
    *WHAT_IF_FIELDS,
    "circuit_words",
    "against",
    "pinned",
)


@lru_cache(maxsize=64)  # called a dozen times in a run of the script
def without_view(setup: Setup) -> Setup:
    """A Setup with default VIEW_FIELDS: the key of caches, so that a new selection computes nothing."""
    return replace(setup, **{name: getattr(DEFAULT_SETUP, name) for name in VIEW_FIELDS})


def with_view_of(setup: Setup, other: Setup) -> Setup:
    """A Setup with the VIEW_FIELDS of another one."""
    return replace(setup, **{name: getattr(other, name) for name in VIEW_FIELDS})


def check_link_length(setup: Setup) -> None:
    """Raises AttentionError if the address of a Setup is too long to be opened again."""
    given = len(urlencode(setup_to_link(setup)))
    if given > MAX_LINK_CHARS:
        raise AttentionError("link_too_long", limit=MAX_LINK_CHARS, given=given)


def setup_from_link(link: Mapping[str, str]) -> tuple[Setup, list[tuple[str, str]]]:
    """The Setup a link describes, and its parts that could not be read as (key, text): those keep their defaults.

    A key that nobody knows is a slip, or comes from a newer version: it is such a part too; so are weights of a
    language model that are no longer shipped, for which the newest are taken. Marks that mail programs add to an
    address (utm_...) are none.
    """
    values, refused = {}, []
    stated = link.get("cut", "characters")
    if stated != "characters":
        link = {key: text for key, text in link.items() if key != "cut"}
    for field in fields(Setup):
        key = link_key_of(field.name)
        if key not in link:
            continue
        text = link[key]
        read = FIELD_READERS.get(field.name, str)
        try:
            if len(text) > MAX_LINK_CHARS:
                raise ValueError
            values[field.name] = read(text)
        except (ValueError, OverflowError):
            refused.append((key, text[:40]))
    setup = replace(DEFAULT_SETUP, **values)
    if stated != "characters":
        try:
            setup = with_stated_cut(setup, stated[:MAX_LINK_CHARS])
        except ValueError:
            refused.append(("cut", stated[:40]))
    revision = revision_of(setup)
    if revision is not None and link.get(REVISION_KEY, revision) != revision:
        refused.append((REVISION_KEY, link[REVISION_KEY][:40]))
    return setup, refused + list_unknown_parts(link, LINK_KEYS.union(OTHER_LINK_KEYS))


def link_trouble(key: str, known: Container[str]) -> str:
    """Why a part of a link could not be read: the last part of the message's key."""
    if key == REVISION_KEY:
        return "revision"
    return "unread" if key in known else "unknown"


def is_campaign_mark(key: str) -> bool:
    """Whether a query parameter is a campaign mark (utm_...), which is no state of a page."""
    return key.startswith("utm_")


def list_unknown_parts(link: Mapping[str, str], known: Container[str]) -> list[tuple[str, str]]:
    """The parts of a link with unknown keys as (key, text), at most MAX_UNKNOWN_KEYS_NAMED."""
    unknown = [key for key in link if key not in known and not is_campaign_mark(key)]
    return [(key[:40], link[key][:40]) for key in unknown[:MAX_UNKNOWN_KEYS_NAMED]]


def read_other_setup_link(text: str) -> str:
    """The link of another Setup, checked: fully readable, and compared with none itself."""
    parts = parse_qsl(text, keep_blank_values=True, max_num_fields=len(fields(Setup)))
    setup, refused = setup_from_link(dict(parts))
    unread = [key for key, _ in refused if key != REVISION_KEY]
    if unread or setup.against is not None:
        raise ValueError(text)
    return setup_to_query(setup)


def read_changes_link(text: str) -> tuple[str, ...]:
    """The interventions of a link, checked: each head and feed-forward layer at most once."""
    parts = make_choices_reader(read_intervention)(text)
    read_changes(parts)
    return parts


FIELD_READERS = {
    **dict.fromkeys(MATRIX_FIELDS, read_matrix),
    "scores": read_chosen,
    "weights": read_chosen,
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
    "panel": make_member_reader(PANEL_NAMES),
    **HEAD_ORDER_READERS,
    **{name: make_word_choice_reader(name) for name in WORD_CHOICE_ENDS},
    "written": read_writing_link,
    "changes": read_changes_link,
    "held": make_member_reader(("norms",)),
    "circuit_words": read_short_text,
    "against": read_other_setup_link,
    "pinned": make_member_reader(("values", "difference")),
}


# ---- the choices as the core takes them ------------------------------------------------------------------------------
def input_mode_of(setup: Setup) -> str:
    """The kind of input: "sentence", "matrix", "qkv", "file", or "code", the tensors of the example's listing."""
    if setup.file is not None:
        return "file"
    if setup.q is not None:
        return "qkv"
    if setup.x is not None:
        return "matrix"
    example = EXAMPLES[setup.example]
    if example.code is not None and setup.text is None:
        return "code"
    ships_qkv = example.q is not None
    return "qkv" if ships_qkv and setup.text is None else "sentence"


@dataclass(frozen=True)
class InputChoice:
    """What a Setup says of its input. mode: as input_mode_of gives it; crossed: whether keys and values
    come from a second sequence; built: the heads built by hand; network: the trained one that makes the vectors."""

    mode: str
    crossed: bool
    built: tuple[tuple[str, int], ...]
    network: str | None
    model: str | None = None
    layer: int | None = None
    translator: str | None = None


def input_choice_of(setup: Setup) -> InputChoice:
    """The InputChoice of a Setup."""
    return InputChoice(
        mode=input_mode_of(setup),
        crossed=is_cross_attention(setup),
        built=built_heads_of(setup),
        network=network_of(setup),
        model=model_of(setup),
        layer=layer_of(setup),
        translator=translator_of(setup),
    )


def network_of(setup: Setup) -> str | None:
    """The trained network that makes vectors and matrices, by its recipe's name; none where heads built by hand do, or
    where the example has none."""
    own = EXAMPLES[setup.example].network
    if own is None or built_heads_of(setup):
        return None
    return setup.network or own


def model_of(setup: Setup) -> str | None:
    """The language model that makes vectors and matrices, by its name; none where the example has none, or where heads
    built by hand do, or q, k and v are given."""
    own = EXAMPLES[setup.example].model
    if own is None or built_heads_of(setup) or input_mode_of(setup) in ("qkv", "file"):
        return None
    return setup.model or own


def translator_of(setup: Setup) -> str | None:
    """The translator that makes vectors and matrices, by its name; none where the example has none, or where its words
    attend to each other."""
    own = EXAMPLES[setup.example].translator
    return own if own and is_cross_attention(setup) and input_mode_of(setup) == "sentence" else None


def layer_of(setup: Setup) -> int | None:
    """The layer of the language model, counted from 1; none without one."""
    if model_of(setup) is None:
        return None
    return EXAMPLES[setup.example].layer if setup.layer is None else setup.layer


def word_choices_of(setup: Setup) -> WordChoices:
    """The sampling settings of the language model."""
    return WordChoices(setup.word_temperature or 1.0, setup.top_k, setup.top_p or 1.0)


def learned_config_of(setup: Setup) -> AttentionConfig | None:
    """The choices that a language model or a translator was trained with; none without one. Raises AttentionError:
    at_most."""
    translator, model = translator_of(setup), model_of(setup)
    if translator is not None:
        return cross_config(translator)
    return None if model is None else layer_config(model, layer_of(setup))


def positions_of(setup: Setup) -> tuple[str, ...]:
    """The position encodings: the chosen ones, else the model's or the example's."""
    return own_positions_of(setup) if setup.positions is None else setup.positions


def own_positions_of(setup: Setup) -> tuple[str, ...]:
    """The default position encodings: the model's or the example's."""
    learned = learned_config_of(setup)
    if learned is None:
        return EXAMPLES[setup.example].positions
    return tuple(write_position(name, params) for name, params in learned.positions)


def to_positions_field(setup: Setup, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Position encodings as a Setup's field: None if they are the defaults."""
    return None if names == own_positions_of(setup) else names


def modifiers_of(setup: Setup) -> tuple[str, ...]:
    """The modifiers: the chosen ones, else the model's."""
    return own_modifiers_of(setup) if setup.modifiers is None else setup.modifiers


def own_modifiers_of(setup: Setup) -> tuple[str, ...]:
    """The default modifiers: the model's, or none."""
    learned = learned_config_of(setup)
    if learned is None:
        return ()
    return tuple(write_choice(name, params, MODIFIERS) for name, params in learned.modifiers)


def to_modifiers_field(setup: Setup, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Modifiers as a Setup's field: None if they are the defaults."""
    return None if names == own_modifiers_of(setup) else names


def is_cross_attention(setup: Setup) -> bool:
    """Whether keys and values come from a second sequence."""
    if setup.cross is not None:
        return setup.cross
    example = EXAMPLES[setup.example]
    return example.q is None and example.context_tokens is not None


def built_heads_of(setup: Setup) -> tuple[tuple[str, int], ...]:
    """The heads built by hand, as (name, offset): they make the x of one sentence, or of several, themselves."""
    if input_mode_of(setup) != "sentence" or is_cross_attention(setup):
        return ()
    built = setup.built
    if built is None:
        built = EXAMPLES[setup.example].built
    return tuple(map(read_head_kind, built))


def config_of(setup: Setup) -> AttentionConfig:
    """The AttentionConfig of a Setup; what is None in the Setup is the example's."""
    example, built = EXAMPLES[setup.example], built_heads_of(setup)
    masks, heads = setup.masks, setup.heads
    learned = learned_config_of(setup)
    if masks is None:
        masks = example.masks if learned is None else tuple(write_mask(*mask) for mask in learned.masks)
    if heads is None:
        heads = len(built) or example.heads
    if require_positive("heads", heads) > MAX_SHOWN_HEADS:
        raise AttentionError("at_most", name="heads", limit=MAX_SHOWN_HEADS, given=heads)
    return AttentionConfig(
        score=setup.score or example.score,
        scale=setup.scale,
        temperature=setup.temperature,
        heads=heads,
        kv_heads=setup.kv_heads,
        masks=tuple(map(read_mask, masks)),
        positions=tuple(map(read_position, positions_of(setup))),
        modifiers=tuple(read_choice(text, MODIFIERS) for text in modifiers_of(setup)),
        normaliser=read_choice(setup.normaliser, NORMALISERS),
        dropout=example.dropout if input_mode_of(setup) == "code" else None,
        replace="uniform" if "even" in setup.wiring else None,
        residual="residual" in setup.wiring or learned is not None,
    )
