"""The console's own files: style, script, and what the set-up fetched from npm.

Each is served under a name with a digest of its content, so that browsers may keep it for ever.
A fetched file that is not there is left out; pages are plainer without it. Knows no page.
"""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

PATH: Final = "/console/assets"
_HERE = Path(__file__).parent
_FETCHED = _HERE / "web" / "node_modules"

FILES: Final = {
    "console.css": _HERE / "assets" / "console.css",
    "pages.css": _HERE / "assets" / "pages.css",
    "console.js": _HERE / "assets" / "console.js",
    "charts.js": _HERE / "assets" / "charts.js",
    "playground.js": _HERE / "assets" / "playground.js",
    "playground_code.js": _HERE / "assets" / "playground_code.js",
    "icon.svg": _HERE / "assets" / "icon.svg",
    "htmx.js": _FETCHED / "htmx.org" / "dist" / "htmx.min.js",
    "uplot.js": _FETCHED / "uplot" / "dist" / "uPlot.iife.min.js",
    "uplot.css": _FETCHED / "uplot" / "dist" / "uPlot.min.css",
}

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is served. `gzipped` is its body for browsers that take that."""

    url: str
    body: bytes
    gzipped: bytes
    media_type: str


class Assets:
    """Files that are served below one path, each with its digest in its name.

    Args:
        path: where they are served.
        files: where they lie, by plain name.
    """

    def __init__(self, path: str, files: Mapping[str, Path]) -> None:
        self._path = path
        self._files = files

    @cached_property
    def all(self) -> dict[str, Asset]:
        """Every file that is there, by its plain name."""
        found = {}
        for name, path in self._files.items():
            if path.is_file():
                body = path.read_bytes()
                stem, dot, kind = name.rpartition(".")
                digest = hashlib.sha256(body).hexdigest()[:12]
                url = f"{self._path}/{stem}.{digest}{dot}{kind}"
                found[name] = Asset(url, body, gzip.compress(body, mtime=0), _TYPES[dot + kind])
        return found

    @cached_property
    def _by_url(self) -> dict[str, Asset]:
        return {asset.url: asset for asset in self.all.values()}

    def url(self, name: str) -> str:
        """Where a file is served; empty where it was not fetched."""
        asset = self.all.get(name)
        return "" if asset is None else asset.url

    def serve(self, request: Request) -> Response:
        """The file of a path; 404 for another one's."""
        asset = self._by_url.get(request.url.path)
        if asset is None:
            return Response("There is no such file.\n", 404, {"cache-control": "no-store"})
        headers = {
            "cache-control": "public, max-age=31536000, immutable",
            "x-content-type-options": "nosniff",
            "vary": "accept-encoding",
        }
        body = asset.body
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            body = asset.gzipped
        return Response(body, 200, headers, asset.media_type)


_OURS: Final = Assets(PATH, FILES)
url = _OURS.url
serve = _OURS.serve


def assets() -> dict[str, Asset]:
    """Every file of the console that is there, by its plain name."""
    return _OURS.all
