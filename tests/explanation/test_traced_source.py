"""Listings: the source stays as it is, and every shape, stride and count in a comment is what a hand works out."""

import ast
import inspect
import re
import sys
import threading

import numpy as np
import pytest
import torch

from attention_core import AttentionError
from attention_core.explanation.scripts import face_function, operation_source, tensor_to_numpy
from attention_core.explanation.traced_source import NumpyProxy, function_listing, listing, watch_call
from attention_core.mechanism.masks import ALL_ALLOW, MASKS
from attention_core.mechanism.operations import MASK, MERGE, MIX, PASS_ON, PROJECT, SPLIT
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import ADDITIVE, SCORES, TANH_LAYER
from attention_core.record.trace import Operation
from tests.explanation.test_scripts import RUNS, trace_of
from tests.house.test_house import every_face

LANGUAGES = ("torch", "numpy")
COMMENT = re.compile(r" *#   ")


def zeros(*shape, **how):
    return torch.zeros(shape, **how)


def made_by(faces, *operands, **params):
    """The comments of both listings, the torch one first, without their signs."""
    names = tuple(f"x{n}" for n in range(len(operands)))
    operation = Operation("y", (), names, faces, params)
    return [remarks(listing(operation, dict(zip(names, operands, strict=True)), language)) for language in LANGUAGES]


def remarks(text):
    """The comments of a listing."""
    return [COMMENT.sub("", line, count=1) for line in text.splitlines() if COMMENT.match(line)]


# ---- every operation there is ----------------------------------------------------------------------------------------
OPERATIONS = [(name, step) for name in RUNS for step in trace_of(name).computed()]


def operands_of(name, step):
    trace = trace_of(name)
    return {read: trace[read] for read in trace.step(step).operation.reads}


def test_the_runs_hold_every_operation_of_every_table():
    there = {id(trace_of(name).step(step).operation.faces) for name, step in OPERATIONS}
    missing = [
        f"{module.__name__}.{name}"
        for module, name, kind, _ in every_face()
        if kind == "torch" and id(getattr(module, name)) not in there
    ]
    assert missing == []
    assert all(id(operation.faces) in there for score in SCORES.values() for operation in score.operations)
    assert all(id(table.faces) in there for table in (*MASKS.values(), *POSITIONS.values()))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", RUNS)
def test_every_step_is_listed_as_it_ran(name, language):
    for step, found in trace_of(name).computed().items():
        operation, operands = found.operation, operands_of(name, step)
        before = {read: (tensor.clone(), tensor.stride(), tensor._version) for read, tensor in operands.items()}
        text = listing(operation, operands, language)
        ast.parse(text)
        own = text.split("\n\n\n")[0]
        assert "\n".join(line for line in own.splitlines() if not COMMENT.match(line)) == operation_source(
            operation, language
        )
        last = remarks(own)[-1]
        assert re.split(": |; ", last)[-1].startswith(f"{tuple(found.value.shape)}, strides "), (step, last)
        for read, (numbers, strides, version) in before.items():
            assert torch.equal(operands[read], numbers), (step, read)
            assert (operands[read].stride(), operands[read]._version) == (strides, version)


@pytest.mark.parametrize("name", RUNS)
def test_what_is_listed_gives_what_the_operation_gives(name):
    for step, found in trace_of(name).computed().items():
        operation, operands = found.operation, operands_of(name, step)
        seen = watch_call(operation.faces.torch, [operands[read] for read in operation.reads], operation.params)
        assert torch.equal(seen.result, operation.apply(operands)), step
        assert seen.result.dtype == found.value.dtype and seen.result.stride() == operation.apply(operands).stride()
        arrays = {read: tensor_to_numpy(tensor) for read, tensor in operands.items()}
        seen = watch_call(operation.faces.numpy, [arrays[read] for read in operation.reads], operation.params)
        expected = operation.apply_numpy(arrays)
        assert type(seen.result) is np.ndarray and seen.result.dtype == expected.dtype
        assert np.array_equal(seen.result, expected) and seen.result.strides == expected.strides, step


