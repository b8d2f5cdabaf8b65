"""One attempt at a route: hears the upstream's bytes and tells the runner what they came to."""

from collections.abc import Callable, Mapping

import structlog

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.usage import Usage
from zurelay.formats.base import (
    AnswerAssembler,
    AnswerContext,
    AnswerStream,
    Exchange,
    Outbound,
    Progress,
    WholeAnswer,
)
from zurelay.meter.record import Attempt as AttemptRecord
from zurelay.plan.planner import Candidate
from zurelay.upstream.base import ErrorKind, Handle, UpstreamError

log = structlog.get_logger("zurelay.relay")

MAX_ERROR_BODY = 64 * 1024
_CONNECT = frozenset({ErrorKind.DNS, ErrorKind.CONNECT, ErrorKind.TLS, ErrorKind.CONNECT_TIMEOUT})


class Attempt:
    """The receiver of one upstream call.

    Attributes:
        number: counts attempts of the request from 0.
        stream: reads an event stream for a streaming caller; None otherwise.
        answer: the whole answer for a plain caller, once it is there.
        token_at: loop time of the first token, 0.0 before.
        over: the upstream has nothing more to say, or was cut.
        spare: its answer lacks a call that was asked for in words: another route may do better,
            else this is the answer.
    """

    __slots__ = (
        "_assembler",
        "_begun",
        "_body",
        "_body_size",
        "_exchange",
        "_headers",
        "_now",
        "_on_progress",
        "_on_steady",
        "_status",
        "_wall",
        "answer",
        "candidate",
        "context",
        "finished",
        "handle",
        "idle_seconds",
        "number",
        "outbound",
        "over",
        "record",
        "spare",
        "started",
        "stream",
        "streaming",
        "token_at",
    )

    def __init__(
        self,
        *,
        number: int,
        candidate: Candidate,
        exchange: Exchange,
        context: AnswerContext,
        outbound: Outbound,
        record: AttemptRecord,
        streaming: bool,
        upstream_streams: bool,
        started: float,
        now: Callable[[], float],
        wall: Callable[[], float],
        on_progress: "Callable[[Attempt, Progress, bool], None]",
        on_steady: Callable[[Progress], bool],
    ) -> None:
        self.number = number
        self.candidate = candidate
        self.context = context
        self.outbound = outbound
        self.record = record
        self.streaming = streaming
        self.started = started
        self.handle: Handle | None = None
        self.stream: AnswerStream | None = None
        self._assembler: AnswerAssembler | None = None
        if streaming:
            self.stream = exchange.stream(context)
        elif upstream_streams:
            self._assembler = exchange.assembler(context)
            self.stream = self._assembler
        self.answer: WholeAnswer | None = None
        self.token_at = 0.0
        self.over = False
        self.spare = False
        self.finished = False
        self.idle_seconds = 0.0
        self._exchange = exchange
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._body: list[bytes] = []
        self._body_size = 0
        self._begun = False
        self._now = now
        self._wall = wall
        self._on_progress = on_progress
        self._on_steady = on_steady

    # What the upstream client calls.

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Remember the status: whether it is an answer shows with the body."""
        self._status = status
        self._headers = headers
        self.record.http_status = status
        if self.stream is not None and not (
            status == 200 and "json" not in headers.get("content-type", "")
        ):
            # No event stream: an error, or an answer of the wrong kind.
            self.stream = None
            self._assembler = None

    def data(self, chunk: bytes) -> None:
        """More bytes of the answer or the error."""
        if self.over:
            return
        stream = self.stream
        if stream is None:
            self._collect(chunk)
            return
        try:
            progress = stream.feed(chunk)
        except Exception as error:  # noqa: BLE001 - whatever reading it raises
            self._misread(error)
            return
        if progress.finished and self._assembler is not None:
            self._judge(self._assembler, progress)
        if self._on_steady(progress):
            return
        self._tell(progress)

    def end(self) -> None:
        """The upstream's body is whole."""
        if self.over:
            return
        try:
            progress = self._whole()
        except Exception as error:  # noqa: BLE001 - whatever reading it raises
            self._misread(error)
            return
        self.over = True
        self._tell(progress, last=True)

    def failed(self, error: UpstreamError) -> None:
        """The connection gave no whole answer."""
        if self.over:
            return
        self.over = True
        self._tell(Progress(fault=_fault_of(error)), last=True)

    # Our own.

    def cut(self) -> None:
        """Close the connection; nothing more is heard."""
        if not self.over:
            self.over = True
            if self.handle is not None:
                self.handle.cancel()

    def let_go(self) -> None:
        """The request is over: tell nobody any more.

        Request and attempts know each other; cutting that here frees them at once, where the
        garbage collector would find thousands of them later, cold.
        """
        self._on_progress = _unheard
        self._on_steady = _unread
        if self.over:
            self.handle = None

    def assembled(self) -> WholeAnswer | None:
        """The plain answer, folded from the stream where the upstream streamed."""
        if self.answer is None and self._assembler is not None:
            self.answer = self._assembler.whole()
        return self.answer

    def restate(self, usage: Usage) -> None:
        """Tell that usage in a plain answer, in place of what the upstream counted."""
        if self._assembler is not None:
            self.answer = self._assembler.whole(usage)
        else:
            self.answer = self._exchange.whole(b"".join(self._body), self.context, usage)

    def _whole(self) -> Progress:
        """What the end of the body came to."""
        if self.stream is not None:
            progress = self.stream.end()
            if progress.fault is None:
                progress.ended = True
            return progress
        if self._status == 200 and not self.streaming:
            self.answer = self._exchange.whole(b"".join(self._body), self.context)
            return Progress(ended=True, fault=self._unfit(self.answer))
        return Progress(fault=self._error_fault())

    def _judge(self, assembler: AnswerAssembler, progress: Progress) -> None:
        """Whether a whole answer that came in pieces is what was asked for in words."""
        if not self.context.json_text and not self.context.must_call:
            return
        fault = self._unfit(assembler.whole())
        if fault is not None:
            progress.finished = progress.ended = False
            progress.fault = progress.fault or fault

    def _unfit(self, answer: WholeAnswer) -> Fault | None:
        """Why the answer is none; None if it is one."""
        if answer.fault is None and self.context.must_call and not answer.called:
            self.spare = True
            return Fault(FaultKind.BAD_ANSWER, "no tool was called", status=200)
        return answer.fault

    def _misread(self, error: Exception) -> None:
        """A fault of ours in reading: the attempt fails, the request may still be answered."""
        log.error("answer_not_read", route=self.record.route, exc_info=error)
        self.cut()
        fault = Fault(FaultKind.BAD_ANSWER, "the answer could not be read", status=self._status)
        self._tell(Progress(fault=fault), last=True)

    def _collect(self, chunk: bytes) -> None:
        self._body.append(chunk)
        self._body_size += len(chunk)
        is_answer = self._status == 200 and not self.streaming
        if is_answer:
            if not chunk.isspace():
                # Most answers come in one piece and end with it: the first is not worth telling.
                if self._begun:
                    self._tell(Progress(alive=True, started=True))
                self._begun = True
        elif self._body_size > MAX_ERROR_BODY:
            if self.handle is not None:
                self.handle.cancel()
            self.end()  # enough is known

    def _error_fault(self) -> Fault:
        body = b"".join(self._body)[:MAX_ERROR_BODY]
        if self._status == 200:
            answer = self._exchange.whole(body, self.context)
            return answer.fault or Fault(
                FaultKind.BAD_ANSWER, "a plain answer to a streaming request", status=200
            )
        return self._exchange.fault(
            self._status, self._headers, body, self._wall(), self.context.profile
        )

    def _tell(self, progress: Progress, last: bool = False) -> None:
        if progress.token and not self.token_at:
            self.token_at = self._now()
        if progress.finished:
            self.finished = True
        self._on_progress(self, progress, last)


def _unheard(_attempt: Attempt, _progress: Progress, _last: bool) -> None:
    """Nobody listens."""


def _unread(_progress: Progress) -> bool:
    """Nobody reads."""
    return True


def _fault_of(error: UpstreamError) -> Fault:
    if error.kind in _CONNECT or (error.kind is ErrorKind.CLOSED and error.before_answer):
        return Fault(FaultKind.CONNECT, str(error))
    if error.kind is ErrorKind.CLOSED:
        return Fault(FaultKind.BROKE_OFF, str(error))
    return Fault(FaultKind.BAD_ANSWER, str(error))
