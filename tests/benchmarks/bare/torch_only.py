"""The least that starts with torch: it is imported, and one text says so."""

import streamlit as st
import torch

st.text(f"torch {torch.__version__}")
