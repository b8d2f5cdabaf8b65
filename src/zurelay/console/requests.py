"""Requests: the log, narrowed down, and each entry with its tries, tokens and cost.

What callers sent as user, metadata or client is shown as text and nothing else.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from msgspec import json
from starlette.responses import Response

from zurelay.chat.problems import Refused
from zurelay.console.languages import N_
from zurelay.console.page import CHANGERS, SIGNED_IN, Form, Html, Page, Redirect, Reply, Visit
from zurelay.console.timeline import timeline
from zurelay.formats.transcript import laid_out
from zurelay.office import contents, keys, requests
from zurelay.office.keys import KeyView
from zurelay.office.pages import MOST
from zurelay.office.pages import Page as ListPage
from zurelay.office.requests import Wanted

HOME: Final = "/console/requests"
STATUSES: Final = {
    "ok": N_("answered"),
    "error": N_("failed"),
    "client_closed": N_("caller left"),
    "interrupted": N_("cut off when the gateway stopped"),
    "running": N_("running"),
}
SPANS: Final = {
    "": N_("all times"),
    "1": N_("the last hour"),
    "24": N_("the last 24 hours"),
    "168": N_("the last 7 days"),
    "720": N_("the last 30 days"),
}
CHARGES: Final = {
    "input": N_("Input"),
    "cached_input": N_("Cached input"),
    "cache_write": N_("Written to the cache"),
    "cache_write_long": N_("Written to the cache for hours"),
    "audio_input": N_("Audio input"),
    "image_input": N_("Image input"),
    "output": N_("Output"),
    "audio_output": N_("Audio output"),
    "image_output": N_("Image output"),
    "request": N_("Fee of a request"),
    "web_search": N_("Web search"),
    "empty_answer": N_("Empty answers on the way"),
    "not_charged": N_("Not charged: paid with its first answer"),
}
CALLS: Final = ("request", "web_search")
"""What is charged by the piece, not by the million."""
REASONS: Final = {
    "connect": N_("no connection"),
    "timeout": N_("no first token in time"),
    "rate_limited": N_("rate limited"),
    "overloaded": N_("overloaded"),
    "refused_credential": N_("credential refused"),
    "bad_answer": N_("not a usable answer"),
    "broke_off": N_("broke off"),
    "empty": N_("an empty answer"),
    "server_error": N_("a fault of the provider"),
    "out_of_credit": N_("no credit at the provider"),
    "model_missing": N_("the provider does not have the model"),
    "model_fault": N_("the model failed"),
    "rejected": N_("refused the request"),
    "context_overflow": N_("too long for the model"),
    "content_policy": N_("refused by a filter"),
}
ROLES: Final = {
    "system": N_("System"),
    "developer": N_("Developer"),
    "user": N_("User"),
    "assistant": N_("Assistant"),
    "tool": N_("Tool"),
    "error": N_("Error"),
    "input": N_("Input"),
    "output": N_("Output"),
}
KINDS: Final = {
    "refusal": N_("refused"),
    "call": N_("calls"),
    "result": N_("result"),
    "file": N_("file"),
}
_TURNS: Final = 50
_PIECE: Final = 10_000
_RAW: Final = 40_000
FILTERS: Final = ("key", "model", "status", "user", "metadata", "hours")
_ROWS: Final = 50
_ID: Final = "req_"


def index(visit: Visit) -> Reply:
    """The newest entries that pass the filter."""
    query = visit.query
    sought = query.get("q", "").strip()
    if sought.startswith(_ID):
        return Redirect(f"{HOME}/{sought}")
    filters = {name: query.get(name, "").strip() for name in FILTERS}
    form = Form.of(q=sought, **filters)
    found = None
    try:
        wanted = _wanted(visit, filters)
        cursor = query.get("cursor") or None
        found = requests.list_requests(visit.parts.desk, visit.actor, wanted, _ROWS, cursor)
    except Refused as refused:
        if refused.problem.status not in (400, 404):
            raise
        form.failed(refused)
    if sought and not form.faults:
        form.faults["q"] = visit.gettext("An id begins with req_; see the x-request-id header.")
    given = {name: value for name, value in filters.items() if value}
    more = None
    if found is not None and found.next_cursor:
        more = f"{HOME}?{urlencode(given | {'cursor': found.next_cursor})}"
    return Html(
        "requests.html",
        {
            "form": form,
            "found": [] if found is None else found.data,
            "more": more,
            "filtered": bool(given),
            "live": not query.get("cursor"),
            "here": f"{HOME}?{urlencode(given)}",
            "keys": _names(visit),
            "iso": _iso,
            "statuses": STATUSES,
            "spans": SPANS,
            "rows": _ROWS,
            "scanned": requests.SCANNED,
        },
        400 if form.faults else 200,
    )


def show(visit: Visit) -> Reply:
    """One entry: what was asked, who answered, each try, what it cost."""
    one = requests.get(visit.parts.desk, visit.actor, visit.path["request"])
    names = _names(visit)
    return Html(
        "requests_one.html",
        {
            "one": one,
            "created": _iso(one["created"]),
            "key_name": names.get(one["key"], one["key"]),
            "line": timeline(one["attempts"], one["duration_ms"]),
            "names": CHARGES,
            "calls": CALLS,
            "statuses": STATUSES,
            "reasons": REASONS,
            **_messages(visit, one["id"]),
        },
    )


def download(visit: Visit) -> Reply:
    """All that is stored of an entry, as a file."""
    found = contents.read(visit.parts.desk, visit.actor, visit.path["request"])
    name = f'attachment; filename="{found.request}.json"'
    return Response(
        json.format(json.encode(found), indent=2),
        media_type="application/json",
        headers={"content-disposition": name},
    )


def _messages(visit: Visit, request: str) -> dict[str, Any]:
    """What was asked and answered. Operators must ask for it, and are written down."""
    desk, actor = visit.parts.desk, visit.actor
    values: dict[str, Any] = {"content": None, "opened": False, "roles": ROLES, "kinds": KINDS}
    if not actor.may("content.read"):
        return values
    if actor.account is None and visit.query.get("messages") != "show":
        return values | {"content": contents.state_of(desk, actor, request)}
    found = contents.read(desk, actor, request)
    turns = [
        (one.role, [(piece, *_shortened(piece.text, _PIECE)) for piece in one.pieces])
        for one in found.messages[-_TURNS:]
    ]
    more = max(0, len(found.messages) - _TURNS)
    texts = (text or "" for text in (found.body, found.answer))
    raw = [_shortened(laid_out(text.encode()) or text, _RAW)[0] for text in texts]
    return values | {"content": found, "opened": True, "turns": turns, "more": more, "raw": raw}


def _shortened(text: str, most: int) -> tuple[str, bool]:
    """The beginning of a text, and whether that is not all of it."""
    return (text, False) if len(text) <= most else (f"{text[:most]}…", True)


def _wanted(visit: Visit, filters: Mapping[str, str]) -> Wanted:
    since = None
    if filters["hours"] in SPANS and filters["hours"]:
        since = visit.parts.wall() - timedelta(hours=int(filters["hours"])).total_seconds()
    name, _, value = filters["metadata"].partition("=")
    return Wanted(
        account=visit.account,
        key=filters["key"] or None,
        model=filters["model"] or None,
        status=filters["status"] if filters["status"] in STATUSES else None,
        user=filters["user"] or None,
        metadata={name.strip(): value.strip()} if name else {},
        since=since,
    )


def _names(visit: Visit) -> dict[str, str]:
    """Key ids and what people call them."""
    return {one.id: one.name for one in _keys(visit)}


def _keys(visit: Visit) -> Sequence[KeyView]:
    return keys.list_keys(visit.parts.desk, visit.actor, ListPage(MOST), visit.account).data


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


PAGES = (
    Page("GET", HOME, SIGNED_IN, index),
    Page("GET", f"{HOME}/{{request}}", SIGNED_IN, show),
    Page("GET", f"{HOME}/{{request}}/messages.json", CHANGERS, download),
)
