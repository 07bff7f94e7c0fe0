"""Tokenizers of four kinds, with vocabularies written here: what trainers find differs from run to run."""

import string

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

SIGNS = "'.,-"
FOREIGN = "小狗累了🙂ï"  # what only one of the vocabularies has
WORD_PIECES = ("th", "do", "##g", "un", "##bel", "##iev", "##ab", "##ly", "bark")
MERGES = [("T", "h"), ("Th", "e"), ("Ġ", "d"), ("Ġd", "o"), ("u", "n"), ("b", "e")]
MERGES_OVER_WORDS = [("▁", "d"), ("g", "▁d"), ("u", "n"), ("b", "e")]


def numbered(tokens: list[str]) -> dict[str, int]:
    """The place of each token of a vocabulary."""
    return {token: place for place, token in enumerate(tokens)}


def make_word_piece() -> Tokenizer:
    """As BERT's: ## within a word, [CLS] and [SEP] around a text or a pair; small letters alone."""
    letters = [mark + letter for mark in ("", "##") for letter in string.ascii_lowercase if mark + letter != "##g"]
    vocabulary = numbered(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORD_PIECES, *letters, *SIGNS])
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    frame = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=frame
    )
    return made


def make_byte_pairs() -> Tokenizer:
    """As GPT-2's: bytes as letters, Ġ for a space."""
    tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *("".join(pair) for pair in MERGES)]
    made = Tokenizer(models.BPE(numbered(tokens), MERGES))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return made


def make_unigram() -> Tokenizer:
    """As T5's: ▁ for a space, which is a piece of its own where no longer piece is more likely; </s> at the end."""
    letters = [*string.ascii_letters, *SIGNS, *FOREIGN]
    pieces = [
        ("<unk>", 0.0),
        ("</s>", 0.0),
        ("▁", -2.0),
        ("▁d", -3.0),
        ("og", -3.0),
        *((each, -4.0) for each in letters),
    ]
    made = Tokenizer(models.Unigram(pieces, unk_id=0))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return made


def make_byte_fallback() -> Tokenizer:
    """As Llama 2's: ▁ for a space, pieces over two words, and <0xE5> for a byte of a character that it lacks."""
    letters = ["▁", *string.ascii_letters, *SIGNS]
    bytes_named = [f"<0x{byte:02X}>" for byte in range(256)]
    tokens = ["<unk>", "<s>", *bytes_named, *letters, *("".join(pair) for pair in MERGES_OVER_WORDS)]
    made = Tokenizer(models.BPE(numbered(tokens), MERGES_OVER_WORDS, byte_fallback=True, unk_token="<unk>"))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return made


KINDS = {
    "word pieces": make_word_piece,
    "byte pairs": make_byte_pairs,
    "unigram": make_unigram,
    "byte fallback": make_byte_fallback,
}
