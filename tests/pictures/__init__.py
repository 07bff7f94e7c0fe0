"""The pictures of the README and the tour, taken from the running app: `python -m tests.pictures` writes them to docs."""
