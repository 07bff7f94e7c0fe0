"""The list of pages, and the functions that return the app's texts by key and language."""
