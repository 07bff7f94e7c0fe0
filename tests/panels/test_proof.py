"""What the badge of a run's proof opens to: each check by the name that its step has in the session's language."""

import pytest

from tests.screen.driver import Screen


@pytest.mark.parametrize(
    ("language", "named", "unnamed"),
    [("zh", ("缩放后的得分", "加掩码后的得分", "权重", "投影后的 q"), "_scores"), ("en", ("scaled_scores",), "得分")],
)
def test_the_checks_name_their_steps_in_the_language(language, named, unnamed):
    screen = Screen(mask="causal", lang=language)
    screen.open("proof")
    (table,) = [text.value for text in screen.at.markdown if text.value.count("| ✓ |") > 20]
    steps = {line.split("|")[2].strip().replace("\\", "") for line in table.splitlines()[2:]}
    assert {*named} <= steps
    assert not any(unnamed in step for step in steps)