# ---- every expression, against one that evaluates the source piece by piece ------------------------------------------
class Piecewise:
    """A function's statements one after another, each expression by itself: what it makes, and where it stands."""

    def __init__(self, function, operands, params):
        lines, first = inspect.getsourcelines(function)
        tree = ast.increment_lineno(ast.parse("".join(lines)), first - 1)
        bound = inspect.signature(function).bind(*operands, **params)
        bound.apply_defaults()
        self.names, self.made = {**function.__globals__, **bound.arguments}, {}
        self.run(tree.body[0].body)

    def run(self, statements):
        """Whether the function has returned."""
        for statement in statements:
            if isinstance(statement, ast.If):
                if self.run(statement.body if self.value(statement.test) else statement.orelse):
                    return True
            elif isinstance(statement, ast.For):
                for item in self.value(statement.iter):
                    self.assign(statement.target, item)
                    assert not self.run(statement.body)
            elif isinstance(statement, ast.Return):
                self.value(statement.value)
                return True
            elif isinstance(statement, ast.Assign):
                value = self.value(statement.value)
                for target in statement.targets:
                    self.assign(target, value)
            else:
                is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                assert is_docstring, f"write with =, if, for and return alone: {ast.unparse(statement)}"
        return False

    def assign(self, target, value):
        self.execute(ast.Assign([target], ast.Name("value", ast.Load())), value=value)

    def execute(self, statement, **names):
        self.names |= names
        code = compile(ast.fix_missing_locations(ast.Module([statement], [])), "<piece>", "exec")
        exec(code, self.names)

    def value(self, node):
        """Of an expression; those in it first, from left to right."""
        if isinstance(node, ast.IfExp):
            return self.value(node.body if self.value(node.test) else node.orelse)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            (loop,) = node.generators
            found = []
            for item in self.value(loop.iter):
                self.assign(loop.target, item)
                found.append(self.value(node.elt))
            return found
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.keyword):
                self.value(part.value)
            elif isinstance(part, ast.expr):
                self.value(part.value if isinstance(part, ast.Starred) else part)
        self.execute(ast.Assign([ast.Name("piece", ast.Store())], node))
        value = self.names["piece"]
        if isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript | ast.Attribute):
            tensors = value if isinstance(value, list | tuple) else [value]
            if tensors and all(isinstance(tensor, torch.Tensor | np.ndarray) for tensor in tensors):
                place = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
                self.made.setdefault(place, []).append([facts(tensor) for tensor in tensors])
        return value


def facts(tensor):
    """Shape and strides in numbers."""
    strides = tensor.stride() if isinstance(tensor, torch.Tensor) else np.divide(tensor.strides, tensor.itemsize)
    return tuple(tensor.shape), tuple(map(int, strides))


def facts_told(text):
    """The same, read off a comment."""
    found = re.findall(r"(\([\d, ]*\)), strides (\([-\d, ]*\))", text)
    return [(ast.literal_eval(shape), ast.literal_eval(strides)) for shape, strides in found]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", RUNS)
def test_every_expression_that_makes_a_tensor_has_its_line_in_the_order_of_evaluation(name, language):
    for step, found in trace_of(name).computed().items():
        operation, function = found.operation, face_function(found.operation, language)
        read = operands_of(name, step)
        operands = [read[each] for each in operation.reads]
        operands = operands if language == "torch" else [tensor_to_numpy(operand) for operand in operands]
        pieces = Piecewise(function, operands, operation.params).made
        seen = watch_call(function, operands, operation.params).ran[function.__code__].made
        returned = list(seen)[len(pieces) :]  # what is given back, and was not made there
        assert len(returned) <= 1 and list(seen)[: len(pieces)] == list(pieces), step
        for place, made in pieces.items():
            assert [sorted(set(facts_told(text))) for text in seen[place]] == [sorted(set(one)) for one in made], step


