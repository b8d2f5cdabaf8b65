"""The console's own files, as a browser fetches them."""

import gzip
import re
from collections.abc import Callable

from starlette.requests import Request

from tests.console.people import Person
from zurelay.console import assets

Of = Callable[[str], Person]


async def test_each_file_has_its_digest_in_its_name_and_is_kept_for_ever(people: Of) -> None:
    nobody = people("nobody")
    for name, asset in assets.assets().items():
        stem, _, kind = name.rpartition(".")
        assert re.fullmatch(rf"/console/assets/{stem}\.[0-9a-f]{{12}}\.{kind}", asset.url)
        seen = await nobody.send("GET", asset.url)
        assert seen.status == 200
        assert seen.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert seen.headers["x-content-type-options"] == "nosniff"
        assert seen.text.encode() == asset.body
        assert seen.cookies == ()


async def test_what_is_not_there_is_not_found(people: Of) -> None:
    nobody = people("nobody")
    for path in ("console.css", "console.000000000000.css", "../page.py", "%2e%2e/page.py", ""):
        assert (await nobody.send("GET", f"/console/assets/{path}")).status in (303, 404)


def test_browsers_that_take_gzip_get_it() -> None:
    asset = assets.assets()["console.css"]
    headers = [(b"accept-encoding", b"br, gzip")]
    scope = {"type": "http", "path": asset.url, "headers": headers, "server": ("h", 80)}
    response = assets.serve(Request({**scope, "query_string": b"", "scheme": "http"}))
    assert response.headers["content-encoding"] == "gzip"
    assert gzip.decompress(bytes(response.body)) == asset.body


def test_a_file_that_was_not_fetched_has_no_address() -> None:
    assert assets.url("nothing.js") == ""
    assert assets.url("console.js").startswith(f"{assets.PATH}/console.")
