"""What heads of recorded models do with single pieces, beside naive products of the model's own matrices."""

import pytest
import torch

from attention_core import AttentionError
from attention_core.checkpoints import record
from attention_core.checkpoints.recorded_model import RecordedModel
from attention_core.learned.language.circuits import (
    copying_scores,
    favourite_words,
    head_compositions,
    missing_pushes,
    word_circuit,
    word_pushes,
)
from attention_core.learned.language.reading import run_model
from attention_core.verification.proof import prove_stack
from tests.checkpoints.families import FAMILIES

PIECES = (5, 17, 11, 29, 5, 43, 71)
SHOWN, PLACES = ("17", "29", "43"), (1, 3, 5)
WIDTH, GROUP = 16, 2  # of a head; query heads that share a key


def read(name: str):
    """A model of transformers in float64, and its recording as a ReadModel."""
    (family,) = (each for each in FAMILIES if each.name == name)
    recording = record(family.make(), input_ids=torch.tensor([PIECES]))
    words = ("5", "17", "11", "29", "5", "43", "71")
    return family.make().double(), RecordedModel(recording.whole(), name, words, str, rows=PIECES)


def columns(weight: torch.Tensor, head: int) -> torch.Tensor:
    """The columns of one head."""
    return weight[:, head * WIDTH : (head + 1) * WIDTH]


