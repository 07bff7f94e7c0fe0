"""The encoder-decoder against a plain one: a text at a time, a symbol at a time, every gate written out."""

import pytest
import torch

from attention_core.learned.models.seq2seq import Seq2Seq, reversed_places, take_places
from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import dates
from attention_core.learned.tasks.texts import pad_rows
from attention_core.learned.training import shipped_networks

SOURCE_SYMBOLS, TARGET_SYMBOLS = 7, 5
END = TARGET_SYMBOLS
READ = [[3, 0, 6, 6, 1], [2], [5, 4, 0], [1, 1, 2, 6, 0, 3, 4, 5, 5, 2, 1]]
WRITTEN = [[4, 2, 0], [0, 1, 3, 3, 3, 2, 1], [2, 2], [1]]
TOLERANCE = 1e-10

every_context = pytest.mark.parametrize("context", ["one", "dot", "additive"])


def network(context, seed=0):
    return Seq2Seq((SOURCE_SYMBOLS, TARGET_SYMBOLS), context, torch.Generator().manual_seed(seed)).double()


# ---- a plain one -----------------------------------------------------------------------------------------------------
def gru_step(gru, x, h):
    """A gated recurrence as Cho et al. 2014 write it, with torch's two biases: r resets, z keeps."""
    r_x, z_x, n_x = (gru.weight_ih_l0 @ x + gru.bias_ih_l0).chunk(3)
    r_h, z_h, n_h = (gru.weight_hh_l0 @ h + gru.bias_hh_l0).chunk(3)
    r, z = 1 / (1 + torch.exp(-r_x - r_h)), 1 / (1 + torch.exp(-z_x - z_h))
    return (1 - z) * torch.tanh(n_x + r * n_h) + z * h


def plain_states(model, text):
    """The state of each symbol of one text, and the vector of the whole text."""
    vectors = [model.read.weight[number] for number in text]
    onward, h = [], torch.zeros(32, dtype=torch.float64)
    for x in vectors:
        h = gru_step(model.onward, x, h)
        onward.append(h)
    backward, h = [], torch.zeros(32, dtype=torch.float64)
    for x in reversed(vectors):
        h = gru_step(model.back, x, h)
        backward.insert(0, h)
    return [torch.cat(pair) for pair in zip(onward, backward, strict=True)], torch.cat((onward[-1], backward[0]))


def plain_context(model, s, states, whole):
    """What the decoder is told beside its state."""
    if model.context == "one":
        return whole
    if model.context == "dot":
        scores = [sum(s[m] * h[m] for m in range(64)) for h in states]
    else:
        scores = [model.v_a @ torch.tanh(model.w_aq.T @ s + model.w_ak.T @ h) for h in states]
    powers = [torch.exp(score) for score in scores]
    return sum(power / sum(powers) * h for power, h in zip(powers, states, strict=True))


def plain_step(model, symbol, s, states, whole):
    """The next state, and how strongly each symbol is meant."""
    s = gru_step(model.decoder, model.written.weight[symbol], s)
    told = torch.cat((s, plain_context(model, s, states, whole)))
    joined = torch.tanh(model.joined.weight @ told + model.joined.bias)
    return s, model.out.weight @ joined + model.out.bias


def plain_surprises(model, text, target):
    """What each symbol of the target, and its end, costs in nats."""
    states, whole = plain_states(model, text)
    found, s, symbol = [], whole, END
    for wanted in [*target, END]:
        s, logits = plain_step(model, symbol, s, states, whole)
        found.append(torch.log(torch.exp(logits).sum()) - logits[wanted])
        symbol = wanted
    return found


def plain_writing(model, text, most):
    states, whole = plain_states(model, text)
    s, symbol, written = whole, model.end, []
    while len(written) < most:
        s, logits = plain_step(model, symbol, s, states, whole)
        symbol = int(logits.argmax())
        if symbol == model.end:
            break
        written.append(symbol)
    return written


def without_padding(rows):
    return [[number for number in row if number != PAD] for row in rows.tolist()]


# ---- reading ---------------------------------------------------------------------------------------------------------
def test_a_padded_batch_is_read_as_each_text_alone():
    model = network("dot")
    encoded = model.encode(pad_rows(READ))
    assert encoded.there.tolist() == [[place < len(text) for place in range(11)] for text in READ]
    for b, text in enumerate(READ):
        states, whole = plain_states(model, text)
        assert torch.allclose(encoded.states[b, : len(text)], torch.stack(states), atol=TOLERANCE, rtol=0)
        assert torch.allclose(encoded.whole[b], whole, atol=TOLERANCE, rtol=0)


def test_a_row_is_turned_round_and_its_padding_stays():
    places = reversed_places(torch.tensor([5, 1, 3]), 7)
    assert places.tolist() == [[4, 3, 2, 1, 0, 5, 6], [0, 1, 2, 3, 4, 5, 6], [2, 1, 0, 3, 4, 5, 6]]
    rows = torch.arange(3 * 7 * 2.0).view(3, 7, 2)
    for b, row in enumerate(places.tolist()):
        assert torch.equal(take_places(rows, places)[b], torch.stack([rows[b, place] for place in row]))


