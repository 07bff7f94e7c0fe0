"""The lesson on decoding: decoding with a cache."""
