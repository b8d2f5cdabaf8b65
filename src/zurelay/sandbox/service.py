"""The sandbox as a function: one HTTP call in, its answer laid out in time.

Knows which dialect owns which path and how each ending looks in HTTP; knows no socket and no
clock. `upstream.py` plays the answer in process, `server.py` over a real socket.
"""

from datetime import UTC, datetime

import msgspec

from zurelay.chat.problems import Problem, Refused, method_not_allowed, not_found
from zurelay.sandbox import openai_embeddings
from zurelay.sandbox.anthropic import CountTokens, Messages
from zurelay.sandbox.base import Answer, Dialect, Headers, Identity, Step
from zurelay.sandbox.behaviour import MODELS, MOST_TOKENS, PREFIX, Behaviour, parse
from zurelay.sandbox.draft import Ask, draft
from zurelay.sandbox.errors import told
from zurelay.sandbox.gemini import CountContents, GenerateContent
from zurelay.sandbox.openai_chat import OpenAIChat
from zurelay.sandbox.openai_responses import CountInput, Responses
from zurelay.sandbox.script import Ending, Script, script

DIALECTS: tuple[Dialect, ...] = (
    OpenAIChat(),
    Messages(),
    CountTokens(),
    Responses(),
    CountInput(),
    GenerateContent(),
    CountContents(),
)
"""Every format the sandbox speaks; the first one answers for paths that belong to none."""

_EVENTS = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_JSON = ("content-type", "application/json")


def answer(method: str, path: str, body: bytes, identity: Identity) -> Answer:
    """What the sandbox answers to a call. `path` is the URL's, without the query."""
    route = path.rstrip("/")
    if route.endswith("/models"):
        listed = _google_models() if "/v1beta/" in route else _models(identity)
        return _json(200, (), listed) if method == "GET" else _misused("GET", method)
    for dialect in DIALECTS:
        if route.endswith(dialect.paths):
            if method != "POST":
                return _misused("POST", method)
            return _performed(dialect, route, body, identity)
    if route.endswith(openai_embeddings.PATH):
        return _embedded(body, identity) if method == "POST" else _misused("POST", method)
    return _refused(DIALECTS[0], not_found(f"The sandbox has no {method} {path[:100]}."), identity)


def refuse(problem: Problem, identity: Identity) -> Answer:
    """An error answer for a call that never reached a dialect."""
    return _refused(DIALECTS[0], problem, identity)


def _performed(dialect: Dialect, route: str, body: bytes, identity: Identity) -> Answer:
    try:
        ask = dialect.read(body, route)
        behaviour = parse(ask.model)
        if behaviour.model == openai_embeddings.MODEL:
            return _refused(dialect, openai_embeddings.no_answers(), identity)
        if _fails_at_once(behaviour, ask):
            return _refused(dialect, told(behaviour), identity, at=behaviour.first)
        planned = script(behaviour, draft(behaviour, ask.request, identity.seed), ask.request)
    except Refused as refused:
        return _refused(dialect, refused.problem, identity)
    headers = _request_id(dialect, identity)
    if ask.stream:
        return Answer(
            200,
            (*_EVENTS, *headers),
            dialect.stream(ask, planned, identity),
            head_at=None if planned.silent else 0.0,
            ends_at=planned.ends_at,
            cut=planned.ending in (Ending.CUT, Ending.STALL),
        )
    return _plain(dialect.whole(ask, planned, identity), planned, headers)


def _embedded(body: bytes, identity: Identity) -> Answer:
    headers = _request_id(DIALECTS[0], identity)
    try:
        return _json(200, headers, openai_embeddings.embeddings(body))
    except Refused as refused:
        return _refused(DIALECTS[0], refused.problem, identity)


def _plain(body: bytes, planned: Script, headers: Headers) -> Answer:
    """A plain answer comes in one piece; a cut one breaks off in the middle of its body."""
    if planned.ending is Ending.WHOLE:
        return _json(200, headers, body, at=planned.ends_at)
    silent = planned.silent or planned.ending is Ending.STALL
    begins = planned.begins_at
    return Answer(
        200,
        (_JSON, ("content-length", str(len(body))), *headers),
        () if silent else (Step(begins, body[: len(body) // 2]),),
        head_at=None if silent else begins,
        ends_at=planned.ends_at,
        cut=True,
    )


def _fails_at_once(behaviour: Behaviour, ask: Ask) -> bool:
    if behaviour.model == "rate-limit":
        return True
    return behaviour.model == "error" and not (ask.stream and behaviour.after)


def _request_id(dialect: Dialect, identity: Identity) -> Headers:
    name = dialect.request_id_header
    return ((name, f"req_{identity.seed}"),) if name else ()


def _refused(dialect: Dialect, problem: Problem, identity: Identity, *, at: float = 0.0) -> Answer:
    headers = _request_id(dialect, identity)
    if problem.retry_after is not None and dialect.tells_retry_after:
        headers += (("retry-after", str(problem.retry_after)),)
    if problem.allow is not None:
        headers += (("allow", problem.allow),)
    return _json(problem.status, headers, dialect.problem(problem, identity), at=at)


def _misused(allow: str, method: str) -> Answer:
    identity = Identity("method", 0)
    return _refused(DIALECTS[0], method_not_allowed(method[:20], allow), identity)


def _json(status: int, headers: Headers, body: bytes, *, at: float = 0.0) -> Answer:
    return Answer(
        status,
        (_JSON, ("content-length", str(len(body))), *headers),
        (Step(at, body),),
        head_at=at,
        ends_at=at,
    )


def _models(identity: Identity) -> bytes:
    """One list that OpenAI's and Anthropic's clients can read."""
    made = datetime.fromtimestamp(identity.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {
        "object": "model",
        "type": "model",
        "created": identity.created,
        "created_at": made,
        "owned_by": "sandbox",
        "lifecycle": "active",
    }
    names = list(MODELS)
    return msgspec.json.encode(
        {
            "object": "list",
            "data": [{"id": name, "display_name": name, **about} for name in names],
            "has_more": False,
            "first_id": names[0],
            "last_id": names[-1],
        }
    )


def _google_models() -> bytes:
    """The list that Gemini's clients can read; names have no prefix, as they stand in paths."""
    return msgspec.json.encode(
        {
            "models": [
                {
                    "name": f"models/{name.removeprefix(PREFIX)}",
                    "displayName": name,
                    "description": model.about,
                    "inputTokenLimit": 128_000,
                    "outputTokenLimit": MOST_TOKENS,
                    "supportedGenerationMethods": ["generateContent", "countTokens"],
                }
                for name, model in MODELS.items()
            ]
        }
    )
