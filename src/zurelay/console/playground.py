"""The playground: any model tried out by hand, on the path of every other request.

A question goes in as the body of a Chat Completions request and comes back as its caller would see
it. It is admitted, billed and logged under a key that the console has in the member's account.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from zurelay.access.accounts import Account
from zurelay.chat.effort import SCALE
from zurelay.chat.problems import Problem, Refused
from zurelay.console.languages import N_
from zurelay.console.page import CHANGERS, SIGNED_IN, Form, Html, Page, Reply, Visit
from zurelay.console.parts import Asked, ConsoleParts
from zurelay.office import requests
from zurelay.office.console_keys import console_key
from zurelay.office.sessions import accounts_of

HOME: Final = "/console/playground"
MOST_BODY: Final = 32 * 1024 * 1024
"""Bytes of a question with its images and files."""

FAULTS: Final = {
    "sandbox/error?status=503": N_("It is overloaded: 503"),
    "sandbox/error?status=429": N_("It answers 429"),
    "sandbox/rate-limit?retry_after=2": N_("Rate limited, with retry-after"),
    "sandbox/error?status=400": N_("It refuses the request: 400"),
    "sandbox/slow?first=5": N_("The first token takes 5 seconds"),
    "sandbox/lorem?tokens=300&tps=15": N_("A long answer that comes slowly"),
    "sandbox/stall?after=10": N_("It falls silent after 10 tokens"),
    "sandbox/cut?after=10": N_("It breaks off after 10 tokens"),
    "sandbox/refusal": N_("The model refuses"),
    "sandbox/tools": N_("It calls a tool"),
}
_KEPT_HEADERS: Final = frozenset({b"user-agent", b"x-forwarded-for"})
_NOT_TOLD: Final = (b"access-control-", b"content-length", b"transfer-encoding")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model to choose: its effort levels, default first mark, and what it takes."""

    id: str
    name: str
    levels: tuple[str, ...]
    default: str
    input: tuple[str, ...]


def choices(parts: ConsoleParts) -> list[Choice]:
    """Models that answer, the smart choice first; to be called on the event loop."""
    table = parts.table()
    found = []
    if table.auto is not None:
        found.append(Choice(table.auto.id, "", SCALE, "", ()))
    for served in table.models.values():
        model = served.model
        if model.mode == "embeddings":
            continue
        reasoning = model.reasoning
        levels = SCALE if reasoning is None else reasoning.levels
        default = "" if reasoning is None else reasoning.default or ""
        found.append(Choice(model.id, model.name, levels, default, model.input))
    return found


def page(visit: Visit) -> Reply:
    """The page; everything in it that moves is a script's."""
    known: Sequence[Choice] = visit.gathered
    wanted = visit.query.get("model", "")
    first = next((one.id for one in known if one.id == wanted.partition("?")[0]), None)
    return Html(
        "playground.html",
        {
            "choices": known,
            "levels": SCALE,
            "model": wanted if first else _usual(visit, known),
            "faults": {id_: told for id_, told in FAULTS.items() if _is_served(id_, known)},
            "payer": _account(visit),
            "form": Form(),
        },
    )


def cost(visit: Visit) -> Reply:
    """What a request came to, for the script that asked; nothing until it is in the log."""
    try:
        found = requests.get(visit.parts.desk, visit.actor, visit.path["request"])
    except Refused as refused:
        if refused.problem.status != 404:
            raise
        return JSONResponse({})
    wanted = ("id", "status", "cost_usd", "cost_estimated", "answered_by")
    told = {name: found.get(name) for name in wanted}
    return JSONResponse(told | {"cost": visit.language.money(found["cost_usd"])})


async def ask(visit: Visit) -> Response:
    """Ask a model, and hand its answer on as it comes.

    Raises:
        Refused: 413, 415; 401, 403, 404, 503 as the account's key has it.
    """
    request = visit.request
    body = await _body(request)
    key = await asyncio.to_thread(_key, visit)
    headers = [(name, value) for name, value in request.headers.raw if name in _KEPT_HEADERS]
    host = "" if request.client is None else request.client.host
    asked = await visit.parts.ask(key, body, headers, host)
    watch = asyncio.create_task(_watch(request, asked))
    try:
        head = await asked.head()
    except asyncio.CancelledError:
        asked.leave()
        watch.cancel()
        raise
    if head is None:
        raise ClientDisconnect
    return Relayed(head[0], head[1], asked, watch)


class Relayed(Response):
    """A model's answer as its caller would get it, status and headers too."""

    def __init__(
        self,
        status: int,
        headers: Sequence[tuple[bytes, bytes]],
        asked: Asked,
        watch: "asyncio.Task[None]",
    ) -> None:
        told = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in headers
            if not name.startswith(_NOT_TOLD)
        }
        super().__init__(None, status, told)
        del self.headers["content-length"]
        self._id = told.get("x-request-id", "")
        self._asked = asked
        self._watch = watch

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send it."""
        self.headers["x-request-id"] = self._id  # not that of the console's own call
        start = {
            "type": "http.response.start",
            "status": self.status_code,
            "headers": self.raw_headers,
        }
        try:
            await send(start)
            while (piece := await self._asked.piece()) is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            last = b": cut\n\n" if self._asked.cut else b""
            await send({"type": "http.response.body", "body": last, "more_body": False})
        finally:
            self._asked.leave()
            self._watch.cancel()


async def _watch(request: Request, asked: Asked) -> None:
    """Tell when the browser goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    asked.leave()


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(_problem(415, "wrong_content_type"))
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY:
            raise Refused(_problem(413, "too_large"))
    return bytes(body)


def _key(visit: Visit) -> bytes:
    """The hash of the key of the account that is looked at."""
    account = _account(visit)
    if account is None:
        raise Refused(_problem(404, "not_found"))
    return console_key(visit.parts.desk, visit.actor, account.id).hash


def _account(visit: Visit) -> Account | None:
    """Who pays: the account that is looked at, else the first of one's own."""
    if visit.visitor is None:
        return None
    known = accounts_of(visit.parts.desk, visit.visitor)
    if visit.account is not None:
        return next((one for one in known if one.id == visit.account), None)
    mine = {one.account for one in visit.visitor.memberships}
    known.sort(key=lambda one: (one.id not in mine, one.name != "default"))
    return known[0] if known else None


def _usual(visit: Visit, known: Sequence[Choice]) -> str:
    """What to begin with: a real model where there is one."""
    real = [one.id for one in known if one.name and not one.id.startswith("sandbox/")]
    usual = "sandbox/reasoning" if _is_served("sandbox/reasoning", known) else ""
    return real[0] if real else usual or visit.parts.example_model()


def _is_served(id_: str, known: Sequence[Choice]) -> bool:
    return any(one.id == id_.partition("?")[0] for one in known)


def _problem(status: int, code: str) -> Problem:
    return Problem(status, "invalid_request_error", code, "", None)


PAGES = (
    Page("GET", HOME, SIGNED_IN, page, choices),
    Page("POST", f"{HOME}/ask", CHANGERS, stream=ask),
    Page("GET", f"{HOME}/requests/{{request}}", SIGNED_IN, cost),
)
