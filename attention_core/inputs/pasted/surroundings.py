"""Takes away what stands around a pasted matrix and is no part of it: fences, prompts, comments, names, footers."""

import re

FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)[^\n]*$")
QUOTED_LINES = re.compile(r'\A\s*"([^"]*\n[^"]*)"\s*\Z')  # of one cell of a spreadsheet
INLINE_CODE = re.compile(r"\A\s*`([^`]*)`\s*\Z")
PROMPT = re.compile(
    r"(?m)^[ \t]*(?:>>>|\.\.\.(?=[ \t])|In ?\[[0-9]*\]:=?|Out ?\[[0-9]*\][:=]|julia>|octave:[0-9]+>"
    r"|>>(?=[ \t]|$)|>(?=[ \t]))[ \t]?"
)
ECHO = re.compile(
    r"\A\s*(?:(?:print|display|disp)\s*\(\s*)?[^\W\d][\w.]{0,60}\)?;?[ \t]*\n"
)  # the name that was asked for
COMMENT = re.compile(r"(?m)(?:^|(?<=[ \t,;\])}]))(?:#(?=[ \t]|$)|//(?=[ \t]|MatrixForm)|%(?=[ \t]*[^\W\d_]))[^\n]*$")
NAME = r"[^\W\d]\w{0,60}"
# A name before "=": with a type, an index or signs of LaTeX; neither brackets of a call nor a number before it.
ASSIGNED = re.compile(
    r"[ \t]*(?P<head>(?:[^\W\d]|[\\$*&])[\w.\\^{}\[\]<>:;,'\"|*&$ \t]{0,200}?)[ \t]*"
    r"(?P<sign>:=|<-|(?<![=!<>])=(?!=)|←)[ \t]*"
)
TITLE = re.compile(
    rf"\A\s*(?:Parameter containing:|(?:{NAME}[ \t]){{0,2}}{NAME}[ \t]*:(?![:=]))[ \t]*(?=\n|[\[{{(]|array|tensor)"
)
SHAPED = re.compile(  # as Julia and polars say what follows
    r"\A\s*(?:[0-9]+(?:[×x][0-9]+)* ?(?:-element )?[^\n\d][^\n]{0,200}:[ \t]*\n|shape: ?\([^\n()]*\)[ \t]*\n)"
)
FOOTER = re.compile(
    r"(?m)^[ \t]*(?:\[[0-9]+ rows? x [0-9]+ columns?\]|\[torch\.[A-Za-z.]+ of size [0-9x, ()]+\]"
    r"|(?:Name: [^\n]{1,80}, )?(?:Length: [0-9]+, )?dtype: \w+)[ \t]*$"
)


def strip_surroundings(text: str) -> str:
    """Takes away fences of code, prompts, comments and footers; the rest stays as it is.

    >>> strip_surroundings("```python\\n1 2  # first\\n3 4\\n```").split()
    ['1', '2', '3', '4']
    """
    text = text.removeprefix("\ufeff")  # a file saved by a spreadsheet may begin with this mark
    text = text.replace("\r\n", "\n")
    if "```" in text or "~~~" in text:
        text = FENCE.sub("", text)
    text = INLINE_CODE.sub(r"\1", text)
    text = QUOTED_LINES.sub(r"\1", text)
    prompted = PROMPT.sub("", text)
    if prompted != text:
        text = ECHO.sub("", prompted)
    text = COMMENT.sub("", text)
    text = FOOTER.sub("", text)
    return text


def strip_name(text: str) -> str:
    """Takes away the name before a matrix: `Q = `, `A: Tensor = `, `A <- `, `Q:`, `2×2 Matrix{Float64}:`.

    >>> strip_name("const A = [[1, 2]];"), strip_name("W_{q} := 1 2"), strip_name("1 2")
    ('[[1, 2]];', '1 2', '1 2')
    """
    assigned = ASSIGNED.match(text.lstrip())
    if assigned is not None:
        text = text.lstrip()[assigned.end() :]
    elif text.lstrip().startswith("="):  # of a spreadsheet
        text = text.lstrip()[1:]
    text = SHAPED.sub("", text, count=1)
    return TITLE.sub("", text, count=1)


def split_assignments(text: str) -> list[tuple[str, str]]:
    """Splits a text in which several matrices have names: (name, text) each; nothing where it has at most one.

    >>> split_assignments("q = [[1]]\\nk = [[2]]")
    [('q', 'q = [[1]]\\n'), ('k', 'k = [[2]]')]
    """
    if not any(sign in text for sign in ("=", "<-", "←")):
        return []
    depth = 0
    begun = []
    offset = 0
    for line in text.splitlines(keepends=True):
        assigned = ASSIGNED.match(line) if depth == 0 else None
        if assigned is not None:
            begun.append((assigned["head"].strip(), offset))
        depth += count_any(line, "([{") - count_any(line, ")]}")
        offset += len(line)
    if len(begun) < 2:
        return []
    ends = [start for _, start in begun[1:]] + [len(text)]
    return [(label, text[start:end]) for (label, start), end in zip(begun, ends, strict=True)]


def count_any(text: str, signs: str) -> int:
    """Counts the signs in a text."""
    return sum(text.count(sign) for sign in signs)
