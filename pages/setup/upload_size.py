"""How large a file may be that somebody brings. The server takes larger ones (`.streamlit/config.toml`), which are
attention maps alone; each other box of a file says its own bound."""

from attention_core.inputs.files.array_bytes import ARRAY_BOUNDS

MAX_UPLOAD_MB = ARRAY_BOUNDS.megabytes
