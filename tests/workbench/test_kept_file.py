"""Files of tensors after a reload: the tab has kept them, and nobody gets numbers of another file under their name."""

import json
from base64 import b64encode

import numpy as np
import torch

from pages.workbench import kept_file
from tests.screen.driver import Screen
from tests.workbench.test_tensors import bring, npz, told, trace

T, S, D, DV = 5, 7, 3, 2


def tensors(seed):
    numbers = np.random.default_rng(seed)
    return {"q": numbers.normal(size=(T, D)), "k": numbers.normal(size=(S, D)), "v": numbers.normal(size=(S, DV))}


def sent(screen):
    """What the browser tab is told."""
    (part,) = screen.parts("kept_file")
    return json.loads(part.proto.json)


def weights(arrays):
    q, k = torch.from_numpy(arrays["q"]), torch.from_numpy(arrays["k"])
    return torch.softmax(q @ k.T / D**0.5, -1)


def test_a_file_is_there_after_a_reload_with_its_settings_and_its_numbers():
    arrays = tensors(1)
    screen = bring(Screen(), ("mine.npz", npz(**arrays))).set("causal", True).set("temperature", 2.0)
    link, kept = screen.link(), sent(screen)
    assert kept["digest"] == link["file"] and "A reload of this browser tab keeps the file." in told(screen)
    again = Screen(**link)
    assert sent(again)["awaits"] == link["file"] and not again.errors()  # the tab has not answered yet
    again.click_part("kept_file", "read", kept["text"])
    assert not again.errors() and again.setup().run == screen.setup().run and again.link() == link
    assert torch.equal(trace(again)["weights"], trace(screen)["weights"]) and sent(again)["awaits"] == ""
    assert "Using q, k, v from mine.npz." in told(again)
    again.set("causal", False).set("temperature", 1.0)
    assert torch.allclose(trace(again)["weights"][0, 0], weights(arrays), rtol=0, atol=1e-12)


def test_a_tab_without_the_file_says_that_it_is_away():
    link = bring(Screen(), ("mine.npz", npz(**tensors(1)))).link()
    screen = Screen(**link).click_part("kept_file", "read", None)
    (error,) = screen.errors()
    assert "in a file that is no longer here" in error and screen.setup().run.file is None


def test_other_numbers_under_the_digest_of_a_file_are_not_used():
    link = bring(Screen(), ("mine.npz", npz(**tensors(1)))).link()
    other = b64encode(npz(**tensors(2))).decode()
    for text in (json.dumps([[["mine.npz", other]]]), "[[[1]]]", "[[]]", "null", "{}", '[[["a.npz", "é"]]]', "["):
        screen = Screen(**link).click_part("kept_file", "read", text)
        assert screen.setup().run.file is None, text
        (error,) = screen.errors()
        assert "in a file that is no longer here" in error, text


def test_what_somebody_changed_meanwhile_stays():
    first = bring(Screen(), ("mine.npz", npz(**tensors(1))))
    screen = Screen(**first.link()).set("causal", True)
    now = screen.setup()
    assert screen.click_part("kept_file", "read", sent(first)["text"]).setup() == now


def test_a_larger_file_says_before_a_reload_that_it_will_be_gone(monkeypatch):
    arrays = tensors(1)
    monkeypatch.setattr(kept_file, "MAX_KEPT_KB", len(npz(**arrays)) / 1024 - 0.001)
    screen = bring(Screen(), ("mine.npz", npz(**arrays)))
    assert sent(screen)["text"] == "" and "**A reload loses this file**" in told(screen)
