"""The lessons, each in its own folder, and the page frame around them."""
