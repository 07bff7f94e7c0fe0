"""Calls costly functions in separate processes with low priority, so that other visitors need not wait."""
