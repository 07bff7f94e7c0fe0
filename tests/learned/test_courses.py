"""What can be learned: each course hangs together, and how well a network does is counted text by text."""

import pytest
import torch

from attention_core.learned.symbols import PAD
from attention_core.learned.tasks import dates, evidence, repeats, reversal
from attention_core.learned.training import shipped_networks
from attention_core.learned.training.courses import COURSES, exact_by_length, right_by_length, right_by_position

every_course = pytest.mark.parametrize("name", COURSES)


@every_course
def test_a_course_keeps_its_network_at_rising_steps_from_0_on(name):
    course = COURSES[name]
    assert course.saved[0] == 0
    assert list(course.saved) == sorted({*course.saved})
    assert {*course.shipped} <= {*course.saved}
    assert course.shipped[-1] == course.saved[-1]


@every_course
def test_a_batch_is_what_its_network_learns_from(name, generator):
    course = COURSES[name]
    loss = course.make(generator).loss(*course.batch(generator))
    assert loss.shape == () and loss.requires_grad and loss.isfinite()


@every_course
def test_before_anything_is_learned_every_symbol_surprises_as_much_as_any(name, generator):
    """ln of their number, within a sixth: of 15 symbols (and the end) in dates, 26 letters, 62 symbols, 8 or 2
    classes."""
    course = COURSES[name]
    choices = {"dates": 14, "reversal": 27, "copy": 62, "lookup": 8, "vote": 2}[name.partition("_")[0]]
    loss = course.make(generator).loss(*course.batch(generator)).item()
    assert loss == pytest.approx(torch.tensor(float(choices)).log().item(), rel=1 / 6)


@every_course
def test_there_is_a_figure_for_every_place(name):
    course = COURSES[name]
    with torch.inference_mode():
        figures = course.measure(course.make(torch.Generator().manual_seed(0)))
    assert len(figures) == len(course.places)
    assert all(0 <= figure <= 1 for figure in figures)


# ---- figures against counting ----------------------------------------------------------------------------------------
def share(right):
    right = list(right)
    return sum(right) / len(right)


def written_alone(model, source, target):
    """Whether one text is written exactly when it is read alone."""
    wanted = [number for number in target.tolist() if number != PAD]
    return model.write(source[None], len(wanted) + 5)[0].tolist() == wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, step, task, lengths",
    [("dates_one", 200, dates, (9, 21, 36)), ("reversal_additive", 3000, reversal, (5, 30, 60))],
)
def test_exact_texts_are_counted_by_length(name, step, task, lengths):
    model = shipped_networks.load_network(name, step).model()
    chosen = {length: task.held_out()[length] for length in lengths}
    with torch.inference_mode():
        found = exact_by_length(lambda: chosen, model)
        expected = [share(written_alone(model, *pair) for pair in zip(*chosen[n], strict=True)) for n in lengths]
    assert list(found) == pytest.approx(expected, abs=1e-12)
    assert len({*expected}) > 1


def test_right_classes_are_counted_by_length():
    model = shipped_networks.load_network("lookup_heads", 0).model()
    right = {length: [] for length in COURSES["lookup_heads"].places}
    with torch.inference_mode():
        found = right_by_length("lookup", model)
        for row, wanted in zip(*(part.tolist() for part in evidence.held_out("lookup")), strict=True):
            text = [number for number in row if number != PAD]
            logits = model.trace(torch.tensor([text]))["output"][0, 0].tolist()
            right[len(text)].append(logits.index(max(logits)) == wanted)
    assert list(found) == pytest.approx([share(each) for each in right.values()], abs=1e-12)
    assert len({*found}) > 3


def test_foretold_symbols_are_counted_by_position():
    """The places say which symbol it is that is foretold, counted from 1: the first of all is not."""
    model = shipped_networks.load_network("copy_two", 200).model()
    sequences = repeats.held_out()
    with torch.inference_mode():
        found = dict(zip(COURSES["copy_two"].places, right_by_position(model), strict=True))
        chosen = [model.logits(row[None])[0].argmax(-1).tolist() for row in sequences]
    for place in (2, 17, 18, 25, 32):
        right = [row[place - 2] == wanted[place - 1] for row, wanted in zip(chosen, sequences.tolist(), strict=True)]
        assert found[place] == pytest.approx(share(right), abs=1e-12)
    assert found[25] > 0.3 > found[17]
