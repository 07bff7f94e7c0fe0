"""The proof of which step reads which: every step of a layer is covered, and one that reads another name is red."""

from dataclasses import replace

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.mechanism.plan import run_plan
from attention_core.record.trace import Trace
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights, feed_forward
from attention_core.variants.kv_cache import decode
from attention_core.verification.proof import prove
from attention_core.verification.wiring import expected_reads
from tests.mechanism.drawn_layers import draw_layer

DRAWS = 200


def assert_covered(trace: Trace) -> None:
    expected = expected_reads(trace)
    found = {name: step.operation.reads for name, step in trace.computed().items()}
    assert {name: expected.get(name) for name in found} == found


def test_every_step_of_drawn_layers_reads_what_the_tables_say():
    for seed in range(DRAWS):
        assert_covered(draw_layer(seed).run())


def rewired(trace: Trace, step: str) -> list[Trace]:
    """The run again where a step reads another earlier step of the same shape, one run for each."""
    operations = [each.operation for each in trace.computed().values()]
    changed = []
    for place, read in enumerate(trace.step(step).operation.reads):
        names = [*trace.steps][: [*trace.steps].index(step)]
        kind = trace.step(read).shape, trace.step(read).dtype
        others = [name for name in names if name != read and (trace.step(name).shape, trace.step(name).dtype) == kind]
        for other in others[-3:]:
            reads = list(trace.step(step).operation.reads)
            reads[place] = other
            plan = [replace(each, reads=tuple(reads)) if each.output == step else each for each in operations]
            changed.append(run_plan(trace.inputs(), plan))
    return changed


@pytest.mark.parametrize("seed", [0, 33, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (7, 27))])
def test_a_step_that_reads_another_name_is_red(seed):
    trace = draw_layer(seed).run()
    planted = 0
    for step in trace.computed():
        for wrong in rewired(trace, step):
            failed = [check.step for check in prove(wrong).checks if not check.passed and check.witness == "wiring"]
            assert failed == [step]
            planted += 1
    assert planted > 10


def test_what_differential_attention_scales_is_what_its_gate_reads(generator):
    """The fault that no operation shows: the gate reads the outputs before (1 - lam_init)."""
    numbers = [torch.randn(3, 4, generator=generator, dtype=torch.float64)]
    square = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    learned = {f"lam_{role}{half}": square[0] for role in "qk" for half in (1, 2)}
    weights = Weights(w_q=square, w_gate=square, g_heads=square[1], **learned)
    trace = attend(*numbers, weights=weights, config=AttentionConfig(modifiers=["differential", "gate"]))
    assert prove(trace).passed
    operations = [each.operation for each in trace.computed().values()]
    plan = [
        replace(each, reads=("normed_outputs", "gate")) if each.output == "gated_outputs" else each
        for each in operations
    ]
    failed = prove(run_plan(trace.inputs(), plan)).failed
    assert (failed.step, failed.witness) == ("gated_outputs", "wiring")


def test_decoded_tokens_and_feed_forward_layers_are_covered(generator):
    x, w = (torch.randn(*size, generator=generator, dtype=torch.float64) for size in ((3, 4), (4, 4)))
    config = AttentionConfig(masks=["causal"], positions=["rope", "alibi"], residual=True)
    for trace in decode(x, weights=Weights(w_q=w, w_k=w, w_v=w, w_o=w), config=config):
        assert_covered(trace)
    for activation, learned in (("relu", {"w_1": w, "w_2": w}), ("swiglu", {"w_1": w, "w_2": w, "w_gate": w})):
        assert_covered(feed_forward(x, FeedForwardWeights(**learned), FeedForwardConfig(activation=activation)))
