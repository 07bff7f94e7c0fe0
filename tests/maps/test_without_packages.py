"""The app without the packages of requirements-models.txt: the page of maps works, and says what they would add."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [line.split("==")[0] for line in (ROOT / "requirements-models.txt").read_text().split() if "==" in line]
WITHOUT = f"""\
import sys
for name in {[name.replace("-", "_") for name in PACKAGES]}:
    sys.modules[name] = None  # an import of it fails, as if it were not installed
from attention_core.checkpoints import open_folder
from attention_core.checkpoints.hub_model import HubModel, find_snapshot
from tests.maps.test_maps_page import grid
from tests.screen.lesson import Lesson
page = Lesson("maps", open="model")
print(page.at.info[0].value, len(grid(page)[0]["heads"]))
for asked in (lambda: find_snapshot(HubModel("owner/name")), lambda: open_folder(sys.argv[1])):
    try:
        asked()
    except ValueError as error:
        print(error.code)
"""


@pytest.mark.slow
def test_the_page_says_what_to_install_and_nothing_fails(tmp_path):
    made = "from tests.checkpoints.model_folders import *; from pathlib import Path; import sys"
    save = f"{made}; save(make_llama(), Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", save, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    ran = subprocess.run([sys.executable, "-c", WITHOUT, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert len(PACKAGES) == 4 and ran.returncode == 0, ran.stderr[-2000:]
    told, *codes = ran.stdout.splitlines()
    assert "pip install -r requirements-models.txt" in told and told.endswith(" 12")
    assert codes == ["models_package", "models_package"]
