"""Links: every Setup comes back from its link bit by bit, and no link, however broken, does harm."""

import math
from functools import lru_cache
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_link import read_matrix
from attention_core.inputs.matrix_values import UNCHANGED, ChangedCells, ChosenNumbers, PackedNumbers, WholeMatrix
from attention_core.learned.training.courses import COURSES
from attention_core.mechanism.config import LEARNED_TENSORS, OWNERS
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.scores import SCORES
from attention_core.record.errors import AttentionError
from pages.runs.compute import compute_run as computed_with_inputs
from pages.runs.compute import count_queries_and_keys, gather_inputs
from pages.runs.devices import AVAILABLE_DEVICES
from pages.runs.sentences import to_matrix
from pages.setup.choice_text import read_mask, read_position, write_mask, write_position
from pages.setup.codec import (
    DEFAULTS,
    MAX_LINK_CHARS,
    MAX_UNKNOWN_KEYS_NAMED,
    link_key_of,
    run_from_query,
    setup_from_link,
    setup_to_link,
)
from pages.setup.link_values import MAX_WHOLE_NUMBER
from pages.setup.resolve import config_of, resolve_run
from pages.setup.setup import DEFAULT_SETUP, DTYPES, MAX_SHOWN_HEADS, WIRING, Setup, make_setup
from pages.setup.word_roles import known_roles, write_word_role
from tests.often import often

MOST_BYTES = 64 * 2**20  # of one run: every visitor's runs are kept for a while
LINK_KEYS = [link_key_of(name) for name in DEFAULTS]
MATRICES = (
    "x",
    "context",
    "q",
    "k",
    "v",
    "w_q",
    "w_k",
    "w_v",
    "w_o",
    "b_q",
    "w_a",
    "w_aq",
    "w_ak",
    "v_a",
    "allowed",
    "b_k",
    "b_v",
    "b_o",
)
LONG_SENTENCE = " ".join(["tired"] * 64)


def through_a_browser(link):
    """The query parameters as they arrive after they were an address."""
    return {key: values[-1] for key, values in parse_qs(urlencode(link), keep_blank_values=True).items()}


def size_of(trace):
    return sum(step.value.numel() * step.value.element_size() for step in trace.steps.values())


def assert_same_bits(one, other):
    assert list(one.steps) == list(other.steps)
    assert one.labels == other.labels
    for name, step in one.steps.items():
        value = other[name]
        assert (step.value.dtype, step.dims) == (value.dtype, other.step(name).dims), name
        bits = [tensor.contiguous().view(torch.uint8).numpy().tobytes() for tensor in (step.value, value)]
        assert step.value.shape == value.shape and bits[0] == bits[1], name


def compute(setup):
    """The run of a Setup."""
    trace, _ = computed_with_inputs(setup.run)
    return trace


# ---- Setups that can be computed -------------------------------------------------------------------------------------
HOSTILE_TOKENS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "**bold** _it_ `code`",
    "$x^2$",
    ":red[x] :smile:",
    "a&b=c#d?e+f%20",
    "100%",
    "\u202eevil",
    "e\u0301",
    "👩\u200d🚀",
    "{0} {name}",
    "~1.1=2;3,4",
    "none",
    "\x00\x1b[31m",
    "https://example.com/?ex=zh_ta",
    "اَلْعَرَبِيَّةُ",
    "狗狗",
]
TYPED_TOKENS = st.text(st.characters(codec="utf-8", exclude_characters="|"), min_size=1, max_size=12).filter(
    lambda token: token == token.strip() != ""
)
SENTENCES = st.one_of(
    st.sampled_from(["she fed it", "Tom read the book , and he laughed .", "黑狗怕白猫", "<s>|New York|is", "it"]),
    st.lists(st.sampled_from(HOSTILE_TOKENS) | TYPED_TOKENS, min_size=1, max_size=7).map(lambda t: "|".join([*t, ""])),
)
NUMBERS = st.one_of(
    st.integers(-9, 9).map(float), st.floats(-100, 100), st.sampled_from([6e4, -6e4, 5e-324, 1e-8, 0.1, 1 / 3])
)


@st.composite
def matrices(draw, rows, columns, numbers=NUMBERS):
    """A whole matrix: a few drawn numbers, repeated over the cells."""
    some = draw(st.lists(numbers, min_size=1, max_size=7))
    return pack_matrix(np.resize(np.array(some), (rows, columns)))


@st.composite
def edits(draw, rows, columns, numbers=NUMBERS):
    """A few changed cells."""
    places = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    cells = draw(st.dictionaries(places, numbers, max_size=3))
    return ChangedCells(cells=PackedNumbers.of([(*place, value) for place, value in cells.items()] or np.zeros((0, 3))))


def typed(rows, columns, numbers=NUMBERS):
    return st.one_of(matrices(rows, columns, numbers), edits(rows, columns, numbers))


def sentences(own, side):
    """What may be typed where an example's words stand. side: of a network's alphabets."""
    if own.network is None:
        return SENTENCES
    return st.text(st.sampled_from(COURSES[own.network.partition(".")[0]].alphabets[side].of), min_size=1, max_size=12)


