"""Asks the hub for the files of a model, and downloads them into the hub's cache; runs as a separate process.

hub_download.py starts the process, and may stop it at any moment. Its argument is a JSON object with the fields of
Wanted. It writes one JSON object per line: a plan, the number of missing bytes, and last a folder or a refusal. It
imports only the standard library and huggingface_hub, so that it starts without torch.

huggingface_hub downloads an interrupted file again from its first byte. So this module downloads the bytes into the
file <sum>.incomplete of the cache, where the next download continues, and compares the checksum with the hub's. After
that, snapshot_download finds all files in the cache and only links them.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import HfApi, constants, get_session, hf_hub_url, set_client_factory, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import WeakFileLock, build_hf_headers, hf_raise_for_status

HUB_DOMAINS = ("huggingface.co", "hf.co")  # the hub's domains; weights come from other hosts in them
COMMIT, SUM = re.compile("[0-9a-f]{40}"), re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
MAX_FILES = 10_000  # most files of a repository that are read
TIMEOUT_SECONDS = 10
CHUNK_BYTES = 2**20
KEPT_FREE_BYTES = 10**9  # bytes of disk space that a download must leave free
FULL = (errno.ENOSPC, errno.EDQUOT)
UNKNOWN_OR_GATED = {401: "hub_missing", 403: "hub_gated"}


class Refusal(Exception):
    """The reason why nothing is downloaded: the code of one of attention_core's errors, and the error's values."""

    def __init__(self, code: str, **values: object):
        super().__init__(code)
        self.code, self.values = code, values


@dataclass(frozen=True)
class Wanted:
    """The request. name, revision: those of the model. most_bytes: the largest total size of its files. fetch: whether
    to download them.

    weights: the file of weights; if the model lacks it, the files that match the pattern `shards` are downloaded with
    `index`. others: further files, which are downloaded if the model has them; the first one is required.
    """

    name: str
    revision: str
    most_bytes: int
    fetch: bool
    weights: str
    index: str
    shards: str
    others: list[str]

    @property
    def cached(self) -> Path:
        """The folder of the model in the hub's cache."""
        return Path(constants.HF_HUB_CACHE).expanduser() / repo_folder_name(repo_id=self.name, repo_type="model")


@dataclass(frozen=True)
class File:
    """A file of a model on the hub. sum: its checksum, which is its name in the cache. is_large: whether that is a
    SHA-256 (else SHA-1).
    """

    name: str
    size: int
    sum: str
    is_large: bool

    def part(self, cached: Path) -> Path:
        """Return the path of the cache file to which the downloaded bytes are written."""
        return cached / "blobs" / f"{self.sum}.incomplete"

    def count_present(self, cached: Path) -> int:
        """Return how many bytes of the file are in the cache."""
        for path in (cached / "blobs" / self.sum, self.part(cached)):
            if path.is_file():
                return min(path.stat().st_size, self.size)
        return 0


def tell(**said: object) -> None:
    """Write a JSON object as one line of output, which the app reads."""
    print(json.dumps(said), flush=True)


# ---- which requests --------------------------------------------------------------------------------------------------
def make_client() -> httpx2.Client:
    """Return the HTTP client of this process, which sends requests, and follows redirects, only to the hub."""
    return httpx2.Client(event_hooks={"request": [require_hub]}, follow_redirects=True, timeout=TIMEOUT_SECONDS)


def make_linking_client() -> httpx2.Client:
    """Return an HTTP client that may request data about files, but not download the files."""
    client = make_client()
    client.event_hooks = {"request": [require_hub, refuse_files]}
    return client


def require_hub(request: httpx2.Request) -> None:
    """Raise Refusal if a request goes to a host that is not the hub's."""
    place, hub = urlsplit(str(request.url)), urlsplit(constants.ENDPOINT)
    host = place.hostname or ""
    is_own = place.scheme == "https" and any(f".{host}".endswith(f".{domain}") for domain in HUB_DOMAINS)
    if not is_own and (place.scheme, host, place.port) != (hub.scheme, hub.hostname, hub.port):
        raise Refusal("hub_elsewhere", name=hub.hostname, given=host[:80])


