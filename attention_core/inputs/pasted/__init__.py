"""Parses the formats in which matrices are pasted; each parser splits a text into cells, row by row."""
