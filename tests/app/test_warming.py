"""The first visitors of a fresh process: their scripts begin when what they need is imported."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.benchmarks.visitor import visiting
from tests.browser.conftest import ROOT, free_port, wait_for_health

LINKS = ("", "ex=zh_ta&lang=zh", "score=additive", "mask=causal&step=weights&cell=0,0,1,1")
TELLING = """
import sys, threading

WATCHED = {"attention_core", "pages", "torch", "altair"}

def tell(event, given):
    if event == "import" and given[0].partition(".")[0] in WATCHED:
        print(threading.current_thread().name, given[0], flush=True)

sys.addaudithook(tell)
from streamlit.web.cli import main
main()
"""


async def visit_together(address: str) -> list[object]:
    """What became of visitors who come at once: nothing, or an exception."""

    async def visit(link: str) -> None:
        async with visiting(address, link):
            pass

    return await asyncio.gather(*map(visit, LINKS), return_exceptions=True)


def test_no_script_imports_beside_the_warm_up_and_no_visitor_meets_an_error():
    port = free_port()
    options = ["run", "app.py", "--server.port", str(port), "--server.address", "127.0.0.1"]
    command = [sys.executable, "-c", TELLING, *options, "--server.fileWatcherType", "none"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            wait_for_health(f"http://127.0.0.1:{port}", process)
            with ThreadPoolExecutor(max_workers=1) as thread:  # a browser test may have left a loop running in this one
                met = thread.submit(asyncio.run, visit_together(f"http://127.0.0.1:{port}")).result()
        finally:
            process.kill()
        said = process.stdout.read().splitlines()
    assert met == [None] * len(LINKS)
    assert "warming torch" in said and "warming attention_core" in said
    assert [line for line in said if line.startswith("ScriptRunner")] == []
