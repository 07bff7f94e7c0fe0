"""Code around every page: it chooses the page, sets security headers, and imports modules at the start of the
server.
"""