# ---- what the comments say, worked out by hand -----------------------------------------------------------------------
def test_split_is_a_view_whose_axes_change_places():
    operation = Operation("q", (), ("x",), SPLIT, {"heads": 2})
    assert listing(operation, {"x": zeros(1, 7, 4)}, "torch") == (
        'def split_heads(x: Float[Tensor, "B T width"], *, heads: int) -> Float[Tensor, "B H T d"]:\n'
        "    #   x: (1, 7, 4), strides (28, 4, 1)\n"
        "    #   heads: 2\n"
        '    """Cuts the columns into blocks, one per head: head h gets the h-th block."""\n'
        "    B, T, width = x.shape\n"
        "    x = x.view(B, T, heads, width // heads)  # (B, T, H, d)\n"
        "    #   x.view(B, T, heads, width // heads): (1, 7, 2, 2), strides (28, 4, 2, 1)\n"
        "    return x.transpose(1, 2)  # (B, H, T, d)\n"
        "    #   x.transpose(1, 2): (1, 2, 7, 2), strides (28, 2, 4, 1), not contiguous"
    )


def test_the_twin_splits_into_a_list():
    assert made_by(SPLIT, zeros(1, 7, 6), heads=3)[1] == [
        "x: (1, 7, 6), strides (42, 6, 1)",
        "heads: 3",
        "np.split(x, heads, axis=-1): (1, 7, 2), strides (42, 6, 1), not contiguous, 3 of them",
        "np.stack(blocks, axis=1): (1, 3, 7, 2), strides (42, 14, 2, 1)",
    ]


def test_a_helper_is_one_expression_and_is_listed_once_behind_its_caller():
    weights, v = zeros(1, 6, 5, 7), zeros(1, 2, 7, 3)
    operation = Operation("y", (), ("weights", "v"), MIX)
    mix, share = listing(operation, {"weights": weights, "v": v}, "torch").split("\n\n\n")
    assert remarks(mix) == [
        "weights: (1, 6, 5, 7), strides (210, 35, 7, 1)",
        "v: (1, 2, 7, 3), strides (42, 21, 3, 1)",
        "share_heads(v, heads): (1, 6, 7, 3), strides (126, 21, 3, 1)",
        "weights @ v: (1, 6, 5, 3), strides (90, 15, 3, 1)",
    ]
    expanded = "(1, 2, 3, 7, 3), strides (42, 21, 0, 3, 1), broadcast along axis 2, not contiguous"
    assert share.startswith("def share_heads(") and remarks(share) == [
        "x: (1, 2, 7, 3), strides (42, 21, 3, 1)",
        "heads: 6",
        "x.unsqueeze(2): (1, 2, 1, 7, 3), strides (42, 21, 21, 3, 1)",
        f"x.expand(B, kv_heads, group, S, d): {expanded}",
        "x.reshape(B, heads, S, d): (1, 6, 7, 3), strides (126, 21, 3, 1)",
    ]
    mix, share = listing(operation, {"weights": weights, "v": v}, "numpy").split("\n\n\n")
    assert remarks(mix)[2] == "share_heads_numpy(v, heads): (1, 6, 7, 3), strides (126, 21, 3, 1)"
    assert share.startswith("def share_heads_numpy(x, heads):") and remarks(share) == [
        "x: (1, 2, 7, 3), strides (42, 21, 3, 1)",
        "heads: 6",
        "np.repeat(x, group, axis=1): (1, 6, 7, 3), strides (126, 21, 3, 1)",
    ]


def test_helpers_of_helpers_follow_in_the_order_in_which_they_were_called():
    trace = trace_of("score cosine")
    operands = {"q": trace["q"], "k": trace["k"]}
    names = {"torch": ["cosine", "dot", "share_heads"], "numpy": ["cosine_numpy", "dot_numpy", "share_heads_numpy"]}
    for language in LANGUAGES:
        text = listing(trace.step("scores").operation, operands, language)
        assert re.findall(r"^def (\w+)", text, re.MULTILINE) == names[language]


