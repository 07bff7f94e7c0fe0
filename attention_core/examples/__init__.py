"""The examples that come along, with their vectors and matrices."""
