"""Reads what people bring: sentences, matrices as text, changed cells, uploaded files; and builds heads by hand."""
