"""What the trained networks show: their attention as a run, and what their predictions depend on."""
