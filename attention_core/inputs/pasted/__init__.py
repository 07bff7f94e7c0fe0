"""The forms in which people paste a matrix: each is taken apart into cells of text, row by row."""
