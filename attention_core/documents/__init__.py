"""Files that the visitor downloads: numbers, LaTeX, notebooks, handouts, pictures, a page for phones."""
