"""A request that stays in this format: the caller's own bytes with a few fields changed.

Whatever is not named here passes byte for byte. Nothing of the input is changed; the same input
gives the same bytes.
"""

from typing import Any

import msgspec
from msgspec import Raw

from zurelay.chat.request import ToolChoice
from zurelay.formats.base import Ability, Inbound, Outbound, Target
from zurelay.formats.openai_chat.view import given
from zurelay.formats.openai_responses import ORIGIN, envelope
from zurelay.formats.openai_responses.read import KEPT_HERE
from zurelay.formats.openai_responses.request import LEAST_OUTPUT, PATH, call_line
from zurelay.formats.openai_responses.toolbox import LITE
from zurelay.formats.origin import may_read
from zurelay.wire import json

Json = dict[str, Any]

SAMPLING = ("temperature", "top_p", "top_logprobs")
_ENCRYPTED = "reasoning.encrypted_content"
_REWRITTEN = frozenset({"model", "stream", "store", "background"})
_SET_ASIDE = KEPT_HERE | _REWRITTEN
_LIST = msgspec.json.Decoder(list[Raw])
_OBJECT = msgspec.json.Decoder(dict[str, Raw])


def write(inbound: Inbound, target: Target) -> Outbound:
    """The upstream request."""
    dropped: list[str] = []
    body = inbound.body
    fields: Json = {"model": target.upstream_model, "store": False}
    fields |= {name: raw for name, raw in body.items() if name not in _SET_ASIDE and given(raw)}
    if "store" in body and json.decode(body["store"]):
        dropped.append("store")
    _limit(fields, inbound, target, dropped)
    _sampling(fields, target, dropped)
    _reasoning(fields, target)
    if "service_tier" in fields and "service_tier" not in target.allows:
        del fields["service_tier"]
        dropped.append("service_tier")
    if "prompt_cache_key" in fields and target.cache_key:
        fields["prompt_cache_key"] = target.cache_key
    _input(fields, target)
    _forced(fields, inbound, target, dropped)
    if target.stream:
        fields["stream"] = True
    else:
        fields.pop("stream_options", None)
    lite = inbound.headers.get(LITE) if target.profile.realm == "openai" else None
    headers = () if lite is None else ((LITE, lite),)
    return Outbound(PATH, json.encode(fields), tuple(dict.fromkeys(dropped)), headers)


def _limit(fields: Json, inbound: Inbound, target: Target, dropped: list[str]) -> None:
    limit = inbound.max_output
    if limit is None:
        return
    most = limit if target.max_output is None else min(limit, target.max_output)
    held = max(most, LEAST_OUTPUT)
    fields["max_output_tokens"] = held
    if held != limit:
        dropped.append("max_output_tokens")


def _sampling(fields: Json, target: Target, dropped: list[str]) -> None:
    profile = target.profile
    refused = profile.refused(thinks=target.thinks)
    for name in SAMPLING:
        if name in fields and name in refused:
            del fields[name]
            dropped.append(name)


def _reasoning(fields: Json, target: Target) -> None:
    """The level in force; thinking in all the forms that are shared."""
    wanted: Json = _OBJECT.decode(fields["reasoning"]) if "reasoning" in fields else {}
    wanted = {name: raw for name, raw in wanted.items() if given(raw)}
    level = target.effort
    knows = level is not None or target.effort_default is not None or target.reasons
    if level is not None:
        word = dict(target.profile.effort_words).get(level, level)
        if "effort" not in wanted or json.decode(wanted["effort"]) != word:
            wanted["effort"] = word
    if not target.profile.thinking_summary:
        wanted.pop("summary", None)
    elif knows and target.thinks:
        wanted.setdefault("summary", "auto")
    fields.pop("reasoning", None)
    if wanted and knows:
        fields["reasoning"] = wanted
    if knows and target.thinks:
        include = json.decode(fields["include"]) if "include" in fields else []
        if _ENCRYPTED not in include:
            fields["include"] = [*include, _ENCRYPTED]


def _input(fields: Json, target: Target) -> None:
    """Items without the ids of answers that nobody stored; thinking as its maker wrote it."""
    raw = fields["input"]
    if not bytes(raw).lstrip().startswith(b"["):
        return
    items = [_item(item, target) for item in _LIST.decode(raw)]
    fields["input"] = [item for item in items if item is not None]


def _item(raw: Raw, target: Target) -> Any:
    item = _OBJECT.decode(raw)
    kind = json.decode(item["type"]) if "type" in item else "message"
    if kind == "reasoning":
        return _thinking(item, target)
    if "id" not in item:
        return raw
    return {name: value for name, value in item.items() if name != "id"}


def _thinking(item: dict[str, Raw], target: Target) -> Json | None:
    """None for thinking that this upstream cannot read back: it would be a 400."""
    sealed = json.decode(item["encrypted_content"]) if "encrypted_content" in item else None
    for part in envelope.unseal("", sealed or ""):
        if part.signature and may_read(part.origin, target.profile.realm, ORIGIN):
            kept = {name: raw for name, raw in item.items() if name != "id"}
            return {**kept, "encrypted_content": part.signature}
    return None


def _forced(fields: Json, inbound: Inbound, target: Target, dropped: list[str]) -> None:
    """A model that refuses to be forced may choose, and is told in a line that goes last."""
    forcing = target.profile.forced_tools
    if Ability.FORCED_TOOL not in inbound.needs or forcing == "always":
        return
    if forcing == "not_thinking" and not target.thinks:
        return
    choice = json.decode(fields["tool_choice"])
    name = choice.get("name") if isinstance(choice, dict) else None
    fields["tool_choice"] = "auto"
    dropped.append("tool_choice")
    items = fields["input"]
    if isinstance(items, Raw):
        items = [{"role": "user", "content": items}]
    line = call_line(ToolChoice("named", name) if name else ToolChoice("required"))
    fields["input"] = [*items, {"role": "developer", "content": line}]
