"""A recurrence in both directions as steps of a run: one pass from the first word on, one from the last word back."""

from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.variants.encoders import Encoder, draw_layers
from attention_core.variants.gated_recurrence import plan_gated_pass
from attention_core.variants.recurrence import Direction, plan_pass, plan_shown

PASS_PLANNERS = {"rnn": plan_pass, "lstm": plan_gated_pass}


def with_both_passes(trace: Trace, encoder: Encoder, steps: int) -> Trace:
    r"""Add the first steps of a recurrence in both directions to a run.

    $h_t = f(x_t, h_{t-1})$ and $g_t = f'(x_t, g_{t+1})$, where f is one step of a tanh recurrence or of an LSTM.

    The first pass computes h_1, h_2, ... from the first word on, the second g_T, g_(T-1), ... from the last word back;
    `states` and `states_back` (on the axis T') are these states side by side, in the order of the words. The vector of
    a word is its two states side by side, after both passes have reached the word. Other names of the second pass end
    with `_back`; an LSTM's steps are those of `plan_gated_pass`.

    trace: a run that has x (B, T, D). encoder: of kind rnn or lstm with `both`; the weights of its first layer are
    used. steps: the number of steps of each pass, at most T. Raises AttentionError: unknown_choice, positive_integer,
    at_most, step_twice; KeyError if the run has no x. Source: Schuster, Paliwal 1997, section II.

    >>> import torch
    >>> from attention_core import attend
    >>> run = attend(torch.ones(3, 2).double())
    >>> trace = with_both_passes(run, Encoder("rnn", width=5, both=True), steps=2)
    >>> list(trace.computed())[-6:], trace["states_back"].shape
    (['h_1', 'h_2', 'states', 'g_3', 'g_2', 'states_back'], torch.Size([1, 5, 2]))
    >>> gated = with_both_passes(run, Encoder("lstm", width=5, both=True), steps=2)
    >>> gated.step("g_2").operation.reads, gated.step("cell_back_2").operation.reads[:2]
    (('output_gate_back_2', 'cell_back_2'), ('forget_gate_back_2', 'cell_back_3'))
    """
    plan_one_pass = PASS_PLANNERS[require_one_of("kind", encoder.kind, tuple(PASS_PLANNERS))]
    if not encoder.both:
        raise AttentionError("unknown_choice", name="both", choices="True", given=repr(encoder.both))
    x = trace["x"]
    T = x.shape[1]
    if require_positive("steps", steps) > T:
        raise AttentionError("at_most", name="steps", limit=T, given=steps)
    forward, backward = draw_layers(encoder, x.shape[-1])[0]
    onward = Direction(range(steps))
    back = Direction(range(T - 1, T - 1 - steps, -1), "g", "_back")
    first = plan_one_pass(x, forward, onward)
    second = plan_one_pass(x, backward, back)
    with_inputs = Trace({**first.inputs, **second.inputs, **trace.steps}, trace.labels)
    passed = with_inputs.then(
        *first.plan,
        plan_shown("states", "T", onward.states),
        *second.plan,
        plan_shown("states_back", "T'", back.states[::-1]),
    )
    words = trace.labels.get("T")
    return passed.labelled(**{"T'": words[T - steps :]}) if words else passed


def passed_places(length: int, steps: int) -> tuple[range, range, range]:
    """Return the positions that the first pass, the second pass, and both passes have reached after some steps.

    >>> passed_places(5, 3)
    (range(0, 3), range(2, 5), range(2, 3))
    """
    onward = range(steps)
    back = range(length - steps, length)
    return onward, back, range(back.start, onward.stop)
