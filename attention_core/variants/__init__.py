"""Computes attention in other ways, or replaces it: a KV cache, blocks, sparse masks, recurrences, and their costs."""
