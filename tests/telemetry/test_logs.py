import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from zurelay.chat.usage import Usage
from zurelay.meter.record import Attempt, RequestRecord
from zurelay.telemetry import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Logging is the process's own: put back what a test changes."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    write = logs._requests.write
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logs._requests.write = write
    structlog.reset_defaults()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def configured(level: logs.Level = "info", style: logs.Style = "json") -> io.BytesIO:
    logging.getLogger().handlers.clear()  # pytest's own, which raise where ours must not
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding="utf-8", write_through=True)
    logs.configure(level, style, stream, now=lambda: 1_795_000_000.25)
    data.wrapper = stream  # type: ignore[attr-defined]  # keeps it from being closed
    return data


def lines(data: io.BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.getvalue().split(b"\n") if line]


def record(**fields: Any) -> RequestRecord:
    values: dict[str, Any] = {
        "id": "req_1",
        "created": 1.0,
        "account": "default",
        "key": "key_1",
        "endpoint": "/v1/chat/completions",
        "model": "m",
        "answered_by": "n",
        "status": "ok",
        "http_status": 200,
        "usage": Usage(3, cached_input=2, output=7),
        "cost": 1230,
        "attempts": [Attempt("r", 1, "n", "ok", 0.0)],
        "first_token_ms": 3.14159,
        "duration_ms": 12.345,
        "user": "private person",
        "metadata": {"private": "pair"},
        "client": "private client",
    }
    return RequestRecord(**{**values, **fields})


def test_a_request_is_one_line_with_its_facts() -> None:
    data = configured()
    logs.log_request(record())
    (line,) = lines(data)
    assert line == {
        "time": "2026-11-18T11:06:40.250Z",
        "level": "info",
        "event": "request",
        "id": "req_1",
        "key": "key_1",
        "account": "default",
        "endpoint": "/v1/chat/completions",
        "model": "m",
        "answered_by": "n",
        "status": "ok",
        "http_status": 200,
        "stream": False,
        "attempts": 1,
        "ms": 12.3,
        "first_token_ms": 3.1,
        "tokens_in": 5,
        "tokens_out": 7,
        "cost_usd": "0.00000123",
    }


def test_nothing_personal_is_in_the_line_of_a_request() -> None:
    data = configured()
    logs.log_request(record())
    assert b"private" not in data.getvalue()


def test_a_failed_request_says_why_and_leaves_out_what_is_not_known() -> None:
    data = configured()
    logs.log_request(
        record(
            status="error",
            http_status=502,
            error="upstream_failed",
            usage=None,
            answered_by=None,
            first_token_ms=None,
            duration_ms=None,
        )
    )
    (line,) = lines(data)
    assert line["error"] == "upstream_failed"
    assert not {"answered_by", "ms", "first_token_ms", "tokens_in", "cost_usd"} & set(line)


def test_a_caller_cannot_make_a_line_long() -> None:
    data = configured()
    logs.log_request(record(model="x" * 100_000, answered_by=None))
    assert len(data.getvalue()) < 1000


def test_our_own_logs_have_their_name_and_fields() -> None:
    data = configured()
    structlog.get_logger("zurelay.api").warning("odd", number=3, request_id="req_1")
    (line,) = lines(data)
    assert list(line)[:3] == ["time", "level", "event"]
    assert (line["level"], line["event"], line["number"]) == ("warning", "odd", 3)
    assert line["logger"] == "zurelay.api"


def test_an_exception_stands_in_its_line() -> None:
    data = configured()
    try:
        int("broken")
    except ValueError:
        structlog.get_logger().exception("failed")
    (line,) = lines(data)
    assert "ValueError: invalid literal" in line["exception"]
    assert line["level"] == "error"


@pytest.mark.parametrize("name", ["uvicorn.error", "asyncio", "some.library"])
def test_other_libraries_log_in_the_same_shape(name: str) -> None:
    data = configured()
    logging.getLogger(name).error("cannot %s\n", "listen")
    (line,) = lines(data)
    assert (line["event"], line["level"], line["logger"]) == ("cannot listen", "error", name)


