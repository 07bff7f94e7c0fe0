"""Scripts that a browser fetches once, and keeps.

Streamlit sends the script of a component anew with everything that the component is to show. That of the picture has
200 KB, which a browser would read each time, while somebody waits.
"""

from hashlib import sha256

FOLDER = "scripts"  # of the address
SCRIPTS: dict[str, str] = {}  # by the name of their file

# Several lines, or Streamlit takes it for the name of a file.
LOADER = """const app = window.__streamlit.BACKEND_BASE_URL.replace(/\\/?$/, "/");
const { default: draw } = await import(app + "%s");
export default draw;"""


def keep_script(name: str, script: str) -> str:
    """Keeps a script to be fetched, and returns the name of its file.

    The file's name changes with its text, so that a browser never keeps an old one.
    """
    digest = sha256(script.encode()).hexdigest()[:16]
    file_name = f"{name.rpartition('/')[-1]}.{digest}.js"
    SCRIPTS[file_name] = script
    return file_name


def make_loader(name: str, script: str) -> str:
    """Keeps the script of a component to be fetched, and returns the script that fetches it."""
    return LOADER % f"{FOLDER}/{keep_script(name, script)}"
