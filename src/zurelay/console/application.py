"""The console as an ASGI application: who is calling, from where, and may they; then the page.

Every answer has the headers that keep scripts and images of others out. Knows no page's content.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs, quote

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from zurelay.chat.problems import Problem, Refused
from zurelay.console import assets, cookies
from zurelay.console.callers import sent_by_us
from zurelay.console.hosts import host_is_ours
from zurelay.console.languages import choose, language
from zurelay.console.page import Form, Html, Page, Redirect, Reply, Visit, Who
from zurelay.console.parts import ConsoleParts
from zurelay.console.registry import PAGES
from zurelay.console.rendering import render
from zurelay.office.desk import Unavailable
from zurelay.office.sessions import resume, secret_text, where

T = TypeVar("T")

PATH: Final = "/console"
THREADS: Final = 4
MOST_FIELDS: Final = 1000

HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_LONGEST_PATH = 500
_SERVED = tuple(page.path for page in PAGES if page.method == "GET")

log = structlog.get_logger("zurelay.console")


def _pattern(path: str) -> re.Pattern[str]:
    names = re.sub(r"\{([a-z_]+):rest\}", r"(?P<\1>.+)", path)
    return re.compile(re.sub(r"\{([a-z_]+)\}", r"(?P<\1>[^/]+)", names))


_PATTERNS = tuple((_pattern(page.path), page) for page in PAGES)


class Console(BaseRoute):
    """All of `/console`, to stand among other routes."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._parts = parts
        self._threads = ThreadPoolExecutor(THREADS, "zurelay-console")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a path is below the console's."""
        path = scope.get("path", "")
        ours = scope["type"] == "http" and (path == PATH or path.startswith(f"{PATH}/"))
        return (Match.FULL if ours else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        request = Request(scope, receive)
        if request.url.path.startswith(f"{assets.PATH}/") and request.method in ("GET", "HEAD"):
            await assets.serve(request)(scope, receive, send)
            return
        request_id = self._parts.request_id()
        visit = _stranger(self._parts, request)
        try:
            response = await self._serve(visit)
        except ClientDisconnect:
            return
        except Refused as refused:
            response = await self._refusal(visit, refused.problem)
        except Unavailable as error:
            log.warning("console_store_away", request_id=request_id, error=str(error))
            response = await self._refusal(visit, _problem(503, "store_away"))
        except Exception:
            log.exception("console_request_failed", request_id=request_id)
            response = await self._refusal(visit, _problem(500, "internal_error"))
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers["x-request-id"] = request_id
        cookies.write(response, visit.cookies, secure=self._secure)
        await response(scope, receive, send)

    @property
    def _secure(self) -> bool:
        return self._parts.public_url().startswith("https:")

    async def _serve(self, visit: Visit) -> Response:
        request = visit.request
        if not host_is_ours(request.headers.get("host", ""), self._parts.public_url()):
            raise Refused(_problem(421, "wrong_host"))
        text = cookies.session(request)
        if text:
            await self._in_thread(_recognise, visit, text)
        if visit.visitor is not None:
            visit.secret = visit.visitor.text
        elif not visit.secret:
            visit.secret = secret_text(self._parts.desk)
            visit.cookies[cookies.FORM] = visit.secret
        page, visit.path = _find(request)
        who: Who = "nobody" if visit.visitor is None else visit.actor.role
        if who not in page.roles:
            if who == "nobody":
                return _to_sign_in(visit)
            raise Refused(_problem(403, "not_allowed"))
        if page.method == "POST":
            await _read_form(visit, page)
            _checked(visit)
        if page.gather is not None:
            visit.gathered = page.gather(self._parts)
        if page.stream is not None:
            return await page.stream(visit)
        return await self._in_thread(_viewed, visit, page)

    async def _refusal(self, visit: Visit, problem: Problem) -> Response:
        """A page that says what went wrong; without its frame where even that cannot be made."""
        page = Html("error.html", {"problem": problem}, problem.status)
        try:
            return await self._in_thread(_answered, visit, page)
        except Exception as error:  # noqa: BLE001 - nothing but plain words is left
            log.warning("console_error_page_failed", error=str(error))
            return Response("Something went wrong here.\n", problem.status)

    async def _in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, work, *arguments)


