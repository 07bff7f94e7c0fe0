"""The panel "What if": heads off, even, masked, or as in another sentence; before and after; undo; links."""

import numpy as np
import pytest
import torch

from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.batches import word_numbers
from attention_core.learned.language.reading import cut_sentence, run_model
from attention_core.learned.language.shipped import load_model
from attention_core.learned.language.writing import blank_word
from tests.screen.driver import Screen

TIRED = "The animal did not cross the street because it was too tired."
ENCODER, DECODER = "en_asked_encoder", "en_asked_decoder"
AT, IT = 8, 9
KNOWN = vocabulary("en")


def opened(**link):
    return Screen(**{"ex": "model_en", "text": TIRED, "t": str(AT), "panel": "what_if", **link})


@pytest.fixture
def screen():
    return opened()


def data(screen):
    return screen.packed("what_if")[0]


def maps(screen):
    bytes_of = screen.packed("what_if")[1]["weights"]
    T = len(data(screen)["words"])
    return np.frombuffer(bytes_of, np.float32).reshape(-1, T, T)


def change(screen, part, head, kind):
    return screen.click_part("what_if", "kind", {"part": part, "head": head, "kind": kind})


def kinds(screen):
    return {(tile["part"], tile["head"]): tile["kind"] for tile in data(screen)["tiles"] if tile["kind"]}


def word_shares(name, at, **zeroed):
    """The model's own forward pass; zeroed: heads of layers whose rows of W_o are 0."""
    tokens = cut_sentence(name, TIRED)
    tokens = tokens if name == DECODER else blank_word(tokens, at)
    numbers = word_numbers("en")
    layers = load_model(name).layers
    kept = [layer.w_o.data.clone() for layer in layers]
    try:
        for layer, head in zeroed.values():
            layers[layer - 1].w_o.data[16 * head : 16 * (head + 1)] = 0
        words = torch.tensor([[numbers[token] for token in tokens]])
        with torch.no_grad():
            return load_model(name).word_logits(load_model(name).run_layers(words).end)[0, at].softmax(-1)
    finally:
        for layer, w_o in zip(layers, kept, strict=True):
            layer.w_o.data.copy_(w_o)


@pytest.mark.parametrize(("example", "name"), [("model_en", ENCODER), ("model_en_decoder", DECODER)])
def test_a_head_off_shows_the_words_before_and_after(example, name):
    screen = change(opened(ex=example), "2.attention", 2, "off")
    before, after = word_shares(name, AT), word_shares(name, AT, off=(2, 2))
    rows = data(screen)["outcomes"][-1]["rows"]
    for row in rows:
        number = KNOWN.index(row["word"])
        assert row["before"] == pytest.approx(float(before[number]), abs=1e-12)
        assert row["after"] == pytest.approx(float(after[number]), abs=1e-12)
    either = torch.maximum(before, after)
    assert [row["word"] for row in rows] == [KNOWN[n] for n in either.topk(len(rows)).indices]
    assert screen.link()["changes"] == "2.2:off"
    assert kinds(screen) == {("2.attention", 2): "off"}
    assert not maps(screen)[4 + 2].any() and maps(screen)[4 + 1].any()


def test_what_moved_farthest_is_said_in_words(screen):
    assert data(screen)["outcomes"][0]["told"] == "Nothing is changed yet."
    outcome = data(change(screen, "3.attention", 0, "off"))["outcomes"][0]
    assert outcome["title"] == "Who or what “it” refers to, according to the model"
    assert outcome["told"].startswith("What moved most: “animal” 99\u00a0% → <1\u00a0%")
    unmoved = data(screen)["outcomes"][1]["told"]
    assert unmoved.startswith("What moved most") or unmoved == "No probability moved by half a percentage point."


def weights_without(name, tokens, layer, head):
    """All heads' weights (L, H, T, T) of the model's own run, in which a head's rows of W_o are 0."""
    model, numbers = load_model(name), word_numbers("en")
    w_o = model.layers[layer - 1].w_o.data
    kept = w_o.clone()
    try:
        w_o[16 * head : 16 * (head + 1)] = 0
        with torch.no_grad():
            run = model.run_layers(torch.tensor([[numbers[token] for token in tokens]]))
        return [run[f"{each}.attention"]["weights"][0] for each in (1, 2, 3)]
    finally:
        w_o.copy_(kept)


