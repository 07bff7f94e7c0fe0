"""Attention, number by number: every step of a run kept, openable and proven. Needs torch, numpy and pandas."""

from attention_core.attention import attend, attend_qkv
from attention_core.config import AttentionConfig, Weights
from attention_core.diagnosis import diagnose
from attention_core.errors import AttentionError
from attention_core.explanation import explain
from attention_core.export import code
from attention_core.formula import latex
from attention_core.masks import to_mha_mask
from attention_core.proof import prove
from attention_core.trace import Trace

__all__ = [
    "AttentionConfig",
    "AttentionError",
    "Trace",
    "Weights",
    "attend",
    "attend_qkv",
    "code",
    "diagnose",
    "explain",
    "latex",
    "prove",
    "to_mha_mask",
]
