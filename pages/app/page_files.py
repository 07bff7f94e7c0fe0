"""Routes that send files from memory: the static files of Streamlit's page, and the scripts of components.

A first visit fetches 70 static files before anything is drawn. Streamlit would read each of them from disk in another
thread, which makes the first picture appear an eighth later.
"""

from functools import cache
from mimetypes import guess_type
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.components.fetched_scripts import FOLDER as SCRIPTS_FOLDER
from pages.components.fetched_scripts import SCRIPTS

FOR_A_YEAR = "public, max-age=31536000, immutable"
FOLDER = Path(st.__file__).parent / "static" / "static"
FILES = {path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*.*")}


async def send_file(request: Request) -> Response:
    """Returns the response with the static file that the URL names, cached for a year; 404 for an unknown name."""
    name = "{folder}/{name}".format_map(request.path_params)
    if name not in FILES:
        return Response(status_code=404)
    media_type, _ = guess_type(name)
    return Response(read_file(name), media_type=media_type, headers={"Cache-Control": FOR_A_YEAR})


@cache  # the cache needs at most 26 MB, even if browsers request every static file of Streamlit
def read_file(name: str) -> bytes:
    """Returns the bytes of a static file.

    The file's name contains a hash of the bytes, so the cache is never outdated.
    """
    return FILES[name].read_bytes()


async def send_script(request: Request) -> Response:
    """Returns the response with the component script that the URL names, cached for a year; 404 for an unknown name."""
    script = SCRIPTS.get(request.path_params["name"])
    if script is None:
        return Response(status_code=404)
    return Response(script, media_type="text/javascript", headers={"Cache-Control": FOR_A_YEAR})


# These routes work under any base path; Streamlit prepends server.baseUrlPath only to routes that it defines.
routes = [
    Route(f"/{{base:path}}{SCRIPTS_FOLDER}/{{name}}", send_script),
    Route("/{base:path}static/{folder}/{name}", send_file),
]
