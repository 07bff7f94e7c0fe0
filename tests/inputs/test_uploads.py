"""Uploaded files: every kind gives its numbers, and whatever else comes is refused before it costs anything."""

import json
import struct
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core.inputs.files.contents import FILE_READERS, read_contents
from attention_core.inputs.files.matrix_file import read_array, read_matrix, read_matrix_file
from attention_core.inputs.files.stored_arrays import (
    ARRAY_BOUNDS,
    MAX_ARRAYS,
    MAX_FILE_BYTES,
    MAX_LISTS,
    MAX_NPY_HEADER_BYTES,
    MAX_NUMBERS,
    refuse_not_finite,
)
from attention_core.record.errors import AttentionError
from pages.site.words import load_app_texts
from tests.often import often

MATRIX = [[1.0, -2.5, 3.0], [0.0, 4.0, -0.125]]
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def npy(array, **options):
    """An NPY file, as NumPy writes it."""
    file = BytesIO()
    np.lib.format.write_array(file, np.asarray(array), **options)
    return file.getvalue()


def npy_of(header, data=b"", version=1):
    """An NPY file with any header."""
    header = header if isinstance(header, bytes) else header.encode("latin-1")
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


def described(dtype="<f8", shape="(2,)", order="False"):
    """The header that says so."""
    return f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


def npz(packing=zipfile.ZIP_STORED, **arrays):
    """An NPZ file, as NumPy writes it."""
    file = BytesIO()
    (np.savez_compressed if packing == zipfile.ZIP_DEFLATED else np.savez)(file, **arrays)
    return file.getvalue()


def zipped(members, packing=zipfile.ZIP_STORED):
    """A zip archive of (name or ZipInfo, bytes) pairs."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", packing) as archive:
        for name, content in members:
            archive.writestr(name, content, packing)
    return file.getvalue()


def tensors(header, data=b""):
    """A safetensors file with any header."""
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def entry(dtype="F32", shape=(1,), at=(0, 4)):
    """What a safetensors header says about an array."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(at)}


def read_arrays(file_name, content, minus_infinity=()):
    """All arrays of a file, each finite; why, where one of them or the whole cannot be read."""
    contents = read_matrix_file(file_name, content)
    for name, array in contents.arrays.items():
        refuse_not_finite(name, array, name in minus_infinity)
    for error in contents.unread.values():
        raise error
    return contents.arrays


def refusal(read, *given, **options):
    """The error that a reading ends with; its sentence can be said in both languages, on one line."""
    with pytest.raises(AttentionError) as caught:
        read(*given, **options)
    error = caught.value
    for language in ("en", "zh"):
        sentence = load_app_texts(language)[f"error.{error.code}"].format(**error.values)
        assert sentence.splitlines() == [sentence] and len(sentence) < 1000
    return error


# ---- text ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "file_name, content",
    [
        ("x.csv", b"1,-2.5,3\n0,4,-0.125\n"),
        ("x.csv", b"1;-2,5;3\r\n0;4;-0,125\r\n"),
        ("x.tsv", b"1\t-2.5\t3\n0\t4\t-0.125\n"),
        ("x.txt", b"[[1, -2.5, 3], [0, 4, -0.125]]"),
        ("x.TXT", b"1 -2.5 3\n0 4 -0.125"),
        ("x.csv", b"\xef\xbb\xbf1,-2.5,3\n0,4,-0.125"),
        ("x.csv", "1,−2.5,3\n0,4,−0.125".encode()),
        ("x.csv", "\ufeff1,-2.5,3\n0,4,-0.125".encode("utf-16-le")),
        ("x.csv", "\ufeff1,-2.5,3\n0,4,-0.125".encode("utf-16-be")),
        ("folder/x.csv", b"1,-2.5,3\n0,4,-0.125"),
        ("C:\\folder\\x.csv", b"1,-2.5,3\n0,4,-0.125"),
    ],
)
def test_a_text_is_one_matrix_called_as_the_file_is(file_name, content):
    arrays = read_arrays(file_name, content)
    assert list(arrays) == ["x"]
    assert arrays["x"].tolist() == MATRIX and arrays["x"].dtype == np.float64


