"""The proof of a stack: that of each of its parts, and that each begins with what the part before it gave."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from attention_core.transformer.stack import Stack
from attention_core.verification.proof import Proof, prove


@dataclass(frozen=True)
class StackProof:
    """The proofs of a stack's parts by their names, and the links that do not hold: (part, its input)."""

    parts: Mapping[str, Proof]
    broken_links: tuple[tuple[str, str], ...]

    @property
    def passed(self) -> bool:
        """Whether all parts are proven and all links hold."""
        return not self.broken_links and all(proof.passed for proof in self.parts.values())

    @property
    def worst(self) -> float:
        """The largest relative difference of any check of any part."""
        return max(proof.worst for proof in self.parts.values())

    @property
    def failed(self) -> str | None:
        """The first part whose proof fails."""
        return next((name for name, proof in self.parts.items() if not proof.passed), None)


def prove_stack(stack: Stack) -> StackProof:
    """Check every number of every part, and that each part begins with the numbers that it is said to begin with.

    >>> import torch
    >>> from attention_core import AttentionConfig, Weights
    >>> from attention_core.transformer.stack import LayerConfig, LayerWeights, StackConfig, StackWeights, run_stack
    >>> config = StackConfig([LayerConfig(AttentionConfig(residual=True))] * 2)
    >>> prove_stack(run_stack(torch.eye(3), StackWeights([LayerWeights(Weights())] * 2), config)).passed
    True
    """
    broken = []
    for part, sources in stack.sources.items():
        for read, (source, step) in sources.items():
            if not torch.equal(stack[part][read], stack[source][step]):
                broken.append((part, read))
    return StackProof({name: prove(trace) for name, trace in stack.parts.items()}, tuple(broken))
