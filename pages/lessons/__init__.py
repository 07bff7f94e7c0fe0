"""The lessons, each in a separate folder, and the page frame around them."""
