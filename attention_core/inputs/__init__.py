"""Reads the user's input: sentences, matrices as text, changed cells, uploaded files; and builds heads by hand."""
