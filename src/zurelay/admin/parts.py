"""What the admin API is given, and what its endpoints share: who is calling, how answers look.

Knows no endpoint.
"""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from zurelay.access.tokens import AdminToken
from zurelay.chat.problems import Problem
from zurelay.formats.openai_chat.errors import problem_body
from zurelay.live.tokens import TokenRing
from zurelay.office.desk import Desk
from zurelay.plan.health import Health
from zurelay.plan.route import RoutingTable
from zurelay.wire import json

HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True)
class AdminParts:
    """Alive as long as the process.

    Attributes:
        desk: where people's use cases happen.
        table: what is served now.
        redact: makes a provider's own words fit to be shown, by the settings in force.
        now: the clock that `health` is told.
        wall: Unix time.
        owner: `owned_by` of models that are in no vendor's catalogue.
        request_id: names a call.
    """

    desk: Desk
    tokens: TokenRing
    health: Health
    table: Callable[[], RoutingTable]
    redact: Callable[[str], str]
    now: Callable[[], float]
    wall: Callable[[], float]
    owner: Callable[[], str]
    request_id: Callable[[], str]


async def caller(parts: AdminParts, request: Request) -> AdminToken:
    """Who is calling. Raises Refused."""
    return await parts.tokens.identify(request.headers.raw, request.method, confined=True)


def answer(value: object, status: int = 200) -> Response:
    """`value` as JSON."""
    return Response(json.encode(value), status, HEADERS, "application/json")


def refusal(problem: Problem) -> Response:
    """A problem in OpenAI's shape."""
    headers = dict(HEADERS)
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    if problem.retry_after is not None:
        headers["retry-after"] = str(problem.retry_after)
    if problem.allow is not None:
        headers["allow"] = problem.allow
    return Response(problem_body(problem), problem.status, headers, "application/json")
