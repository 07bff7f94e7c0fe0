"""Maps of a model: what a visitor brings, what the page shows of it, and what it refuses."""

import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from attention_core.inputs.files.attention_maps import read_attention_maps
from attention_core.learned.language.reading import cut_sentence, run_model
from pages.lectures.script import lecture_from_file, lecture_to_file
from pages.maps import given_file, head_view
from pages.runs.held_bytes import HELD
from tests.screen.driver import unpack
from tests.screen.lesson import Lesson

L, H, T = 2, 3, 5
WORDS = ["the", "cat", "<b>saw</b>", "the", "=1+1"]
TIRED = "The animal did not cross the street because it was too tired."


@pytest.fixture
def page():
    return Lesson("maps")


def drawn(*shape):
    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    return numbers.softmax(-1).numpy()


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def bring(page, name, content):
    (box,) = page.at.file_uploader
    return page.ran(box.set_value([(name, content, "application/octet-stream")]).run)


def grid(page):
    (part,) = page.parts("map_heads")
    return unpack(part.proto.bytes)


def opened(page):
    (part,) = page.parts("map_opened")
    return unpack(part.proto.bytes)


def weights(page, *shape):
    return np.frombuffer(grid(page)[1]["weights"], np.float32).reshape(shape)


def rollout(page):
    """The numbers of the rollout's map; None without one."""
    parts = page.parts("map_rollout")
    return np.frombuffer(unpack(parts[0].proto.bytes)[1]["numbers"], np.float32).reshape(T, T) if parts else None


def errors(page):
    return [error.value for error in page.at.error]


def texts(page):
    return " ".join(each.value for each in page.at.markdown)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_before_a_file_is_given_the_maps_of_a_model_of_ours_are_there(lang):
    page = Lesson("maps", lang=lang)
    head, _ = grid(page)
    assert len(head["heads"]) == 12 and head["now"] == [3, 0]
    assert len(head["queries"]) == {"en": 14, "zh": 17}[lang]


def test_the_example_is_what_the_model_gives(page):
    stack = run_model("en_asked_encoder", cut_sentence("en_asked_encoder", TIRED))
    own = torch.stack([stack[f"{layer}.attention"]["weights"][0] for layer in (1, 2, 3)])
    assert weights(page, 3, 4, 14, 14) == pytest.approx(own.numpy(), abs=1e-6)


def test_a_file_takes_the_place_of_the_example_and_can_be_left(page):
    maps = drawn(L, H, T, T)
    bring(page, "mine.npz", npz(attention=maps, tokens=np.array(WORDS)))
    head, _ = grid(page)
    assert weights(page, L, H, T, T) == pytest.approx(maps, abs=1e-6)
    assert head["queries"] == ["the #1", "cat", "<b>saw</b>", "the #4", "=1+1"] and head["now"] == [1, 0]
    assert "mine" in texts(page) and "cannot be recomputed" in texts(page)
    one = head["heads"][4]
    assert (one["layer"], one["head"]) == (2, 1)
    assert one["here"]["previous"] == pytest.approx(sum(maps[1, 1, t, t - 1] for t in range(1, T)) / (T - 1))
    page.press("maps_back")
    assert len(grid(page)[0]["heads"]) == 12


def test_the_rollout_of_a_file_multiplies_its_layers(page):
    maps = drawn(L, H, T, T)
    bring(page, "mine.npz", npz(attention=maps))
    rolled = np.eye(T)
    for layer in maps.mean(1):
        rolled = (layer / 2 + np.eye(T) / 2) @ rolled
    assert rollout(page) == pytest.approx(rolled, abs=1e-6)


def test_a_clicked_head_is_shown_large_and_what_is_no_head_changes_nothing(page):
    maps = drawn(L, H, T, T)
    bring(page, "mine.npz", npz(attention=maps, tokens=np.array(WORDS)))
    page.send_part("map_heads", "head", [2, 1])
    _, found = opened(page)
    assert np.frombuffer(found["numbers"], np.float32).reshape(T, T) == pytest.approx(maps[1, 1], abs=1e-6)
    for sent in ([0, 1], [3, 0], [1, 3], [True, 0], "head", {"layer": 1}, None, [1, 2, 3], [-1, 0]):
        page.send_part("map_heads", "head", sent)
        assert grid(page)[0]["now"] == [2, 1]


