"""Functions that analyse trained networks: their attention as a run, attributions, copying heads, replaced weights."""
