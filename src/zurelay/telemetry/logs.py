"""Structured logs: one JSON object per line, or coloured lines for a person at a terminal.

Every log goes to one stream in one shape, those of uvicorn and asyncio included. Knows how lines
look, not which are worth writing.
"""

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, BinaryIO, Literal, TextIO

import msgspec
import orjson
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from zurelay.catalogue.money import format_usd
from zurelay.chat.redact import plain
from zurelay.meter.record import RequestRecord

_encode = msgspec.json.Encoder().encode

Style = Literal["auto", "json", "console"]
Level = Literal["debug", "info", "warning", "error"]

_LEVELS: dict[str, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_MOST_NAME = 200
_ROUTED = ("uvicorn", "uvicorn.error", "uvicorn.asgi", "asyncio")


def configure(
    level: Level = "info",
    style: Style = "auto",
    stream: TextIO | None = None,
    now: Callable[[], float] = time.time,
) -> None:
    """Set logging up for the whole process; may be called again to change it.

    Args:
        level: what is less serious is not written.
        style: `auto` writes for people where `stream` is a terminal, JSON elsewhere.
        stream: where lines go; standard error by default.
        now: Unix time, for the `time` field.
    """
    target = stream if stream is not None else sys.stderr
    stamp = _Stamps(now)
    people = style == "console" or (style == "auto" and target.isatty())
    shape: list[Processor]
    if people:
        # The usual formatter prints the values of variables too: keys, sessions, prompts.
        plain = structlog.dev.plain_traceback
        shape = [
            _plain_values,
            structlog.dev.ConsoleRenderer(colors=target.isatty(), exception_formatter=plain),
        ]
    else:
        shape = [structlog.processors.format_exc_info, _render_json]
    lines = _Lines(target)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            _add_logger_name,
            stamp,
            *shape,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=lines.named,
        cache_logger_on_first_use=False,
    )
    _route_standard_logging(_LEVELS[level])
    if _LEVELS[level] > logging.INFO:
        _requests.write = _ignore
    elif people:
        _requests.write = _request_by_structlog
    else:
        _requests.write = _RequestLines(lines, stamp)


def log_request(record: RequestRecord) -> None:
    """Write the one line of a request that is over."""
    _requests.write(record)


class RequestLine(msgspec.Struct, omit_defaults=True, gc=False):
    """The fields of a request's line. Ids, names and numbers only: no key, prompt or user."""

    time: str
    level: str
    event: str
    id: str
    key: str
    account: str
    endpoint: str
    model: str
    status: str
    http_status: int
    attempts: int
    stream: bool
    answered_by: str | None = None
    error: str | None = None
    ms: float | None = None
    first_token_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: str | None = None


def request_line(record: RequestRecord, time: str) -> RequestLine:
    """The line of a request that is over."""
    usage = record.usage
    counted: tuple[int | None, int | None, str | None] = (None, None, None)
    if usage is not None:
        counted = (usage.prompt, usage.completion, format_usd(record.cost))
    return RequestLine(
        time,
        "info",
        "request",
        record.id,
        record.key,
        record.account,
        record.endpoint,
        record.model[:_MOST_NAME],  # the caller's own text where no such model exists
        record.status,
        record.http_status,
        len(record.attempts),
        record.stream,
        record.answered_by,
        record.error,
        _tenths(record.duration_ms),
        _tenths(record.first_token_ms),
        *counted,
    )


def _tenths(number: float | None) -> float | None:
    return None if number is None else round(number, 1)


