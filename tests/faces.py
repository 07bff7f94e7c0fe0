"""The five faces of steps that lessons append to a run: what every operation must do, tried on one run."""

import contextlib
import io
import math
import pickle
from dataclasses import replace

import numpy as np
import torch

from attention_core import Trace, code, prove
from attention_core.explanation.formula import formula
from attention_core.record.cell_functions import evaluate
from tests.formulas import assert_well_formed

PRECISION = 1e-12  # of the step's largest finite number


def assert_five_faces(trace: Trace, *names: str, proven: bool = True) -> None:
    """Each of these steps: its twin and its every cell give its numbers, both scripts print them, its formula is well
    formed, it comes back from a pickle, and the proof is green, and red where its torch face is wrong. proven: False
    for a run that is wrong on purpose.

    trace: a run in float64.
    """
    assert not proven or prove(trace).passed, prove(trace).failed
    values, shapes = {name: step.value.numpy() for name, step in trace.steps.items()}, trace.shapes()
    for name in names:
        operation, value = trace.step(name).operation, values[name]
        atol = PRECISION * np.abs(value[np.isfinite(value)]).max(initial=1.0)
        assert len(trace.step(name).dims) == value.ndim
        np.testing.assert_allclose(operation.apply_numpy(values), value, rtol=0, atol=atol, err_msg=name)
        for index in np.ndindex(*value.shape):
            number = evaluate(operation.cell(index, shapes), lambda ref: float(values[ref.step][ref.index]))
            assert number == value[index] or abs(number - value[index]) <= atol, (name, index)
        assert_well_formed(formula(trace, name))
        assert not prove(with_fault(trace, name)).passed
    for language in ("torch", "numpy"):
        printed = ran(code(trace, language))
        for name in names:
            np.testing.assert_allclose(np.asarray(printed[name]), values[name], rtol=0, atol=atol, err_msg=name)
    again = pickle.loads(pickle.dumps(trace))  # noqa: S301
    for name in names:
        assert torch.equal(again.reapply(name), trace[name])


def with_fault(trace: Trace, name: str) -> Trace:
    """The run with one number of one step's torch face off by a millionth of the largest."""
    step = trace.step(name)
    right = step.operation.faces.torch

    def wrong(*operands, **params):
        value = right(*operands, **params).clone(memory_format=torch.contiguous_format)
        largest = value.masked_fill(~value.isfinite(), 0.0).abs().argmax()
        value.view(-1)[largest] *= 1 + 1e-6
        return value

    operation = replace(step.operation, faces=replace(step.operation.faces, torch=wrong))
    return replace(trace, steps={**trace.steps, name: replace(step, operation=operation)})


def ran(script: str) -> dict[str, object]:
    """What a script's names mean when it has run; what it prints is not looked at."""
    names: dict[str, object] = {"inf": math.inf, "nan": math.nan}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(script, "attention.py", "exec"), names)
    return names
