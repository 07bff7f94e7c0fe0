"""Code that every page needs: the router that chooses the page, security headers, and imports at the start of the
server.
"""
