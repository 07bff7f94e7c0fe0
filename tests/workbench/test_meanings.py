"""A verb and its subject, a question and its answer, a phrase and its translation: what a reader does with them."""

import numpy as np
import pytest

from tests.screen.driver import Screen

FOXES = {
    "text": "the foxes that chased the hen yelp",
    "role": "foxes:noun_plural,hen:noun_singular,yelp:verb_plural",
}


def assert_row(screen, query, scores, width):
    """A word's weights in the first head, beside those of scores worked out by hand."""
    at = screen.words().index(query)
    shown = [screen.weight(at, key, 0) for key in range(len(scores))]
    powers = np.exp(np.array(scores) / width**0.5)
    np.testing.assert_allclose(shown, powers / powers.sum(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name, link, query, scores, width",
    [
        ("en_subject", FOXES, "yelp", [0, 6, 0, 0, 0, 0, 0], 2),
        ("zh_subject", {"text": "看见|熊猫|的|护士|笑了", "role": "护士:person"}, "笑了", [0, 0, 0, 6, 0], 2),
        ("en_question", {"text": "Ada sang . who ?", "role": "ada:person"}, "who", [9, 0, 0, 0, 0], 3),
        ("zh_question", {"text": "马|在|海边|。|哪里", "role": "海边:place"}, "哪里", [0, 0, 9, 0, 0], 3),
        ("en_translation", {"text": "lamp", "ctx": "桌子|灯", "role": "lamp:thing,灯:thing"}, "lamp", [0, 9], 4),
        ("zh_translation", {"text": "灯", "ctx": "lamp table", "role": "lamp:thing,灯:thing"}, "灯", [9, 0], 4),
    ],
)
def test_a_word_of_ones_own_takes_its_part(name, link, query, scores, width):
    assert_row(Screen(ex=name, **link), query, scores, width)


@pytest.mark.parametrize(
    "name, offer, query, scores, width",
    [
        ("en_subject", "Try “cats” for “cat”", "bark", [0, 6, 0, 0, 0, 6, 0], 2),
        ("zh_subject", "Try “学生” for “狗”", "笑了", [0, 6, 0, 6, 0], 2),
        ("en_question", "Try “where” for “who”", "where", [0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0], 3),
        ("zh_question", "Try “哪里” for “谁”", "哪里", [0, 0, 9, 0, 0, 0, 0, 0, 0, 0], 3),
        ("en_translation", "Try “table” for “book”", "table", [9, 0, 0, 0], 4),
        ("zh_translation", "Try “桌子” for “书”", "桌子", [0, 0, 0, 0, 9], 4),
    ],
)
def test_the_first_word_that_is_offered_moves_the_weight(name, offer, query, scores, width):
    screen = Screen(ex=name)
    assert screen.swap() == offer
    screen.press_labelled(offer)
    assert_row(screen, query, scores, width)