def refuse_files(request: httpx2.Request) -> None:
    """Raise Refusal if a request would download a file: huggingface_hub must use the files that were downloaded and
    checked."""
    if request.method == "GET" and "/resolve/" in request.url.path:
        raise Refusal("hub_differs", name=request.url.path.rpartition("/")[2][:80])


@contextmanager
def as_refusal(wanted: Wanted) -> Iterator[None]:
    """Context manager that raises Refusal instead of any other error."""
    hub = urlsplit(constants.ENDPOINT).hostname
    try:
        yield
    except Refusal:
        raise
    except GatedRepoError:
        raise Refusal("hub_gated", name=wanted.name) from None
    except RevisionNotFoundError:
        raise Refusal("hub_revision", name=wanted.name, given=wanted.revision) from None
    except RepositoryNotFoundError:
        raise Refusal("hub_missing", name=wanted.name) from None
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status in UNKNOWN_OR_GATED:
            raise Refusal(UNKNOWN_OR_GATED[status], name=wanted.name) from None
        raise Refusal("hub_answer", name=hub, given=f"HTTP {status}") from None
    except httpx2.TransportError as error:
        raise Refusal("hub_broken_off", name=hub, given=type(error).__name__) from None
    except OSError as error:
        if error.errno in FULL:
            raise Refusal("hub_disk_full", name=constants.HF_HUB_CACHE) from None
        raise Refusal("hub_cache", name=constants.HF_HUB_CACHE, given=error.strerror or type(error).__name__) from None
    except Exception as error:
        raise Refusal("hub_answer", name=hub, given=type(error).__name__) from None


# ---- the plan --------------------------------------------------------------------------------------------------------
def make_plan(wanted: Wanted) -> tuple[str, list[File]]:
    """Ask the hub; return the commit of the revision, and the files to download, the smallest first."""
    api = HfApi()
    commit = api.repo_info(wanted.name, revision=wanted.revision, timeout=TIMEOUT_SECONDS).sha or ""
    if not COMMIT.fullmatch(commit):
        raise Refusal("hub_answer", name=urlsplit(constants.ENDPOINT).hostname, given=commit[:40])
    entries = islice(api.list_repo_tree(wanted.name, revision=commit), MAX_FILES)
    listed = {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}
    if wanted.others[0] not in listed:
        raise Refusal("hub_files", name=wanted.name, given=wanted.others[0])
    if wanted.weights in listed:
        weights = [wanted.weights]
    else:
        weights = [name for name in listed if fnmatch(name, wanted.shards)]
        if not weights or wanted.index not in listed:
            raise Refusal("hub_files", name=wanted.name, given=wanted.weights)
        weights.append(wanted.index)
    names = [name for name in wanted.others if name in listed]
    files = [read_entry(listed[name]) for name in (*names, *weights)]
    return commit, sorted(files, key=lambda file: file.size)


def read_entry(entry: RepoFile) -> File:
    """Return a File from an entry of the hub's list."""
    checksum = entry.lfs.sha256 if entry.lfs else entry.blob_id
    size = entry.lfs.size if entry.lfs else entry.size
    if not SUM.fullmatch(checksum) or type(size) is not int or size < 0:
        raise Refusal("hub_answer", name=urlsplit(constants.ENDPOINT).hostname, given=entry.path[:80])
    return File(entry.path, size, checksum, bool(entry.lfs))


def require_room(wanted: Wanted, size: int, missing: int) -> int:
    """Return the free bytes of the cache's disk; raise Refusal if the model is too large, or the disk too full."""
    if size > wanted.most_bytes:
        raise Refusal("hub_large", name=wanted.name, limit=wanted.most_bytes, given=size)
    folder = wanted.cached
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free - missing < KEPT_FREE_BYTES:
        raise Refusal("hub_disk", limit=missing + KEPT_FREE_BYTES, given=free)
    return free


