"""Attention as courses write it: each module is a script of its own, shown and run as it stands."""
