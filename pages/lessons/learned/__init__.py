"""Code that the three lessons about trained networks share."""
