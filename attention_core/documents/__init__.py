"""Files that a reader takes away: numbers, LaTeX, notebooks, handouts, pictures, a page for phones."""
