"""What the three lessons about trained networks share."""
