"""The admin API as an ASGI application: every call is known before an endpoint hears of it.

A call without a good admin token learns nothing, not even which paths there are.
"""

from collections.abc import Callable

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from zurelay.admin import routes
from zurelay.admin.parts import AdminParts, caller, refusal
from zurelay.chat import problems
from zurelay.chat.problems import Refused

Endpoint = Callable[[AdminParts, Request], Response]

PATH = "/api/v1"

ENDPOINTS: dict[str, dict[str, Endpoint]] = {
    "/routes": {"GET": routes.list_routes},
}
"""Path below `PATH` -> method -> what answers."""

log = structlog.get_logger("zurelay.admin")


def mounted(parts: AdminParts) -> Mount:
    """The admin API at its place."""
    return Mount(PATH, _Application(parts))


class _Application:
    def __init__(self, parts: AdminParts) -> None:
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        request_id = self._parts.request_id()
        try:
            response = await self._serve(request)
        except Refused as refused:
            response = refusal(refused.problem)
        except Exception:
            log.exception("admin_request_failed", request_id=request_id)
            response = refusal(problems.internal())
        response.headers["x-request-id"] = request_id
        await response(scope, receive, send)

    async def _serve(self, request: Request) -> Response:
        await caller(self._parts, request)
        path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
        methods = ENDPOINTS.get(path)
        if methods is None:
            raise Refused(problems.not_found("There is no such endpoint in the admin API."))
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = methods.get(method)
        if endpoint is None:
            allow = ", ".join((*methods, "HEAD") if "GET" in methods else methods)
            raise Refused(problems.method_not_allowed(method, allow))
        return endpoint(self._parts, request)
