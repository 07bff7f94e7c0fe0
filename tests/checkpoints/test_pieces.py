"""A text is cut by a model's own tokenizer: what each piece shows, its word by its place in the text, and refusals."""

import json
import shutil
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
import torch
from tokenizers import Regex, normalizers, pre_tokenizers

from attention_core.checkpoints import open_folder, record
from attention_core.checkpoints.folder_files import find_folder
from attention_core.checkpoints.folder_tokenizer import read_tokenizer, require_bounded
from attention_core.checkpoints.pieces import MAX_CHARACTERS, MAX_PIECES, FastTokenizer
from attention_core.inputs.given_maps import AttentionMaps
from attention_core.inputs.word_maps import join_words
from tests.checkpoints.model_folders import make, make_bert, refusal, save
from tests.checkpoints.tokenizers import KINDS, make_byte_pairs, make_unigram, make_word_piece

TEXT = "The dog didn't bark, because unbelievably 🙂 小狗累了 naïve."
WORDS = ["The", "dog", "didn't", "bark", ",", "because", "unbelievably", "🙂", "小", "狗", "累", "了", "naïve", "."]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "byte fallback"])
def test_words_are_found_whatever_the_kind_of_tokenizer(kind: str):
    tokenizer = FastTokenizer(KINDS[kind]())
    pieces = tokenizer.cut(TEXT)
    spelled = [word.removesuffix(" [UNK]") for word in pieces.words.shown]
    assert [word for word in spelled if word not in ("[CLS]", "[SEP]", "</s>", "␣")] == WORDS
    assert [place for group in pieces.groups for place in group] == list(range(len(pieces.ids)))
    assert pieces.ids == tuple(tokenizer.tokenizer.encode(TEXT).ids)
    assert max(len(group) for group in pieces.groups) > 1


def test_what_the_pieces_of_bert_show():
    pieces = FastTokenizer(make_word_piece()).cut("The unbelievable 小 dog")
    shown = ("[CLS]", "Th", "…e", "un", "…bel", "…iev", "…ab", "…l", "…e", "小 [UNK]", "do", "…g", "[SEP]")
    assert pieces.shown == shown
    assert pieces.words_of == (None, 0, 0, 1, 1, 1, 1, 1, 1, 2, 3, 3, None)
    assert pieces.words.shown == ("[CLS]", "The", "unbelievable", "小 [UNK]", "dog", "[SEP]")


def test_bytes_of_one_character_are_counted():
    pieces = FastTokenizer(make_byte_pairs()).cut("The 小狗 naï\n")
    assert pieces.shown == (
        *("The", "␣", "小 1/3", "小 2/3", "小 3/3", "狗 1/3", "狗 2/3", "狗 3/3"),
        *("␣", "n", "…a", "…ï 1/2", "…ï 2/2", "↵"),
    )
    assert pieces.words.shown == ("The", "␣", "小", "狗", "␣", "naï", "↵")


def test_bytes_that_the_vocabulary_names_are_counted_as_well():
    pieces = FastTokenizer(KINDS["byte fallback"]()).cut("小狗")
    assert [piece.token for piece in pieces.pieces][-3:] == ["<0xE7>", "<0x8B>", "<0x97>"]
    assert pieces.shown[-3:] == ("狗 1/3", "狗 2/3", "狗 3/3")
    assert pieces.words.shown[-2:] == ("小", "狗")


def test_a_piece_over_two_words_belongs_to_the_one_in_which_it_begins():
    pieces = FastTokenizer(KINDS["byte fallback"]()).cut("dog didn't")
    assert pieces.shown == ("d", "…o", "…g d", "i", "…d", "…n", "…'", "…t")
    assert pieces.words.shown == ("dog d", "idn't")


def test_a_space_before_the_text_is_no_part_of_its_first_letter():
    pieces = FastTokenizer(make_unigram()).cut("The dog")
    assert pieces.shown[:4] == ("␣", "T", "…h", "…e")
    assert pieces.words.shown == ("␣", "The", "dog", "</s>")


@pytest.mark.parametrize("text", ["a\u2028b", "a \u2029\u2028 b", "\n\n\t", "    "])
@pytest.mark.parametrize("kind", KINDS)
def test_no_word_and_no_piece_is_shown_as_nothing(kind: str, text: str):
    """The bytes of a separator of lines are pieces of one word, which has no letter."""
    pieces = FastTokenizer(KINDS[kind]()).cut(text)
    assert all(pieces.shown) and all(pieces.words.shown)


