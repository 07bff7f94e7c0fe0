"""From a Setup to what the core takes: tokens, matrices and where each of them comes from."""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from attention_core import Trace, Weights, attend, attend_qkv
from attention_core.boundary import check_hidden
from attention_core.config import one_of
from attention_core.edits import from_short_text, random_seed
from attention_core.errors import AttentionError
from attention_core.examples import EXAMPLES, Example, Recipe, vectors_for
from attention_core.numerals import exact
from attention_core.operations import split_heads
from attention_core.scores import SCORES
from attention_core.starting import first_heads, random_matrix
from attention_core.tokens import MAX_TOKENS, tokenise
from pages.shared.setup import Setup, check_link, config_of

PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")
BIASES = ("b_q",)
NEEDED = ("x", "context", "q", "k", "v", "allowed")  # a row a token; may not be taken away as a projection may
DEVICES = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
UNCHANGED = "~"  # a matrix in link form: what it would be anyway, with no cell changed
RESEED = 10  # from one seed to the next; an example's own seeds are below it
GENERAL_TERMS = 64 * 64  # the most products that one general score may be the sum of, to be shown one by one
HIDDEN_BYTES = 2**24  # the most that the additive score's tanh layer may take; every visitor's runs are kept


@dataclass(eq=False)
class Material:
    """What goes into a run: the words of both axes, the matrices by name, and each one's origin.

    Origins are built (by hand), source, random, typed (edited), given (where there was none) and removed. `seeds` says
    what a random one was drawn from, `bases` are the matrices before anybody changed them, `crossed` whether keys and
    values come from a second sequence.
    """

    queries: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    matrices: dict[str, np.ndarray] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)
    bases: dict[str, np.ndarray] = field(default_factory=dict)
    word_origins: tuple[str, ...] = ()
    key_origins: tuple[str, ...] = ()
    crossed: bool = False

    def put(self, name: str, matrix: np.ndarray, origin: str, seed: int | None = None) -> None:
        """Adds a matrix under its name."""
        self.matrices[name], self.origins[name] = np.asarray(matrix, dtype=float), origin
        if origin == "random" and seed is not None:
            self.seeds[name] = seed

    def random_words(self) -> list[str]:
        """The typed words that are in no dictionary, each once; none where the whole sequence is random."""
        pairs = [*zip(self.queries, self.word_origins, strict=False), *zip(self.keys, self.key_origins, strict=False)]
        drawn = dict.fromkeys(word for word, origin in pairs if origin == "random")
        return [] if "random" in (self.origins.get("x"), self.origins.get("context")) else list(drawn)


def mode(setup: Setup) -> str:
    """What is typed: "sentence", "matrix" or "qkv"."""
    if setup.q is not None:
        return "qkv"
    if setup.x is not None:
        return "matrix"
    return "qkv" if setup.text is None and EXAMPLES[setup.example].q is not None else "sentence"


