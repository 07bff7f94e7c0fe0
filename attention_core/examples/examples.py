"""Reads the examples of the app from examples.json: words, numbers and settings.

An entry of that file with the field "like" inherits all fields that it lacks from the entry that "like" names.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.examples.code_examples import LISTINGS, ListedTensor
from attention_core.examples.lexica import EXAMPLE_DATA, LEXICA
from attention_core.inputs.handmade_heads import build_heads, read_head_kind
from attention_core.inputs.tokenizer import ORIGINS, Lexicon, NumberMatrix, NumberRow
from attention_core.learned.insight.views import AttentionView, attention_view
from attention_core.learned.language.reading import layer_config, layer_inputs, read_tokens
from attention_core.learned.training.shipped_networks import load_network
from attention_core.learned.training.snapshots import read_recipe
from attention_core.learned.translation.reading import cross_config, cross_inputs
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace


@dataclass(frozen=True)
class MatrixRecipe:
    """A recipe by which a matrix is sampled from a seed, because its numbers would be too many for the file.

    kind: "random" for standard normal numbers; there is no other kind yet. seed: a whole number. shape: rows and
    columns. factor: multiplies every number.

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
        """Sample the matrix in float64; every call returns the same numbers, because the generator is seeded anew."""
        return self.factor * normal_numbers(self.seed, self.shape)


