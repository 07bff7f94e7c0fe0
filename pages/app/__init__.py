"""Code that every page needs: the router that chooses the page, security headers, and the imports of heavy modules when
the server starts.
"""
