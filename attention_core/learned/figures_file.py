"""Figures that take minutes to measure, stored in a JSON file with one line per measured network."""

import json
from pathlib import Path


def write_row(file: Path, name: str, row: dict[str, object]) -> None:
    """Write the figures of a network into a JSON file, and keep those of other networks; lines are sorted by name."""
    rows = json.loads(file.read_text("utf-8")) if file.exists() else {}
    rows[name] = row
    lines = [f"{json.dumps(each)}: {json.dumps(rows[each])}" for each in sorted(rows)]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
