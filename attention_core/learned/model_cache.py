"""Defines the cache of the included language models and translators, and of what they compute for texts."""

from attention_core.record.bounded_cache import BoundedCache

# One limit for all. The longest sentence takes 4 MB with all steps of all layers, and 27 MB with what each part adds to
# each word's logits; a model takes 2 to 4 MB.
MODEL_CACHE = BoundedCache(most_bytes=128 * 2**20, most=1024)
