"""Computes attention in other ways, or other layers instead of it: a KV cache, blocks, sparse patterns, recurrences,
and their costs.
"""
