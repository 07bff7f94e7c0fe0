"""The grammar: its texts say the same in both languages, and their links point at what fits."""

from collections import Counter
from functools import cache
from importlib import import_module
from random import Random

import pytest

from attention_core.learned.grammar import (
    LANGUAGES,
    SORTS,
    categories,
    cut_words,
    draw_scene,
    held_out_pair,
    known_words,
    minimal_pairs,
    vocabulary,
)
from attention_core.learned.grammar.concepts import find_verb, load_names, load_nouns, load_qualities
from attention_core.learned.grammar.draw import Draw
from attention_core.learned.grammar.events import frames_of, load_events, load_frames
from attention_core.learned.grammar.function_words import phrase
from attention_core.learned.grammar.moods import MOODS
from attention_core.learned.grammar.scene import Clause, Pronoun, Telling, Thing, tell
from attention_core.learned.grammar.scenes import Scene
from attention_core.learned.grammar.sorts.plain import own_object
from attention_core.learned.grammar.sorts.references import draw_reason
from attention_core.record.errors import AttentionError

SINGULAR_PRONOUNS = {"she": "f", "her": "f", "he": "m", "him": "m", "his": "m", "it": "n", "its": "n"}
CATEGORIES_OF_MANY = set(categories("en")) - set(categories("zh"))
PLURAL_PRONOUNS = ("they", "them", "their")
CHINESE_PRONOUNS = {"她": "f", "他": "m", "它": "n", "她们": "f", "他们": "m", "它们": "n"}


@cache
def kept_scenes(choices):
    """The scenes drawn so far, and the generator of the next: every test reads them from the first one on."""
    return [], Random(1)


@cache
def kept_texts(language, choices):
    """What the first of these scenes say in a language."""
    return []


def draw_texts(language, count, **choices):
    """Draw texts of a language, with the scenes that they say."""
    key = tuple(choices.items())
    (scenes, rng), texts = kept_scenes(key), kept_texts(language, key)
    while len(scenes) < count:
        scenes.append(draw_scene(rng, **choices))
    texts += [scene.say(language) for scene in scenes[len(texts) : count]]
    return [*zip(scenes[:count], texts[:count], strict=True)]


def sentence(text):
    return " ".join(text.words)


def tell_frame(frame, reason_of_x, rng, mood):
    """Tell a frame with a reason of the one or the other, and who is meant."""
    draw = Draw(rng, "train")
    x, y = draw.thing(frame.x, many=0), draw.thing(frame.y, many=0)
    meant, reasons = (x, frame.x_reasons) if reason_of_x else (y, frame.y_reasons)
    event = Clause(frame.event, {"x": draw.known(x), "y": draw.known(y)}, mood)
    reason = draw_reason(draw, Pronoun(meant), draw.pick(reasons), mood)
    return Scene("because", tell(event, phrase("because"), reason, phrase("stop"), frame=frame.name), ()), meant


