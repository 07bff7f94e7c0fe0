"""Exported scripts, run as processes of their own: every printed number against the run that was exported."""

import ast
import importlib
import math
import os
import pickle
import re
import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, attend_qkv
from attention_core.analysis.blocked_scores import with_additive_mask, with_empty_row_policy
from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.analysis.head_circuits import head_circuit, with_pushes
from attention_core.analysis.head_composition import compose
from attention_core.analysis.head_contributions import with_contributions, with_likeness, without_head
from attention_core.analysis.logit_attribution import with_word_pushes
from attention_core.analysis.online_softmax import with_online_softmax
from attention_core.analysis.position_effects import with_score_parts
from attention_core.analysis.residual_sum import with_logit_sum
from attention_core.analysis.softmax_steps import NAIVE_SOFTMAX, STABLE_SOFTMAX, with_cross_entropy, with_jacobian
from attention_core.analysis.target_leakage import with_moved_rows
from attention_core.exercises.rounding import with_rounded_weights
from attention_core.explanation.scripts import (
    INPUTS_FILE,
    MAX_LITERAL_NUMBERS,
    call_line,
    code,
    inputs_npz,
    number_texts,
    operation_source,
    rows,
)
from attention_core.explanation.source_closure import without_annotations
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.expressions import Ref
from attention_core.record.trace import Faces, Operation, Step
from attention_core.variants.convolution import with_convolution
from attention_core.variants.encoders import Encoder
from attention_core.variants.kv_cache import decode
from attention_core.variants.linear_recurrence import with_linear_states
from attention_core.variants.recurrence import with_both_passes, with_states
from tests.entries import every_mask, fit_widths, key_rows, learned_shapes, mask_choice, score_for
from tests.house.test_house import every_face
from tests.transformer.parts import small_parts
from tests.transformer.stacks import small_stack

PRECISION = 1e-12  # of a step's largest number
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

# every size its own number: B 2, T 3, S 5, D 7, D_key 11, D_value 13, A 17, D_out 19; 4 heads of width 6, v of 10
MASK_PARAMS = {
    "local": {"window": 1},
    "sliding": {"window": 2},
    "padding": {"lengths": (5, 0)},
    "local_global": {"window": 0, "global_tokens": (1, 4)},
}


