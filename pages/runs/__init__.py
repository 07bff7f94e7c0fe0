"""Converts a Setup to tensors; computes and caches its Trace."""
