"""Replaces signs in a pasted text by the signs of programs: wide digits, dashes, fractions, powers of ten."""

import re
import unicodedata

from attention_core.record.errors import AttentionError

WIDE_FORMS = (
    "<wide>",
    "<narrow>",
    "<small>",
    "<noBreak>",
    "<font>",
)  # full-width signs, by their names in Unicode
MINUS = "−"  # U+2212; the minus sign besides the hyphen
OTHER_SIGNS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u207b\ufe63\uff0d", MINUS),  # dashes, a raised minus
    "⁺": "+",
    "、": ", ",
    "⁄": "/",
    "∕": "/",
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("【〔", "["),
    **dict.fromkeys("】〕", "]"),
    **dict.fromkeys("│┃║┆┇┊┋╎╏", "|"),
    **dict.fromkeys("⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠", " "),  # the pieces of a tall bracket
    "⋅": "·",
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),  # characters without width
}
ELLIPSIS = re.compile(r"\.{3,}|[…⋯⋮⋰⋱]|\\(?:[lcvdh]|dd|id)?dots\b|\breached getOption\b|\bmax\.print\b", re.ASCII)
# Numbers written with several signs or with spaces become one word.
POWER_OF_TEN = re.compile(
    r"(?<=[0-9.])[ \t]*(?:[×xX*·]|\\times|\\cdot)[ \t]*10"
    r"(?:[ \t]*(?:\^|\*\*)[ \t]*[{(]?[ \t]*([+\-−]?[0-9]{1,4})(?:[ \t]*[)}])?|([−+]?[⁰¹²³⁴-⁹]{1,4}))"
)
BARE_POWER_OF_TEN = re.compile(
    r"(?<![\w.,^])10(?:[ \t]*(?:\^|\*\*)[ \t]*[{(]?[ \t]*([+\-−]?[0-9]{1,4})(?:[ \t]*[)}])?|([−+]?[⁰¹²³⁴-⁹]{1,4}))"
)
MATHEMATICA_POWER = re.compile(r"(?<=[0-9.])[ \t]*\*\^[ \t]*([+\-−]?[0-9]{1,4})")
LATEX_FRACTION = re.compile(
    r"(?<![0-9.,])\\[dtc]?frac[ \t]*(?:\{([^{}]{0,60})\}[ \t]*\{([^{}]{0,60})\}|([0-9])[ \t]*([0-9]))"
)
FRACTION_SIGN = re.compile(r"(?<![0-9.,])[¼½¾⅐-⅞]")
PERCENT = re.compile(r"(?<=[0-9.])[ \t]*\\?%(?![ \t]*[^\W\d_])")
RAISED_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def plain_signs(text: str) -> str:
    """Replaces the signs of a text by the signs of programs, if they can mean nothing else.

    Wide and bold digits and marks, dashes before a number, blanks of all widths, quotation marks, powers of ten,
    fractions. A sign with another meaning, such as a raised 2 or the half of "1½", is unchanged.

    >>> plain_signs("１．５，–2 1.5 × 10⁻³ ½")
    '1.5,−2 1.5e-3 1/2'
    """
    if text.isascii():
        plain = text
    else:
        plain = text.translate({ord(sign): plain_sign(sign) for sign in set(text)})
        plain = FRACTION_SIGN.sub(lambda found: unicodedata.normalize("NFKC", found[0]).replace("⁄", "/"), plain)
    plain = POWER_OF_TEN.sub(lambda found: "e" + plain_exponent(found), plain)
    plain = BARE_POWER_OF_TEN.sub(lambda found: "1e" + plain_exponent(found), plain)
    plain = MATHEMATICA_POWER.sub(r"e\1", plain)
    plain = LATEX_FRACTION.sub(plain_fraction, plain)
    return PERCENT.sub("%", plain)


def plain_sign(sign: str) -> str:
    """Replaces a sign by the sign of programs, or returns it unchanged."""
    if sign in OTHER_SIGNS:
        return OTHER_SIGNS[sign]
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category == "Nd":  # a digit of any script
        return str(unicodedata.decimal(sign))
    if category == "Zs":
        return " "
    if unicodedata.decomposition(sign).startswith(WIDE_FORMS):
        wide = unicodedata.normalize("NFKC", sign)
        return OTHER_SIGNS.get(wide, wide)
    return sign


def plain_exponent(found: re.Match) -> str:
    """Writes the exponent of a power of ten, raised or not."""
    exponent = found[1] if found[1] is not None else found[2].translate(RAISED_DIGITS)
    return exponent.replace(MINUS, "-")


def plain_fraction(found: re.Match) -> str:
    """Writes a fraction of LaTeX on one line."""
    in_braces, digits = found.group(1, 2), found.group(3, 4)
    top, bottom = digits if in_braces[0] is None else in_braces
    return f"{top.strip()}/{bottom.strip()}"


def refuse_left_out(text: str, name: str) -> None:
    """Raises AttentionError (numbers_left_out), with the line, if a printed matrix leaves numbers out.

    A MATLAB line that continues after "..." leaves nothing out.
    """
    found = ELLIPSIS.search(text)
    if found is None:
        return
    line = text.count("\n", 0, found.start()) + 1
    raise AttentionError("numbers_left_out", name=name, line=line, given=found[0][:20])


def join_continued_lines(text: str) -> str:
    """Joins MATLAB lines that continue after "...": these texts contain ";", which no printed matrix does."""
    if ";" not in text or "..." not in text:
        return text
    return re.sub(r"\.\.\.[ \t]*\r?\n", " ", text)
