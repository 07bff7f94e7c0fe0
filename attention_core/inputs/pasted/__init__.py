"""The formats of pasted matrices: each is split into cells of text, row by row."""
