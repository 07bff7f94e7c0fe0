"""Shows attention maps from an uploaded file of any model: they are measured, but cannot be recomputed."""
