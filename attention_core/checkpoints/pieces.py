"""Splits a text into the tokens ("pieces") of a model's tokenizer, and finds the text of each and the word that it
belongs to.

A token is assigned to a word by its position in the text, not by marks such as ## or Ġ, which differ between
tokenizers.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attention_core.inputs.subwords import BYTE_LETTERS, GOES_ON, SHOWN_BLANKS, show_subwords
from attention_core.inputs.tokenizer import printable_token, token_spans
from attention_core.inputs.word_maps import WordGroups
from attention_core.record.errors import AttentionError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_CHARACTERS = 20_000  # most characters of a text, or of the second text of a pair
MAX_PIECES = 100_000  # most tokens of a text; enough for one token per byte
WRITTEN = "+"  # sign shown before a token that a model generated
REPLACEMENT = "\ufffd"  # what decoding writes for a byte that is no complete character
MASKS = ("[MASK]", "<mask>")  # mask tokens of masked language models: BERT's and RoBERTa's
Span = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """One token ("piece") of a text, with its index and text in the vocabulary, and its span of characters in the text.

    number: its index in the vocabulary. token: its text in the vocabulary. text: 0, or 1 for the second text of a pair;
    None for a token that the tokenizer adds. kind: its token type id. span: its first character in the text, and the
    one after its last.
    """

    number: int
    token: str
    text: int | None
    kind: int
    span: Span

    @property
    def is_empty(self) -> bool:
        """Whether the token has no character of the text, such as [CLS]."""
        return self.text is None or self.span[0] == self.span[1]

    @property
    def is_blank(self) -> bool:
        """Whether the token is the vocabulary's entry for a space, such as ▁, which may precede a text that has no
        space.
        """
        return show_subwords([self.token])[0] in SHOWN_BLANKS.values()


@dataclass(frozen=True)
class Pieces:
    """A text, or a pair of texts, as the tokens ("pieces") that a model reads.

    written: how many tokens at the end a model generated.
    """

    texts: tuple[str, ...]
    pieces: tuple[Piece, ...]
    unknown: str | None = None
    written: int = 0

    @property
    def ids(self) -> tuple[int, ...]:
        """The vocabulary indices of the tokens."""
        return tuple(piece.number for piece in self.pieces)

    def tensors(self) -> dict[str, Tensor]:
        """Return the input tensors of a model, each (1, T): input_ids, attention_mask (all 1) and token_type_ids."""
        ids = torch.tensor([self.ids], dtype=torch.long)
        kinds = torch.tensor([[piece.kind for piece in self.pieces]], dtype=torch.long)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": kinds}

    @property
    def second(self) -> int | None:
        """The index of the first token of the second text; None without a second text."""
        return next((place for place, piece in enumerate(self.pieces) if piece.text == 1), None)

    def hiding(self, place: int, mask: Piece) -> "Pieces":
        """Return the same tokens with a mask in place of one; its token type and span stay.

        Raises AttentionError: at_most.
        """
        if place >= len(self.pieces):
            raise AttentionError("at_most", name="masked", limit=len(self.pieces) - 1, given=place)
        hidden = self.pieces[place]
        mask = replace(mask, kind=hidden.kind, span=hidden.span)
        return replace(self, pieces=(*self.pieces[:place], mask, *self.pieces[place + 1 :]))

    @cached_property
    def words_of(self) -> tuple[int | None, ...]:
        """The index of the word in which each token begins, over both texts; None for a token without characters.

        Texts are split into words as on the workbench; in scripts without spaces, each character is a word.
        """
        starts = [[start for start, _ in token_spans(text)] for text in self.texts]
        found: dict[tuple[int, int], int] = {}
        numbers: list[int | None] = []
        for piece in self.pieces:
            if piece.is_empty:
                numbers.append(None)
                continue
            text = self.texts[piece.text]
            covered = text[slice(*piece.span)]
            begin = piece.span[0] + len(covered) - len(covered.lstrip())
            stands_alone = piece.is_blank or not covered.strip()
            word = -1 - begin if stands_alone else bisect_right(starts[piece.text], begin) - 1
            numbers.append(found.setdefault((piece.text, word), len(found)))
        return tuple(numbers)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the tokens of each word, in order; a token that belongs to no word is a separate group."""
        groups: list[list[int]] = []
        for place in range(len(self.pieces)):
            if self.goes_on(place):
                groups[-1].append(place)
            else:
                groups.append([place])
        return tuple(map(tuple, groups))

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The text to show for each token: its characters, preceded by … if the token continues a word; spaces become
        visible.

        A character that several tokens share is repeated for each, followed by 1/3, 2/3 and so on, as in show_subwords.
        For a token without characters, or an unknown one, the text in the vocabulary is shown. Before a token that a
        model generated stands +.
        """
        shown = []
        for group in self.shared_characters():
            for place in group:
                text = self.show(place)
                if len(group) > 1:
                    text = f"{text} {place - group[0] + 1}/{len(group)}"
                text = GOES_ON + text if self.goes_on(group[0]) else text
                shown.append(WRITTEN + text if self.is_written(place) else text)
        return tuple(shown)

    def is_written(self, place: int) -> bool:
        """Return whether a model generated the token."""
        return place >= len(self.pieces) - self.written

    def goes_on(self, place: int) -> bool:
        """Return whether the token continues the word of the token before it."""
        word = self.words_of[place]
        return place > 0 and word is not None and word == self.words_of[place - 1]

    def show(self, place: int) -> str:
        """Return the characters of one token, independent of its neighbours."""
        piece = self.pieces[place]
        if piece.is_empty or piece.is_blank:
            return printable_token(show_subwords([piece.token])[0])
        covered = self.texts[piece.text][slice(*piece.span)]
        text = printable_token(covered.strip()) or show_blanks(covered)
        return f"{text} {piece.token}" if piece.token == self.unknown else text

    def shared_characters(self) -> list[list[int]]:
        """Return the indices of all tokens in order, grouped: tokens whose spans overlap share characters and form one
        group."""
        groups: list[list[int]] = []
        for place, piece in enumerate(self.pieces):
            before = self.pieces[place - 1] if place else piece
            has_text = not any(each.is_empty or each.is_blank for each in (before, piece))
            if place and has_text and before.text == piece.text and piece.span[0] < before.span[1]:
                groups[-1].append(place)
            else:
                groups.append([place])
        return groups

    @cached_property
    def words(self) -> WordGroups:
        """The words of the text, each with its tokens, as join_words (attention_core.inputs.word_maps) takes them."""
        spelled = []
        for group in self.groups:
            first, last = self.pieces[group[0]], self.pieces[group[-1]]
            if len(group) == 1:
                word = self.show(group[0])
            else:
                covered = self.texts[first.text][first.span[0] : last.span[1]]
                word = printable_token(covered.strip()) or show_blanks(covered)
            spelled.append(WRITTEN + word if self.is_written(group[0]) else word)
        return WordGroups(tuple(spelled), self.groups)


@dataclass(frozen=True, eq=False)
class FastTokenizer:
    """The tokenizer of a model's folder. most: the largest number of tokens that the model reads; None if the tokenizer
    omits it.
    """

    tokenizer: "Tokenizer"
    most: int | None = None

    @property
    def mask(self) -> Piece | None:
        """The mask, which stands for a hidden token; None if the vocabulary has no token of MASKS."""
        known = [token for token in MASKS if self.tokenizer.token_to_id(token) is not None]
        return Piece(self.tokenizer.token_to_id(known[0]), known[0], None, 0, (0, 0)) if known else None

    def cut(self, text: str, further: str = "", is_framed: bool = True, written: Sequence[int] = ()) -> Pieces:
        """Split a text, or a pair of texts, into tokens ("pieces").

        further: the second text; "" for none. is_framed: whether to add the tokens that the tokenizer puts around a
        text, such as [CLS] and [SEP]. written: the vocabulary indices of the tokens that a model generated after the
        text.

        Raises AttentionError: text_too_long, too_many_pieces, tokenizer_fails.
        """
        for each in (text, further):
            if len(each) > MAX_CHARACTERS:
                raise AttentionError("text_too_long", limit=MAX_CHARACTERS, given=len(each))
        try:
            found = self.tokenizer.encode(text, further or None, add_special_tokens=is_framed)
            if len(found) > MAX_PIECES:
                raise AttentionError("too_many_pieces", limit=MAX_PIECES, given=len(found))
            rows = zip(found.ids, found.tokens, found.sequence_ids, found.type_ids, found.offsets, strict=True)
            pieces = tuple(Piece(*row) for row in rows)
        except AttentionError:
            raise
        except BaseException as error:
            raise tokenizer_refusal("tokenizer_fails", error) from None
        cut = Pieces((text, further), pieces, getattr(self.tokenizer.model, "unk_token", None))
        return self.write_behind(cut, written) if written else cut

    def write_behind(self, cut: Pieces, written: Sequence[int]) -> Pieces:
        """Return the tokens of a text, followed by those that a model generated, each with its span in the longer text.

        The longer text is not split again, as that may give other tokens than the model generated. A token with only a
        part of a character has the span of that character, which the next tokens complete.
        """
        place = 1 if cut.texts[1] else 0
        text = cut.texts[place]
        before = len(self.spell(cut.ids))
        pieces, end, tail = list(cut.pieces), len(text), ""
        kind = pieces[-1].kind if pieces else 0
        for count, number in enumerate(written, 1):
            tail = self.spell([*cut.ids, *written[:count]])[before:]
            begin, end = end, max(end, len(text) + len(tail.rstrip(REPLACEMENT)))
            is_part = begin == end and tail.endswith(REPLACEMENT)
            token = self.tokenizer.id_to_token(number) or str(number)
            pieces.append(Piece(number, token, place, kind, (begin, end + is_part)))
        texts = tuple(each + tail if number == place else each for number, each in enumerate(cut.texts))
        return Pieces(texts, tuple(pieces), cut.unknown, len(written))

    def show(self, number: int) -> str:
        """Return the text to show for an entry of the vocabulary, such as a token that a model predicts.

        Raises AttentionError: tokenizer_fails.
        """
        try:
            token = self.tokenizer.id_to_token(number)
            text = self.tokenizer.decode([number], skip_special_tokens=False)
        except BaseException as error:
            raise tokenizer_refusal("tokenizer_fails", error) from None
        if token is None:
            return str(number)
        if REPLACEMENT in text and all(letter in BYTE_LETTERS for letter in token):
            held = bytes(BYTE_LETTERS[letter] for letter in token)
            return f"⟨{held.hex(' ').upper()}⟩"
        [shown] = show_subwords([token if REPLACEMENT in text or not text else text.strip()])
        return printable_token(shown) or show_blanks(text)

    def spell(self, numbers: Sequence[int]) -> str:
        """Decode the tokens that a model generated, and return their text. Raises AttentionError: tokenizer_fails."""
        try:
            return self.tokenizer.decode(list(numbers), skip_special_tokens=False)
        except BaseException as error:
            raise tokenizer_refusal("tokenizer_fails", error) from None


def show_blanks(text: str) -> str:
    """Return a text with visible signs in place of its spaces."""
    return "".join(SHOWN_BLANKS.get(blank) or SHOWN_BLANKS[" "] for blank in text)


def tokenizer_refusal(code: str, error: BaseException) -> BaseException:
    """Return the AttentionError for an error of the tokenizers package; an interruption of the program is returned
    unchanged.

    An error in its Rust code is a PanicException, which is no subclass of Exception.
    """
    is_fault = isinstance(error, Exception) or type(error).__name__ == "PanicException"
    return AttentionError(code, given=type(error).__name__) if is_fault else error
