"""`GET /api/v1/routes`: how every route stands."""

from starlette.requests import Request
from starlette.responses import Response

from zurelay.admin.parts import AdminParts, answer
from zurelay.plan.view import routes_view


def list_routes(parts: AdminParts, request: Request) -> Response:
    """All routes, or those of `?model=`."""
    data = routes_view(
        parts.table(),
        parts.health,
        parts.now(),
        parts.redact,
        request.query_params.get("model"),
    )
    return answer({"object": "list", "data": data})
