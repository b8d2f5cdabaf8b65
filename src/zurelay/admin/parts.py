"""What the admin API is given, and what its endpoints share: who is calling, how answers look.

Knows no endpoint.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from zurelay.chat.problems import Problem
from zurelay.formats.openai_chat.errors import problem_body
from zurelay.live.tokens import TokenRing
from zurelay.office.desk import Desk
from zurelay.office.rights import Actor, actor_of
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
        session: who acts by the session in a call's cookie; None without one.
        process, name: this process's id among all that share the store, and what people call it.
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
    session: Callable[[Request], Awaitable[Actor | None]]
    process: str = ""
    name: str = ""


async def caller(parts: AdminParts, request: Request) -> Actor:
    """Who is calling: by an admin token, else by a console session. Raises Refused."""
    if "authorization" not in request.headers:
        actor = await parts.session(request)
        if actor is not None:
            return actor
    token = await parts.tokens.identify(request.headers.raw, request.method, confined=True)
    return actor_of(token)


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
