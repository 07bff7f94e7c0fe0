"""The export panel and the links from one page to another."""
