"""Reads worked examples that were printed in publications, with their numbers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class PrintedExample:
    """A worked example from a publication: its printed numbers by step, the decimals of each step, and its source."""

    steps: Mapping[str, Tensor]
    decimals: Mapping[str, int]
    source: str


def read_printed(entries: Mapping[str, dict]) -> Mapping[str, PrintedExample]:
    """Parse the printed examples into {name of the example in the app: PrintedExample}."""
    examples = {}
    for name, entry in entries.items():
        steps = {}
        for step, numbers in entry["steps"].items():
            steps[step] = torch.tensor(numbers, dtype=torch.float64)
        examples[name] = PrintedExample(
            MappingProxyType(steps),
            MappingProxyType(entry["decimals"]),
            entry["source"],
        )
    return MappingProxyType(examples)


PRINTED_FILE = Path(__file__).with_name("printed.json")
PRINTED_EXAMPLES = read_printed(json.loads(PRINTED_FILE.read_text(encoding="utf-8")))
