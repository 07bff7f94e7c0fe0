"""How the networks are trained, saved and shipped."""
