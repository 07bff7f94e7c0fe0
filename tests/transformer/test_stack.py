"""Stacks: which part begins with what, a number followed back to the table, words on the axes, what is refused."""

import pickle
from dataclasses import replace

import pytest
import torch

from attention_core import (
    AttentionConfig,
    AttentionError,
    EmbeddingConfig,
    EmbeddingWeights,
    FeedForwardConfig,
    FeedForwardWeights,
    LayerConfig,
    LayerWeights,
    StackConfig,
    StackWeights,
    UnembeddingConfig,
    UnembeddingWeights,
    Weights,
    embed,
    feed_forward,
    run_stack,
    unembed,
)
from attention_core.record.expressions import Ref
from attention_core.transformer.part_norms import NormWeights
from attention_core.transformer.stack import Stack
from attention_core.verification.proof import prove_stack, put_beside
from tests.transformer.parts import draws
from tests.transformer.stacks import small_stack, with_moved


# ---- one way through -------------------------------------------------------------------------------------------------
def test_the_parts_of_an_encoder_and_a_decoder_stand_in_order():
    stack = small_stack(with_encoder=True)
    assert list(stack.parts) == [
        *("encoder.embedding", "encoder.1.attention", "encoder.1.feed_forward"),
        *("encoder.2.attention", "encoder.2.feed_forward", "encoder.norm"),
        *("embedding", "1.attention", "1.cross", "1.feed_forward"),
        *("2.attention", "2.cross", "2.feed_forward", "unembedding"),
    ]
    assert stack.end.shape == (1, 4, 11)


def test_every_input_that_a_part_made_is_said_to_be_of_that_part():
    stack = small_stack(with_encoder=True, values_of_words=True)
    cell = (0, 1, 2)
    found = {
        (part, step): stack.source_of(part, Ref(step, cell))
        for part, step in [("2.attention", "x"), ("2.attention", "value"), ("2.cross", "query"), ("2.cross", "key")]
    }
    assert found == {
        ("2.attention", "x"): ("1.feed_forward", Ref("residual", cell)),
        ("2.attention", "value"): ("embedding", Ref("positioned_x", cell)),
        ("2.cross", "query"): ("2.attention", Ref("residual", cell)),
        ("2.cross", "key"): ("encoder.norm", Ref("layer_normed_x", cell)),
    }
    assert stack.source_of("2.cross", Ref("w_q", (0, 0))) is None
    assert stack.source_of("embedding", Ref("table", (0, 0))) is None
    assert stack.source_of("2.cross", Ref("scores", (0, 0, 0, 0))) is None


def follow(stack: Stack, part: str, cell: Ref) -> set[tuple[str, Ref]]:
    """All the given numbers that a number hangs on."""
    given, seen, open_cells = set(), set(), [(part, cell)]
    while open_cells:
        place = open_cells.pop()
        if place in seen:
            continue
        seen.add(place)
        source = stack.source_of(*place)
        read = {(place[0], each) for each in stack[place[0]].read_by(place[1])} if source is None else {source}
        open_cells += read
        if not read:
            given.add(place)
    return given


@pytest.mark.parametrize("norms", [("rms_norm_before",), ("layer_norm_after",)], ids=str)
def test_any_number_is_followed_back_to_the_words_that_it_hangs_on(norms):
    """The words are 3, 1, 10 and 3: no other row of the table is read."""
    stack = small_stack(norms=norms, last=(), activation="relu")
    given = follow(stack, "2.feed_forward", Ref("residual", (0, 1, 0)))
    rows = {ref.index[0] for part, ref in given if (part, ref.step) == ("embedding", "table")}
    assert rows == {3, 1, 10}
    assert "1.attention" in {part for part, _ in given} and not any(ref.step == "x" for _, ref in given)


def test_through_cross_attention_a_number_hangs_on_the_words_of_the_encoder():
    stack = small_stack(with_encoder=True)
    given = follow(stack, "1.cross", Ref("residual", (0, 0, 0)))
    rows = {ref.index[0] for part, ref in given if (part, ref.step) == ("encoder.embedding", "table")}
    assert rows == {0, 7, 2, 5, 9}


def test_a_part_that_begins_with_other_numbers_breaks_its_link():
    stack = small_stack()
    part = stack["2.attention"]
    moved = part["x"].clone()
    moved[0, 0, 0] += 1
    x = replace(part.step("x"), value=moved)
    wrong = replace(stack, parts={**stack.parts, "2.attention": replace(part, steps={**part.steps, "x": x})})
    proof = prove_stack(wrong)
    assert not proof.passed and proof.broken_links == (("2.attention", "x"),)
    assert prove_stack(stack).passed and prove_stack(stack).failed is None


def test_a_broken_link_names_the_number_and_the_part_that_gave_another():
    stack = small_stack()
    own = float(stack["2.attention"]["x"][0, 2, 1])
    fault = prove_stack(with_moved(stack, "2.attention", "x", (0, 2, 1))).fault
    assert (fault.part, fault.step, fault.cell.index) == ("2.attention", "x", (0, 2, 1))
    assert fault.source == stack.sources["2.attention"]["x"][0]
    assert (fault.cell.shown, fault.cell.expected) == pytest.approx((own + 1, own))


