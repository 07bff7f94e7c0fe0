"""The address is what is on the screen, even where the browser asked before it had heard the last one."""

import pytest
import streamlit as st

from pages.session.linked_state import show_link


class Address(dict):
    """The address that the browser named with its request; counts how often another is sent to it."""

    sent = 0

    def to_dict(self):
        return dict(self)

    def from_dict(self, link):
        self.clear()
        self.update(link)
        self.sent += 1


@pytest.fixture
def address(monkeypatch):
    address = Address()
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    show_link({})
    return address


def test_an_address_that_the_browser_has_is_not_sent_again(address):
    show_link({"mask": "causal"})
    before = address.sent
    show_link({"mask": "causal"})
    assert (address, address.sent) == ({"mask": "causal"}, before)


def test_an_address_is_sent_again_where_the_browser_asked_before_it_had_heard_another(address):
    show_link({"mask": "causal"})
    before = address.sent
    address.clear()  # the next click, of before
    show_link({})
    assert address.sent == before + 1
