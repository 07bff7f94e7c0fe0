"""The training of the networks, the saving of checkpoints, and the networks that are included in the package."""
