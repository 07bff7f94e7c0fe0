"""Arrays out of uploaded files: NumPy's formats, JSON, safetensors, and which of the arrays are q, k and v."""
