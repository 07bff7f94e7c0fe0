"""Attention, number by number: every step of a run kept, openable and proven. Needs torch, numpy and pandas."""

from attention_core.explanation.arithmetic import explain
from attention_core.explanation.formula import latex
from attention_core.explanation.scripts import code
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.masks import to_mha_mask
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.verification.diagnosis import diagnose
from attention_core.verification.proof import prove

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