def test_a_pair_has_two_texts_and_their_kinds():
    pieces = FastTokenizer(make_word_piece()).cut("The dog", "dog bark")
    assert pieces.shown == ("[CLS]", "Th", "…e", "do", "…g", "[SEP]", "do", "…g", "bark", "[SEP]")
    assert pieces.second == 6
    assert pieces.words_of == (None, 0, 0, 1, 1, None, 2, 2, 3, None)
    assert pieces.words.shown == ("[CLS]", "The", "dog", "[SEP]", "dog", "bark", "[SEP]")
    tensors = pieces.tensors()
    assert tensors["token_type_ids"].tolist() == [[0, 0, 0, 0, 0, 0, 1, 1, 1, 1]]
    assert tensors["attention_mask"].tolist() == [[1] * 10]
    assert tensors["input_ids"].tolist() == [list(pieces.ids)]


def test_the_frame_may_be_left_out():
    tokenizer = FastTokenizer(make_word_piece())
    assert tokenizer.cut("The dog", is_framed=False).shown == ("Th", "…e", "do", "…g")
    assert tokenizer.cut("", is_framed=False).shown == ()
    assert tokenizer.cut("").shown == ("[CLS]", "[SEP]")


@pytest.mark.parametrize("kind", KINDS)
def test_each_piece_of_a_vocabulary_can_be_shown(kind: str):
    tokenizer = FastTokenizer(KINDS[kind]())
    size = tokenizer.tokenizer.get_vocab_size()
    shown = [tokenizer.show(number) for number in range(size)]
    assert all(text and text == text.strip() and "\ufffd" not in text for text in shown)
    assert tokenizer.show(size + 5) == str(size + 5)


def test_pieces_that_a_model_wrote_are_spelled():
    tokenizer = FastTokenizer(make_byte_pairs())
    assert tokenizer.spell(tokenizer.cut(TEXT).ids) == TEXT
    byte = tokenizer.tokenizer.encode("小").ids[0]
    assert tokenizer.show(byte) == "⟨E5⟩"


def test_maps_of_words_are_sums_of_keys_and_means_of_queries():
    pieces = FastTokenizer(make_byte_pairs()).cut("The unbelievably 小 dog")
    size, groups = len(pieces.ids), pieces.groups
    weights = torch.rand(1, 1, size, size, generator=torch.Generator().manual_seed(0)).double().softmax(-1)
    maps = AttentionMaps(weights, pieces.shown, pieces.shown)
    joined = join_words(maps, pieces.words, pieces.words)
    assert joined.queries == joined.keys == pieces.words.shown
    for t, rows in enumerate(groups):
        for s, columns in enumerate(groups):
            mean = sum(float(weights[0, 0, i, j]) for i in rows for j in columns) / len(rows)
            assert float(joined.maps[0, 0, t, s]) == pytest.approx(mean)


def test_what_cannot_be_seen_is_written_out():
    pieces = FastTokenizer(make_byte_pairs()).cut("a\u202eb\u200b")
    assert "⟨U+202E⟩" in "".join(pieces.shown)
    assert all("\u202e" not in text and "\u200b" not in text for text in (*pieces.shown, *pieces.words.shown))


