"""Parsers of the formats of pasted matrices. Each parser splits a text into cells, row by row."""