@lru_cache(maxsize=16)  # cached, because each change of an example needs the same matrices; one takes at most 2 MB
def normal_numbers(seed: int, shape: tuple[int, int]) -> Float[Tensor, "rows columns"]:
    """Sample standard normal numbers from a seed. The result is cached, so callers must not write into it."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


@dataclass(frozen=True)
class Example:
    """An example: words, numbers and settings as plain data; its method `run` computes attention.

    Words: tokens label the queries, context_tokens the keys (None: the same words). batch: further sentences of a
    batch, one per line. far: a longer sentence, whose first and last word depend on each other. dims: the meaning of
    the columns of x, as text keys. lexicon: the words that have vectors; None if q, k and v are given.

    The numbers have one of these sources. x (T, D) and context (S, D) with w_q, w_k, w_v, w_o, b_q and so on
    (multiplied as x @ w, heads as consecutive blocks of columns). q, k and v without any input. built: the names of
    handmade heads, from which x and the projections are built. network: the name of an included network, whose
    attention layer has x, the context and all matrices. model: the name of an included language model and a layer,
    counted from 1, that has them. translator: the name of an included translator and a layer whose cross-attention has
    them. code: the name of a listing, which samples all tensors of several sequences, and a mask if it has one.

    Settings: heads, score, masks, positions, dropout: as in AttentionConfig, dropout with seed 0. focus: the (head,
    query) selected by default. origin: one of ORIGINS.

    `dataclasses.replace` makes an example with another sentence.

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
    b_k: NumberRow | None = None
    b_v: NumberRow | None = None
    b_o: NumberRow | None = None
    context_tokens: tuple[str, ...] | None = None
    context: NumberMatrix | MatrixRecipe | None = None
    value: ListedTensor | None = None
    q: NumberMatrix | None = None
    k: NumberMatrix | None = None
    v: NumberMatrix | None = None
    allowed: ListedTensor | None = None
    code: str | None = None
    dropout: float | None = None
    built: tuple[str, ...] = ()
    batch: str = ""
    far: str = ""
    heads: int = 1
    score: str = "scaled_dot"
    masks: tuple[str, ...] = ()
    positions: tuple[str, ...] = ()
    network: str | None = None
    model: str | None = None
    translator: str | None = None
    layer: int = -1
    lexicon: Lexicon | None = None
    dims: tuple[str, ...] = ()
    focus: tuple[int, int] | None = None
    origin: str = "built"

    def __post_init__(self):
        require_one_of("origin", self.origin, ORIGINS)

    def config(self) -> AttentionConfig:
        """Return the configuration of the example's attention.

        >>> EXAMPLES["en_it_causal"].config().masks
        (('causal', {}),)
        """
        if self.model:
            return layer_config(self.model, self.layer)
        if self.translator:
            return cross_config(self.translator)
        return AttentionConfig(
            score=self.score,
            heads=self.heads,
            masks=self.masks,
            positions=self.positions,
            dropout=self.dropout,
        )

    def weights(self, dtype: torch.dtype = torch.float64) -> Weights:
        """Return the example's matrices as tensors; a matrix that the example lacks is None.

        >>> EXAMPLES["en_it"].weights().w_q.shape
        torch.Size([4, 4])
        """
        matrices = {}
        for field in fields(Weights):
            matrices[field.name] = self.tensor(field.name, dtype)
        return Weights(**matrices)

    def tensor(self, name: str, dtype: torch.dtype = torch.float64) -> Tensor | None:
        """Return one of the example's tensors: the numbers in the file, or those of its recipe, listing, network or
        model.

        name: a field with numbers, such as "x" or "w_q". dtype: the precision of the result. Returns None if the
        example has no such numbers.

        >>> EXAMPLES["en_it"].tensor("x", torch.float32)[3]
        tensor([-1.,  0.,  0.,  0.])
        """
        if self.model:
            tokens = read_tokens(self.model, self.tokens, {})
            matrix = layer_inputs(self.model, tokens, self.layer).tensor(name)
            return None if matrix is None else matrix.to(dtype)
        if self.translator:
            inputs = cross_inputs(self.translator, self.context_tokens, self.tokens, self.layer)
            matrix = inputs.tensor(name)
            return None if matrix is None else matrix.to(dtype)
        if self.network:
            matrix = learned_view(self).tensor(name)
            return None if matrix is None else matrix.to(dtype)
        numbers = getattr(self, name, None)
        if numbers is None:
            return None
        if isinstance(numbers, MatrixRecipe | ListedTensor):
            drawn = numbers.draw()
            return drawn if drawn.dtype == torch.bool else drawn.to(dtype)
        doubles = torch.tensor(numbers, dtype=torch.float64)
        return doubles.to(dtype)

    def run(self, dtype: torch.dtype = torch.float64) -> Trace:
        """Run the example and return a Trace whose axes T and S are labelled with the words.

        dtype: the precision of the inputs, and so of every step. Raises AttentionError as attend does.

        >>> round(EXAMPLES["en_it"].run()["weights"][0, 0, 5, 3].item(), 3)     # head 1: it -> dog
        0.933
        """
        config = self.config()
        weights = self.weights(dtype)
        value = self.tensor("value", dtype)
        allowed = self.tensor("allowed")
        if self.q is not None:
            trace = attend_qkv(
                q=self.tensor("q", dtype),
                k=self.tensor("k", dtype),
                v=self.tensor("v", dtype),
                config=replace(config, heads=1),  # heads=1, because q, k and v have a head axis
                weights=weights,
                allowed=allowed,
            )
        else:
            trace = attend(
                query=self.tensor("x", dtype),
                key=self.tensor("context", dtype),
                value=value,
                weights=weights,
                config=config,
                allowed=allowed,
            )
        keys = self.context_tokens or self.tokens
        return trace.labelled(T=self.tokens, S=keys)

    def dictionary(self) -> Lexicon:
        """Return the lexicon: the words that have vectors in this example.

        Raises AttentionError: numbers_alone if a listing samples all numbers; no_input_words if the example has no
        lexicon for another reason, such as q, k and v without x.

        >>> EXAMPLES["cross_en_zh"].dictionary().vectors["昨天"]
        (0, 1, 0, 0, 0, 0)
        """
        if self.lexicon is None:
            raise AttentionError("numbers_alone" if self.code else "no_input_words", name=self.name)
        return self.lexicon