# ---- the files -------------------------------------------------------------------------------------------------------
def fetch(wanted: Wanted, commit: str, files: list[File]) -> Path:
    """Download the files that the cache lacks, let huggingface_hub link them into the model's folder, and return this
    folder."""
    missing = sum(file.size - file.count_present(wanted.cached) for file in files)
    for file in files:
        missing += file.count_present(wanted.cached)
        fetch_file(wanted, commit, file, missing)
        missing -= file.size
    set_client_factory(make_linking_client)
    names = [file.name for file in files]
    folder = snapshot_download(wanted.name, revision=wanted.revision, allow_patterns=names, max_workers=1)
    return Path(folder)


def fetch_file(wanted: Wanted, commit: str, file: File, missing: int) -> None:
    """Download the missing bytes of a file; if the checksum is right, rename the file to its name in the cache.

    missing: the number of missing bytes of all files, if all of this file are missing.
    """
    blob, part = wanted.cached / "blobs" / file.sum, file.part(wanted.cached)
    part.parent.mkdir(parents=True, exist_ok=True)
    locks = Path(constants.HF_HUB_CACHE).expanduser() / ".locks" / wanted.cached.name
    locks.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(locks / f"{file.sum}.lock"):
        if blob.exists():
            if blob.stat().st_size == file.size:
                return
            os.replace(blob, part)  # an incomplete file: continued, and its checksum tested below
        if file.size == 0:
            part.touch()
        elif file.count_present(wanted.cached) < file.size:
            add_bytes(hf_hub_url(wanted.name, file.name, revision=commit), file, part, missing)
        if checksum_of(part, file) != file.sum:
            part.unlink()
            raise Refusal("hub_differs", name=file.name)
        os.replace(part, blob)


def add_bytes(url: str, file: File, part: Path, missing: int) -> None:
    """Append the rest of a file, and report after each block how many bytes of all files are still missing."""
    present = part.stat().st_size if part.exists() else 0
    headers = {**build_hf_headers(), "Accept-Encoding": "identity", "Range": f"bytes={present}-"}
    with get_session().stream("GET", url, headers=headers) as response, open(part, "ab") as to:
        hf_raise_for_status(response)
        if response.status_code == httpx2.codes.OK:  # the server sent the whole file, not only the missing rest
            to.truncate(0)
            present = 0
        for block in response.iter_bytes(CHUNK_BYTES):
            present += len(block)
            if present > file.size:
                raise Refusal("hub_differs", name=file.name)
            to.write(block)
            to.flush()
            tell(missing=missing - present)
    if present < file.size:
        raise Refusal("hub_broken_off", name=urlsplit(url).hostname, given=file.name)


def checksum_of(part: Path, file: File) -> str:
    """Return the checksum of a file: the SHA-256 of a large file, or the SHA-1 that Git computes for a small one."""
    if file.is_large:
        with open(part, "rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    content = part.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def answer(wanted: Wanted) -> None:
    """Write the plan as output; if the files are wanted, download them and write the path of their folder."""
    if constants.HF_HUB_OFFLINE:
        raise Refusal("hub_offline")
    with as_refusal(wanted):
        commit, files = make_plan(wanted)
        size = sum(file.size for file in files)
        missing = size - sum(file.count_present(wanted.cached) for file in files)
        free = require_room(wanted, size, missing)
        told = [(file.name, file.size) for file in files]
        tell(plan={"commit": commit, "files": told, "missing": missing, "free": free})
        if wanted.fetch:
            tell(folder=str(fetch(wanted, commit, files)))


def main() -> None:
    """Execute the request that the command line's argument contains."""
    set_client_factory(make_client)
    try:
        answer(Wanted(**json.loads(sys.argv[1])))
    except Refusal as refusal:
        tell(refused=refusal.code, values=refusal.values)


if __name__ == "__main__":
    main()
