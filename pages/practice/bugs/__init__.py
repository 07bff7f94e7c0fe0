"""Spot the bug: the numbers of a layer in which one line is wrong."""