def test_a_broadcast_shows_in_an_axis_of_length_1_and_in_a_stride_of_0():
    q, k, w_aq, w_ak = zeros(2, 3, 5, 11), zeros(2, 3, 7, 13), zeros(11, 17), zeros(13, 17)
    ours, twin = made_by(TANH_LAYER, q, k, w_aq, w_ak)
    assert "from_q.unsqueeze(3): (2, 3, 5, 1, 17), strides (255, 85, 17, 17, 1)" in ours
    assert "from_q.unsqueeze(3) + from_k.unsqueeze(2): (2, 3, 5, 7, 17), strides (1785, 595, 119, 17, 1)" in ours
    assert "from_q[:, :, :, None]: (2, 3, 5, 1, 17), strides (255, 85, 17, 0, 1)" in twin
    spread = "(3, 11, 17), strides (0, 17, 1), broadcast along axis 0, not contiguous"
    assert f"np.broadcast_to(w_aq, (heads, *w_aq.shape[-2:])): {spread}" in twin
    ours, _ = made_by(MASK, zeros(2, 3, 5, 7), zeros(1, 1, 5, 7, dtype=torch.bool))
    assert ours == [
        "scores: (2, 3, 5, 7), strides (105, 35, 7, 1)",
        "allowed: (1, 1, 5, 7), strides (35, 35, 7, 1)",
        'torch.where(allowed, scores, float("-inf")): (2, 3, 5, 7), strides (105, 35, 7, 1)',
    ]
    assert made_by(ADDITIVE, zeros(2, 3, 5, 7, 17), zeros(17))[0][2] == ("v_a.unsqueeze(-1): (17, 1), strides (1, 1)")


def test_a_transposed_operand_keeps_its_strides_in_both():
    x = zeros(2, 5, 3, 11).transpose(1, 2)
    for comments in made_by(MERGE, x):
        assert comments[0] == "x: (2, 3, 5, 11), strides (165, 11, 33, 1), not contiguous"
    assert made_by(MERGE, x)[1][1] == "x[:, h]: (2, 5, 11), strides (165, 33, 1), not contiguous, 3 times"


def test_what_a_loop_makes_stands_once_with_a_count():
    ours, _ = made_by(
        MASKS["local_global"].faces, zeros(2, 3, 5, 7), window=1, global_tokens=(0, 2, 4, 6), query_offset=2
    )
    assert "j == token: (7,), strides (1,), 4 times" in ours
    assert "allowed | (query == token) | (j == token): (5, 7), strides (7, 1), 4 times" in ours
    assert "abs(query - j) <= window: (5, 7), strides (7, 1)" in ours
    sizes = "(2,), strides (1,); (3,), strides (1,); (5,), strides (1,); (7,), strides (1,)"
    assert f"torch.arange(size, device=scores.device): {sizes}" in ours


def test_a_branch_that_was_not_taken_has_no_line():
    same = "scores: (2, 3, 5, 7), strides (105, 35, 7, 1)"
    for comments in made_by(MASK, zeros(2, 3, 5, 7)):
        assert comments == [same, "allowed: None", same]
    text = listing(Operation("y", (), ("x",), MASK), {"x": zeros(2, 3, 5, 7)}, "torch")
    assert text.index("return scores\n        #   scores: (2, 3, 5, 7)") < text.index("    return torch.where(")
    assert [len(comments) for comments in made_by(PROJECT, zeros(2, 5, 3), zeros(3, 7))] == [4, 5]


def test_operands_that_are_passed_on_are_told_where_they_are_given_back():
    for comments in made_by(PASS_ON, zeros(3, 1).expand(3, 2)):
        assert comments == ["x: (3, 2), strides (1, 0), broadcast along axis 1, not contiguous"] * 2
    ours, _ = made_by(ALL_ALLOW, *(zeros(1, 1, 5, 7, dtype=torch.bool) for _ in range(3)))
    assert ours == [
        "first: (1, 1, 5, 7), strides (35, 35, 7, 1)",
        "others: (1, 1, 5, 7), strides (35, 35, 7, 1), 2 of them",
        "first & other: (1, 1, 5, 7), strides (35, 35, 7, 1), 2 times",
    ]


