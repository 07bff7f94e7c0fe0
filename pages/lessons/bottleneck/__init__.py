"""The lesson on one vector: one vector, or attention."""
