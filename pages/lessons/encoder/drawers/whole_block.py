"""The encoder's lesson, drawer "code": the whole block, as somebody writes it."""

import streamlit as st

from attention_core.variants.block_code import EncoderBlock, block_source
from pages.lessons.sentences import show_sentence
from pages.setup.setup import Setup


def show_whole_block(_: Setup) -> None:
    """Shows the source of a block, which a test compares with torch's own layer."""
    show_sentence("lessons.encoder.block_code")
    st.code(block_source(EncoderBlock), "python")
