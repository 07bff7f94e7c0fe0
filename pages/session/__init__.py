"""One visitor's session: the Setup on the screen, its history, the parts of the page, clicked cells, the address."""