@st.composite
def inputs(draw):
    """The example, and what is typed in the place of its words and vectors."""
    name = draw(st.sampled_from(list(EXAMPLES)))
    own = EXAMPLES[name]
    given_qkv = own.q is not None
    kind = draw(st.sampled_from(["qkv"] if given_qkv else ["sentence", "matrix", "qkv"]))
    lengths = st.integers(1, 6)
    if kind == "qkv":
        if given_qkv and draw(st.booleans()):
            changes = {role: draw(edits(*to_matrix(getattr(own, role)).shape)) for role in "qkv"}
            return make_setup(example=own.name, **changes)
        t, s, d, d_v = draw(lengths), draw(lengths), draw(st.sampled_from([1, 2, 4, 6])), draw(st.sampled_from([2, 4]))
        q, k, v = draw(matrices(t, d)), draw(matrices(s, d)), draw(matrices(s, d_v))
        return make_setup(example=own.name, q=q, k=k, v=v, heads=1)
    setup = make_setup(example=own.name, text=None if own.code else draw(st.none() | sentences(own, -1)))
    if own.network and draw(st.booleans()):
        course = own.network.partition(".")[0]
        setup = setup.with_fields(network=f"{course}.1.{draw(st.sampled_from([0, *COURSES[course].shipped]))}")
    crosses = own.context is not None if own.code else draw(st.booleans())
    if crosses or own.tensor("context") is not None:
        setup = setup.with_fields(cross=crosses)
    if crosses:
        setup = setup.with_fields(context_text=None if own.code else draw(st.none() | sentences(own, 0)))
    if kind == "matrix":
        bases = gathered(setup).bases
        x = edits(*bases["x"].shape)
        if "value" not in bases:  # else as many rows as there are words, whose vectors are the values
            x |= matrices(draw(lengths), draw(st.sampled_from([2, 3, 4, 8])))
        setup = setup.with_fields(x=draw(x))
        if crosses:
            context = draw(edits(*bases["context"].shape) | matrices(draw(lengths), draw(st.sampled_from([2, 4, 5]))))
            setup = setup.with_fields(context=context)
    return setup


def gathered(setup):
    """What goes into a run, where that can be gathered."""
    try:
        return gather_inputs(setup.run)
    except AttentionError:
        return assume(False)


def chooses(owner: str) -> dict[str, object]:
    """The part of a Setup that chooses a mechanism."""
    if owner in SCORES:
        return {"score": owner}
    if owner in NORMALISERS:
        return {"normaliser": owner}
    return {"modifiers": (owner,)} if owner in MODIFIERS else {"positions": (owner,)}


# every mechanism that learns, with another number in each of its tensors
LEARNING = [
    make_setup(**chooses(owner), **{name: read_matrix(f"~0.0={place + 2}.5") for place, name in enumerate(names)})
    for owner in dict.fromkeys(OWNERS.values())
    if (names := [name for name in OWNERS if OWNERS[name] == owner])
]


def each_of(setups):
    """All of some Setups as examples of a property."""

    def decorate(test):
        for setup in setups:
            test = example(setup)(test)
        return test

    return decorate


def is_learned(name: str) -> bool:
    return name[:2] in ("w_", "b_") or name in LEARNED_TENSORS


def word_roles():
    """Roles of some words, which may stand in the sentence or not."""
    words = st.sampled_from(HOSTILE_TOKENS) | TYPED_TOKENS
    roles = st.dictionaries(words, st.sampled_from(known_roles()), min_size=1, max_size=3)
    return roles.map(lambda chosen: tuple(write_word_role(word, role) for word, role in chosen.items()))


