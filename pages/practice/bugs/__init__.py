"""Contains the page "Spot the bug": a layer whose numbers are wrong because of one line of its code."""
