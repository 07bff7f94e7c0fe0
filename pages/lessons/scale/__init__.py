"""The lesson on the scale: the scale."""