def test_cross_attention_has_its_own_words_on_both_sides_and_no_rollout(page):
    maps = drawn(H, 2, 4)
    content = json.dumps({"attention": maps.tolist(), "queries": ["猫", "睡"], "keys": ["the", "cat", "sleeps", "."]})
    bring(page, "cross.json", content.encode())
    head, _ = grid(page)
    assert (head["queries"], head["keys"]) == (["猫", "睡"], ["the", "cat", "sleeps", "."])
    assert rollout(page) is None and set(head["measures"]) == {"evenness", "entropy"}


def test_rows_that_do_not_sum_to_one_are_named_and_shown(page):
    maps = drawn(L, H, T, T)
    maps[1, 2, 4] *= 2.5
    maps[0, 0, 1] *= 0.5
    bring(page, "m.npz", npz(attention=maps, tokens=np.array(WORDS)))
    (told,) = [each.value for each in page.at.warning]
    assert "2 of 30" in told and "layer 2, head 3" in told and "2.500" in told
    assert weights(page, L, H, T, T) == pytest.approx(maps, abs=1e-6)


def measures_shown(page):
    head, _ = grid(page)
    return [each["here"] or each["habit"] for each in head["heads"]], head["measures"], rollout(page)


FORBIDDEN = {
    "bytes": (np.arange(2 * T * T).reshape(2, T, T) * 5 % 256).astype(np.float64),
    "percent": 100 * drawn(2, T, T),
    "logarithms": np.log(drawn(2, T, T)),
    "below": drawn(2, T, T) - drawn(2, T, T)[::-1],
    "above": 3 * drawn(2, T, T) + 0.2,
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("fault", FORBIDDEN)
def test_numbers_that_can_be_no_weights_are_named_and_nothing_is_measured(fault, lang):
    page = Lesson("maps", lang=lang)
    bring(page, "m.npy", npy(FORBIDDEN[fault]))
    (told,) = [each.value for each in page.at.warning]
    assert {"en": "Not attention weights", "zh": "不是注意力权重"}[lang] in told
    assert measures_shown(page) == (["", ""], {}, None)
    head, _ = grid(page)
    assert head["kind"] == "signed" and head["reach"] == pytest.approx(np.abs(FORBIDDEN[fault]).max())
    _, found = opened(page)
    assert len(set(found["cells"])) > 2  # no flat colour
    assert "%" not in " ".join([*texts(page).split(), *[each.value for each in page.at.caption]])


def test_a_head_with_a_row_that_does_not_sum_to_one_is_not_measured_and_there_is_no_rollout(page):
    maps = drawn(L, H, T, T)
    maps[1, 2, 4] *= 0.4
    bring(page, "m.npz", npz(attention=maps))
    shown, measures, rolled = measures_shown(page)
    assert shown[5] == "" and all(shown[:5]) and "entropy" in measures and rolled is None


def bfloat16(maps):
    return torch.from_numpy(maps).to(torch.bfloat16).double().numpy()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "maps, cause", [(bfloat16(drawn(2, 16, 16)), "bfloat16"), (drawn(2, 16, 16).round(2), "2")], ids=["dtype", "digits"]
)
def test_rounding_of_a_file_is_called_rounding_with_the_digits_that_show_it(maps, cause, lang):
    page = Lesson("maps", lang=lang)
    bring(page, "m.npz", npz(attention=maps))
    assert not page.at.warning and "entropy" in grid(page)[0]["measures"]
    farthest = np.abs(maps.sum(-1) - 1).max()
    (told,) = [each.value for each in page.at.caption if {"en": "rounding", "zh": "舍入"}[lang] in each.value]
    assert cause in told and f"{farthest:.3g}" in told and "1.00," not in told


def test_a_sum_near_one_has_the_digits_that_tell_it_from_one(page):
    maps = drawn(H, T, T)
    maps[0, 0] *= 1.0024
    bring(page, "m.npz", npz(attention=maps))
    (told,) = [each.value for each in page.at.warning]
    assert "sums to 1.00240" in told


def test_one_token_has_no_mask_no_measure_and_one_head(page):
    bring(page, "m.json", json.dumps({"attention": [[1]], "tokens": ["a"]}).encode())
    head, _ = grid(page)
    assert [each["habit"] for each in head["heads"]] == ["there is only one word"] and head["measures"] == {}


@pytest.mark.parametrize("lang, word", [("en", "mask"), ("zh", "掩码")])
def test_maps_whose_queries_see_one_key_do_not_speak_of_a_mask(lang, word):
    page = Lesson("maps", lang=lang)
    bring(page, "m.npy", npy(np.eye(4)))
    assert word not in grid(page)[0]["heads"][0]["habit"]


