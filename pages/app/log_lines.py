"""Keeps what visitors typed out of the log: log lines omit the values of their placeholders, and the messages of
exceptions.

Streamlit logs the text of a cell that it cannot read, and the message of an exception may quote a sentence. A log line
still has its constant text, the exception's class, and the lines of code.
"""

import logging
import re
import sys
import threading
from traceback import format_tb

LEFT_OUT = "…"
PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[#0 +-]*[\d.*]*[a-zA-Z]")


def leave_out_typed_text() -> None:
    """Makes all loggers of this process, and threads that end with an exception, omit values that visitors may have
    typed.
    """
    logging.setLogRecordFactory(make_record)
    threading.excepthook = log_thread_error


def make_record(*args, **kwargs) -> logging.LogRecord:
    """Returns a log record without values; has the same arguments as logging.LogRecord."""
    record = logging.LogRecord(*args, **kwargs)
    if isinstance(record.msg, BaseException):
        record.msg = name_class(record.msg)
    if record.args:
        record.msg, record.args = PLACEHOLDER.sub(LEFT_OUT, str(record.msg)).replace("%%", "%"), ()
    if record.exc_info and record.exc_info[1] is not None:
        record.exc_text, record.exc_info = spell_exception(record.exc_info[1]), None
    return record


def spell_exception(error: BaseException) -> str:
    """Returns the traceback of an exception, and of those that led to it, without their messages.

    >>> try:
    ...     float("Anna")
    ... except ValueError as error:
    ...     print(spell_exception(error).splitlines()[-1])
    ValueError
    """
    parts = ["Traceback:", "".join(format_tb(error.__traceback__)).rstrip(), name_class(error)]
    before = error.__cause__
    if before is None and not error.__suppress_context__:
        before = error.__context__
    if before is not None:
        parts = [spell_exception(before), "", "While this was handled:", "", *parts]
    return "\n".join(parts)


def name_class(error: BaseException) -> str:
    """Returns the name of an exception's class, with its module unless it is built in."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def log_thread_error(failed: threading.ExceptHookArgs) -> None:
    """Writes an error line for a thread that ended with an exception, in the place of Python's own."""
    if failed.exc_value is not None and failed.exc_type is not SystemExit:
        print("A thread ended with an error.", spell_exception(failed.exc_value), sep="\n", file=sys.stderr)
