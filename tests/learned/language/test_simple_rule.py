"""The simple rule: on sentences labelled by hand, and beside the nouns that the grammar says fit a pronoun."""

import pytest

from attention_core.learned.grammar import categories, cut_words, vocabulary
from attention_core.learned.language.measures import find_places, held_out_texts
from attention_core.learned.language.simple_rule import (
    find_pronouns,
    fitting_nouns,
    nearest_fitting,
    noun_fits,
    pronoun_fits,
)

HAND_LABELLED = [
    # language, sentence, the pronoun (the last one that is so), the noun
    ("en", "The dog chased the cat because it was hungry.", "it", "cat"),
    ("en", "Tom fed the dog and he smiled.", "he", "tom"),
    ("en", "Tom fed the dogs and they barked.", "they", "dogs"),
    ("en", "The dogs saw Tom and Anna's cat, and they barked.", "they", "dogs"),
    ("en", "Anna met Tom and his sister, and she smiled.", "she", "sister"),
    ("en", "Anna met Tom and her friend.", "her", "anna"),
    ("en", "The noodles were cold, so Tom did not eat them.", "them", "noodles"),
    ("en", "The sheep saw the man and they ran away.", "they", "sheep"),
    ("en", "The sheep saw the man and it ran away.", "it", "sheep"),
    ("en", "The teacher praised the boy because she was kind.", "she", "teacher"),
    ("en", "When it saw the cat, the dog barked.", "it", None),
    ("en", "Anna smiled because it rained.", "it", None),
    ("zh", "狗追猫，因为它很饿。", "它", "猫"),
    ("zh", "安娜喂了狗，她很高兴。", "她", "安娜"),
    ("zh", "汤姆喂了狗，他很高兴。", "他", "汤姆"),
    ("zh", "孩子们吃了饼干，因为他们很饿。", "他们", "孩子"),
    ("zh", "那些大的狗看见了猫，它们跑走了。", "它们", "狗"),
    ("zh", "两只狗看见了猫，它跑走了。", "它", "猫"),
    ("zh", "汤姆买了一本书，他很高兴。", "他", "汤姆"),
    ("zh", "本买了一本书，他很高兴。", "他", "本"),
    ("zh", "下雨了，因为他很饿。", "他", None),
]


@pytest.mark.parametrize(("language", "sentence", "pronoun", "noun"), HAND_LABELLED)
def test_the_nearest_noun_that_fits(language, sentence, pronoun, noun):
    words = cut_words(sentence, language)
    at = max(place for place, word in enumerate(words) if word == pronoun)
    found = nearest_fitting(language, words, at)
    assert dict(enumerate(words)).get(found) == noun


def test_a_category_fits_as_its_nouns_do():
    words = ("<start>", "<woman>", "saw", "<animals>", "and", "<unknown>", "because", "they", "liked", "her")
    assert nearest_fitting("en", words, 7) == 3
    assert nearest_fitting("en", words, 9) == 1
    assert nearest_fitting("zh", ("<name-f>", "看见", "<animal>", "，", "它"), 4) == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_category_of_nouns_fits_a_pronoun_and_no_other_token_does(language):
    assert set(categories(language)) - {"<quality>", "<verb>"} <= set(noun_fits(language)) <= set(vocabulary(language))
    assert set(pronoun_fits(language)) <= set(vocabulary(language))


def test_the_speakers_are_no_pronouns_of_a_third_person():
    assert find_pronouns("en", cut_words("I told you that we saw them and its owner.", "en")) == (6, 8)
    assert find_pronouns("zh", cut_words("我看见你和她们。", "zh")) == (4,)


@pytest.mark.parametrize(("language", "least"), [("en", 0.995), ("zh", 0.97)])
def test_the_nouns_that_fit_are_those_that_the_grammar_says(language, least):
    """In Chinese 我 的 狮子 may be many, which the words around it do not say."""
    places = list(find_places(held_out_texts(language, "held", "choose", 400), "pronoun"))
    right = 0
    for place in places:
        words = place.text.words
        found = {words[at] for at in fitting_nouns(language, words, place.at)}
        right += found == {words[at] for at in (place.to, *place.others) if at < place.at}
    assert len(places) > 200 and right / len(places) > least