GPT2 = ["The", "Ġcat", "Ġun", "seen", "Ċ"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_tokens_stand_as_the_words_that_they_are_and_it_is_said(lang):
    page = Lesson("maps", lang=lang)
    bring(page, "m.npz", npz(attention=drawn(H, T, T), tokens=np.array(GPT2)))
    shown = ["The", "cat", "un", "…seen", "↵"]
    assert grid(page)[0]["queries"] == grid(page)[0]["keys"] == shown
    _, found = opened(page)
    assert list(found["rows"]) == shown if "rows" in found else opened(page)[0]["rows"] == shown
    (told,) = [each for each in page.at.caption if "Ġcat" in each.value]
    assert "cat" in told.value and "…" in told.value and "Ċ" in told.help


def test_numbers_below_zero_are_shown_and_what_cannot_be_measured_is_left_out(page):
    maps = drawn(L, H, T, T)
    maps[0, 0, 0, 0] = -0.3
    bring(page, "m.npz", npz(attention=maps))
    first, second, *_ = grid(page)[0]["heads"]
    assert "entropy" not in first["here"] and "entropy" in second["here"]


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


BOMB = b"[" * 90_000 + b"1" + b"]" * 90_000


@pytest.mark.parametrize(
    "name, content",
    [
        ("m.npz", npz(attention=np.full((H, T, T), np.nan))),
        ("m.npz", npz(attention=drawn(2, 1, 2, 1, 2, T, T))),
        ("m.npz", npz(attention=drawn(H, T, T), tokens=np.array(WORDS[:-1]))),
        ("m.npz", npz(attention=np.ones((40, 64, 2, 2)))),
        ("m.npz", npz(attention=np.ones((1, 1, 2000, 2)))),
        ("m.npz", npz(attention=drawn(H, T, T), tokens=np.array(WORDS, dtype=object))),
        ("m.npz", b"PK\x03\x04 no zip"),
        ("m.json", BOMB),
        ("m.json", b'{"attention": [[["<b>"]]]}'),
        ("m.json", json.dumps({"tokens": WORDS}).encode()),
        ("m.safetensors", b"\xff" * 50),
    ],
)
def test_what_is_no_map_is_refused_at_the_box_and_the_last_file_stays(page, name, content):
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    before = grid(page)
    bring(page, name, content)
    assert len(errors(page)) == 1
    assert grid(page) == before and "mine" in texts(page)
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T)))
    assert errors(page) == []


def test_a_file_that_does_not_fit_beside_those_of_all_sessions_is_refused_and_the_last_one_stays(page, monkeypatch):
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    before = grid(page)
    monkeypatch.setattr(HELD, "most", 0)
    bring(page, "other.npz", npz(attention=drawn(L, H, T, T)))
    (error,) = errors(page)
    assert "try again when others have left" in error and grid(page) == before and "mine" in texts(page)
    assert page.at.session_state[given_file.REFUSAL_KEY].__traceback__ is None  # its frames hold the file


def test_of_more_rows_than_can_be_read_at_once_the_measures_stand_alone(page, monkeypatch):
    monkeypatch.setattr(given_file, "MAX_HABIT_ROWS", L * H * T - 1)
    bring(page, "m.npz", npz(attention=drawn(L, H, T, T)))
    assert {each["habit"] for each in grid(page)[0]["heads"]} == {""}
    assert "previous" in grid(page)[0]["heads"][0]["here"]


def test_nothing_of_a_file_is_in_the_link_or_in_another_session(page):
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    page.send_part("map_heads", "head", [2, 1])
    assert "mine" not in str(dict(page.at.query_params)) and set(page.at.query_params) <= {"lang"}
    assert len(grid(Lesson("maps"))[0]["heads"]) == 12


# ---- a scene of a lecture --------------------------------------------------------------------------------------------
def keys(page):
    return {button.key for button in page.at.button}


def own_lecture(page):
    return page.at.session_state["talk"].own