@pytest.mark.parametrize(("example", "name"), [("model_en", ENCODER), ("model_en_decoder", DECODER)])
def test_the_weights_of_later_heads_that_moved_most_stand_beside_each_other(example, name):
    screen = opened(ex=example)
    assert data(screen)["moved"] is None
    rows = data(change(screen, "1.attention", 2, "off"))["moved"]["rows"]
    tokens = cut_sentence(name, TIRED)
    run = run_model(name, tokens)
    before = [run[f"{each}.attention"]["weights"][0] for each in (1, 2, 3)]
    after = weights_without(name, tokens, 1, 2)
    moved = []
    for layer in (2, 3):
        for head in range(4):
            for t in range(len(tokens)):
                for s in range(len(tokens)):
                    was, now = float(before[layer - 1][head, t, s]), float(after[layer - 1][head, t, s])
                    moved.append((abs(now - was), [layer, head], t, s, was, now))
    moved.sort(key=lambda each: -each[0])
    assert [row["opens"] for row in rows] == [opens for _, opens, *_ in moved[:5]]
    for row, (_, _, t, s, was, now) in zip(rows, moved, strict=False):
        query, key = row["pair"].split(" → ")
        assert query.startswith(tokens[t]) and key.startswith(tokens[s])
        assert (row["before"], row["after"]) == (pytest.approx(was, abs=1e-6), pytest.approx(now, abs=1e-6))


def test_where_no_later_head_can_move_a_sentence_says_so(screen):
    moved = data(change(screen, "3.attention", 0, "off"))["moved"]
    assert moved["rows"] == [] and moved["told"].startswith("In the heads that you did not change, no weight")
    screen.click_part("what_if", "again", True)
    assert data(screen)["moved"] is None


def test_each_part_alone_off_is_listed_by_what_is_left(screen):
    outcome = data(screen)["outcomes"][0]
    assert outcome["word"] == "animal" and len(outcome["alone"]) == 15
    shares = [each["share"] for each in outcome["alone"]]
    assert shares == sorted(shares)
    assert outcome["alone"][0]["name"] == "layer 3: which noun is meant?" and shares[0] < 0.01


def test_even_weights_and_a_drawn_mask_are_seen_in_the_map(screen):
    T = len(data(screen)["words"])
    even = maps(change(screen, "1.attention", 3, "even"))[3]
    assert even == pytest.approx(np.full((T, T), 1 / T), abs=1e-6)
    screen.click_part("what_if", "pair", {"part": "1.attention", "head": 0, "pair": [IT, 2]})
    assert screen.link()["changes"] == "1.3:even,1.0:mask:9-2"
    allowed = np.frombuffer(screen.packed("what_if")[1]["allowed"], np.uint8).reshape(-1, T, T)
    assert np.argwhere(allowed == 0).tolist() == [[0, IT, 2]]
    own = run_model(ENCODER, cut_sentence(ENCODER, TIRED))["1.attention"]["weights"][0, 0, IT].clone()
    own[2] = 0
    assert maps(screen)[0][IT] == pytest.approx((own / own.sum()).numpy(), abs=1e-6)
    screen.click_part("what_if", "pair", {"part": "1.attention", "head": 0, "pair": [IT, 2]})
    assert "mask:9-2" not in screen.link()["changes"]


def test_a_head_looks_as_in_another_sentence(screen):
    change(screen, "2.attention", 1, "other")
    assert any("the head stays as it was trained" in caption for caption in screen.captions())
    own = run_model(ENCODER, cut_sentence(ENCODER, TIRED))["2.attention"]["weights"][0, 1].numpy()
    assert maps(screen)[5] == pytest.approx(own, abs=1e-6)
    screen.set("other_text", "It ran.")
    assert any("as many words as this one, 13: it has 3" in error for error in screen.errors())
    assert maps(screen)[5] == pytest.approx(own, abs=1e-6)
    other = "The teacher did not cross the street because it was too wide."
    screen.set("other_text", other)
    lent = run_model(ENCODER, cut_sentence(ENCODER, other))["2.attention"]["weights"][0, 1].numpy()
    assert maps(screen)[5] == pytest.approx(lent, abs=1e-6)
    assert screen.link()["other_text"] == other


