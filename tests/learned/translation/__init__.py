"""Tests of the translators."""
