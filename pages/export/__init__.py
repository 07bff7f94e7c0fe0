"""The export panel, and buttons that open a run on another page."""
