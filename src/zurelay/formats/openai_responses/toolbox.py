"""The tools that a Responses request offers, each under one name that other formats know too.

They stand in `tools` and in `additional_tools` items of the input, and some inside a namespace.
Other formats have none, so there both names are one; calls of earlier turns get the same name, and
a call of an answer gets both again. Pure. Requests are checked elsewhere.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw

from zurelay.formats.openai_chat.view import given
from zurelay.formats.openai_responses.view import NULL
from zurelay.wire import json

Json = dict[str, Any]

ADDITIONAL = "additional_tools"
NAMESPACE = "namespace"

LITE = "x-openai-internal-codex-responses-lite"
"""With this header Codex says that its tools are such items (0.171, 2026-11-30). They stand in no
reference of OpenAI's API but that of betas, so both go there together."""

_BETWEEN = "__"
_NONE = "functions"
"""The namespace in which OpenAI's models see tools that have none (vendor's harmony format)."""


class _Item(msgspec.Struct):
    type: str | None = None
    tools: Raw = NULL


_ITEMS = msgspec.json.Decoder(list[_Item])


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that may be called.

    Attributes:
        tool: as the caller described it.
        namespace: where it stands; None outside of any.
        about: what the namespace is for, at the first of its tools.
    """

    tool: Json
    namespace: str | None = None
    about: str | None = None

    @property
    def name(self) -> str:
        """Its name inside the namespace."""
        return str(self.tool["name"])

    @property
    def custom(self) -> bool:
        """Whether it is called with plain text."""
        return bool(self.tool["type"] == "custom")

    @property
    def description(self) -> str | None:
        """What the model is told, of the namespace too."""
        told: str | None = self.tool.get("description")
        if not self.about:
            return told
        return "\n\n".join(filter(None, (told, f"{self.namespace}: {self.about}")))


def one_name(namespace: str | None, name: str) -> str:
    """The name of a tool where there are no namespaces."""
    if not namespace or namespace == _NONE:
        return name
    return f"{namespace.removesuffix(_BETWEEN)}{_BETWEEN}{name}"


def offered(tools: Iterable[Json], items: Iterable[Json] = ()) -> dict[str, Offered]:
    """Every tool by its one name, in the order of the request; of two alike the first."""
    found: dict[str, Offered] = {}
    more = (tool for item in items if item.get("type") == ADDITIONAL for tool in item["tools"])
    for tool in (*tools, *more):
        for one in _inside(tool):
            found.setdefault(one_name(one.namespace, one.name), one)
    return found


def of_request(asked: Mapping[str, Raw]) -> dict[str, Offered]:
    """As `offered`, of a request's own bytes."""
    tools: list[Json] = []
    if "tools" in asked and given(asked["tools"]):
        tools = json.decode(asked["tools"])
    raw = bytes(asked.get("input", NULL))
    if ADDITIONAL.encode() not in raw or not raw.lstrip().startswith(b"["):
        return offered(tools)
    items = [
        {"type": item.type, "tools": json.decode(item.tools)}
        for item in _ITEMS.decode(raw)
        if item.type == ADDITIONAL
    ]
    return offered(tools, items)


def _inside(tool: Json) -> Iterable[Offered]:
    if tool["type"] != NAMESPACE:
        yield Offered(tool)
        return
    for place, inner in enumerate(tool.get("tools") or ()):
        about = tool.get("description") if place == 0 else None
        yield Offered(inner, tool["name"], about)