# ---- the runs --------------------------------------------------------------------------------------------------------
def numbers(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Random numbers, the same for the same shape."""
    generator = torch.Generator().manual_seed(math.prod(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def crossed(config: AttentionConfig, dtype: torch.dtype = torch.float64, leave_out: tuple = (), **more) -> Trace:
    """Cross-attention with everything there is: projections, biases, output, and the score's own weights."""
    heads, kv_heads = config.heads, config.kv_heads or config.heads
    widths = fit_widths(config, (7, 11, 11 if config.modifiers_at("sources") else 13))  # k and v are made of one latent
    shapes = learned_shapes(config, 6, 6, own=17, wide=(7, 10, widths[1]), D_out=19)
    rows = [key_rows(config, shapes, width) for width in widths[1:]]
    shapes |= {"w_q": (7, 6 * heads), "w_k": (rows[0], 6 * kv_heads), "w_v": (rows[1], 10 * kv_heads)}
    shapes |= {"w_o": (10 * heads, 19)}
    shapes |= {"b_q": (6 * heads,), "b_k": (6 * kv_heads,), "b_v": (10 * kv_heads,), "b_o": (19,)}
    weights = Weights(**{name: numbers(*shapes[name], dtype=dtype) for name in shapes if name not in leave_out})
    query, key, value = (
        numbers(2, length, width, dtype=dtype) for length, width in zip((3, 5, 5), widths, strict=True)
    )
    return attend(query, key, value, weights=weights, config=config, **more)


def small(dtype: torch.dtype = torch.float64, **config) -> Trace:
    """Two tokens, as a student would take them."""
    w = {name: numbers(4, 4, dtype=dtype) for name in ("w_q", "w_k", "w_v")}
    return attend(numbers(2, 4, dtype=dtype), weights=Weights(**w), config=AttentionConfig(**config))


def empty_row() -> torch.Tensor:
    allowed = torch.ones(3, 5, dtype=torch.bool)
    allowed[1], allowed[2, 3] = False, False
    return allowed


def everything(dtype: torch.dtype) -> Trace:
    config = AttentionConfig(
        score="additive",
        temperature=0.7,
        heads=4,
        kv_heads=2,
        masks=("causal", ("padding", {"lengths": (4, 5)})),
        positions=("rope", "alibi"),
        dropout=0.25,
    )
    return crossed(config, dtype, allowed=empty_row())


def per_head() -> Trace:
    """q, k and v given, the additive score's weights one a head."""
    weights = Weights(w_aq=numbers(4, 6, 17), w_ak=numbers(4, 6, 17), v_a=numbers(4, 17))
    q, k, v = numbers(2, 4, 3, 6), numbers(2, 2, 5, 6), numbers(2, 2, 5, 10)
    return attend_qkv(q, k, v, weights=weights, config=AttentionConfig(score="additive", positions=["rope"]))


def learned() -> Trace:
    """Inputs as training has them: gradients wanted, a weight that is the view of another layout."""
    w = torch.nn.Parameter(numbers(6, 7)).T
    return attend(numbers(3, 7).requires_grad_(), weights=Weights(w_q=w, w_k=w, w_v=w))


def large(dtype: torch.dtype) -> Trace:
    """More input numbers than a script holds, and steps with minus infinity in them."""
    weights = Weights(**{name: numbers(64, 64, dtype=dtype) / 8 for name in ("w_q", "w_k", "w_v", "w_o")})
    mask = torch.ones(1, 1, 1, 103, dtype=torch.bool)
    mask[..., 0] = False
    config = AttentionConfig(heads=4, masks=["causal"])
    return attend(numbers(103, 64, dtype=dtype), weights=weights, config=config, allowed=mask)


def words_alone() -> Trace:
    heads = Weights(**{name: numbers(4, 4) for name in ("w_q", "w_k", "w_v", "w_o")})
    return with_pushes(head_circuit(numbers(3, 4), heads, AttentionConfig()), numbers(5, 4), numbers(4))


def composed_heads() -> Trace:
    sizes = {"w_q": (7, 6), "w_k": (7, 6), "w_v": (7, 10), "w_o": (10, 7)}
    earlier, later = (Weights(**{name: numbers(*size) for name, size in sizes.items()}) for _ in range(2))
    config = AttentionConfig(heads=2)
    return compose([(earlier, config)], (later, config), head=1)["k"]


ENDS_IN_RMS = {"norms": ("rms_norm_before",), "last": ("rms_norm_before",)}

RUNS = {
    "small": small,
    **{f"score {name}": lambda name=name: crossed(AttentionConfig(score=name, heads=4, kv_heads=2)) for name in SCORES},
    **{
        f"mask {name}": lambda name=name: crossed(AttentionConfig(masks=[mask_choice(name, **MASK_PARAMS)]))
        for name in MASKS
    },
    "mask allowed": lambda: crossed(AttentionConfig(), allowed=empty_row()),
    "all masks and allowed": lambda: crossed(
        AttentionConfig(heads=2, masks=every_mask(**MASK_PARAMS)), allowed=empty_row()
    ),
    "causal, offset": lambda: crossed(AttentionConfig(masks=[("causal", {"offset": -1})], positions=["alibi"])),
    **{f"position {name}": lambda name=name: crossed(AttentionConfig(positions=[name])) for name in POSITIONS},
    **{f"modifier {name}": lambda name=name: crossed(AttentionConfig(heads=2, modifiers=[name])) for name in MODIFIERS},
    **{
        f"normaliser {name}": lambda name=name: crossed(AttentionConfig(score_for(name), normaliser=name))
        for name in NORMALISERS
    },
    "rope, halves": lambda: small(positions=[("rope", {"style": "half", "base": np.float64(50.0)})]),
    "all positions": lambda: crossed(
        AttentionConfig(heads=4, kv_heads=1, masks=["causal"], positions=tuple(POSITIONS))
    ),
    "no output projection": lambda: crossed(AttentionConfig(heads=2), leave_out=("w_o", "b_o")),
    "no biases": lambda: crossed(AttentionConfig(heads=2), leave_out=("b_q", "b_k", "b_v", "b_o")),
    "no weights": lambda: attend(numbers(3, 7), numbers(5, 7), config=AttentionConfig(score="dot", scale=0.1)),
    "uniform": lambda: crossed(AttentionConfig(replace="uniform", masks=["causal"]), allowed=empty_row()),
    "uniform, no mask": lambda: crossed(AttentionConfig(replace="uniform")),
    "bias": lambda: crossed(AttentionConfig(heads=2), bias=numbers(3, 5)),
    "bias beside positions": lambda: crossed(
        AttentionConfig(heads=4, kv_heads=1, positions=["alibi", "t5"]), bias=numbers(1, 1, 3, 5)
    ),
    "replacement": lambda: crossed(AttentionConfig(heads=2), replacement=numbers(3, 5)),
    "what if": lambda: crossed(AttentionConfig(heads=2), what_if={"scores": numbers(3, 5), "weights": numbers(3, 5)}),
    "residual": lambda: small(positions=["sinusoidal"], residual=True),
    "heads as a sum": lambda: with_likeness(without_head(crossed(AttentionConfig(heads=4, kv_heads=2)), 1)),
    "heads as a sum, no output projection": lambda: with_contributions(
        crossed(AttentionConfig(heads=2), leave_out=("w_o", "b_o"))
    ),
    "blocked scores filled": lambda: with_empty_row_policy(crossed(AttentionConfig(), allowed=empty_row()), "filled"),
    "blocked scores added to": lambda: with_empty_row_policy(crossed(AttentionConfig(), allowed=empty_row()), "added"),
    "rows that moved": lambda: with_moved_rows(small(), small(masks=["causal"])),
    "a mask that is added": lambda: with_additive_mask(small(masks=["causal"])),
    "sums after dropout": lambda: with_dropout(small(), 0.5, seed=3),
    "gradient x input": lambda: gradient_times_input(small(), Ref("output", (0, 1, 2))),
    "weights written down": lambda: with_rounded_weights(small(), 2),
    "parts of a score": lambda: with_score_parts(small(positions=["sinusoidal"])),
    "composed heads": composed_heads,
    "both passes": lambda: with_both_passes(small(), Encoder("rnn", width=5, both=True), 2),
    "both passes of an LSTM": lambda: with_both_passes(small(), Encoder("lstm", width=5, both=True, keep=2.0), 2),
    "states of a recurrence": lambda: with_states(small(), Encoder("rnn", width=5), shown=2),
    "a convolution": lambda: with_convolution(small(), numbers(5)),
    **{f"part {name}": lambda part=part: part for name, part in small_parts().items()},
    "pushes": lambda: with_logit_sum(small_stack(norms=("layer_norm_after",)))["logit_sum"],
    "pushes on two words": lambda: with_logit_sum(small_stack(kv_heads=1), words=(3, 0))["logit_sum"],
    "pushes of words": lambda: with_word_pushes(small_stack(**ENDS_IN_RMS), 3)["word_pushes"],
    "words alone": words_alone,
    "dropout": lambda: crossed(AttentionConfig(heads=2, dropout=0.5, dropout_seed=3)),
    "keep": lambda: crossed(AttentionConfig(dropout=0.5), keep=empty_row()),
    "large scores": lambda: small(scale=1e4),
    "qkv": lambda: attend_qkv(numbers(3, 6), numbers(5, 6), numbers(5, 10)),
    "qkv, per head": per_head,
    "exponentials": lambda: small().then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX),
    "block by block": lambda: with_online_softmax(
        crossed(AttentionConfig(heads=4, kv_heads=2), allowed=empty_row()), 2
    ),
    "a state": lambda: with_linear_states(
        crossed(AttentionConfig("linear", heads=4, kv_heads=2, normaliser="share", masks=["causal"])), 2
    ),
    "loss": lambda: with_cross_entropy(small(), 1),
    "jacobian": lambda: with_jacobian(crossed(AttentionConfig(), allowed=empty_row())),
    "decoding": lambda: [*decode(numbers(3, 7), config=AttentionConfig(masks=["causal"], positions=["alibi"]))][-1],
    "learned": learned,
    **{f"everything {name}": lambda dtype=dtype: everything(dtype) for name, dtype in DTYPES.items()},
    **{f"cosine {name}": lambda dtype=dtype: small(dtype, score="cosine") for name, dtype in DTYPES.items()},
    **{f"large {name}": lambda dtype=dtype: large(dtype) for name, dtype in DTYPES.items()},
}

