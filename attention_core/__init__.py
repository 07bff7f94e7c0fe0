"""Computes attention and keeps every number of every step of a run, so that a page can show how each number was
computed. Needs torch, numpy, pandas.
"""

from attention_core.analysis.logit_attribution import logit_lens
from attention_core.analysis.residual_sum import with_logit_sum, with_residual_sum
from attention_core.explanation.arithmetic import explain
from attention_core.explanation.formula import latex
from attention_core.explanation.scripts import code
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.masks import to_mha_mask
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights, embed
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights, feed_forward
from attention_core.transformer.stack import LayerConfig, LayerWeights, StackConfig, StackWeights, run_stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights, unembed
from attention_core.verification.diagnosis import diagnose
from attention_core.verification.layer_diagnosis import assert_attention, diagnose_layer, weights_of_linears
from attention_core.verification.proof import prove, prove_stack

__all__ = [
    "AttentionConfig",
    "AttentionError",
    "EmbeddingConfig",
    "EmbeddingWeights",
    "FeedForwardConfig",
    "FeedForwardWeights",
    "LayerConfig",
    "LayerWeights",
    "StackConfig",
    "StackWeights",
    "Trace",
    "UnembeddingConfig",
    "UnembeddingWeights",
    "Weights",
    "assert_attention",
    "attend",
    "attend_qkv",
    "code",
    "diagnose",
    "diagnose_layer",
    "embed",
    "explain",
    "feed_forward",
    "latex",
    "logit_lens",
    "prove",
    "prove_stack",
    "run_stack",
    "to_mha_mask",
    "unembed",
    "weights_of_linears",
    "with_logit_sum",
    "with_residual_sum",
]
