"""Writes the files that the visitor downloads: numbers, LaTeX, notebooks, handouts, pictures, and a page for phones."""
