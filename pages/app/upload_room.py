"""Refuses uploads while the files that Streamlit keeps for all sessions need too much memory."""

from starlette.middleware import Middleware
from starlette.responses import Response
from streamlit import runtime

MAX_KEPT_BYTES = 2**29  # bytes of uploads that all sessions together may keep
FULL = 507  # HTTP status "insufficient storage"
PLACE = "/_stcore/upload_file/"


class UploadRoom:
    """ASGI middleware that answers an upload with FULL, before it reads the file, while MAX_KEPT_BYTES are kept."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """Forwards one ASGI connection, unless it is an upload for which there is no room."""
        is_upload = scope["type"] == "http" and scope["method"] == "PUT" and PLACE in scope["path"]
        if is_upload and count_kept_bytes() >= MAX_KEPT_BYTES:
            await Response(status_code=FULL)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def count_kept_bytes() -> int:
    """Returns the number of bytes of all uploaded files that Streamlit keeps."""
    families = runtime.get_instance().uploaded_file_mgr.get_stats()
    return sum(stat.byte_length for stats in families.values() for stat in stats)


upload_room = Middleware(UploadRoom)
