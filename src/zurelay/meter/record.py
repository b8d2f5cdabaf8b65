"""The row that every request with a valid key leaves behind."""

from typing import Any, Final, Literal, get_args

import msgspec

from zurelay.chat.usage import Usage
from zurelay.meter.tariff import Tariff

Status = Literal["running", "ok", "error", "client_closed", "interrupted"]
STATUSES: Final = get_args(Status)

INTERRUPTED: Final = "interrupted"
"""The status of a request whose process ended under it; it costs nothing."""


class Attempt(msgspec.Struct, omit_defaults=True):
    """One try at a route, as operators see it. Times in milliseconds since the request began.

    Attributes:
        cost: nano-dollars that an attempt nobody pays for may have cost the operator, estimated.
        charged: nano-dollars that the caller pays for an empty answer beyond those that are free;
            `cost` is then what the provider asks for it.
    """

    route: str
    number: int
    model: str
    status: str  # "ok", "failed", "cancelled"
    start_ms: float
    end_ms: float | None = None
    first_token_ms: float | None = None
    reason: str | None = None  # a FaultKind value
    http_status: int | None = None
    detail: str | None = None  # the provider's own words, redacted, at most 1 KB
    label: str | None = None  # what callers may see of the route
    cost: int = 0
    charged: int = 0


class RankedModel(msgspec.Struct, omit_defaults=True):
    """A model in the ranking of a smart choice.

    Attributes:
        tier: light, standard, strong, frontier or unrated.
        cost: nano-dollars the request was expected to cost there; None without a known price.
    """

    model: str
    tier: str
    cost: int | None = None


class AutoChoice(msgspec.Struct, omit_defaults=True):
    """What a smart choice went by.

    Attributes:
        tier: the tier that the request asked for.
        reason: why the first of the ranking is first, in one sentence.
        features: what was seen of the request; see `plan.auto.features`.
        ranking: the models to ask, in order.
    """

    tier: str
    reason: str
    features: dict[str, Any] = {}
    ranking: list[RankedModel] = []


class RequestRecord(msgspec.Struct, omit_defaults=True):
    """A request-log entry.

    Attributes:
        id: `req_...`; time-ordered.
        created: Unix time in seconds.
        model: the public id asked for; `answered_by` the one that answered.
        status: one of `STATUSES`.
        http_status: what the caller got (200 for a stream that failed after opening).
        error: code of the problem told to the caller.
        cost: nano-dollars charged.
        cost_estimated: whether tokens behind `cost` were estimated.
        upstream_cost: nano-dollars that the provider asks for it: without mark-up.
        tariff: what `usage` was charged by; None where nothing was, or where no price was known.
        postings: wallet id -> nano-dollars of `cost` that it pays. A limited wallet that has not
            enough pays what it has; the operator bears the rest.
        count: requests that the entry stands for: many refusals of a key in one second have one.
        repeat: names the use of its Idempotency-Key to all nodes, in hex; None without one.
        unpriced: what had no price of its own: `model`, or as in `meter.charge.Charge`.
        implausible: the provider counted what cannot be; the estimate was charged instead.
        dropped: request fields left out or changed upstream.
        client: user agent of the caller, at most 200 characters.
        address: where the caller is; for operators.
        auto: how the model was chosen, where that was left to the gateway.
    """

    id: str
    created: float
    account: str
    key: str
    endpoint: str
    model: str
    status: str = "running"
    http_status: int = 0
    answered_by: str | None = None
    routed_from: str | None = None
    error: str | None = None
    stream: bool = False
    effort_asked: str | None = None
    effort: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    cost: int = 0
    cost_estimated: bool = False
    upstream_cost: int = 0
    tariff: Tariff | None = None
    postings: dict[str, int] = {}
    count: int = 1
    repeat: str | None = None
    unpriced: tuple[str, ...] = ()
    implausible: bool = False
    attempts: list[Attempt] = []
    first_token_ms: float | None = None
    duration_ms: float | None = None
    dropped: tuple[str, ...] = ()
    user: str | None = None
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None
    client: str | None = None
    client_request_id: str | None = None
    address: str | None = None
    auto: AutoChoice | None = None
