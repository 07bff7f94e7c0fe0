"""Modules that sample the kinds of text ("sorts" in the code), with one function for each kind."""
