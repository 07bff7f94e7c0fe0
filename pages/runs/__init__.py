"""Converts a Setup to tensors and computes and caches its Trace."""
