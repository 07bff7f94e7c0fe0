"""The lesson on decoding with a key/value cache."""
