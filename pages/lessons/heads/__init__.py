"""The lesson on heads: many heads."""
