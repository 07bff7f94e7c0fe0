"""The lessons, a folder for each, and the frame around every lesson's page."""
