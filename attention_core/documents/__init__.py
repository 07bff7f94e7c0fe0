"""Files to take away: numbers, LaTeX, notebooks, handouts, pictures, a page for phones."""
