"""The lesson on distance: how far words reach."""
