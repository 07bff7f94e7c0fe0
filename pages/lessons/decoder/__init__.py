"""The lesson of the decoder: it sees only what stands before, and asks the other sentence by cross-attention."""
