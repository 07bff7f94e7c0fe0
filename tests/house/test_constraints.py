"""constraints.txt pins every package that an installation of all requirements files brings, and nothing else."""

import re
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ("requirements.txt", "requirements-models.txt", "tests/requirements.txt")


def pins(name: str) -> dict[str, str]:
    """What a file of requirements pins: version by package."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)$", text, re.MULTILINE))


def needed(names: Iterable[str]) -> dict[str, str]:
    """The packages of these names and all that they need on this machine, with the version that is installed."""
    waiting, found = [(name, "") for name in names], {}
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in found:
            continue
        installed = distribution(name)
        found[name, extra] = Version(installed.version).public  # without +cpu, the build of torch
        for line in installed.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(requirement.name), each) for each in ("", *requirement.extras)]
    return {name: version for (name, _), version in found.items()}


# Not every system needs these; those of the second line keep passwords for twine on Linux.
OTHER_SYSTEMS = {"colorama", "appnope", "pexpect", "ptyprocess", "pywin32-ctypes", "watchdog"}
OTHER_SYSTEMS |= {"cffi", "cryptography", "jeepney", "pycparser", "secretstorage"}


def test_every_package_that_is_installed_is_pinned_at_its_version():
    pinned = pins("constraints.txt")
    installed = needed(name for file in REQUIREMENTS for name in pins(file))
    assert installed.items() <= pinned.items()
    assert pinned.keys() - installed.keys() <= OTHER_SYSTEMS


def test_all_files_of_requirements_read_the_constraints():
    for name in REQUIREMENTS:
        (line,) = re.findall(r"^-c (.+)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        assert (ROOT / name).parent.joinpath(line).resolve() == ROOT / "constraints.txt"
