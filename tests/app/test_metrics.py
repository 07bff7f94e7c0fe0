"""The metrics of a running process count what its visitors did; who may read them; its log holds nothing typed."""

import asyncio
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect

from pages.app import metrics
from pages.site import refusals
from tests.benchmarks.visitor import Failed, visiting
from tests.browser.conftest import ROOT, free_port, wait_for_health

TYPED = "Zebrafink"  # no word of the app
FAILING = """
import streamlit as st
from pages.app import unfinished
show = unfinished.show_unfinished

def fail():
    text = st.query_params.get("text", "")
    if text.endswith("fails"):
        raise ValueError("could not read " + text)
    show()

unfinished.show_unfinished = fail
from streamlit.web.cli import main
main()
"""


def read(address: str, **headers: str) -> str:
    """The metrics, as a browser or Prometheus asks for them."""
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=")
        return answer.read().decode()


def numbers(text: str) -> dict[tuple, float]:
    """The samples of the text: {(name, its labels' values): number}."""
    families = text_string_to_metric_families(text)
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def status(address: str, **headers: str) -> int:
    """The status of an answer that is an error."""
    with pytest.raises(HTTPError) as refused:
        read(address, **headers)
    with refused.value as error:
        return error.code


async def use(address: str) -> tuple[dict, dict]:
    """Visitors who type, are refused, and meet an error; the metrics before, and while one is there."""
    before = numbers(await asyncio.to_thread(read, f"{address}/metrics"))
    async with visiting(address, "score=cosine") as visitor:
        await visitor.type_sentence(f"Anna fed the {TYPED}")
        await visitor.type_sentence(TYPED * 2000)  # longer than a sentence may be
        await visitor.type_sentence(TYPED * 2000 + "s")
        now = numbers(await asyncio.to_thread(read, f"{address}/base/metrics"))
    while numbers(await asyncio.to_thread(read, f"{address}/metrics"))["attention_sessions",]:
        await asyncio.sleep(0.05)  # until the server knows that the visitor has left
    with pytest.raises(Failed):
        async with visiting(address, f"text={TYPED}+fails"):
            pass
    async with connect(f"{address.replace('http', 'ws')}/_stcore/stream?{TYPED}", subprotocols=["streamlit"]) as socket:
        await socket.send(b"\xff" + TYPED.encode())  # no message of Streamlit
        with pytest.raises(Exception):  # noqa: B017 - however the connection ends
            while True:
                await asyncio.wait_for(socket.recv(), 5)
    return before, now


def test_the_metrics_count_what_visitors_did_and_the_log_quotes_none_of_it():
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", FAILING, "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            wait_for_health(address, process)
            with ThreadPoolExecutor(max_workers=1) as thread:  # a browser test may have left a loop running in this one
                before, now = thread.submit(asyncio.run, use(address)).result()
            for place in ("metrics", "_stcore/metrics"):
                assert status(f"{address}/{place}", **{"X-Forwarded-For": "127.0.0.1"}) == 403
            assert "attention_sessions" in read(f"{address}/_stcore/metrics")  # not Streamlit's own
            urllib.request.urlopen(f"{address}/{TYPED}?text={TYPED}", timeout=30).close()
        finally:
            process.kill()
        log = process.stdout.read()
    assert before["attention_sessions",] == 0 and now["attention_sessions",] == 1
    assert now["attention_change_seconds_count",] == 5  # the page, the rest of it, and three sentences
    assert now["attention_refusals_total", "text_too_long"] == 2
    assert now["attention_ready",] == 1 and now["attention_cache_bytes", "runs"] > 0
    assert now["attention_queue", "drawings"] == now["attention_cache_bytes", "uploads"] == 0
    assert now["attention_queue", "models"] == 0 and now["process_resident_memory_bytes",] > 1e8
    assert "Uncaught app execution" in log and "ValueError" in log  # the error is told
    assert TYPED not in log


@pytest.mark.parametrize(
    ("setting", "host", "headers", "may"),
    [
        ("", "127.0.0.1", [], True),
        ("", "::1", [], True),
        ("", "10.1.2.3", [], False),
        ("", "127.0.0.1", [(b"forwarded", b"for=10.1.2.3")], False),
        ("10.0.0.0/8 192.168.1.5", "10.1.2.3", [], True),
        ("10.0.0.0/8 192.168.1.5", "192.168.1.5", [], True),
        ("10.0.0.0/8", "127.0.0.1", [], False),
        ("10.0.0.0/8", "10.1.2.3", [(b"x-forwarded-for", b"10.9.9.9")], False),
        ("", "testclient", [], False),
    ],
)
def test_addresses_of_the_setting_may_read_and_nobody_behind_a_proxy(setting, host, headers, may):
    request = SimpleNamespace(client=SimpleNamespace(host=host), headers=SimpleNamespace(raw=headers))
    assert metrics.may_read(request, metrics.read_networks(setting)) is may


def test_a_setting_that_names_no_network_ends_the_start():
    with pytest.raises(SystemExit, match="ATTENTION_METRICS must be IP networks"):
        metrics.make_routes("everybody")


def test_an_error_counts_once_however_often_its_page_is_drawn(monkeypatch):
    monkeypatch.setattr(refusals, "COUNTS", type(refusals.COUNTS)())
    for error in [refusals.AttentionError("file_away")] * 3 + [refusals.AttentionError("file_away")]:
        refusals.count_refusal(error)
    assert refusals.COUNTS == {"file_away": 2}
