"""Tests of recording and opening the attention of other people's models."""
