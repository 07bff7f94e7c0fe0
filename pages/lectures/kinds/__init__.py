"""The kinds of scenes: a module each, with what the scene shows, and how that stands in a file."""
