"""What a request asks for that changes its price, and what of it may be sent.

A field that costs passes only where the price knows what it costs; whoever writes the request drops
the others and says so. Nothing here knows accounts or what is sent to whom.
"""

from typing import Final

import msgspec
from msgspec import Raw

from zurelay.catalogue.model import Price
from zurelay.formats.base import Inbound

SERVICE_TIER: Final = "service_tier"
SPEED: Final = "speed"
PLACE: Final = "inference_geo"
TIER_FIELDS: Final = (SERVICE_TIER, SPEED, PLACE)

SPOKEN: Final = frozenset({"audio", "modalities"})
"""Fields by which an answer in sound is asked for."""

_FIELDS: Final = frozenset(TIER_FIELDS) | SPOKEN
_STANDARD: Final = frozenset({"default", "standard", "standard_only", "global"})
_ALSO: Final = {"fast": "priority"}
"""OpenAI serves `service_tier: "fast"` as `priority` and says so (vendor's API reference, 2026-11);
at Anthropic it is a `speed` with a price of its own."""

_SEARCHES: Final = 10
"""What one request is expected to search at most where it sets no bound."""

_decode_text = msgspec.json.Decoder(str).decode


class _Tool(msgspec.Struct):
    type: str | None = None
    max_uses: int | None = None


_decode_tools = msgspec.json.Decoder(list[_Tool]).decode


class Asked(msgspec.Struct, frozen=True, gc=False):
    """What of a request costs something at one price.

    Attributes:
        tier: the service tier it will be served at, if the upstream has it; empty for the standard
            one.
        allows: fields that may pass, and `web_search` where the provider's search has a price.
    """

    tier: str = ""
    allows: frozenset[str] = frozenset()


_NOTHING: Final = Asked()


def asked(inbound: Inbound, price: Price | None) -> Asked:
    """What may be sent of a request to a model at that price; nothing that costs without one."""
    body = inbound.body
    plain = _FIELDS.isdisjoint(body) and "web_search" not in inbound.marks
    if plain or price is None:
        return _NOTHING
    tier = ""
    allows: set[str] = set(price.per_call)
    for name in TIER_FIELDS:
        word = _word(body.get(name))
        found = _tier(name, word, price)
        if found and not tier:  # two at once have no price
            tier = found
        elif word not in _STANDARD or not _knows(name, price):
            continue
        allows.add(name)
    if not price.most_input and not price.most_output:
        allows |= {"web_search", *SPOKEN}  # its operator said that it is free
    elif "audio_output" in price.classes:
        allows |= SPOKEN
    elif "modalities" in body and b"audio" not in bytes(body["modalities"]):
        allows.add("modalities")
    return Asked(tier, frozenset(allows))


def tier_sent(inbound: Inbound, price: Price, dropped: tuple[str, ...]) -> str:
    """The service tier that the upstream was asked for; empty if none, or if it was dropped."""
    if _FIELDS.isdisjoint(inbound.body):
        return ""
    for name in TIER_FIELDS:
        if name not in dropped and (found := _tier(name, _word(inbound.body.get(name)), price)):
            return found
    return ""


def searches(inbound: Inbound) -> int:
    """How often the provider may search the web for it: its own bound, else what is expected."""
    if "web_search" not in inbound.marks:
        return 0
    tools = _decode_tools(inbound.body["tools"])
    found = (tool for tool in tools if (tool.type or "").startswith("web_search"))
    return sum(_SEARCHES if tool.max_uses is None else max(tool.max_uses, 0) for tool in found)


def _knows(field: str, price: Price) -> bool:
    """Whether other words than the standard one of that field have a price."""
    dear = {SPEED: "fast", PLACE: "us"}.get(field)
    return bool(price.tiers) if dear is None else dear in price.tiers


def _tier(field: str, word: str, price: Price) -> str:
    """The priced tier that a field's word asks for; empty for none."""
    if word in price.tiers:
        return word
    also = _ALSO.get(word, "") if field == SERVICE_TIER else ""
    return also if also in price.tiers else ""


def _word(raw: Raw | None) -> str:
    """A field's text; empty where it is left out or none."""
    if raw is None:
        return ""
    try:
        return _decode_text(raw)
    except msgspec.DecodeError:
        return ""
