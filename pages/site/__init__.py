"""The list of pages, the search index, and the functions that return the app's texts by key and language."""
