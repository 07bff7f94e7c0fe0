"""The length of sentences in pieces, by the number of pieces in the vocabulary."""

from dataclasses import dataclass
from functools import lru_cache

from torch import Generator

from attention_core.learned.grammar import draw_scene
from attention_core.learned.language.drawn_numbers import DrawnNumbers
from attention_core.learned.pieces.byte_pairs import growing_pieces
from attention_core.learned.pieces.shipped import LEARNED_MERGES, SPACES, load_pieces

LENGTH_MERGES = (0, 50, 100, 200, 400, LEARNED_MERGES)  # numbers of merges that are compared
MEASURED_TEXTS, MEASURED_SEED = 100, 2  # held-out sentences: their number and their seed
VECTOR_WIDTH = 64  # width of a piece's vector, as in the shipped models


@dataclass(frozen=True)
class PieceLength:
    """Sentences in pieces. length: the mean number of pieces per sentence. pairs: the mean of the squared number, the
    pairs that attention compares. size: the number of pieces in the vocabulary. vectors: the number of parameters in
    the pieces' embedding table."""

    length: float
    pairs: float
    size: int
    vectors: int


@lru_cache(maxsize=2)
def measure_lengths(language: str) -> tuple[PieceLength, ...]:
    """Measure sentences of the grammar in pieces, after each number of merges of LENGTH_MERGES.

    >>> rows = measure_lengths("en")
    >>> rows[0].length > 2 * rows[-1].length, rows[-1].vectors == 64 * rows[-1].size
    (True, True)
    """
    table = load_pieces(language)
    rng = DrawnNumbers(Generator().manual_seed(MEASURED_SEED))
    lengths: dict[int, list[int]] = {merges: [] for merges in LENGTH_MERGES}
    for _ in range(MEASURED_TEXTS):
        text = SPACES[language].join(draw_scene(rng, part="held").say(language).words)
        grown = growing_pieces(text, table.merges, table.characters)
        for merges in LENGTH_MERGES:
            pieces = [pieces for learned, pieces in grown if learned <= merges][-1]
            lengths[merges].append(len(pieces))
    rows = []
    for merges, counts in lengths.items():
        size = table.size - LEARNED_MERGES + merges
        mean = sum(counts) / len(counts)
        square = sum(count**2 for count in counts) / len(counts)
        rows.append(PieceLength(mean, square, size, size * VECTOR_WIDTH))
    return tuple(rows)
