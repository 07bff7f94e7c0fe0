"""Stores tables of slow measurements (minutes each) in JSON files with one line per row."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

Key = TypeVar("Key")
Row = TypeVar("Row")


@dataclass(frozen=True, eq=False)
class MeasuredTable(Generic[Key, Row]):
    """A table of measurements in a JSON file, with one row per key.

    record: the dataclass of a row. measure: a function that makes the row of a key. fields: the names of a row's fields
    that together are its key; the file is then a list of rows. If `fields` is empty, the key is a name outside the row,
    and the file maps names to rows.
    """

    file: Path
    record: type[Row]
    measure: Callable[[Key], Row]
    fields: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> dict[Key, Row]:
        """The rows of the file by key; {} if the file does not exist."""
        if not self.file.exists():
            return {}
        stored = json.loads(self.file.read_text("utf-8"))
        if self.fields:
            stored = {tuple(row[field] for field in self.fields): row for row in stored}
        return {key: self.record(**row) for key, row in stored.items()}

    def measure_again(self, key: Key) -> None:
        """Measure the row of a key, and replace only this row in the file."""
        row = self.measure(key)
        vars(self).pop("rows", None)  # read again, because another process may have written a row
        self.rows[key] = row
        self.file.write_text(self.format_rows(), "utf-8")

    def format_rows(self) -> str:
        """Return the JSON text of the rows, sorted by key."""
        lines = []
        for key in sorted(self.rows):
            line = json.dumps(asdict(self.rows[key]))
            lines.append(line if self.fields else f"{json.dumps(key)}: {line}")
        opening, closing = "[]" if self.fields else "{}"
        return f"{opening}\n" + ",\n".join(lines) + f"\n{closing}\n"