def llama_circuit(model, layer: int, head: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and pushes of a Llama's head on the shown pieces, without RoPE."""
    x, block = model.model.embed_tokens.weight[list(map(int, SHOWN))], model.model.layers[layer - 1]
    normed = block.input_layernorm(x)
    own = block.self_attn
    q, k, v = (
        normed @ columns(part.weight.T, at)
        for part, at in ((own.q_proj, head), (own.k_proj, head // GROUP), (own.v_proj, head // GROUP))
    )
    rows = own.o_proj.weight.T[head * WIDTH : (head + 1) * WIDTH]
    table = model.lm_head.weight[list(map(int, SHOWN))] * model.model.norm.weight
    return q @ k.T / WIDTH**0.5, v @ rows @ table.T


def gpt2_circuit(model, layer: int, head: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and pushes of a GPT-2's head on the shown pieces: biases, places in the vectors, LayerNorms."""
    ids, stack = list(map(int, SHOWN)), model.transformer
    x, block = stack.wte.weight[ids] + stack.wpe.weight[list(PLACES)], stack.h[layer - 1]
    made = block.attn.c_attn(block.ln_1(x))
    q, k, v = (columns(part, head) for part in made.split(64, -1))
    added = v @ block.attn.c_proj.weight[head * WIDTH : (head + 1) * WIDTH]
    centred = added - added.mean(-1, keepdim=True)
    return q @ k.T / WIDTH**0.5, centred * stack.ln_f.weight @ model.lm_head.weight[ids].T


@pytest.mark.parametrize(
    "name, circuit", [("LlamaForCausalLM", llama_circuit), ("GPT2LMHeadModel", gpt2_circuit)], ids=["llama", "gpt2"]
)
@pytest.mark.parametrize("layer, head", [(1, 3), (2, 0)])
def test_scores_and_pushes_are_products_of_the_models_own_matrices(name: str, circuit, layer: int, head: int):
    own, model = read(name)
    with torch.no_grad():
        scores, pushes = circuit(own, layer, head)
    stack = word_circuit(model.name, SHOWN, layer)
    trace = stack[f"{layer}.circuit"]
    torch.testing.assert_close(trace["scaled_scores"][0, head], scores, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(trace["writes"][0, head], pushes, atol=1e-6, rtol=1e-6)
    assert pushes.abs().max() > 0.01
    assert prove_stack(stack).passed
    everywhere = word_pushes(model.name, SHOWN[1], layer)["writes"][head]
    torch.testing.assert_close(everywhere[list(map(int, SHOWN))], trace["writes"][0, head, 1], atol=1e-9, rtol=0)
    assert copying_scores(model.name, layer) == {}


def test_the_favourites_are_those_of_all_pieces_and_of_the_run():
    own, model = read("LlamaForCausalLM")
    alone, run = favourite_words(model.name, model.words, 1)
    with torch.no_grad():
        x = own.model.layers[0].input_layernorm(own.model.embed_tokens.weight[list(PIECES)])
        part = own.model.layers[0].self_attn
        scores = x @ columns(part.q_proj.weight.T, 1) @ columns(part.k_proj.weight.T, 0).T @ x.T
    count = len(PIECES)
    blocked = torch.ones(count, count).triu(1) > 0
    expected = scores.masked_fill(blocked, -torch.inf).argmax(-1).tolist()
    assert [model.words[place] for place in alone[1].tolist()] == [model.words[place] for place in expected]
    assert torch.equal(run, run_model(model.name, model.words)["1.attention"]["weights"][0].argmax(-1))


@pytest.mark.parametrize(
    "name, why",
    [
        ("OpenAIGPTLMHeadModel", "norms_behind"),  # a norm behind each layer
        ("BertForMaskedLM", "no_logits"),
        ("LlamaForCausalLM", None),
    ],
)
def test_it_is_said_why_the_pushes_are_missing(name: str, why: str | None):
    _, model = read(name)
    assert missing_pushes(model.name, 1) == why
    trace = word_circuit(model.name, SHOWN, 1)["1.circuit"]
    assert ("writes" in trace) == (why is None) and "scaled_scores" in trace
    assert bool(word_pushes(model.name, SHOWN[0], 1)) == (why is None)


def test_rows_that_are_unknown_leave_the_scores():
    _, model = read("LlamaForCausalLM")
    bare = RecordedModel(model.whole, "without rows", model.words, str)
    assert missing_pushes(bare.name, 1) == "no_logits"
    one, other = (word_circuit(each.name, SHOWN, 1)["1.circuit"]["scaled_scores"] for each in (model, bare))
    assert torch.equal(one, other)


def test_a_word_outside_the_text_is_refused():
    _, model = read("LlamaForCausalLM")
    with pytest.raises(AttentionError, match="must have read this text"):
        word_circuit(model.name, ("5", "6"), 1)


def llama_matrices(model, layer: int, head: int) -> tuple[torch.Tensor, ...]:
    """W_q, W_k, W_v and W_o of a Llama's head; two heads share a key and a value."""
    own = model.model.layers[layer].self_attn
    q, k, v = (
        columns(part.weight.T, at)
        for part, at in ((own.q_proj, head), (own.k_proj, head // 2), (own.v_proj, head // 2))
    )
    return q, k, v, own.o_proj.weight.T[head * WIDTH : (head + 1) * WIDTH]


def gpt2_matrices(model, layer: int, head: int) -> tuple[torch.Tensor, ...]:
    """W_q, W_k, W_v and W_o of a GPT-2's head, which lie side by side in one matrix."""
    own = model.transformer.h[layer].attn
    q, k, v = (columns(part, head) for part in own.c_attn.weight.split(64, -1))
    return q, k, v, own.c_proj.weight[head * WIDTH : (head + 1) * WIDTH]


@pytest.mark.parametrize(
    "name, matrices", [("LlamaForCausalLM", llama_matrices), ("GPT2LMHeadModel", gpt2_matrices)], ids=["llama", "gpt2"]
)
def test_composition_scores_are_norms_of_products_of_the_models_own_matrices(name: str, matrices):
    own, model = read(name)
    layer, head = 3, 2
    stack = head_compositions(model.name, layer, head)
    with torch.no_grad():
        q, k, v, o = matrices(own, layer - 1, head)
        expected = {"q": [], "k": [], "v": []}
        for earlier, place in ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)):
            _, _, w_v, w_o = matrices(own, earlier, place)
            written = w_v @ w_o
            for read_by, product in (("q", q @ k.T), ("k", k @ q.T), ("v", v @ o)):
                expected[read_by].append(float((written @ product).norm() / (written.norm() * product.norm())))
    for read_by, scores in expected.items():
        trace = stack[f"{layer}.composition_{read_by}"]
        assert trace["composition"].tolist() == pytest.approx(scores, abs=1e-6)
        assert trace.labels["earlier"][-1] == "L2H4" and max(scores) > 0.05
    assert prove_stack(stack).passed
    assert not head_compositions(model.name, 1, head).parts
