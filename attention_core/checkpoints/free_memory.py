"""Finds how much memory this process may still take, before a model is loaded."""

import re
from pathlib import Path

ROOT = Path("/")
KB = 1024
LINE = re.compile(r"^(\S+)\s+([0-9]+)", re.MULTILINE)  # a name and a number at the start of a line


def find_free_bytes(root: Path = ROOT) -> int | None:
    """Return the bytes of memory that are free: on this machine, or in this process's container if that is less.

    Memory that only caches files counts as free. None if the system does not state it, as outside Linux. root: the
    folder that contains proc/meminfo and sys/fs/cgroup. Source: proc_meminfo(5); Linux kernel documentation, Control
    Group v2, "Memory Interface Files".
    """
    machine = read_counts(root / "proc/meminfo").get("MemAvailable:")
    group = root / "sys/fs/cgroup"
    most, used = (read_number(group / name) for name in ("memory.max", "memory.current"))
    found = [] if machine is None else [machine * KB]
    if most is not None and used is not None:
        cached = read_counts(group / "memory.stat").get("inactive_file", 0)
        found.append(max(0, most - used + cached))
    return min(found, default=None)


def read_counts(path: Path) -> dict[str, int]:
    """Return {name: number} of a file with a name and a number in each line; {} if it cannot be read."""
    try:
        found = LINE.findall(path.read_text())
    except (OSError, ValueError):
        return {}
    return {name: int(number) for name, number in found}


def read_number(path: Path) -> int | None:
    """Return the number in a file; None if it has no number or cannot be read, as the file of a group without limit."""
    try:
        text = path.read_text().strip()
    except (OSError, ValueError):
        return None
    return int(text) if text.isdecimal() else None
