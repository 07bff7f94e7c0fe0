"""Answers the browsers that fetch a component's script."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.components.fetched_scripts import FOLDER, SCRIPTS

FOR_A_YEAR = "public, max-age=31536000, immutable"


async def send_script(request: Request) -> Response:
    """The script of the name that is asked for."""
    script = SCRIPTS.get(request.path_params["name"])
    if script is None:
        return Response(status_code=404)
    return Response(script, media_type="text/javascript", headers={"Cache-Control": FOR_A_YEAR})


# Under every path, because Streamlit puts its own routes under server.baseUrlPath, and those of an app not.
route = Route(f"/{{base:path}}{FOLDER}/{{name}}", send_script)
