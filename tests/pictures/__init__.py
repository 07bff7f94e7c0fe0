"""The pictures of the documents, taken from the running app: `python -m tests.pictures` writes them to docs."""
