"""Replaces typographic characters of a pasted text by plain ones, and removes everything around the matrix.

Replaced characters: wide digits, dashes, fractions, powers of ten. Removed texts: code fences, prompts, comments,
names, footers.
"""

import re
import unicodedata

from attention_core.record.errors import AttentionError

# ---- signs -----------------------------------------------------------------------------------------------------------
WIDE_FORMS = (
    "<wide>",
    "<narrow>",
    "<small>",
    "<noBreak>",
    "<font>",
)  # full-width characters, found by name
MINUS = "−"  # U+2212, the minus sign (the ASCII character "-" is a hyphen)
OTHER_SIGNS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u207b\ufe63\uff0d", MINUS),  # dashes, superscript minus
    "⁺": "+",
    "、": ", ",
    "⁄": "/",
    "∕": "/",
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("【〔", "["),
    **dict.fromkeys("】〕", "]"),
    **dict.fromkeys("│┃║┆┇┊┋╎╏", "|"),
    **dict.fromkeys("⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠", " "),  # pieces of a bracket several lines high
    "⋅": "·",
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),  # zero-width characters
}
ELLIPSIS = re.compile(r"\.{3,}|[…⋯⋮⋰⋱]|\\(?:[lcvdh]|dd|id)?dots\b|\breached getOption\b|\bmax\.print\b", re.ASCII)
# Powers of ten written with several characters, such as 1 × 10^3.
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
    """Replaces each typographic character that has only one meaning by the characters that programs use for it.

    Such characters are wide and bold digits and marks, dashes before a number, blanks of all widths, quotation marks,
    powers of ten, and fractions. A character with another meaning, such as a superscript 2 or the half of "1½", is
    unchanged.

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
    """Returns the character that programs use in place of a typographic character, or the character unchanged."""
    if sign in OTHER_SIGNS:
        return OTHER_SIGNS[sign]
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category == "Nd":  # Nd: decimal digits of any script
        return str(unicodedata.decimal(sign))
    if category == "Zs":
        return " "
    if unicodedata.decomposition(sign).startswith(WIDE_FORMS):
        wide = unicodedata.normalize("NFKC", sign)
        return OTHER_SIGNS.get(wide, wide)
    return sign


def plain_exponent(found: re.Match) -> str:
    """Writes the exponent of a power of ten in ASCII digits, with "-" for a minus, also if it was superscript."""
    exponent = found[1] if found[1] is not None else found[2].translate(RAISED_DIGITS)
    return exponent.replace(MINUS, "-")


def plain_fraction(found: re.Match) -> str:
    """Writes a matched LaTeX fraction on one line as numerator/denominator."""
    in_braces, digits = found.group(1, 2), found.group(3, 4)
    top, bottom = digits if in_braces[0] is None else in_braces
    return f"{top.strip()}/{bottom.strip()}"


def refuse_left_out(text: str, name: str) -> None:
    """Raises AttentionError (numbers_left_out), which names the line, if "..." replaces numbers in a printed matrix.

    A MATLAB line that continues after "..." omits no numbers.
    """
    found = ELLIPSIS.search(text)
    if found is None:
        return
    line = text.count("\n", 0, found.start()) + 1
    raise AttentionError("numbers_left_out", name=name, line=line, given=found[0][:20])


def join_continued_lines(text: str) -> str:
    """Returns the text with MATLAB lines joined that continue after "...".

    Only a text with ";" is changed: such MATLAB texts contain ";", and printed matrices with left-out numbers do not.
    """
    if ";" not in text or "..." not in text:
        return text
    return re.sub(r"\.\.\.[ \t]*\r?\n", " ", text)


# ---- what is around a matrix -----------------------------------------------------------------------------------------
FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)[^\n]*$")
QUOTED_LINES = re.compile(r'\A\s*"([^"]*\n[^"]*)"\s*\Z')  # a spreadsheet cell with several lines, in quotation marks
INLINE_CODE = re.compile(r"\A\s*`([^`]*)`\s*\Z")
PROMPT = re.compile(
    r"(?m)^[ \t]*(?:>>>|\.\.\.(?=[ \t])|In ?\[[0-9]*\]:=?|Out ?\[[0-9]*\][:=]|julia>|octave:[0-9]+>"
    r"|>>(?=[ \t]|$)|>(?=[ \t]|$))[ \t]?"
)
ECHO = re.compile(
    r"\A\s*(?:(?:print|display|disp)\s*\(\s*)?[^\W\d][\w.]{0,60}\)?;?[ \t]*\n"
)  # a name typed at a prompt, above its printed value
COMMENT = re.compile(r"(?m)(?:^|(?<=[ \t,;\])}]))(?:#(?=[ \t]|$)|//(?=[ \t]|MatrixForm)|%(?=[ \t]*[^\W\d_]))[^\n]*$")
NAME = r"[^\W\d]\w{0,60}"
SEPARATOR_LINE = re.compile(r"\A\s*\"?sep=[^\n]\"?[ \t]*\n", re.IGNORECASE)  # a first line that sets Excel's separator
# SCRIPT_LINE matches lines that hold no numbers, such as imports; SHAPE matches lines that state a shape.
SCRIPT_LINE = re.compile(r"(?m)^[ \t]*(?:(?:from [\w.]{1,60} )?import [\w., ]{1,80}|print\([\w.]{1,60}\));?[ \t]*$")
SHAPE = re.compile(
    rf"(?m)^[ \t]*(?:{NAME}\.)?shape[ \t]*[:=][ \t]*\([0-9, ]{{1,40}}\)[ \t]*$"
    rf"|(?:^[ \t]*(?:{NAME}(?:\.\w{{1,60}})?(?:\(\))?[ \t]*[:=]?[ \t]*)?|(?<=\))[ \t,]*)"
    r"torch\.Size\(\[[0-9, ]{0,40}\]\)[ \t]*$"
)
TITLE_LINE = re.compile(rf"(?P<head>{NAME})[ \t]*$")
LABELLED = re.compile(
    rf"[ \t]*(?P<head>{NAME}(?:\.\w+){{0,8}})[ \t]*:[ \t]*(?=$|[\[{{(]|(?:[\w.]+\.)?(?:array|tensor)\()"
)
# The line above each matrix of a 3-D array: "A(:,:,1) =" (MATLAB), ", , 1" (R), "[:, :, 1] =" (Julia).
PAGE = re.compile(
    r"(?m)^[ \t]*(?P<name>\w{0,60})(?:[\[(]:, ?:, ?(?P<number>[0-9]+)[\])] =|, , (?P<level>[^\n]{1,60}))[ \t]*$"
)
# A name before "=", possibly with a type, an index or LaTeX, which is neither a call nor after a number.
ASSIGNED = re.compile(
    r"[ \t]*(?P<head>(?:[^\W\d]|[\\$*&])[\w.\\^{}\[\]<>:;,'\"|*&$ \t]{0,200}?)[ \t]*"
    r"(?P<sign>:=|<-|(?<![=!<>])=(?!=)|←)[ \t]*"
)
TITLE = re.compile(
    rf"\A\s*(?:Parameter containing:|(?:{NAME}[ \t]){{0,2}}{NAME}[ \t]*:(?![:=]))[ \t]*(?=\n|[\[{{(]|array|tensor)"
)
SHAPED = re.compile(  # the line with the shape that Julia and polars print above the numbers
    r"\A\s*(?:[0-9]+(?:[×x][0-9]+)* ?(?:-element )?[^\n\d][^\n]{0,200}:[ \t]*\n|shape: ?\([^\n()]*\)[ \t]*\n"
    r"|[0-9]+(?:[×x][0-9]+)+ (?:[a-z]+[0-9]* )?(?:matrix|array)[ \t]*\n|torch_tensor[ \t]*\n)"  # MATLAB; torch for R
)
FOOTER = re.compile(
    r"(?m)^[ \t]*(?:\[[0-9]+ rows? x [0-9]+ columns?\]|\[torch\.[A-Za-z.]+ of size [0-9x, ()]+\]"
    r"|(?:Name: [^\n]{1,80}, )?(?:Length: [0-9]+, )?dtype: \w+"
    r"|\[ \w{1,30}Type\{[0-9,]{1,40}\} \]|<NDArray [0-9x]{1,40} @\w{1,20}\([0-9]{1,4}\)>)[ \t]*$"
)


def strip_surroundings(text: str) -> str:
    """Returns a text without code fences, prompts, comments and footers; the rest is unchanged.

    >>> strip_surroundings("```python\\n1 2  # first\\n3 4\\n```").split()
    ['1', '2', '3', '4']
    """
    text = text.removeprefix("\ufeff")  # byte order mark, which spreadsheets write
    text = SEPARATOR_LINE.sub("", text.replace("\r\n", "\n"))
    if "```" in text or "~~~" in text:
        text = FENCE.sub("", text)
    text = INLINE_CODE.sub(r"\1", text)
    text = QUOTED_LINES.sub(r"\1", text)
    prompted = PROMPT.sub("", text)
    if prompted != text:
        text = ECHO.sub("", prompted)
    text = COMMENT.sub("", text)
    for said in (FOOTER, SHAPE, SCRIPT_LINE):
        text = said.sub("", text)
    return text


def strip_name(text: str) -> str:
    """Returns a text without the name before the matrix, such as `Q = `, `A: Tensor = `, `A <- ` or `2×2
    Matrix{Float64}:`.

    >>> strip_name("const A = [[1, 2]];"), strip_name("W_{q} := 1 2"), strip_name("1 2")
    ('[[1, 2]];', '1 2', '1 2')
    """
    bare = text.lstrip()
    if bare.startswith("="):  # "=" begins a spreadsheet formula
        text = bare[1:]
    while (assigned := ASSIGNED.match(bare)) is not None:  # repeated for texts such as Q = K = [[1, 2]]
        text = bare = bare[assigned.end() :].lstrip(" \t")
    text = SHAPED.sub("", text, count=1)
    return TITLE.sub("", text, count=1)


def split_named(text: str) -> list[tuple[str, str]]:
    """Splits a text of several matrices, with names before or above them, into (name, text) pairs.

    Returns [] for at most one matrix. If numbers come before the first name, their own text is their name.

    >>> split_named("q = [[1]]\\nk: [[2]]")
    [('q', '[[1]]\\n'), ('k', '[[2]]')]
    """
    depth, offset = 0, 0
    names, begins, ends = [""], [0], []
    for line in text.splitlines(keepends=True):
        named = find_name(line) if depth == 0 else None
        if named is not None:
            label, length = named
            names.append(label)
            begins.append(offset + length)
            ends.append(offset)
        depth += count_any(line, "([{") - count_any(line, ")]}")
        offset += len(line)
    pieces = [text[begin:end] for begin, end in zip(begins, [*ends, len(text)], strict=True)]
    before = SHAPED.sub("", pieces[0]).strip()
    parts = list(zip(names, pieces, strict=True))[1:]
    if parts and any(sign.isdigit() for sign in before):
        parts.insert(0, (before, before))
    return parts if len(parts) > 1 and any(sign.isdigit() for _, piece in parts for sign in piece) else []


def find_name(line: str) -> tuple[str, int] | None:
    """Returns the name that a line gives to the text after it, and the position of that text; None without a name."""
    page = PAGE.match(line)
    if page is not None:
        return f"{page['name']}[:, :, {page['number'] or page['level']}]", page.end()
    named = ASSIGNED.match(line) or LABELLED.match(line) or TITLE_LINE.match(line)
    return None if named is None else (named["head"].strip(), named.end())


def count_any(text: str, signs: str) -> int:
    """Counts the occurrences of any of these characters in a text."""
    return sum(text.count(sign) for sign in signs)
