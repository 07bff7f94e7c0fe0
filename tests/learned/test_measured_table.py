"""Tables of measured figures: a row is measured and written, the others stay, and shipped files are written as read."""

from dataclasses import dataclass

import pytest

from attention_core.learned.depth.block_figures import BLOCK_FIGURES
from attention_core.learned.language.checkpoints import STEP_FIGURES
from attention_core.learned.language.fill_in_middle import MIDDLE_FIGURES
from attention_core.learned.language.head_figures import HEAD_FIGURES
from attention_core.learned.language.removed_parts import REMOVED_FIGURES
from attention_core.learned.measured_table import MeasuredTable
from attention_core.learned.training.head_counts import OVERFITTING, STABILITY
from attention_core.learned.training.mixed_precision import PRECISION_FIGURES
from attention_core.learned.training.wider_vector import WIDER_VECTOR

SHIPPED = (
    BLOCK_FIGURES,
    STEP_FIGURES,
    MIDDLE_FIGURES,
    HEAD_FIGURES,
    REMOVED_FIGURES,
    OVERFITTING,
    STABILITY,
    PRECISION_FIGURES,
    WIDER_VECTOR,
)


@dataclass(frozen=True)
class Share:
    """A row with a name."""

    share: float


@dataclass(frozen=True)
class HeadsAtRate:
    """A row with its key."""

    heads: int
    rate: float
    share: float


@pytest.mark.parametrize("table", SHIPPED, ids=lambda table: table.file.stem)
def test_the_rows_of_a_shipped_file_give_its_bytes(table):
    assert table.rows and table.format_rows().encode() == table.file.read_bytes()


def test_a_row_is_written_among_the_others_one_line_each(tmp_path):
    measured = {"a": Share(0.25), "b": Share(0.5)}
    table = MeasuredTable(tmp_path / "figures.json", Share, measured.get)
    assert table.rows == {}
    table.measure_again("b")
    table.measure_again("a")
    measured["b"] = Share(0.75)
    table.measure_again("b")
    assert table.file.read_text("utf-8") == '{\n"a": {"share": 0.25},\n"b": {"share": 0.75}\n}\n'
    assert table.rows == measured


def test_rows_with_their_key_are_a_list_in_the_order_of_the_keys(tmp_path):
    table = MeasuredTable(tmp_path / "rates.json", HeadsAtRate, lambda key: HeadsAtRate(*key, 0.5), ("heads", "rate"))
    for key in ((2, 0.1), (1, 0.3), (1, 0.1)):
        table.measure_again(key)
    first, *others = table.file.read_text("utf-8").splitlines()[1:-1]
    assert first == '{"heads": 1, "rate": 0.1, "share": 0.5},' and len(others) == 2
    again = MeasuredTable(table.file, HeadsAtRate, table.measure, table.fields)
    assert [*again.rows] == [(1, 0.1), (1, 0.3), (2, 0.1)] and again.rows == table.rows


def test_a_row_that_another_process_wrote_meanwhile_stays(tmp_path):
    one, other = (MeasuredTable(tmp_path / "figures.json", Share, lambda _: Share(0.5)) for _ in range(2))
    one.measure_again("a")
    other.measure_again("b")
    one.measure_again("c")
    assert {*one.rows} == {"a", "b", "c"}