def test_an_array_that_was_filled_afterwards_is_told_where_it_is_given_back():
    _, twin = made_by(POSITIONS["sinusoidal"].faces, zeros(2, 5, 7), base=100.0, first_position=0)
    assert twin[-2:] == [
        "cosines[:, : D // 2]: (5, 3), strides (4, 1), not contiguous",
        "table: (5, 7), strides (7, 1)",
    ]


# ---- functions of one's own ------------------------------------------------------------------------------------------
def doubled(x):
    return x + x


def in_several_lines(x, *, sign="×"):
    """A text of two bytes stands before the calls."""
    both, width = (
        torch.cat(
            [
                doubled(x),
                x.abs() if sign == "×" else -x,
            ],
            dim=-1,
        ),
        x.shape[-1],
    )
    highest = both.topk(2)
    x += 1
    return highest.values[..., :width]


def refusing(x):
    y = doubled(x)
    return "×" if y is None else y.T.view(-1)


def counting(x):
    return len(x.shape)


def breaking(x):
    return x["no index"]


def folding(x, *, factor=2):
    total = x[0]
    for row in x[1:]:
        total = np.add(total, row)
    parts = [x[:size] for size in (3, 2, 2, 3)]
    return total if total[:1] == 0 else total * factor + len(parts)


def test_any_function_of_a_module_is_listed():
    own, helper = function_listing(in_several_lines, {"x": zeros(3, 5)}, {"sign": "×"}).split("\n\n\n")
    assert remarks(own) == [
        "x: (3, 5), strides (5, 1)",
        "sign: '×'",
        "doubled(x): (3, 5), strides (5, 1)",
        "x.abs(): (3, 5), strides (5, 1)",
        'torch.cat([doubled(x), x.abs() if sign == "×" else -x,], dim=-1,): (3, 10), strides (10, 1)',
        "both.topk(2): (3, 2), strides (2, 1), 2 of them",
        "x += 1: (3, 5), strides (5, 1)",
        "highest.values[..., :width]: (3, 2), strides (2, 1)",
    ]
    assert remarks(helper) == ["x: (3, 5), strides (5, 1)", "x + x: (3, 5), strides (5, 1)"]
    ast.parse(own)
    assert remarks(function_listing(counting, {"x": zeros(3, 5)})) == ["x: (3, 5), strides (5, 1)"]


def test_what_torch_refuses_is_told_where_it_stands():
    with pytest.raises(RuntimeError) as refused:
        refusing(zeros(3, 5))
    text = function_listing(refusing, {"x": zeros(3, 5)})
    assert "view size is not compatible" in str(refused.value)
    assert remarks(text.split("\n\n\n")[0])[-2:] == [
        "y.T: (5, 3), strides (1, 5), not contiguous",
        f"y.T.view(-1): RuntimeError: {refused.value}",
    ]


def test_arrays_of_ones_own_behave_as_arrays():
    assert remarks(function_listing(folding, {"x": np.ones((3, 5))})) == [
        "x: (3, 5), strides (5, 1)",
        "factor: 2",
        "x[0]: (5,), strides (1,)",
        "x[1:]: (2, 5), strides (5, 1)",
        "np.add(total, row): (5,), strides (1,), 2 times",
        "x[:size]: (3, 5), strides (5, 1); (2, 5), strides (5, 1), 2 times; (3, 5), strides (5, 1)",
        "total[:1]: (1,), strides (1,)",
        "total[:1] == 0: (1,), strides (1,)",
        "total * factor: (5,), strides (1,)",
        "total * factor + len(parts): (5,), strides (1,)",
    ]
    assert watch_call(folding, [np.ones((3, 5))], {}).result.tolist() == [10.0] * 5


# ---- where tracing fails ---------------------------------------------------------------------------------------------
def broken(*_):
    raise RuntimeError("not in this Python")


