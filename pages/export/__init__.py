"""The export panel and the doors from one page to another."""
