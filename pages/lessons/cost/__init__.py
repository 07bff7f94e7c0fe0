"""The lesson on cost: what attention costs."""
