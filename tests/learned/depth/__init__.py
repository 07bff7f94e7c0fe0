"""Tests of deep stacks of small blocks."""
