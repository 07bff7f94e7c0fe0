"""Every name that attention_core lists, used as a notebook uses it; nothing runs it: mypy checks its types.

A line with `type: ignore` is a mistake that mypy must find: it warns about an ignore that ignores nothing.
"""

from collections.abc import Callable, Mapping
from typing import assert_type

from torch import Tensor, nn

import attention_core as core
from attention_core.explanation.arithmetic import Explanation
from attention_core.transformer.stack import Stack
from attention_core.verification.diagnosis import Diagnosis
from attention_core.verification.proof import Proof, StackProof


def attend_as_the_readme_does(x: Tensor, w: Tensor) -> None:
    weights = core.Weights(w_q=w, w_k=w, v_a=w)
    assert_type(weights.w_q, Tensor | None)
    assert_type(weights.given(), dict[str, Tensor])
    config = core.AttentionConfig(masks=["causal", ("sliding", {"window": 2})], normaliser="softmax")
    assert_type(config.masks, tuple[tuple[str, Mapping[str, object]], ...])
    trace = core.attend(x, weights=weights, config=config)
    assert_type(trace, core.Trace)
    assert_type(trace["weights"], Tensor)
    assert_type(core.explain(trace, "scores", (0, 0, 1, 0)), Explanation)
    assert_type(core.explain(trace, "scores", (0, 0, 1, 0)).text, str)
    assert_type(core.prove(trace), Proof)
    assert_type(core.prove(trace).passed, bool)
    assert_type(core.code(trace, "numpy"), str)
    assert_type(core.latex(trace), str)
    assert_type(core.to_mha_mask(x > 0), Tensor)


def diagnose_as_the_docs_do(mine: Callable[..., Tensor], x: Tensor, linear: nn.Linear) -> None:
    assert_type(core.attend_qkv(x, x, x), core.Trace)
    assert_type(core.diagnose(mine, x, x, x, tolerance=1e-6), Diagnosis)
    weights = core.weights_of_linears(q=linear)
    assert_type(weights, core.Weights)
    assert_type(core.diagnose_layer(mine, x, weights=weights), Diagnosis)
    try:
        core.assert_attention(mine, x, x, x)
    except core.AttentionError as error:
        print(error)


def stack_as_the_docs_do(x: Tensor, table: Tensor) -> None:
    embedding = core.EmbeddingWeights(table=table)
    places = core.EmbeddingConfig(positions=["sinusoidal"])
    assert_type(core.embed([1, 0], embedding, places), core.Trace)
    hidden = core.FeedForwardWeights(w_1=x, w_2=x)
    assert_type(core.feed_forward(x, hidden, core.FeedForwardConfig(norms=["layer_norm_before"])), core.Trace)
    words = core.UnembeddingWeights(table=table)
    assert_type(core.unembed(x, words, core.UnembeddingConfig(top_k=3)), core.Trace)
    layer = core.LayerConfig(core.AttentionConfig(), core.FeedForwardConfig())
    config = core.StackConfig([layer], norms=["rms_norm_before"], unembedding=core.UnembeddingConfig())
    weights = core.StackWeights([core.LayerWeights(core.Weights(), hidden)], unembedding=words)
    stack = core.run_stack(x, weights, config)
    assert_type(stack, Stack)
    assert_type(core.with_logit_sum(core.with_residual_sum(stack)), Stack)
    assert_type(core.logit_lens(stack), dict[str, core.Trace])
    assert_type(core.prove_stack(stack), StackProof)


def mistakes(x: Tensor, trace: core.Trace) -> None:
    core.AttentionConfig(heads="2")  # type: ignore[arg-type]
    core.AttentionConfig(masks=[1])  # type: ignore[list-item]
    core.AttentionConfig(head=2)  # type: ignore[call-arg]
    core.Weights(w_q=1.0)  # type: ignore[arg-type]
    core.attend(x, core.Weights())  # type: ignore[arg-type]
    core.attend([[1.0]])  # type: ignore[arg-type]
    core.explain(trace, "scores", 3)  # type: ignore[arg-type]
    core.prove(x)  # type: ignore[arg-type]
    core.code(trace)  # type: ignore[call-arg]
    core.LayerConfig(core.FeedForwardConfig())  # type: ignore[arg-type]
    core.feed_forward(x, core.Weights())  # type: ignore[arg-type]
    core.embed([0], core.UnembeddingWeights(table=x))  # type: ignore[arg-type]
    core.run_stack(x, core.StackConfig([]), core.StackWeights([]))  # type: ignore[arg-type]
    print(trace.weights)  # type: ignore[attr-defined]
