"""What stands around every page: the router, security, the warm-up."""