# ---- words -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", ["train", "held", "frames"])
def test_every_word_and_category_of_a_text_is_in_the_vocabulary(language, part):
    known, tokens = known_words(language), set(vocabulary(language))
    for _, text in draw_texts(language, 1500, part=part):
        assert set(text.words) <= known, sentence(text)
        assert set(text.kinds) - {""} <= tokens - known
        assert len(text.kinds) == len(text.words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_vocabulary_begins_with_the_special_tokens_and_repeats_none(language):
    tokens = vocabulary(language)
    assert tokens[:4] == ("<pad>", "<start>", "<mask>", "<unknown>")
    assert len(tokens) == len(set(tokens))
    assert all(word == word.strip() and " " not in word for word in tokens)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nearly_every_known_word_is_said(language):
    said = {word for _, text in draw_texts(language, 12_000) for word in text.words}
    assert len(known_words(language) - said) < 0.15 * len(known_words(language))


def test_words_that_people_use_most_are_known():
    typed = (
        "the a an this that these every some many all both on in from has told went said forgot how you because since"
    )
    assert set(typed.split()) <= known_words("en")
    asked_most = "我 你 他 她 它 我们 他们 的 了 在 很 不 没有 因为 所以 虽然 但是 如果 谁 什么"
    assert set(asked_most.split()) <= known_words("zh")


@pytest.mark.parametrize(
    ("base", "wanted"),
    [
        ("eat", ["eats", "ate", "eaten", "eating"]),
        ("wash", ["washes", "washed", "washed", "washing"]),
        ("carry", ["carries", "carried", "carried", "carrying"]),
        ("play", ["plays", "played", "played", "playing"]),
        ("see", ["sees", "saw", "seen", "seeing"]),
        ("moo", ["moos", "mooed", "mooed", "mooing"]),
    ],
)
def test_english_verbs_are_spelled_as_they_are(base, wanted):
    assert list(find_verb(base))[1:] == wanted


# ---- the same scene in both languages --------------------------------------------------------------------------------
def test_the_same_seed_gives_the_same_text():
    for language in LANGUAGES:
        first, second = (draw_scene(Random(7)).say(language) for _ in range(2))
        assert first == second
        assert len({draw_scene(Random(seed)).say(language) for seed in range(40)}) > 30


@pytest.mark.parametrize(
    ("sort", "english", "chinese"),
    [
        (
            "because",
            "the animal did not cross the street because it was too tired .",
            "动物 没有 过 街道 ， 因为 它 太 累 了 。",
        ),
    ],
)
def test_a_scene_written_by_hand(sort, english, chinese):
    nouns, frame = load_nouns(), load_frames()["cross-the-street"]
    draw, mood = Draw(Random(0), "train"), MOODS["did not"]
    animal, street = Thing(nouns["animal"], "n"), Thing(nouns["street"], "n")
    event = Clause(frame.event, {"x": draw.known(animal), "y": draw.known(street)}, mood)
    reason = draw_reason(AlwaysFirst(), Pronoun(animal), load_qualities()["tired"], mood)
    scene = Scene(sort, tell(event, phrase("because"), reason, phrase("stop")), ())
    assert sentence(scene.say("en")) == english
    assert sentence(scene.say("zh")) == chinese


class AlwaysFirst:
    """Draws the first of all options."""

    def pick(self, options):
        return options[0]


@pytest.mark.parametrize("name", load_frames())
def test_every_frame_is_said_in_both_languages(name):
    frame, rng = load_frames()[name], Random(3)
    for mood in dict.fromkeys(frame.moods):
        for reason_of_x in (True, False):
            scene, _ = tell_frame(frame, reason_of_x, rng, mood)
            for language in LANGUAGES:
                text = scene.say(language)
                assert all(text.words), sentence(text)
                kinds = Counter(link.kind for link in text.links)
                assert kinds["pronoun"] >= 1 and kinds["about"] >= 1 and kinds["subject"] >= 2, sentence(text)
            if not mood.negative and mood.past and frame.event.english[1][0] == 2:
                assert frame.event.english[1][1].past in scene.say("en").words or mood is not MOODS["past"]


def test_no_mark_of_a_template_is_said_and_no_chinese_word_twice():
    for language in LANGUAGES:
        assert not [word for word in known_words(language) if set(word) & set("*~=^@_") or word == "M"]
    for _, text in draw_texts("zh", 4000):
        pairs = zip(text.words, text.words[1:], strict=False)
        assert not [word for word, other in pairs if word == other], sentence(text)


def test_a_word_is_aligned_with_the_word_that_translates_it():
    translations = {noun.word: noun.chinese for noun in (*load_nouns().values(), *load_names().values())}
    translations |= {noun.plural: noun.chinese for noun in load_nouns().values() if noun.plural}
    seen = 0
    for scene, text in draw_texts("en", 1500):
        chinese = scene.say("zh").words
        pairs = scene.align()
        for at, other in pairs:
            if text.kinds[at] not in ("", "<quality>", "<verb>"):
                assert chinese[other] == translations[text.words[at]], (sentence(text), chinese)
                seen += 1
        nouns = [at for at, kind in enumerate(text.kinds) if kind not in ("", "<quality>", "<verb>")]
        assert set(nouns) <= {at for at, _ in pairs}, sentence(text)
        assert len({other for _, other in pairs}) == len(pairs)
    assert seen > 2000


# ---- links -----------------------------------------------------------------------------------------------------------
def genders_of_words():
    genders = {}
    for noun in (*load_nouns().values(), *load_names().values()):
        genders[noun.word] = noun.genders
        genders[noun.plural] = noun.genders
    return genders


def test_an_english_pronoun_is_linked_to_a_noun_that_agrees():
    genders, seen = genders_of_words(), 0
    for _, text in draw_texts("en", 3000):
        for link in text.links:
            if link.kind != "pronoun":
                continue
            pronoun, seen = text.words[link.at], seen + 1
            for noun in (link.to, *link.others):
                is_many = text.kinds[noun] in CATEGORIES_OF_MANY
                assert is_many == (pronoun in PLURAL_PRONOUNS), sentence(text)
                assert is_many or SINGULAR_PRONOUNS[pronoun] in genders[text.words[noun]], sentence(text)
            assert link.to not in link.others
    assert seen > 1000


def test_a_chinese_pronoun_is_linked_to_a_noun_that_agrees():
    genders = {noun.chinese: noun.genders for noun in (*load_nouns().values(), *load_names().values())}
    for _, text in draw_texts("zh", 3000):
        for link in text.links:
            if link.kind == "pronoun":
                for noun in (link.to, *link.others):
                    assert CHINESE_PRONOUNS[text.words[link.at]] in genders[text.words[noun]], sentence(text)


def test_a_verb_agrees_with_the_subject_that_it_is_linked_to():
    checked = 0
    for _, text in draw_texts("en", 3000, sort="agreement"):
        link = [link for link in text.links if link.kind == "subject"][-1]
        if text.words[link.at] in ("is", "was", "are", "were"):
            is_many = text.kinds[link.to] in CATEGORIES_OF_MANY
            assert is_many == (text.words[link.at] in ("are", "were")), sentence(text)
            checked += 1
    assert checked > 300


def test_every_link_stands_inside_its_text():
    for language in LANGUAGES:
        for _, text in draw_texts(language, 2000):
            last = len(text.words) - 1
            for link in text.links:
                places = (link.at, link.to, *link.others)
                assert min(places) >= 0 and max(places) <= last, sentence(text)
                assert link.at != link.to or (language == "zh" and link.kind == "subject")


# ---- reasons ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", load_frames())
def test_a_reason_fits_one_noun_of_its_frame_only(name):
    frame = load_frames()[name]
    assert frame.x_reasons and frame.y_reasons
    assert not {id(reason) for reason in frame.x_reasons} & {id(reason) for reason in frame.y_reasons}
    words = [{getattr(reason, "word", id(reason)) for reason in side} for side in (frame.x_reasons, frame.y_reasons)]
    assert not words[0] & words[1]


def test_a_minimal_pair_differs_in_one_word_and_in_who_is_meant():
    for language in LANGUAGES:
        for pair in minimal_pairs(Random(4), 60, language):
            first, second = (text.words for text in pair.texts)
            assert [at for at in range(len(first)) if first[at] != second[at]] == [pair.deciding]
            assert pair.nouns[0] != pair.nouns[1]
            for text, noun, other in zip(pair.texts, pair.nouns, reversed(pair.nouns), strict=True):
                (link,) = [link for link in text.links if link.kind == "pronoun"]
                assert (link.at, link.to) == (pair.pronoun, noun)
                assert other in link.others


# ---- held out --------------------------------------------------------------------------------------------------------
def test_pairs_that_are_held_out_are_never_trained_on():
    for scene, _ in draw_texts("en", 10_000):
        assert not any(held_out_pair(*pair) for pair in scene.pairs)
        assert not scene.frame or not load_frames()[scene.frame].held_out


def test_the_first_pair_of_the_held_part_is_held_out():
    for scene, _ in draw_texts("en", 1000, part="held"):
        assert held_out_pair(*scene.pairs[0])


def test_one_frame_in_ten_is_held_out_and_drawn_in_its_own_part():
    held = {frame.name for frame in frames_of("frames")}
    assert 0.08 < len(held) / len(load_frames()) < 0.15
    drawn = {scene.frame for scene, _ in draw_texts("en", 1500, part="frames")}
    assert drawn == held


def test_about_one_pair_in_eight_is_held_out():
    nouns = list(load_nouns())
    held = [held_out_pair(one, other) for one in nouns for other in nouns if one < other]
    assert 0.115 < sum(held) / len(held) < 0.135


# ---- cutting ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("她在公园里看见了公共汽车。", "她 在 公园 里 看见 了 公共汽车 。"),
        ("公共汽车汽车", "公共汽车 汽车"),
        ("X小狗追猫!", "x 小狗 追 猫 ！"),
        ("小狗 追猫!", "小狗 追猫 ！"),  # parted by hand
        ("我有2只狗", "我 有 2 只 狗"),
    ],
)
def test_chinese_is_cut_at_the_longest_word(typed, words):
    known = {"公园", "公共", "公共汽车", "汽车", "看见", "小狗", "狗"}
    assert list(cut_words(typed, "zh", words=known)) == words.split()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (
            "The animal didn't cross the street because it was too tired.",
            "the animal did not cross the street because it was too tired .",
        ),
        ("I’m sure he can't; they won't!", "i am sure he can not ; they will not !"),
        ("It's Anna's old-fashioned hat", "it is anna 's old-fashioned hat"),
        ("We've been 3 times", "we have been 3 times"),
        ("", ""),
    ],
)
def test_english_is_cut_as_the_grammar_writes_it(typed, words):
    assert list(cut_words(typed, "en")) == words.split()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_of_the_grammar_is_cut_into_its_own_words(language):
    joint = " " if language == "en" else ""
    cut = [cut_words(joint.join(text.words), language) == text.words for _, text in draw_texts(language, 400)]
    assert sum(cut) / len(cut) > (0.999 if language == "en" else 0.9)


