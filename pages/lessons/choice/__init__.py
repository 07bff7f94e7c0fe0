"""Which attention for which task."""
