"""Answers the browsers that fetch the files of Streamlit's page, out of memory.

A first visit asks for 70 of them before anything is drawn. Streamlit looks each up on the disk, in other threads: with
that the first picture takes an eighth longer.
"""

from functools import cache
from mimetypes import guess_type
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.app.scripts import FOR_A_YEAR

FOLDER = Path(st.__file__).parent / "static" / "static"
FILES = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*.*")}


async def send_file(request: Request) -> Response:
    """The file of the name that is asked for."""
    name = "{folder}/{name}".format_map(request.path_params)
    if name not in FILES:
        return Response(status_code=404)
    media_type, _ = guess_type(name)
    return Response(read_file(name), media_type=media_type, headers={"Cache-Control": FOR_A_YEAR})


@cache  # 26 MB if a browser asked for every file that Streamlit has
def read_file(name: str) -> bytes:
    """What stands in a file; its name changes with that."""
    return FILES[name].read_bytes()


route = Route("/{base:path}static/{folder}/{name}", send_file)
