"""A Messages request made one of InvokeModel: model in the path, version and betas in the body.

Works on the request that was written for Anthropic itself; fields it does not name keep their
bytes. Facts: vendor's page on Claude's request, litellm #19877, claude-code #49370, sub2api #2726,
2026-11-29.
"""

import msgspec
from msgspec import Raw

from zurelay.chat.profile import Profile
from zurelay.formats.base import Outbound, Target
from zurelay.formats.converse.request import path
from zurelay.wire import json

VERSION = "bedrock-2023-05-31"

BETAS = frozenset(
    {
        "compact-2026-01-12",
        "computer-use-2024-10-22",
        "computer-use-2025-01-24",
        "computer-use-2025-11-24",
        "context-1m-2025-08-07",
        "context-management-2025-06-27",
        "interleaved-thinking-2025-05-14",
        "output-128k-2025-02-19",
        "token-efficient-tools-2025-02-19",
        "tool-examples-2025-10-29",
        "tool-search-tool-2025-10-19",
    }
)
"""Names that are taken and change something; an unknown one is a 400 "invalid beta flag". Those
that only say who is calling are left out: some models refuse them."""

LACKS = frozenset(
    {
        "billing_policy",
        "compaction",
        "container",
        "diagnostics",
        "fallback_credit_token",
        "fallbacks",
        "inference_geo",
        "mcp_servers",
        "service_tier",
        "speed",
        "thread",
        "user_profile_id",
        "workspace_id",
    }
)
"""Fields of Anthropic's own platform: a 400 "Extra inputs are not permitted" here."""

_IN_PATH = ("model", "stream")
_NEEDS = {"context_management": frozenset({"context-management-2025-06-27", "compact-2026-01-12"})}
"""Fields that are only known together with one of some betas."""


def laid_over(profile: Profile) -> Profile:
    """The profile of a Claude model here."""
    thinking = frozenset({"temperature", "top_p", "top_k"})
    return profile.but(
        betas=BETAS,
        whole_cache=False,  # known of Anthropic's own platform alone
        # Signatures of Claude hold wherever it runs (vendor's page on preserved thinking).
        realm="anthropic",
        refuses_while_thinking=profile.refuses_while_thinking | thinking,
    )


def rewritten(out: Outbound, target: Target) -> Outbound:
    """`out`, written for Anthropic, as Bedrock wants it."""
    fields = json.fields(out.body)
    betas = _betas(out)
    lost = [name for name in fields if name in LACKS or _flagless(name, betas)]
    body: dict[str, object] = {"anthropic_version": VERSION}
    if betas:
        body["anthropic_beta"] = betas
    body |= {n: raw for n, raw in fields.items() if n not in _IN_PATH and n not in lost}
    operation = "invoke-with-response-stream" if _streams(fields) else "invoke"
    return msgspec.structs.replace(
        out,
        path=path(target, operation),
        body=json.encode(body),
        dropped=tuple(dict.fromkeys((*out.dropped, *lost))),
        headers=tuple(pair for pair in out.headers if not pair[0].startswith("anthropic-")),
    )


def _betas(out: Outbound) -> list[str]:
    told = dict(out.headers).get("anthropic-beta", "")
    return [name for name in told.split(",") if name]


def _flagless(name: str, betas: list[str]) -> bool:
    return name in _NEEDS and _NEEDS[name].isdisjoint(betas)


def _streams(fields: dict[str, Raw]) -> bool:
    return "stream" in fields and json.decode(fields["stream"]) is True
