"""Log entries as JSON that every store can hold, whatever an upstream or caller made of them."""

import msgspec
import structlog

from zurelay.catalogue.model import INPUT_CLASSES, OUTPUT_CLASSES
from zurelay.chat.usage import Usage
from zurelay.meter.record import RequestRecord

MOST_COST = 2**53
"""Nano-dollars; about nine million dollars for one request."""

MOST_TOKENS = 2**40

_CLASSES = (*INPUT_CLASSES, *OUTPUT_CLASSES)
_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger("zurelay.ledger")


def bound(record: RequestRecord) -> None:
    """Cut numbers that would overflow a column, and report them."""
    usage = record.usage
    fits = 0 <= record.cost <= MOST_COST and 0 <= record.upstream_cost <= MOST_COST
    if not fits or (usage is not None and _absurd(usage)):
        _log.error("absurd_usage", request_id=record.id, cost=record.cost)
        record.cost = min(max(record.cost, 0), MOST_COST)
        record.upstream_cost = min(max(record.upstream_cost, 0), MOST_COST)
        record.cost_estimated = True
        record.tariff = None  # what is cut does not add up
        record.usage = None if usage is None else _cut(usage)


def encode_record(record: RequestRecord) -> bytes:
    """The JSON of a record that is within bounds."""
    try:
        return _encode(record)
    except (UnicodeEncodeError, msgspec.MsgspecError):
        _clean(record)
        return _encode(record)


def _absurd(usage: Usage) -> bool:
    return usage.prompt > MOST_TOKENS or usage.completion > MOST_TOKENS or min(usage.classes) < 0


def _cut(usage: Usage) -> Usage:
    counts = {name: min(max(getattr(usage, name), 0), MOST_TOKENS) for name in _CLASSES}
    return msgspec.structs.replace(usage, **counts, estimated=True)


def _clean(record: RequestRecord) -> None:
    """Replace characters that are no Unicode text, such as half of a surrogate pair."""
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if isinstance(value, str):
            setattr(record, name, _text(value))
    if record.metadata is not None:
        record.metadata = {_text(k): _text(v) for k, v in record.metadata.items()}
    for attempt in record.attempts:
        if attempt.detail is not None:
            attempt.detail = _text(attempt.detail)


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode()
