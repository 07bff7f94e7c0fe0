"""When a model guesses: what is said of a sentence before its answers, and how well that tells right from wrong."""

from dataclasses import replace

import pytest
import torch

from attention_core import AttentionError
from attention_core.learned.language.guessing import Judgement, Reference, judge_sentence, read_student_figures
from attention_core.learned.language.making import (
    Told,
    measure_guesses,
    measure_weights,
    read_categories,
    read_unknown,
    round_figures,
)
from attention_core.learned.language.measures import held_out_texts
from attention_core.learned.language.questions import Answer, find_answer
from attention_core.learned.language.reading import cut_sentence, read_tokens
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import load_model, other_form, read_figures, shipped_names
from tests.learned.language.people import ask_people, asked_models, count_people, measure_students, read_people

every_model = pytest.mark.parametrize("name", shipped_names())
every_asked_model = pytest.mark.parametrize("name", asked_models())


def judge(name, text, roles=None):
    """The words of a typed sentence, and what is said of it."""
    words = cut_sentence(name, text)
    return words, judge_sentence(name, read_tokens(name, words, roles or {}))


# ---- by hand ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("surprises", "unknown", "reasons", "startling"),
    [
        ((0.0, 1.0, 5.0, 3.0), (), (), ()),  # 3 nats a word
        ((0.0, 4.0, 5.0, 4.5), (), ("surprise",), ()),
        ((0.0, 1.0, 7.0, 1.0), (), ("word",), (2,)),
        ((0.0, 6.5, 9.0, 1.0), (), ("surprise", "word"), (2, 1)),
        ((0.0, 1.0, 5.0, 3.0), (2,), ("unknown",), ()),
    ],
)
def test_a_sentence_is_outside_by_its_mean_one_word_or_an_unknown_word(surprises, unknown, reasons, startling):
    judgement = Judgement(unknown, surprises, usual=3.5, usual_word=6.0, references=())
    assert judgement.reasons == reasons and judgement.outside == bool(reasons)
    assert judgement.startling == startling
    assert judgement.surprise == pytest.approx(sum(surprises[1:]) / 3)


def weights_of(rows):
    """Weights of four heads over five words; every word looks at itself but those of the rows."""
    weights = torch.eye(5).repeat(4, 1, 1)
    for (head, at), row in rows.items():
        weights[head, at] = torch.tensor(row)
    return weights


