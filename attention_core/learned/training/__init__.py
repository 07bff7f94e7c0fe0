"""How the networks are trained, kept and shipped."""
