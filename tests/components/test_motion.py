"""How a movement begins and ends."""

from tests.components.in_node import call_in_node


def test_a_movement_that_eases_in_and_out_goes_from_0_to_1_without_a_leap():
    shares = call_in_node("flow/motion", "(times) => times.map(easeInOut)", [0, 0.25, 0.5, 0.75, 1])
    assert shares == [0, 1 / 16, 1 / 2, 15 / 16, 1]  # 4 x^3, and turned round from the middle on
