"""The lesson of the encoder's block: a hidden word's sum that closes, its stops, both sides, and what was measured."""

import itertools
import json

import numpy as np
import pytest
import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.reading import cut_sentence
from attention_core.learned.language.shipped import load_model
from tests.screen.driver import unpack
from tests.screen.lesson import Lesson

TEXT = "the animal <mask> not cross the street because it was too tired ."
TOKENS = ["<start>", *TEXT.split()]
AT = 3


def walk(lesson):
    (part,) = lesson.parts("encoder_walk")
    return unpack(part.proto.bytes)


def vectors_by_loop(name, tokens, language):
    """The word's vector behind each part, by torch's functions and the model's own matrices."""
    model, names = load_model(name), list(vocabulary(language))
    x = model.words[[names.index(token) for token in tokens]]  # (T, D)
    words, found = x, [x]

    def norm(x, gain):
        return torch.nn.functional.rms_norm(x, (64,), gain, eps=1e-6)

    def turned(x):  # (H, T, d_k), halves
        half = x.shape[-1] // 2
        places = torch.arange(x.shape[1], dtype=x.dtype)
        angles = places[:, None] * 100.0 ** (-torch.arange(half, dtype=x.dtype) / half)
        one, other = x[..., :half], x[..., half:]
        parts = (one * angles.cos() - other * angles.sin(), one * angles.sin() + other * angles.cos())
        return torch.cat(parts, -1)

    for number, layer in enumerate(model.layers, 1):
        normed = norm(x, layer.g_attention)
        values = words if number == 3 else normed  # those of the last layer are made of the words
        q, k, v = (
            (given @ w).unflatten(-1, (4, 16)).transpose(0, 1)
            for given, w in ((normed, layer.w_q), (normed, layer.w_k), (values, layer.w_v))
        )
        mixed = torch.nn.functional.scaled_dot_product_attention(turned(q), turned(k), v)
        x = x + mixed.transpose(0, 1).flatten(1) @ layer.w_o
        found.append(x)
        normed = norm(x, layer.g_feed_forward)
        x = x + (torch.nn.functional.silu(normed @ layer.w_gate) * (normed @ layer.w_1)) @ layer.w_2
        found.append(x)
    logits = [norm(each, model.g_last) @ model.words.T for each in found]
    return [each[AT].detach() for each in found], [each[AT].detach() for each in logits], names


def test_each_row_is_what_its_part_adds_and_each_stop_says_the_word_of_a_loop():
    head, found = walk(Lesson("encoder", lang="en"))
    numbers = np.frombuffer(found["numbers"], np.float32)
    vectors, logits, names = vectors_by_loop("en_asked_encoder", TOKENS, "en")
    added = [vectors[0], *(after - before for before, after in itertools.pairwise(vectors))]
    rows = [row for row in head["rows"] if row["kind"] == "part"]
    assert len(rows) == len(added) == 7
    for row, own in zip(rows, added, strict=True):
        assert numbers[row["first"] :][: row["count"]] == pytest.approx(own.numpy(), abs=1e-5)
    for stop, own in zip(head["walk"]["stops"], logits, strict=False):
        shares = own.softmax(-1)
        assert stop["words"][0]["word"] == names[int(shares.argmax())]
        assert stop["words"][0]["share"] == pytest.approx(float(shares.max()), abs=1e-9)
    assert sum(row["push"] for row in rows) == pytest.approx(float(logits[-1].max()), abs=1e-9)


def test_a_guess_is_answered_and_a_number_opens_to_its_arithmetic():
    lesson = Lesson("encoder", lang="en")
    assert not lesson.says("Each part adds")
    lesson.choose("guess", "it adds a vector to it")
    assert lesson.says("As predicted") and lesson.says("Each part adds")
    cell = {"part": "1.attention", "step": "output", "index": [0, AT, 5]}
    lesson.send_part("encoder_walk", "opened", cell)
    (part,) = lesson.parts("block_sum")
    assert json.loads(part.proto.json)["pieces"]
    lesson.send_part("encoder_walk", "opened", {"part": "nowhere", "step": "x", "index": ["a"]})
    lesson.send_part("encoder_walk", "target", 10**6)
    lesson.send_part("encoder_walk", "target", vocabulary("en").index("did"))
    assert [word["word"] for word in walk(lesson)[0]["words"] if word["chosen"]] == ["did"]


def test_in_chinese_the_chinese_model_reads_and_another_word_can_be_hidden():
    head, _ = walk(Lesson("encoder", lang="zh"))
    assert [word["word"] for word in head["words"] if word["chosen"]] == ["没"]
    head, _ = walk(Lesson("encoder", lang="zh", hidden="11"))
    assert [word["word"] for word in head["words"] if word["chosen"]] == ["它"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_drawer_draws_what_was_measured(lang):
    lesson = Lesson("encoder", lang=lang, open="residual,norm,sides,code")
    if lang == "en":
        assert lesson.says("Final loss: 0.0010 nats with them; 4.13 without; 4.13 without norms as well")
        assert lesson.says("“could”, 56 %") and lesson.says("“heard”, 15 %")
    assert Lesson("encoder", lang=lang, open="residual", lost="gradient").has_picture()


def test_a_hidden_word_can_be_typed_where_a_model_learned_to_find_it():
    assert cut_sentence("en_asked_encoder", "the <mask> barked.") == ("<start>", "the", "<mask>", "barked", ".")
    assert "<mask>" not in cut_sentence("en_asked_decoder", "the <mask> barked.")
