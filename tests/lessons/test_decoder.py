"""The lesson of the decoder: threads of the translator, what each row writes, the sum that closes, shapes."""

import json

import numpy as np
import pytest

from attention_core.learned.translation.reading import run_translator
from tests.screen.driver import unpack
from tests.screen.lesson import Lesson

SOURCE = ("<start>", "the", "dog", "that", "saw", "the", "cat", "is", "tired", ".")
TARGET = ("<start>", "看见", "猫", "的", "狗", "很", "累", "。")


def threads(lesson):
    (part,) = lesson.parts("decoder_threads")
    return unpack(part.proto.bytes)


def test_threads_are_the_translators_weights_and_nothing_looks_ahead():
    head, found = threads(Lesson("decoder", lang="en"))
    assert (tuple(head["source"]), tuple(head["target"])) == (SOURCE, TARGET)
    stack = run_translator("translation_en_zh", SOURCE, TARGET)
    for name, part in (("own", "2.attention"), ("cross", "2.cross")):
        drawn = np.frombuffer(found[name], np.float32).reshape(len(TARGET), -1)
        assert drawn == pytest.approx(stack[part]["weights"][0, 2].numpy(), abs=1e-6)
    own = np.frombuffer(found["own"], np.float32).reshape(len(TARGET), -1)
    assert not np.triu(own, 1).any()
    assert [words[0]["word"] for words in head["next"]] == [*TARGET[1:], "<start>"]
    assert head["told"][3 * 3 + 1] == "Of the English words, “的” attends most to “dog”: 96 %."


def test_a_row_and_a_thread_are_chosen_and_what_is_made_up_changes_nothing():
    lesson = Lesson("decoder", lang="en")
    lesson.send_part("decoder_threads", "row", 5)
    assert threads(lesson)[0]["row"] == 5 and lesson.link()["t"] == "5"
    lesson.send_part("decoder_threads", "row", 99)
    lesson.send_part("decoder_threads", "row", "x")
    assert threads(lesson)[0]["row"] == 5
    lesson.send_part("decoder_threads", "opened", {"part": "2.cross", "step": "weights", "index": [0, 2, 3, 2]})
    (part,) = lesson.parts("block_sum")
    assert json.loads(part.proto.json)["pieces"]
    assert threads(Lesson("decoder", lang="en", t="999"))[0]["row"] == len(TARGET) - 1


def test_the_parts_add_up_to_the_logit_of_the_next_word():
    lesson = Lesson("decoder", lang="en", open="sum,alone,shapes,code")
    (part,) = lesson.parts("decoder_walk")
    head, _ = unpack(part.proto.bytes)
    logits = run_translator("translation_en_zh", SOURCE, TARGET)["unembedding"]["logits"][0, 3]
    pushes = sum(row["push"] for row in head["rows"] if row["kind"] == "part")
    assert pushes == pytest.approx(float(logits.max()), abs=1e-9)
    assert lesson.says(f"Its logit +{float(logits.max()):.2f}")
    assert lesson.says("| masked, of the decoder | written | written | 28 |")  # 8 · 7 / 2 pairs
    assert lesson.says("| cross-attention | 2 | – |")


def test_in_chinese_all_drawers_draw():
    assert not Lesson("decoder", lang="zh", open="sum,alone,shapes,code").errors()
