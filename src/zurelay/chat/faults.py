"""What can go wrong with one attempt at a route, in one vocabulary for every provider.

Formats read a provider's answer into a `Fault`; nothing here knows HTTP bodies or who is asking.
What a caller is told about it stands in `problems.py`.
"""

from dataclasses import dataclass
from enum import StrEnum

from zurelay.chat.usage import Usage


class FaultKind(StrEnum):
    """Why an attempt gave no answer. The value is the word operators see."""

    CONNECT = "connect"  # DNS, TCP, TLS, or the connection broke before any answer
    TIMEOUT = "timeout"  # no first token, or silence after it, within the deadline; 408
    RATE_LIMITED = "rate_limited"  # 429 that means "later"
    OVERLOADED = "overloaded"  # 503, 529: no capacity
    SERVER_ERROR = "server_error"  # any other 5xx
    REFUSED_CREDENTIAL = "refused_credential"  # the provider refuses our key: 401, 403
    OUT_OF_CREDIT = "out_of_credit"  # our account there has no money: 402 and its disguises
    MODEL_MISSING = "model_missing"  # 404 for a model we list
    MODEL_FAULT = "model_fault"  # the model failed on a good request (400 or 424 on some hosts)
    BAD_ANSWER = "bad_answer"  # unparsable, or an error inside a 200
    BROKE_OFF = "broke_off"  # the answer ended before its end
    EMPTY = "empty"  # a whole answer with nothing in it
    REJECTED = "rejected"  # the request's own fault: any other 4xx
    CONTEXT_OVERFLOW = "context_overflow"  # the request's own fault: too long for this model
    CONTENT_POLICY = "content_policy"  # the request's own fault: refused by a filter


REQUESTS_OWN = frozenset({FaultKind.REJECTED, FaultKind.CONTEXT_OVERFLOW, FaultKind.CONTENT_POLICY})
"""Faults that another route of the same model would only repeat."""

_SHOWN = {
    FaultKind.CONNECT: "connect",
    FaultKind.TIMEOUT: "timeout",
    FaultKind.RATE_LIMITED: "rate_limited",
    FaultKind.OVERLOADED: "overloaded",
    FaultKind.REFUSED_CREDENTIAL: "refused_credential",
    FaultKind.OUT_OF_CREDIT: "refused_credential",
    FaultKind.EMPTY: "empty",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed attempt.

    Attributes:
        kind: what it means for routing.
        message: the provider's own text, unredacted; for operators, and for callers only where
            the fault is the request's own.
        param: the field the provider blames, in the caller's words where known.
        code: the provider's own code.
        type: the provider's own error type.
        status: the upstream's HTTP status, 0 when there was none.
        retry_after: seconds the provider asked us to wait, None if it did not say.
        lacks: a quirk of `Profile` that this account turns out to lack; asked again without it,
            the provider may answer.
        usage: what the provider counted of a whole answer that is none; None if it did not say.
    """

    kind: FaultKind
    message: str = ""
    param: str | None = None
    code: str | None = None
    type: str | None = None
    status: int = 0
    retry_after: float | None = None
    lacks: str = ""
    usage: Usage | None = None

    @property
    def moves_on(self) -> bool:
        """Whether another route of the same model may still answer."""
        return self.kind not in REQUESTS_OWN

    @property
    def shown(self) -> str:
        """The one word a caller sees of it."""
        return _SHOWN.get(self.kind, "bad_answer")
