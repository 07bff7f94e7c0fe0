"""Byte-pair encoding: the merges of the paper's own example, pieces that give the text back, and where they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_core.learned.pieces.byte_pairs import (
    BEGIN,
    BYTE_PATTERN,
    Merge,
    cut_pieces,
    growing_pieces,
    learn_merges,
    locate,
    split_runs,
)
from attention_core.learned.pieces.shipped import LEARNED_MERGES, SPACES, load_pieces

PAPER = {"low·": 5, "lower·": 2, "newest·": 6, "widest·": 3}  # figure 1 of Sennrich et al. 2016; · ends a word


def naive_merges(runs, count):
    """The algorithm of the paper on lists, a loop a step."""
    cut = {run: list(run) for run in runs}
    learned = []
    for _ in range(count):
        found = {}
        for run, symbols in cut.items():
            for at in range(len(symbols) - 1):
                pair = (symbols[at], symbols[at + 1])
                found[pair] = found.get(pair, 0) + runs[run]
        best = min(found, key=lambda pair: (-found[pair], pair))
        learned.append((*best, found[best]))
        for symbols in cut.values():
            at = 0
            while at < len(symbols) - 1:
                if (symbols[at], symbols[at + 1]) == best:
                    symbols[at : at + 2] = ["".join(best)]
                at += 1
    return learned


def test_the_merges_of_the_papers_example():
    merges = learn_merges(PAPER, 10)
    assert [(merge.left, merge.right, merge.count) for merge in merges] == naive_merges(PAPER, 10)
    assert [merge.joined for merge in merges][:2] == ["es", "est"]  # 9 times, then 9 times
    assert {"est·", "low", "newest·"} <= {merge.joined for merge in merges}


@given(st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(2, 9), min_size=1, max_size=5))
def test_any_text_is_learned_as_by_the_loop(runs):
    merges = learn_merges(runs, 5)
    assert [(merge.left, merge.right, merge.count) for merge in merges] == naive_merges(runs, len(merges))


def bytes_of(piece):
    """What a piece stands for: a byte, or the bytes of its characters."""
    if BYTE_PATTERN.fullmatch(piece):
        return bytes([int(piece[3:5], 16)])
    return piece.replace(BEGIN, "").encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("language", SPACES)
@given(text=st.text(max_size=40))
def test_pieces_give_every_text_back(language, text):
    table = load_pieces(language)
    pieces = cut_pieces(text, table.merges, table.characters)
    raw = b"".join(map(bytes_of, pieces))
    kept = "".join(run.removeprefix(BEGIN) for run in split_runs(text))
    assert raw == kept.replace(BEGIN, "").encode("utf-8", "surrogatepass")
    assert len(locate(text, pieces)) == len(pieces)


def test_the_pieces_grow_to_those_of_all_merges():
    table = load_pieces("en")
    text = "the old dog barked because it was tired ."
    grown = growing_pieces(text, table.merges, table.characters)
    assert grown[0][0] == 0 and all(piece.strip(BEGIN) == piece or len(piece) == 1 for piece in grown[0][1])
    assert grown[-1][1] == cut_pieces(text, table.merges, table.characters)
    sizes = [len(pieces) for _, pieces in grown]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)
    for number, pieces in grown:
        assert cut_pieces(text, table.merges[:number], table.characters) == pieces


def test_a_sign_that_nothing_was_learned_of_is_its_bytes():
    table = load_pieces("zh")
    assert cut_pieces("🐶", table.merges, table.characters) == ("<0xF0>", "<0x9F>", "<0x90>", "<0xB6>")
    assert locate("狗🐶叫", ("狗", "<0xF0>", "<0x9F>", "<0x90>", "<0xB6>", "叫")) == [(0, 1), *[(1, 2)] * 4, (2, 3)]


def test_no_piece_reaches_beyond_its_run():
    merges = [Merge("g", ".", 9)]
    assert cut_pieces("dog.", merges, set("▁dog.")) == ("▁", "d", "o", "g", ".")


@pytest.mark.parametrize("language", SPACES)
def test_the_shipped_table_is_what_one_learns_first(language):
    table = load_pieces(language)
    assert len(table.merges) == LEARNED_MERGES
    counts = [merge.count for merge in table.merges]
    assert counts == sorted(counts, reverse=True)
    assert table.size == len(table.characters) + 256 + LEARNED_MERGES
