"""Converts a Setup to tensors, computes its Trace, and caches it."""
