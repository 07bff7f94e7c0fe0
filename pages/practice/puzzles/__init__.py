"""Contains the page "Puzzles": each puzzle is solved by changing a few numbers of a head."""