# ---- what it costs ---------------------------------------------------------------------------------------------------
@every_context
def test_the_loss_is_the_mean_surprise_of_every_symbol_and_every_end(context):
    model = network(context)
    costs = [cost for pair in zip(READ, WRITTEN, strict=True) for cost in plain_surprises(model, *pair)]
    assert len(costs) == sum(len(target) + 1 for target in WRITTEN)
    found = model.loss(pad_rows(READ), pad_rows(WRITTEN))
    assert found.item() == pytest.approx(sum(costs).item() / len(costs), abs=TOLERANCE)


@every_context
def test_further_padding_costs_nothing(context):
    model, padding = network(context), (0, 3)
    read, written = pad_rows(READ), pad_rows(WRITTEN)
    wider = [torch.nn.functional.pad(side, padding, value=PAD) for side in (read, written)]
    assert model.loss(*wider).item() == pytest.approx(model.loss(read, written).item(), abs=TOLERANCE)


@every_context
def test_gradients_are_those_of_the_plain_one(context):
    model = network(context)
    names, parameters = zip(*model.named_parameters(), strict=True)
    costs = [cost for pair in zip(READ, WRITTEN, strict=True) for cost in plain_surprises(model, *pair)]
    expected = torch.autograd.grad(sum(costs) / len(costs), parameters)
    found = torch.autograd.grad(model.loss(pad_rows(READ), pad_rows(WRITTEN)), parameters)
    for name, one, other in zip(names, found, expected, strict=True):
        assert torch.allclose(one, other, atol=TOLERANCE, rtol=0), name
        assert one.abs().max() > 1e-6, name  # nothing stands beside the way to the loss


# ---- attention -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("context", ["dot", "additive"])
def test_contexts_are_means_of_the_states_with_the_weights_of_the_attention(context):
    model = network(context)
    encoded = model.encode(pad_rows(READ))
    asking = model.states(encoded, torch.tensor([[END, 3, 1]] * len(READ)))
    weights = model.attention(encoded, asking)["weights"][:, 0]  # (B, T, S)
    contexts = model.contexts(encoded, asking)
    for b, text in enumerate(READ):
        states, whole = plain_states(model, text)
        for t in range(3):
            plain = plain_context(model, asking[b, t], states, whole)
            mean = sum(weights[b, t, s] * states[s] for s in range(len(text)))
            assert torch.allclose(contexts[b, t], plain, atol=TOLERANCE, rtol=0)
            assert torch.allclose(contexts[b, t], mean, atol=TOLERANCE, rtol=0)
            assert (weights[b, t, len(text) :] == 0).all()


def test_one_context_is_the_same_at_every_step():
    model = network("one")
    encoded = model.encode(pad_rows(READ))
    contexts = model.contexts(encoded, model.states(encoded, torch.tensor([[END, 3, 1]] * len(READ))))
    assert torch.equal(contexts, torch.stack([encoded.whole] * 3, 1))


# ---- writing ---------------------------------------------------------------------------------------------------------
@every_context
def test_what_it_writes_is_what_the_plain_one_writes(context):
    lengths = set()
    for seed in range(13):
        model = network(context, seed)
        with torch.no_grad():
            model.out.bias[END] += 0.05
            written = without_padding(model.write(pad_rows(READ), 7))
            assert written == [plain_writing(model, text, 7) for text in READ], seed
        lengths |= {len(row) for row in written}
    assert {0, 7} < lengths  # some end at once, some never, some between


@every_context
def test_dates_end_where_they_are_complete(context):
    """A trained network: texts of four lengths in one padded batch, as each alone, as long as a date is."""
    model = shipped_networks.load_network(f"dates_{context}", 800).exact_model
    read = ["May 1, 1999", "Wednesday, the 12th of October, 2022", "7/7/2007", "23 November 2011"]
    numbers = [dates.SOURCE.numbers(text) for text in read]
    with torch.no_grad():
        written = without_padding(model.write(pad_rows(numbers), 23))
        assert written == [plain_writing(model, text, 23) for text in numbers]
    assert all("".join(dates.TARGET.symbols(row)).endswith("日") and len(row) < 12 for row in written)


def test_whoever_ends_at_once_writes_nothing():
    model = network("dot")
    with torch.no_grad():
        model.out.bias[END] = 1e3
        assert model.write(pad_rows(READ), 7).shape == (4, 0)
        model.out.bias[END] = -1e3
        assert model.write(pad_rows(READ), 7).shape == (4, 7)


def test_behind_the_end_of_a_row_there_is_padding():
    rows = [row for seed in range(13) for row in network("additive", seed).write(pad_rows(READ), 7).tolist()]
    for row in rows:
        end = row.index(PAD) if PAD in row else len(row)
        assert all(number == PAD for number in row[end:]) and END not in row
    assert any(PAD in row for row in rows)
