"""The list of pages, and the texts of the app by key and language."""