def test_the_open_map_of_a_file_becomes_a_picture_of_the_lecture(page):
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    page.send_part("map_heads", "head", [2, 1]).press("add_scene")
    (scene,) = own_lecture(page).scenes
    assert scene.title == scene.shown.alt and scene.title.startswith("layer 2, head 2")
    assert scene.scene_steps() == ("picture",)
    with Image.open(io.BytesIO(scene.shown.data)) as picture:
        assert picture.format == "PNG" and min(picture.size) > 200
    assert lecture_from_file(lecture_to_file(own_lecture(page))) == own_lecture(page)
    assert "desk_add_scene" in keys(page) and "add_scene" not in keys(page)
    page.send_part("map_heads", "head", [1, 2])
    assert "add_scene" in keys(page)  # that one is no scene yet
    page.press("add_scene")
    assert own_lecture(page).scenes[1].shown.data != scene.shown.data


@pytest.mark.parametrize("is_mine", [True, False])
def test_the_scene_says_whose_maps_it_shows_and_its_picture_leaves_the_title_to_it(page, is_mine, monkeypatch):
    drawn_svg = []
    draw = head_view.png_bytes
    monkeypatch.setattr(head_view, "png_bytes", lambda svg: drawn_svg.append(svg) or draw(svg))
    if is_mine:
        bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    page.press("add_scene")
    (scene,) = own_lecture(page).scenes
    assert scene.shown.source.startswith("mine.npz" if is_mine else "Our own small model on one sentence")
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", drawn_svg[0])
    assert shown and not any(text.startswith("layer") for text in shown)


def test_the_picture_of_a_file_names_its_source(page, monkeypatch):
    drawn_with, draw = [], head_view.svg_text

    def remember(picture, provenance, *given, **more):
        drawn_with.append(provenance)
        return draw(picture, provenance, *given, **more)

    monkeypatch.setattr(head_view, "svg_text", remember)
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    page.press("add_scene")
    assert drawn_with[0].notes[0] == "mine.npz"  # the second line of a provenance is left out of a drawing


def test_what_is_no_picture_is_refused_with_a_sentence(page, monkeypatch):
    monkeypatch.setattr(head_view, "png_bytes", lambda svg: b"no picture")
    page.press("add_scene")
    assert own_lecture(page) is None and len(errors(page)) == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_where_a_letter_is_missing_it_says_what_to_do_instead(lang):
    page = Lesson("maps", lang=lang)
    assert any("不会放进讲稿" in each.value or "no lecture contains it" in each.value for each in page.at.caption)
    bring(page, "m.npz", npz(attention=drawn(L, H, T, T), tokens=np.array([*WORDS[:-1], "\u0378"])))
    assert "add_scene" not in keys(page)
    assert any("SVG" in each.value and "PNG" in each.value for each in page.at.caption)


def test_the_lines_on_the_page_write_a_file_that_it_reads(tmp_path, monkeypatch):
    """The lines behind the model, which gives its attentions as a tensor (1, H, T, T) a layer."""
    monkeypatch.chdir(tmp_path)
    attentions = tuple(torch.from_numpy(drawn(1, H, T, T)) for _ in range(L))
    *_, cat, tokens, save = given_file.MAKE_FILE.strip().splitlines()
    names = {"np": np, "torch": torch, "attentions": attentions, "tokens": WORDS}
    exec("\n".join([cat, save]), names)
    read = read_attention_maps("attention_maps.npz", (tmp_path / "attention_maps.npz").read_bytes())
    assert tokens.startswith("tokens = ")
    assert read.maps.shape == (L, H, T, T) and read.queries == tuple(WORDS)


def test_the_example_as_a_file_is_read_as_it_was_packed():
    read = read_attention_maps("m.npz", given_file.pack_example("zh"))
    assert read.maps.shape == (3, 4, 17, 17) and read.queries[0] == "<start>" and read.uneven_rows() == []


def test_the_lines_for_generate_write_each_row_once(tmp_path, monkeypatch):
    """Of what generate() gives: the rows of the prompt, then a row a step, over one key more each time."""
    monkeypatch.chdir(tmp_path)
    steps, prompt, size = 3, 2, 4
    whole = np.tril(drawn(L, H, size, size))
    ends = [prompt + step for step in range(steps)]
    given = tuple(
        tuple(
            torch.from_numpy(whole[layer, None, :, (0 if end == prompt else end - 1) : end, :end]) for layer in range(L)
        )
        for end in ends
    )
    model = SimpleNamespace(generate=lambda **_: SimpleNamespace(attentions=given, sequences=[list("abcde")]))
    tokenizer = SimpleNamespace(convert_ids_to_tokens=list)
    exec(
        given_file.MAKE_GENERATED_FILE, {"np": np, "torch": torch, "model": model, "inputs": {}, "tokenizer": tokenizer}
    )
    read = read_attention_maps("attention_maps.npz", (tmp_path / "attention_maps.npz").read_bytes())
    assert read.maps.numpy() == pytest.approx(whole, abs=1e-6) and read.queries == tuple("abcd")


