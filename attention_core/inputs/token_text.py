"""Joins tokens to a text that gives them back."""

from collections.abc import Collection, Sequence

from attention_core.inputs.tokenizer import TOKEN_SEPARATOR, check_token_limits, printable_token, split_tokens
from attention_core.record.errors import AttentionError


def join_tokens(tokens: Sequence[str], words: Collection[str] = ()) -> str:
    """Joins tokens to a text that `tokenise` cuts into exactly these tokens.

    The tokens stand side by side where no space is written between them, as in Chinese, else with spaces, and with
    bars where neither gives the same tokens.

    tokens: not empty, without "|" and without spaces around them. words: the words that tokenise will be given.

    Raises AttentionError: token_form for a token that no text can hold, and what tokenise refuses.

    >>> join_tokens(["Anna", "fed", "the", "dog", "."])
    'Anna fed the dog .'
    >>> join_tokens(["<s>", "New York"])
    '<s>|New York'
    >>> join_tokens(["小红", "笑了"]), join_tokens(["小红", "笑了"], words={"小红", "笑了"})
    ('小红|笑了', '小红笑了')
    """
    tokens = check_token_limits(tuple(tokens))
    for token in tokens:
        if not token or token != token.strip() or TOKEN_SEPARATOR in token:
            raise AttentionError("token_form", given=printable_token(token))
    texts = [" ".join(tokens)]
    if not any(token.isascii() for token in tokens):
        texts.insert(0, "".join(tokens))
    for text in texts:
        if split_tokens(text, words) == tokens:
            return text
    if len(tokens) == 1:
        return tokens[0] + TOKEN_SEPARATOR
    return TOKEN_SEPARATOR.join(tokens)
