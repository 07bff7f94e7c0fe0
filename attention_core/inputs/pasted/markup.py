"""Parses tables in markup: LaTeX environments, HTML, Markdown, Jira, and tables with lines of characters such as | and
═.
"""

import html
import re

from attention_core.inputs.pasted.refusals import Cells, ambiguous_error, brackets_error, not_understood

# ---- LaTeX -----------------------------------------------------------------------------------------------------------
ENVIRONMENT = re.compile(
    r"\\begin\s{0,3}\{((?:[pbBvV]|small)?(?:small)?matrix\*?|[pbBvV]?NiceMatrix|NiceArray|array|tabular[xy]?\*?|longtable|tblr)\}"
)
WITH_COLUMNS = ("array", "tabular", "NiceArray", "longtable", "tblr")
ROW_END = re.compile(r"\\\\\*?(?:\s{0,5}\[\s?-?[0-9.]{1,8}\s?[a-z]{2}\s?\])?|\\tabularnewline\b|\\cr\b")
CELL_END = re.compile(r"(?<!\\)&")
RULE = re.compile(
    r"\\(?:hline|hdashline|toprule|midrule|bottomrule|endhead|endfoot|endfirsthead|addlinespace)\b|\\c(?:line|midrule)\s?(?:\([^()]{0,9}\))?\{[^{}]{0,20}\}"
)
LATEX_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
SPACING = re.compile(
    r"\\h?phantom\{[^{}]{0,20}\}|\\[,;:! ]|~|\\q?quad\b"
    r"|\\(?:displaystyle|textstyle|small|tiny|bf|bfseries|centering)\b|\$"
)
FORMAT = re.compile(
    r"\\(?:text|textbf|textit|texttt|textrm|mathbf|mathrm|mathit|mathbb|mathsf|boldsymbol|bm|num|mbox|ensuremath|mathord|underline)\s?\{([^{}]*)\}"
)
COLOURED = re.compile(r"\\(?:textcolor|colorbox|cellcolor|color)\s?(?:\[[^\]]{0,20}\])?\{[^{}]{0,40}\}")
BEFORE = re.compile(
    r"(?:[=({$]|\\\[|\\\(|\A|\\left\s?(?:[(\[|.]|\\[{|]|\\lbrace|\\lbrack|\\vert)|\\centering|\}|\n)\s*\Z"
)
AFTER = re.compile(
    r"\s*(?:\\right\s?(?:[)\]|.]|\\[}|]|\\rbrace|\\rbrack|\\vert)\s*)?(?=\Z|[.,;}$]|\\\]|\\\)|\\end|\\\\|\\label|\\caption|[^\W\d]|\n)(?!\\begin)"
)


def latex_cells(text: str, name: str) -> Cells | None:
    """Splits the matrix of a LaTeX environment into cells; None if the text has no such matrix.

    Raises AttentionError: brackets, not_understood, several_matrices.
    """
    found = ENVIRONMENT.search(text)
    if found is None:  # 1 & 2 \\\\ is accepted without an environment
        return environment_cells(text, "matrix") if CELL_END.search(text) and ROW_END.search(text) else None
    matrices = []
    position = 0
    while found is not None:
        closing = rf"\end{{{found[1]}}}"
        end = text.find(closing, found.end())
        if end < 0:
            raise brackets_error(text[found.start() :], name)
        body = text[found.end() : end]
        after = end + len(closing)
        if not found[1].startswith(("tabular", "longtable", "tblr")):
            check_beside(text, position, found.start(), after, name)
        matrices.append(environment_cells(body, found[1]))
        position = after
        found = ENVIRONMENT.search(text, after)
    if len(matrices) > 1:
        raise ambiguous_error("several_matrices", name, matrices, given=len(matrices))
    return matrices[0]


def check_beside(text: str, since: int, start: int, end: int, name: str) -> None:
    """Raises AttentionError if text beside a matrix, such as a factor, a power or a transposition, would change the
    matrix."""
    before = text[max(since, start - 200) : start]
    if start - since <= 200 and since == 0 and not before.strip():
        before = ""
    if before and not BEFORE.search(before):
        raise not_understood(text, max(since, start - 10), name)
    if not AFTER.match(text, end) and not text[end:].lstrip().startswith("\\begin"):
        raise not_understood(text, end, name)


def environment_cells(body: str, kind: str) -> Cells:
    """Splits the body of a LaTeX environment into cells."""
    if kind.startswith(WITH_COLUMNS):
        body = skip_column_text(body, 2 if kind in ("tabularx", "tabular*", "tabulary") else 1)
    else:
        body = re.sub(r"\A\s*\[[lcr|]{1,40}\]", "", body)
    body = LATEX_COMMENT.sub("", body)
    body = RULE.sub(" ", body)
    rows = [row for row in ROW_END.split(body) if row.strip()]
    return [[latex_cell(cell) for cell in CELL_END.split(row)] for row in rows]


def skip_column_text(body: str, arguments: int) -> str:
    """Removes the column specification, such as [t] and {r|rr}, at the beginning of an environment."""
    body = re.sub(r"\A\s*\[[^\]\n]{0,40}\]", "", body)
    for _ in range(arguments):
        stripped = body.lstrip()
        if not stripped.startswith("{"):
            break
        depth = 0
        for position, sign in enumerate(stripped):
            depth += (sign == "{") - (sign == "}")
            if depth == 0:
                body = stripped[position + 1 :]
                break
        else:
            break
    return body


