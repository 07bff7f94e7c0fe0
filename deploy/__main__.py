"""Starts several replicas of the app, with HAProxy as their load balancer: `python -m deploy --replicas 2`.

Each replica is a separate process, with separate memory and interpreter lock. A replica that ends is started again.
SIGHUP restarts the replicas one after the other; SIGTERM and Ctrl+C end all of them.
"""

import argparse
import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from socket import AF_UNIX, socket
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "deploy" / "haproxy.cfg"
LOOPBACK = "127.0.0.1"
POLL_SECONDS = 0.2
END_SECONDS = 10  # seconds that a process gets to end after SIGTERM, before it is killed
WARM_SECONDS = 300  # seconds within which a started replica must be ready


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Waits until a condition holds, for at most the given seconds; returns whether the condition holds."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def end(process: subprocess.Popen) -> None:
    """Asks a process to end by SIGTERM, and kills the process if it does not end in time."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Replica:
    """One process of the app (a replica).

    name: its name in HAProxy. base: the URL path of the app, such as /attention; "" for none.
    """

    def __init__(self, name: str, port: int, base: str):
        self.name, self.port, self.base = name, port, base
        self.process = self.start()

    def start(self) -> subprocess.Popen:
        """Starts the replica's process."""
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", LOOPBACK]
        command += ["--server.port", str(self.port), "--server.baseUrlPath", self.base]
        return subprocess.Popen(command, cwd=ROOT)

    def restart(self) -> None:
        """Ends the replica's process if it runs, and starts a new one."""
        end(self.process)
        self.process = self.start()

    @property
    def has_ended(self) -> bool:
        """Whether the replica's process has ended."""
        return self.process.poll() is not None

    def is_ready(self) -> bool:
        """Returns whether the replica has loaded its modules and answers requests."""
        try:
            with urlopen(f"http://{LOOPBACK}:{self.port}{self.base}/readyz", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False


class Hall:
    """The replicas of the app, and the HAProxy process that distributes visitors.

    folder: holds HAProxy's second file and its control socket.
    """

    def __init__(self, options: argparse.Namespace, folder: Path):
        self.drain_seconds, self.control = options.drain, folder / "control"
        names = {f"r{number + 1}": options.first_port + number for number in range(options.replicas)}
        lines = ["backend app from replicas", *(f"  server {name} {LOOPBACK}:{names[name]} check" for name in names)]
        servers = folder / "servers.cfg"
        servers.write_text("\n".join(lines) + "\n", encoding="utf-8")
        settings = {"HALL_LISTEN": options.listen, "HALL_BASE": options.base, "HALL_CONTROL": str(self.control)}
        if options.certificate:
            settings["HALL_CERTIFICATE"] = options.certificate
        if options.metrics:
            settings["HALL_METRICS"] = options.metrics
        command = [find_haproxy(), "-db", "-f", str(CONFIG), "-f", str(servers)]
        subprocess.run([*command, "-c", "-q"], env=os.environ | settings, check=True)
        self.replicas = [Replica(name, port, options.base) for name, port in names.items()]
        self.proxy: subprocess.Popen | None = None
        self.start_proxy = partial(subprocess.Popen, command, env=os.environ | settings)

    def open(self) -> None:
        """Starts HAProxy after all replicas are ready, because HAProxy treats each server as ready until its first
        check.

        Raises SystemExit if one of them does not come up.
        """
        if not wait_until(lambda: all(replica.is_ready() for replica in self.replicas), WARM_SECONDS):
            raise SystemExit(f"a replica is not ready after {WARM_SECONDS} s")
        self.proxy = self.start_proxy()

    def tell(self, command: str) -> str:
        """Sends a command to HAProxy's control socket, and returns the answer."""
        with socket(AF_UNIX) as line:
            line.connect(str(self.control))
            line.sendall(f"{command}\n".encode())
            return b"".join(iter(lambda: line.recv(1 << 16), b"")).decode()

    def count_connections(self, replica: Replica) -> int:
        """Returns how many browser connections HAProxy has to a replica."""
        rows = csv.DictReader(self.tell("show stat").removeprefix("# ").splitlines())
        return sum(int(row["scur"]) for row in rows if (row["pxname"], row["svname"]) == ("app", replica.name))

    def restart_in_turn(self) -> bool:
        """Restarts the replicas one by one, each while another one is ready; returns False, and stops, if a replica
        does not start.

        New visitors go elsewhere at once. Pages that are still open after drain_seconds connect to another replica by
        themselves, and draw the screen that their link holds.
        """
        for replica in self.replicas:
            others = [other for other in self.replicas if other is not replica]
            if others and not wait_until(lambda others=others: any(each.is_ready() for each in others), WARM_SECONDS):
                return False
            self.tell(f"set server app/{replica.name} state drain")
            wait_until(lambda replica=replica: self.count_connections(replica) == 0, self.drain_seconds)
            self.tell(f"set server app/{replica.name} state maint")
            replica.restart()
            if not wait_until(replica.is_ready, WARM_SECONDS):
                return False
            self.tell(f"set server app/{replica.name} state ready")
        return True

    def end(self) -> None:
        """Ends HAProxy and all replicas."""
        processes = [replica.process for replica in self.replicas]
        if self.proxy is not None:
            processes.append(self.proxy)
        for process in processes:
            process.terminate()
        for process in processes:
            end(process)


def find_haproxy() -> str:
    """Returns the path of the haproxy program. Raises SystemExit if it is not installed."""
    found = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise SystemExit("HAProxy 2.6 or newer must be installed, such as by: apt-get install haproxy")
    return found


def read_options() -> argparse.Namespace:
    """Parses the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m deploy", description=__doc__)
    parser.add_argument("--replicas", type=int, default=2, help="number of processes of the app")
    parser.add_argument("--listen", default=f"{LOOPBACK}:8500", help="address and port for browsers, such as :443")
    parser.add_argument("--first-port", type=int, default=8511, help="port of the first replica; the others follow")
    parser.add_argument("--base", default="", help="path under which the app stands, such as /attention")
    parser.add_argument("--certificate", default="", help="file with certificate and key (PEM): browsers use HTTPS")
    parser.add_argument("--metrics", default="", help="address and port of HAProxy's numbers for Prometheus")
    parser.add_argument("--drain", type=float, default=20, help="seconds that open pages keep a replica that restarts")
    return parser.parse_args()


def main() -> None:
    """Starts the replicas and HAProxy, and keeps them running until a signal arrives or HAProxy ends."""
    restarts: list[int] = []
    signal.signal(signal.SIGHUP, lambda number, _: restarts.append(number))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit())
    options = read_options()
    with tempfile.TemporaryDirectory(prefix="hall-") as folder:
        hall = Hall(options, Path(folder))
        try:
            hall.open()
            while hall.proxy.poll() is None:
                time.sleep(POLL_SECONDS)
                if restarts:
                    restarts.clear()
                    done = hall.restart_in_turn()
                    print("all replicas are restarted" if done else "a replica did not come up: stopped", flush=True)
                for replica in hall.replicas:
                    if replica.has_ended:
                        print(f"replica {replica.name} has ended, and is started again", flush=True)
                        replica.restart()
            sys.exit("HAProxy has ended")
        finally:
            hall.end()


if __name__ == "__main__":
    main()
