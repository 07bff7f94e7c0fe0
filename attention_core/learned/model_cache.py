"""Defines the cache for the included language models and translators, and for their results on texts."""

from attention_core.record.bounded_cache import BoundedCache

# One limit for all results: a run takes at most 4 MB, split by part and word 27 MB, and a model 2 to 4 MB.
MODEL_CACHE = BoundedCache(most_bytes=128 * 2**20, most=1024)
