"""The route that serves the scripts of components (fetched_scripts.py)."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.components.fetched_scripts import FOLDER, SCRIPTS

FOR_A_YEAR = "public, max-age=31536000, immutable"


async def send_script(request: Request) -> Response:
    """Returns the component script that a request names, cached for a year; 404 for an unknown name."""
    script = SCRIPTS.get(request.path_params["name"])
    if script is None:
        return Response(status_code=404)
    return Response(script, media_type="text/javascript", headers={"Cache-Control": FOR_A_YEAR})


# This works for any base path: Streamlit applies server.baseUrlPath to its own routes, but not to those of an app.
route = Route(f"/{{base:path}}{FOLDER}/{{name}}", send_script)
