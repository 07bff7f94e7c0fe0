"""The matrices of a layer under the names of libraries, transposed to this project's convention: x W."""

from collections.abc import Mapping

import numpy as np

from attention_core.inputs.files.array_names import PARTS_PATTERN, last_name, plain_name

# The names of a linear layer of PyTorch, whose weight is (out, in): y = x Wᵀ.
LINEAR_NAMES = {
    "q": ("q_proj", "query", "query_proj", "q", "to_q", "q_lin", "wq", "linear_q"),
    "k": ("k_proj", "key", "key_proj", "k", "to_k", "k_lin", "wk", "linear_k"),
    "v": ("v_proj", "value", "value_proj", "v", "to_v", "v_lin", "wv", "linear_v"),
    "o": ("o_proj", "out_proj", "output_proj", "o", "to_out", "out_lin", "wo", "linear_out"),
}
THIRDS = {"q": 0, "k": 1, "v": 2}


def find_projection(arrays: Mapping[str, np.ndarray], name: str) -> str | None:
    """The name of the array that is a matrix or bias of a layer in a library's naming; None if there is none.

    name: in this project, such as "w_q" or "b_o".

    >>> find_projection({"attn.k_proj.weight": np.eye(2), "attn.q_proj.weight": np.eye(2)}, "w_q")
    'attn.q_proj.weight'
    """
    return next((given for given in arrays if projection_of(given, name)), None)


def projection_of(given: str, name: str) -> str:
    """The form in which an array stores the matrix `name`: "plain", "linear" (transposed), "packed"; else ""."""
    kind, _, letter = name.partition("_")
    if letter not in LINEAR_NAMES or kind not in ("w", "b"):
        return ""
    last = last_name(given)
    if plain_name(given) in (name, f"{kind}{letter}"):
        return "plain"
    parts = [part for part in PARTS_PATTERN.split(given) if part]
    ending = "weight" if kind == "w" else "bias"
    if last == ending and len(parts) > 1 and last_name(parts[-2]) in LINEAR_NAMES[letter]:
        return "linear"
    if last.removesuffix(f"_{ending}") in LINEAR_NAMES[letter] and last.endswith(f"_{ending}"):
        return "linear"
    return "packed" if last == f"in_proj_{ending}" and letter in THIRDS else ""


def turn_projection(array: np.ndarray, given: str, name: str) -> np.ndarray:
    """An array as the matrix `name` of this project: (in, out), heads as consecutive column blocks.

    given: its name in the file. A weight of a linear layer is transposed, a packed one is cut to its third; W_Q of
    TransformerLens (H, D, d) becomes (D, H d), its W_O (H, d, D) becomes (H d, D).

    >>> turn_projection(np.array([[1, 2], [3, 4], [5, 6]]), "q_proj.weight", "w_q").tolist()
    [[1, 3, 5], [2, 4, 6]]
    """
    how = projection_of(given, name)
    if how == "packed" and len(array) % 3 == 0:
        array = np.split(array, 3)[THIRDS[name[-1]]]
    if how in ("linear", "packed") and array.ndim == 2:
        return array.T
    if how == "plain" and array.ndim == 3 and name == "w_o":
        return array.reshape(-1, array.shape[-1])  # (H, d, D) -> (H d, D)
    if how == "plain" and array.ndim == 3:
        return array.swapaxes(0, 1).reshape(array.shape[1], -1)  # (H, D, d) -> (D, H d)
    if how == "plain" and name.startswith("b_") and array.ndim == 2:
        return array.reshape(1, -1)  # (H, d) -> (1, H d)
    return array
