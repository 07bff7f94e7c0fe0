"""Other ways to compute attention, or to replace it: a KV cache, blocks, sparse masks, recurrences, and their costs."""
