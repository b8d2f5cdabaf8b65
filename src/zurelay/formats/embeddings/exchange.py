"""Embeddings on both sides: the caller's body goes up, the vectors come down as they are."""

from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec
from msgspec import Raw, Struct

from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.chat.usage import Usage
from zurelay.formats.base import AnswerContext, Inbound, Outbound, Target, WholeAnswer
from zurelay.formats.openai_chat import faults
from zurelay.formats.openai_chat import usage as counts
from zurelay.formats.openai_chat.edit import KEPT_HERE
from zurelay.formats.openai_chat.view import given
from zurelay.formats.openai_chat.write import kept
from zurelay.wire import json

PATH = "/embeddings"
_NOT_SENT = KEPT_HERE | {"model", "stream"}


class _Item(Struct):
    embedding: Raw


_ITEMS = msgspec.json.Decoder(list[_Item])


class Embeddings:
    """See `formats.base.Exchange`; there are only plain answers."""

    def write(self, inbound: Inbound, target: Target) -> Outbound:
        """The upstream request."""
        fields: dict[str, Any] = {"model": target.upstream_model}
        fields |= {
            name: raw for name, raw in inbound.body.items() if name not in _NOT_SENT and given(raw)
        }
        field = target.profile.dimensions_field
        if "dimensions" in fields and field != "dimensions":
            fields[field] = fields.pop("dimensions")
        dropped = ("models",) if inbound.body.get("models") is not None else ()
        return Outbound(PATH, json.encode(fields), dropped)

    def whole(self, body: bytes, context: AnswerContext, usage: Usage | None = None) -> WholeAnswer:
        """Read the vectors: as many as there were texts."""
        try:
            fields = json.upstream_fields(json.readable(body.strip()))
            error = fields.get("error")
            if error is not None and given(error):
                whole = {name: json.decode(value) for name, value in fields.items()}
                return WholeAnswer(fault=faults.fault_inside(whole, context.profile))
            items = _ITEMS.decode(fields["data"])
            counted = counts.read(json.decode(fields["usage"])) if "usage" in fields else None
        except (json.BadJson, msgspec.DecodeError, KeyError):
            return WholeAnswer(fault=_bad("no list of embeddings"))
        if len(items) != context.choices:
            return WholeAnswer(fault=_bad(f"{len(items)} embeddings of {context.choices} texts"))
        if usage is None and counted is not None:
            usage = Usage(input=counted.prompt)
        usage = usage or Usage(input=context.prompt_estimate, estimated=True)
        out = {
            "object": "list",
            **kept(fields),
            "model": context.model,
            "usage": {"prompt_tokens": usage.prompt, "total_tokens": usage.prompt},
        }
        return WholeAnswer(json.encode(out), usage)

    def stream(self, context: AnswerContext) -> NoReturn:  # noqa: ARG002 - never asked for
        """No request for embeddings is streamed: the front refuses it."""
        raise AssertionError("embeddings are not streamed")

    def assembler(self, context: AnswerContext) -> NoReturn:  # noqa: ARG002 - never asked for
        """Likewise: a model that makes embeddings has no effort that asks for a stream."""
        raise AssertionError("embeddings are not streamed")

    def fault(
        self,
        status: int,
        headers: Mapping[str, str],
        body: bytes,
        now: float,
        profile: Profile,
    ) -> Fault:
        """Read an error answer."""
        return faults.fault(status, headers, body, now, profile)


def _bad(why: str) -> Fault:
    return Fault(FaultKind.BAD_ANSWER, why, status=200)