@pytest.mark.parametrize(
    "content",
    [
        PNG,
        b"1,2\0",
        b"\0",
        b"\xff\xfe1\0,\0002",
        b"\xff\xfe\0\xd8",
        "1，2".encode("gb18030"),
        "1,2".encode("utf-16-le"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt", ".json"])
def test_what_is_no_text_is_refused(ending, content):
    assert refusal(read_arrays, f"x{ending}", content).code == "not_text"


def test_a_text_keeps_the_limits_of_a_pasted_matrix():
    assert refusal(read_arrays, "x.csv", b"1," * 100_001).code == "matrix_text_too_long"
    assert refusal(read_arrays, "x.csv", b"1," * 512 + b"1").code == "too_many_columns"
    assert refusal(read_arrays, "x.csv", b"1e7").code == "too_large"
    assert refusal(read_arrays, "x.csv", b" \n").code == "matrix_empty"
    error = refusal(read_arrays, "wide\u202e.csv", b"1,2\n3,x")
    assert str(error) == "wide⟨U+202E⟩.csv, row 2, column 2, must be a number: got “x”"


# ---- JSON ------------------------------------------------------------------------------------------------------------
def test_json_lists_are_an_array_of_up_to_four_axes():
    assert read_arrays("x.json", b"[1, 2.5, -3e-1]")["x"].tolist() == [1.0, 2.5, -0.3]
    assert read_arrays("x.json", b"\xef\xbb\xbf[[1, 2], [3, 4], [5, 6]]")["x"].tolist() == [[1, 2], [3, 4], [5, 6]]
    four = np.arange(2 * 3 * 5 * 7).reshape(2, 3, 5, 7)
    assert np.array_equal(read_arrays("x.json", json.dumps(four.tolist()).encode())["x"], four)
    assert read_arrays("x.json", b"2.5")["x"].shape == ()


def test_a_json_object_names_its_arrays():
    arrays = read_arrays("layer.json", b'{"w_q": [[1, 2]], "allowed": [[true, false]], "": [3]}')
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "w_q": [[1, 2]],
        "allowed": [[True, False]],
        "layer": [3],
    }
    assert arrays["w_q"].dtype == np.int64 and arrays["allowed"].dtype == bool
    assert read_arrays("x.json", b"[1.0, 2]")["x"].dtype == np.float64


def test_json_numbers_keep_every_bit():
    numbers = read_arrays("x.json", b"[5e-324, -0.0, -0, 1e308, 0.1, 9007199254740993]")["x"]
    assert numbers.tolist() == [5e-324, 0.0, 0.0, 1e308, 0.1, 9007199254740992.0]
    assert np.signbit(numbers).tolist() == [False, True, False, False, False, False]


@pytest.mark.parametrize(
    "content, code",
    [
        (b"", "file_empty"),
        (b" ", "not_json"),
        (b"[1, 2", "not_json"),
        (b"[1] [2]", "not_json"),
        (b"{1: [2]}", "not_json"),
        (b"[01]", "not_json"),
        (b"[NaN]", "not_finite"),
        (b"[Infinity]", "not_finite"),
        (b"[-Infinity]", "not_finite"),
        (b"[1, 1e999]", "not_finite"),
        (b"[1" + b"0" * 400 + b"]", "not_finite"),
        (b"[-" + b"9" * 5000 + b"]", "not_finite"),
        (b"[]", "no_arrays"),
        (b"[[], []]", "empty"),
        (b"{}", "no_arrays"),
        (b"[[1, 2], [3]]", "lists_differ"),
        (b"[[1], []]", "lists_differ"),
        (b"[[1], 2]", "json_value"),
        (b"[1, [2]]", "json_value"),
        (b'["1"]', "no_arrays"),
        (b'"1"', "no_arrays"),
        (b"[null]", "layer_empty"),
        (b"null", "no_arrays"),
        (b"[1, true]", "json_value"),
        (b"[true, 1]", "json_value"),
        (b"[[[[[[[1]]]]]]]", "lists_too_deep"),
        (b"[" * MAX_LISTS, "lists_too_deep"),
        (b'{"a":' * 60, "not_json"),
        (b'{"a": [1], "a": [2]}', "array_twice"),
        (b'{"a": [1], "\\u0061": [1]}', "array_twice"),
        (b"{" + b",".join(b'"%d": [1]' % n for n in range(MAX_ARRAYS + 1)) + b"}", "too_many_arrays"),
        (b"[" + b"0," * MAX_NUMBERS + b"0]", "too_many_numbers"),
        (b"[" + b"0," * (MAX_NUMBERS + 1) + b"0]", "json_signs"),
        (b"[[1],[" * (MAX_LISTS // 2 + 1), "json_signs"),
        (b'["' + b'","' * MAX_NUMBERS, "json_signs"),
        (b"[" + b"{}," * 1000 + b"{}]", "json_signs"),
    ],
    ids=lambda value: value[:12].decode() if isinstance(value, bytes) else value,
)
def test_json_refusals(content, code):
    assert refusal(read_arrays, "x.json", content).code == code


def test_objects_in_objects_and_in_lists_name_their_arrays_by_the_way_to_them():
    assert read_arrays("x.json", b'[{"a": 1}]')["0.a"] == 1
    assert read_arrays("x.json", b'{"a": {"b": [1]}}')["a.b"].tolist() == [1]
    assert read_arrays("x.json", b"[[[[[[1]]]]]]")["x"].shape == (1, 1, 1, 1, 1, 1)


def test_json_refusals_say_where():
    error = refusal(read_arrays, "x.json", b'{"w\\u202e": [[1, 2], [3, "four and twenty blackbirds"]]}')
    assert str(error) == (
        'w⟨U+202E⟩ must hold only numbers, or only true and false, all equally deep: "four and twenty bla… at (1, 1)'
    )
    assert (
        str(refusal(read_arrays, "x.json", b"[1,\n 2;]"))
        == "x.json must be JSON: it can be read as JSON only up to line 2, column 3"
    )


# ---- NPY -------------------------------------------------------------------------------------------------------------
NUMERIC = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">u8"]


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.filterwarnings("ignore:Stored array in format:UserWarning")
def test_npy_of_every_number(dtype, order, version):
    array = (np.arange(2 * 3 * 5 * 7) % 101).reshape(2, 3, 5, 7).astype(dtype, order=order)
    read = read_arrays("x.npy", npy(array, version=version))["x"]
    is_whole = np.dtype(dtype).kind in "iu" and np.dtype(dtype).name != "uint64"
    assert read.shape == (2, 3, 5, 7) and read.dtype == (np.int64 if is_whole else np.float64)
    assert [read[1, 2, 4, 6], read[0, 1, 0, 2], read[1, 0, 3, 0]] == [209 - 202, 37, 126 - 101]
    assert np.array_equal(read, array)


def test_npy_by_hand():
    data = struct.pack(">6d", 1, -2.5, 3, 0, 4, -0.125)
    assert read_arrays("x.npy", npy_of(described(">f8", "(2, 3)"), data))["x"].tolist() == MATRIX
    columns = struct.pack("<6d", 1, 0, -2.5, 4, 3, -0.125)
    assert read_arrays("x.npy", npy_of(described("<f8", "(2, 3)", "True"), columns))["x"].tolist() == MATRIX
    assert read_arrays("x.npy", npy_of(described("|b1", "(3L,)"), b"\0\1\2"))["x"].tolist() == [False, True, True]
    assert read_arrays("x.npy", npy_of(described("bfloat16"), bytes.fromhex("c03f 00c0")))["x"].tolist() == [1.5, -2.0]
    assert read_arrays("x.npy", npy(2.5))["x"].shape == ()
    assert read_arrays("x.npy", npy_of("{'shape': (1,), 'fortran_order':False, 'descr': '|i1'}", b"\xff"))["x"] == -1
    assert read_arrays("x.npy", npy_of('{"shape": (1,),\n"fortran_order": True, "descr": "u1"}', b"\xff"))["x"] == 255


def test_npy_numbers_keep_every_bit():
    numbers = read_arrays("x.npy", npy(np.array([5e-324, -0.0, 1e308])))["x"]
    assert numbers.tolist() == [5e-324, 0.0, 1e308] and np.signbit(numbers).tolist() == [False, True, False]
    assert read_arrays("x.npy", npy(np.array([2**-149], np.float32)))["x"].tolist() == [2.0**-149]
    assert read_arrays("x.npy", npy(np.array([2**-24, 65504], np.float16)))["x"].tolist() == [2.0**-24, 65504]
    assert read_arrays("x.npy", npy(np.array([2**53 + 1])))["x"].tolist() == [2**53 + 1]
    assert read_arrays("x.npy", npy(np.array([2**64 - 1], np.uint64)))["x"].tolist() == [2.0**64]


class Danger:
    """Unpickled, it would write into `opened`."""

    opened: list = []  # noqa: RUF012

    def __reduce__(self):
        return Danger.opened.append, (1,)


def test_nothing_is_ever_unpickled():
    content = npy(np.array([Danger()], dtype=object), allow_pickle=True)
    assert refusal(read_arrays, "x.npy", content).code == "array_pickled"
    assert refusal(read_arrays, "x.npz", zipped([("x.npy", content)])).code == "array_pickled"
    for header in (described("O", "(1,)"), described("|O8", "(1,)")):
        assert refusal(read_arrays, "x.npy", npy_of(header, content[80:])).code == "array_pickled"
    assert refusal(read_arrays, "x.npy", content[-40:]).code == "npy_header"  # the pickle alone
    assert Danger.opened == []


@pytest.mark.parametrize(
    "array",
    [
        np.array([1j]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([1], dtype="timedelta64[s]"),
        np.array([(1.0, 2)], dtype=[("a", "<f8"), ("b", "<i4")]),
        np.zeros(1, dtype="V2"),
    ],
    ids=lambda array: str(array.dtype),
)
def test_npy_of_anything_but_real_numbers_is_refused(array):
    assert refusal(read_arrays, "x.npy", npy(array)).code == "array_type"


@pytest.mark.parametrize("array", [np.array(["1"]), np.array([b"1"])], ids=str)
def test_npy_of_texts_holds_no_array(array):
    assert refusal(read_arrays, "x.npy", npy(array)).code == "no_arrays"
    assert read_contents("x.npy", npy(array)).texts == {"x": ("1",)}


@pytest.mark.parametrize(
    "version, encoding, descr, given",
    [
        (1, "latin-1", "[('é', '<f8')]", "[('é', '<f8')]"),
        (3, "utf-8", "[('键', '<f8')]", "[('键', '<f8')]"),
        (2, "latin-1", "'float8_e4m3fn'", "float8_e4m3fn"),
    ],
)
def test_a_refusal_repeats_the_type_as_the_file_writes_it(version, encoding, descr, given):
    header = described().replace("'<f8'", descr).encode(encoding)
    error = refusal(read_arrays, "x.npy", npy_of(header, bytes(16), version))
    assert (error.code, error.values["given"]) == ("array_type", given)


@pytest.mark.parametrize(
    "content, code",
    [
        (PNG, "npy_header"),
        (b"\x93NUMPY", "npy_header"),
        (b"\x93NUMPY\1", "npy_header"),
        (b"\x93NUMPY\1\0", "npy_header"),
        (npy_of(described(), bytes(16))[:-40], "npy_header"),
        (npy_of(described(), bytes(16)).replace(b"\1\0", b"\4\0", 1), "npy_header"),
        (npy_of("{}"), "npy_header"),
        (npy_of(described("")), "array_type"),
        (npy_of(described("<f16", "(1,)"), bytes(16)), "array_type"),
        (npy_of(described("float64"), bytes(16)), "array_type"),
        (npy_of("__import__('os').abort()"), "npy_header"),
        (npy_of("(" * MAX_NPY_HEADER_BYTES), "npy_header"),
        (npy_of("-" * (MAX_NPY_HEADER_BYTES - 1) + "1"), "npy_header"),
        (npy_of("1+" * (MAX_NPY_HEADER_BYTES // 2 - 1) + "1"), "npy_header"),
        (npy_of("# " + described(), bytes(16)), "npy_header"),
        (npy_of(repr(described()), bytes(16)), "npy_header"),
        (npy_of(described().replace("}", ""), bytes(16)), "npy_header"),
        (npy_of(described() + "\n" + described(), bytes(16)), "npy_header"),
        (npy_of(described().replace("'<f8'", "0x" + "f" * 9000), bytes(16)), "npy_header"),
        (npy_of(described().replace("'<f8'", "'\xe9'"), version=3), "npy_header"),  # no UTF-8
        (npy_of("{[]: 1}"), "npy_header"),
        (npy_of(described("<f8L"), bytes(16)), "array_type"),
        (npy_of(described(["<f8"]), bytes(16)), "array_type"),
        (npy_of(described(shape="(True,)"), bytes(8)), "npy_header"),
        (npy_of(described(shape="(2.0,)"), bytes(16)), "npy_header"),
        (npy_of(described(shape="[2]"), bytes(16)), "npy_header"),
        (npy_of(described(shape="(" + f"{'9' * 2000}, " * 4 + ")"), bytes(16)), "npy_header"),
        (npy_of(described(shape="(2")), "npy_header"),
        (npy_of(described(shape="(-2,)"), bytes(16)), "npy_header"),
        (npy_of(described(shape="(1e9,)"), bytes(16)), "npy_header"),
        (npy_of(described(shape=f"({'9' * 5000},)"), bytes(16)), "npy_header"),
        (npy_of(described(shape="(" + "9" * 19 + ",)"), bytes(16)), "too_many_numbers"),
        (npy_of(described(order="0"), bytes(16)), "npy_header"),
        (npy_of(b" " * (MAX_NPY_HEADER_BYTES + 1)), "header_too_long"),
        (b"\x93NUMPY\2\0\xff\xff\xff\xff" + described().encode(), "header_too_long"),
        (npy_of(described(), bytes(15)), "array_bytes"),
        (npy_of(described(), bytes(17)), "array_bytes"),
        (npy_of(described(shape="(1000, 1000)"), bytes(8)), "array_bytes"),
        (npy_of(described(shape="(1000000000, 1000000000)"), bytes(8)), "too_many_numbers"),
        (npy_of(described(shape="(0, 9999999999)")), "empty"),
        (npy_of(described(shape="(2, 0)")), "empty"),
        (npy(np.zeros((1, 1, 1, 1, 1, 1, 1))), "array_axes"),
        (npy_of(described(shape="(" + "1," * 3000 + ")"), bytes(8)), "array_axes"),
        (npy(np.array([1, np.nan])), "not_finite"),
        (npy_of(described("<f4", "(1,)"), b"\x01\x00\x80\x7f"), "not_finite"),  # a NaN that signals
        (npy(np.array([np.inf])), "not_finite"),
    ],
)
def test_npy_refusals(content, code):
    assert refusal(read_arrays, "x.npy", content).code == code


# ---- NPZ -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_npz_arrays_by_their_names(packing):
    rng = np.random.default_rng(0)
    given = {
        "w_q": rng.standard_normal((5, 7)),
        "x": np.asfortranarray(rng.standard_normal((2, 3, 5, 7))),
        "allowed": rng.random((3, 11)) < 0.5,
        "heads": np.array(2),
        "键": np.array([1.5]),
    }
    read = read_arrays("layer.npz", npz(packing, **given))
    assert list(read) == list(given)
    for name, array in given.items():
        assert read[name].dtype == {"allowed": bool, "heads": np.int64}.get(name, np.float64)
        assert read[name].shape == array.shape and np.array_equal(read[name], array)


def directory_entry(content):
    """Where the first entry of a zip directory begins."""
    return content.index(b"PK\x01\x02")


def with_field(content, offset, form, value):
    """The archive with one field of its first directory entry changed."""
    changed = bytearray(content)
    struct.pack_into(form, changed, directory_entry(content) + offset, value)
    return bytes(changed)


def far_away():
    """An archive whose member begins at byte 2^64 - 1."""
    member = zipfile.ZipInfo("x.npy")
    member.extra = struct.pack("<HHQ", 1, 8, 2**64 - 1)
    return with_field(zipped([(member, npy(1.0))]), 42, "<I", 2**32 - 1)


ONE = npz(x=np.zeros(1))
PACKED = npz(zipfile.ZIP_DEFLATED, x=np.zeros(1000))


@pytest.mark.parametrize(
    "content, code",
    [
        (PNG, "not_npz"),
        (b"PK\3\4", "not_npz"),
        (ONE[:-9], "not_npz"),
        (ONE[40:], "not_npz"),
        (npy(np.zeros(2)), "not_npz"),
        (zipped([]), "no_arrays"),
        (zipped([("x.txt", b"1")]), "member_name"),
        (zipped([("folder/", b"")]), "no_arrays"),
        (zipped([("x.npy", npy(1.0))], zipfile.ZIP_BZIP2), "member_packing"),
        (zipped([("x.npy", npy(1.0))], zipfile.ZIP_LZMA), "member_packing"),
        (with_field(ONE, 8, "<H", 1), "member_packing"),  # encrypted
        (with_field(ONE, 10, "<H", 99), "member_packing"),  # no known packing
        (with_field(ONE, 16, "<I", 1), "not_npz"),  # checksum
        (with_field(ONE, 24, "<I", 100), "not_npz"),  # fewer bytes than there are
        (with_field(PACKED, 24, "<I", 100), "not_npz"),
        (with_field(PACKED, 24, "<I", 2**32 - 2), "unpacked_too_large"),
        (with_field(ONE, 42, "<I", 2**31), "not_npz"),  # where it begins
        (far_away(), "not_npz"),
        (with_field(ONE, 6, "<H", 999), "not_npz"),  # needs a later version
        (zipped([("x.npy", b"")]), "npy_header"),
        (zipped([("x.npy", PNG)]), "npy_header"),
        (zipped([("x.npy", npy_of(described(shape="(100, 100)"), bytes(8)))]), "array_bytes"),
        (zipped([(f"{n}.npy", npy(1.0)) for n in range(MAX_ARRAYS + 1)]), "too_many_arrays"),
        (npz(a=np.zeros(MAX_NUMBERS // 2 + 1, np.int8), b=np.zeros(MAX_NUMBERS // 2, np.int8)), "too_many_numbers"),
        (npz(zipfile.ZIP_DEFLATED, a=np.zeros(MAX_NUMBERS + 1, np.int8)), "too_many_numbers"),
        (npz(a=np.zeros(1), b=np.array([np.nan])), "not_finite"),
    ],
)
def test_npz_refusals(content, code):
    assert refusal(read_arrays, "x.npz", content).code == code


def test_two_members_of_one_name_are_refused():
    content = zipped([("a.npy", npy(1.0)), ("b.npy", npy(2.0))]).replace(b"b.npy", b"a.npy")
    assert refusal(read_arrays, "x.npz", content).code == "array_twice"


@pytest.mark.parametrize("way", ["folder/", "../", "..\\"])
def test_a_member_in_a_folder_is_called_by_the_way_to_it_and_nothing_is_written(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (name,) = read_arrays("x.npz", zipped([(f"{way}x.npy", npy(1.0))]))
    assert name == f"{way}x" and list(tmp_path.parent.rglob("x*")) == []


# ---- safetensors -----------------------------------------------------------------------------------------------------
MANY = bytes(MAX_NUMBERS + 1)


def test_safetensors_of_every_number():
    array = torch.arange(2 * 3 * 5 * 7).reshape(2, 3, 5, 7) % 101  # small enough for int8
    dtypes = ["bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64"]
    dtypes += ["uint8", "uint16", "uint32", "uint64", "bool"]
    saved = {name: array.to(getattr(torch, name)) for name in dtypes}
    read = read_arrays("layer.safetensors", safetensors.torch.save(saved, metadata={"format": "pt", "键": "值"}))
    assert set(read) == set(dtypes)
    for name in dtypes:
        is_whole = "int" in name and name != "uint64"
        expected = array.numpy().astype(bool if name == "bool" else np.int64 if is_whole else np.float64)
        assert read[name].dtype == expected.dtype and np.array_equal(read[name], expected), name


def test_bfloat16_is_what_torch_says_it_is():
    rng = torch.Generator().manual_seed(0)
    numbers = torch.randn(1009, generator=rng, dtype=torch.float64).mul(1e30).to(torch.bfloat16)
    numbers[:3] = torch.tensor([-0.0, 2.0**-133, -3.3895e38])
    read = read_arrays("x.safetensors", safetensors.torch.save({"x": numbers}))["x"]
    assert np.array_equal(read, numbers.to(torch.float64).numpy()) and np.signbit(read[0])
    by_hand = tensors({"x": entry("BF16", (2,))}, bytes.fromhex("c03f 00c0"))
    assert read_arrays("x.safetensors", by_hand)["x"].tolist() == [1.5, -2.0]


def test_as_many_arrays_as_may_be():
    saved = {f"array {n}": torch.zeros(1) for n in range(MAX_ARRAYS)}
    assert len(read_arrays("x.safetensors", safetensors.torch.save(saved))) == MAX_ARRAYS
    few = {name: array for name, array in saved.items() if name < "array 2"}
    metadata = {f"key {n}": '"' for n in range(MAX_ARRAYS - len(few))}  # texts are counted, too
    assert read_arrays("x.safetensors", safetensors.torch.save(few, metadata=metadata)).keys() == few.keys()
    metadata["one more"] = ""
    assert (
        refusal(read_arrays, "x.safetensors", safetensors.torch.save(few, metadata=metadata)).code == "too_many_arrays"
    )
    saved["one more"] = torch.zeros(1)
    assert refusal(read_arrays, "x.safetensors", safetensors.torch.save(saved)).code == "too_many_arrays"


@pytest.mark.parametrize(
    "content, code",
    [
        (PNG, "not_safetensors"),
        (b"\0", "not_safetensors"),
        (b"\xff" * 99, "not_safetensors"),
        (tensors(b"[" * 500), "not_safetensors"),
        (tensors(b"\xff\xfe"), "not_safetensors"),
        (tensors({"x": entry()}, bytes(3)), "not_safetensors"),
        (tensors({"x": entry()}, bytes(5)), "not_safetensors"),
        (tensors({"x": entry(shape=(2,))}, bytes(4)), "not_safetensors"),
        (tensors({"x": entry(shape=(2**32, 2**32))}, bytes(4)), "not_safetensors"),
        (tensors({"x": entry(at=(4, 8))}, bytes(8)), "not_safetensors"),
        (tensors({"x": entry(dtype="NUL")}, bytes(4)), "not_safetensors"),
        (tensors({"x": entry(), "y": entry()}, bytes(4)), "not_safetensors"),  # of the same bytes
        (tensors({"x": entry()}, bytes(4))[:20], "not_safetensors"),
        (tensors(b'{"x": %s, "x": %s}' % ((json.dumps(entry()).encode(),) * 2), bytes(4)), "array_twice"),
        (tensors({"__metadata__": {"a": "b"}}), "no_arrays"),
        (tensors({"x": entry("F8_E4M3", (4,))}, bytes(4)), "array_type"),
        (tensors({"x": entry("C64", at=(0, 8))}, bytes(8)), "array_type"),
        (tensors({"x": entry("F4", (8,))}, bytes(4)), "array_type"),
        (tensors({"x": entry(shape=(0, 2**63), at=(0, 0))}), "empty"),
        (tensors({"x": entry(shape=(1,) * 7)}, bytes(4)), "array_axes"),
        (tensors({"x": entry("U8", (MAX_NUMBERS + 1,), (0, MAX_NUMBERS + 1))}, MANY), "too_many_numbers"),
        (tensors({"x": entry()}, struct.pack("<f", np.inf)), "not_finite"),
        (tensors({"x": entry("BF16", (2,))}, b"\0\0\xc0\x7f"), "not_finite"),
        (tensors({f"{n:05}": entry(shape=(0,), at=(0, 0)) for n in range(2000)}), "header_too_long"),
    ],
)
def test_safetensors_refusals(content, code):
    assert refusal(read_arrays, "x.safetensors", content).code == code


# ---- which file, which array -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("file_name", ["x", "x.", "", ".", "x.pt", "x.npy.zip", "x.csv/y", "x.xlsx\u202e", "npy"])
def test_an_unknown_ending_is_refused_with_the_known(file_name):
    error = refusal(read_arrays, file_name, b"1")
    assert error.code == "file_ending"
    assert str(error).endswith(" must end in one of .csv, .tsv, .txt, .json, .npy, .npz, .safetensors")


@pytest.mark.parametrize("ending", FILE_READERS)
def test_an_empty_and_a_large_file_are_refused(ending):
    assert refusal(read_arrays, f"x{ending}", b"").code == "file_empty"
    assert refusal(read_arrays, f"x{ending}", bytes(MAX_FILE_BYTES + 1)).code == "file_too_large"


def test_a_full_file_is_read():
    numbers = np.arange(MAX_NUMBERS - 100, dtype=np.float32)
    assert read_arrays("x.npy", npy(numbers))["x"][-1] == MAX_NUMBERS - 101


def test_the_only_array_is_taken_or_the_one_that_is_named():
    one, two = npz(a=np.array([[1.0, 2.0]])), npz(k=np.array([[3.0]]), q=np.array([[4.0]]))
    assert read_array("f.npz", one, "w_q").tolist() == [[1, 2]]
    assert read_array("f.npz", two, "q").tolist() == [[4]]
    assert read_array("f.npz", two, "q", array="k").tolist() == [[3]]
    assert read_array("f.npz", two, "w_q", array="q").tolist() == [[4]]
    assert str(refusal(read_array, "f.npz", two, "w_q")) == (
        "f.npz must hold one array, or one called w_q: it holds k, q; choose one"
    )
    assert str(refusal(read_array, "f.npz", two, "w_q", array="v")) == "w_q must be one of k, q: got v"
    assert refusal(read_array, "f.npz", one, "w_q", array="b").code == "unknown_choice"


def test_names_out_of_files_are_cut_and_made_visible():
    names = {f"{n}\u202e\n" + "n" * 10_000: [1] for n in range(11)}
    error = refusal(read_matrix, "f.json", json.dumps(names).encode(), "x")
    assert error.values["choices"].startswith("0⟨U+202E⟩⟨U+000A⟩nnn") and error.values["choices"].endswith(", …")
    refusal(read_arrays, "f" * 10_000 + "\n.csv", b"x")
    refusal(read_arrays, "f.npz", zipped([("n\n" * 30_000, b"")]))


def test_a_matrix_from_vectors_and_leading_axes():
    assert read_matrix("b.json", b"[1, 2, 3]", "b_q").tolist() == [[1, 2, 3]]
    assert read_matrix("b.json", b"7", "b_q").tolist() == [[7]]
    assert read_matrix("x.npy", npy(np.arange(6).reshape(1, 1, 2, 3)), "x").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read_matrix("x.npy", npy(np.arange(2).reshape(1, 1, 1, 2)), "x").tolist() == [[0, 1]]
    truths = read_matrix("x.json", b"[[true, false]]", "x")
    assert truths.tolist() == [[1, 0]] and truths.dtype == np.float64
    error = refusal(read_matrix, "x.npy", npy(np.zeros((1, 2, 3, 5))), "x")
    assert str(error) == "x must have the axes (rows, columns): its shape is (1, 2, 3, 5)"


def test_a_matrix_keeps_the_limits_of_one_that_is_typed():
    assert read_matrix("x.npy", npy(np.ones((512, 512))), "x").sum() == 512 * 512
    assert refusal(read_matrix, "x.npy", npy(np.ones((513, 1))), "x").code == "too_many_rows"
    assert refusal(read_matrix, "x.npy", npy(np.ones(513)), "x").code == "too_many_columns"
    assert read_matrix("x.json", b"[1e6, -1e6, 5e-324]", "x").tolist() == [[1e6, -1e6, 5e-324]]
    error = refusal(read_matrix, "x.json", b"[[1, 2], [-1e308, 1e7]]", "w_q")
    assert error.code == "too_large"
    assert {error.values[part] for part in ("name", "row", "column", "given")} == {"w_q", 2, 1, "-1e+308"}


def test_minus_infinity_is_for_those_who_may_hold_it():
    mask = np.array([[0, -np.inf], [0, 0]])
    content = npz(mask=mask, q=np.eye(2))
    assert str(refusal(read_arrays, "f.npz", content)) == "mask must be finite everywhere: -inf at (0, 1)"
    assert np.array_equal(read_arrays("f.npz", content, minus_infinity={"mask"})["mask"], mask)
    assert refusal(read_arrays, "f.npz", content, minus_infinity={"q"}).code == "not_finite"
    assert np.array_equal(read_array("f.npz", content, "mask", minus_infinity=True), mask)
    assert refusal(read_matrix, "f.npz", content, "mask").code == "not_finite"
    assert read_matrix("f.npz", content, "q").tolist() == [[1, 0], [0, 1]]  # the other array is not asked
    for wrong in (np.nan, np.inf):
        error = refusal(read_array, "m.npy", npy(np.array([[-np.inf], [wrong]])), "mask", minus_infinity=True)
        assert str(error) == f"mask must hold finite numbers or -inf: {wrong} at (1, 0)"


# ---- what a small file may cost --------------------------------------------------------------------------------------
def zip_bomb(declared=None):
    """100 MB of zeros in 100 kB; declared: how many bytes the directory says instead."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        member.write(npy_of(described("|i1", "(100000000,)")))
        for _ in range(100):
            member.write(bytes(1_000_000))
    content = file.getvalue()
    return content if declared is None else with_field(content, 24, "<I", declared)


BOMBS = {
    "zip": ("x.npz", zip_bomb, "unpacked_too_large"),
    "zip that lies": ("x.npz", lambda: zip_bomb(declared=ARRAY_BOUNDS.unpacked_bytes), "not_npz"),
    "directory": ("x.npz", lambda: ONE[:-22] + b"PK\1\2" + bytes(42) + b"PK\1\2" * 1_000_000, "too_many_arrays"),
    "header": ("x.npy", lambda: npy_of(described(shape="(100000, 100000)"), bytes(8)), "too_many_numbers"),
    "bytes as numbers": ("x.npy", lambda: npy(np.zeros(4_900_000, np.int8)), "too_many_numbers"),
    "brackets": ("x.json", lambda: b"[" * MAX_FILE_BYTES, "json_signs"),
    "small lists": ("x.json", lambda: b"[" + b"[1]," * (MAX_LISTS - 2) + b"1]", "json_value"),
    "objects": ("x.json", lambda: b"[" + b"{}," * 1_600_000 + b"1]", "json_signs"),
    "digits": ("x.json", lambda: b"[" + b"9" * 4_900_000 + b"]", "not_finite"),
    "text": ("x.csv", lambda: b"1," * 2_400_000, "matrix_text_too_long"),
    "tensors": ("x.safetensors", lambda: tensors(b"{" + b'"":{},' * 800_000 + b"}"), "header_too_long"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_costs_little_memory(bomb):
    file_name, build, code = BOMBS[bomb]
    content = build()
    tracemalloc.start()
    try:
        assert refusal(read_arrays, file_name, content).code == code
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


# ---- anything at all -------------------------------------------------------------------------------------------------
OFTEN = often(300)
BEGINNINGS = [
    b"",
    b"\x93NUMPY\1\0",
    b"\x93NUMPY\2\0\x40\0\0\0{'descr': '<f8', ",
    npy_of(described()),
    b"PK\3\4",
    ONE[:-30],
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'{"a": [[1, 2], ',
    tensors({"x": entry()}),
    struct.pack("<Q", 2),
]
LETTERS = st.text(alphabet="0123456789.,;:eE+-−/[]{}\"' \t\n\rtruefalsnNaIity\\u\0∞｜", max_size=60)
ANYTHING = st.one_of(
    st.builds(bytes.__add__, st.sampled_from(BEGINNINGS), st.binary(max_size=120)),
    LETTERS.map(str.encode),
    LETTERS.map(lambda text: text.encode("utf-16")),
)
RNG = np.random.default_rng(0)
GOOD = {
    "x.csv": b"1,2.5\n-3,4e-1\n",
    "x.tsv": "1\t2,5\n-3\t4".encode("utf-16"),
    "x.txt": b"[[1, 2],\n [3, 1/4]]",
    "x.json": b'{"w_q": [[1, 2.5], [-3e-1, 4]], "allowed": [true, false]}',
    "x.npy": npy(RNG.standard_normal((2, 3)).astype(">f4", order="F")),
    "y.npy": npy(np.array([[1, -2, 3]], np.int16), version=(2, 0)),
    "x.npz": npz(w_q=RNG.standard_normal((2, 3)), allowed=np.array([True, False])),
    "y.npz": npz(zipfile.ZIP_DEFLATED, w_q=np.zeros((7, 11)), b_q=np.array([1, 2], np.float16)),
    "x.safetensors": safetensors.torch.save(
        {"w_q": torch.zeros(2, 3, dtype=torch.bfloat16), "allowed": torch.tensor([True, False])}, {"format": "pt"}
    ),
}
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["set", "flip", "cut", "drop", "insert", "again"]),
        st.integers(0, 1 << 16),
        st.integers(0, 255),
        st.binary(min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=4,
)


def changed(content, changes):
    """The bytes, after each change at its place."""
    for kind, at, byte, some in changes:
        at %= len(content) + 1
        before, after = content[:at], content[at:]
        content = {
            "set": before + bytes([byte]) + after[1:],
            "flip": before + bytes(one ^ (1 << byte % 8) for one in after[:1]) + after[1:],
            "cut": before,
            "drop": before + after[len(some) :],
            "insert": before + some + after,
            "again": before + after[:byte] + after,
        }[kind]
    return content


def refused_or_finite(file_name, content):
    """A file gives arrays within all limits, or a refusal on one line; never anything else."""
    try:
        arrays = read_arrays(file_name, content)
    except AttentionError as error:
        assert str(error).splitlines() == [str(error)] and len(str(error)) < 2500
    else:
        assert 1 <= len(arrays) <= MAX_ARRAYS
        for array in arrays.values():
            assert array.dtype in (np.float64, np.int64, bool) and array.ndim <= 6 and array.size
            assert np.isfinite(array).all() and array.flags.c_contiguous and array.flags.writeable
    try:
        matrix = read_matrix(file_name, content, "w_q")
    except AttentionError:
        return
    assert matrix.dtype == np.float64 and matrix.ndim == 2 and max(matrix.shape) <= 512
    assert np.abs(matrix).max() <= 1e6


@OFTEN
@given(st.sampled_from(sorted(FILE_READERS)), ANYTHING)
def test_any_bytes_are_refused_or_finite(ending, content):
    refused_or_finite(f"x{ending}", content)


@OFTEN
@given(st.sampled_from(sorted(GOOD)), CHANGES)
def test_a_damaged_file_is_refused_or_finite(file_name, changes):
    refused_or_finite(file_name, changed(GOOD[file_name], changes))


@pytest.mark.parametrize("file_name", GOOD)
def test_the_files_to_be_damaged_are_good(file_name):
    assert read_arrays(file_name, GOOD[file_name])


# ---- a matrix beside something else ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "content",
    [
        b'{"w_q": [[1, 2], [3, 4]], "note": "mine", "config": {"heads": 2, "bias": true}, "tokens": ["a", null]}',
        b'{"layers": [[1], 2], "W_Q": [[1, 2], [3, 4]]}',
    ],
)
def test_a_matrix_is_read_beside_what_is_none(content):
    assert read_matrix("m.json", content, "w_q").tolist() == [[1, 2], [3, 4]]


def test_what_should_be_the_matrix_and_is_none_is_refused_by_name():
    assert refusal(read_matrix, "m.json", b'{"w_q": [[1, "2"]], "k": [[1]]}', "w_q").code == "json_value"
    assert refusal(read_matrix, "m.json", b'{"note": "x"}', "w_q").code == "no_arrays"
    assert (
        refusal(read_matrix, "m.npz", npz(w_q=np.array([{}], dtype=object), k=np.eye(2)), "w_q").code == "array_pickled"
    )


def test_a_header_that_is_no_python_is_refused_by_what_reads_all_of_a_file():
    """NumPy's own reader of headers lets the error of its tokeniser out."""
    good = npy(np.array(["a", "b"]))
    for place in range(6, 100):
        for letter in (b"\0", b"(", b"'", b"9"):
            content = good[:place] + letter + good[place + 1 :]
            try:
                read_contents("x.npy", content)
            except AttentionError as error:
                assert error.code