@st.composite
def setups(draw):
    """Any part of a Setup changed, so that most can be computed."""
    setup = draw(inputs())
    if resolve_run(setup.run).mode == "sentence" and not resolve_run(setup.run).crossed:
        own = sentences(EXAMPLES[setup.run.example], -1)
        lines = st.lists(own.filter(lambda text: len(text.splitlines()) == 1), max_size=3).map("\n".join)
        kinds = st.lists(st.sampled_from(["same_word", "offset", "offset:2", "first", "even", "sink"]), max_size=4)
        setup = setup.with_fields(more=draw(st.none() | lines), built=draw(st.none() | kinds.map(tuple)))
    if resolve_run(setup.run).mode != "qkv":
        widths_fit = EXAMPLES[setup.run.example].tensor("w_o") is not None and not setup.run.built
        fitting = ("bare",) if resolve_run(setup.run).crossed else WIRING if widths_fit else ("bare", "swapped", "tied")
        setup = setup.with_fields(wiring=tuple(draw(st.lists(st.sampled_from(fitting), unique=True, max_size=2))))
    material = gathered(setup)
    width = material.matrices.get("w_q", material.matrices.get("x", material.matrices.get("q"))).shape[1]
    if draw(st.booleans()):
        widths = [material.matrices[name].shape[1] for name in ("q", "k", "v") if name in material.matrices]
        projected = [matrix.shape[1] for name, matrix in material.matrices.items() if name in ("w_q", "w_k", "w_v")]
        cut = widths or projected or [width]
        fitting = [n for n in range(1, MAX_SHOWN_HEADS + 1) if not any(w % n for w in cut)]
        heads = draw(st.sampled_from(fitting))
        setup = setup.with_fields(heads=heads)
        is_swapped = "swapped" in setup.run.wiring  # then W_q would be cut for the heads of the keys
        if not widths and not is_swapped and draw(st.booleans()):
            setup = setup.with_fields(
                kv_heads=draw(st.sampled_from([n for n in range(1, heads + 1) if heads % n == 0]))
            )
            if draw(st.booleans()):
                setup = setup.with_fields(d_k=draw(st.integers(1, 6)), d_v=draw(st.none() | st.integers(1, 6)))
    setup = setup.with_fields(
        score=draw(st.none() | st.sampled_from(list(SCORES))),
        scale=draw(st.none() | st.floats(-10, 10) | st.sampled_from([0.0, 1e-12, 1.0])),
        temperature=draw(st.just(1.0) | st.floats(0.01, 100)),
        positions=draw(
            positions(
                resolve_run(setup.run).mode != "qkv",
                (setup.run.d_k or width // config_of(setup.run).heads) % 2 == 0,
                resolve_run(setup.run).crossed,
            )
        ),
        modifiers=draw(st.sampled_from([(), (), ("softcap:2.5",), ("qk_norm:1e-05", "softcap:50")])),
        normaliser=draw(st.sampled_from(["softmax", "softmax", "sinks", "sigmoid", "sigmoid:-1.5"])),
        dtype=draw(st.sampled_from(DTYPES)),
        seed=draw(st.integers(0, 999_999_999)),
        word_roles=draw(st.just(()) | word_roles()),
        cut=draw(st.none() | st.just("characters")),
    )
    material = gathered(setup)
    t, s = count_queries_and_keys(material)
    setup = setup.with_fields(masks=draw(st.none() | masks(s)))
    if draw(st.booleans()):
        setup = setup.with_fields(allowed=draw(typed(t, s, st.sampled_from([0.0, 1.0]))))
    edited = [name for name, base in material.bases.items() if is_learned(name) and base.size]
    if "bare" in setup.run.wiring:  # nothing is there to add it to
        edited = [name for name in edited if name != "b_o"]
    if setup.run.kv_heads is not None:  # a typed W_k is as wide as it is, whatever the number of heads
        edited = [name for name in edited if name not in ("w_k", "w_v")]
    for name in draw(st.lists(st.sampled_from(edited), unique=True, max_size=3)) if edited else ():
        shape = material.bases[name].shape
        setup = setup.with_fields(**{name: draw(typed(*shape) if max(shape) <= 64 else edits(*shape))})
    if draw(st.integers(0, 4)) == 0 and "residual" not in setup.run.wiring:
        setup = setup.with_fields(w_o=read_matrix("none"))
    chosen = ["scores"] if "even" in setup.run.wiring else ["scores", "weights"]  # weights are replaced once
    for name in draw(st.lists(st.sampled_from(chosen), unique=True)):
        places = st.tuples(*(st.integers(0, size) for size in (1, 2, t, s)), NUMBERS)
        some = draw(st.lists(places, min_size=1, max_size=3))
        setup = setup.with_fields(**{name: ChosenNumbers(PackedNumbers.of(some))})
    return setup.with_fields(
        sentence=draw(st.none() | st.integers(0, 9)),
        against=draw(st.sampled_from([None, *map(run_from_query, ("", "ex=zh_ta", "heads=1&mask=causal"))])),
        pinned=draw(st.sampled_from([None, "values", "difference"])),
        token=draw(st.none() | st.integers(0, 999_999_999)),
        head=draw(st.none() | st.integers(0, 20)),
        step=draw(st.none() | st.sampled_from(["scores", "w_q", "output", "", "no such step", "a&b=c"])),
        cell=draw(st.none() | st.lists(st.integers(0, 999_999_999), max_size=6).map(tuple)),
        stop=draw(st.sampled_from([None, "scores", "plane"])),
        ramp=draw(st.sampled_from([None, "times"])),
        maps=draw(st.sampled_from([(), ("times",), ("without_first", "least:0.05", "mean:0:3")])),
        side=draw(st.sampled_from([None, "a", "b"])),
        heads_by=draw(st.sampled_from([None, "layers", "previous", "subject", "moved"])),
        heads_least=draw(st.none() | st.floats(0, 1)),
        heads_from=draw(st.none() | st.integers(0, 999_999_999)),
        heads_to=draw(st.none() | st.integers(0, 999_999_999)),
        word_temperature=draw(st.none() | st.floats(0.25, 4)),
        top_k=draw(st.none() | st.integers(1, 20)),
        top_p=draw(st.none() | st.floats(0.05, 1)),
        word_seed=draw(st.none() | st.integers(0, 999_999_999)),
        written=draw(st.sampled_from([None, "the dog | ate .", "| 狗"])),
        changes=draw(st.sampled_from([(), ("2.1:off", "1.ff:off"), ("3.0:even", "3.2:mask:5-2:5-3", "1.3:other")])),
        held=draw(st.sampled_from([None, "norms"])),
        other_text=draw(st.none() | st.text(max_size=20)),
        circuit_words=draw(st.sampled_from([None, "cat dog", "狗", "a&b=c"])),
    )


@st.composite
def masks(draw, keys):
    """Some masks with numbers that fit `keys` keys."""
    far = st.integers(-keys, keys) | st.sampled_from([MAX_WHOLE_NUMBER, -MAX_WHOLE_NUMBER])
    offset = draw(far)
    window = st.integers(0, keys + 1) | st.just(MAX_WHOLE_NUMBER)
    choices = {
        "causal": draw(st.sampled_from(["causal", f"causal:{offset}"])),
        "local": f"local:{draw(window)}",
        "dilated": f"dilated:{draw(window)}:{draw(st.integers(1, keys))}",
        "padding": f"padding:{draw(st.integers(0, keys))}",
        "local_global": f"local_global:{draw(window)}:{draw(st.integers(0, keys - 1))}:{keys - 1}",
    }
    if not choices["causal"].endswith(str(offset)):  # two causal masks must agree on their offset
        choices["sliding"] = f"sliding:{draw(st.integers(1, keys + 1))}"
    names = draw(st.lists(st.sampled_from(list(choices)), unique=True, max_size=4))
    return tuple(choices[name] for name in names)


def positions(has_input, is_even, is_cross):
    """Some ways to tell positions: only an input can be added to, RoPE turns pairs, and a table that is typed has the
    width and the places of one of two texts."""
    rope = st.sampled_from(
        [(), ("rope",), ("rope_half",), ("rope:half:50:yarn:4:8",), ("rope:half:50:none:1:8:1:0:2:-0.5",)]
        if is_even
        else [()]
    )
    others = [(), ("alibi",), ("t5",), ("clipped", "relative_keys")]
    if has_input:
        others += [("sinusoidal",), ("alibi", "sinusoidal"), ("sinusoidal:50", "t5:past:8")]
    if has_input and not is_cross:
        others.append(("learned",))
    others = st.sampled_from(others)
    return st.tuples(rope, others).map(lambda pair: pair[0] + pair[1])


def test_a_number_that_is_left_out_keeps_its_place_before_others():
    """Of all columns, whose number is None, three pairs with their own factors."""
    name, params = read_position("rope:half:10:none:1:8:1:0::-1:0.5:0")
    assert (name, params["columns"], params["pair_factors"]) == ("rope", None, (-1.0, 0.5, 0.0))
    assert write_position(name, params) == "rope:half:10:none:1:8:1:0::-1:0.5:0"
    assert write_position(name, {**params, "pair_factors": None}) == "rope:half:10:none:1:8"


# ---- there and back --------------------------------------------------------------------------------------------------
def test_a_link_gives_back_the_setup_and_every_bit_of_every_step():
    computed, changed = [], set()

    @settings(max_examples=120)
    @given(setups())
    @example(make_setup(example="en_it_sink", b_q=read_matrix("~0.1=2.5")))
    @example(make_setup(w_v=read_matrix("~0.1=2.5"), w_o=read_matrix("~0.1=2.5")))
    @example(make_setup(score="general", w_a=read_matrix("~0.1=0.5")))
    @example(
        make_setup(
            file="0123456789abcdef", roles=("q:0", "k:12"), axes="BTHd", part=(0, 1, 2, 3, 4, 5, 6), polarity="blocked"
        )
    )
    @example(make_setup(recorded="0123456789abcdef", heads=4))
    @example(make_setup(file="0123456789abcdef", mask_as=("mask:T.S:blocked", "padding:S:allowed")))
    @example(make_setup(more="a b\nc", built=("first",), sentence=1))
    @example(make_setup(heads=4, kv_heads=2))
    @example(make_setup(cross=True, context=read_matrix("1,2,3,4;5,6,7,8")))
    @example(make_setup(example="translator", context_text="the dog barked .", w_k=read_matrix("~0.1=2.5")))
    @example(make_setup(example="translator", cross=False, text="she ate"))
    @example(make_setup(changes=("2.1:off",), held="norms", other_text="狗 ate"))
    @example(make_setup(example="model_en", model="en_asked_decoder", layer=1, panel="circuits", circuit_words="cat"))
    @example(make_setup(example="learned_copy", network="copy_two.1.200", positions=()))
    @example(make_setup(example="learned_dates", network="dates_additive.1.0", context_text="5 May 1999"))
    @example(
        make_setup(
            b_k=read_matrix("~0.1=2.5"), b_v=read_matrix("~0.4=1"), b_o=read_matrix("zeros~0.2=-1"), d_k=2, d_v=3
        )
    )
    @example(
        make_setup(
            score="additive", w_aq=read_matrix("~0.1=2.5"), w_ak=read_matrix("1,2;3,4"), v_a=read_matrix("~0.0=-3")
        )
    )
    @each_of(LEARNING)
    @example(make_setup(w_q=read_matrix("1e6,-1e6,1e6,0;0,0,0,1e6;0.1,0,0,0;0,0,0,0"), x=read_matrix("~0.0=1e6")))
    def there_and_back(setup):
        back, unread = setup_from_link(through_a_browser(setup_to_link(setup)))
        assert (back, unread) == (setup, [])
        changed.update(name for name, default in DEFAULTS.items() if setup.value_of(name) != default)
        try:
            trace = compute(setup)
        except AttentionError as error:
            computed.append(False)
            with pytest.raises(AttentionError) as again:
                compute(back)
            assert str(again.value) == str(error)
            return
        computed.append(True)
        assert_same_bits(trace, compute(back))
        assert size_of(trace) < MOST_BYTES

    there_and_back()
    assert sum(computed) > 0.9 * len(computed)  # nearly all that is drawn can be computed
    assert {*DEFAULTS} - changed == {"device"}  # no field was left as it is


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_its_name_and_computes_what_it_ships(name):
    setup = make_setup(example=name)
    link = setup_to_link(setup)
    comes_along = bool(EXAMPLES[name].model or EXAMPLES[name].translator)
    assert bool(link.pop("rev", None)) == comes_along  # the weights of a language model, or of a translator
    assert link == ({} if name == DEFAULT_SETUP.run.example else {"ex": name})
    trace, own = compute(setup), EXAMPLES[name].run()
    for step in own.computed():
        assert torch.equal(trace[step], own[step]), step
    assert (trace.labels["T"], trace.labels["S"]) == (own.labels["T"], own.labels["S"])


def test_a_link_says_only_what_differs():
    setup = make_setup(
        token=5, masks=("causal", "local:2"), w_q=read_matrix("~1.0=3.5"), cell=(0, 1), cross=False, text="a b"
    )
    assert setup_to_link(setup) == {
        "t": "5",
        "mask": "causal,local:2",
        "w_q": "~1.0=3.5",
        "cell": "0,1",
        "cross": "False",
        "text": "a b",
    }
    assert setup_to_link(make_setup(masks=())) == {"mask": ""}
    assert setup_from_link({"mask": ""}) == (make_setup(masks=()), [])


@pytest.mark.parametrize("name", MATRICES)
def test_each_matrix_in_a_link_is_the_one_that_runs(name):
    base = {
        "q": make_setup(example="one_query"),
        "k": make_setup(example="one_query"),
        "v": make_setup(example="one_query"),
        "context": make_setup(example="cross_en_zh"),
        "b_q": make_setup(example="en_it_sink"),
        **{bias: make_setup(**{bias: read_matrix("0,0,0,0")}) for bias in ("b_k", "b_v", "b_o")},
        "w_a": make_setup(score="general"),
        "w_aq": make_setup(score="additive"),
        "w_ak": make_setup(score="additive"),
        "v_a": make_setup(score="additive"),
    }.get(name, Setup())
    number = 0.0 if name == "allowed" else 7.5
    setup, unread = setup_from_link(through_a_browser(setup_to_link(base) | {name: f"~0.1={number}"}))
    assert unread == []
    before, after = compute(base.with_fields(**({"allowed": UNCHANGED} if name == "allowed" else {}))), compute(setup)
    step = name if name in after else f"{name}_heads" if f"{name}_heads" in after else {"context": "key"}[name]
    differing = (before[step] != after[step]).nonzero().tolist()
    assert [place[-2:] if len(place) > 1 else [0, *place] for place in differing] == [[0, 1]]
    assert after.step(step).value.flatten()[1].item() == number


# ---- links that nobody made ------------------------------------------------------------------------------------------
HOSTILE_VALUES = [
    "",
    "-1",
    "0",
    "00",
    "007",
    "999999999",
    "9999999999",
    "9" * 400,
    "-999999999",
    "1e999",
    "-1e999",
    "1e308",
    "1e-400",
    "NaN",
    "inf",
    "１２",
    "٣",
    "²",
    "1_0",
    "0x10",
    "1.5",
    " 2 ",
    "True",
    "none",
    "None",
    "~",
    "~;",
    "~0.0=",
    "~0.0=1,2",
    "~0.0=1e999",
    "~999.999=1",
    "~0.0=NaN",
    "~０.０=1",
    ";",
    ",",
    "1,2;3",
    "1,2;3,4",
    "1;" * 65,
    "1," * 513,
    "0",
    "1e6,1e6;1e6,1e6",
    "1e7",
    "causal:",
    "causal:-",
    "causal:--1",
    "causal:999999999",
    "causal:1:2:3",
    "causal,causal",
    "causal,sliding:3",
    "local:-1",
    "local:999999999",
    "sliding:0",
    "sliding",
    "local_global",
    "local_global:1",
    "local_global:1:999999999",
    "local_global:0" + ":0" * 5000,
    "padding",
    "padding:0",
    "padding:8",
    "padding:999999999",
    "padding:-1",
    "padding:1:2",
    "rope",
    "rope:5",
    "rope,rope_half",
    "sinusoidal",
    "alibi",
    "additive",
    "general",
    "cosine",
    "float16",
    "cuda",
    "cuda:7",
    "en_it_sink",
    "one_query",
    "eight_heads",
    "en_it\x00",
    "../../etc/passwd",
    "a" * 100_000,
    "1" * (MAX_LINK_CHARS + 1),
    "1," * 50_000,
    "|" * 100_000,
    " ".join("abcdefg" * 20),
    "token" * 9,
    "<script>",
    "{x}",
    "%s%n",
]


@st.composite
def broken(draw):
    """A link of a Setup with a value cut off or one of its characters replaced."""
    link = setup_to_link(draw(setups()))
    assume(link)
    key = draw(st.sampled_from(sorted(link)))
    at = draw(st.integers(0, len(link[key])))
    link[key] = link[key][:at] + draw(st.sampled_from(["", "", "~", ";", ",", ".", "-", "9", "e", "\x00", "狗"]))
    return link


compute_once = lru_cache(maxsize=16)(compute)  # most of what is wrong in a link is refused, and leaves the same Setup


def tried(link):
    """What a link does: the Setup or what is refused of it, and the run or its refusal."""
    setup, unread = setup_from_link(link)
    for name, default in DEFAULTS.items():
        key = link_key_of(name)
        named = [text for part, text in unread if part == key]
        if key not in link:
            assert named == [] and setup.value_of(name) == default
        elif named:
            assert named == [link[key][:40]] and setup.value_of(name) == default
    assert setup_from_link(through_a_browser(setup_to_link(setup))) == (setup, [])
    try:
        trace = compute_once(setup)
    except AttentionError as error:
        return setup, unread, error
    assert size_of(trace) < MOST_BYTES
    return setup, unread, trace


@pytest.mark.parametrize("key", LINK_KEYS)
def test_no_value_of_any_key_does_harm(key):
    for value in HOSTILE_VALUES:
        tried({key: value})


@often(150)
@given(st.dictionaries(st.sampled_from(LINK_KEYS), st.sampled_from(HOSTILE_VALUES), min_size=2, max_size=5))
@example({"q": "1,2", "k": "1,2", "v": "1", "heads": "999999999", "score": "additive"})
@example({"ex": "eight_heads", "heads": "512", "kv": "1"})
@example({"score": "additive", "w_aq": "1;2", "v_a": "1", "heads": "0"})
def test_hostile_values_do_no_harm_together(link):
    tried(link)


@often(100)
@given(st.dictionaries(st.sampled_from(LINK_KEYS) | st.text(max_size=5), st.text(max_size=60), max_size=6))
def test_any_text_under_any_key_does_no_harm(link):
    tried(link)


@often(100)
@given(broken())
def test_a_cut_off_or_altered_link_does_no_harm(link):
    tried(link)


@pytest.mark.parametrize(
    "link, code",
    [
        ({"heads": "0"}, "positive_integer"),
        ({"heads": "999999999"}, "at_most"),
        ({"heads": "3", "w_q": "1,2;3,4;5,6;7,8"}, "heads_split"),
        ({"heads": "4", "kv": "3"}, "heads_groups"),
        ({"kv": "0"}, "positive_integer"),
        ({"temp": "0"}, "positive_number"),
        ({"temp": "-2"}, "positive_number"),
        ({"x": "none"}, "matrix_empty"),
        ({"cross": "True", "context": "none"}, "matrix_empty"),
        ({"q": "1,2"}, "matrix_empty"),
        ({"allowed": "none"}, "matrix_empty"),
        ({"allowed": "1,0;0,1"}, "shape_fits_scores"),
        ({"q": "1,2", "k": "1,2,3", "v": "1", "heads": "1"}, "widths_differ"),
        ({"q": "1,2", "k": "1,2", "v": "1;2", "heads": "1"}, "keys_values"),
        ({"w_q": "1,2;3,4"}, "projection_width"),
        ({"w_q": "~4.0=1"}, "edit_form"),
        ({"w_q": "~0.0=1,2"}, "edit_form"),
        ({"w_q": "~0.0=1e7"}, "too_large"),
        ({"w_q": "1e6,0,0,0;0,0,0,0;0,0,0,0;0,0,0,0", "dtype": "float16"}, "precision_limit"),
        ({"score": "general", "w_a": "none"}, "missing_weight"),
        ({"b_q": "1,2,3"}, "bias_width"),
        ({"mask": "padding:8"}, "lengths_range"),
        ({"mask": "padding"}, "lengths_count"),
        ({"mask": "local_global:1:7"}, "tokens_range"),
        ({"mask": "sliding:0"}, "positive_integer"),
        ({"mask": "local:-1"}, "not_negative"),
        ({"mask": "causal,causal"}, "chosen_twice"),
        ({"mask": "dilated:1:0"}, "positive_integer"),
        ({"mask": "dilated:-1:2"}, "not_negative"),
        ({"pos": "rope,rope_half"}, "chosen_twice"),
        ({"pos": "rope:interleaved:0"}, "positive_number"),
        ({"pos": "rope:interleaved:10:yarn:-1:8"}, "positive_number"),
        ({"pos": "rope:interleaved:10:yarn:2:0"}, "positive_integer"),
        ({"pos": "rope:half:10:none:1:8:1:0:0"}, "positive_integer"),
        ({"pos": "rope:half:10:none:1:8:1:0:3"}, "rope_columns"),
        ({"pos": "rope:half:10:none:1:8:1:0:98"}, "rope_columns"),
        ({"pos": "rope:half:10:none:1:8:1:0:2:1:1"}, "pair_factors_count"),
        ({"pos": "clipped", "w_clipped": "1,1;1,1"}, "rows_odd"),
        ({"pos": "clipped", "w_clipped": "1;1;1"}, "weight_shape"),
        ({"pos": "relative_keys", "w_rk": "1,2;3,4"}, "rows_odd"),
        ({"pos": "relative_keys", "w_rk": "1,2,3;3,4,5;1,2,3"}, "weight_shape"),
        ({"pos": "t5", "w_buckets": "1,1;1,1;1,1"}, "buckets"),
        ({"pos": "t5:both:1"}, "buckets"),
        ({"pos": "learned", "w_places": "1,2,3,4"}, "few_places"),
        ({"pos": "learned", "w_places": "1,2,3;1,2,3"}, "weight_shape"),
        ({"pos": "learned", "w_places": "none"}, "missing_weight"),
        ({"ex": "one_query", "pos": "learned"}, "no_input"),
        ({"pos": "decoupled_rope", "w_kr": "1;1;1;1"}, "even_width"),
        ({"mod": "softcap:0"}, "positive_number"),
        ({"mod": "softcap:-2"}, "positive_number"),
        ({"mod": "softcap:2,softcap:3"}, "chosen_twice"),
        ({"mod": "qk_norm:0"}, "positive_number"),
        ({"mod": "qk_norm", "g_q": "1,2,3"}, "weight_shape"),
        ({"mod": "gate", "w_gate": "1,2;3,4"}, "weight_shape"),
        ({"ex": "one_query", "mod": "gate"}, "no_input"),
        ({"mod": "differential", "heads": "4"}, "even_halves"),
        ({"mod": "differential,differential"}, "chosen_twice"),
        ({"mod": "latent", "w_dkv": "1,2;3,4"}, "weight_shape"),
        ({"mod": "latent", "w_k": "1,2;3,4"}, "projection_width"),
        ({"ex": "one_query", "mod": "latent"}, "no_input"),
        ({"norm": "sinks", "sinks": "1,2,3"}, "weight_shape"),
        ({"norm": "sinks", "sinks": "none"}, "missing_weight"),
        ({"norm": "share"}, "needs_positive"),
        ({"norm": "share", "score": "linear", "scale": "-1"}, "needs_positive"),
        ({"norm": "share", "score": "linear", "pos": "alibi"}, "needs_positive"),
        ({"pos": "rope", "w_q": "1;1;1;1", "w_k": "1;1;1;1", "heads": "1"}, "even_width"),
        ({"ex": "one_query", "pos": "sinusoidal"}, "no_input"),
        ({"ex": "one_query", "text": "a"}, "no_input_words"),
        ({"text": ""}, "no_tokens"),
        ({"text": "a " * 513}, "too_many_tokens"),
        ({"text": "a " * 400, "heads": "2", "more": "a\n" * 6 + "b " * 512}, "too_many_pairs"),
        ({"more": "a\n" * 8}, "too_many_sentences"),
        ({"text": "a" * 41}, "token_too_long"),
    ],
)
def test_what_can_be_read_but_not_computed_is_refused_with_its_reason(link, code):
    setup, unread = setup_from_link(through_a_browser(link))
    assert unread == []
    with pytest.raises(AttentionError) as refused:
        compute(setup)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("link", "refused"),
    [
        ({"model": "en_asked_decoder"}, ["model"]),
        ({"ex": "zh_ta", "model": "zh_asked_encoder", "layer": "2"}, ["model", "layer"]),
        ({"ex": "model_en", "network": "copy_two.1.200"}, ["network"]),
        ({"ex": "model_en", "model": "en_asked_decoder", "layer": "2"}, []),
        ({"ex": "learned_copy", "network": "copy_two.1.200"}, []),
    ],
)
def test_a_model_is_refused_where_the_example_would_stand_in_its_place(link, refused):
    setup, unread = setup_from_link(through_a_browser(link))
    assert [key for key, _ in unread] == refused
    assert setup == setup_from_link({key: text for key, text in link.items() if key not in refused})[0]


