"""Reading arrays from uploaded files: text, JSON, NumPy's formats and safetensors, and finding q, k and v in them."""
