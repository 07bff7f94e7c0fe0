"""The list of pages, and every word of the app by key and language."""