@pytest.mark.parametrize(
    "key, values",
    [
        ("ex", ["nope", "", "EN_IT"]),
        ("heads", ["-1", "1.0", "9999999999", "２", "two", ""]),
        ("scale", ["1e999", "nan", "-inf", "x", "", "1" * 31]),
        ("temp", ["1e400", "one"]),
        (
            "mask",
            [
                "nope",
                "causal:x",
                "local:1.5",
                "causal:--1",
                "local:1000001",
                "local_global:1" + ":0" * 1500,
                "causal:-1000001",
                "local:",
            ],
        ),
        ("mask", ["local_global:1" + ":0" * 1500, "causal:1:2", "local:1:2", "dilated:1:2:3"]),
        (
            "pos",
            [
                "nope",
                "rope:x",
                "rope_half:3",
                "rope:10",
                "rope:half:10:yarn:2:2.5",
                "rope:half:10:yarn:2:8:1:0:8:x",
                "rope:half:10:yarn:2:8:1:0:",
            ],
        ),
        ("pos", ["t5:sideways", "t5:both:1.5", "t5:8:both", "t5:both:8:9", "clipped:3", "alibi:half", "learned:2"]),
        ("mod", ["nope", "softcap:x", "softcap:", "softcap:2:3", "gate:1", "latent:nan", "differential:1e999"]),
        ("norm", ["nope", "sinks,sigmoid", "softmax:1", "sinks:0", "sigmoid:nan", "sigmoid:1:2", ""]),
        ("wiring", ["nope", "residual:3"]),
        ("built", ["nope", "offset:x", "offset:1.5"]),
        ("dtype", ["float8", "float"]),
        ("changes", ["2.1", "2.1:on", "1.ff:even", "1.ff:mask:1-2", "2.1:off:3-4", "2.1:off,2.1:even", "2.1:mask:1-x"]),
        ("held", ["norm", ""]),
        ("cross", ["true", "1", ""]),
        ("t", ["-1", "x"]),
        ("cell", ["1,x", "-1,0"]),
        ("text", ["a" * (MAX_LINK_CHARS + 1)]),
        ("device", ["cuda:1", "meta"]),
    ],
)
def test_what_cannot_be_read_is_named_and_the_rest_is_kept(key, values):
    for value in values:
        setup, unread = setup_from_link({key: value, "seed": "3"})
        assert unread == [(key, value[:40])]
        assert setup == make_setup(seed=3)


