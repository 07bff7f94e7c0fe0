"""Pictures of files are drawn in worker processes, for the visitor who asked, and are what they were."""

import asyncio
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import streamlit as st

from attention_core.documents.picture_files import Drawing, draw_by, has_letter, png_bytes
from attention_core.record.errors import AttentionError
from pages.export import run_files, worker_drawing
from pages.session.visitor import NOBODY, current_visitor, work_for
from pages.workers.program import NICENESS
from pages.workers.queue import GivenUp, WorkerQueue
from tests.benchmarks.visitor import visiting
from tests.browser.conftest import process_of
from tests.screen.driver import Screen

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="37" height="11"><rect width="13" height="7" fill="#0067a5"/></svg>'
)
LETTER = "\u0378"  # which no font has


@pytest.fixture
def workers(monkeypatch):
    """A queue of its own, which draws all pictures of files during a test."""
    queue = WorkerQueue()
    monkeypatch.setattr(worker_drawing, "WORKERS", queue)
    monkeypatch.setattr(Drawing, "call", Drawing.call)
    draw_by(worker_drawing.draw_in_worker)
    yield queue
    for worker in queue.free:
        worker.end()


def test_a_picture_is_drawn_in_a_worker_for_who_asked(workers, monkeypatch):
    here = Drawing.call
    asked, call = [], workers.call
    monkeypatch.setattr(
        workers, "call", lambda draw, visitor, *more: asked.append(visitor) or call(draw, visitor, *more)
    )
    with work_for("one"):
        drawn = png_bytes(SVG)
    assert asked == ["one"] and len(workers.free) == 1
    monkeypatch.setattr(Drawing, "call", staticmethod(lambda draw: draw()))
    assert here is not Drawing.call and drawn == png_bytes(SVG)


def test_a_file_is_made_for_the_session_that_offers_it(monkeypatch):
    offered, show = {}, st.download_button

    def noted(label, make, *rest, key, **more):
        offered[key] = make, current_visitor()
        return show(label, make, *rest, key=key, **more)

    monkeypatch.setattr(st, "download_button", noted)
    monkeypatch.setattr(run_files, "png_bytes", lambda svg: current_visitor())
    screen = Screen("export")  # holds what the files are made of
    make, visitor = offered["export_png"]
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(make).result() == visitor != NOBODY
    assert screen.at


def test_nothing_is_drawn_for_who_has_left(workers, monkeypatch):
    monkeypatch.setattr(workers, "most", 0)
    monkeypatch.setattr(worker_drawing, "has_asker_left", lambda: True)
    with pytest.raises(GivenUp):
        png_bytes(SVG)


def test_where_no_process_can_draw_the_panel_says_so_and_offers_the_rest(monkeypatch):
    def end(draw):
        raise AttentionError("worker_ended", limit=60)

    monkeypatch.setattr(Drawing, "call", staticmethod(end))
    has_letter.cache_clear()
    screen = Screen("export")
    keys = {each.proto.id.rpartition("-")[2] for each in screen.at.get("download_button")}
    assert "export_svg" in keys and "export_png" not in keys
    assert any("the next try starts another one" in text for text in screen.captions())


def read_niceness(pid):
    """How nice a process is: the 17th field of its state, after its name."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[16])


@pytest.mark.slow
def test_the_server_draws_in_a_process_of_lower_priority_what_this_process_draws():
    async def download(address):
        async with visiting(address, "lang=en") as visitor:
            await visitor.open_drawer("export")
            return [await visitor.download(f"export_{name}") for name in ("svg", "png")]

    with process_of("app.py") as (address, pid), ThreadPoolExecutor(1) as thread:
        places = thread.submit(asyncio.run, download(address)).result()
        svg, png = (urllib.request.urlopen(address + place).read() for place in places)
        tasks = Path(f"/proc/{pid}/task").iterdir()
        (child,) = [number for task in tasks for number in (task / "children").read_text().split()]
        assert "program.py" in Path(f"/proc/{child}/cmdline").read_text()
        assert read_niceness(child) == read_niceness(pid) + NICENESS
    assert png == png_bytes(svg.decode())
