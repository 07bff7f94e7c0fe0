"""The route /metrics: numbers about this process in the text format of Prometheus, without anything that visitors
typed.

The metrics are not public: only network addresses that the setting names may read them, and no request that a proxy
forwarded.
"""

from collections.abc import Iterable, Iterator
from ipaddress import ip_address, ip_network
from time import perf_counter

from prometheus_client import CollectorRegistry, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.caching.global_cache_budget import get_global_cache_budget

from pages.app import health, warming
from pages.app.reconnection import ends_run
from pages.site.forwarding import FORWARDING_HEADERS

READERS_VARIABLE = "ATTENTION_METRICS"  # environment variable with the networks whose addresses may read the metrics
LOOPBACK = "127.0.0.0/8 ::1/128"
FORBIDDEN = 403
SHORT = 1024  # bytes; longer messages are not parsed, because the message that ends a run is shorter
BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)  # seconds; upper bounds of the histogram's buckets

REGISTRY = CollectorRegistry()  # prometheus_client's default registry is not used
SESSIONS = Gauge("attention_sessions", "Pages that are open, each with its websocket.", registry=REGISTRY)
CHANGE_SECONDS = Histogram(
    "attention_change_seconds",
    "Seconds from a page's request for a run until the message that the run has ended was sent.",
    buckets=BOUNDS,
    registry=REGISTRY,
)
ProcessCollector(registry=REGISTRY)  # metrics of the process: memory, processor time, open files and start


# ---- what is read when somebody asks ---------------------------------------------------------------------------------
class Readings(Collector):
    """Collects, for Prometheus, numbers that other modules count already."""

    def collect(self) -> Iterator[Metric]:
        """Yields the metrics; those of the caches and of the models' queue only after the warm-up."""
        ready = float(warming.DONE.is_set())
        yield GaugeMetricFamily("attention_ready", "1 after the warm-up, else 0.", ready)
        longest = health.WATCH.longest()
        yield GaugeMetricFamily("attention_longest_run_seconds", "Age of the oldest script run that goes on.", longest)
        if not ready:  # the warm-up is still running, and read_caches would import modules beside it
            return
        caches = GaugeMetricFamily("attention_cache_bytes", "Bytes of all results in a cache.", labels=["cache"])
        for name, size in read_caches().items():
            caches.add_metric([name], size)
        queues = GaugeMetricFamily("attention_queue", "Requests that wait or are served.", labels=["queue"])
        for name, count in read_queues().items():
            queues.add_metric([name], count)
        refusals = CounterMetricFamily("attention_refusals", "Refusals that visitors were told.", labels=["code"])
        for code, count in read_refusals().items():
            refusals.add_metric([code], count)
        yield from (caches, queues, refusals)


def read_caches() -> dict[str, int]:
    """Returns {cache: number of its bytes} for the caches that all sessions share, and for the uploaded files in
    memory.
    """
    from attention_core.learned.model_cache import MODEL_CACHE
    from pages.runs.cache import RUN_CACHE
    from pages.runs.checkpoint_store import STORE
    from pages.runs.held_bytes import HELD
    from pages.runs.layer_store import LAYERS
    from pages.runs.model_store import MODELS

    return {
        "runs": RUN_CACHE.nbytes,
        "results": get_global_cache_budget().total_bytes,
        "our_models": MODEL_CACHE.nbytes,
        "recorded_layers": LAYERS.count_bytes(),
        "whole_models": MODELS.count_bytes(),
        "recorded_texts": STORE.count_bytes(),
        "uploads": HELD.nbytes,
    }


def read_queues() -> dict[str, int]:
    """Returns how many requests are not finished: those for pretrained models, and those for pictures in files."""
    from pages.runs.checkpoint_store import STORE
    from pages.workers.queue import WORKERS

    return {"models": STORE.waiting, "drawings": WORKERS.count()}


def read_refusals() -> dict[str, int]:
    """Returns {error code: how often visitors were shown this error}."""
    from pages.site.refusals import COUNTS

    return dict(COUNTS)


REGISTRY.register(Readings())


# ---- what is measured at each websocket ------------------------------------------------------------------------------
class Measured:
    """ASGI middleware that counts the open pages, and measures the seconds of each change."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        """Forwards one ASGI connection; of a websocket, measures from each request for a run to the end of the run."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        is_open, asked = False, None

        async def receive_measured():
            nonlocal asked
            message = await receive()
            if asked is None and asks_for_run(message.get("bytes")):
                asked = perf_counter()
            return message

        async def send_measured(message) -> None:
            nonlocal is_open, asked
            await send(message)
            frame = message.get("bytes") or b""
            if message["type"] == "websocket.accept":
                is_open = True
                SESSIONS.inc()
            elif asked is not None and len(frame) <= SHORT and ends_run(frame):
                CHANGE_SECONDS.observe(perf_counter() - asked)
                asked = None

        try:
            await self.app(scope, receive_measured, send_measured)
        finally:
            if is_open:
                SESSIONS.dec()


def asks_for_run(frame: bytes | None) -> bool:
    """Returns whether a message from the browser requests a run of the script or of a part of it."""
    message = BackMsg()
    try:
        message.ParseFromString(frame or b"")
    except Exception:  # ignores an unreadable websocket frame: Streamlit itself closes the connection
        return False
    return message.WhichOneof("type") == "rerun_script"


measured = Middleware(Measured)


# ---- who may read ----------------------------------------------------------------------------------------------------
def read_networks(setting: str) -> list:
    """Parses the networks whose addresses may read the metrics, separated by spaces; LOOPBACK for an empty text.

    Raises SystemExit for anything else.

    >>> read_networks("10.0.0.0/8 ::1")
    [IPv4Network('10.0.0.0/8'), IPv6Network('::1/128')]
    """
    try:
        return [ip_network(text) for text in (setting.split() or LOOPBACK.split())]
    except ValueError as error:
        raise SystemExit(f"{READERS_VARIABLE} must be IP networks, such as 10.0.0.0/8: {error}") from None


def may_read(request: Request, networks: Iterable) -> bool:
    """Returns whether a request comes from one of the networks, and through no proxy."""
    if request.client is None or not FORWARDING_HEADERS.isdisjoint(name for name, _ in request.headers.raw):
        return False
    try:
        address = ip_address(request.client.host)
    except ValueError:
        return False
    return any(address in network for network in networks)


def make_routes(setting: str) -> list[Route]:
    """Returns the route /metrics, under any base path; it also replaces Streamlit's own metrics route, which anybody
    may read.

    setting: value of the environment variable READERS_VARIABLE.
    """
    networks = read_networks(setting)

    async def send_metrics(request: Request) -> Response:
        """Answers with the metrics; 403 to whoever may not read them."""
        if not may_read(request, networks):
            return Response(status_code=FORBIDDEN)
        text = await run_in_threadpool(generate_latest, REGISTRY)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})

    return [Route(f"{base}/metrics", send_metrics) for base in ("", "/{base:path}")]
