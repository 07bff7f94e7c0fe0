"""Faults planted into the code, one at a time, to see whether the tests find them: `python -m tests.planted_faults`."""
