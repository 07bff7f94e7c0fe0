"""No text is trained and measured: every drawn text is put on its side by a naive rule, and both sides are compared."""

import pytest
import torch

from attention_core.learned import symbols
from attention_core.learned.symbols import PAD, draw_one_side, is_held_out
from attention_core.learned.tasks import evidence, repeats, reversal

BATCHES, EACH = 60, 97
TRAINED = {
    "reversal": lambda generator: reversal.batch(EACH, generator),
    "repeats": lambda generator: repeats.batch(EACH, generator),
    "lookup": lambda generator: evidence.batch("lookup", EACH, generator),
    "vote": lambda generator: evidence.batch("vote", EACH, generator),
}
MEASURED = {
    "reversal": lambda: [source for source, _ in reversal.held_out().values()],
    "repeats": lambda: [repeats.held_out()],
    "lookup": lambda: [evidence.held_out("lookup")[0]],
    "vote": lambda: [evidence.held_out("vote")[0]],
}


def texts_of(rows, task):
    """Each text as a tuple without padding; of one that is repeated, the first time."""
    texts = [tuple(number for number in row if number != PAD) for row in rows.tolist()]
    return [text[: len(text) // 2] for text in texts] if task == "repeats" else texts


def trained_texts(task, draw=None):
    generator = torch.Generator().manual_seed(3)
    return [
        text for _ in range(BATCHES) for text in texts_of((draw or TRAINED[task])(generator)[0], task)
    ]  # the texts come first


def measured_texts(task):
    return [text for rows in MEASURED[task]() for text in texts_of(rows, task)]


def held_out(text):
    """The rule once more, a symbol at a time."""
    total = 0
    for place, number in enumerate(text, start=1):
        total += place * (number + 1)
    return total % 11 == 5


# ---- the rule --------------------------------------------------------------------------------------------------------
def test_a_texts_own_symbols_decide(generator):
    rows = torch.randint(7, (200, 13), generator=generator)
    lengths = torch.randint(1, 14, (200, 1), generator=generator)
    rows = rows.masked_fill(torch.arange(13) >= lengths, PAD)
    assert is_held_out(rows).tolist() == [held_out(text) for text in texts_of(rows, "any")]
    assert torch.equal(is_held_out(rows), is_held_out(torch.nn.functional.pad(rows, (0, 5), value=PAD)))


@pytest.mark.parametrize("task", TRAINED)
def test_one_of_eleven_is_held_out(task):
    drawn = {
        "reversal": lambda count, generator: torch.randint(26, (count, 7), generator=generator),
        "repeats": lambda count, generator: torch.rand(count, 62, generator=generator).argsort(-1)[:, :7],
        "lookup": lambda count, generator: evidence.draw_marked_values(count, generator)[0],
        "vote": lambda count, generator: evidence.draw_votes(count, generator)[0],
    }[task](20_000, torch.Generator().manual_seed(0))
    assert is_held_out(drawn).double().mean().item() == pytest.approx(1 / 11, abs=0.01)


@pytest.mark.parametrize("measured", [False, True])
def test_on_one_side_draws_on_until_there_are_enough_and_parts_stay_together(measured, generator):
    def draw(many):
        rows = torch.randint(5, (many, 3), generator=generator)
        return rows, rows.sum(-1)

    rows, sums = draw_one_side(draw, 101, measured)
    assert rows.shape == (101, 3)
    assert sums.tolist() == [sum(row) for row in rows.tolist()]
    assert [held_out(row) for row in rows.tolist()] == [measured] * 101


# ---- what is drawn ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("task", TRAINED)
def test_no_text_is_on_both_sides(task):
    trained, measured = trained_texts(task), measured_texts(task)
    assert len(trained) == BATCHES * EACH
    assert not any(held_out(text) for text in trained)
    assert all(held_out(text) for text in measured)
    assert not {*trained} & {*measured}


@pytest.mark.parametrize("task", TRAINED)
def test_a_split_that_lets_all_through_would_be_seen(task, monkeypatch):
    measured = measured_texts(task)  # of a split that holds nothing out none could be drawn
    monkeypatch.setattr(symbols, "is_held_out", lambda texts: torch.zeros(len(texts), dtype=torch.bool))
    assert any(held_out(text) for text in trained_texts(task))
    if task == "vote":  # the one task whose texts are so few that some are drawn twice
        assert {*trained_texts(task)} & {*measured}
