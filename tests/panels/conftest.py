"""Fixtures of the tests that use the app without a browser."""

from tests.screen.fixtures import (  # noqa: F401
    a_page_is_drawn_at_once,
    every_change_draws_the_whole_page,
    labels_are_read_in_the_language_of_the_screen,
)
