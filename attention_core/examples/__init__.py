"""The worked examples included in the package, with their vectors and matrices."""