class _Lines:
    """Where lines go: text or bytes; flushed at once, or once a turn of the loop for requests.

    A line that cannot be written, on a full disk or a closed stream, is lost: nothing may fail for
    the log's sake.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bytes: BinaryIO | None = getattr(stream, "buffer", None)
        self._flush_soon = False

    def named(self, *names: str) -> "_LineLogger":
        """What structlog wraps; `get_logger("zurelay.api")` gives it a name."""
        return _LineLogger(self, names[0] if names else "")

    def write(self, line: str | bytes) -> None:
        if self._stream.closed:
            return
        with contextlib.suppress(OSError):
            if self._bytes is None:
                text = line if isinstance(line, str) else line.decode()
                self._stream.write(text + "\n")
                self._stream.flush()
                return
            data = line if isinstance(line, bytes) else line.encode(errors="backslashreplace")
            self._bytes.write(data + b"\n")
            self._bytes.flush()

    def write_soon(self, line: bytes) -> None:
        """A line that may wait for the end of this turn of the event loop, if there is one."""
        if self._bytes is None:
            self.write(line)
            return
        if self._stream.closed:
            return
        try:
            self._bytes.write(line + b"\n")
        except OSError:
            return
        if self._flush_soon:
            return
        try:
            asyncio.get_running_loop().call_soon(self._flush)
            self._flush_soon = True
        except RuntimeError:  # no loop runs
            self._flush()

    def _flush(self) -> None:
        self._flush_soon = False
        if self._bytes is not None and not self._stream.closed:
            with contextlib.suppress(OSError):
                self._bytes.flush()


class _LineLogger:
    """The innermost logger: every level is a line."""

    def __init__(self, lines: _Lines, name: str) -> None:
        self.name = name
        self.debug = self.info = self.warning = self.error = lines.write
        self.critical = self.fatal = self.exception = self.msg = self.log = lines.write


class _Stamps:
    """The `time` field: RFC 3339 in UTC with milliseconds; the text of a second is kept."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._second = -1
        self._text = ""

    def text(self) -> str:
        now = self._now()
        second = int(now)
        if second != self._second:
            self._second = second
            self._text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._text}.{int((now - second) * 1000):03d}Z"

    def __call__(self, _logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
        event["time"] = self.text()
        return event


class _RequestLines:
    """Writes requests as JSON past the processor chain, which costs more than the line itself."""

    def __init__(self, lines: _Lines, stamp: _Stamps) -> None:
        self._lines = lines
        self._stamp = stamp

    def __call__(self, record: RequestRecord) -> None:
        line = request_line(record, self._stamp.text())
        try:
            self._lines.write_soon(_encode(line))
        except UnicodeEncodeError:  # a lone surrogate in the name a caller made up
            self._lines.write_soon(_json(msgspec.structs.asdict(line)))


def _request_by_structlog(record: RequestRecord) -> None:
    logger: FilteringBoundLogger = structlog.get_logger()
    line = msgspec.structs.asdict(request_line(record, ""))
    shown = {name: value for name, value in line.items() if value is not None}
    for name in ("time", "level", "event"):
        del shown[name]
    logger.info("request", **shown)


def _ignore(_record: RequestRecord) -> None:
    """Requests are less serious than what is written."""


class _Requests:
    """Holds what `configure` chose for request lines."""

    write: Callable[[RequestRecord], None] = staticmethod(_request_by_structlog)


_requests = _Requests()


class _ToStructlog(logging.Handler):
    """Hands the standard library's log records to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        logger: FilteringBoundLogger = structlog.get_logger(record.name)
        try:
            message = record.getMessage().strip()
        except (TypeError, ValueError):  # arguments that do not fit the format
            message = str(record.msg)
        exception = {"exc_info": record.exc_info} if record.exc_info else {}
        level = min(max(record.levelno // 10 * 10, logging.DEBUG), logging.CRITICAL)
        logger.log(level, message, **exception)


def _route_standard_logging(level: int) -> None:
    """Everything that other libraries log takes our way; nothing is written twice."""
    root = logging.getLogger()
    for handler in [old for old in root.handlers if isinstance(old, _ToStructlog)]:
        root.removeHandler(handler)
    root.addHandler(_ToStructlog())
    # Other libraries' chatter is worth less than our own.
    root.setLevel(max(level, logging.WARNING))
    for name in _ROUTED:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.NOTSET)


def _add_logger_name(logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    if logger is not None and logger.name:
        event["logger"] = logger.name
    return event


def _plain_values(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Text from outside must not steer the terminal."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = plain(value)
    return event


def _render_json(_logger: WrappedLogger, _name: str, event: EventDict) -> bytes:
    first = {"time": event.pop("time"), "level": event.pop("level"), "event": event.pop("event")}
    return _json({**first, **event})


def _json(line: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(line, default=str)
    except orjson.JSONEncodeError:  # lone surrogates, huge integers, keys that are no text
        return orjson.dumps({str(name): _encodable(value) for name, value in line.items()})


def _encodable(value: object) -> str:
    return str(value).encode(errors="backslashreplace").decode()