@pytest.mark.slow
def test_the_lines_write_what_a_model_of_transformers_gives(tmp_path, monkeypatch):
    """Both, with a model of random weights; the rows of generate() beside one run over all words."""
    transformers = pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    sizes = {"n_layer": L, "n_head": H, "n_embd": 6 * H, "vocab_size": 23, "n_positions": 32}
    ends = {"bos_token_id": 0, "eos_token_id": None, "pad_token_id": 0, "attn_implementation": "eager"}
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes, **ends)).eval()
    ids = torch.tensor([[1, 5, 7]])
    tokenizer = SimpleNamespace(convert_ids_to_tokens=lambda row: [f"w{int(n)}" for n in row])
    names = {"np": np, "torch": torch, "model": model, "tokenizer": tokenizer}
    inputs = transformers.BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
    exec(given_file.MAKE_GENERATED_FILE, names | {"inputs": inputs})
    read = read_attention_maps("attention_maps.npz", (tmp_path / "attention_maps.npz").read_bytes())
    all_ids = torch.tensor([[int(word[1:]) for word in read.queries]])
    assert all_ids.shape == (1, 10) and all_ids[0, :3].tolist() == ids[0].tolist()
    right = torch.cat(model(all_ids, output_attentions=True).attentions).detach().numpy()
    assert read.maps.numpy() == pytest.approx(right, abs=1e-5) and read.uneven_rows() == []
    lines = given_file.MAKE_FILE[given_file.MAKE_FILE.index("attentions = ") :]
    exec(lines, names | {"inputs": transformers.BatchEncoding({"input_ids": all_ids})})
    read = read_attention_maps("attention_maps.npz", (tmp_path / "attention_maps.npz").read_bytes())
    assert read.maps.numpy() == pytest.approx(right, abs=1e-5) and len(read.queries) == 10


# ---- readings --------------------------------------------------------------------------------------------------------
def captions(page):
    return " ".join(each.value.replace("**", "").replace("\\", "") for each in page.at.caption)


def control(page, key):
    (found,) = [each for kind in ("button_group", "number_input") for each in page.at.get(kind) if each.key == key]
    return found


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_line_under_a_file_says_what_was_read_and_what_was_not(lang):
    page = Lesson("maps", lang=lang)
    content = npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS), model=np.array("<i>m</i>"), loss=np.array(0.5))
    bring(page, "mine.npz", content)
    shown = captions(page)
    if lang == "en":
        assert (
            "Read: attention (2, 3, 5, 5) as layers × heads × queries × keys, tokens as words of queries and keys."
            in shown
        )
        assert "Not read: loss." in shown and "Beside the maps: model: <i>m</i>" in shown
    else:
        assert "attention (2, 3, 5, 5)（作为层 × 头 × 查询 × 键）" in shown and "未读取：loss。" in shown


def test_the_other_reading_the_other_sentence_and_the_other_kind_are_a_click_away(page):
    batch, cross = drawn(L, 1, T, T), drawn(L, H, T, 4)
    bring(page, "mine.npz", npz(encoder_attentions=batch, cross_attentions=cross))
    assert weights(page, 2, 1, T, T) == pytest.approx(batch, abs=1e-6)
    page.ran(control(page, "c_maps_axes").set_value("B").run)
    assert weights(page, 1, 1, T, T) == pytest.approx(batch[:1], abs=1e-6)
    page.ran(control(page, "c_maps_sentence").set_value(2).run)
    assert weights(page, 1, 1, T, T) == pytest.approx(batch[1:], abs=1e-6)
    page.ran(control(page, "c_maps_kind").set_value(1).run)
    assert weights(page, L, H, T, 4) == pytest.approx(cross, abs=1e-6)
    page.press("maps_back")
    assert not [each for each in page.at.get("button_group") if (each.key or "").startswith("c_maps")]


@pytest.mark.parametrize("lang, told", [("en", "Each column sums to 1"), ("zh", "每列总和为 1")])
def test_what_is_transposed_or_blank_is_said(lang, told):
    page = Lesson("maps", lang=lang)
    padded = drawn(L, H, T, T)
    padded[..., -1, :] = 0
    bring(page, "m.npy", npy(padded.swapaxes(-1, -2)))
    assert told not in page.at.warning[0].value
    bring(page, "m.npy", npy(drawn(L, H, T, T).swapaxes(-1, -2)))
    assert told in page.at.warning[0].value
    bring(page, "m.npy", npy(padded))
    assert not page.at.warning and any(
        {"en": "1 of 5", "zh": "5 个中有 1 个"}[lang] in each.value for each in page.at.caption
    )


