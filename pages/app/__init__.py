"""The code around every page: router, middleware, security, and imports at the start of the server."""
