"""Turns the tokens of a tokenizer into readable words.

Tokenizers mark where a word begins, continues or ends, with Ġ, ▁, ## or </w>. Some write each byte as a letter, as in
âĢĻ. Sources: GPT-2's encoder.py (bytes as letters); SentencePiece; BERT's WordPiece; subword-nmt (@@, </w>).
"""

import re
from collections.abc import Callable, Sequence

GOES_ON = "…"  # shown before a token that continues a word
SHOWN_BLANKS = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": ""}
SHOWN_BLANK_PATTERN = re.compile(r"^ +| +$|[\n\t\r]")
FIRST_EAST_ASIAN = 0x2E80
MOST_TOKENIZERS = 4
MOST_PIECES = 8  # most tokens that are joined to decode a character whose bytes they share
BYTE_TOKEN_PATTERN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
WORD_END_MARKS = ("</w>",)
GOES_ON_MARKS = ("@@",)


def list_byte_letters() -> dict[str, int]:
    """Return {letter: byte} for the letters with which GPT-2's tokenizer writes bytes.

    >>> letters = list_byte_letters()
    >>> letters["a"], letters["Ġ"], letters["Ċ"], len(letters)
    (97, 32, 10, 256)
    """
    as_they_are = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in as_they_are]
    letters = {chr(byte): byte for byte in as_they_are}
    return letters | {chr(256 + place): byte for place, byte in enumerate(others)}


BYTE_LETTERS = list_byte_letters()
BYTE_BLANKS = ("Ġ", "Ċ")  # letters that stand for a space and for a line break


