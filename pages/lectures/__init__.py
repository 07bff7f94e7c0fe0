"""A lecture as data, and where a session stands in it."""
