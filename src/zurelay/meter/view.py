"""A request-log entry as people and programs are shown it.

Callers see of an attempt only its route's number, its label and one word of why it failed, and
the provider's name and words where the operator lets them; operators see all.
Nothing here knows endpoints or who asks.
"""

from typing import Any

from zurelay.catalogue.money import format_usd
from zurelay.chat.faults import Fault, FaultKind
from zurelay.formats.openai_chat import usage as counts
from zurelay.meter.record import Attempt, AutoChoice, RequestRecord
from zurelay.meter.tariff import lines

_KINDS = {kind.value: Fault(kind).shown for kind in FaultKind}


def record_view(
    record: RequestRecord, *, operator: bool = False, providers: bool = False
) -> dict[str, Any]:
    """The JSON object of `GET /v1/requests/{id}`.

    Args:
        record: the entry.
        operator: show everything that is known.
        providers: show the providers' names and their own words.
    """
    view: dict[str, Any] = {
        "id": record.id,
        "created": round(record.created, 3),
        "key": record.key,
        "model": record.model,
        "answered_by": record.answered_by,
        "routed_from": record.routed_from,
        "status": record.status,
        "http_status": record.http_status or None,
        "error": record.error,
        "stream": record.stream,
        "effort_asked": record.effort_asked,
        "effort": record.effort,
        "finish_reason": record.finish_reason,
        "usage": None if record.usage is None else counts.write(record.usage),
        "cost_usd": format_usd(record.cost),
        "cost_estimated": record.cost_estimated,
        "charges": _charges(record),
        "attempts": [_attempt_view(attempt, operator, providers) for attempt in record.attempts],
        "first_token_ms": _ms(record.first_token_ms),
        "duration_ms": _ms(record.duration_ms),
        "dropped": list(record.dropped),
        "user": record.user,
        "metadata": record.metadata,
        "client": record.client,
    }
    if record.count > 1:
        view["count"] = record.count
    if record.auto is not None:
        view["auto"] = auto_view(record.auto)
    if operator:
        view |= {
            "account": record.account,
            "endpoint": record.endpoint,
            "safety_identifier": record.safety_identifier,
            "client_request_id": record.client_request_id,
            "address": record.address,
            "unpriced": list(record.unpriced),
            "implausible": record.implausible,
            "upstream_cost_usd": format_usd(record.upstream_cost),
        }
    return view


def _charges(record: RequestRecord) -> list[dict[str, Any]]:
    """The lines that `cost_usd` is made of."""
    if record.usage is None:
        return []
    return [
        {"of": one.of, "count": one.count, "price_usd": one.price, "cost_usd": one.cost}
        for one in lines(record.usage, record.tariff, record.cost)
    ]


def auto_view(auto: AutoChoice) -> dict[str, Any]:
    """How the gateway chose: the tier asked for, why, what it saw, and the ranking."""
    return {
        "tier": auto.tier,
        "reason": auto.reason,
        "features": auto.features,
        "ranking": [
            {
                "model": one.model,
                "tier": one.tier,
                "expected_cost_usd": None if one.cost is None else format_usd(one.cost),
            }
            for one in auto.ranking
        ],
    }


def _attempt_view(attempt: Attempt, operator: bool, providers: bool) -> dict[str, Any]:
    reason = attempt.reason
    view: dict[str, Any] = {
        "route": attempt.number,
        "status": attempt.status,
        "reason": reason if operator or reason is None else _KINDS.get(reason),
        "start_ms": _ms(attempt.start_ms),
        "first_token_ms": _ms(attempt.first_token_ms),
        "end_ms": _ms(attempt.end_ms),
    }
    if attempt.label is not None:
        view["label"] = attempt.label
    if attempt.charged:
        view["charged_usd"] = format_usd(attempt.charged)
    if providers:
        view["provider"] = attempt.route.partition(":")[0]
        view["detail"] = attempt.detail
    if operator:
        view |= {
            "route_id": attempt.route,
            "model": attempt.model,
            "http_status": attempt.http_status,
            "detail": attempt.detail,
            "cost_usd": format_usd(attempt.cost),
        }
    return view


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