def test_exceptions_of_other_libraries_are_kept() -> None:
    data = configured()
    try:
        int("broken")
    except ValueError:
        logging.getLogger("asyncio").exception("callback failed")
    assert "ValueError: invalid literal" in lines(data)[0]["exception"]


def test_chatter_of_other_libraries_is_left_out() -> None:
    data = configured()
    logging.getLogger("uvicorn.error").info("Started server process")
    assert lines(data) == []


def test_arguments_that_do_not_fit_do_not_hurt() -> None:
    data = configured()
    logging.getLogger("asyncio").error("number %d", "three")
    assert lines(data)[0]["event"] == "number %d"


def test_less_serious_lines_are_left_out() -> None:
    data = configured("warning")
    structlog.get_logger().info("chatter")
    logs.log_request(record())
    structlog.get_logger().warning("kept")
    assert [line["event"] for line in lines(data)] == ["kept"]


def test_configuring_again_changes_the_level_and_doubles_nothing() -> None:
    configured("error")
    data = configured("debug")
    structlog.get_logger().debug("fine")
    logging.getLogger("asyncio").error("once")
    assert [line["event"] for line in lines(data)] == ["fine", "once"]


def test_a_loose_value_does_not_break_a_line() -> None:
    data = configured()
    structlog.get_logger().warning(
        "odd", surrogate="\ud800", huge=2**80, thing=object, newline="a\nb"
    )
    (line,) = lines(data)
    assert line["event"] == "odd"
    assert line["newline"] == "a\nb"
    assert data.getvalue().count(b"\n") == 1


def test_a_terminal_gets_lines_for_people() -> None:
    stream = Terminal()
    logs.configure("info", "auto", stream)
    logs.log_request(record())
    structlog.get_logger().warning("evil\x1b[2J\nname")
    text = stream.getvalue()
    assert "req_1" in text
    assert "\x1b[2J" not in text
    assert text.count("\n") == 2
    with pytest.raises(json.JSONDecodeError):
        json.loads(text.split("\n")[0])


def test_a_terminal_sees_where_it_failed_and_no_variables() -> None:
    def fail(key: str) -> None:
        raise RuntimeError(len(key))

    logging.getLogger().handlers.clear()
    stream = Terminal()
    logs.configure("info", "auto", stream)
    try:
        fail(str(7 * 1_795_000_000))  # the line itself does not hold it
    except RuntimeError:
        structlog.get_logger("zurelay.test").exception("failed")
    assert "RuntimeError: 11" in stream.getvalue()
    assert "12565000000" not in stream.getvalue()


def test_what_is_no_terminal_gets_json_unless_asked() -> None:
    stream = io.StringIO()
    logs.configure("info", "auto", stream)
    structlog.get_logger().info("x")
    assert json.loads(stream.getvalue())["event"] == "x"
    stream = io.StringIO()
    logs.configure("info", "console", stream)
    structlog.get_logger().info("hello")
    assert "hello" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


async def test_requests_of_one_turn_of_the_loop_are_flushed_together() -> None:
    logging.getLogger().handlers.clear()
    data = io.BytesIO()
    stream = io.TextIOWrapper(io.BufferedWriter(data), encoding="utf-8")
    logs.configure("info", "json", stream)
    for _ in range(3):
        logs.log_request(record())
    assert data.getvalue() == b""
    await asyncio.sleep(0)
    assert len(lines(data)) == 3
    stream.detach()


class FullDisk(io.BytesIO):
    def write(self, _data: object) -> int:
        raise OSError(28, "No space left on device")


async def test_a_full_disk_loses_lines_and_nothing_else() -> None:
    logging.getLogger().handlers.clear()
    stream = io.TextIOWrapper(FullDisk(), encoding="utf-8")
    logs.configure("info", "json", stream)
    structlog.get_logger("test").warning("lost")
    logs.log_request(record())
    await asyncio.sleep(0)


async def test_a_closed_stream_loses_lines_and_nothing_else() -> None:
    logging.getLogger().handlers.clear()
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    logs.configure("info", "json", stream)
    logs.log_request(record())
    stream.close()
    structlog.get_logger("test").warning("lost")
    logs.log_request(record())
    await asyncio.sleep(0)
