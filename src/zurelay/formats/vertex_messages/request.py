"""A Messages request made one of Vertex AI: model in the path, version in the body.

Works on the request that was written for Anthropic itself; fields it does not name keep their
bytes. Facts: vendor's page on Claude's request, litellm's table of betas, 2026-11-29.
"""

import re

import msgspec

from zurelay.chat import problems
from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import Outbound, Target
from zurelay.wire import json

VERSION = "vertex-2023-10-16"

BETAS = frozenset(
    {
        "compact-2026-01-12",
        "compact-2026-09-04",
        "computer-use-2025-01-24",
        "computer-use-2025-11-24",
        "context-1m-2025-08-07",
        "context-management-2025-06-27",
        "dangerous-tool-use-2026-09-03",
        "interleaved-thinking-2025-05-14",
        "per-turn-control-2026-07-01",
        "thinking-binding-controls-2026-08-01",
        "thinking-display-updates-2026-08-18",
        "tool-search-tool-2025-10-19",
        "web-search-2025-03-05",
    }
)
"""Names that are taken there."""

LACKS = frozenset(
    {
        "billing_policy",
        "container",
        "diagnostics",
        "fallback_credit_token",
        "fallbacks",
        "inference_geo",
        "mcp_servers",
        "service_tier",
        "speed",
        "user_profile_id",
        "workspace_id",
    }
)
"""Fields of Anthropic's own platform."""

_MODEL = re.compile(r"[a-z0-9][A-Za-z0-9._@-]{0,127}")
_THINKING = frozenset({"temperature", "top_p", "top_k"})


def laid_over(profile: Profile) -> Profile:
    """The profile of a Claude model here; the provider's own row is Gemini's."""
    return profile.but(
        betas=BETAS,
        whole_cache=False,  # known of Anthropic's own platform alone
        # Signatures of Claude hold wherever it runs (vendor's page on preserved thinking).
        realm="anthropic",
        refuses_while_thinking=profile.refuses_while_thinking | _THINKING,
        temperature_max=1.0,
        tool_ids="max64",
        # A last turn of the assistant's is taken by the models that think by budget alone.
        prefill=profile.effort_form == "claude_budget",
    )


def rewritten(out: Outbound, target: Target) -> Outbound:
    """`out`, written for Anthropic, as Vertex AI wants it.

    Raises:
        Refused: the model's name cannot stand in a path.
    """
    if not _MODEL.fullmatch(target.upstream_model):
        told = f"The model '{target.public_model}' is configured under a name that is none."
        raise Refused(problems.invalid_value("model", told))
    fields = json.fields(out.body)
    lost = [name for name in fields if name in LACKS]
    body: dict[str, object] = {"anthropic_version": VERSION}
    body |= {name: raw for name, raw in fields.items() if name != "model" and name not in lost}
    streams = "stream" in fields and json.decode(fields["stream"]) is True
    method = "streamRawPredict" if streams else "rawPredict"
    return msgspec.structs.replace(
        out,
        path=f"/publishers/anthropic/models/{target.upstream_model}:{method}",
        body=json.encode(body),
        dropped=tuple(dict.fromkeys((*out.dropped, *lost))),
        headers=tuple(pair for pair in out.headers if pair[0] != "anthropic-version"),
    )
