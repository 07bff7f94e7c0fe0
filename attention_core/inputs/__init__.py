"""Reads the user's input: sentences, matrices as text, changed cells, uploaded files; builds heads by hand."""
