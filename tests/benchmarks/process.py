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
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
