"""What a golden case comes to today.

A case is a JSON file: `kind`, what goes in, and under `expect` what must come out.
`python -m tests.golden.rewrite` writes `expect` anew; read the difference before committing.
"""

import json
from pathlib import Path
from typing import Any

from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext, Target, WholeAnswer
from zurelay.formats.registry import exchange, front
from zurelay.testing.event_stream import event_stream_event, event_stream_exception

FOLDER = Path(__file__).parent
Case = dict[str, Any]


def cases() -> list[Path]:
    """The files of all cases."""
    return sorted(FOLDER.glob("*/*.json"))


def render(case: Case) -> Any:
    """What `expect` of `case` would be."""
    return {"request": _request, "stream": _stream, "reply": _reply, "fault": _fault}[case["kind"]](
        case
    )


def _profile(case: Case) -> Profile:
    quirks: dict[str, Any] = {
        name: frozenset(map(_pair, value)) if isinstance(value, list) else value
        for name, value in case.get("profile", {}).items()
    }
    return Profile(**quirks)


def _pair(item: Any) -> Any:
    return tuple(item) if isinstance(item, list) else item


def _context(case: Case) -> AnswerContext:
    return AnswerContext(
        answer_id="chatcmpl-1",
        created=1700000000,
        model="public-model",
        include_usage=True,
        prompt_estimate=10,
        profile=_profile(case),
        stop=tuple(case.get("stop", ())),
    )


def _request(case: Case) -> Any:
    try:
        inbound = front(case["front"]).read(json.dumps(case["body"]).encode())
        target = Target(
            public_model="public-model",
            upstream_model="upstream-model",
            profile=_profile(case),
            **case.get("target", {}),
        )
        out = exchange(case["front"], case["back"]).write(inbound, target)
    except Refused as refusal:
        problem = refusal.problem
        return {
            "status": problem.status,
            "code": problem.code,
            "param": problem.param,
            "message": problem.message,
        }
    told = {"path": out.path, "body": json.loads(out.body), "dropped": list(out.dropped)}
    return told | ({"stop": list(out.stop)} if out.stop else {})


def _stream(case: Case) -> Any:
    join = exchange(case["front"], case["back"])
    stream, assembler = join.stream(_context(case)), join.assembler(_context(case))
    out = b""
    for event in case["events"]:
        raw = _frame(case["back"], event)
        progress = stream.feed(raw)
        assembler.feed(raw)
        out += progress.out
        if progress.fault:
            return {"events": _events(out), "fault": progress.fault.kind.value}
    end = stream.end()
    assembler.end()
    out += end.out
    told: Case = {"events": _events(out), "finish_reason": stream.finish_reason}
    if end.fault:
        return told | {"fault": end.fault.kind.value}
    usage = stream.usage
    if usage is not None:
        told["last"] = _events(stream.finale(usage, b": comment\n\n"))
    return told | {"assembled": _whole(assembler.whole())}


def _frame(back: str, event: Any) -> bytes:
    """An event as its format frames it; a binary one has its name as its only key."""
    if back != "converse":
        return f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
    ((name, content),) = event.items()
    if name.endswith("Exception"):
        return event_stream_exception(name, content["message"])
    return event_stream_event(name, content)


def _events(raw: bytes) -> list[Any]:
    parts = raw.decode().split("\n\n")[:-1]
    return [_event(part) for part in parts]


def _event(part: str) -> Any:
    """The data of an event; its name, where it has one, is the data's type."""
    if part.startswith("event: "):
        name, _, data = part.partition("\n")
        event = json.loads(data.removeprefix("data: "))
        assert event["type"] == name.removeprefix("event: ")
        return event
    return json.loads(part.removeprefix("data: ")) if part.startswith("data: {") else part


def _whole(answer: WholeAnswer) -> Any:
    return {"fault": answer.fault.kind.value} if answer.fault else json.loads(answer.body)


def _reply(case: Case) -> Any:
    raw = json.dumps(case["body"]).encode()
    return _whole(exchange(case["front"], case["back"]).whole(raw, _context(case)))


def _fault(case: Case) -> Any:
    body = case["body"]
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    join = exchange(case["front"], case["back"])
    fault = join.fault(case["status"], case.get("headers", {}), raw, 1700000000.0, _profile(case))
    return {
        "kind": fault.kind.value,
        "message": fault.message,
        "code": fault.code,
        "type": fault.type,
        "param": fault.param,
        "retry_after": fault.retry_after,
    }
