"""The lesson on query, key and value: query, key, value."""
