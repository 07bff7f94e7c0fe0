"""The lesson on positions: positions."""
