"""The code around every page: the router, middleware, security, imports at the start."""
