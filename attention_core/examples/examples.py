"""Examples to start from, their toy dictionaries, and vectors for typed words. The numbers are in examples.json.

There an entry with "like" takes whatever it does not say from the entry of that name.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.inputs.handmade_heads import build_heads, read_head_kind
from attention_core.inputs.tokenizer import ORIGINS, Lexicon, NumberMatrix, NumberRow
from attention_core.learned.insight.views import AttentionView, attention_view
from attention_core.learned.training.shipped import load_network
from attention_core.learned.training.snapshots import read_recipe
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights, require_one_of
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace


@dataclass(frozen=True)
class MatrixRecipe:
    """A matrix too large to be written down: how to draw it. The only kind so far is "random", standard normal.

    seed: a whole number. shape: rows and columns. factor: what every draw is multiplied by.

    Raises AttentionError: unknown_choice for another kind.

    >>> MatrixRecipe(seed=0, shape=(2, 3), factor=0.5).draw().shape
    torch.Size([2, 3])
    """

    seed: int
    shape: tuple[int, int]
    factor: float = 1.0
    kind: str = "random"

    def __post_init__(self):
        require_one_of("kind", self.kind, ("random",))

    def draw(self) -> Float[Tensor, "rows columns"]:
        """The matrix in float64, the same at every call: its generator is its own."""
        return self.factor * normal_numbers(self.seed, self.shape)


@lru_cache(maxsize=16)  # of at most 2 MB each: every change of an example asks for them again
def normal_numbers(seed: int, shape: tuple[int, int]) -> Float[Tensor, "rows columns"]:
    """Standard normal numbers, kept; nobody may write into them."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@dataclass(frozen=True)
class Example:
    """A ready setting: words, numbers and choices. Plain data; `run` computes.

    tokens label the queries, context_tokens the keys (as the queries where it is None). x (T, D) and context (S, D) are
    inputs for w_q, w_k, w_v, w_o, b_q (row convention, heads as consecutive column blocks); or q, k, v are given and no
    input is; or built names heads of handmade_heads.py, which make x and the projections. heads, score, masks: as in
    AttentionConfig. lexicon: the words that have vectors; None where q, k and v are given. dims: what the columns of x
    stand for, as keys for the page's words. network: the name of a shipped one, of which a layer makes x, the context
    and all matrices. positions: names, as in AttentionConfig. batch: further sentences, one a line, that make a batch
    of it. far: a longer one, whose first and last word belong together. focus: the (head, query) that tells the story,
    where one does. origin: one of ORIGINS.

    `dataclasses.replace` makes another sentence of it.

    >>> from dataclasses import replace
    >>> words = ("Tom", "read", "and", "he", "laughed")
    >>> rows, _ = EXAMPLES["en_it"].dictionary().vectors_of(words)
    >>> other = replace(EXAMPLES["en_it"], tokens=words, x=rows)
    >>> round(other.run()["weights"][0, 0, 3, 0].item(), 3)     # head 1: he -> Tom
    0.946
    """

    name: str
    tokens: tuple[str, ...]
    x: NumberMatrix | MatrixRecipe | None = None
    w_q: NumberMatrix | MatrixRecipe | None = None
    w_k: NumberMatrix | MatrixRecipe | None = None
    w_v: NumberMatrix | MatrixRecipe | None = None
    w_o: NumberMatrix | MatrixRecipe | None = None
    b_q: NumberRow | None = None
    context_tokens: tuple[str, ...] | None = None
    context: NumberMatrix | MatrixRecipe | None = None
    q: NumberMatrix | None = None
    k: NumberMatrix | None = None
    v: NumberMatrix | None = None
    built: tuple[str, ...] = ()
    batch: str = ""
    far: str = ""
    heads: int = 1
    score: str = "scaled_dot"
    masks: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    network: str | None = None
    layer: int = -1
    lexicon: Lexicon | None = None
    dims: tuple[str, ...] = ()
    focus: tuple[int, int] | None = None
    origin: str = "built"

    def __post_init__(self):
        require_one_of("origin", self.origin, ORIGINS)

    def config(self) -> AttentionConfig:
        """The example's choices.

        >>> EXAMPLES["en_it_causal"].config().masks
        (('causal', {}),)
        """
        return AttentionConfig(score=self.score, heads=self.heads, masks=self.masks, positions=self.positions)

    def weights(self, dtype: torch.dtype = torch.float64) -> Weights:
        """The example's matrices as tensors; None where it has none.

        >>> EXAMPLES["en_it"].weights().w_q.shape
        torch.Size([4, 4])
        """
        return Weights(**{field.name: self.tensor(field.name, dtype) for field in fields(Weights)})

    def tensor(self, name: str, dtype: torch.dtype = torch.float64) -> Tensor | None:
        """One of the example's matrices as a tensor: written ones as they are, recipes drawn in float64 first.

        name: a field that holds numbers, such as "x" or "w_q". dtype: of the result. None where the example has none.

        >>> EXAMPLES["en_it"].tensor("x", torch.float32)[3]
        tensor([-1.,  0.,  0.,  0.])
        """
        if self.network:
            found = learned_view(self).tensor(name)
            return None if found is None else found.to(dtype)
        numbers = getattr(self, name, None)
        if numbers is None:
            return None
        drawn = numbers.draw() if isinstance(numbers, MatrixRecipe) else torch.tensor(numbers, dtype=torch.float64)
        return drawn.to(dtype)

    def run(self, dtype: torch.dtype = torch.float64) -> Trace:
        """The example computed, its axes T and S labelled with its words.

        dtype: of the inputs, and so of every step. Raises AttentionError as attend does.

        >>> round(EXAMPLES["en_it"].run()["weights"][0, 0, 5, 3].item(), 3)     # head 1: it -> dog
        0.933
        """
        config, weights = self.config(), self.weights(dtype)
        if self.q is not None:
            trace = attend_qkv(*(self.tensor(name, dtype) for name in "qkv"), config=config, weights=weights)
        else:
            trace = attend(self.tensor("x", dtype), self.tensor("context", dtype), weights=weights, config=config)
        return trace.labelled(T=self.tokens, S=self.context_tokens or self.tokens)

    def dictionary(self) -> Lexicon:
        """The words that have vectors here: those of the example's lexicon in LEXICA or, without one, its own words.

        Raises AttentionError: no_input_words where q, k and v are given and no x.

        >>> EXAMPLES["cross_en_zh"].dictionary().vectors["昨天"]
        (0, 1, 0, 0, 0, 0)
        """
        if self.lexicon is None:
            raise AttentionError("no_input_words", name=self.name)
        return self.lexicon


