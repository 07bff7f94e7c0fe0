"""Parses the formats of pasted matrices: each parser splits a text into cells, row by row."""
