"""What the workbench is given of a network: run by attend, it is what the network itself computed."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.learned.insight.views import (
    attention_view,
    classify_text,
    read_symbols,
    symbol_labels,
    symbol_numbers,
    symbols_of,
    write_text,
)
from attention_core.learned.tasks import dates
from attention_core.learned.training import shipped_networks
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.snapshots import Network, NetworkRecipe
from attention_core.learned.training.training import Training

TOLERANCE = 1e-12
DATE = "Monday, May 5, 2019"


def run(seen):
    """The attention of a view, as the workbench runs it."""
    config = AttentionConfig(heads=seen.heads, score=seen.score, masks=seen.masks, positions=seen.positions)
    return attend(seen.x, seen.context, weights=Weights(**seen.weights), config=config)


def close(one, other):
    return one.dtype == other.dtype == torch.float64 and torch.allclose(one, other, atol=TOLERANCE, rtol=0)


# ---- it is what the network computed ---------------------------------------------------------------------------------
@pytest.mark.parametrize("written", [None, "2019年5月", "1"])
@pytest.mark.parametrize("course, step", [("dates_dot", 800), ("dates_additive", 100), ("dates_additive", 800)])
def test_a_decoders_contexts(course, step, written):
    network = shipped_networks.load_network(course, step)
    model, trace = network.exact_model, run(attention_view(network, DATE, written))
    target = dates.TARGET.numbers(write_text(network, DATE) if written is None else written)
    with torch.inference_mode():
        encoded = model.encode(torch.tensor([dates.SOURCE.numbers(DATE)]))
        states = model.states(encoded, torch.tensor([[model.end, *target[:-1]]]))
        assert close(trace["x" if "x" in trace else "query"][0], states[0])
        assert close(trace["head_outputs"][:, 0], model.contexts(encoded, states))
        assert close(trace["weights"], model.attention(encoded, states)["weights"])


def test_what_a_decoder_wrote_itself_is_the_likeliest_at_each_of_its_steps():
    network = shipped_networks.load_network("dates_additive", 800)
    model, trace = network.exact_model, run(attention_view(network, DATE))
    with torch.inference_mode():
        told = torch.cat((trace["query"], trace["head_outputs"][:, 0]), -1)
        chosen = model.out(torch.tanh(model.joined(told)))[0].argmax(-1)
    assert "".join(dates.TARGET.symbols(chosen.tolist())) == "2019年5月5日" == "".join(write_text(network, DATE))


@pytest.mark.parametrize("course, layer", [("copy_one", 0), ("copy_two", 0), ("copy_two", 1), ("copy_two", -1)])
def test_a_copiers_layers(course, layer):
    network, text = shipped_networks.load_network(course, 500), "aB3xQaB3"
    with torch.inference_mode():
        own = network.exact_model.traces(symbol_numbers(network, text))[layer]
    trace = run(attention_view(network, text, layer=layer))
    for step in ("x", "weights", "output"):
        assert close(trace[step], own[step])


@pytest.mark.parametrize("course, text", [("lookup", "b>3a7ch1f"), ("lookup_heads", "b>3a7ch1f"), ("vote", "+.-+.")])
def test_a_classifiers_logits(course, text):
    network = shipped_networks.load_network(course, 400)
    with torch.inference_mode():
        own = network.exact_model.trace(symbol_numbers(network, text))
    trace = run(attention_view(network, text))
    for step in ("weights", "output"):
        assert close(trace[step], own[step])
    assert trace["output"][0, 0].softmax(-1).tolist() == pytest.approx(classify_text(network, text), abs=TOLERANCE)


@pytest.mark.parametrize("course, text", [("dates_dot", DATE), ("copy_two", "aB3a"), ("lookup", "b>3a7ch1f")])
def test_axes_have_a_label_each(course, text):
    seen = attention_view(shipped_networks.load_network(course, COURSES[course].saved[-1]), text)
    assert len(seen.queries) == len(seen.x)
    assert seen.keys is None or len(seen.keys) == len(seen.context)
    assert (seen.keys is None) == (seen.context is None) == (course == "copy_two")


def test_a_views_tensors_by_name():
    seen = attention_view(shipped_networks.load_network("lookup", 400), "b>3a7ch1f")
    assert seen.tensor("x") is seen.x and seen.tensor("context") is seen.context
    assert seen.tensor("w_o") is seen.weights["w_o"]
    assert seen.tensor("w_a") is None
    assert (seen.queries, seen.keys) == (("?",), tuple("b>3a7ch1f"))


# ---- texts -----------------------------------------------------------------------------------------------------------
def test_blanks_are_shown_and_read_back():
    network = shipped_networks.load_network("dates_dot", 800)
    keys = attention_view(network, "5 May 2019").keys
    assert keys == tuple("5␣May␣2019") == symbol_labels(tuple("5 May 2019"))
    assert read_symbols(network, "".join(keys)) == read_symbols(network, " 5 May 2019\n") == tuple("5 May 2019")
    assert torch.equal(symbol_numbers(network, "5␣May␣2019"), symbol_numbers(network, "5 May 2019"))
    again = attention_view(network, "".join(keys))
    assert again.keys == keys and torch.equal(again.context, attention_view(network, "5 May 2019").context)


def test_blanks_mean_nothing_where_no_text_has_one():
    network = shipped_networks.load_network("lookup", 400)
    for text in ("b > 3 a 7 c h 1 f", "b␣>␣3a7ch1f", "\tb>3a7 ch1f\n"):
        assert read_symbols(network, text) == tuple("b>3a7ch1f")
        assert classify_text(network, text) == classify_text(network, "b>3a7ch1f")


@pytest.mark.parametrize(
    "course, text, code",
    [
        ("lookup", "b>9", "never_seen"),
        ("vote", "+.x", "never_seen"),
        ("copy_two", "aé", "never_seen"),
        ("dates_dot", "5\tMay 2019", "never_seen"),
        ("dates_dot", "2019年", "never_seen"),
        ("dates_dot", "", "learned_empty"),
        ("dates_dot", " ␣ ", "learned_empty"),
        ("lookup", " \n ", "learned_empty"),
        ("vote", "+" * 65, "learned_too_long"),
        ("dates_dot", "1" + " " * 63 + "1", "learned_too_long"),
    ],
)
def test_refused_texts(course, text, code):
    network = shipped_networks.load_network(course, COURSES[course].saved[-1])
    for ask in (attention_view, read_symbols, symbol_numbers):
        with pytest.raises(AttentionError) as refused:
            ask(network, text)
        assert refused.value.code == code


@pytest.mark.parametrize(
    "written, code", [("May", "never_seen"), ("", "learned_empty"), ("1" * 65, "learned_too_long")]
)
def test_refused_targets(written, code):
    with pytest.raises(AttentionError) as refused:
        attention_view(shipped_networks.load_network("dates_dot", 800), DATE, written)
    assert refused.value.code == code


def test_the_longest_text():
    network = shipped_networks.load_network("vote", 400)
    assert attention_view(network, "+" * 64).context.shape == (64, 16)
    assert symbols_of("+ " * 64, COURSES["vote"].alphabets[0]) == ("+",) * 64


def test_one_context_vector_is_no_attention():
    with pytest.raises(AttentionError) as refused:
        attention_view(shipped_networks.load_network("dates_one", 800), DATE)
    assert refused.value.code == "no_attention"


def test_a_layer_that_a_network_does_not_have_is_refused():
    with pytest.raises(AttentionError, match="layer must be at most 1: got 2"):
        attention_view(shipped_networks.load_network("copy_one", 500), "a9xa9x", layer=1)


def test_of_a_network_that_writes_nothing_nothing_is_seen():
    model = COURSES["dates_dot"].make(torch.Generator().manual_seed(0))
    with torch.no_grad():
        model.out.bias[model.end] = 100.0
    network = Network.of(NetworkRecipe("dates_dot", 0, 0), model)
    assert write_text(network, DATE) == ()
    with pytest.raises(AttentionError) as refused:
        attention_view(network, DATE)
    assert refused.value.code == "learned_empty"
    assert attention_view(network, DATE, "2").queries == ("2",)


def test_whoever_never_ends_writes_twice_the_longest_text():
    model = COURSES["dates_dot"].make(torch.Generator().manual_seed(0))
    with torch.no_grad():
        model.out.bias[model.end] = -100.0
    assert len(write_text(Network.of(NetworkRecipe("dates_dot", 0, 0), model), DATE)) == 2 * 64


# ---- what a network writes and tells ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text, written",
    [
        ("May 1, 1999", "1999年5月1日"),
        ("Wednesday, the 12th of October, 2022", "2022年10月12日"),
        ("7/7/2007", "2007年7月7日"),
        ("23 Nov 2011", "2011年11月23日"),
    ],
)
def test_dates_are_written_in_chinese(text, written):
    assert "".join(write_text(shipped_networks.load_network("dates_additive", 800), text)) == written


def test_a_class_has_its_probability():
    for course, text, likeliest in (("lookup", "b>3a7ch1f", 3), ("vote", "+.-+.", 0), ("vote", "-.-+.", 1)):
        told = classify_text(shipped_networks.load_network(course, 400), text)
        assert sum(told) == pytest.approx(1, abs=TOLERANCE)
        assert told.index(max(told)) == likeliest


def test_looking_moves_nothing():
    training = Training("vote", 1)
    (network,) = training.saved
    before = {name: tensor.clone() for name, tensor in network.numbers.items()}
    attention_view(network, "+.-")
    classify_text(network, "+.-")
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.numbers.items())
