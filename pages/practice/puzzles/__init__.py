"""The page "Puzzles": each is solved by changing a few numbers of a head."""
