"""What a checker of types sees of attention_core is what there is; mypy checks tests/deploy/typed_use.py in .ci/run."""

import ast
import inspect

import pytest

import attention_core
from attention_core.mechanism.config import LEARNED_TENSORS
from tests.browser.conftest import ROOT
from tests.house.test_house import CORE, nodes, tree

USE = ROOT / "tests" / "deploy" / "typed_use.py"


def test_every_name_that_is_listed_is_used_in_what_mypy_checks():
    used = {node.attr for node in nodes(USE, ast.Attribute)}
    assert {*attention_core.__all__} - used == set()


def declared_for_checkers():
    """(class, its __init__) of every class that declares one for checkers of types alone."""
    for path in CORE:
        for kind in nodes(path, ast.ClassDef):
            for block in (each for each in kind.body if isinstance(each, ast.If)):
                yield from ((kind.name, each) for each in block.body if getattr(each, "name", "") == "__init__")


DECLARED = dict(declared_for_checkers())


def test_they_are_the_configs():
    assert {*DECLARED} == {name for name in attention_core.__all__ if name.endswith("Config")} - {"LayerConfig"}


@pytest.mark.parametrize("name", DECLARED)
def test_an_init_for_checkers_takes_what_the_class_takes(name):
    given = DECLARED[name].args
    defaults = [inspect.Parameter.empty] * (len(given.args) - 1 - len(given.defaults))
    defaults += [ast.literal_eval(default) for default in given.defaults]
    taken = inspect.signature(getattr(attention_core, name)).parameters.values()
    declared = [argument.arg for argument in given.args[1:]]
    assert [*zip(declared, defaults, strict=True)] == [(each.name, each.default) for each in taken]


def test_the_weights_for_checkers_are_those_of_projections():
    """The further ones have names that only a run knows: checkers see that each is a tensor or None."""
    config = next(path for path in CORE if path.name == "config.py" and path.parent.name == "mechanism")
    (declared,) = [
        node
        for top in tree(config).body
        if isinstance(top, ast.If)
        for node in top.body
        if isinstance(node, ast.ClassDef)
    ]
    names = [argument.arg for argument in declared.body[1].args.args[1:]]
    taken = [*inspect.signature(attention_core.Weights).parameters]
    assert taken[: len(names)] == names and declared.body[1].args.kwarg.arg == "learned"
    assert {*taken[len(names) :]} == {*LEARNED_TENSORS}
