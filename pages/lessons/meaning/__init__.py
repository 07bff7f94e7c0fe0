"""The lesson on meaning: whether a head shows what a model answers."""
