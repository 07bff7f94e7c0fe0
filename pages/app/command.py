"""The command `attention-explorer`: starts the app of an installed package from any folder.

An installation has app.py, pages and .streamlit in one folder, as a checkout has. Streamlit puts the folder of app.py
first on the path, so that another project's package `pages` is not taken for this one, and its settings before those of
the folder in which the command is started. Nothing of `pages` is imported before.
"""

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

APP_FILE = Path(__file__).resolve().parents[2] / "app.py"
LAST_PORT = 65535
NOT_INSTALLED = "The app needs packages that are not installed: pip install 'attention-explorer[app]'"


def main() -> None:
    """Starts the app with the arguments of the command line, and returns when the app has ended."""
    arguments = streamlit_arguments(sys.argv[1:])
    if importlib.util.find_spec("streamlit") is None:
        sys.exit(NOT_INSTALLED)
    from streamlit.web import cli  # after the arguments, so that --help and a mistake in them need no Streamlit

    cli.main(arguments, prog_name="streamlit")


def streamlit_arguments(given: Sequence[str]) -> list[str]:
    """Returns the arguments of `streamlit` that start the app.

    given: arguments of `attention-explorer`: `--port`, and settings of Streamlit such as `--server.address localhost`,
        which are handed on as they are

    Exits with a sentence if the port is no number from 1 to 65535.

    >>> streamlit_arguments(["--port", "8600", "--server.address", "localhost"])[2:]
    ['--server.port', '8600', '--server.address', 'localhost']
    """
    parser = argparse.ArgumentParser(
        prog="attention-explorer",
        description="Starts Attention Explorer and prints its address.",
        epilog="Settings of Streamlit are handed on: --server.address localhost",
        allow_abbrev=False,
    )
    parser.add_argument("--port", type=port_number, help="port of this machine at which the app answers (8501)")
    known, settings = parser.parse_known_args(given)
    port = [] if known.port is None else ["--server.port", str(known.port)]
    return ["run", str(APP_FILE), *port, *settings]


def port_number(text: str) -> int:
    """Returns the port that a text says. Raises argparse.ArgumentTypeError if it is no number from 1 to 65535."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= LAST_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to {LAST_PORT}, not {text!r}")
    return int(text)
