"""Starts a worker process, and calls functions in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import ProcessError
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import TypeVar

from pages.workers.program import FAILED, HOST, RAISED

PROGRAM = Path(__file__).with_name("program.py")
KEY_BYTES = 32
MAX_CALL_SECONDS = 60  # seconds after which a call, and with it the process, is ended
END_SECONDS = 10
SETTINGS = {"OMP_NUM_THREADS": "1"}  # each process computes on one core
Result = TypeVar("Result")


class WorkerEnded(Exception):
    """Raised if a worker process ended before it answered, or was ended because a call took longer than
    MAX_CALL_SECONDS.
    """


class Worker:
    """A worker process and the connection to it. Raises WorkerEnded if the process ends before it is connected."""

    def __init__(self):
        key = os.urandom(KEY_BYTES)
        self.process = subprocess.Popen(  # -P: modules beside the program must not replace those of the library
            [sys.executable, "-P", str(PROGRAM)],
            env=os.environ | SETTINGS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # low priority on Windows, which has no niceness
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
        )
        try:
            self.connection = self.connect(key)
        except (OSError, EOFError, ValueError, ProcessError) as error:
            self.end()
            raise WorkerEnded from error

    def connect(self, key: bytes) -> Connection:
        """Sends the process its key, and returns a connection to the port at which the process listens."""
        with self.process.stdin as told, self.process.stdout as said:
            told.write(json.dumps({"path": sys.path, "key": key.hex()}) + "\n")
            told.flush()
            return Client((HOST, int(said.readline())), authkey=key)

    def call(self, function: Callable[[], Result]) -> Result:
        """Calls a function in the process, and returns its result.

        function: a function without arguments, which is sent to the process as its result is sent back; both must
        consist of plain values.

        Raises the ValueError that the function raises; RuntimeError with the traceback of any other error; WorkerEnded.
        """
        try:
            self.connection.send(function)
            if not self.connection.poll(MAX_CALL_SECONDS):
                raise WorkerEnded
            kind, answer = self.connection.recv()
        except (EOFError, ConnectionError) as error:
            raise WorkerEnded from error
        if kind == RAISED:
            raise answer
        if kind == FAILED:
            raise RuntimeError(answer)
        return answer

    def end(self) -> None:
        """Ends the worker process at once."""
        self.process.kill()
        self.process.wait(END_SECONDS)
