"""The lesson on scores, drawer "widths", one of its controls: W_a, which says which number of q meets which of k."""

from attention_core.inputs.matrix_text import parse_matrix, to_text
from pages.panels.link_controls import text_box


def choose_w_a(kind: str, d_q: int, d_k: int) -> str:
    """W_a: each number of q meets the same number of k, or the first the last, or as the reader types it."""
    crossed = write_crossed_w_a(d_q, d_k)
    if kind == "crossed":
        return crossed
    if kind == "identity":
        return "identity~"
    typed = text_box("own", crossed, read_w_a)
    return to_text(read_w_a(typed))


def read_w_a(text: str):
    """Reads a typed W_a. Raises AttentionError for what is no matrix."""
    return parse_matrix(text, "w_a")


def write_crossed_w_a(d_q: int, d_k: int) -> str:
    """Writes W_a with ones from the first number of q to the last of k, from the second to the last but one, ..."""
    rows = []
    for query_number in range(d_q):
        row = ["1" if key_number == query_number else "0" for key_number in reversed(range(d_k))]
        rows.append(",".join(row))
    return ";".join(rows)
