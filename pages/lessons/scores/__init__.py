"""The lesson on scores: scores."""
