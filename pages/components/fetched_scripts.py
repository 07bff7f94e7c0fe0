"""Serves component scripts as files that a browser fetches once and caches.

Streamlit sends the script of a component again with every update of the component's data. The script of the picture has
200 KB, and a browser would parse it each time while the visitor waits.
"""

from hashlib import sha256

FOLDER = "scripts"  # folder in the URLs of these scripts
SCRIPTS: dict[str, str] = {}  # file name -> text of the script

# The loader has several lines, because Streamlit would take a script of a single line for a file name.
LOADER = """const app = window.__streamlit.BACKEND_BASE_URL.replace(/\\/?$/, "/");
const { default: draw } = await import(app + "%s");
export default draw;"""


def keep_script(name: str, script: str) -> str:
    """Register a script to be fetched, and return the name of its file.

    The name contains a hash of the text, so a browser never uses an outdated script.
    """
    digest = sha256(script.encode()).hexdigest()[:16]
    file_name = f"{name.rpartition('/')[-1]}.{digest}.js"
    SCRIPTS[file_name] = script
    return file_name


def make_loader(name: str, script: str) -> str:
    """Register the script of a component to be fetched, and return a short script that imports it."""
    return LOADER % f"{FOLDER}/{keep_script(name, script)}"
