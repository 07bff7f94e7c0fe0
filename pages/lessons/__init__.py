"""The lessons, each in a separate folder, and the page that surrounds every lesson."""
