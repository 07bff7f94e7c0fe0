"""The built wheel in an environment that has nothing but what it declares: complete, the core alone, the app.

The packages that it declares, and those that these declare, are links into the environment of the tests, so nothing is
downloaded and a package that is missing from the declaration is missing there.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import Distribution, distribution, distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.benchmarks.visitor import visiting
from tests.browser.conftest import ROOT, free_port, wait_for_health
from tests.house.test_constraints import pins
from tests.house.test_readme import BLOCK

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CORE = ("torch", "numpy", "jaxtyping")
SHIPPED = ("attention_core", "pages", ".streamlit")
NEEDED = ("app.py", "pyproject.toml", "LICENSE", "docs/package.md")
# A package and settings of another project.
FOREIGN = "raise RuntimeError('the package pages of another project')\n"
FOREIGN_SETTINGS = "[client]\nallowedOrigins = ['https://foreign.example']\n"


# ---- what is declared ------------------------------------------------------------------------------------------------
def test_the_extras_pin_what_the_files_of_requirements_pin():
    """The app and models were tested with these versions alone; the core has bounds, which hold the tested versions."""
    extras, app = PROJECT["project"]["optional-dependencies"], pins("requirements.txt")
    tested = {canonicalize_name(name): version for name, version in app.items()}
    declared = {name: dict(line.split("==") for line in lines) for name, lines in extras.items()}
    assert declared["app"] == {name: version for name, version in app.items() if name not in CORE}
    assert pins("requirements-models.txt").items() <= declared["models"].items()
    for name, lines in declared.items():
        assert lines.items() <= {**tested, **pins("requirements-models.txt")}.items(), name
    for line in PROJECT["project"]["dependencies"]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(tested[requirement.name]), line
    assert {Requirement(line).name for line in PROJECT["project"]["dependencies"]} == {*CORE}


def test_the_build_needs_the_setuptools_that_is_tested():
    assert PROJECT["build-system"]["requires"] == [f"setuptools=={pins('constraints.txt')['setuptools']}"]


# ---- the wheel -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of a copy of the code, so that nothing is left in the checkout."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in SHIPPED:
        shutil.copytree(ROOT / name, copy / name)
    for name in NEEDED:
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    run_pip("wheel", str(copy), "--no-deps", "--no-build-isolation", "--wheel-dir", str(out))
    (built,) = out.glob("*.whl")
    return built


def run_pip(*arguments):
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)


def bare_environment(folder, wheel, extra=""):
    """A virtual environment with the wheel and what it declares, without and with an extra; gives its programs."""
    venv.create(folder, symlinks=os.name != "nt")
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    run_pip("--python", str(programs / "python"), "install", "--no-deps", "--no-index", str(wheel))
    (site,) = folder.glob("**/site-packages")
    (own,) = distributions(path=[str(site)])
    for needed in declared_by(own, extra):
        for top in {file.parts[0] for file in needed.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(needed.locate_file(top))
    return programs


def declared_by(own: Distribution, extra: str) -> list[Distribution]:
    """The packages that an installation brings: each declared by another, in a version that fits all declarations."""
    waiting, found = [(own, extra), (own, "")], {}
    while waiting:
        package, chosen = waiting.pop()
        if (package.name, chosen) in found:
            continue
        found[package.name, chosen] = package
        for requirement in map(Requirement, package.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": chosen}):
                brought = distribution(requirement.name)
                assert requirement.specifier.contains(Version(brought.version).public, prereleases=True), requirement
                waiting += [(brought, each) for each in ("", *requirement.extras)]
    return [package for package in found.values() if package is not own]


@pytest.mark.slow
def test_the_wheel_has_every_file_of_core_and_app_and_nothing_else(wheel):
    listed = subprocess.run(["git", "ls-files", *SHIPPED, "app.py"], cwd=ROOT, capture_output=True, text=True)
    files = [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    wanted = {name if name.startswith("attention_core/") else f"attention_explorer/{name}" for name in files}
    assert len(files) > 900
    assert {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name} == wanted
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel)], check=True)


ALONE = """
import sys
unwanted = {"streamlit", "altair", "pandas", "transformers", "safetensors"}
import importlib.util
assert not [name for name in unwanted if importlib.util.find_spec(name)]
import attention_core
print(attention_core.__file__)
"""
SHOWN = """
is_drawn = all("<td" in shown._repr_html_() for shown in (trace.labelled(T=("Anna", "it", "dog")), prove(trace)))
print(trace["weights"].shape, prove(trace).passed, is_drawn)
"""


@pytest.mark.slow
def test_the_core_alone_runs_the_notebook_lines_of_the_readme(wheel, tmp_path):
    programs = bare_environment(tmp_path / "bare", wheel)
    ran = run_in(programs, ALONE + BLOCK + SHOWN, tmp_path)
    where, *_, last = ran.splitlines()
    assert where.startswith(str(tmp_path)) and last == "torch.Size([1, 1, 3, 3]) True True"
    assert "masked_softmax_numpy" in ran
    asked = subprocess.run([programs / "attention-explorer"], cwd=tmp_path, capture_output=True, text=True)
    assert asked.returncode == 1
    assert asked.stderr == "The app needs packages that are not installed: pip install 'attention-explorer[app]'\n"


def run_in(programs, code, folder):
    """What a script prints in an environment."""
    ran = subprocess.run([programs / "python", "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


@pytest.mark.slow
def test_the_command_starts_the_app_beside_another_projects_pages(wheel, tmp_path):
    programs = bare_environment(tmp_path / "bare", wheel, "app")
    project = tmp_path / "project"
    for folder, name, text in (
        ("pages", "__init__.py", FOREIGN),
        (".streamlit", "config.toml", FOREIGN_SETTINGS),
    ):
        (project / folder).mkdir(parents=True)
        (project / folder / name).write_text(text)
    port = free_port()
    command = [programs / "attention-explorer", "--port", str(port), "--server.address", "127.0.0.1"]
    settings = os.environ | {"PYTHONPATH": str(project)}
    with subprocess.Popen(
        command, cwd=project, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for_health(address, process)
            with urllib.request.urlopen(f"{address}/_stcore/host-config", timeout=60) as answer:
                origins = json.load(answer)["allowedOrigins"]
            with ThreadPoolExecutor(max_workers=1) as thread:  # a browser test may have left a loop running in this one
                widgets = thread.submit(asyncio.run, first_screen(address)).result()
        finally:
            process.kill()
        said = process.stdout.read().decode()
    assert origins == []  # of .streamlit/config.toml, not of the project
    assert "c_temperature" in widgets
    assert re.search(rf"http://\S+:{port}", said) and "Traceback" not in said, said


async def first_screen(address):
    """The names of the controls on the first screen."""
    async with visiting(address) as visitor:
        return set(visitor.widgets)