def latex_cell(cell: str) -> str:
    """Returns the text of a LaTeX cell without its formatting.

    >>> latex_cell(r" $\\mathbf{-1{,}5}$ "), latex_cell(r"\\text{it}"), latex_cell(r"-\\infty")
    ('-1.5', 'it', '-inf')
    """
    cell = cell.replace("{,}", ".")
    cell = SPACING.sub(" ", COLOURED.sub("", cell)).replace(r"\infty", "inf").replace(r"\mathrm{NaN}", "nan")
    for _ in range(3):
        cell = FORMAT.sub(r" \1 ", cell)
    cell = re.sub(r"\\([&%#_{}$])", r"\1", cell).strip()
    while len(cell) > 1 and cell[0] == "{" and cell[-1] == "}":
        cell = cell[1:-1].strip()
    return re.sub(r"\A([+\-−])\s+(?=[0-9.])", r"\1", cell)


# ---- HTML ------------------------------------------------------------------------------------------------------------
HTML_TABLE = re.compile(r"<(?:table|tr|mtable)\b", re.IGNORECASE)
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b([^<>]{0,2000})>|<!--.{0,500}?-->", re.DOTALL)
ROW_TAGS, CELL_TAGS = ("tr", "mtr"), ("td", "th", "mtd")
SILENT_TAGS = ("script", "style", "caption", "annotation")


def html_cells(text: str, name: str) -> Cells | None:
    """Splits an HTML table, or a matrix in MathML, into cells; None if the text has neither.

    Raises AttentionError: not_understood, several_matrices.
    """
    if HTML_TABLE.search(text) is None:
        return None
    tables: list[Cells] = [[]]
    cell: list[str] | None = None
    silent = False
    position = 0
    for tag in TAG.finditer(text):
        if cell is not None and not silent:
            cell.append(text[position : tag.start()])
        position = tag.end()
        kind = (tag[2] or "").lower()
        opens = tag[1] == ""
        if kind in SILENT_TAGS:
            silent = opens
        elif kind in ("table", "mtable") and opens and any(tables[-1]):
            tables.append([])
        elif kind in ROW_TAGS:
            cell = end_html_cell(tables[-1], cell)
            if opens:
                tables[-1].append([])
        elif kind in CELL_TAGS:
            cell = end_html_cell(tables[-1], cell)
            if opens:
                if re.search(r"(?:col|row)span\s*=\s*[\"']?(?!1\b)[0-9]", tag[3] or "", re.IGNORECASE):
                    raise not_understood(text, tag.start(), name)
                cell = []
    end_html_cell(tables[-1], cell)
    matrices = [[row for row in rows if row] for rows in tables]
    matrices = [rows for rows in matrices if rows]
    if len(matrices) > 1:
        raise ambiguous_error("several_matrices", name, matrices, given=len(matrices))
    return matrices[0] if matrices else []


def end_html_cell(rows: Cells, cell: list[str] | None) -> None:
    """Adds the text of a finished HTML cell to its row."""
    if cell is None:
        return
    if not rows:
        rows.append([])
    rows[-1].append(" ".join(html.unescape("".join(cell)).split()))


# ---- lines between cells ---------------------------------------------------------------------------------------------
LINE_SIGNS = r"─━═┄┈╌┌┬┐├┼┤└┴┘╞╪╡╒╤╕╘╧╛╔╦╗╠╬╣╚╩╝╭╮╰╯┏┳┓┡╇┩┗┻┛╟╢╫╂┠┨┃┯┷┿╥╨"
LINE_AND_CROSSINGS = frozenset(" \t\r|:+-−=" + LINE_SIGNS)
LINE_CHARACTERS = frozenset(LINE_SIGNS)
LINE_RUN = re.compile(rf"-{{3}}|−{{3}}|={{3}}|[{LINE_SIGNS}]{{2}}")
MARKDOWN_RULE = re.compile(r"[ \t|]*:?[-−]+:?[ \t]*(?:[|+][ \t]*:?[-−]+:?[ \t]*)*\|?[ \t]*")


def split_ruled_lines(lines: list[str]) -> tuple[list[str], bool]:
    """Returns the lines without ruling lines such as |---|---| or ═══, and whether a ruling line follows the first row.

    The first row is the first of the other lines.
    """
    kept = []
    is_head_ruled = False
    for line in lines:
        is_rule = False
        if LINE_AND_CROSSINGS.issuperset(line):
            is_rule = LINE_RUN.search(line) is not None or not LINE_CHARACTERS.isdisjoint(line)
            is_rule |= len(kept) == 1 and "|" in line and MARKDOWN_RULE.fullmatch(line) is not None
        if is_rule:
            is_head_ruled |= len(kept) == 1
        else:
            kept.append(line)
    return kept, is_head_ruled and len(kept) > 1


def piped_cells(lines: list[str]) -> Cells | None:
    """Splits lines whose cells are separated by "|" or "||"; None if a line has no "|"."""
    if not lines or not all("|" in line for line in lines):
        return None
    cells = []
    for line in lines:
        stripped = line.strip()
        if stripped.startswith("||"):
            stripped = stripped.replace("||", "|")
        stripped = stripped.removeprefix("|").removesuffix("|")
        cells.append([cell.strip().replace("**", "").strip("*`") for cell in stripped.split("|")])
    if all(len(row) == 1 for row in cells):  # each row has a single cell: "|" only encloses it, as in a determinant
        cells = [row[0].split() for row in cells]
    return cells