# ---- a folder --------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """A folder with a BERT and its tokenizer, which no test changes."""
    folder = save(make_bert("BertForMaskedLM"), tmp_path_factory.mktemp("models") / "bert")
    make_word_piece().save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of the folder, to be broken."""
    return shutil.copytree(saved, tmp_path / "bert")


def test_a_text_is_cut_and_recorded_by_the_model_of_a_folder(saved: Path):
    opened = open_folder(saved)
    pieces = opened.cut("The dog", "it was")
    recording = record(opened.model, **pieces.tensors())
    assert recording.passed
    assert recording.logits.shape == (1, len(pieces.ids), 97)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "tokenizer_unread"),
        (b"{}", "tokenizer_unread"),
        (b"[]", "tokenizer_unread"),
        (b"\xff\xfe", "tokenizer_unread"),
        (b'{"a":' * 50_000, "tokenizer_unread"),
        (b'{"version": "1.0", "model": {"type": "Unheard of"}}', "tokenizer_unread"),
        (b" " * 64_000_001, "file_too_large"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_broken_tokenizer_leaves_the_model_open_and_says_why(folder: Path, content: bytes, expected: str):
    (folder / "tokenizer.json").write_bytes(content)
    opened = open_folder(folder)
    assert opened.tokenizer is None
    assert opened.no_tokenizer.code == refusal(opened.cut, "The dog").code == expected


@pytest.mark.parametrize("other", [None, "tokenizer.model", "vocab.txt"])
def test_only_fast_tokenizers_are_read(folder: Path, other: str | None):
    (folder / "tokenizer.json").unlink()
    if other:
        (folder / other).write_text("the")
    expected = "tokenizer_slow" if other else "tokenizer_missing"
    assert open_folder(folder).no_tokenizer.code == expected


def test_a_tokenizer_pads_and_cuts_nothing_off(folder: Path):
    made = make_word_piece()
    made.enable_padding(length=100)
    made.enable_truncation(3)
    made.save(str(folder / "tokenizer.json"))
    assert len(read_tokenizer(find_folder(folder)).cut("The dog").ids) == 6


def change_tokenizer(folder: Path, **parts: dict) -> None:
    """Give parts of tokenizer.json other settings."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | parts))


def precompiled(*texts: str) -> str:
    """The settings of the step Precompiled, with an empty table and these texts."""
    return b64encode(bytes(4) + b"".join(text.encode() + b"\0" for text in texts)).decode()