@lru_cache(maxsize=8)  # cached by the example's key
def learned_view(example: Example) -> AttentionView:
    """Return the inputs and matrices of the attention layer in the example's trained network."""
    recipe = read_recipe(example.network)
    keys = example.context_tokens or example.tokens
    return attention_view(
        load_network(recipe.course, recipe.step),
        "".join(keys),
        "".join(example.tokens),
        layer=example.layer,
    )


# ---- reading examples.json -------------------------------------------------------------------------------------------
def own_vectors(tokens: tuple[str, ...] | None, numbers: NumberMatrix | MatrixRecipe | None) -> dict[str, NumberRow]:
    """Return {word: its vector}, from the example's own words and numbers; {} if either is missing."""
    if tokens is None or numbers is None:
        return {}
    rows = numbers
    if isinstance(numbers, MatrixRecipe):
        rows = [tuple(row) for row in numbers.draw().tolist()]
    return dict(zip(tokens, rows, strict=True))


def read_examples(entries: Mapping[str, dict], lexica: Mapping[str, Lexicon]) -> dict[str, Example]:
    """Parse the entries of examples.json, in the order of the file; the first example is the default."""
    examples: dict[str, Example] = {}
    for name, entry in entries.items():
        like = entries[entry["like"]] if "like" in entry else {}
        values = {}
        for key, value in {**like, **entry}.items():
            if key != "like":
                values[key] = as_plain(value)
        if "built" in values:
            values |= built_matrices(values["tokens"], values["built"])
        if "code" in values:
            listing = values["code"]
            values |= {name: ListedTensor(listing, name) for name in LISTINGS[listing].names}
        if "model" in values:
            values |= model_choices(values["model"], values["layer"])
        if "lexicon" in values:
            lexicon = lexica[values["lexicon"]]
            values["dims"] = lexicon.dims
        else:
            lexicon = make_own_lexicon(values)
        values["lexicon"] = lexicon
        examples[name] = Example(name=name, **values)
    return examples


def model_choices(model: str, layer: int) -> dict[str, object]:
    """Return the heads, masks and positions of a model's layer, as fields of an example."""
    config = layer_config(model, layer)
    return {
        "heads": config.heads,
        "masks": tuple(name for name, _ in config.masks),
        "positions": tuple(name for name, _ in config.positions),
    }


def make_own_lexicon(values: Mapping[str, object]) -> Lexicon | None:
    """Make a lexicon (words with vectors) from an example's words and their rows of x.

    Returns None if the example has no x, or if a listing samples its numbers.
    """
    if not {"network", "model", "translator"}.isdisjoint(values):  # the network makes the words' vectors
        return Lexicon((), {}, origin="learned")
    if "x" not in values or "code" in values:
        return None
    vectors = own_vectors(values.get("context_tokens"), values.get("context"))
    vectors |= own_vectors(values["tokens"], values["x"])
    return Lexicon(
        dims=values.get("dims", ()),
        vectors=MappingProxyType(vectors),
        origin=values.get("origin", "built"),
    )


def built_matrices(tokens: tuple[str, ...], kinds: tuple[str, ...]) -> dict[str, object]:
    """Build x and the projections of handmade heads, such as a head that attends to the previous word.

    Returns the fields of an Example: x, w_q, w_k, w_v, and the number of heads.
    """
    heads = build_heads(tokens, [read_head_kind(kind) for kind in kinds])
    return {
        "x": as_plain(heads.x.tolist()),
        "w_q": as_plain(heads.w_q.tolist()),
        "w_k": as_plain(heads.w_k.tolist()),
        "w_v": as_plain(heads.w_v.tolist()),
        "heads": len(kinds),
    }


def as_plain(value: object) -> object:
    """Convert JSON lists to tuples, and JSON objects to matrix recipes."""
    if isinstance(value, list):
        return tuple(as_plain(part) for part in value)
    if isinstance(value, dict):
        recipe = {key: as_plain(part) for key, part in value.items()}
        return MatrixRecipe(**recipe)
    return value


EXAMPLES: Mapping[str, Example] = MappingProxyType(read_examples(EXAMPLE_DATA["examples"], LEXICA))
