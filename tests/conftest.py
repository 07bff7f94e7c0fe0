"""What all tests share: one torch thread a worker, the same random examples in every run, seeds, slow tests, device."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests.operations_on import OperationsOn

torch.set_num_threads(1)  # xdist has one worker a core already

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "many", max_examples=100_000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")  # the other one by --hypothesis-profile=many


@pytest.fixture
def generator() -> torch.Generator:
    """Seeded randomness, the test's own."""
    return torch.Generator().manual_seed(0)


CORE = Path(__file__).parents[1] / "attention_core"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--device cuda`: the tests of the core run their operations there."""
    parser.addoption("--device", default="cpu", help="where the tests of attention_core run: cpu, cuda or mps")


def tests_the_core(room: Path) -> bool:
    """Returns whether a folder of tests, or one that it lies in, has the name of a room of the core."""
    return any((CORE / folder.name).is_dir() for folder in (room, *room.parents) if folder.parent.name == "tests")


@pytest.fixture(autouse=True)
def operations_run_on_the_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs the operations of a test of the core on the device that was asked for."""
    device = request.config.option.device
    if device == "cpu" or not tests_the_core(request.path.parent):
        yield
        return
    with OperationsOn(device):
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Leaves out the slow tests where folders are run; a file that is named runs whole, and `-m slow` them alone."""
    folders = all(Path(argument).is_dir() for argument in config.args)
    if folders and not config.option.markexpr:
        config.option.markexpr = "not slow"
    if config.option.markexpr == "slow":
        config.option.doctestmodules = False  # no example of a docstring bears a mark


def has_slow_tests(path: Path) -> bool:
    """Returns whether a file of tests marks some of them as slow."""
    return "mark.slow" in path.read_text(encoding="utf-8")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out files without slow tests where only these are run: most of the time to collect went into them."""
    slow_alone = config.option.markexpr == "slow"
    return True if slow_alone and collection_path.suffix == ".py" and not has_slow_tests(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuses a slow test, such as one with a mark of another file, that pytest_ignore_collect would leave out."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    if left_out := sorted(str(path) for path in slow if not has_slow_tests(path)):
        raise pytest.UsageError(f"no pytest.mark.slow stands in {', '.join(left_out)}, which has slow tests")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Looks for no garbage while it collects, which takes a third less time; what is collected stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)  # a test makes few circles and many objects
        gc.enable()
