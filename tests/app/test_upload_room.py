"""Uploads are refused, unread, while the files of all sessions need too much memory, and nothing else is."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.app import upload_room
from pages.app.upload_room import FULL, UploadRoom


class Server:
    """A server with its store of files."""

    def __init__(self):
        self.uploaded_file_mgr = MemoryUploadedFileManager("/_stcore/upload_file")


@pytest.fixture
def files(monkeypatch) -> MemoryUploadedFileManager:
    """The store of a server, in which two files of 7 bytes are too many."""
    server = Server()
    monkeypatch.setattr(upload_room.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(upload_room, "MAX_KEPT_BYTES", 14)
    return server.uploaded_file_mgr


def ask(method: str, path: str) -> int:
    """The status of a request's answer; 200 is that of the app, which reads the request."""
    statuses = []

    async def app(scope, receive, send):
        assert await receive() == "the file"
        await send({"type": "http.response.start", "status": 200})

    async def receive():
        return "the file"

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    with ThreadPoolExecutor(1) as thread:  # a browser test may have left a loop running in this one
        request = {"type": "http", "method": method, "path": path}
        thread.submit(asyncio.run, UploadRoom(app)(request, receive, send)).result()
    (status,) = statuses
    return status


def test_an_upload_is_refused_while_there_is_no_room(files):
    upload = "/base/_stcore/upload_file/session/file"
    files.add_file("one", UploadedFileRec("first", "a.npz", "", b"7 bytes"))
    assert ask("PUT", upload) == 200
    files.add_file("other", UploadedFileRec("second", "b.npz", "", b"7 bytes"))
    assert ask("PUT", upload) == FULL
    assert ask("DELETE", upload) == ask("GET", "/base/") == 200
    files.remove_session_files("one")
    assert ask("PUT", upload) == 200