SHORT, LONG = {"id": "A", "type_id": 0}, {"id": "x", "ids": [5] * 201, "tokens": ["x"] * 201}
FRAME = {"type": "TemplateProcessing", "single": [{"Sequence": SHORT}], "pair": [{"Sequence": SHORT}]}
FRAME |= {"special_tokens": {}}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
SPACES = {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": True, "strip_accents": False}
SPACES |= {"lowercase": False}
TWICE = {"type": "Replace", "pattern": {"Regex": "(?=.)"}, "content": "x"}


@pytest.mark.parametrize(
    ("part", "settings"),
    [
        ("normalizer", {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1000}),
        ("normalizer", {"type": "Prepend", "prepend": "a" * 1000}),
        ("normalizer", {"type": "Sequence", "normalizers": [TWICE] * 10}),
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "ByteLevel"}] * 5}),
        ("normalizer", {"type": "Sequence", "normalizers": [SPACES] * 7}),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": precompiled("x" * 1000)}),
        ("pre_tokenizer", {"type": "Sequence", "pretokenizers": [BYTES] * 5}),
        ("decoder", {"type": "Sequence", "decoders": [TWICE] * 10}),
        ("post_processor", FRAME | {"single": [{"Sequence": SHORT}] * 201}),
        ("post_processor", FRAME | {"special_tokens": {"x": LONG}}),
        ("post_processor", {"type": "Sequence", "processors": [FRAME | {"single": [{"Sequence": SHORT}] * 11}] * 2}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_tokenizer_that_could_fill_the_memory_is_not_used(folder: Path, part: str, settings: dict):
    change_tokenizer(folder, **{part: settings})
    error = refusal(open_folder(folder).cut, "The dog")
    assert (error.code, error.values["name"]) == ("tokenizer_grows", part)


def test_the_steps_of_known_tokenizers_are_allowed():
    """ALBERT's, which may make 18 characters of one, and those of models that split twice before bytes."""
    made = make_word_piece()
    quotes = [normalizers.Replace(given, '"') for given in ("``", "''")]
    forms = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    made.normalizer = normalizers.Sequence([*quotes, *forms, normalizers.Precompiled(b64decode(precompiled("x" * 33)))])
    split = pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([split, split, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    require_bounded(made)


def test_a_tokenizer_that_would_compute_for_hours_is_not_used(folder: Path):
    made = make_word_piece()
    made.model.max_input_chars_per_word = 1000
    require_bounded(made)
    made.model.max_input_chars_per_word = 1001  # 10,000 letters take minutes, and their time grows with the third power
    made.save(str(folder / "tokenizer.json"))
    error = refusal(open_folder(folder).cut, "The dog")
    assert (error.code, error.values) == ("tokenizer_word", {"limit": 1000, "given": 1001})


def test_a_text_of_too_many_pieces_is_refused_before_they_are_counted_out(folder: Path):
    frame = FRAME | {"single": [{"Sequence": SHORT}] * 12}
    change_tokenizer(folder, post_processor=frame)
    error = refusal(open_folder(folder).cut, "a " * 9000)
    assert (error.code, error.values["limit"]) == ("too_many_pieces", MAX_PIECES)


def test_a_model_whose_table_of_pieces_is_unknown_reads_any_piece(saved: Path, monkeypatch):
    """transformers does not know the tables of some models, such as Chinese-CLIP."""
    opened = open_folder(saved)

    def get_input_embeddings() -> None:
        raise NotImplementedError

    monkeypatch.setattr(opened.model, "get_input_embeddings", get_input_embeddings)
    assert opened.cut("The dog").words.shown == ("[CLS]", "The", "dog", "[SEP]")


def test_a_template_of_chats_is_never_filled(folder: Path):
    (folder / "tokenizer_config.json").write_text(
        '{"chat_template": "{{ 1/0 }}", "auto_map": {"AutoTokenizer": "x.Y"}}'
    )
    (folder / "chat_template.jinja").write_text("{{ 1/0 }}")
    assert open_folder(folder).cut("The dog").words.shown == ("[CLS]", "The", "dog", "[SEP]")


@pytest.mark.parametrize("text", ["\ud800", "a" * (MAX_CHARACTERS + 1)])
def test_texts_that_no_tokenizer_takes_are_refused(saved: Path, text: str):
    expected = "tokenizer_fails" if text == "\ud800" else "text_too_long"
    opened = open_folder(saved)
    assert refusal(opened.cut, text).code == expected
    assert refusal(opened.cut, "The", text).code == expected


def test_a_tokenizer_that_fails_is_refused(saved: Path):
    class Broken:
        model = None

        def encode(self, *_, **__):
            raise Panic

        decode = id_to_token = encode

    class Panic(BaseException):
        pass

    Panic.__name__ = "PanicException"  # as a fault in the Rust code of the package is called
    tokenizer = FastTokenizer(Broken())
    assert refusal(tokenizer.cut, "The dog").code == "tokenizer_fails"
    assert refusal(tokenizer.show, 5).code == "tokenizer_fails"
    assert refusal(tokenizer.spell, [5]).code == "tokenizer_fails"
    Panic.__name__ = "KeyboardInterrupt"
    with pytest.raises(Panic):
        tokenizer.cut("The dog")


# ---- lengths ---------------------------------------------------------------------------------------------------------
def test_a_text_beyond_the_model_is_refused(saved: Path):
    opened = open_folder(saved)
    assert opened.most_pieces == 32
    assert len(opened.cut("the " * 15).ids) == 32
    error = refusal(opened.cut, "the " * 16)
    assert (error.code, error.values) == ("too_many_pieces", {"limit": 32, "given": 34})
    with torch.no_grad():
        opened.model(**opened.cut("the " * 15).tensors())


@pytest.mark.parametrize(
    ("said", "expected"),
    [("20", 20), ("20.0", 20), ("0.5", 32), ("1e30", 32), ("-1", 32), ('"x"', 32), ("true", 32), ("null", 32)],
)
def test_a_tokenizer_may_say_a_shorter_length(folder: Path, said: str, expected: int):
    (folder / "tokenizer_config.json").write_text('{"model_max_length": ' + said + "}")
    assert open_folder(folder).most_pieces == expected


def test_roberta_counts_its_positions_from_behind_the_padding(tmp_path: Path):
    import transformers

    config = transformers.RobertaConfig(
        vocab_size=97, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    config.max_position_embeddings = 34
    opened = open_folder(save(make("RobertaForMaskedLM", config), tmp_path / "roberta"))
    assert opened.most_pieces == 32
    with torch.no_grad():
        opened.model(torch.full((1, 32), 5))
        with pytest.raises((IndexError, RuntimeError)):
            opened.model(torch.full((1, 33), 5))


def test_a_piece_that_the_model_lacks_and_a_text_without_pieces_are_refused(folder: Path):
    make_byte_pairs().save(str(folder / "tokenizer.json"))
    opened = open_folder(folder)
    assert refusal(opened.cut, "").code == "no_pieces"
    error = refusal(opened.cut, "unbelievable")
    assert (error.code, error.values["limit"]) == ("piece_unknown", 97)
