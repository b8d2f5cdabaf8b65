"""The guide as an ASGI route: `/`, `/docs`, `/llms.txt` and what lies below.

Open to everybody, and the same for everybody: a reader's key never comes here. Knows no page's
content.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Final
from urllib.parse import parse_qs

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from zurelay.console import application as console
from zurelay.console import cookies
from zurelay.console.languages import NAMES, choose
from zurelay.docs import assets, rendering
from zurelay.docs.addresses import Address, find, is_ours
from zurelay.docs.drawing import ROOT
from zurelay.docs.edition import HTML, Answer, Edition
from zurelay.docs.facts import Facts
from zurelay.docs.levels import levels_of
from zurelay.docs.library import exists
from zurelay.docs.parts import DocsParts

PREFERENCES: Final = f"{ROOT}/preferences"
FRONT: Final = "/"
MOST_FORM: Final = 2000
_VARY: Final = "cookie, accept-language, accept, accept-encoding"

log = structlog.get_logger("zurelay.docs")


class Docs(BaseRoute):
    """The site, to stand among other routes.

    Pages are made in one thread of their own, at the first look; what was made is sent from memory
    until the facts in it change.
    """

    def __init__(self, parts: DocsParts) -> None:
        self._parts = parts
        self._thread = ThreadPoolExecutor(1, "zurelay-docs")
        self._edition: Edition | None = None
        self._seen: tuple[object, ...] = ()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a path is the site's."""
        path = scope.get("path", "")
        ours = scope["type"] == "http" and (path == FRONT or is_ours(path))
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        request = Request(scope, receive)
        try:
            response = await self._response(request)
        except ClientDisconnect:
            return
        except Exception:
            log.exception("docs_request_failed", path=request.url.path)
            response = PlainTextResponse("Something went wrong here.\n", 500)
        for name, value in {**console.HEADERS, "cache-control": "no-cache"}.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        path = request.url.path
        if path == PREFERENCES and request.method == "POST":
            return await self._prefer(request)
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("Not here.\n", 405, {"allow": "GET, HEAD"})
        if path.startswith(f"{assets.PATH}/"):
            return assets.OURS.serve(request)
        edition = await self._current()
        theme, code = cookies.theme(request), _language(request)
        if path == FRONT:
            return await self._front(edition, code, theme)
        accepted = request.headers.get("accept", "")
        as_markdown = "text/markdown" in accepted and "text/html" not in accepted
        address = find(path, code, as_markdown=as_markdown)
        if address is None:
            return await self._missing(request, edition, code, theme)
        answer = edition.kept(address, theme)
        if answer is None:
            answer = await self._made(edition, address, theme)
        return _sent(request, answer, address)

    async def _current(self) -> Edition:
        """The edition with the facts as they are now; a new one only if they differ."""
        parts = self._parts
        table = parts.table()
        public = bool(parts.public_url())
        seen = (table, public, parts.brand(), parts.wire(), parts.base_url(), parts.example_model())
        if self._edition is not None and _same(seen, self._seen):
            return self._edition
        brand, wire, base_url, example = (str(one) for one in seen[2:])
        models = [served.model for served in table.models.values()]
        levels = await asyncio.get_running_loop().run_in_executor(self._thread, levels_of, models)
        facts = Facts(brand, wire, base_url, example, levels, is_public=public)
        if self._edition is None or self._edition.facts != facts:
            self._edition = Edition(facts)
        self._seen = seen
        return self._edition

    async def _made(self, edition: Edition, address: Address, theme: str) -> Answer:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, edition.answer, address, theme)

    async def _front(self, edition: Edition, code: str, theme: str) -> Response:
        loop = asyncio.get_running_loop()
        status = asdict(self._parts.status())
        html = await loop.run_in_executor(
            self._thread, rendering.front, edition.library, code, theme, status
        )
        return HTMLResponse(html, headers={"vary": _VARY, "cache-control": "no-store"})

    async def _missing(self, request: Request, edition: Edition, code: str, theme: str) -> Response:
        path = request.url.path
        headers = {"vary": _VARY, "cache-control": "no-store"}
        if path.endswith((".md", ".txt", ".json")):
            text = f"There is no such page. All of them: {edition.facts.base_url}/llms.txt\n"
            return PlainTextResponse(text, 404, headers)
        names = path.removeprefix(f"{ROOT}/").split("/")
        if names[0] in NAMES:
            code = names[0]
        loop = asyncio.get_running_loop()
        html = await loop.run_in_executor(self._thread, edition.missing, code, path, theme)
        return HTMLResponse(html, 404, headers)

    async def _prefer(self, request: Request) -> Response:
        """Keeps a language or a theme, for the console too, and goes back to the page."""
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return PlainTextResponse("Not from there.\n", 403)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_FORM:
                return PlainTextResponse("Too much.\n", 413)
        fields = parse_qs(bytes(body).decode("utf-8", "replace"))
        language, theme, page, shown = (
            fields.get(name, [""])[0] for name in ("language", "theme", "page", "shown")
        )
        chosen: dict[str, str | None] = {}
        if language in NAMES:
            chosen[cookies.LANGUAGE] = shown = language
        if theme in cookies.THEMES:
            chosen[cookies.THEME] = theme
        to = f"{ROOT}/{shown}" if shown in NAMES else ROOT
        response = RedirectResponse(f"{to}/{page}" if exists(page) else to, 303)
        cookies.write(response, chosen, secure=self._parts.public_url().startswith("https:"))
        return response


def _language(request: Request) -> str:
    return choose(cookies.language(request), request.headers.get("accept-language", ""))


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    """Tables are told apart by which they are: they are big, and a change makes a new one."""
    return len(one) == len(other) and one[0] is other[0] and one[1:] == other[1:]


def _sent(request: Request, answer: Answer, address: Address) -> Response:
    headers = {"etag": f'W/"{answer.tag}"', "vary": _VARY, "content-language": address.code}
    if answer.media_type == HTML:
        headers["link"] = '</llms.txt>; rel="describedby"; type="text/plain"'
    if _knows(request, answer.tag):
        return Response(None, 304, headers)
    body = answer.body
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        body = answer.gzipped
    return Response(body, 200, headers, answer.media_type)


def _knows(request: Request, tag: str) -> bool:
    known = request.headers.get("if-none-match", "")
    return any(one.strip().removeprefix("W/") in (f'"{tag}"', "*") for one in known.split(","))
