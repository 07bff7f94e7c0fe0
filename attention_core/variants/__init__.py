"""Other ways to compute or replace attention: a KV cache, blocks, sparse masks, recurrences, and their costs."""
