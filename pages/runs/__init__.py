"""Conversion of a Setup to tensors; computation and caching of its Trace."""
