"""What `meter.view` and `plan.view` make, as types: for the description of the admin API.

A test holds them to what is really answered.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class AttemptView(Struct, omit_defaults=True):
    """One try at a route. What tells providers apart is for whoever runs the gateway."""

    route: int
    status: str
    reason: str | None
    start_ms: float | None
    first_token_ms: float | None
    end_ms: float | None
    label: str | UnsetType = UNSET
    route_id: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    http_status: int | UnsetType | None = UNSET
    detail: str | UnsetType | None = UNSET
    cost_usd: str | UnsetType = UNSET


class RankedView(Struct):
    """A model in the ranking of a smart choice."""

    model: str
    tier: str
    expected_cost_usd: str | None


class AutoView(Struct):
    """How the gateway chose the model: what it saw, in what order it would ask, and why."""

    tier: str
    reason: str
    features: dict[str, Any]
    ranking: list[RankedView]


class ChargeView(Struct):
    """A line of what a request costs: tokens of a class with their price per million, or calls."""

    of: str
    count: int
    price_usd: str | None
    cost_usd: str | None


class RequestView(Struct, omit_defaults=True):
    """An entry of the request log. The last fields are for whoever runs the gateway."""

    id: str
    created: float
    key: str
    model: str
    answered_by: str | None
    routed_from: str | None
    status: str
    http_status: int | None
    error: str | None
    stream: bool
    effort_asked: str | None
    effort: str | None
    finish_reason: str | None
    usage: dict[str, Any] | None
    cost_usd: str
    cost_estimated: bool
    charges: list[ChargeView]
    attempts: list[AttemptView]
    first_token_ms: float | None
    duration_ms: float | None
    dropped: list[str]
    user: str | None
    metadata: dict[str, str] | None
    client: str | None
    auto: AutoView | UnsetType = UNSET
    count: int | UnsetType = UNSET
    account: str | UnsetType = UNSET
    endpoint: str | UnsetType = UNSET
    safety_identifier: str | UnsetType | None = UNSET
    client_request_id: str | UnsetType | None = UNSET
    address: str | UnsetType | None = UNSET
    unpriced: list[str] | UnsetType = UNSET
    implausible: bool | UnsetType = UNSET
    upstream_cost_usd: str | UnsetType = UNSET
