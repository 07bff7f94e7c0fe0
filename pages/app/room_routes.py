"""Routes of a lecture's rooms: the page of the audience, its events and answers, and where the lecturer stands.

A browser that follows costs no script run: it gets the whole lecture once, and then a short message for each move.
"""

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from pages.app import warming
from pages.app.security import is_foreign_origin
from pages.classroom.rooms import MAX_CHOICES, ROOMS, Key, Place, RoomRefused, Told
from pages.components.messages import AnyOf, Maybe, Number, OneOf, Shape, Text, Whole, read

MAX_PLACE_BYTES = 16_000  # bytes of a message that says where a lecturer stands
SECRET_HEADER = "x-room-secret"
TAKEN, FORBIDDEN, NOT_FOUND, CLOSED, TOO_LARGE, UNREADABLE, UNAVAILABLE = 204, 403, 404, 409, 413, 422, 503
PRIVATE = {"Cache-Control": "no-store"}
EVENT_HEADERS = {**PRIVATE, "X-Accel-Buffering": "no"}  # nginx would otherwise hold events back
# The page has a policy of its own, which allows its own scripts alone; this one adds who may show it in a frame.
PAGE_HEADERS = {**PRIVATE, "Content-Security-Policy": "frame-ancestors 'self'"}
MAX_PLACE = 2**20
CELL_ON_MAP = {"row": Whole(0, MAX_PLACE), "column": Whole(0, MAX_PLACE)}
PLACE = {
    "scene": Whole(1, MAX_PLACE),
    "step": Text(20),
    "look": AnyOf(
        (
            None,
            {
                "head": Whole(0, MAX_PLACE),
                "query": Whole(0, MAX_PLACE),
                "view": OneOf(("flow", "map")),
                "step": Text(200),
                "stop": Number(0, 1000),
                "cell": AnyOf((None, CELL_ON_MAP)),
            },
        )
    ),
    "link": Maybe(Text(6_000)),
}

ANSWER = {"scene": Whole(1, MAX_PLACE), "choice": Whole(0, MAX_CHOICES - 1), "browser": Text(32)}


# ---- the audience ----------------------------------------------------------------------------------------------------
async def send_page(request: Request) -> Response:
    """Returns the response with the page of the room that the address names; else the page that asks for a code."""
    code = request.query_params.get("room", "")
    room = ROOMS.find(code)
    if room is None:
        page = await run_in_threadpool(make_join_page, request.headers.get("accept-language", ""), code)
        return Response(page, NOT_FOUND if code else 200, PAGE_HEADERS, "text/html")
    if "gzip" in request.headers.get("accept-encoding", "gzip"):  # a middleware may have left the header out
        return Response(room.page.data, 200, {**PAGE_HEADERS, "Content-Encoding": "gzip"}, "text/html")
    return Response(gzip.decompress(room.page.data), 200, PAGE_HEADERS, "text/html")


def make_join_page(languages: str, code: str) -> str:
    """Returns the page that asks for the code of a room, after the warm-up has imported the texts of the app.

    languages: the browser's languages, as in its Accept-Language header. code: the code that was not found; "" if none
    was given.
    """
    warming.wait()
    from pages.classroom.join_page import write_join_page

    return write_join_page(languages, code)


async def send_events(request: Request) -> Response:
    """Returns the stream of server-sent events of a room: its place now, each later one, and its end."""
    places = ROOMS.follow(request.query_params.get("room", ""))
    try:
        first = await anext(places, None)
    except RoomRefused:
        return Response(status_code=UNAVAILABLE, headers=PRIVATE)
    return StreamingResponse(write_events(first, places), 200, EVENT_HEADERS, "text/event-stream")


async def write_events(first: Told | None, places: AsyncIterator[Told | None]) -> AsyncIterator[str]:
    """Yields the text of each event; the last says that the room has ended.

    first: what `places` has yielded already; None if it yields nothing.
    """
    async with aclosing(places):
        if first is not None:
            yield write_event(first)
            async for place in places:
                yield write_event(place) if place else "event: here\ndata:\n\n"
    yield "event: end\ndata:\n\n"


def write_event(told: Told) -> str:
    """Returns the text of the event that says where the lecturer stands, and of which page.

    >>> write_event(Told("5f", '{"scene": 2}', (3, 1)))
    'data: {"page": "5f", "place": {"scene": 2}, "answers": [3, 1]}\\n\\n'
    """
    page, answers = json.dumps(told.page), json.dumps(told.answers)
    return f'data: {{"page": {page}, "place": {told.place or "null"}, "answers": {answers}}}\n\n'


async def take_answer(request: Request) -> Response:
    """Handles a reader's answer to the poll whose question is shown.

    Returns an empty response; its status is 409 if the poll is closed or the room has ended, 403 to pages of other
    sites.
    """
    sent = await read_sent(request, ANSWER)
    if isinstance(sent, Response):
        return sent
    code = request.query_params.get("room", "")
    is_taken = sent is not None and ROOMS.answer(code, sent["scene"], sent["browser"], sent["choice"])
    return Response(status_code=TAKEN if is_taken else CLOSED, headers=PRIVATE)


# ---- the lecturer ----------------------------------------------------------------------------------------------------
async def take_place(request: Request) -> Response:
    """Handles a message of a lecturer's browser: where the lecturer stands; without a body, only that it is there.

    Returns the response with the number of followers and their answers; 404 if the room has ended or the secret is
    wrong, 403 to pages of other sites.
    """
    sent = await read_sent(request, PLACE)
    if isinstance(sent, Response):
        return sent
    place = None
    if sent is not None:
        stop = sent["look"] and sent["look"]["stop"]
        place = Place(json.dumps(sent), sent["scene"], sent["step"], stop)
    key = Key(request.query_params.get("room", ""), request.headers.get(SECRET_HEADER, ""))
    audience = ROOMS.move(key, place)
    if audience is None:
        return Response(status_code=NOT_FOUND, headers=PRIVATE)
    return Response(json.dumps(asdict(audience)), 200, PRIVATE, "application/json")


# ---- what browsers send ----------------------------------------------------------------------------------------------
async def read_sent(request: Request, shape: Shape) -> dict | Response | None:
    """Returns what the body of a request says, of a shape; None for an empty body.

    Returns the response that refuses it: to pages of other sites (403), for a body that is too large (413) or of
    another shape (422).
    """
    if is_foreign_origin(dict(request.headers.raw)):
        return Response(status_code=FORBIDDEN, headers=PRIVATE)
    body = await read_body(request)
    if body is None:
        return Response(status_code=TOO_LARGE, headers=PRIVATE)
    try:
        return read(shape, json.loads(body)) if body else None
    except (ValueError, RecursionError):  # an unfit message is a ValueError, too
        return Response(status_code=UNREADABLE, headers=PRIVATE)


async def read_body(request: Request) -> bytes | None:
    """Returns the body of a request; None if it has more than MAX_PLACE_BYTES, of which no more is read."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_PLACE_BYTES:
            return None
    return body


# These routes work under any base path.
routes = [
    Route(f"{base}/room{name}", answer, methods=[method])
    for base in ("", "/{base:path}")
    for name, answer, method in (
        ("", send_page, "GET"),
        ("/events", send_events, "GET"),
        ("/place", take_place, "POST"),
        ("/answer", take_answer, "POST"),
    )
]
