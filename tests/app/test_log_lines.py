"""No line of a log holds what a visitor typed: neither as a value of the line nor in the message of an exception."""

import io
import logging
import threading

import pytest

from pages.app import log_lines

TYPED = "Zebrafink"


@pytest.fixture
def lines():
    """A logger, and what it has written."""
    written = io.StringIO()
    logger = logging.Logger("streamlit.elements.widgets.data_editor")
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    factory, hook = logging.getLogRecordFactory(), threading.excepthook
    log_lines.leave_out_typed_text()
    yield logger, written
    logging.setLogRecordFactory(factory)
    threading.excepthook = hook


NAME = "streamlit.elements.widgets.data_editor"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("Failed to parse value %s as %s.", TYPED, "float"), "Failed to parse value … as …."),
        (("Failed to apply edit %r to row %-5.2f%%", TYPED, 3), "Failed to apply edit … to row …%"),
        (("Edit of %(cell)s", {"cell": TYPED}), "Edit of …"),
        (("nothing is left out",), "nothing is left out"),
        ((ValueError(f"could not read {TYPED}"),), "ValueError"),
    ],
)
def test_the_values_of_a_line_are_left_out(lines, given, line):
    logger, written = lines
    logger.warning(*given)
    assert written.getvalue() == f"WARNING {NAME}: {line}\n"


def fail() -> None:
    """An error in the handling of another one; both quote what was typed."""
    typed = TYPED
    try:
        float(typed)
    except ValueError as error:
        raise KeyError(typed) from error


def test_a_traceback_names_classes_and_lines_and_no_message(lines):
    logger, written = lines
    try:
        fail()
    except KeyError:
        logger.exception("Uncaught app execution")
    said = written.getvalue()
    assert TYPED not in said
    assert said.splitlines()[-1] == "KeyError" and "ValueError" in said.splitlines()
    assert "float(typed)" in said and said.startswith(f"ERROR {NAME}: Uncaught app execution\nTraceback:\n")


def test_a_thread_that_ends_with_an_error_says_where_and_not_what_was_typed(lines, capsys):
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    said = capsys.readouterr().err
    assert TYPED not in said and "KeyError" in said and "in fail" in said