def show_subwords(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the tokens of a text as readable words: without a tokenizer's marks, and with bytes joined to letters.

    tokens: the tokens of one text, in order. A token that continues a word gets … before it; a space that is a token is
    shown as ␣, the end of a line as ↵. A character that is split into several tokens is repeated at each of them,
    followed by 1/3, 2/3 and so on. Tokens without such marks are unchanged.

    >>> show_subwords(["The", "Ġcat", "'s", "Ġun", "happy", "Ċ"])
    ('The', 'cat', "'s", 'un', '…happy', '↵')
    >>> show_subwords(["[CLS]", "walk", "##ing", "[SEP]"]), show_subwords(["▁it", "’", "▁"])
    (('[CLS]', 'walk', '…ing', '[SEP]'), ('it', '’', '␣'))
    >>> show_subwords(["it", "âĢĻ", "s", "Ġç", "Į", "«"])
    ('it', '’', 's', '猫 1/3', '猫 2/3', '猫 3/3')
    >>> show_subwords(["Anna", "#1", "_"])
    ('Anna', '#1', '_')
    """
    read = find_reading(tokens)
    return tuple(read(tokens)) if read else tuple(tokens)


def read_marked_text(text: str) -> tuple[str, ...] | None:
    """Return the words of a typed text that is a tokenizer's tokens between bars or spaces; None for other texts.

    Ġ is also a letter of Maltese, so it counts as a mark only if at least every other token after the first begins with
    Ġ.

    >>> read_marked_text("The Ġcat Ġsat"), read_marked_text("[CLS] walk ##ing"), read_marked_text("▁New|▁York")
    (('The', 'cat', 'sat'), ('[CLS]', 'walk', '…ing'), ('New', 'York'))
    >>> read_marked_text("Kemm hi kbira Ġermanja"), read_marked_text("a cat"), read_marked_text("## a heading")
    (None, None, None)
    """
    separator = "|" if "|" in text else None  # no bar: split(None) splits at any white space
    pieces = [piece.strip() for piece in text.split(separator)]
    words = tuple(piece for piece in pieces if piece)
    if not are_marked(words):
        return None
    for _ in range(MOST_TOKENIZERS):  # repeated, because marks of several tokenizers may be mixed
        words = show_subwords(words) if are_marked(words) else words
    is_writable = all(word == word.strip() and "|" not in word for word in words)
    return words if is_writable else None


def are_marked(pieces: Sequence[str]) -> bool:
    """Return whether the parts of a typed text carry one tokenizer's marks at their beginnings or ends."""
    spaced = [piece.startswith(BYTE_BLANKS) for piece in pieces]
    is_glued = any(mark in piece[1:] for piece in pieces for mark in "Ġ▁")
    read = find_reading(pieces)
    if read is None or is_glued:
        return False
    if read is not read_byte_letters:
        return True
    return any(spaced) and 2 * sum(spaced[1:]) >= len(pieces) - 1


def find_reading(tokens: Sequence[str]) -> Callable[[Sequence[str]], list[str]] | None:
    """Return the function that converts tokens with such marks to words; None for tokens without marks."""
    if are_byte_letters(tokens):
        return read_byte_letters
    if any("▁" in token or BYTE_TOKEN_PATTERN.fullmatch(token) for token in tokens):
        return read_sentence_pieces
    if any(is_word_piece(token) for token in tokens):
        return read_word_pieces
    if any(ends_with_mark(token) for token in tokens):
        return read_end_marks
    return None


# ---- bytes as letters: GPT-2, RoBERTa, Llama 3, Qwen -----------------------------------------------------------------
def are_byte_letters(tokens: Sequence[str]) -> bool:
    """Return whether the letters of these tokens stand for bytes, as in GPT-2's tokenizer.

    The result is True if some letter cannot stand for itself, and if all bytes together decode to a text.
    """
    spelled = [token for token in tokens if all(letter in BYTE_LETTERS for letter in token)]
    if not any(ord(letter) > 0xFF for token in spelled for letter in token):
        return False
    held = bytes(BYTE_LETTERS[letter] for token in spelled for letter in token)
    text = held.decode("utf-8", "replace").strip("\ufffd")  # a character at either end may be incomplete
    return all(letter.isprintable() or letter in SHOWN_BLANKS for letter in text) and "\ufffd" not in text


def read_byte_letters(tokens: Sequence[str]) -> list[str]:
    """Return the words of tokens whose letters stand for bytes."""
    held: list[bytes | str] = [
        bytes(BYTE_LETTERS[letter] for letter in token) if all(letter in BYTE_LETTERS for letter in token) else token
        for token in tokens
    ]
    return mark_pieces(join_bytes(held, tokens))


def join_bytes(held: Sequence[bytes | str], tokens: Sequence[str]) -> list[str]:
    """Return the text of each token; a character that several tokens share is repeated at each, followed by 1/2, 2/2.

    held: the tokens as bytes or text. tokens: the same tokens as the tokenizer writes them.
    """
    texts: list[str] = []
    while len(texts) < len(held):
        first = len(texts)
        piece = held[first]
        if isinstance(piece, str):
            texts.append(piece)
            continue
        joined, count, text = b"", 0, None
        for each in held[first : first + MOST_PIECES]:
            if isinstance(each, str):
                break
            joined, count = joined + each, count + 1
            text = decode(joined)
            if text is not None:
                break
        if text is None:
            texts.append(f"⟨{piece.hex(' ').upper()}⟩")
        elif count == 1:
            texts.append(text or tokens[first])
        else:
            texts += [f"{text} {number}/{count}" for number in range(1, count + 1)]
    return texts


def decode(held: bytes) -> str | None:
    """Decode UTF-8; return None for invalid bytes."""
    try:
        return held.decode("utf-8")
    except UnicodeDecodeError:
        return None


# ---- SentencePiece: Llama 2, T5, Mistral, XLM-R ----------------------------------------------------------------------
def read_sentence_pieces(tokens: Sequence[str]) -> list[str]:
    """Return the words of tokens in which ▁ stands for a space, and a text such as <0x0A> for a byte."""
    held: list[bytes | str] = []
    for token in tokens:
        byte = BYTE_TOKEN_PATTERN.fullmatch(token)
        held.append(bytes.fromhex(byte[1]) if byte else token.replace("▁", " "))
    return mark_pieces(join_bytes(held, tokens))


def mark_pieces(texts: Sequence[str]) -> list[str]:
    """Return the words of texts in which a space begins each word.

    The space is removed, and a text that continues a word gets …
    """
    shown, before = [], ""
    for text in texts:
        goes_on = is_in_word(before[-1:]) and is_in_word(text[:1])
        word = text.removeprefix(" ") if text.strip() else text
        word = SHOWN_BLANK_PATTERN.sub(lambda blanks: "".join(map(SHOWN_BLANKS.__getitem__, blanks[0])), word)
        shown.append(GOES_ON + word if goes_on else word or text)
        before = text
    return shown


def is_in_word(letter: str) -> bool:
    """Return whether a character is a letter or digit of a script with spaces between words; False for ""."""
    return letter.isalnum() and ord(letter) < FIRST_EAST_ASIAN


# ---- marks of a word's end or continuation ---------------------------------------------------------------------------
def is_word_piece(token: str) -> bool:
    """Return whether a token continues a word in WordPiece, as ##ing does, unlike a number sign (#1) or heading
    (##).
    """
    return len(token) > 2 and token.startswith("##") and token[2] != "#"


def read_word_pieces(tokens: Sequence[str]) -> list[str]:
    """Return the words of tokens in which ## marks the continuation of a word."""
    return [GOES_ON + token[2:] if is_word_piece(token) else token for token in tokens]


def ends_with_mark(token: str) -> bool:
    """Return whether a token ends with a mark: the mark </w> of a word's end, or the mark @@ of a word that
    continues.
    """
    return any(token.endswith(mark) and token != mark for mark in (*WORD_END_MARKS, *GOES_ON_MARKS))


def read_end_marks(tokens: Sequence[str]) -> list[str]:
    """Return the words of tokens in which </w> marks the end of a word (GPT, CLIP), or @@ marks a word that
    continues.
    """
    marks_ends = any(token.endswith(WORD_END_MARKS) for token in tokens)
    shown, goes_on = [], False
    for token in tokens:
        word = token
        for mark in (*WORD_END_MARKS, *GOES_ON_MARKS):
            word = word.removesuffix(mark) or word
        shown.append(GOES_ON + word if goes_on else word)
        is_special = token.startswith(("<", "[")) and token.endswith((">", "]")) and not ends_with_mark(token)
        is_end = token.endswith(WORD_END_MARKS) if marks_ends else not token.endswith(GOES_ON_MARKS)
        goes_on = not is_end and not is_special
    return shown
