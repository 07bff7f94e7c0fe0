"""From a Setup to tensors, and to a Trace that is kept."""
