"""What is served beside the data plane: the routes given, and a 404 that programs can read.

Knows no route.
"""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute


def pages(routes: Sequence[BaseRoute]) -> Starlette:
    """The ASGI application of everything that is not the data plane."""

    def missing(_request: Request, _error: Exception) -> Response:
        return JSONResponse(
            {
                "error": {
                    "message": "There is no such page here.",
                    "type": "invalid_request_error",
                    "param": None,
                    "code": "not_found",
                }
            },
            404,
        )

    return Starlette(routes=routes, exception_handlers={404: missing})
