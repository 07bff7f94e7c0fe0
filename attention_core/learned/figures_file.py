"""Figures that took minutes to measure, kept in a JSON file: a line for each network that was measured."""

import json
from pathlib import Path


def write_row(file: Path, name: str, row: dict[str, object]) -> None:
    """Write the figures of a network into a file; those of the others stay. Lines stand in the order of their names."""
    rows = json.loads(file.read_text("utf-8")) if file.exists() else {}
    rows[name] = row
    lines = [f"{json.dumps(each)}: {json.dumps(rows[each])}" for each in sorted(rows)]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