def test_undo_takes_back_one_change_after_the_other(screen):
    change(screen, "3.attention", 0, "off")
    change(screen, "1.feed_forward", None, "off")
    screen.click_part("what_if", "norms", True)
    assert screen.link()["held"] == "norms" and data(screen)["norms"]
    screen.press("undo")
    assert "held" not in screen.link() and len(kinds(screen)) == 2
    screen.press("undo")
    assert kinds(screen) == {("3.attention", 0): "off"}
    screen.press("undo")
    assert kinds(screen) == {}
    screen.press("redo")
    assert kinds(screen) == {("3.attention", 0): "off"}


def test_all_changes_are_taken_back_at_once(screen):
    change(screen, "3.attention", 0, "off")
    change(screen, "3.attention", 1, "even")
    screen.click_part("what_if", "again", True)
    assert kinds(screen) == {} and "changes" not in screen.link()


def test_the_path_adds_up_and_a_number_of_it_opens(screen):
    path = data(screen)["path"]
    before = word_shares(ENCODER, AT)
    assert path["title"] == f"The logit of “{KNOWN[int(before.argmax())]}”, by part and by word"
    tokens = blank_word(cut_sentence(ENCODER, TIRED), AT)
    logit = float(run_model(ENCODER, tokens)["unembedding"]["logits"][0, AT].max())
    assert path["sum"] == pytest.approx(logit, abs=1e-10)
    row = next(row for row in path["rows"] if row["by_word"] and row["layer"] == 2)
    assert sum(row["by_word"]) == pytest.approx(row["push"], abs=1e-12)
    cell = row["by_word_cell"]
    screen.click_part("what_if", "opened", {**cell, "index": [*cell["index"], 3]})
    assert any("changes of the logit, word by word" in text.value for text in screen.at.markdown)


NO_KINDS = (
    None,
    "off",
    {"part": "9.attention", "head": 0, "kind": "off"},
    {"part": "1.attention", "head": 4, "kind": "off"},
    {"part": "1.attention", "head": True, "kind": "off"},
    {"part": "1.attention", "head": [0], "kind": "off"},
    {"part": "1.feed_forward", "head": None, "kind": "even"},
    {"part": "1.attention", "head": 0, "kind": "<b>"},
    {"part": "1.attention", "head": 0, "kind": ["off"]},
)
NO_PAIRS = (
    None,
    {"part": "1.attention", "head": 0, "pair": [99, 0]},
    {"part": "1.attention", "head": 0, "pair": [1.5, 0]},
    {"part": "1.attention", "head": 0, "pair": [True, False]},
)


def test_what_no_control_sends_changes_nothing(screen):
    for name, all_sent in {"kind": NO_KINDS, "pair": NO_PAIRS, "norms": (None, "x"), "head": (None, [9, 0])}.items():
        for sent in all_sent:
            screen.click_part("what_if", name, sent)
    assert kinds(screen) == {} and "held" not in screen.link()


def test_a_link_that_names_more_than_there_is_shows_what_there_is():
    screen = opened(text="It ran.", changes="3.0:off,9.1:off,1.7:even,2.1:mask:1-1:12-3,9.ff:off", t="1")
    assert kinds(screen) == {("3.attention", 0): "off", ("2.attention", 1): "mask"}
    assert [tile["blocked"] for tile in data(screen)["tiles"] if tile["kind"] == "mask"] == [[[1, 1]]]


def test_in_chinese_it_speaks_chinese():
    screen = opened(lang="zh", ex="model_zh", text="那只动物没有过街道，因为它太累了。", changes="3.0:off")
    assert any("如果改动模型的某个部分" in text.value for text in screen.at.markdown)
    assert data(screen)["outcomes"][0]["told"].startswith("变动最大：“动物”")
