"""The command `attention-explorer`: what it hands to Streamlit, and what it refuses."""

import pytest

from pages.app.command import APP_FILE, streamlit_arguments
from tests.house.test_house import ROOT


def test_it_starts_the_entry_point_of_the_app():
    assert APP_FILE == ROOT / "app.py"
    assert streamlit_arguments([]) == ["run", str(ROOT / "app.py")]


@pytest.mark.parametrize("port", ["0", "65536", "-1", "8600.5", "eight", "", "²"])
def test_a_port_that_is_none_is_refused_with_a_sentence(port, capsys):
    with pytest.raises(SystemExit) as ended:
        streamlit_arguments([f"--port={port}"])
    assert ended.value.code == 2
    assert f"a port is a number from 1 to 65535, not {port!r}" in capsys.readouterr().err
