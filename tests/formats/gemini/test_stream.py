"""The event stream: its end, its faults, and any cutting of its bytes."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.gemini.gemini import Ran, context, frame, piece, run
from zurelay.chat.events import Reply, Stopped, TextDelta, UsageSeen
from zurelay.chat.faults import FaultKind
from zurelay.formats.fold import EventFold
from zurelay.formats.gemini import reply
from zurelay.wire import sse

TEXT = {"text": "Hé 👋"}
CALL = {"functionCall": {"name": "f", "args": {"ü": "x"}}, "thoughtSignature": "SIG"}
USAGE = {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}
WHOLE = [
    piece({"text": "hm", "thought": True}),
    piece(TEXT),
    piece({"text": " more"}),
    piece(CALL, finish="STOP", usageMetadata=USAGE),
]


def test_a_stream_that_ends_without_a_reason_broke_off() -> None:
    fault = run(piece(TEXT)).fault
    assert fault is not None
    assert fault.kind is FaultKind.BROKE_OFF


def test_an_end_mark_is_not_needed_and_not_minded() -> None:
    assert run(piece(TEXT, finish="STOP")).fault is None
    assert Ran([frame(piece(TEXT, finish="STOP")), b"data: [DONE]\n\n"]).fault is None


def test_the_answer_is_not_over_with_its_reason_so_that_counts_may_follow() -> None:
    ran = run(piece(TEXT, finish="STOP"), {"usageMetadata": USAGE})
    assert isinstance(ran.events[-1], UsageSeen)


def test_a_last_event_without_its_blank_line_counts() -> None:
    assert Ran([frame(piece(TEXT, finish="STOP")).strip()]).events[-1] == Stopped("stop")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 503, "status": "UNAVAILABLE", "message": "x"}, FaultKind.OVERLOADED),
        ({"code": 429, "status": "RESOURCE_EXHAUSTED"}, FaultKind.RATE_LIMITED),
        ({"status": "RESOURCE_EXHAUSTED"}, FaultKind.RATE_LIMITED),
        ({"code": 500, "status": "INTERNAL"}, FaultKind.BAD_ANSWER),
        ({"code": 400, "status": "INVALID_ARGUMENT"}, FaultKind.BAD_ANSWER),
    ],
)
@pytest.mark.parametrize("listed", [False, True])
def test_an_error_inside_a_stream_is_its_fault(error: Any, kind: FaultKind, listed: bool) -> None:
    body: Any = {"error": error}
    ran = run(piece(TEXT), [body] if listed else body)
    assert ran.fault is not None
    assert ran.fault.kind is kind
    assert ran.events == [TextDelta("Hé 👋")]


def test_an_error_after_the_end_changes_nothing() -> None:
    assert run(piece(TEXT, finish="STOP"), {"error": {"code": 500}}).fault is None


def test_a_broken_event_is_a_broken_answer_before_the_first_token_alone() -> None:
    broken = Ran([b'data: {"candidates": [\n\n'])
    assert broken.fault is not None
    assert broken.fault.kind is FaultKind.BAD_ANSWER
    later = Ran([frame(piece(TEXT)), b'data: {"cand\n\n', frame(piece(finish="STOP"))])
    assert later.fault is None


@pytest.mark.parametrize("noise", [b": ping\n\n", b"data:\n\n", b"data: 3\n\n", b"data: []\n\n"])
def test_noise_says_nothing(noise: bytes) -> None:
    ran = Ran([noise, frame(piece(TEXT, finish="STOP")), noise])
    assert ran.events == [TextDelta("Hé 👋"), Stopped("stop")]


def test_an_event_too_long_to_hold_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_LINE", 64)
    ran = Ran([frame(piece({"text": "x" * 200}))])
    assert ran.fault is not None
    assert ran.fault.kind is FaultKind.BAD_ANSWER


@given(st.data())
def test_any_cutting_of_the_bytes_tells_the_same(data: st.DataObject) -> None:
    raw = b"".join(frame(each) for each in WHOLE)
    places = data.draw(st.lists(st.integers(0, len(raw)), max_size=12))
    marks = [0, *sorted(places), len(raw)]
    cut = Ran([raw[a:b] for a, b in pairwise(marks)])
    assert cut.events == run(*WHOLE).events
    assert cut.fault is None


def test_byte_by_byte_tells_the_same() -> None:
    raw = b"".join(frame(each) for each in WHOLE)
    assert Ran([bytes([byte]) for byte in raw]).events == run(*WHOLE).events


_PARTS = st.one_of(
    st.builds(lambda t: {"text": t}, st.text(max_size=5)),
    st.builds(lambda t: {"text": t, "thought": True}, st.text(max_size=5)),
    st.builds(lambda t: {"text": t, "thoughtSignature": "S"}, st.text(max_size=5)),
    st.just(CALL),
    st.just({"functionCall": {"name": "g", "id": "fixed"}}),
)


@given(
    st.lists(st.lists(_PARTS, max_size=3), min_size=1, max_size=5),
    st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY"]),
)
def test_folding_the_stream_gives_the_plain_answer(parts: list[list[Any]], reason: str) -> None:
    pieces = [piece(*each) for each in parts]
    pieces.append(piece(finish=reason, usageMetadata=USAGE))
    fold = EventFold()
    for event in run(*pieces).events:
        fold.add(event)
    flat = [part for each in parts for part in each]
    whole = piece(*flat, finish=reason, usageMetadata=USAGE)
    plain = reply.read(json.dumps(whole).encode(), context())
    assert isinstance(plain, Reply)
    assert plain.choices == fold.reply().choices