def _stranger(parts: ConsoleParts, request: Request) -> Visit:
    """A visit of somebody not known yet."""
    code = choose(cookies.language(request), request.headers.get("accept-language", ""))
    return Visit(
        parts=parts,
        request=request,
        language=language(code),
        theme=cookies.theme(request),
        path={},
        query={name: value.strip() for name, value in request.query_params.items()},
        form=Form(),
        secret=cookies.form(request),
    )


def _recognise(visit: Visit, text: str) -> None:
    """Who has that session, and which account they look at."""
    desk = visit.parts.desk
    visit.visitor = visitor = resume(desk, text)
    if visitor is None:
        return
    if visitor.person.language is not None and not cookies.language(visit.request):
        visit.language = language(choose(visitor.person.language, ""))
    visit.account = where(desk, visitor, cookies.account(visit.request))


def _find(request: Request) -> tuple[Page, Mapping[str, str]]:
    """The page of a path and method. Raises Refused: 404, 405."""
    method = "GET" if request.method == "HEAD" else request.method
    path = request.url.path
    if len(path) > 1:
        path = path.rstrip("/")
    allowed = []
    for pattern, page in _PATTERNS:
        found = pattern.fullmatch(path) if len(path) <= _LONGEST_PATH else None
        if found is None or "\0" in path:
            continue
        if page.method == method:
            return page, found.groupdict()
        allowed.append(page.method)
    raise Refused(_problem(405 if allowed else 404, "not_found"))


async def _read_form(visit: Visit, page: Page) -> None:
    """The body of a form. Raises Refused: 400, 413, 415."""
    request = visit.request
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if page.stream is not None and kind == "application/json":
        return  # it reads its own body; the token comes in a header
    if kind != "application/x-www-form-urlencoded":
        raise Refused(_problem(415, "wrong_content_type"))
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > page.most_body:
            raise Refused(_problem(413, "too_large"))
    text = bytes(body).decode("utf-8", "replace").replace("\0", "")
    try:
        visit.form = Form(parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise Refused(_problem(400, "too_many_fields")) from None


def _checked(visit: Visit) -> None:
    """Only forms that we made for this browser change anything. Raises Refused: 403."""
    if not sent_by_us(visit.request, visit.secret, visit.form.get("token")):
        raise Refused(_problem(403, "form_over"))


def _to_sign_in(visit: Visit) -> Response:
    if visit.from_htmx:
        return Response("", 401, {"hx-redirect": f"{PATH}/sign-in"})
    path = visit.request.url.path
    if visit.request.url.query:
        path = f"{path}?{visit.request.url.query}"
    rest = "" if path == PATH or visit.request.method == "POST" else f"?next={quote(path, safe='')}"
    return RedirectResponse(f"{PATH}/sign-in{rest}", 303)


def _viewed(visit: Visit, page: Page) -> Response:
    if page.view is None:
        raise AssertionError(f"{page.path} has neither view nor stream")
    return _answered(visit, page.view(visit))


def _answered(visit: Visit, reply: Reply) -> Response:
    if isinstance(reply, Response):
        return reply
    if isinstance(reply, Redirect):
        if reply.notice:
            visit.cookies[cookies.NOTICE] = cookies.pack(reply.kind, reply.notice)
        return RedirectResponse(reply.to, 303)
    if not visit.from_htmx:
        visit.notice = cookies.notice(visit.request)
        if visit.notice is not None:
            visit.cookies.setdefault(cookies.NOTICE, None)
    return HTMLResponse(render(visit, reply, _SERVED), reply.status)


def _problem(status: int, code: str) -> Problem:
    return Problem(status, "invalid_request_error", code, "", None)