BROKEN_PARTS = {
    "no profile function": (sys, "setprofile"),
    "no arguments of a frame": (inspect, "getargvalues"),
    "no syntax tree": (ast, "parse"),
    "no wrapped array": (NumpyProxy, "__call__"),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", BROKEN_PARTS)
def test_where_tracing_fails_the_plain_source_is_shown(part, language, monkeypatch):
    operation, operands = Operation("y", (), ("x",), SPLIT, {"heads": 2}), {"x": zeros(1, 7, 4)}
    traced = listing(operation, operands, language)
    with monkeypatch.context() as patch:
        patch.setattr(*BROKEN_PARTS[part], broken)
        text = listing(operation, operands, language)
    needs_no_proxy = part == "no wrapped array" and language == "torch"
    assert text == (traced if needs_no_proxy else operation_source(operation, language))
    assert remarks(traced) and sys.getprofile() is None and modes() == 0


def test_where_tracing_fails_a_refusal_of_torch_stands_below_the_source(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(inspect, "getargvalues", broken)
        text = function_listing(refusing, {"x": zeros(3, 5)})
    source, _, remark = text.rpartition("\n")
    assert source == inspect.getsource(refusing).rstrip()
    assert remark.startswith("    #   RuntimeError: view size is not compatible")


def test_where_tracing_fails_an_error_of_the_function_is_raised_all_the_same(monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(IndexError):
        patch.setattr(inspect, "getargvalues", broken)
        function_listing(breaking, {"x": zeros(3, 5)})


# ---- what stays as it was --------------------------------------------------------------------------------------------
def test_an_unknown_language_is_refused():
    with pytest.raises(AttentionError) as refused:
        listing(Operation("y", (), ("x",), PASS_ON), {"x": zeros(1)}, "jax")
    assert refused.value.code == "unknown_choice"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool])
def test_strides_are_in_numbers_in_every_precision(dtype):
    for comments in made_by(PASS_ON, zeros(3, 5, dtype=dtype).T):
        assert comments == ["x: (5, 3), strides (1, 5), not contiguous"] * 2


def test_no_gradient_is_asked_for_or_changed():
    x, w = zeros(2, 3, 5).requires_grad_(), zeros(5, 7).requires_grad_()
    assert not watch_call(PROJECT.torch, [x, w], {}).result.requires_grad
    assert made_by(PROJECT, x, w)[0][3] == "x @ w: (2, 3, 7), strides (21, 7, 1)"
    assert x.requires_grad and x.grad is None and torch.is_grad_enabled()


def modes():
    return torch._C._len_torch_function_stack()


@pytest.mark.parametrize("function, error", [(doubled, None), (refusing, None), (breaking, IndexError)])
def test_the_thread_is_left_as_it_was(function, error):
    noted = []

    def profile(frame, event, value):
        noted.append(event)

    sys.setprofile(profile)
    try:
        if error:
            with pytest.raises(error):
                function_listing(function, {"x": zeros(3, 5)})
        else:
            function_listing(function, {"x": zeros(3, 5)})
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert noted and modes() == 0
    assert sys.modules["attention_core.mechanism.operations"].np is np


def test_sessions_list_beside_each_other():
    """Eight threads, each its own steps, while others compute: what each says is what it says alone."""
    runs = ["score cosine", "score additive", "all masks and allowed", "everything float32"]
    work = [(name, language) for name in runs for language in LANGUAGES]
    start, found, errors = threading.Barrier(len(work)), {}, []

    def texts(name, language):
        steps = trace_of(name).computed()
        return [listing(steps[step].operation, operands_of(name, step), language) for step in steps]

    def session(name, language):
        try:
            start.wait()
            found[name, language] = [texts(name, language) for _ in range(3)]
            assert sys.getprofile() is None and modes() == 0
        except BaseException as error:
            errors.append(error)
            raise

    alone = {key: texts(*key) for key in work}
    threads = [threading.Thread(target=session, args=key) for key in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all(again == alone[key] for key in work for again in found[key])
    assert sys.getprofile() is None and modes() == 0
