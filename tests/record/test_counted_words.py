"""Sentences that count: one thing is not many."""

import pytest

from attention_core import AttentionError
from attention_core.record.counted_words import PLURALS, fill_template


@pytest.mark.parametrize(
    "template, values, said",
    [
        ("{shown} heads, ordered by {by}", {"shown": 1, "by": "layer"}, "1 head, ordered by layer"),
        ("{shown} heads", {"shown": 11}, "11 heads"),
        ("{shown} heads", {"shown": "1,001"}, "1,001 heads"),
        ("{a} queries, {b} keys", {"a": 2, "b": 1}, "2 queries, 1 key"),
        ("{n} smaller terms", {"n": "1"}, "1 smaller term"),
        ("{word} is", {"word": 1}, "1 is"),
        ("{text}", {"text": "1 heads"}, "1 heads"),  # what somebody wrote stays
        ("共 {n} 个头", {"n": 1}, "共 1 个头"),
    ],
)
def test_one_is_in_the_singular(template, values, said):
    assert fill_template(template, values) == said


def test_a_refusal_counts_as_a_page_does():
    assert "of the 1 head: got" in str(AttentionError("slopes_count", heads=1, given=2))
    assert all(word != single for word, single in PLURALS.items())