def test_what_nobody_knows_is_named_and_the_rest_is_kept():
    link = {"haeds": "3", "heads": "1", "lang": "zh", "embed": "true", "embed_options": "dark_theme", "utm_source": "y"}
    assert setup_from_link(link) == (make_setup(heads=1), [("haeds", "3")])
    assert setup_from_link({"Heads": "1", "seed": "x", "": "y"}) == (
        DEFAULT_SETUP,
        [("seed", "x"), ("Heads", "1"), ("", "y")],
    )
    assert setup_from_link({"k" * 99: "v" * 99}) == (DEFAULT_SETUP, [("k" * 40, "v" * 40)])
    assert len(setup_from_link({f"key{n}": "1" for n in range(9999)})[1]) == MAX_UNKNOWN_KEYS_NAMED


def test_a_device_that_is_not_there_is_refused():
    if "cuda" in AVAILABLE_DEVICES:
        there, here = compute(make_setup(device="cuda")), compute(Setup())
        assert all(torch.allclose(there[name], here[name], rtol=0, atol=1e-12) for name in here.computed())
        return
    with pytest.raises(AttentionError) as refused:
        compute(make_setup(device="cuda"))
    assert refused.value.code == "unknown_choice"


# ---- no Setup takes much memory --------------------------------------------------------------------------------------
LARGEST = make_setup(example="eight_heads", text=LONG_SENTENCE, heads=MAX_SHOWN_HEADS)