def test_whichever_number_of_a_stack_is_changed_the_proof_names_it():
    stack = small_stack()
    for part, trace in stack.parts.items():
        for name, step in trace.computed().items():
            if not step.value.is_floating_point():
                continue
            index = tuple(size - 1 for size in step.shape)
            if not torch.isfinite(step.value[index]):
                continue
            own = float(step.value[index])
            proof = prove_stack(with_moved(stack, part, name, index))
            fault = proof.fault
            assert not proof.passed, (part, name)
            assert (fault.part, fault.step, fault.cell.index) == (part, name, index)
            assert (fault.cell.shown, fault.cell.expected) == pytest.approx((own + 1, own))


def test_it_says_how_many_numbers_were_checked():
    stack = small_stack()
    proof = prove_stack(stack)
    assert proof.fault is None and list(proof.numbers) == list(stack.parts)
    steps = [step for trace in stack.parts.values() for step in trace.steps.values() if step.operation is not None]
    assert proof.number_count == sum(len(step.value.flatten()) for step in steps)


def test_two_runs_are_proven_beside_each_other():
    stack = small_stack()
    wrong = with_moved(stack, "1.attention", "weights", (0, 0, 0, 0))
    proof = prove_stack(put_beside({"one": stack, "two": wrong}))
    assert proof.number_count == 2 * prove_stack(stack).number_count
    assert proof.failed == proof.fault.part == "two/1.attention" and not proof.broken_links
    assert prove_stack(put_beside({"one": stack, "two": stack})).passed


def test_words_stand_on_the_axes_of_every_part():
    words, read = ("a", "b", "c", "d"), ("u", "v", "w", "x", "y", "z")
    vocabulary = tuple("ABCDEFGHIJK")
    stack = small_stack(with_encoder=True).labelled(words, read, vocabulary)
    assert stack["1.cross"].labels == {"T": words, "S": read}
    assert stack["encoder.1.attention"].labels == {"T": read, "S": read}
    assert stack["1.attention"].labels == {"T": words, "S": words}
    assert stack["unembedding"].labels == {"T": words, "V": vocabulary}
    with pytest.raises(AttentionError, match="axis T needs 4 labels: got 1"):
        stack.labelled(("a",))


def test_a_stack_comes_back_from_a_pickle():
    stack = small_stack()
    again = pickle.loads(pickle.dumps(stack))  # noqa: S301
    assert torch.equal(again.end, stack.end) and again.sources == stack.sources


def test_a_part_that_there_is_not_is_named():
    with pytest.raises(KeyError, match=r"there is no part '9.attention': the parts are embedding, 1\.attention"):
        small_stack()["9.attention"]


def test_without_layers_words_go_straight_back_to_words():
    """A table of what follows what: the logits are E times its own transpose (Elhage et al. 2021, "zero-layer")."""
    config = StackConfig([], EmbeddingConfig(), unembedding=UnembeddingConfig())
    stack = run_stack(
        [0, 2], StackWeights([], EmbeddingWeights(table=TABLE), unembedding=UnembeddingWeights(table=TABLE)), config
    )
    torch.testing.assert_close(stack["unembedding"]["logits"][0], (TABLE @ TABLE.T)[[0, 2]])


# ---- bad input -------------------------------------------------------------------------------------------------------
DRAW = draws(6)
X, W_1, W_2, TABLE = DRAW(3, 5), DRAW(5, 7), DRAW(7, 5), DRAW(11, 5)
NAN = torch.full((3, 5), torch.nan, dtype=torch.float64)


def bend(x=X, config=None, **weights):
    return feed_forward(x, FeedForwardWeights(**{"w_1": W_1, "w_2": W_2, **weights}), config)


def read(x=X, config=None, **weights):
    return unembed(x, UnembeddingWeights(**{"table": TABLE, **weights}), config)


def look(ids, config=None, **weights):
    return embed(ids, EmbeddingWeights(**{"table": TABLE, **weights}), config)


def layers(weights, configs, memory=None):
    return run_stack(X, StackWeights(weights), StackConfig(configs), memory)


