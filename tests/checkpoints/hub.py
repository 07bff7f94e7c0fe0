"""A hub on this machine: answers as huggingface.co does, and breaks off, waits or refuses where a test says."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import unquote, urlsplit

import huggingface_hub
import pytest

COMMIT = "c0ffee" * 6 + "c0ff"
MODEL_PATH = re.compile(r"/api/models/(?P<name>[^/]+/[^/]+)(?P<rest>/.*)?")
FILE_PATH = re.compile(r"/(?P<name>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
WATCH = """\
import os, socket
connect = socket.socket.connect
def watched(self, address):
    with open(os.environ["WATCHED"], "a") as log:
        log.write(f"{address[0]}\\n")
    return connect(self, address)
socket.socket.connect = watched
"""
LARGE = ".safetensors"
BLOCK = 2**16


@dataclass
class TestHub:
    """What the hub has, and how it fails.

    models: {owner/name: folder}. revisions: what main and the commit are called. requests: (method, path, range) of all
    that was asked. cut_at: how many bytes of a large file are sent before the connection ends. hold_at: how many before
    the hub waits for `released`; `held` says that it waits. status: answers all files of a model with this. elsewhere:
    where files are instead. sizes, sums: what the hub says of files, whatever is true. ignores_range: sends all of a
    file, whatever is asked for.
    """

    __test__ = False
    models: dict[str, Path] = field(default_factory=dict)
    revisions: tuple[str, ...] = ("main", "v1.0", COMMIT)
    commit: str = COMMIT
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    cut_at: int | None = None
    hold_at: int | None = None
    held: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)
    status: tuple[int, str] | None = None
    elsewhere: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    sums: dict[str, str] = field(default_factory=dict)
    ignores_range: bool = False
    address: str = ""

    def entry(self, path: Path) -> dict:
        """What the hub lists of a file."""
        content = path.read_bytes()
        git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        size = self.sizes.get(path.name, len(content))
        entry = {"type": "file", "path": path.name, "size": size, "oid": git}
        if path.name.endswith(LARGE):
            checksum = self.sums.get(path.name, hashlib.sha256(content).hexdigest())
            entry["lfs"] = {"oid": checksum, "size": size, "pointerSize": 134}
        return entry

    def bytes_sent_from(self, file: str) -> list[str]:
        """The ranges with which a file was asked for."""
        return [asked for method, path, asked in self.requests if method == "GET" and path.endswith(f"/{file}")]


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    hub: TestHub
    protocol_version = "HTTP/1.1"

    def log_message(self, *given) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        """Says what a file is."""
        self.answer()

    def do_GET(self) -> None:
        """Gives a file, or says what there is."""
        self.answer()

    def answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append((self.command, path, self.headers.get("Range", "")))
        self.hub.tokens.add(self.headers.get("Authorization", ""))
        if found := MODEL_PATH.fullmatch(path):
            self.answer_model(found["name"], found["rest"] or "")
        elif found := FILE_PATH.fullmatch(path):
            self.answer_file(found["name"], found["file"])
        else:
            self.send(404, b"{}")

    def answer_model(self, name: str, rest: str) -> None:
        folder = self.hub.models.get(name)
        if folder is None:
            return self.send(401, b"{}")  # as the hub does for a model that there is not
        _, kind, *revision = rest.split("/") if rest else ("", "revision", "main")
        if "/".join(revision) not in self.hub.revisions:
            return self.send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        if kind == "tree":
            return self.send(200, json.dumps([self.hub.entry(path) for path in sorted(folder.iterdir())]).encode())
        about = {"id": name, "modelId": name, "sha": self.hub.commit, "private": False, "tags": [], "downloads": 0}
        return self.send(200, json.dumps(about | {"siblings": []}).encode())

    def answer_file(self, name: str, file: str) -> None:
        if self.hub.status is not None:
            code, error = self.hub.status
            return self.send(code, b"{}", {"X-Error-Code": error} if error else {})
        if self.hub.elsewhere and self.command == "GET":
            return self.send(302, b"", {"Location": self.hub.elsewhere})
        path = self.hub.models[name] / file
        entry, content = self.hub.entry(path), path.read_bytes()
        large = entry.get("lfs")
        about = {"X-Repo-Commit": self.hub.commit, "ETag": f'"{large["oid"] if large else entry["oid"]}"'}
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and not self.hub.ignores_range:
            begin = int(asked[1])
            about["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
            return self.send(206, content[begin:], about, is_large=large is not None, begin=begin)
        return self.send(200, content, about, is_large=large is not None)

    def send(self, status: int, content: bytes, headers=(), is_large: bool = False, begin: int = 0) -> None:
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = begin
        for place in range(0, len(content), BLOCK):
            if is_large and self.hub.cut_at is not None and sent >= self.hub.cut_at:
                self.close_connection = True
                return
            if is_large and self.hub.hold_at is not None and sent >= self.hub.hold_at:
                self.wfile.flush()
                self.hub.held.set()
                self.hub.released.wait(60)
            block = content[place : place + BLOCK]
            try:
                self.wfile.write(block)
            except OSError:  # whoever asked has gone
                return
            sent += len(block)


@contextmanager
def run_hub(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestHub]:
    """Run a hub at 127.0.0.1 while the block runs, for this process and those that it starts.

    place: a folder for an empty cache. At the end, no process of the block has called another address.
    """
    hub = TestHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("HubHandler", (Handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_port}"
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    watch, watched, cache = place / "watch", place / "watched", str(place / "cache")
    watch.mkdir()
    (watch / "sitecustomize.py").write_text(WATCH)
    watched.touch()
    settings = {"NO_PROXY": "127.0.0.1,localhost", "HF_HOME": str(place / "home"), "PYTHONPATH": str(watch)}
    for name, value in (
        settings | {"HF_HUB_CACHE": cache, "HF_ENDPOINT": hub.address, "WATCHED": str(watched)}
    ).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", cache)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.address)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.released.set()
        server.shutdown()
        server.server_close()
    called = watched.read_text().split()
    assert set(called) <= {"127.0.0.1"} and bool(called) >= bool(hub.requests)