@lru_cache(maxsize=8)  # of an example, which is compared by its identity
def learned_view(example: Example) -> AttentionView:
    """What the example's network gives its attention."""
    recipe = read_recipe(example.network)
    texts = ("".join(tokens) for tokens in (example.context_tokens or example.tokens, example.tokens))
    return attention_view(load_network(recipe.course, recipe.step), *texts, layer=example.layer)


# ---- reading examples.json -------------------------------------------------------------------------------------------
def own_vectors(tokens: tuple[str, ...] | None, numbers: NumberMatrix | MatrixRecipe | None) -> dict[str, NumberRow]:
    """Words with the rows that stand for them."""
    if tokens is None or numbers is None:
        return {}
    rows = map(tuple, numbers.draw().tolist()) if isinstance(numbers, MatrixRecipe) else numbers
    return dict(zip(tokens, rows, strict=True))


def read_lexica(entries: Mapping[str, dict]) -> dict[str, Lexicon]:
    """The lexica; where one is like another, its words replace or join the other's."""
    lexica: dict[str, Lexicon] = {}
    for name, entry in entries.items():
        like = lexica[entry["like"]] if "like" in entry else Lexicon((), {})
        own = {word: tuple(group["vector"]) for group in entry.get("words", ()) for word in group["words"]}
        dims = tuple(entry.get("dims", like.dims))
        words, positions = MappingProxyType({**like.vectors, **own}), entry.get("positions", like.positions)
        swaps = tuple(map(tuple, entry.get("swaps", like.swaps)))
        lexica[name] = Lexicon(dims, words, positions, swaps=swaps)
    return lexica


def read_examples(entries: Mapping[str, dict], lexica: Mapping[str, Lexicon]) -> dict[str, Example]:
    """The examples, in the order of the file: the first is the default."""
    examples: dict[str, Example] = {}
    for name, entry in entries.items():
        like = entries[entry["like"]] if "like" in entry else {}
        values = {key: as_plain(value) for key, value in {**like, **entry}.items() if key != "like"}
        if "built" in values:
            values |= built_matrices(values["tokens"], values["built"])
        lexicon = find_lexicon(values, lexica)
        if "lexicon" in values:
            values["dims"] = lexicon.dims
        examples[name] = Example(name=name, **values | {"lexicon": lexicon})
    return examples


def find_lexicon(values: Mapping[str, object], lexica: Mapping[str, Lexicon]) -> Lexicon | None:
    """The lexicon that an example names, else one of its own words; none where q, k and v are given."""
    if "lexicon" in values:
        return lexica[values["lexicon"]]
    if "network" in values:  # which makes a vector of a symbol in its place
        return Lexicon((), {}, origin="learned")
    if "x" not in values:
        return None
    vectors = own_vectors(values.get("context_tokens"), values.get("context"))
    vectors |= own_vectors(values["tokens"], values["x"])
    return Lexicon(values.get("dims", ()), MappingProxyType(vectors), origin=values.get("origin", "built"))


def built_matrices(tokens: tuple[str, ...], kinds: tuple[str, ...]) -> dict[str, object]:
    """What heads built by hand bring: x, the projections, and one head each."""
    made = build_heads(tokens, tuple(map(read_head_kind, kinds)))
    matrices = {name: as_plain(getattr(made, name).tolist()) for name in ("x", "w_q", "w_k", "w_v")}
    return {**matrices, "heads": len(kinds)}


def as_plain(value: object) -> object:
    """JSON's lists as tuples, its objects as recipes."""
    if isinstance(value, list):
        return tuple(map(as_plain, value))
    return MatrixRecipe(**{key: as_plain(part) for key, part in value.items()}) if isinstance(value, dict) else value


EXAMPLE_DATA = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
LEXICA: Mapping[str, Lexicon] = MappingProxyType(read_lexica(EXAMPLE_DATA["lexica"]))
EXAMPLES: Mapping[str, Example] = MappingProxyType(read_examples(EXAMPLE_DATA["examples"], LEXICA))
