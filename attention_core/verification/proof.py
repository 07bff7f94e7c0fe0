"""Proves a run: computes its operations again in float64 and compares them with NumPy versions and torch's functions.

The NumPy version of an operation has the same author as the operation, so that it shows slips, but not
misunderstandings; torch's functions are therefore a second check. The rounding of the run's precision is reported, and
no proof fails because of it. If that precision overflows in a step, so that an output is lost, the proof fails at this
step. The proof of a stack consists of the proofs of its parts, and checks that the inputs of each part are outputs of
earlier parts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attention_core.comparison.rerun import rerun
from attention_core.mechanism.normalisers import is_replaced, maps_of, normaliser_of
from attention_core.record.notebook_picture import NotebookPicture
from attention_core.record.trace import Trace
from attention_core.transformer.stack import Stack
from attention_core.verification.torch_functions import run_mha, run_sdpa, run_torch_functions
from attention_core.verification.wiring import expected_reads

PROOF_TOLERANCE = 1e-10  # accepted difference, relative to the step's largest magnitude
MAX_AUTOMATIC_PROOF_NUMBERS = 5_000_000  # a trace with more numbers is proven only when the visitor asks
RECOMPUTED = ("numpy", "shown")  # checks that recompute every cell


@dataclass(frozen=True)
class ProofCheck:
    """One check of a step: its witness (what the step is compared with), the relative difference, and whether it
    passes.

    witness: "numpy", "shown", "torch", "sdpa", "mha", "rows", "blocked", "wiring" (the step reads the right steps) or
    "held" (the run's precision can represent the step, so that no output is lost).
    """

    step: str
    witness: str
    difference: float
    passed: bool


@dataclass(frozen=True)
class Proof(NotebookPicture):
    """All checks of a run, and the effects of its precision.

    rounding: the difference of each step from float64, relative to the step's largest magnitude. overflow: the first
    cell, as (step, index), that is not finite although no mask blocks it; None if there is none.
    """

    checks: tuple[ProofCheck, ...]
    rounding: dict[str, float]
    overflow: tuple[str, tuple[int, ...]] | None

    @property
    def passed(self) -> bool:
        """Whether all checks of the run passed."""
        return all(check.passed for check in self.checks)

    @property
    def worst(self) -> float:
        """The largest relative difference of any check."""
        return max(check.difference for check in self.checks)

    @property
    def failed(self) -> ProofCheck | None:
        """The first check that fails, in the order of the steps."""
        return next((check for check in self.checks if not check.passed), None)


def prove(trace: Trace) -> Proof:
    """Check every number of a run by a NumPy version of each step and by torch's own functions.

    Also checked: the sums of rows, that blocked cells are 0, and which steps each step of a layer reads.

    trace: any run, of attention or of another part of a Transformer, of any precision and device; it is computed again
    on the CPU in float64 and not changed. A wrong number raises no error: `passed` is False then, and `failed` returns
    the check of its step.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> proof = prove(attend_qkv(torch.eye(3), torch.eye(3), torch.eye(3)))
    >>> proof.passed, proof.worst < 1e-15
    (True, True)
    """
    trace = trace.on_cpu()
    with torch.inference_mode():
        doubles = rerun(trace)
        checks = check_by_numpy(trace, doubles)
        checks += check_steps_by_torch(trace, doubles)
        checks += check_wiring(trace)
        lost = find_lost_step(trace, doubles)
        if lost is not None:
            checks.append(ProofCheck(lost, "held", difference=float("inf"), passed=False))
        if "head_outputs" in trace:
            checks += check_attention_by_torch(trace, doubles)
            checks += check_rules(trace, doubles)
        order = list(trace.computed())
        checks.sort(key=lambda check: order.index(check.step))
        return Proof(
            checks=tuple(checks),
            rounding=measure_step_rounding(trace, doubles),
            overflow=find_overflow(trace),
        )


# ---- the NumPy twins -------------------------------------------------------------------------------------------------
def check_by_numpy(trace: Trace, doubles: dict[str, Tensor]) -> list[ProofCheck]:
    """Compare every step in float64 with its NumPy version; also compare the run's value if no precision rounded it."""
    twins = run_numpy_twins(trace, doubles)
    checks = []
    for name, step in trace.computed().items():
        twin = twins[name]
        double = doubles[name].numpy()
        checks.append(check_step(name, "numpy", double, twin))
        is_unrounded = step.dtype in (torch.float64, torch.bool)
        if is_unrounded:
            shown = step.window()
            checks.append(check_step(name, "shown", shown, twin))
    return checks


def run_numpy_twins(trace: Trace, doubles: dict[str, Tensor]) -> dict[str, np.ndarray]:
    """Compute every step by the NumPy version of its operation, from the inputs on, without any result of torch."""
    twins = {name: doubles[name].numpy() for name in trace.inputs()}
    with np.errstate(all="ignore"):  # the proof itself reports overflow, so NumPy's warnings are off
        for name, step in trace.computed().items():
            twins[name] = step.operation.apply_numpy(twins)
    return twins


def check_step(step: str, witness: str, value: np.ndarray, other: np.ndarray) -> ProofCheck:
    """Compare a step with another computation of it, cell by cell.

    The difference is that of the cell that differs most, relative to the step's largest magnitude. Infinities and NaN
    must be in the same cells; then they are the result of the operation, as in a naive softmax that overflows.
    """
    value = np.asarray(value, dtype=np.float64)
    other = np.asarray(other, dtype=np.float64)
    if not have_same_gaps(value, other):
        return ProofCheck(step, witness, difference=float("inf"), passed=False)
    finite = np.isfinite(other)
    difference = relative_difference(value[finite], other[finite])
    return ProofCheck(
        step,
        witness,
        difference,
        passed=difference <= PROOF_TOLERANCE,
    )


def have_same_gaps(value: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two arrays have the same shape, and infinities and NaN in the same cells."""
    if value.shape != other.shape:
        return False
    finite = np.isfinite(other)
    if not np.array_equal(np.isfinite(value), finite):
        return False
    return np.array_equal(value[~finite], other[~finite], equal_nan=True)


def relative_difference(value: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of finite numbers, relative to the largest magnitude of `other`."""
    gaps = np.abs(value - other)
    magnitudes = np.abs(other)
    largest = magnitudes.max(initial=0.0) or 1.0
    return float(gaps.max(initial=0.0) / largest)


# ---- torch's own functions, and its attention ------------------------------------------------------------------------
def check_steps_by_torch(trace: Trace, doubles: dict[str, Tensor]) -> list[ProofCheck]:
    """Compare each step with the result of torch's function for it, if torch has one."""
    checks = []
    for name, value in run_torch_functions(trace, doubles):
        checks.append(check_step(name, "torch", value.numpy(), doubles[name].numpy()))
    return checks


def check_attention_by_torch(trace: Trace, doubles: dict[str, Tensor]) -> list[ProofCheck]:
    """Compare the heads' outputs with those of torch's attention, and, if torch has the same layer, weights and output
    too.

    Returns [] for runs with replaced weights or dropout, because torch's functions take no weights and sample their own
    dropout.
    """
    if is_replaced(trace):
        return []
    expected = {name: doubles[name].numpy() for name in ("head_outputs", "weights", "output")}
    head_outputs = run_sdpa(trace, doubles).numpy()
    checks = [
        check_step("head_outputs", "sdpa", head_outputs, expected["head_outputs"]),
    ]
    layer = run_mha(trace, doubles)
    if layer is not None:
        output, weights = layer
        checks += [
            check_step("weights", "mha", weights.numpy(), expected["weights"]),
            check_step("output", "mha", output.numpy(), expected["output"]),
        ]
    return checks


# ---- which step reads which ------------------------------------------------------------------------------------------
def check_wiring(trace: Trace) -> list[ProofCheck]:
    """Compare which steps each step of a layer reads with which it should read (wiring.py); other steps are skipped."""
    expected = expected_reads(trace)
    checks = []
    for name, step in trace.computed().items():
        if name in expected:
            passed = step.operation.reads == expected[name]
            checks.append(ProofCheck(name, "wiring", 0.0 if passed else float("inf"), passed))
    return checks


# ---- rules that need no second computation ---------------------------------------------------------------------------
def check_rules(trace: Trace, doubles: dict[str, Tensor]) -> list[ProofCheck]:
    """Check that rows of weights have the sum that the normaliser guarantees, and that blocked cells are exactly 0.

    Chosen or replaced weights may be any numbers; then only the normaliser's weights before them are checked.
    """
    maps = maps_of(trace)
    checks = [check for name in maps for check in check_row_sums(trace, doubles, name)]
    if "allowed" not in trace:
        return checks
    masked = list(maps)
    if "replacement" not in trace and "chosen_weights" not in trace:
        masked += [name for name in ("computed_weights", "weights", "dropped_weights") if name in trace]
    for name in dict.fromkeys(masked):
        leak = largest_blocked_weight(trace, name)
        checks.append(ProofCheck(name, "blocked", leak, passed=leak == 0.0))
    return checks


def check_row_sums(trace: Trace, doubles: dict[str, Tensor], computed: str) -> list[ProofCheck]:
    """Check the sums of rows of weights: 1, or at most 1, as the normaliser guarantees, and 0 if all keys are blocked.

    Returns [] if the normaliser allows any sum. computed: the name of a step that the normaliser computes.
    """
    row_sum = normaliser_of(trace).row_sum
    if row_sum == "free":
        return []
    sums = doubles[computed].sum(-1)  # (B, H, T)
    masked_scores, *_ = trace.step(computed).operation.reads
    is_blocked = doubles[masked_scores] == normaliser_of(trace).blocked
    has_keys = (~is_blocked).any(-1)
    expected = has_keys.double()
    if row_sum == "at most one":
        expected = torch.minimum(sums.clamp(min=0.0), expected)
    return [check_step(computed, "rows", sums.numpy(), expected.numpy())]


def largest_blocked_weight(trace: Trace, name: str) -> float:
    """Return the largest magnitude of a step of weights in the cells that the mask blocks; 0 if it blocks none."""
    weights = trace[name].detach()
    blocked = ~trace["allowed"].expand_as(weights)
    if not blocked.any():
        return 0.0
    return float(weights[blocked].abs().double().max())


# ---- what the chosen precision did -----------------------------------------------------------------------------------
def measure_step_rounding(trace: Trace, doubles: dict[str, Tensor]) -> dict[str, float]:
    """Return the largest difference of each step from float64, over finite cells, relative to the largest magnitude."""
    figures = {}
    for name, step in trace.computed().items():
        if step.dtype == torch.bool:
            continue
        shown = step.window()
        double = doubles[name].numpy()
        both_finite = np.isfinite(shown) & np.isfinite(double)
        figures[name] = relative_difference(shown[both_finite], double[both_finite])
    return figures


def find_lost_step(trace: Trace, doubles: Mapping[str, Tensor]) -> str | None:
    """Return the first step that the run's precision cannot represent, if an output is lost because of it; else None.

    An output is lost if the output of a head is finite in float64, but not in the run's precision.
    """
    overflow = find_overflow(trace)
    if overflow is None or "head_outputs" not in trace:
        return None
    lost = doubles["head_outputs"].isfinite() & ~trace["head_outputs"].cpu().isfinite()
    return overflow[0] if lost.any() else None


def find_overflow(trace: Trace) -> tuple[str, tuple[int, ...]] | None:
    """Return the first number that the run's precision could not represent, as (step, index); None if there is none.

    The number is NaN, or infinite although no mask blocks its cell.
    """
    for name, step in trace.computed().items():
        value = step.value
        if value.dtype == torch.bool:
            continue
        broken = ~torch.isfinite(value)
        if name == "masked_scores" and "allowed" in trace:
            broken &= trace["allowed"]
        if broken.any():
            return name, tuple(broken.nonzero()[0].tolist())
    return None


# ---- the proof of a stack --------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class WrongCell:
    """A cell whose number is wrong: its step, its index, its number and the expected one."""

    index: tuple[int, ...]
    shown: float
    expected: float


@dataclass(frozen=True)
class StackFault:
    """The first error found in a stack: the part, its step, and the cell with the largest difference.

    cell: None if the fault is not in a single cell, as when a row does not sum to 1. source: the part whose output
    differs from this part's input; None if this part is wrong.
    """

    part: str
    step: str
    cell: WrongCell | None = None
    source: str | None = None


@dataclass(frozen=True)
class StackProof(NotebookPicture):
    """The proofs of a stack's parts by name, and the broken links between the parts.

    A broken link is (part, name of an input that differs from the output that it comes from). numbers: the number of
    computed numbers of each part. fault: the first fault; None if everything is proven.
    """

    parts: Mapping[str, Proof]
    broken_links: tuple[tuple[str, str], ...]
    numbers: Mapping[str, int]
    fault: StackFault | None = None

    @property
    def passed(self) -> bool:
        """Whether all parts are proven and all links between them hold."""
        return not self.broken_links and all(proof.passed for proof in self.parts.values())

    @property
    def worst(self) -> float:
        """The largest relative difference of any check of any part."""
        return max(proof.worst for proof in self.parts.values())

    @property
    def number_count(self) -> int:
        """How many numbers were checked in all parts."""
        return sum(self.numbers.values())

    @property
    def failed(self) -> str | None:
        """The first part whose proof fails."""
        return next((name for name, proof in self.parts.items() if not proof.passed), None)


def prove_stack(stack: Stack) -> StackProof:
    """Prove every part of a stack, such as an attention layer, and check that each input equals the output it comes
    from.

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
    proofs = {name: prove(trace) for name, trace in stack.parts.items()}
    numbers = {}
    for name, trace in stack.parts.items():
        numbers[name] = sum(step.value.numel() for step in trace.computed().values())
    return StackProof(proofs, tuple(broken), numbers, find_fault(stack, proofs, dict(broken)))


def put_beside(runs: Mapping[str, Stack]) -> Stack:
    """Combine several runs into one Stack, in which each part's name is the run's name, a slash and the part's name.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> run = Stack({}, {}).then("attention", attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), {})
    >>> list(put_beside({"before": run, "after": run}).parts)
    ['before/attention', 'after/attention']
    """
    parts, sources = {}, {}
    for run, stack in runs.items():
        parts |= {f"{run}/{part}": trace for part, trace in stack.parts.items()}
        for part, reads in stack.sources.items():
            sources[f"{run}/{part}"] = {read: (f"{run}/{source}", step) for read, (source, step) in reads.items()}
    return Stack(parts, sources)


# ---- the first fault -------------------------------------------------------------------------------------------------
def find_fault(stack: Stack, proofs: Mapping[str, Proof], broken: Mapping[str, str]) -> StackFault | None:
    """Return the first fault in the order of the parts; None if there is none.

    broken: {part: name of its input with a broken link}.
    """
    for part, proof in proofs.items():
        if part in broken:
            read = broken[part]
            source, step = stack.sources[part][read]
            return StackFault(part, read, farthest_cell(stack[part][read], stack[source][step]), source)
        if not proof.passed:
            failed = proof.failed
            cell = find_wrong_cell(stack[part], failed.step) if failed.witness in RECOMPUTED else None
            return StackFault(part, failed.step, cell)
    return None


def find_wrong_cell(trace: Trace, step: str) -> WrongCell | None:
    """Return the cell of a step that differs most from the NumPy computation of the step."""
    trace = trace.on_cpu()
    twins = run_numpy_twins(trace, rerun(trace))
    return farthest_cell(trace[step], torch.as_tensor(twins[step]))


def farthest_cell(value: Tensor, other: Tensor) -> WrongCell | None:
    """Return the cell in which two tensors differ most; None if their shapes differ.

    Equal infinities do not differ.
    """
    if value.shape != other.shape:
        return None
    value, other = value.detach().cpu().double(), other.detach().cpu().double()
    gaps = (value - other).abs().nan_to_num(nan=torch.inf)
    gaps[value == other] = 0.0
    place = np.unravel_index(int(gaps.argmax()), gaps.shape)
    index = tuple(map(int, place))
    return WrongCell(index, float(value[index]), float(other[index]))