PLAIN = LayerConfig(AttentionConfig())
LAST = ["rms_norm_before"]
NO_GAIN = StackWeights([], EmbeddingWeights(table=TABLE), NormWeights())
CROSS = LayerConfig(AttentionConfig(), cross=AttentionConfig())
REFUSED = {
    "w_1 for another x": (lambda: bend(w_1=DRAW(4, 7)), "w_1 must have as many rows as x has columns"),
    "w_2 for another hidden": (lambda: bend(w_2=DRAW(6, 5)), "w_2 must have as many rows as hidden has columns"),
    "b_1 too short": (lambda: bend(b_1=DRAW(6)), "b_1 must have as many numbers as w_1 has columns"),
    "no w_2": (lambda: bend(w_2=None), "'feed_forward' needs w_2"),
    "no w_gate": (lambda: bend(config=FeedForwardConfig("swiglu")), "'swiglu' needs w_gate"),
    "w_gate for another": (
        lambda: bend(config=FeedForwardConfig("swiglu"), w_gate=DRAW(5, 6)),
        r"w_gate must be \(5, 7\): its shape is \(5, 6\)",
    ),
    "w_gate for nothing": (lambda: bend(w_gate=W_1), "w_gate has no place here: 'relu' has no gate"),
    "a residual too wide": (
        lambda: bend(config=FeedForwardConfig(residual=True), w_2=DRAW(7, 6)),
        "x has 5 columns, the output 6",
    ),
    "an activation": (
        lambda: FeedForwardConfig("tanh"),
        "activation must be one of relu, gelu, .*: got 'tanh'",
    ),
    "a norm of q and k": (lambda: FeedForwardConfig(norms=["qk_norm"]), "norm must be one of layer_norm_before, rms"),
    "a norm twice": (lambda: FeedForwardConfig(norms=["rms_norm_after"] * 2), "rms_norm_after may be chosen only once"),
    "x of one axis": (lambda: bend(X[0]), r"x must have the axes \(T, d\) or \(B, T, d\): its shape is \(5,\)"),
    "x of nothing": (lambda: bend(X[:0]), r"x must hold at least one number: its shape is \(0, 5\)"),
    "x of NaN": (lambda: bend(NAN), r"x must be finite everywhere: nan at \(0, 0, 0\)"),
    "x of other precision": (lambda: bend(X.float()), "all inputs must share one dtype"),
    "x that is a list": (lambda: bend(X.tolist()), "x must be a torch.Tensor: got list"),
    "weights that are a dictionary": (lambda: feed_forward(X, {"w_1": W_1}), "weights must be FeedForwardWeights"),
    "an id too large": (lambda: look([0, 11]), "each id must be a row of the table, from 0 to 10: got 11"),
    "an id below 0": (lambda: look([-1]), "each id must be a row of the table, from 0 to 10: got -1"),
    "no ids": (lambda: look([]), r"ids must be whole numbers, one per word, .*: got \[\]"),
    "an empty text": (lambda: look([[]]), "ids must be whole numbers"),
    "ids of unequal length": (lambda: look([[1, 2], [3]]), "lists of equal length"),
    "ids that are fractions": (lambda: look([0.5]), "ids must be whole numbers"),
    "a word as id": (lambda: look("dog"), "ids must be whole numbers, .*: got 'dog'"),
    "truth values as ids": (lambda: look([True]), "ids must be whole numbers"),
    "a table of three axes": (lambda: look([0], table=DRAW(1, 2, 3)), r"table must be \(V, D\)"),
    "no table": (lambda: look([0], table=None), "table must be a torch.Tensor: got NoneType"),
    "places without a table": (lambda: look([0], EmbeddingConfig(positions=["learned"])), "'learned' needs w_places"),
    "places that nothing reads": (lambda: look([0], w_places=DRAW(3, 5)), "w_places has no place here"),
    "too few places": (
        lambda: look([0, 1, 2], EmbeddingConfig(positions=["learned"]), w_places=DRAW(2, 5)),
        "2 rows do not cover the places 0 to 2",
    ),
    "positions of heads": (lambda: EmbeddingConfig(positions=["rope"]), "position must be one of sinusoidal, learned"),
    "a table for another x": (lambda: read(table=DRAW(11, 4)), r"table must be \(V, 5\): its shape is \(11, 4\)"),
    "a bias for other words": (lambda: read(b_words=DRAW(10)), r"b_words must be \(11,\): its shape is \(10,\)"),
    "temperature 0": (lambda: UnembeddingConfig(temperature=0.0), "temperature must be a finite number above 0"),
    "a norm behind logits": (lambda: UnembeddingConfig(["rms_norm_after"]), "norm must be one of layer_norm_before"),
    "no layers": (lambda: layers([], []), "a stack must have a layer, or an embedding: it has neither"),
    "a layer without weights": (lambda: layers([LayerWeights(Weights())], [PLAIN] * 2), "each of the 2 layers: got 1"),
    "no memory": (lambda: layers([LayerWeights(Weights(), cross=Weights())], [CROSS]), "must be given as memory"),
    "memory for nothing": (lambda: layers([LayerWeights(Weights())], [PLAIN], X), "only cross-attention reads memory"),
    "no weights of a part": (
        lambda: layers([LayerWeights(Weights())], [LayerConfig(AttentionConfig(), FeedForwardConfig())]),
        "'feed_forward' needs weights of its own",
    ),
    "a norm at the end that nothing fits": (
        lambda: run_stack([0], NO_GAIN, StackConfig([], EmbeddingConfig(), LAST)),
        "'rms_norm_before' needs g_rms_before",
    ),
    "a norm behind the end": (
        lambda: StackConfig([], norms=["rms_norm_after"]),
        "norm must be one of layer_norm_before",
    ),
    "a config of a layer": (
        lambda: layers([LayerWeights(Weights())], [AttentionConfig()]),
        "layer must be LayerConfig",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_a_sentence(name):
    run, sentence = REFUSED[name]
    with pytest.raises(AttentionError, match=sentence):
        run()
