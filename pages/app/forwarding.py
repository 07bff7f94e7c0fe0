"""Looks whether a proxy hands requests on to the app, so that it then opens no folder that a visitor names."""

from starlette.middleware import Middleware

from pages.site.forwarding import note_forwarding


class NotedForwarding:
    """ASGI middleware that looks at the names of the headers of each request."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """Handle one ASGI connection."""
        note_forwarding([name for name, _ in scope.get("headers", ())])
        await self.app(scope, receive, send)


noted = Middleware(NotedForwarding)
