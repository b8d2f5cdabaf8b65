"""The admin API as an ASGI application: every call is known before an endpoint hears of it.

A call without a good admin token or session learns nothing, not even which paths there are.
Endpoints work in threads of their own, so that a long look into the log keeps nobody else waiting.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import msgspec
import structlog
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from zurelay.admin import alerts, keys, looking, money, people, routes
from zurelay.admin.endpoint import Call, Endpoint, File, match
from zurelay.admin.openapi import document
from zurelay.admin.parts import HEADERS, AdminParts, answer, caller, refusal
from zurelay.admin.reading import no_nul, read_body, read_query
from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.office.desk import Unavailable
from zurelay.office.rights import Actor

PATH: Final = "/api/v1"
THREADS: Final = 4

log = structlog.get_logger("zurelay.admin")


def _document(_call: Call) -> object:
    return document(ENDPOINTS, PATH)


ENDPOINTS: tuple[Endpoint, ...] = (
    *people.ENDPOINTS,
    *keys.ENDPOINTS,
    *money.ENDPOINTS,
    *alerts.ENDPOINTS,
    *looking.ENDPOINTS,
    *routes.ENDPOINTS,
    Endpoint(
        "GET",
        "/openapi.json",
        "getDocument",
        "Get this description.",
        None,
        _document,
        dict[str, Any],
    ),
)


def mounted(parts: AdminParts) -> Mount:
    """The admin API at its place."""
    return Mount(PATH, _Application(parts))


class _Application:
    def __init__(self, parts: AdminParts) -> None:
        self._parts = parts
        self._threads = ThreadPoolExecutor(THREADS, "zurelay-admin")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        request_id = self._parts.request_id()
        try:
            response = await self._serve(request)
        except Refused as refused:
            response = refusal(refused.problem)
        except Unavailable as error:
            log.warning("admin_store_away", request_id=request_id, error=str(error))
            response = refusal(problems.overloaded_here("The store does not answer just now.", 5))
        except Exception:
            log.exception("admin_request_failed", request_id=request_id)
            response = refusal(problems.internal())
        response.headers["x-request-id"] = request_id
        await response(scope, receive, send)

    async def _serve(self, request: Request) -> Response:
        actor = await caller(self._parts, request)
        path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
        endpoint, placeholders = _find(path, request.method)
        if endpoint.right is not None:
            actor.needs(endpoint.right)
        no_nul(placeholders.values())
        call = await self._call(request, endpoint, actor, placeholders)
        if endpoint.on_loop:
            return answer(_plain(endpoint.call(call)), endpoint.status)
        made = await self._in_thread(endpoint.call, call)
        if isinstance(made, File):
            return self._file(made)
        return answer(_plain(made), endpoint.status)

    async def _call(
        self, request: Request, endpoint: Endpoint, actor: Actor, placeholders: dict[str, str]
    ) -> Call:
        query = read_query(request.scope["query_string"], endpoint.query)
        body = None
        if endpoint.body is not None:
            body = await read_body(request, endpoint.body)
        gathered = None if endpoint.gather is None else endpoint.gather(self._parts)
        return Call(self._parts, actor, placeholders, query, body, gathered)

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, work, *arguments)

    def _file(self, made: File) -> Response:
        async def pieces() -> AsyncIterator[str]:
            while (piece := await self._in_thread(next, made.pieces, None)) is not None:
                yield piece

        headers = HEADERS | {"content-disposition": f'attachment; filename="{made.name}"'}
        return StreamingResponse(pieces(), 200, headers, f"{made.media_type}; charset=utf-8")


def _find(path: str, method: str) -> tuple[Endpoint, dict[str, str]]:
    """The endpoint of a path and method. Raises Refused: 404, 405."""
    wanted = "GET" if method == "HEAD" else method
    allowed: list[str] = []
    for endpoint in ENDPOINTS:
        placeholders = match(path, endpoint.path)
        if placeholders is None:
            continue
        if endpoint.method == wanted:
            return endpoint, placeholders
        allowed.append(endpoint.method)
    if not allowed:
        raise Refused(problems.not_found("There is no such endpoint in the admin API."))
    if "GET" in allowed:
        allowed.append("HEAD")
    raise Refused(problems.method_not_allowed(method, ", ".join(allowed)))


def _plain(value: object) -> Any:
    """Structs as plain data."""
    return msgspec.to_builtins(value)
