"""Small updates: which a precision loses, by NumPy's own neighbours of 1."""

import numpy as np
import pytest

from attention_core.verification.precision import (
    add_updates,
    repeat_update,
    smallest_number,
    spacing_after_one,
)
from attention_core.verification.proof import prove

NUMPY = {"float16": np.float16, "float32": np.float32}


@pytest.mark.parametrize("dtype", NUMPY)
def test_an_update_of_at_most_half_the_way_to_the_next_number_is_lost(dtype):
    one = NUMPY[dtype](1)
    way = float(np.nextafter(one, NUMPY[dtype](2))) - 1
    assert spacing_after_one(dtype) == way
    assert smallest_number(dtype) == np.nextafter(NUMPY[dtype](0), one)
    trace = add_updates(1.0, (way, way / 2, way / 4), dtype)
    assert trace["moved"].tolist() == [1 + way, 1, 1]
    assert float(one + NUMPY[dtype](way / 2)) == 1


def test_many_lost_updates_are_kept_by_a_master():
    assert repeat_update(1.0, 2.0**-12, 512, "float16", "float16") == 1
    assert repeat_update(1.0, 2.0**-12, 512, "float16", "float32") == 1.125
    assert prove(add_updates(1.0, (2.0**-9, 2.0**-12), "float16")).passed