@pytest.mark.parametrize("choices", [{"sort": "poem"}, {"part": "test"}, {"sort": "plan", "part": "frames"}])
def test_an_unknown_choice_is_refused(choices):
    with pytest.raises(AttentionError, match="must be one of"):
        draw_scene(Random(1), **choices)


def test_an_unknown_language_is_refused():
    with pytest.raises(AttentionError, match="language must be one of"):
        draw_scene(Random(1)).say("fr")


def test_parts_may_stand_in_another_order_in_chinese():
    scene = Scene("plain", Telling("", (phrase("stop"),), (phrase("question-mark"),)), ())
    assert (sentence(scene.say("en")), sentence(scene.say("zh"))) == (".", "？")


@pytest.mark.parametrize("sort", SORTS)
def test_every_sort_is_drawn_and_named(sort):
    for scene, text in draw_texts("en", 30, sort=sort):
        assert scene.sort == text.sort == sort
        assert text.words[-1] in (".", "?")


def test_an_owner_is_put_before_what_is_counted_and_not_before_a_name(monkeypatch):
    monkeypatch.setattr(Draw, "chance", lambda *_: True)
    draw, anna = Draw(Random(1), "train"), Thing(load_names()["anna"], "f")
    for noun, owner in ((load_nouns()["key"], anna), (load_names()["tom"], None)):
        clause = Clause(None, {"y": draw.mention(Thing(noun, noun.genders))}, MOODS["past"])
        assert own_object(draw, clause, anna).parts["y"].owner is owner


def test_the_words_are_the_same_where_two_threads_load_the_grammar_at_once(monkeypatch):
    known = known_words("en")
    words = import_module("attention_core.learned.grammar.vocabulary")
    monkeypatch.setattr(
        words, "load_events", load_events.__wrapped__
    )  # equal events in other objects, as both load them
    assert frozenset(words.english_words()) - {"", "M"} == known
