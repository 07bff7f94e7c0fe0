"""Detects whether a proxy forwards requests to the app, which then opens no folder whose path a visitor types."""

from starlette.middleware import Middleware

from pages.site.forwarding import note_forwarding


class NotedForwarding:
    """ASGI middleware that passes the header names of each request to note_forwarding, which recognises a proxy."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """Checks the header names of one ASGI connection for those that a proxy adds, then forwards it to the app."""
        note_forwarding([name for name, _ in scope.get("headers", ())])
        await self.app(scope, receive, send)


noted = Middleware(NotedForwarding)