@pytest.mark.parametrize("score", SCORES)
def test_the_largest_runs_stay_below_the_bound(score):
    everything = LARGEST.with_fields(
        score=score,
        cross=True,
        context_text=LONG_SENTENCE,
        positions=("sinusoidal", "rope", "alibi"),
        masks=("causal", "local:3", "sliding:5", "padding:60", "local_global:2:0:5"),
        allowed=read_matrix("~1.1=0"),
    )
    trace = compute(everything)
    assert trace.sizes()["T"] == trace.sizes()["S"] == 64
    assert trace["weights"].shape == (1, MAX_SHOWN_HEADS, 64, 64)
    assert MOST_BYTES / 8 < size_of(trace) < MOST_BYTES


def test_a_wide_tanh_layer_and_many_heads_are_refused_before_they_are_made():
    ones = pack_matrix(np.ones((32, 128)))
    layer = {"w_aq": ones, "w_ak": ones, "v_a": pack_matrix(np.ones((1, 128)))}
    with pytest.raises(AttentionError) as refused:
        compute(LARGEST.with_fields(score="additive", **layer))
    assert refused.value.code == "hidden_too_large"
    assert refused.value.values["needed"] == MAX_SHOWN_HEADS * 64 * 64 * 128 * 8
    with pytest.raises(AttentionError) as refused:
        compute(LARGEST.with_fields(heads=MAX_SHOWN_HEADS + 1))
    assert refused.value.values == {"name": "heads", "limit": MAX_SHOWN_HEADS, "given": MAX_SHOWN_HEADS + 1}


