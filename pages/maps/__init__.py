"""The page with attention maps of any model: from an uploaded file, whose weights cannot be recomputed, or from a
model.
"""