def gather(setup: Setup) -> Material:
    """All of a run's inputs. Raises AttentionError for a text or matrix that cannot be read."""
    example, material = reseeded(setup), Material()
    if mode(setup) == "qkv":
        for name in "qkv":
            place(material, name, setup, numbers_of(example, name), example.origin)
        heads = config_of(setup).heads
        own, others = words_given(setup, example)
        material.queries = numbered(material.matrices["q"], own)
        same = not crosses(setup) and len(material.matrices["k"]) == len(material.queries)
        material.keys = material.queries if same else numbered(material.matrices["k"], others)
        material.crossed = not same
        widths = (material.matrices["q"].shape[1] // heads, material.matrices["k"].shape[1] // heads)
    else:
        gather_tokens(material, setup, example)
        gather_projections(material, setup, example)
        widths = head_widths(material, config_of(setup))
    gather_score_weights(material, setup, widths)
    if setup.allowed is not None:
        place(material, "allowed", setup, np.ones((len(material.queries), len(material.keys))), "typed")
    return material


def place(
    material: Material, name: str, setup: Setup, default: np.ndarray | None, origin: str, seed: int | None = None
) -> None:
    """A matrix as it was typed, else as the example has it; "none" takes it away. seed: of a random default."""
    text = getattr(setup, name)
    if default is not None:
        material.bases[name] = np.asarray(default, dtype=float)
    if default is not None and text in (None, UNCHANGED):
        material.put(name, default, origin, seed)
    elif text not in (None, "none"):
        drawn = random_seed(text)
        kind = "random" if drawn is not None else "given" if default is None else "typed"
        material.put(name, from_short_text(text, default, name), kind, drawn)
    elif name in NEEDED:
        raise AttentionError("matrix_empty", name=name)
    elif text == "none":
        material.origins[name] = "removed"
    rows = len(material.matrices.get(name, ()))
    if name in NEEDED and rows > MAX_TOKENS:
        raise AttentionError("too_many_rows", name=name, limit=MAX_TOKENS, given=rows)


def numbers_of(example: Example, name: str) -> np.ndarray | None:
    """An example's matrix as numbers."""
    tensor = example.tensor(name)
    return None if tensor is None else tensor.numpy()


def reseeded(setup: Setup) -> Example:
    """The example of a Setup, its random weights drawn anew where another seed is chosen."""
    example = EXAMPLES[setup.example]
    recipes = {name: getattr(example, name) for name in PROJECTIONS}
    return replace(
        example,
        **{
            name: replace(recipe, seed=recipe.seed + RESEED * setup.seed)
            for name, recipe in recipes.items()
            if isinstance(recipe, Recipe)
        },
    )


def numbered(matrix: np.ndarray, words: tuple[str, ...]) -> tuple[str, ...]:
    """Labels for rows that may have no words."""
    return words if len(words) == len(matrix) else tuple(str(row + 1) for row in range(len(matrix)))


# ---- tokens and their vectors ----------------------------------------------------------------------------------------
def gather_tokens(material: Material, setup: Setup, example: Example) -> None:
    """x, and for cross-attention the context, with their words."""
    own = numbers_of(example, "x")
    material.queries, material.word_origins = words_and_vectors(
        material, "x", setup, example, setup.text, (own, example.tokens)
    )
    material.keys = material.queries
    material.crossed = crosses(setup)
    if material.crossed:
        other = numbers_of(example, "context")
        shipped = own if other is None else other, example.context_tokens or example.tokens
        material.keys, material.key_origins = words_and_vectors(
            material, "context", setup, example, setup.context_text, shipped
        )


def words_given(setup: Setup, example: Example) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of both sequences where q, k and v are given: those that were there before."""
    if example.x is None:
        return example.tokens, example.context_tokens or ()
    known = example.dictionary().vectors
    own = example.tokens if setup.text is None else tokenise(setup.text, words=known)
    other = example.context_tokens or own
    return own, other if setup.context_text is None else tokenise(setup.context_text, words=known)


def crosses(setup: Setup) -> bool:
    """Whether keys and values come from a second sequence."""
    return EXAMPLES[setup.example].context is not None if setup.cross is None else setup.cross


def words_and_vectors(
    material: Material,
    name: str,
    setup: Setup,
    example: Example,
    text: str | None,
    shipped: tuple[np.ndarray | None, tuple[str, ...]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Puts a sequence's vectors in their place; returns its words and where each word's vector comes from."""
    vectors, words = shipped
    origins, typed = (example.origin,) * len(words), getattr(setup, name)
    recipe = getattr(example, name)
    seed = recipe.seed if isinstance(recipe, Recipe) else setup.seed
    if text is not None or (vectors is None and typed is None):
        lexicon = example.dictionary()
        words = tokenise(text or "", words=lexicon.vectors)
        rows, origins = vectors_for(words, example.name, setup.seed)
        vectors, seed = np.array(rows, dtype=float), setup.seed
    place(material, name, setup, vectors, "random" if set(origins) == {"random"} else example.origin, seed)
    if typed in (None, UNCHANGED):
        return words, origins
    return numbered(material.matrices[name], words), ("typed",) * len(material.matrices[name])


# ---- matrices --------------------------------------------------------------------------------------------------------
def gather_projections(material: Material, setup: Setup, example: Example) -> None:
    """W_q, W_k, W_v, W_o: typed, or the example's where x is as wide as the example's, else drawn from the seed."""
    own = {name: numbers_of(example, name) for name in PROJECTIONS}
    width = material.matrices["x"].shape[1]
    source = material.matrices.get("context", material.matrices["x"]).shape[1]
    fits = own["w_q"] is not None and (own["w_q"].shape[0], own["w_k"].shape[0]) == (width, source)
    heads = config_of(setup).heads
    inner = -(-width // heads) * heads  # as wide as x, or as little wider as the heads need
    shapes = {"w_q": (width, inner), "w_k": (source, inner), "w_v": (source, inner), "w_o": (inner, width)}
    for name in PROJECTIONS:
        if fits or own["w_q"] is None:
            seed = getattr(getattr(example, name), "seed", None)
            place(material, name, setup, own[name], example.origin, seed)
        else:
            place(material, name, setup, random_matrix(name, shapes[name], setup.seed), "random", setup.seed)
    keep_first_heads(material, setup)
    bias = None if example.b_q is None else np.array([example.b_q], dtype=float)
    place(material, "b_q", setup, bias if fits else None, example.origin)


def keep_first_heads(material: Material, setup: Setup) -> None:
    """With fewer key/value heads than query heads, W_k and W_v keep the columns of the first ones, unless typed."""
    config = config_of(setup)
    for name in ("w_k", "w_v"):
        if config.kv_heads and name in material.matrices and getattr(setup, name) is None:
            material.matrices[name] = first_heads(material.matrices[name], config.heads, config.kv_heads)


def head_widths(material: Material, config) -> tuple[int, int]:
    """The widths of q and of k per head, as far as the matrices say."""
    matrices = material.matrices
    query = matrices.get("w_q", matrices["x"]).shape[1] // config.heads
    key = matrices.get("w_k", matrices.get("context", matrices["x"])).shape[1] // (config.kv_heads or config.heads)
    return max(query, 1), max(key, 1)


def gather_score_weights(material: Material, setup: Setup, widths: tuple[int, int]) -> None:
    """The score's own weights: typed, or W_a as the identity, the additive score's drawn from the seed."""
    config = config_of(setup)
    d_q, d_k = widths
    layer = max(d_q, d_k)
    shapes = {"w_a": (d_q, d_k), "w_aq": (d_q, layer), "w_ak": (d_k, layer), "v_a": (1, layer)}
    for name in SCORES[config.score].weights:
        if name == "w_a":
            if d_q * d_k > GENERAL_TERMS:
                raise AttentionError("too_many_terms", q=d_q, k=d_k, limit=GENERAL_TERMS)
            place(material, name, setup, np.eye(d_q, d_k), "built")
        else:
            place(material, name, setup, random_matrix(name, shapes[name], setup.seed), "random", setup.seed)
    if "v_a" in material.matrices:
        sizes = (config.heads, len(material.queries), len(material.keys), material.matrices["v_a"].shape[1])
        check_hidden(sizes, getattr(torch, setup.dtype).itemsize, HIDDEN_BYTES)


# ---- the run ---------------------------------------------------------------------------------------------------------
def compute(setup: Setup) -> Trace:
    """The Trace of a Setup, on the CPU, its axes labelled. Raises AttentionError for whatever the core refuses."""
    one_of("device", setup.device, DEVICES)
    material, config = gather(setup), config_of(setup)
    check_link(setup)
    tensors = {name: as_tensor(name, matrix, setup) for name, matrix in material.matrices.items()}
    allowed = tensors.pop("allowed", None)
    given = {name: tensors.pop(name) for name in ("x", "context", "q", "k", "v") if name in tensors}
    weights = Weights(**tensors)
    with torch.inference_mode():
        if "q" in given:
            trace = attend_qkv(*split_qkv(given, config), config=config, weights=weights, allowed=allowed)
        else:
            x, context = given["x"], given.get("context")
            trace = attend(x, context, weights=weights, config=config, allowed=allowed)
    return trace.on_cpu().labelled(T=material.queries, S=material.keys, **dims_labels(setup, trace))


def dims_labels(setup: Setup, trace: Trace) -> dict[str, tuple[str, ...]]:
    """What the columns of x and of the output stand for, as the example says, where nobody typed them."""
    dims, sizes = EXAMPLES[setup.example].dims, trace.sizes()
    as_it_was = setup.x in (None, UNCHANGED)
    named = {"D": as_it_was, "D_out": as_it_was and setup.w_o is None}
    return {dim: dims for dim, known in named.items() if known and dims and sizes.get(dim) == len(dims)}


def split_qkv(given: dict[str, Tensor], config) -> list[Tensor]:
    """q, k and v as they were typed are one head; with more heads their columns are cut into heads."""
    if config.heads == 1:
        return [given[name] for name in "qkv"]
    cut = []
    for name in "qkv":
        matrix, heads = given[name], config.heads if name == "q" else config.kv_heads or config.heads
        if matrix.shape[1] % heads:
            raise AttentionError("heads_split", name=name, width=matrix.shape[1], heads=heads)
        cut.append(split_heads(matrix[None], heads=heads))  # (1, T, H d) -> (1, H, T, d)
    return cut


def as_tensor(name: str, matrix: np.ndarray, setup: Setup) -> Tensor:
    """A matrix in the chosen precision on the chosen device; vectors have one axis, a mask is boolean."""
    tensor = torch.from_numpy(matrix).to(setup.device)
    if name == "allowed":
        return tensor != 0
    rounded = tensor.to(getattr(torch, setup.dtype))
    if rounded.isinf().any():
        row, column = rounded.isinf().nonzero()[0].tolist()
        place = {"name": name, "row": row + 1, "column": column + 1, "given": exact(matrix[row, column])}
        limit = exact(torch.finfo(rounded.dtype).max)
        raise AttentionError("precision_limit", limit=limit, dtype=setup.dtype, **place)
    return rounded[0] if name in ("v_a", *BIASES) else rounded
