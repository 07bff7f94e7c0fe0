"""Calls costly functions in processes of their own, at low priority, so that other visitors do not wait for them."""
