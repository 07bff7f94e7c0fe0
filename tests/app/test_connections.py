"""What the server has to say leaves at once."""

import subprocess
import sys
from contextlib import closing
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection, socket

from pages.app.connections import send_at_once
from tests.browser.conftest import ROOT, free_port, wait_for_health

TELLING = """
import gc, sys
from socket import IPPROTO_TCP, SO_ACCEPTCONN, SOL_SOCKET, TCP_NODELAY, socket
from threading import Thread

def tell():
    sys.stdin.readline()
    for each in gc.get_objects():
        if isinstance(each, socket) and each.fileno() >= 0 and each.getsockopt(SOL_SOCKET, SO_ACCEPTCONN):
            print("listens", each.getsockname()[1], each.getsockopt(IPPROTO_TCP, TCP_NODELAY), flush=True)
    print("end", flush=True)

Thread(target=tell, daemon=True).start()
from streamlit.web.cli import main
main()
"""


def accepted_by(listening: socket) -> socket:
    """What a socket accepts when somebody calls."""
    with closing(create_connection(listening.getsockname())):
        return listening.accept()[0]


def test_what_a_socket_accepts_afterwards_sends_at_once():
    with closing(socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with closing(accepted_by(listening)) as before:
            assert before.getsockopt(IPPROTO_TCP, TCP_NODELAY) == 0
        send_at_once()
        with closing(accepted_by(listening)) as after:
            assert after.getsockopt(IPPROTO_TCP, TCP_NODELAY) == 1


def test_the_server_does_so_from_its_first_visitor_on():
    port = free_port()
    options = ["run", "app.py", "--server.port", str(port), "--server.address", "127.0.0.1"]
    command = [sys.executable, "-c", TELLING, *options, "--server.fileWatcherType", "none"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:
        try:
            wait_for_health(f"http://127.0.0.1:{port}", process)
            process.stdin.write("\n")
            process.stdin.flush()
            said = list(iter(process.stdout.readline, "end\n"))
        finally:
            process.kill()
    assert f"listens {port} 1\n" in said
