"""When visitors have left, the memory that their pages took goes back to the system."""

import asyncio

from starlette.middleware import Middleware

from pages.runs.freed_memory import give_back

PAUSE = 0.3  # seconds after a connection has ended: by then its run has, too, and a room that leaves is a few


class LeftVisitors:
    """Gives memory back when a connection has ended: once a pause, however many end in it."""

    def __init__(self, app):
        self.app = app
        self.is_due = False

    async def __call__(self, scope, receive, send) -> None:
        """One connection, as ASGI has it."""
        try:
            await self.app(scope, receive, send)
        finally:
            if scope["type"] == "websocket" and not self.is_due:
                self.is_due = True
                asyncio.get_running_loop().call_later(PAUSE, self.begin)

    def begin(self) -> None:
        """Gives memory back beside the server, which goes on answering."""
        self.is_due = False
        asyncio.get_running_loop().run_in_executor(None, give_back)


memory_back = Middleware(LeftVisitors)
