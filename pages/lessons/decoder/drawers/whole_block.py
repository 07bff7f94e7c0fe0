"""The decoder's lesson, drawer "code": the whole block, as somebody writes it."""

import streamlit as st

from attention_core.variants.block_code import DecoderBlock, block_source
from pages.lessons.decoder.translated import Written
from pages.lessons.sentences import show_sentence


def show_whole_block(_: Written) -> None:
    """Shows the source of a block, which a test compares with torch's own layer."""
    show_sentence("lessons.decoder.block_code")
    st.code(block_source(DecoderBlock), "python")
