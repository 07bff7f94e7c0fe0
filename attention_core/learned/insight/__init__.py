"""What a trained network shows: its attention as inputs of a run, attributions, copying heads, exchanged weights."""
