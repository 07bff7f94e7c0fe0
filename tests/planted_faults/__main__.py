"""Plants faults and runs the tests of the rooms that import what is broken, as often as there are faults.

    python -m tests.planted_faults 9eb7925b before.json          draws them, and says which the tests find
    python -m tests.planted_faults 9eb7925b after.json before.json   plants those that `before` found once more

It works in copies of the commit that is checked out, never in the working tree. It takes hours on two cores; stopped
and called again, it goes on with the next fault.
"""

import ast
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from queue import Queue

from tests.planted_faults.sites import Fault, javascript_faults, python_faults

ROOT = Path(__file__).parents[2]
IN_CORE, IN_PAGES = 100, 40  # faults that are drawn
COPIES = 2  # of the code, in which faults are planted at a time
MOST_SECONDS = 1200  # of the tests of one fault; one that makes them hang is found
SCRIPT_ROOMS = {  # by folder of pages/components: which tests run its scripts
    "flow": ("components", "browser/panels", "browser/session", "browser/workbench"),
    "lessons": ("components", "browser/panels", "browser/lessons"),
    "live": ("components", "browser/panels", "browser/lessons"),
    "model": ("components", "browser/workbench", "browser/lessons"),
    "practice": (
        "components",
        "browser/practice",
    ),
    "": (
        "components",
        "browser/panels",
        "browser/app",
        "browser/workbench",
        "browser/maps",
        "browser/practice",
        "browser/presentation",
    ),
}


def offered(root: Path) -> tuple[list[Fault], list[Fault]]:
    """Every fault of the core, and every one of pages and their JavaScript."""
    core = [fault for path in sorted((root / "attention_core").rglob("*.py")) for fault in _faults_of(path, root)]
    pages = [fault for path in sorted((root / "pages").rglob("*.py")) for fault in _faults_of(path, root)]
    scripts = [fault for path in sorted((root / "pages").rglob("*.js")) for fault in _faults_of(path, root)]
    return core, pages + scripts


def _faults_of(path: Path, root: Path) -> list[Fault]:
    read = python_faults if path.suffix == ".py" else javascript_faults
    return read(str(path.relative_to(root)), path.read_text(encoding="utf-8"))


def draw_faults(commit: str, root: Path) -> list[Fault]:
    """The faults that the hash of a commit draws."""
    drawn = random.Random(int(commit[:6], 16))
    core, pages = offered(root)
    return drawn.sample(core, IN_CORE) + drawn.sample(pages, IN_PAGES)


def rooms_of(fault: Fault, root: Path) -> list[str]:
    """The folders of tests of the room of a file, and of the rooms that import it; its own room first."""
    path = Path(fault.path)
    if path.suffix == ".js":
        return list(SCRIPT_ROOMS["/".join(path.parts[2:-1]).split("/")[0]])
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    rooms = [path.parts[1]]
    for other in sorted((root / path.parts[0]).rglob("*.py")) + sorted((root / "pages").rglob("*.py")):
        if module in _imported(other):
            rooms.append(other.relative_to(root).parts[1])
    return [room for room in dict.fromkeys(rooms) if (root / "tests" / room).is_dir()]


@cache
def _imported(path: Path) -> frozenset[str]:
    """The modules that a file imports, by their whole names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return frozenset(found)


def find_fault(fault: Fault, root: Path) -> str:
    """Plants a fault, and takes it away again. What found it: the first red test; "" if all are green."""
    if not fault.plant(root):
        return "its line is gone"
    rooms = rooms_of(fault, root)
    marks = ["-m", "slow or not slow"] if fault.path.endswith(".js") else []  # what only a browser sees is mostly slow
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *marks]
    command += [f"tests/{room}" for room in rooms]
    try:
        return _first_red(command, root)
    finally:
        subprocess.run(["git", "checkout", "-q", "--", fault.path], cwd=root, check=True)


def _first_red(command: list[str], root: Path) -> str:
    running = subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {"REQUIRE_BROWSER": "1"},  # skipped for want of a browser, its tests would find nothing
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = running.communicate(timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return "nothing was red until time was up"
    red = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "" if running.returncode == 0 else (red or said.splitlines() or ["it ended"])[-1][:300]


def find_faults(faults: list[Fault]) -> Iterator[dict[str, object]]:
    """Each fault with what found it, as they come."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(COPIES) as threads:
        free: Queue[Path] = Queue()
        for number in range(COPIES):
            copy = Path(folder) / str(number)
            subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
            free.put(copy)

        def find(fault: Fault) -> dict[str, object]:
            copy = free.get()
            found = find_fault(fault, copy)
            free.put(copy)
            return {**asdict(fault), "found": found}

        yield from threads.map(find, faults)


def main(commit: str, to: str, before: str | None = None) -> None:
    """Writes what found each fault into a file of JSON, after each; where the file begins already, it goes on there."""
    if before is None:
        faults = draw_faults(commit, ROOT)
    else:
        known = json.loads(Path(before).read_text(encoding="utf-8"))
        faults = [Fault(**{k: v for k, v in each.items() if k != "found"}) for each in known if is_red(each["found"])]
    done = json.loads(Path(to).read_text(encoding="utf-8")) if Path(to).exists() else []
    for each in find_faults(faults[len(done) :]):
        done.append(each)
        print(len(done), each["path"], each["line"].strip(), "->", each["wrong"], "|", each["found"] or "NOT FOUND")
        Path(to).write_text(json.dumps(done, indent=1, ensure_ascii=False), encoding="utf-8")
    print(sum(is_red(each["found"]) for each in done), "of", len(done), "found")


def is_red(found: str) -> bool:
    """Whether a test was red."""
    return found not in ("", "its line is gone", "nothing was red until time was up")


main(*sys.argv[1:])