# ---- read in other ways ----------------------------------------------------------------------------------------------
PLAIN = {"without_first": False, "least": None, "largest": None, "times": False, "mean": []}
PAIR = ["[CLS]", "walk", "##ing", "[SEP]", "dogs", "bark", "[SEP]"]


def choose(page, **values):
    (part,) = page.parts("map_heads")
    trigger = f"$$STREAMLIT_INTERNAL_KEY_{part.proto.id}__events"
    value = json.dumps([{"event": "maps", "value": {**PLAIN, **values}}])
    return page.send(trigger, json_trigger_value=value)


def test_all_heads_are_read_without_the_first_token_and_the_link_keeps_it(page):
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    choose(page, without_first=True, largest=2)
    rest = drawn(L, H, T, T)[..., 1:]
    rest = rest / rest.sum(-1, keepdims=True)
    assert weights(page, L, H, T, T - 1) == pytest.approx(rest, abs=1e-6)
    head, found = grid(page)
    assert head["keys"][0].startswith("cat") and len(head["keys"]) == T - 1
    hidden = np.frombuffer(found["hidden"], np.uint8).reshape(L, H, T, T - 1)
    assert (hidden.sum(-1) == T - 3).all()
    assert page.link()["maps"] == "without_first,largest:2"
    told = " ".join(each.value for each in page.at.caption).replace("\\", "")
    percent = f"{100 * drawn(L, H, T, T)[0, 0, :, 0].mean():.0f}"
    assert f"Without “the”, the first token ({percent} % of this map's weight)" in told
    assert "10 of 20 weights are hidden" in told


def test_the_open_map_is_the_mean_of_chosen_heads_in_even_shares(page):
    bring(page, "mine.npz", npz(attention=drawn(L, H, T, T), tokens=np.array(WORDS)))
    choose(page, mean=[0, 5], times=True)
    assert "Mean of 2 heads: layer 1, head 1, layer 2, head 3" in texts(page).replace("\\", "")
    _, found = opened(page)
    numbers = np.frombuffer(found["numbers"], np.float32).reshape(T, T)
    mean = (drawn(L, H, T, T)[0, 0] + drawn(L, H, T, T)[1, 2]) / 2
    assert numbers == pytest.approx(T * mean, abs=1e-5)
    told, blobs = opened(page)
    cells = np.frombuffer(blobs["cells"], np.uint8).reshape(T, T)
    strongest = 252  # the last of 253 colours of weights, which stands for five even shares or more
    assert cells == pytest.approx(strongest * np.clip(T * mean / 5, 0, 1), abs=0.51)
    assert told["fills"][strongest] == told["palette"]["high"]
    assert errors(page) == []


def test_pieces_are_joined_to_words_and_one_block_of_two_sentences_is_cut_out():
    numbers = drawn(L, H, 7, 7)
    words = numbers[..., [0, 1, 3, 4, 5, 6]].copy()
    words[..., 1] += numbers[..., 2]
    words[..., 1, :] = (words[..., 1, :] + words[..., 2, :]) / 2
    words = np.delete(words, 2, axis=-2)
    page = bring(Lesson("maps", words="True"), "pair.npz", npz(attention=numbers, tokens=np.array(PAIR)))
    assert weights(page, L, H, 6, 6) == pytest.approx(words, abs=1e-6)
    assert grid(page)[0]["keys"][1] == "walking"
    page = bring(Lesson("maps", words="True", block="AB"), "pair.npz", npz(attention=numbers, tokens=np.array(PAIR)))
    assert weights(page, L, H, 3, 3) == pytest.approx(words[..., :3, 3:], abs=1e-6)
    page.set("second", 3)  # by default the fourth word, after [SEP]
    assert weights(page, L, H, 2, 4) == pytest.approx(words[..., :2, 2:], abs=1e-6)
    assert page.link() == {"words": "True", "block": "AB", "second": "3"} and errors(page) == []


def test_a_link_that_makes_up_a_reading_is_named():
    page = Lesson("maps", maps="least:7")
    assert any("maps" in error for error in errors(page)) and grid(page)[0]["reads"]["chosen"] == PLAIN
