"""The program of a worker process: calls functions for the server, one after the other.

The server starts it by its path, and writes one JSON object to its standard input: `path` (sys.path of the server) and
`key` (which both sides must prove to have). The program writes the port at which it listens, and ends when the server
closes the connection. The program imports neither torch nor Streamlit.
"""

import json
import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection, Listener

HOST = "127.0.0.1"  # an address that other machines cannot reach
NICENESS = 10  # the operating system gives such a process about a tenth of the server's time while both compute
RETURNED, RAISED, FAILED = "returned", "raised", "failed"  # kinds of answers to a call


def main() -> None:
    """Listens for the server's connection, and answers its calls until the server closes the connection."""
    # Ctrl-C is ignored here: it ends the server, which then closes the connection
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    given = json.loads(sys.stdin.readline())
    sys.path[:] = given["path"]
    with Listener((HOST, 0), authkey=bytes.fromhex(given["key"])) as listener:
        _, port = listener.address
        print(port, flush=True)
        serve(listener.accept())


def serve(connection: Connection) -> None:
    """Calls each function that the server sends (without arguments), and answers with (kind, value).

    The value is the result (RETURNED), a ValueError that the function raised (RAISED), or the traceback of another
    error as text (FAILED).
    """
    while True:
        try:
            answer = RETURNED, connection.recv()()
        except (EOFError, ConnectionError):
            return
        except ValueError as error:
            answer = RAISED, error
        except Exception:
            answer = FAILED, traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    main()
