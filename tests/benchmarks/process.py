"""What the operating system says of a process: its memory and the processor time that it took."""

import os
from pathlib import Path

AS_IT_COMES = {"STREAMLIT_RUNNER_POST_SCRIPT_GC": "true"}  # what a page has that this app's settings do not touch
TICKS = os.sysconf("SC_CLK_TCK")  # a second


def cpu_seconds(pid: int) -> float:
    """Processor time of all its threads, in user and system mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()  # after the name: state is the first
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_megabytes(pid: int) -> float:
    """Memory that it holds at the moment."""
    return status_megabytes(pid, "VmRSS")


def most_resident_megabytes(pid: int) -> float:
    """The most that it has held at once."""
    return status_megabytes(pid, "VmHWM")


def status_megabytes(pid: int, field: str) -> float:
    """A field of its status, which the system counts in kB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024