# of attention, which documents are made of; the others are parts of a stack
ATTENTION_RUNS = [name for name in RUNS if not name.startswith(("part ", "pushes", "composed"))]


@cache
def trace_of(name: str) -> Trace:
    return RUNS[name]()


@cache
def script_of(name: str, language: str) -> str:
    return code(trace_of(name), language)


def dtype_of(trace: Trace) -> torch.dtype:
    return next(iter(trace.steps.values())).value.dtype


def in_float64(trace: Trace) -> Trace:
    """The same inputs and operations in float64: what the NumPy script must print."""
    steps = {}
    for name, step in trace.steps.items():
        if step.operation is None:
            value = step.value if step.value.dtype == torch.bool else step.value.double()
        else:
            value = step.operation.apply({done: steps[done].value for done in steps})
        steps[name] = Step(name, value, step.dims, step.operation)
    return Trace(steps)


# ---- the processes ---------------------------------------------------------------------------------------------------
def run(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess:
    """A plain Python in the folder: nothing of this repository on its path, every warning an error."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    command = [sys.executable, "-I", "-W", "error", *map(str, arguments)]
    environment |= {"PYTHONPATH": "", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def write(folder: Path, name: str, language: str) -> Path:
    """The script and, where it reads one, its file of inputs, in a folder of their own."""
    folder = folder / re.sub(r"\W", "_", name)
    folder.mkdir()
    text = script_of(name, language)
    (folder / "attention.py").write_text(text, encoding="utf-8")
    if INPUTS_FILE in text:
        (folder / INPUTS_FILE).write_bytes(inputs_npz(trace_of(name)))
    return folder / "attention.py"


def printed(script: Path) -> str:
    """What a script prints in a process of its own."""
    process = run(script.parent, script)
    assert process.returncode == 0, process.stderr
    return process.stdout


# ---- the comparison --------------------------------------------------------------------------------------------------
def literal(text: str) -> np.ndarray:
    """A printed list; Python writes inf and nan, but does not read them."""
    values = ast.literal_eval(re.sub(r"\binf\b", "1e999", re.sub(r"\bnan\b", "None", text)))
    return np.array(values, dtype=bool if "True" in text or "False" in text else np.float64)


def compare(output: str, trace: Trace, tolerance: float) -> None:
    """Every step of the run is printed, in order, with its shape and its numbers; tolerance: of the largest number."""
    blocks = [block.split("\n", 1) for block in output.strip().split("\n\n")]
    assert [block[0].split(" ", 1)[0] for block in blocks] == list(trace.steps), output[-2000:]
    large = sum(step.value.numel() for step in trace.inputs().values()) > MAX_LITERAL_NUMBERS
    for (first, text), (name, step) in zip(blocks, trace.steps.items(), strict=True):
        assert first == f"{name} {tuple(step.value.shape)}"
        value = step.value.detach()
        expected = value.numpy() if value.dtype == torch.bool else value.double().numpy()
        check = compare_start if large or expected.size > MAX_LITERAL_NUMBERS else compare_whole
        actual = torch.from_numpy(check(text, expected, tolerance, name))
        assert torch.equal(actual.to(value.dtype).to(actual.dtype), actual), f"{name} was computed in {value.dtype}"


def compare_whole(text: str, expected: np.ndarray, tolerance: float, name: str) -> np.ndarray:
    actual = literal(text)
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype), name
    assert len(text.splitlines()) == math.prod(expected.shape[:-1]), f"{name}: one row a line"
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * largest(expected), err_msg=name)
    return actual


def compare_start(text: str, expected: np.ndarray, tolerance: float, name: str) -> np.ndarray:
    start, total = (line.partition(": ")[2] for line in text.splitlines())
    actual, atol = literal(start), tolerance * largest(expected)
    np.testing.assert_allclose(actual, expected.reshape(-1)[:6], rtol=0, atol=atol, err_msg=name)
    finite = expected[np.isfinite(expected)]
    assert abs(float(total) - math.fsum(finite)) <= tolerance * np.abs(finite).sum(), name
    return actual


def largest(values: np.ndarray) -> float:
    """The largest magnitude among the finite values."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


# ---- every run, both languages ---------------------------------------------------------------------------------------
def torch_tolerance(name: str) -> float:
    """The low precisions must come out equal; only a file's arrays lie elsewhere in memory, so that sums may round
    otherwise."""
    dtype = dtype_of(trace_of(name))
    if dtype == torch.float64:
        return PRECISION
    return 8 * torch.finfo(dtype).eps if name.startswith("large") else 0.0


ONE_AFTER_THE_OTHER = """
import os, runpy, sys, traceback
for script in sys.argv[1:]:
    os.chdir(os.path.dirname(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except Exception:
        print(traceback.format_exc())
    print("=====")
"""


def compare_in_one_process(folder: Path, expected: dict[Path, tuple[Trace, float]]) -> None:
    """Each script prints every step of its run, to a tolerance; all of them run in one process, one after the other."""
    (folder / "runner.py").write_text(ONE_AFTER_THE_OTHER)
    process = run(folder, "runner.py", *expected)
    assert process.returncode == 0, process.stderr
    failures = {}
    for script, output in zip(expected, process.stdout.split("=====\n")[:-1], strict=True):
        try:
            compare(output, *expected[script])
        except AssertionError as failure:
            failures[script.parent.name] = str(failure)
    assert not failures, "\n".join(f"---- {name}: {failure}" for name, failure in failures.items())


def test_torch_scripts_print_every_step(tmp_path):
    """Importing torch takes seconds, so all scripts share a process."""
    compare_in_one_process(
        tmp_path, {write(tmp_path, name, "torch"): (trace_of(name), torch_tolerance(name)) for name in RUNS}
    )


@pytest.mark.slow  # alone they do as they do together, and a small one runs alone below
@pytest.mark.parametrize("name", ["everything bfloat16", "large float64"])
def test_torch_script_in_a_process_of_its_own(name, tmp_path):
    compare(printed(write(tmp_path, name, "torch")), trace_of(name), torch_tolerance(name))


def test_torch_script_needs_no_numpy(tmp_path):
    script = write(tmp_path, "small", "torch")
    blocked = (
        'import sys, warnings\n\nsys.modules["numpy"] = None\nwarnings.filterwarnings("ignore", "Failed to init")\n'
    )
    script.write_text(blocked + script.read_text(encoding="utf-8"), encoding="utf-8")
    compare(printed(script), trace_of("small"), PRECISION)


def write_without_torch(folder: Path, name: str) -> Path:
    """The NumPy script of a run, which fails in a process that has imported torch."""
    script = write(folder, name, "numpy")
    with script.open("a", encoding="utf-8") as file:
        file.write('\nimport sys\n\nassert "torch" not in sys.modules\n')
    return script


def test_numpy_scripts_print_every_step_without_torch(tmp_path):
    compare_in_one_process(
        tmp_path, {write_without_torch(tmp_path, name): (in_float64(trace_of(name)), PRECISION) for name in RUNS}
    )


@pytest.mark.parametrize("name", ["everything bfloat16", "large float64"])
def test_numpy_script_in_a_process_of_its_own(name, tmp_path):
    compare(printed(write_without_torch(tmp_path, name)), in_float64(trace_of(name)), PRECISION)


def test_every_choice_and_every_operation_is_among_the_runs():
    for kind, table in (("score", SCORES), ("mask", MASKS), ("position", POSITIONS)):
        assert {f"{kind} {name}" for name in table} <= set(RUNS)
    used = {step.operation.faces for name in RUNS for step in trace_of(name).computed().values()}
    defined = {getattr(module, name) for module, name, *_ in every_face()}
    assert used == defined


# ---- the test of the test: a script that is not right does not pass --------------------------------------------------
def spoilt(script: str) -> dict[str, str]:
    """The script with one thing wrong."""
    number = re.search(r"-?\d\.\d{9,}", script)[0]
    helper = script[script.index("def share_heads_numpy") : script.index("# ---- dot")]
    return {
        "a number changed in its eleventh digit": script.replace(number, repr(float(number) + 1e-10), 1),
        "a function left out": script.replace(helper, ""),
        "a step not printed": script.replace('show("weights", weights)\n', ""),
        "a parameter changed": script.replace("factor=0.5,", "factor=0.51,"),
        "another number of heads": script.replace("heads=1", "heads=2", 1),
    }


FAULTS = spoilt(code(trace_of("small"), "numpy"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault, tmp_path):
    assert FAULTS[fault] != code(trace_of("small"), "numpy")
    (tmp_path / "attention.py").write_text(FAULTS[fault], encoding="utf-8")
    with pytest.raises(AssertionError):
        compare(printed(tmp_path / "attention.py"), trace_of("small"), PRECISION)


# ---- the text of a script --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", ["torch", "numpy"])
@pytest.mark.parametrize("name", RUNS)
def test_script_stands_alone(name, language):
    script = script_of(name, language)
    compile(script, "attention.py", "exec")
    for foreign in ("Float[", "Bool[", "jaxtyping", "attention_core", "Tensor", "allow_pickle"):
        assert foreign not in script
    assert ("import torch" in script) == (language == "torch")
    tree = ast.parse(script)
    for node in ast.walk(tree):
        assert getattr(node, "annotation", None) is None
        assert getattr(node, "returns", None) is None
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) == len(set(functions))
    assert not [line for line in script.splitlines() if line != line.rstrip()]
    assert script.endswith(")\n")


@pytest.mark.parametrize("language", ["torch", "numpy"])
def test_comments_titles_and_constants_are_kept(language):
    trace = trace_of("cosine float64")
    script = code(trace, language)
    assert "# ---- cosine: q · k over their lengths (Graves et al. 2014, eq. 6) -" in script
    assert "\nMIN_VECTOR_LENGTH = 1e-8  # shorter vectors count as this long" in script
    assert script.index("\nMIN_VECTOR_LENGTH =") < script.index("\ndef cosine") < script.index("\nscores = cosine")
    sources = [operation_source(step.operation, language) for step in trace.computed().values()]
    comments = [line.partition("  # ")[2] for text in sources for line in text.splitlines() if "  # " in line]
    assert len(comments) > 3
    for comment in comments:
        assert f"  # {comment}\n" in script


def test_wrapped_signatures_are_joined():
    script = code(trace_of("everything float64"), "torch")
    assert "\ndef tanh_layer(q, k, w_aq, w_ak):\n    heads = q.shape[1]" in script
    assert "\ndef project(x, w, b=None):\n" in script
    assert "\ndef all_allow(first, *others):\n" in script


def test_source_and_call_of_one_operation():
    operation = trace_of("small").step("scaled_scores").operation
    assert call_line(operation, "torch") == "scaled_scores = scale(scores, factor=0.5, temperature=1.0)"
    assert call_line(operation, "numpy") == "scaled_scores = scale_numpy(scores, factor=0.5, temperature=1.0)"
    assert operation_source(operation, "torch").startswith(
        'def scale(scores: Float[Tensor, "B H T S"], *, factor: float'
    )
    assert operation_source(operation, "numpy").startswith("def scale_numpy(scores, *, factor, temperature):")


def test_parameters_are_literals():
    assert "base=50.0, scaling" in code(trace_of("rope, halves"), "torch")  # it was np.float64(50.0)
    assert "lengths=(5, 0))" in code(trace_of("mask padding"), "torch")


@pytest.mark.parametrize("dtype", DTYPES)
def test_precision_is_stated(dtype):
    trace = trace_of(f"cosine {dtype}")
    assert f"the run was in {dtype}." in code(trace, "torch")
    assert f"dtype=torch.{dtype})" in code(trace, "torch")
    assert ("into float64" in code(trace, "numpy")) == (dtype != "float64")
    assert ("NumPy has no bfloat16" in code(trace, "numpy")) == (dtype == "bfloat16")


def test_a_large_run_reads_a_file():
    trace = trace_of("large bfloat16")
    for language in ("torch", "numpy"):
        script = code(trace, language)
        assert f'np.load("{INPUTS_FILE}")' in script
        assert 'show_start("weights", weights)' in script
        assert len(script) < 10_000
    with np.load(BytesIO(inputs_npz(trace))) as inputs:
        assert list(inputs) == list(trace.inputs())
        for name, step in trace.inputs().items():
            expected = step.value.float() if step.value.dtype == torch.bfloat16 else step.value
            assert np.array_equal(inputs[name], expected.numpy())
            assert inputs[name].dtype == expected.numpy().dtype


def test_a_small_run_with_a_large_step_keeps_its_literals():
    script = code(attend(numbers(101, 2)), "numpy")
    assert INPUTS_FILE not in script
    assert 'show("x", x)' in script
    assert 'show_start("weights", weights)' in script


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_run_that_was_kept_is_the_same_run(dtype):
    trace = everything(dtype)
    kept = pickle.dumps(trace)
    again = pickle.loads(kept)  # noqa: S301
    assert list(again.steps) == list(trace.steps)
    for name, step in trace.steps.items():
        assert (again[name].dtype, again.step(name).dims) == (step.value.dtype, step.dims), name
        assert torch.equal(again[name], step.value), name
    assert again.reapply("weights").equal(trace["weights"])


def test_a_view_is_kept_as_small_as_it_is():
    wide = Step("scores", torch.zeros(1, 1, 1, 1).expand(2, 3, 50, 70), ("B", "H", "T", "S"))
    again = pickle.loads(pickle.dumps(wide)).value  # noqa: S301
    assert again.shape == (2, 3, 50, 70)
    assert len(pickle.dumps(wide)) < 2000


def test_export_is_repeatable_and_changes_nothing():
    trace = everything(torch.float32)
    before = {name: step.value.clone() for name, step in trace.steps.items()}
    again = pickle.loads(pickle.dumps(trace))  # noqa: S301
    for language in ("torch", "numpy"):
        assert code(trace, language) == code(trace, language) == code(again, language)
    assert inputs_npz(trace) == inputs_npz(again)
    for name, value in before.items():
        assert torch.equal(value, trace[name])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_a_run_on_a_gpu_is_the_same_script():
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    on_cpu, on_gpu = (attend(each, config=AttentionConfig(dropout=0.5)) for each in (x, x.cuda()))
    for language in ("torch", "numpy"):
        assert code(on_cpu, language) == code(on_gpu, language)
    assert inputs_npz(on_cpu) == inputs_npz(on_gpu)


# ---- parts -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("language", ["jax", "", "Torch", None])
def test_an_unknown_language_lists_the_choices(language):
    trace = trace_of("small")
    operation = trace.step("q").operation
    for ask, given_to in ((code, trace), (operation_source, operation), (call_line, operation)):
        with pytest.raises(AttentionError, match="language must be one of torch, numpy") as error:
            ask(given_to, language)
        assert error.value.code == "unknown_choice"


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_number_texts_give_the_number_back(dtype, value):
    tensor = torch.tensor([value], dtype=torch.float64).to(dtype)
    if not tensor.isfinite().all():
        return
    array = (tensor.float() if dtype == torch.bfloat16 else tensor).numpy()
    (short,), (exact,) = number_texts(array, short=True), number_texts(array, short=False)
    assert torch.equal(torch.tensor([float(short)], dtype=dtype), tensor)
    assert float(exact) == tensor.double().item()
    assert isinstance(ast.literal_eval(short), float)


def test_rows_break_where_a_row_ends():
    assert rows(str(np.arange(8).reshape(2, 2, 2).tolist()), 3) == "[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]]"
    assert rows("[1, 2]", 1) == "[1, 2]"


ANNOTATED = [
    ("def f(x: int) -> int:\n    return x", "def f(x):\n    return x"),
    ("def f(x: int = 1, *, y: str = 'a -> b') -> int:\n    pass", "def f(x=1, *, y='a -> b'):\n    pass"),
    (
        "def f(\n    x: 'é',\n    *y: 'é, (B, T)',\n    **z: 'é',\n) -> int:  # é\n    pass",
        "def f(x, *y, **z):  # é\n    pass",
    ),
    (
        "def f(\n    x: 'é',  # why\n    y: int = 2,\n) -> int:\n    pass",
        "def f(\n    x,  # why\n    y=2,\n):\n    pass",
    ),
    ("def f(x):  # -> int\n    y: int = 1  # one\n    return y", "def f(x):  # -> int\n    y = 1  # one\n    return y"),
    ("def f(\n    x,\n    y,\n):\n    # as it is\n    pass", "def f(\n    x,\n    y,\n):\n    # as it is\n    pass"),
    ("def f(\n    x: int = (1, 2), y: str = '({'\n) -> int:\n    pass", "def f(x=(1, 2), y='({'):\n    pass"),
    ("C: dict[str, int] = {'a': 1}  # ours", "C = {'a': 1}  # ours"),
    ("def f(x: int) -> int: return x", "def f(x): return x"),
]


@pytest.mark.parametrize(("text", "plain"), ANNOTATED)
def test_annotations_go_and_the_rest_stays(text, plain):
    assert without_annotations(text) == plain


def test_a_long_signature_keeps_its_lines():
    parameters = "".join(f"    a_parameter_with_a_long_name_{number}: int,\n" for number in range(4))
    text = f"def f(\n{parameters}) -> int:\n    return 0"
    assert without_annotations(text) == text.replace(": int", "").replace(" -> int", "")


# ---- functions from elsewhere ----------------------------------------------------------------------------------------
MODULE = """
import math
from math import sqrt as root

import numpy as np

HALF: float = 1 / 2  # a half
HALF_ROOT = root(HALF)


def helper(x: float) -> float:
    return [math for math in [x]][0] * HALF_ROOT + <number>


def <name>(x):
    np = 1  # a local name, no import
    return helper(x) * np


def <name>_numpy(x):
    return helper(np.asarray(x))
"""


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Two modules of operations, each with a `helper` of its own."""
    names = ("export_one", "export_two")
    for number, name in enumerate(names):
        text = MODULE.replace("<name>", name).replace("<number>", str(number))
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield [importlib.import_module(name) for name in names]
    for name in names:
        del sys.modules[name]


def faces_of(module) -> Faces:
    """The module's torch and NumPy face; the other two play no part here."""
    return Faces(getattr(module, module.__name__), getattr(module, f"{module.__name__}_numpy"), str, str)


def made_of(*faces: Faces, x: str = "x") -> Trace:
    """A run of these operations on x."""
    steps = {x: Step(x, torch.ones(2), ("n",))}
    for number, each in enumerate(faces):
        name = f"y_{number}"
        steps[name] = Step(name, torch.ones(2), ("n",), Operation(name, ("n",), (x,), each))
    return Trace(steps)


def test_all_that_a_function_needs_comes_along_and_no_more(modules, tmp_path):
    script = code(made_of(faces_of(modules[1])), "numpy")
    assert "\nHALF = 1 / 2  # a half\n\n\nHALF_ROOT = root(HALF)\n\n\ndef helper(x):\n" in script
    assert "\nfrom math import sqrt as root\nimport numpy as np\n" in script
    assert "import math\n" not in script  # a comprehension's own name
    (tmp_path / "attention.py").write_text(script, encoding="utf-8")
    last = printed(tmp_path / "attention.py").splitlines()[-1]
    np.testing.assert_allclose(literal(last), [0.5**0.5 + 1] * 2, rtol=PRECISION)
    assert "import numpy" not in code(made_of(faces_of(modules[1])), "torch")  # its np is a local name


def test_two_things_of_one_name_are_refused(modules):
    one, two = map(faces_of, modules)
    assert code(made_of(one), "torch") != code(made_of(two), "torch")
    with pytest.raises(ValueError, match="helper is defined in export_one and export_two"):
        code(made_of(one, two), "torch")


def test_a_function_that_hides_a_builtin_is_refused(modules, tmp_path):
    path = tmp_path / "export_three.py"
    path.write_text("def sum(x):\n    return x\n\n\ndef export_three(x):\n    return sum(x)\n", encoding="utf-8")
    module = importlib.import_module("export_three")
    with pytest.raises(ValueError, match="sum of export_three"):
        code(made_of(Faces(module.export_three, module.export_three, str, str)), "torch")


@pytest.mark.parametrize("name", ["helper", "root", "sum", "inputs", "show", "two words", "lambda", "np"])
def test_a_step_hides_nothing(modules, name):
    with pytest.raises(ValueError, match="a step"):
        code(made_of(faces_of(modules[0]), x=name), "numpy")


@pytest.mark.parametrize("other", [lambda x: x, dict, math.sqrt], ids=["a lambda", "a class", "a builtin"])
def test_a_face_must_be_found_again_by_its_name(modules, other):
    with pytest.raises(ValueError, match="must be a function of a module"):
        code(made_of(Faces(other, other, str, str)), "torch")


@pytest.mark.parametrize("value", [math.inf, math.nan, [1, {}], np.zeros(2), torch.float64], ids=str)
def test_a_parameter_must_be_plain(modules, value):
    with pytest.raises(ValueError, match="a parameter must be"):
        call_line(Operation("y", ("n",), ("x",), faces_of(modules[0]), {"p": value}), "numpy")
