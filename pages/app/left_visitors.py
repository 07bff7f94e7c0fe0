"""Returns unused memory to the operating system after visitors have left."""

import asyncio

from starlette.middleware import Middleware

from pages.runs.freed_memory import give_back

PAUSE = 0.3  # seconds from the close of a websocket to the release of memory; one release may follow several closes


class LeftVisitors:
    """ASGI middleware that returns unused memory to the operating system after a websocket has closed, at most once per
    PAUSE.
    """

    def __init__(self, app):
        self.app = app
        self.is_due = False

    async def __call__(self, scope, receive, send) -> None:
        """Forwards one ASGI connection; after a websocket ends, schedules the release of memory PAUSE seconds later."""
        try:
            await self.app(scope, receive, send)
        finally:
            if scope["type"] == "websocket" and not self.is_due:
                self.is_due = True
                asyncio.get_running_loop().call_later(PAUSE, self.begin)

    def begin(self) -> None:
        """Starts a thread that releases the memory, so that the server keeps answering requests."""
        self.is_due = False
        asyncio.get_running_loop().run_in_executor(None, give_back)


memory_back = Middleware(LeftVisitors)
