"""Serves component scripts as files that a browser fetches once and caches.

Streamlit would send the script of a component again with every update of the component's data. The script of the
picture has 200 KB, which a browser would parse each time while the visitor waits.
"""

from hashlib import sha256

FOLDER = "scripts"  # folder of the fetched scripts, in their URLs
SCRIPTS: dict[str, str] = {}  # file name of a fetched script -> its text

# The loader has no await at its top level: WebKit would give a second component that imports the same loader its
# exports before they are initialised. Once the script is loaded, `draw` is the script's own function, so that
# components are drawn in the order of their data.
# The loader needs several lines: Streamlit would take a script of one line for a file name.
LOADER = """const app = window.__streamlit.BACKEND_BASE_URL.replace(/\\/?$/, "/");
const script = import(app + "%s").then((loaded) => (draw = loaded.default));
let draw = (part) => script.then(() => draw(part));
export default draw;"""


def keep_script(name: str, script: str) -> str:
    """Registers a script to be fetched, and returns the name of its file.

    The name contains a hash of the text, so a browser never uses an outdated script.
    """
    digest = sha256(script.encode()).hexdigest()[:16]
    file_name = f"{name.rpartition('/')[-1]}.{digest}.js"
    SCRIPTS[file_name] = script
    return file_name


def make_loader(name: str, script: str) -> str:
    """Registers the script of a component to be fetched, and returns a short script that imports it."""
    return LOADER % f"{FOLDER}/{keep_script(name, script)}"
