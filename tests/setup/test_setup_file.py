"""Files of the screen: every Setup comes back from its file, and no file, however broken, does harm."""

import json
from dataclasses import fields

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attention_core.inputs.matrix_link import read_chosen, read_matrix
from attention_core.record.errors import AttentionError
from pages.setup.codec import DEFAULTS, LINK_KEYS, MAX_LINK_CHARS, link_key_of, run_from_query, setup_to_link
from pages.setup.setup import DEFAULT_SETUP, MATRIX_FIELDS, Comparison, RunSetup, Setup, View, make_setup
from pages.setup.setup_file import (
    MAX_SETUP_FILE_CHARS,
    SETUP_FORMAT,
    SETUP_VERSION,
    decode_file_text,
    setup_from_file,
    setup_to_file,
)
from tests.often import often
from tests.setup.test_setup import HOSTILE_VALUES, LEARNING, each_of, setups

HEAD = '"format": "attention-explorer", "version": 1'
WHOLE = {"file_too_long", "file_not_json", "file_nested", "file_twice", "file_format", "file_version", "file_text"}


def file_with(**parts):
    return json.dumps({"format": "attention-explorer", "version": 1} | parts)


# ---- there and back --------------------------------------------------------------------------------------------------
def test_a_file_gives_back_the_setup():
    changed = set()

    @settings(max_examples=100)
    @given(setups())
    @example(make_setup(text='\u202e狗\x00\x1b "\\ \n\u2028', b_q=read_matrix("~0.1=2.5"), device="cuda"))
    @example(
        make_setup(
            b_k=read_matrix("~0.1=2.5"),
            b_v=read_matrix("~0.4=1"),
            w_v=read_matrix("~0.1=2"),
            b_o=read_matrix("zeros~0.2=-1"),
            d_k=2,
            d_v=3,
        )
    )
    @example(
        make_setup(
            file="0123456789abcdef", roles=("q:0", "k:12"), axes="BTHd", part=(0, 1, 2, 3, 4, 5, 6), polarity="blocked"
        )
    )
    @example(make_setup(recorded="0123456789abcdef", heads=4))
    @example(make_setup(file="0123456789abcdef", mask_as=("mask:T.S:blocked", "padding:S:allowed")))
    @example(make_setup(example="learned_copy", network="copy_two.1.200", positions=()))
    @example(make_setup(cross=True, context=read_matrix("1,2,3,4;5,6,7,8")))
    @example(make_setup(cross=True, context_text="Tom read"))
    @example(make_setup(heads=4, kv_heads=2))
    @example(make_setup(changes=("2.1:off",), held="norms", other_text="狗 ate", maps=("times", "mean:0:3"), side="b"))
    @example(
        make_setup(example="model_en", model="en_asked_decoder", layer=1, panel="heads", w_k=read_matrix("~0.1=2.5"))
    )
    @example(
        make_setup(
            built=("first", "offset:3"),
            more="a b\nc",
            sentence=1,
            against=run_from_query("heads=1"),
            scores=read_chosen("0.0.0.0=1"),
        )
    )
    @example(
        make_setup(
            score="additive",
            w_a=read_matrix("~"),
            w_aq=read_matrix("~0.1=2.5"),
            w_ak=read_matrix("1,2;3,4"),
            v_a=read_matrix("~0.0=-3"),
        )
    )
    @each_of(LEARNING)
    def there_and_back(setup):
        assert setup_from_file(decode_file_text(setup_to_file(setup).encode())) == (setup, [])
        changed.update(name for name, default in DEFAULTS.items() if setup.value_of(name) != default)

    there_and_back()
    assert changed == {*DEFAULTS}


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_field_stands_in_the_file_as_in_the_link(name):
    given = {
        "example": "zh_ta",
        "score": "dot",
        "masks": ("causal:-1", "local:2"),
        "positions": ("rope_half", "alibi"),
        "modifiers": ("softcap:2.5",),
        "normaliser": "sigmoid:-1.5",
        "dtype": "float16",
        "device": "cuda",
        "cell": (0, 1, 2),
        "stop": "scores",
        "ramp": "times",
        "maps": ("without_first", "largest:2"),
        "side": "a",
        "panel": "heads",
        "heads_by": "previous",
        "word_temperature": 0.5,
        "written": "the dog | ate .",
        "changes": ("2.1:off", "3.0:mask:5-2"),
        "held": "norms",
        "built": ("same_word", "offset:2"),
        "wiring": ("tied", "residual"),
        "against": run_from_query("ex=zh_ta&heads=1"),
        "pinned": "difference",
        "word_roles": ("pizza:thing", "3%3A0:other"),
        "cut": "characters",
        "model": "en_asked_decoder",
        "network": "copy_two.7.100.r0.5",
        "recorded": "0123456789abcdef",
        "file": "0123456789abcdef",
        "roles": ("q:0", "weights:4"),
        "axes": "HTd",
        "part": (0, 0, 1, 0, 2, 0, 3),
        "polarity": "blocked",
        "mask_as": ("mask:B.S:allowed",),
        **dict.fromkeys(MATRIX_FIELDS, read_matrix("~0.1=2.5")),
        **dict.fromkeys(("scores", "weights"), read_chosen("0.0.0.0=1")),
    }
    kind_of = {field.name: str(field.type) for part in (RunSetup, View, Comparison) for field in fields(part)}
    kinds = {"bool": False, "int": 3, "float": 0.1, "str": "狗"}
    value = given.get(name) or next(value for kind, value in kinds.items() if kind in kind_of[name])
    homes = {"model": "model_en", "layer": "model_en", "network": "learned_copy"}  # others have no place for them
    home = {"example": homes[name]} if name in homes else {}
    setup = DEFAULT_SETUP.with_fields(**home, **{name: value})
    written = json.loads(setup_to_file(setup))
    revision = ["rev"] if "model" in home.get("example", "") else []
    assert list(written) == ["format", "version", *(link_key_of(key) for key in home), link_key_of(name), *revision]
    assert written[link_key_of(name)] == setup_to_link(setup)[link_key_of(name)]
    assert setup_from_file(setup_to_file(setup)) == (setup, [])


