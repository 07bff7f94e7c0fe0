"""A layer that copies, beside a count by hand."""

import pytest

from attention_core.analysis.target_leakage import count_copied


@pytest.mark.parametrize("words", ["Anna fed the dog", "ha ha ha he ha", "it", "a b a b b"])
def test_all_is_right_with_unshifted_targets_and_only_a_word_twice_in_a_row_with_shifted_ones(words):
    words = words.split()
    repeated = sum(words[place] == words[place + 1] for place in range(len(words) - 1))
    copied = count_copied(words)
    assert (copied.same, copied.rows) == (len(words), len(words))
    assert (copied.shifted, copied.shifted_rows) == (repeated, len(words) - 1)
