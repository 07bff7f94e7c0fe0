"""Routes that say whether this process is ready for visitors, and whether a script run hangs.

Streamlit's own /_stcore/health answers as soon as the server listens, before torch is imported, and also while every
script run waits for a lock.
"""

import threading
from time import monotonic

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from streamlit.runtime.scriptrunner_utils.script_run_context_attr import SCRIPT_RUN_CONTEXT_ATTR_NAME

from pages.app import warming

LIMIT_VARIABLE = "ATTENTION_LONGEST_RUN"  # environment variable: seconds after which a script run counts as hung
DEFAULT_LIMIT = 300.0  # seconds; a run that opens a model of 6 GB, after other visitors' models, takes minutes
SCRIPT_THREAD = "ScriptRunner.scriptThread"  # name of the threads in which Streamlit runs scripts
UNAVAILABLE = 503


class RunWatch:
    """Measures how long the script runs of this process have lasted, from when each was first seen.

    This includes the run of a visitor who has left, which may go on for ever. A run is first seen when somebody
    requests the health route, so the route must be requested regularly, as a proxy does.
    """

    def __init__(self):
        self.seen: dict[object, float] = {}  # a script run -> time at which the run was first seen

    def longest(self) -> float:
        """Returns for how many seconds the oldest script run has been seen; 0 if none runs."""
        now = monotonic()
        self.seen = {run: self.seen.get(run, now) for run in list_runs()}
        return now - min(self.seen.values(), default=now)


def list_runs() -> list[object]:
    """Returns an object for each script run that is in progress: Streamlit's coordinator, of which each run has a new
    one.
    """
    threads = [thread for thread in threading.enumerate() if thread.name == SCRIPT_THREAD]
    contexts = [getattr(thread, SCRIPT_RUN_CONTEXT_ATTR_NAME, None) for thread in threads]
    runs = [getattr(context, "parallel_coordinator", None) for context in contexts]
    return [run for run in runs if run is not None]


WATCH = RunWatch()


def read_limit(setting: str) -> float:
    """Parses the seconds after which a run counts as hung; DEFAULT_LIMIT for an empty text.

    Raises SystemExit for anything but a number above 0.

    >>> read_limit("90"), read_limit("")
    (90.0, 300.0)
    """
    try:
        limit = float(setting or DEFAULT_LIMIT)
    except ValueError:
        limit = 0.0
    if not 0 < limit < float("inf"):
        raise SystemExit(f"{LIMIT_VARIABLE} must be a number of seconds above 0: got {setting!r}")
    return limit


def make_routes(setting: str) -> list[Route]:
    """Returns the routes /healthz and /readyz, under any base path.

    setting: value of the environment variable LIMIT_VARIABLE.
    """
    limit = read_limit(setting)

    def find_trouble() -> str:
        longest = WATCH.longest()
        return f"a script run takes longer than {limit:g} s: {longest:.0f} s so far\n" if longest > limit else ""

    async def send_health(request: Request) -> PlainTextResponse:
        """Answers the health request: 200, or 503 if a script run hangs, so that this process should be restarted."""
        return answer(find_trouble())

    async def send_readiness(request: Request) -> PlainTextResponse:
        """Answers the readiness request: 200 if the warm-up has ended and no script run hangs, so that this process can
        take visitors.
        """
        return answer(find_trouble() if warming.DONE.is_set() else "the app is still importing its modules\n")

    routes = {"healthz": send_health, "readyz": send_readiness}
    return [Route(f"{base}/{name}", send) for name, send in routes.items() for base in ("", "/{base:path}")]


def answer(trouble: str) -> PlainTextResponse:
    """Returns an HTTP response: 503 with the sentence `trouble`; 200 if that sentence is empty."""
    headers = {"Cache-Control": "no-store"}
    return PlainTextResponse(trouble or "ok\n", UNAVAILABLE if trouble else 200, headers)
