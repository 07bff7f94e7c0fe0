"""The page "Puzzles": the visitor solves each puzzle by changing a few numbers of a head."""
