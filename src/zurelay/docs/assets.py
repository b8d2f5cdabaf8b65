"""The site's own style and script; the console's serve it too. Knows no page."""

from pathlib import Path
from typing import Final

from zurelay.console import assets as console
from zurelay.console.assets import Assets
from zurelay.docs.drawing import ROOT

PATH: Final = f"{ROOT}/assets"
_HERE: Final = Path(__file__).parent / "assets"

FILES: Final = {name: _HERE / name for name in ("docs.css", "docs.js", "origin.js")}
OURS: Final = Assets(PATH, FILES)


def url(name: str) -> str:
    """Where a file of the site or of the console is served."""
    return OURS.url(name) or console.url(name)