class ReadOnce(bytes):
    """The numbers of a matrix: nothing may compare, hash or print them."""

    def fail(self, *_):
        raise AssertionError("the numbers were read again")

    __hash__ = __eq__ = __ne__ = __repr__ = __getitem__ = __iter__ = fail


def test_a_setup_with_a_large_matrix_is_hashed_compared_and_printed_by_its_digest():
    numbers = np.random.default_rng(0).standard_normal((512, 512))
    one, same = (make_setup(w_q=WholeMatrix(PackedNumbers((512, 512), ReadOnce(numbers.tobytes())))) for _ in range(2))
    numbers[511, 511] = -numbers[511, 511]
    other = make_setup(w_q=WholeMatrix(PackedNumbers.of(numbers)))
    assert one == same and hash(one) == hash(same) and repr(one) == repr(same)
    assert one != other and hash(one) != hash(other) and repr(one) != repr(other)
    assert same.with_fields(token=3).run == one.run
    assert len(repr(one)) < 4000


# ---- the choices as the core takes them ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, choice",
    [
        ("causal", ("causal", {})),
        ("causal:-2", ("causal", {"offset": -2})),
        ("local", ("local", {"window": 1})),
        ("local:0", ("local", {"window": 0})),
        ("sliding:4", ("sliding", {"window": 4})),
        ("padding:3", ("padding", {"lengths": (3,)})),
        ("local_global:2:0:5", ("local_global", {"window": 2, "global_tokens": (0, 5)})),
        ("local_global", ("local_global", {"window": 1, "global_tokens": (0,)})),
        ("local_global:2", ("local_global", {"window": 2, "global_tokens": ()})),
    ],
)
def test_a_mask_and_its_numbers(text, choice):
    assert read_mask(text) == choice
    assert choice[0] in MASKS
    assert read_mask(write_mask(*choice)) == choice


def test_what_the_setup_leaves_open_is_the_examples():
    assert config_of(make_setup(example="en_it_causal").run).masks == (("causal", {}),)
    assert config_of(make_setup(example="en_it_causal", masks=()).run).masks == ()
    assert config_of(Setup().run).heads == 2
    config = config_of(
        make_setup(heads=4, kv_heads=2, score="cosine", scale=0.5, temperature=2.0, positions=("rope_half",)).run
    )
    assert (config.heads, config.kv_heads, config.score, config.scale, config.temperature) == (4, 2, "cosine", 0.5, 2.0)
    assert config.positions[0][1]["style"] == "half"


@pytest.mark.parametrize("number", [0.1, -0.0, 1e-300, 5e-324, math.pi, -1.2345678901234567e-300])
def test_a_number_keeps_all_its_digits(number):
    back, unread = setup_from_link(through_a_browser(setup_to_link(make_setup(scale=number))))
    assert unread == []
    assert math.copysign(1, back.run.scale) == math.copysign(1, number) and back.run.scale == number
