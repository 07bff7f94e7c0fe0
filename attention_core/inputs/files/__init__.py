"""Reads arrays from uploaded files (text, JSON, NumPy's formats and safetensors), and finds q, k and v among them."""