def test_a_file_can_be_read_by_people():
    assert setup_to_file(make_setup(text="狗 ate", masks=("causal",), temperature=2.0)) == (
        "{\n"
        '  "format": "attention-explorer",\n'
        '  "version": 1,\n'
        '  "text": "狗 ate",\n'
        '  "temp": "2.0",\n'
        '  "mask": "causal"\n'
        "}\n"
    )
    assert not {"format", "version"} & LINK_KEYS
    assert (SETUP_FORMAT, SETUP_VERSION) == ("attention-explorer", 1)


def test_a_file_from_an_editor_that_marks_its_encoding_opens():
    assert setup_from_file(decode_file_text(b"\xef\xbb\xbf" + setup_to_file(make_setup(heads=1)).encode())) == (
        make_setup(heads=1),
        [],
    )


def test_the_longest_setup_fits_a_file():
    for text in (
        "\x00" * (MAX_LINK_CHARS // 3),
        '"' * (MAX_LINK_CHARS // 3),
        "狗" * (MAX_LINK_CHARS // 9),
        "a" * MAX_LINK_CHARS,
    ):
        assert setup_from_file(setup_to_file(make_setup(text=text))) == (make_setup(text=text), [])


# ---- files that nobody saved -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, code, values",
    [
        ("", "file_not_json", {}),
        ("x", "file_not_json", {}),
        ("{" + HEAD, "file_not_json", {}),
        ("{" + HEAD + "} {}", "file_not_json", {}),
        ("{" + HEAD + ', "scale": NaN}', "file_not_json", {}),
        ("{" + HEAD + ', "scale": -Infinity}', "file_not_json", {}),
        ("{" + HEAD + ', "text": "\\ud800"}', "file_not_json", {}),
        ("{" + HEAD + ', "seed": ' + "9" * 5000 + "}", "file_not_json", {}),
        ("{" + HEAD + ', "heads": "1", "heads": "2"}', "file_twice", {"name": "heads"}),
        ("{" + HEAD + ', "version": 1}', "file_twice", {"name": "version"}),
        ("[" * 100_000, "file_nested", {}),
        ('{"a":' * 40_000, "file_nested", {}),
        (
            " " * (MAX_SETUP_FILE_CHARS + 1),
            "file_too_long",
            {"limit": MAX_SETUP_FILE_CHARS, "given": MAX_SETUP_FILE_CHARS + 1},
        ),
        ("null", "file_format", {"expected": "attention-explorer"}),
        ("[]", "file_format", {"expected": "attention-explorer"}),
        ("{}", "file_format", {"expected": "attention-explorer"}),
        ('"attention-explorer"', "file_format", {"expected": "attention-explorer"}),
        ('{"format": "word-processor", "version": 1}', "file_format", {"expected": "attention-explorer"}),
        ('{"format": ["attention-explorer"], "version": 1}', "file_format", {"expected": "attention-explorer"}),
        ('{"format": "attention-explorer"}', "file_format", {"expected": "attention-explorer"}),
        (file_with(version=2), "file_version", {"limit": 1, "given": "2"}),
        (file_with(version=10**300), "file_version", {"limit": 1, "given": "1" + "0" * 19}),
        (file_with(version=0), "file_format", {"expected": "attention-explorer"}),
        (file_with(version="1"), "file_format", {"expected": "attention-explorer"}),
        (file_with(version=1.0), "file_format", {"expected": "attention-explorer"}),
        (file_with(version=True), "file_format", {"expected": "attention-explorer"}),
        (file_with(heads=3), "file_text", {"name": "heads"}),
        (file_with(heads=None), "file_text", {"name": "heads"}),
        (file_with(cross=True), "file_text", {"name": "cross"}),
        (file_with(scale=1e999), "file_not_json", {}),
        (file_with(x=[[1, 2], [3, 4]]), "file_text", {"name": "x"}),
        (file_with(unknown={"a": {}}), "file_text", {"name": "unknown"}),
    ],
)
def test_what_is_no_file_of_ours_is_refused_with_its_reason(text, code, values):
    with pytest.raises(AttentionError) as refused:
        setup_from_file(text)
    assert (refused.value.code, refused.value.values) == (code, values)


def test_parts_that_cannot_be_read_are_named_and_the_rest_is_kept():
    text = file_with(ex="nope", seed="3", haeds="2", cell="1,x")
    assert setup_from_file(text) == (make_setup(seed=3), [("ex", "nope"), ("cell", "1,x"), ("haeds", "2")])


def tried(text):
    """What a file does: a Setup that has a file of its own, or a refusal."""
    try:
        setup, unread = setup_from_file(text)
    except AttentionError as error:
        assert error.code in WHOLE
        return
    assert all(len(key) <= 40 and len(part) <= 40 for key, part in unread)
    assert setup_from_file(setup_to_file(setup)) == (setup, [])


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(HOSTILE_VALUES[:60]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@often(150)
@given(st.dictionaries(st.sampled_from([*sorted(LINK_KEYS), "format", "version"]) | st.text(max_size=5), ANY_JSON))
def test_any_json_gives_a_setup_or_a_refusal(parts):
    tried(json.dumps(parts))
    tried(json.dumps({"format": "attention-explorer", "version": 1} | parts))


@often(100)
@given(st.dictionaries(st.sampled_from(sorted(LINK_KEYS)), st.sampled_from(HOSTILE_VALUES), max_size=5))
def test_hostile_values_do_no_harm(parts):
    tried(file_with(**parts))


@often(150)
@given(st.text() | st.binary())
@example(b"\xff\xfe")
@example(b"\x00" * 99)
@example("\ud800")
def test_any_text_and_any_bytes_give_a_setup_or_a_refusal(data):
    try:
        text = decode_file_text(data) if isinstance(data, bytes) else data
    except AttentionError as error:
        assert error.code == "file_not_json"
        return
    tried(text)


SAVED = [
    Setup(),
    make_setup(text="狗 “ate” it", masks=("causal:-1", "local:2"), temperature=0.3, cell=(0, 1, 2, 3), step="scores"),
    make_setup(
        example="one_query",
        q=read_matrix("~0.1=2.5;0.0=-1e-8"),
        allowed=read_matrix("1,0;0,1"),
        w_o=read_matrix("none"),
        positions=("rope_half",),
    ),
]


@often(150)
@given(st.data())
def test_a_cut_off_or_altered_file_gives_a_setup_or_a_refusal(data):
    text = setup_to_file(data.draw(st.sampled_from(SAVED)))
    at = data.draw(st.integers(0, len(text)))
    tried(text[:at] + data.draw(st.sampled_from(["", "{", "}", '"', "\\", "\\u", ",", ":", "9", "\x00", "狗"])))
    tried(text[:at] + data.draw(st.sampled_from(["{", "}", '"', "\\", "9", "\x00", "狗"])) + text[at + 1 :])
