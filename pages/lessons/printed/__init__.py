"""The lesson on the worked example: a printed example."""