TOKENS = ("<start>", "dog", "it", "barked", ".")
AT_THE_PRONOUN = [0.1, 0.6, 0.2, 0.1, 0.0]
AT_THE_VERB = [0.0, 0.9, 0.1, 0.0, 0.0]
AT_ITSELF = [0.0, 0.0, 0.1, 0.9, 0.0]
AT_THE_DOG = [0.0, 1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(("causal", "asked", "weight"), [(False, 2, 0.6), (True, 3, 0.9)])
def test_an_encoder_is_asked_at_the_pronoun_and_a_decoder_at_the_word_that_decides(causal, asked, weight):
    weights = weights_of({(0, 2): AT_THE_PRONOUN, (2, 3): AT_THE_VERB})
    assert find_answer(weights, causal, TOKENS, 2) == (asked, 1, pytest.approx(weight))


def test_a_decoder_is_asked_at_the_pronoun_where_nothing_of_its_clause_decides():
    weights = weights_of({(0, 2): AT_THE_PRONOUN, (2, 3): AT_ITSELF, (2, 4): AT_THE_DOG})
    assert find_answer(weights, True, TOKENS, 2) == (2, 1, pytest.approx(0.6))


@pytest.mark.parametrize("row", [[0.1, 0.2, 0.6, 0.1, 0.0], [0.6, 0.1, 0.2, 0.1, 0.0]])
def test_a_pronoun_that_looks_at_itself_or_at_the_start_means_nothing(row):
    assert find_answer(weights_of({(0, 2): row}), False, TOKENS, 2) == (2, None, pytest.approx(0.6))


def test_both_forms_agree_if_they_answer_the_same_word():
    answer = Answer(5, 2, 0.9)
    assert Reference(5, answer, Answer(8, 2, 0.3), rule=4).is_agreed
    assert not Reference(5, answer, Answer(8, 4, 0.3), rule=4).is_agreed
    assert not Reference(5, answer, None, rule=2).is_agreed


def test_the_weight_of_wrong_answers_is_compared_with_that_of_right_ones():
    right = [Told("", "dog", True, False, weight) for weight in (0.9, 0.5)]
    wrong = [Told("", "cat", False, False, weight) for weight in (0.7, 0.5)]
    pairs_won = 1 + 1 + 0 + 0.5  # .9 over .7 and .5, .5 under .7 and even with .5
    assert measure_weights(right + wrong) == {"clear_wrong": 0.5, "auc": pairs_won / 4}


def test_nouns_are_read_as_their_categories_or_as_unknown_and_other_words_as_themselves():
    text = next(each for each in held_out_texts("en", "held", "choose") if "<quality>" in each.kinds)
    for word, kind, category, unknown in zip(
        text.words, text.kinds, read_categories(text), read_unknown(text), strict=True
    ):
        if kind in ("", "<quality>", "<verb>"):
            kind = replaced = word
        else:
            replaced = "<unknown>"
        assert (category, unknown) == (kind, replaced)


# ---- models that come along ------------------------------------------------------------------------------------------
def test_a_sentence_of_the_learned_kind_is_known():
    for name, text in (
        ("en_asked_encoder", "The animal did not cross the street because it was too tired."),
        ("en_asked_decoder", "The animal did not cross the street because it was too tired."),
        ("zh_asked_encoder", "那只动物没能过那条街道，因为它太累了。"),
        ("zh_asked_decoder", "那只动物没能过那条街道，因为它太累了。"),
    ):
        words, judgement = judge(name, text)
        assert not judgement.outside, (name, judgement)
        (reference,) = judgement.references
        assert words[reference.answer.word] in ("animal", "动物") and reference.is_agreed
        assert words[reference.rule] in ("street", "街道")


@pytest.mark.parametrize("name", ["en_asked_encoder", "en_asked_decoder"])
def test_a_sentence_of_another_kind_is_outside_and_its_most_surprising_words_are_known(name):
    text = "The city council refused the demonstrators a permit because they feared violence."
    words, judgement = judge(name, text)
    assert judgement.reasons == ("unknown", "surprise", "word")
    assert [words[at] for at in judgement.unknown] == ["council", "refused", "demonstrators", "permit", "violence"]
    assert judgement.startling[0] == max(range(len(words)), key=judgement.surprises.__getitem__)
    assert len(judgement.surprises) == len(words) and judgement.surprises[0] == 0.0


@pytest.mark.parametrize("name", ["en_asked_encoder", "zh_asked_encoder"])
def test_a_full_stop_may_be_left_out(name):
    text = {"en": "The dog chased the cat because it was hungry", "zh": "狗追猫，因为它很饿"}[name[:2]]
    stop = {"en": ".", "zh": "。"}[name[:2]]
    (words, judgement), (_, stopped) = judge(name, text), judge(name, text + stop)
    assert len(judgement.surprises) == len(words)
    assert judgement.surprises == pytest.approx(stopped.surprises[:-1], abs=1e-12)
    assert not judgement.outside and not stopped.outside


def test_a_word_that_somebody_names_a_category_of_is_not_unknown():
    _, judgement = judge("en_asked_encoder", "The zorb barked.", {"zorb": "animal"})
    assert judgement.unknown == ()


def test_a_model_that_does_not_come_along_is_refused():
    with pytest.raises(AttentionError):
        judge_sentence("en_asked_giant", ("<start>", "it"))


def test_the_other_form_of_a_model():
    assert other_form("en_asked_encoder") == "en_asked_decoder" and other_form("zh_asked_decoder") == "zh_asked_encoder"


@every_model
@pytest.mark.slow
def test_the_figures_are_measured_again(name):
    model, second = (load_model(each, torch.float32) if each else None for each in (name, other_form(name)))
    columns = measure_guesses(model, RECIPES[name].language, second)
    row = read_figures()[name]
    for column, figures in columns.items():
        assert round_figures(figures) == pytest.approx(getattr(row, column), abs=0.01)


@every_model
def test_few_texts_of_the_learned_kind_are_outside(name):
    row = read_figures()[name]
    assert row.guesses["outside_held"] < 0.06 and row.guesses["outside_train"] < 0.08
    assert 2 < row.limits["surprise"] < 6 < row.limits["word"]


@every_asked_model
def test_what_was_measured_is_what_is_said(name):
    """The least that is promised: docs/networks.md tells the measured figures."""
    figures = read_figures()[name].guesses
    assert figures["two_fit"] > figures["two_fit_rule"] + 0.2 and figures["frames"] > figures["frames_rule"] + 0.2
    assert figures["agreed_right"] > 0.95 > 0.8 > figures["differing_right"]
    assert figures["auc"] > 0.8
    assert figures["one_fits_kinds"] > 0.9 and figures["two_fit_kinds"] > 0.75
    assert figures["one_fits_unknown"] < figures["one_fits_kinds"] - 0.1


# ---- sentences of people ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["en_asked_encoder", "zh_asked_encoder"])
def test_the_sentences_of_people_are_cut_as_the_page_cuts_them(name):
    glue = "" if name.startswith("zh") else " "
    for sentence in read_people(name[:2]):
        assert cut_sentence(name, glue.join(sentence.words[1:])) == sentence.words
        assert sentence.pronoun > 0 and sentence.pronoun not in sentence.meant


def test_who_guesses_is_mostly_known_beforehand():
    """Over all models: wrong answers are mostly outside, and what is inside and agreed is mostly right."""
    said = [each for name in asked_models() for each in ask_people(name)]
    counts = count_people(said)
    shares = {what: some / every for what, (some, every) in counts.items()}
    assert shares["wrong that are outside"] > 0.6 > shares["outside"]
    assert shares["inside that are right"] > 0.8 and shares["inside, agreed that are right"] > 0.85
    assert shares["right"] > shares["rule right"]


# ---- sentences of students -------------------------------------------------------------------------------------------
@every_asked_model
@pytest.mark.slow
def test_the_sentences_of_students_are_measured_again(name):
    assert measure_students(name) == read_student_figures()[name]


@every_asked_model
def test_few_answers_without_a_mark_are_wrong(name):
    """At most one in twenty, and at most a third of the right ones is marked: docs/guessing.md has the figures."""
    figures = read_student_figures()[name]
    assert figures.unmarked > 0 and figures.wrong <= figures.unmarked / 20
    assert figures.right_marked <= figures.right / 3


@pytest.mark.parametrize(
    ("name", "text", "doubt"),
    [
        ("zh_asked_encoder", "他把苹果放在桌子上，然后吃了它", "unfit"),
        ("en_asked_encoder", "Don't you know it's late", "unfit"),
        ("en_asked_encoder", "The children love the dogs because they are friendly.", "differs"),
        ("en_asked_encoder", "My zorb loves the dog because it is hungry.", "unknown"),
    ],
)
def test_an_answer_is_doubted(name, text, doubt):
    _, judgement = judge(name, text)
    assert doubt in judgement.references[-1].doubts and judgement.outside


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("en_asked_encoder", "My cat sat on the sofa because it is soft"),
        ("en_asked_encoder", "My cat sat on the sofa, because it is soft!"),
        ("zh_asked_encoder", "小明喜欢苹果因为它很甜"),
        ("zh_asked_encoder", "小明喜欢苹果，因为它很甜！"),
    ],
)
def test_punctuation_is_no_reason_to_guess(name, text):
    _, judgement = judge(name, text)
    assert not judgement.outside, judgement


def test_a_sentence_without_a_pronoun_is_judged_by_its_words():
    judgement = Judgement((), (0.0, 9.0, 9.0), usual=3.5, usual_word=6.0, references=())
    sound = Reference(1, Answer(1, 0, 0.9), Answer(1, 0, 0.9), rule=0)
    assert judgement.outside
    assert not replace(judgement, references=(sound,)).outside
    assert replace(judgement, references=(replace(sound, doubts=("weak",)),)).outside
