"""The page "Spot the bug", on a layer whose numbers are wrong because of one line of its code."""
