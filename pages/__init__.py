"""The Streamlit app: every page, its controls and its words, in English and Chinese."""
